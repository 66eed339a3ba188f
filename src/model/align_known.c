/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line that is known beforehand still has to show that both recordings are of one guest: so many
 * of their gaps coincide as by hardly any other line beside it. There is one such line and not
 * thousands, so fewer gaps do, and periodic noise does not stand in its way. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/align_state.h"

#define NEAR_NS 20000 /* a guest's way out and back is shorter */
#define FEWEST  14    /* one in a thousand, as is_sure() of align.c has it for one in a million */
#define SURE    13.8
#define SAMPLES 4096 /* gaps that are looked at */
#define MOVES   100  /* other lines: the same, moved by ns that no noise has for its period */
#define BEYOND  5    /* number of these that may do as well, by chance */

struct known {
	const struct align_lane *lane;
	uint32_t n;
	const struct alignment *a;
	uint32_t step;
	uint64_t *work;
};

static uint64_t moved_by(int k)
{
	uint64_t ns = 137777ULL * (k / 2 + 1) + 7919ULL * k * k % 60013;

	return k % 2 ? -ns : ns;
}

/* The partner of a gap by the line, moved; ALIGN_NOBODY. */
static uint32_t partner(const struct known *k, const struct align_lane *lane, uint32_t i,
			uint64_t moved, uint64_t *host_ns)
{
	const struct align_gap *g = &lane->guest->gap[i];
	const struct align_event e = {g->start_ns, g->length_ns, 0, ALIGN_NOBODY, ALIGN_NOBODY};
	const struct align_all all = {.lane = lane, .work = k->work};

	if (!align_host_time(k->a, g->start_ns, host_ns))
		return ALIGN_NOBODY;
	return align_partner(&all, &e, *host_ns + moved, NEAR_NS);
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Counts the gaps that coincide, and how far they are apart. 0 or -ENOMEM. */
static int count(const struct known *k, struct alignment *a)
{
	uint64_t *apart = calloc(SAMPLES + k->n + 1, sizeof(*apart)), host_ns;
	uint32_t n = 0;

	if (!apart)
		return -ENOMEM;
	for (uint32_t l = 0; l < k->n; l++)
		for (uint32_t i = 0; i < k->lane[l].guest->n; i += k->step) {
			uint32_t p = partner(k, &k->lane[l], i, 0, &host_ns);
			uint64_t at;

			a->gaps += align_host_time(a, k->lane[l].guest->gap[i].start_ns, &at);
			if (p == ALIGN_NOBODY)
				continue;
			at = k->lane[l].host->gap[p].start_ns;
			apart[n++] = at > host_ns ? at - host_ns : host_ns - at;
		}
	qsort(apart, n, sizeof(*apart), by_length);
	a->residual_ns = n ? apart[(uint64_t)n * 95 / 100] : 0;
	a->matched = n;
	free(apart);
	return 0;
}

/* True when the moved line explains nearly as many. Raises *rival. */
static bool rivals(const struct known *k, uint64_t moved, uint32_t *rival)
{
	double mine = 0, theirs = 0;
	uint32_t matched = 0;
	uint64_t ns;

	for (uint32_t l = 0; l < k->n; l++)
		for (uint32_t i = 0; i < k->lane[l].guest->n; i += k->step) {
			bool here = partner(k, &k->lane[l], i, 0, &ns) != ALIGN_NOBODY;
			bool there = partner(k, &k->lane[l], i, moved, &ns) != ALIGN_NOBODY;

			mine += here && !there;
			theirs += there && !here;
			matched += there;
		}
	*rival = matched > *rival ? matched : *rival;
	return mine <= theirs || (mine - theirs) * (mine - theirs) < SURE * (mine + theirs);
}

int align_known(const struct align_lane *lane, uint32_t n, const struct align_piece *piece,
		uint32_t npieces, uint64_t *work, struct alignment *a)
{
	struct known k = {lane, n, a, 1, work};
	uint32_t all = 0, as_good = 0;

	*a = (struct alignment){.verdict = ALIGN_FEW, .known = true};
	a->piece = calloc(npieces + 1, sizeof(*a->piece));
	if (!a->piece)
		return -ENOMEM;
	memcpy(a->piece, piece, npieces * sizeof(*piece));
	a->npieces = npieces;
	for (uint32_t l = 0; l < n; l++)
		all += lane[l].guest->n;
	k.step = 1 + all / SAMPLES;
	if (count(&k, a))
		return -ENOMEM;
	if (a->matched < FEWEST)
		return 0;
	for (int i = 0; i < MOVES && as_good <= BEYOND; i++)
		as_good += rivals(&k, moved_by(i), &a->rival);
	a->verdict = !*work ? ALIGN_MUCH : as_good <= BEYOND ? ALIGN_FOUND : ALIGN_NONE;
	a->gaps *= k.step;
	a->matched *= k.step;
	a->rival *= k.step;
	return 0;
}
