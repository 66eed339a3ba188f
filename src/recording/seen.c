/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/seen.h"

bool seen_before(struct names_seen *s, enum event_type type, uint64_t number)
{
	/* Three bits for the type: 0 to 2 for those that follow EVENT_IRQ, from 3 on the others. */
	uint64_t which = type < EVENT_OWNER ? type - EVENT_IRQ : type - EVENT_OWNER + 3;
	_Static_assert(EVENT_TYPES - EVENT_OWNER + 3 <= 8, "three bits");
	uint64_t key = (number << 3 | which) + 1;
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
