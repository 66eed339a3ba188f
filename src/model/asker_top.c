/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The most frequent askers. */
#include "model/asker.h"

uint32_t askers_top(const struct askers *o, uint32_t *order, uint32_t n)
{
	uint32_t found = 0;

	for (; found < n && found < o->count; found++) {
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < o->count; i++) {
			bool taken = false;

			for (uint32_t k = 0; k < found; k++)
				taken |= order[k] == i;
			if (!taken && (best == UINT32_MAX || o->row[i].count > o->row[best].count))
				best = i;
		}
		order[found] = best;
	}
	return found;
}
