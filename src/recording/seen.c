/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/seen.h"

bool seen_before(struct names_seen *s, enum event_type type, uint64_t number)
{
	/* Two bits for the type: 0 to 2 for those that follow EVENT_IRQ, 3 for EVENT_OWNER. */
	uint64_t key = (number << 2 | (type == EVENT_OWNER ? 3 : type - EVENT_IRQ)) + 1;
	uint32_t at = (key * 0x9e3779b97f4a7c15ULL) >> 48;

	for (int tries = 0; tries < 16; tries++, at = (at + 1) % SEEN_SLOTS) {
		if (s->key[at] == key)
			return true;
		if (!s->key[at]) {
			s->key[at] = key;
			return false;
		}
	}
	return false;
}
