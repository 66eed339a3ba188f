/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The most frequent askers, and their most frequent ways. */
#include <string.h>

#include "model/asker_rows.h"

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

const struct asker_row *asker_way(const struct asker_row *row)
{
	uint32_t top;

	return row->ways && askers_top(row->ways, &top, 1) ? &row->ways->row[top] : NULL;
}

static bool same_calls(const struct asker *a, const struct asker *b)
{
	return !strcmp(a->calls ? a->calls : "", b->calls ? b->calls : "");
}

/* Ways differ in addresses that mean nothing, where frame pointers lead astray. The frames of the
 * first stay. */
void asker_ways_join(struct asker_row *row)
{
	struct askers *w = row->ways;

	for (uint32_t i = 0; w && i < w->count; i++) {
		struct asker_row *a = &w->row[i];
		uint64_t most = row->count + row->missed;

		for (uint32_t k = w->count; k-- > i + 1;) {
			if (!same_calls(&a->who, &w->row[k].who))
				continue;
			a->count += w->row[k].count;
			a->missed += w->row[k].missed;
			asker_row_drop(w, k);
		}
		if (a->missed > most - a->count)
			a->missed = most - a->count;
	}
}
