/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/places.h"

#include <stdlib.h>
#include <string.h>

struct place_row *places_at(struct places *p, unsigned cpu)
{
	struct place_row *more;
	uint32_t i = p->n; /* those of a recording come in order */

	while (i && p->row[i - 1].cpu > cpu)
		i--;
	if (i && p->row[i - 1].cpu == cpu)
		return &p->row[i - 1];
	more = reallocarray(p->row, p->n + 1, sizeof(*more));
	if (!more)
		return NULL;
	p->row = more;
	memmove(&more[i + 1], &more[i], (p->n++ - i) * sizeof(*more));
	more[i] = (struct place_row){.cpu = cpu};
	return &more[i];
}

uint64_t places_moves(const struct places *p)
{
	uint64_t moves = 0;

	for (uint32_t i = 0; i < p->n; i++)
		moves += p->row[i].moves;
	return moves;
}

void places_free(struct places *p)
{
	free(p->row);
	*p = (struct places){0};
}
