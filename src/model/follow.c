/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/follow.h"

uint32_t pieces_follow(struct piece *pieces, uint32_t n, const uint32_t *places)
{
	uint32_t at[SOURCE_ROWS] = {0}, kept = 0; /* 1 + the piece of each row */

	for (uint32_t i = 0; i < n; i++) {
		struct piece p = pieces[i];
		uint32_t to = places[p.source];

		p.source = to & SOURCE_PLACE;
		if (to & SOURCE_GONE)
			p.asker = (struct asker){0};
		if (at[p.source]) {
			pieces[at[p.source] - 1].net_ns += p.net_ns;
			pieces[at[p.source] - 1].count += p.count;
			pieces[at[p.source] - 1].unseen_ns += p.unseen_ns;
			continue;
		}
		pieces[kept++] = p;
		at[p.source] = kept;
	}
	return kept;
}

void spans_follow(struct span *spans, uint32_t n, const uint32_t *places)
{
	for (uint32_t i = 0; i < n; i++)
		spans[i].source = places[spans[i].source] & SOURCE_PLACE;
}
