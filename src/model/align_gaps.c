/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of gaps that have room for the longest, and what two of them have in common. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/align_state.h"

void align_gaps_free(struct align_gaps *g)
{
	free(g->gap);
	g->gap = NULL;
	g->n = g->room = 0;
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool align_spend(uint64_t *work, uint64_t steps)
{
	if (!work)
		return true;
	*work -= steps < *work ? steps : *work;
	return *work;
}

uint64_t align_nth_length(uint64_t *length, uint32_t n, uint32_t most)
{
	if (n <= most)
		return 0;
	qsort(length, n, sizeof(*length), by_length);
	return length[n - 1 - most];
}

uint64_t align_least(const struct align_gaps *g, uint32_t most)
{
	uint64_t *length = calloc(g->n + 1, sizeof(*length)), least = 0;

	for (uint32_t i = 0; length && i < g->n; i++)
		length[i] = g->gap[i].length_ns;
	if (length)
		least = align_nth_length(length, g->n, most);
	free(length);
	return least;
}

int align_gaps_longest(const struct align_gaps *from, uint32_t most, struct align_gaps *to)
{
	uint64_t least = align_least(from, most);
	uint32_t longer = 0, same;

	most = from->n < most ? from->n : most;
	*to = (struct align_gaps){
		.gap = calloc(most + 1, sizeof(*to->gap)), .room = most + 1, .most = most + 1};
	if (!to->gap)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n; i++)
		longer += from->gap[i].length_ns > least;
	same = longer < most ? most - longer : 0; /* as many of the shortest length have room */
	for (uint32_t i = 0; i < from->n && to->n < most; i++)
		if (from->gap[i].length_ns > least || (from->gap[i].length_ns == least && same)) {
			same -= from->gap[i].length_ns == least;
			to->gap[to->n++] = from->gap[i];
		}
	return 0;
}

/* Leaves out the shorter half. */
static void halve(struct align_gaps *g)
{
	uint64_t *length = calloc(g->n, sizeof(*length));
	uint32_t n = 0;

	if (!length) { /* the newest stay, then */
		memmove(g->gap, g->gap + g->n / 2, (g->n - g->n / 2) * sizeof(*g->gap));
		g->n -= g->n / 2;
		return;
	}
	for (uint32_t i = 0; i < g->n; i++)
		length[i] = g->gap[i].length_ns;
	qsort(length, g->n, sizeof(*length), by_length);
	g->least_ns = length[g->n / 2] + 1;
	free(length);
	for (uint32_t i = 0; i < g->n; i++)
		if (g->gap[i].length_ns >= g->least_ns)
			g->gap[n++] = g->gap[i];
	g->n = n;
}

void align_gaps_add(struct align_gaps *g, uint64_t start_ns, uint64_t length_ns)
{
	uint32_t at;

	if (length_ns < g->least_ns)
		return;
	if (g->n >= g->most)
		halve(g);
	if (g->n == g->room) {
		uint32_t room = g->room ? 2 * g->room : 64;
		struct align_gap *more = reallocarray(g->gap, room, sizeof(*more));

		if (!more)
			return;
		g->gap = more;
		g->room = room;
	}
	/* lanes come in order, or nearly */
	for (at = g->n++; at && g->gap[at - 1].start_ns > start_ns; at--)
		g->gap[at] = g->gap[at - 1];
	g->gap[at] = (struct align_gap){start_ns, length_ns};
}

/* ---- one lane ---- */

uint32_t align_gaps_before(const struct align_gaps *g, uint64_t ns)
{
	uint32_t low = 0, high = g->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (g->gap[middle].start_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t align_common(const struct alignment *a, const struct align_lane *lane, uint32_t *fewer)
{
	const struct align_all all = {.lane = lane};
	uint32_t guest = 0, host = 0, common = 0;

	for (uint32_t i = 0; i < a->npieces; i++) {
		uint32_t first = align_gaps_before(lane->guest, a->piece[i].from_ns);
		uint32_t end = align_gaps_before(lane->guest, a->piece[i].to_ns);
		uint64_t from = 0, to = 0, at;

		align_host_time(a, a->piece[i].from_ns, &from);
		align_host_time(a, a->piece[i].to_ns, &to);
		host += to > from ? align_gaps_before(lane->host, to) -
					    align_gaps_before(lane->host, from)
				  : 0;
		guest += end > first ? end - first : 0;
		for (uint32_t k = first; k < end; k++) {
			const struct align_gap *g = &lane->guest->gap[k];
			const struct align_event e = {g->start_ns, g->length_ns, 0, ALIGN_NOBODY};

			common += align_host_time(a, g->start_ns, &at) &&
				  align_partner(&all, &e, at, ALIGN_NEAR_NS) != ALIGN_NOBODY;
		}
	}
	*fewer = guest < host ? guest : host;
	return common;
}
