/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for lines: every pair of a gap in the guest and one on the host of about its length is
 * a vote for an offset. Two hundred thousandths of the time between the gaps is how far the offset
 * itself may move meanwhile, so the votes fall into bins of that width. */
#include <stdlib.h>
#include <string.h>

#include "model/align_state.h"

#define VOTERS     96     /* gaps of the guest that vote */
#define VOTES_MOST 400000 /* together */
#define BIN_LEAST  200000 /* ns */
#define BINS       12     /* with most votes, for each choice of voters */
#define IN_BIN     64     /* votes of a bin that lines are drawn through */
#define DENSE_MOST 8192   /* gaps among which the densest are looked for */
#define STEPS_VOTE 40     /* work, as align() has it */
#define DRAWN_STEP 10     /* votes that are compared with a line in such a step */

struct vote {
	uint64_t offset_ns; /* relative to the first one's, as a signed number in order */
	uint64_t at_ns;
	uint32_t event;
};

struct votes {
	struct vote *vote;
	uint32_t n;
	uint64_t base_ns; /* to which the offsets are relative */
	uint64_t width_ns;
};

static int by_offset(const void *a, const void *b)
{
	const struct vote *x = a, *y = b;
	int64_t i = (int64_t)x->offset_ns, k = (int64_t)y->offset_ns;

	if (i != k)
		return i < k ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* ---- who votes ---- */

/* The longest events of [low, high), in order of time: at most `most`. */
static uint32_t longest(const struct align_all *all, uint32_t low, uint32_t high, uint32_t most,
			uint32_t *chosen)
{
	uint64_t *length = calloc(high - low, sizeof(*length)), least;
	uint32_t n = 0, longer = 0;

	if (!length)
		return 0;
	for (uint32_t i = low; i < high; i++)
		length[i - low] = all->event[i].length_ns;
	least = align_nth_length(length, high - low, most);
	free(length);
	for (uint32_t i = low; i < high; i++)
		longer += all->event[i].length_ns > least;
	least += 2 * longer >= most; /* otherwise most are of one length */
	for (uint32_t i = low; i < high && n < most; i++)
		if (all->event[i].length_ns >= least || high - low <= most)
			chosen[n++] = i;
	return n;
}

/* Those of the longest that follow each other in the shortest time. */
static uint32_t densest(const struct align_all *all, uint32_t low, uint32_t high,
			uint32_t chosen[VOTERS])
{
	uint32_t *some = calloc(DENSE_MOST, sizeof(*some)), n, best = 0;

	n = some ? longest(all, low, high, DENSE_MOST, some) : 0;
	for (uint32_t i = 0; n > VOTERS && i + VOTERS <= n; i++)
		if (all->event[some[i + VOTERS - 1]].start_ns - all->event[some[i]].start_ns <
		    all->event[some[best + VOTERS - 1]].start_ns - all->event[some[best]].start_ns)
			best = i;
	n = n < VOTERS ? n : VOTERS;
	if (some)
		memcpy(chosen, some + best, n * sizeof(*chosen));
	free(some);
	return n;
}

/* ---- votes ---- */

static void vote(struct votes *v, const struct align_all *all, uint32_t event, uint64_t least)
{
	const struct align_event *e = &all->event[event];
	const struct align_gaps *h = all->lane[e->lane].host;

	for (uint32_t k = 0; k < h->n && v->n < VOTES_MOST; k++) {
		uint64_t offset = h->gap[k].start_ns - e->start_ns;

		if (h->gap[k].length_ns < least || !align_fits(e->length_ns, h->gap[k].length_ns))
			continue;
		if (!v->n)
			v->base_ns = offset;
		v->vote[v->n++] = (struct vote){offset - v->base_ns, e->start_ns, event};
	}
}

static void collect(struct votes *v, const struct align_all *all, const uint32_t *chosen,
		    uint32_t n)
{
	uint64_t span = all->event[chosen[n - 1]].start_ns - all->event[chosen[0]].start_ns;

	v->n = 0;
	v->width_ns = BIN_LEAST + 2 * ALIGN_DRIFT * (double)span;
	for (uint32_t i = 0; i < n; i++)
		vote(v, all, chosen[i], all->least_ns[all->event[chosen[i]].lane]);
	qsort(v->vote, v->n, sizeof(*v->vote), by_offset);
	align_spend(all->work, (uint64_t)v->n * STEPS_VOTE);
}

/* ---- lines ---- */

struct bin {
	uint32_t from, n;
};

/* The bins that most voted for, which do not overlap. */
static uint32_t fullest(const struct votes *v, struct bin bin[BINS])
{
	uint32_t found = 0;

	for (; found < BINS; found++) {
		struct bin best = {.n = 0};

		for (uint32_t from = 0, to = 0; from < v->n; from++) {
			bool taken = false;

			while (to < v->n &&
			       v->vote[to].offset_ns - v->vote[from].offset_ns <= v->width_ns)
				to++;
			for (uint32_t b = 0; b < found; b++)
				taken |= from < bin[b].from + bin[b].n && to > bin[b].from;
			if (!taken && to - from > best.n)
				best = (struct bin){from, to - from};
		}
		if (best.n < 3)
			break;
		bin[found] = best;
	}
	return found;
}

static double off(const struct vote *v, const struct vote *from, double drift)
{
	return (double)(int64_t)(v->offset_ns - from->offset_ns) -
	       drift * (double)(int64_t)(v->at_ns - from->at_ns);
}

static uint32_t near(const struct vote *v, uint32_t n, const struct vote *from, double drift)
{
	uint32_t votes = 0;

	for (uint32_t i = 0; i < n; i++) {
		double d = off(&v[i], from, drift);

		votes += d <= ALIGN_NEAR_NS && d >= -ALIGN_NEAR_NS;
	}
	return votes;
}

/* The line that most votes of a bin are near: through two of them, or without drift. */
static struct align_candidate draw(const struct votes *v, struct bin bin, uint64_t *work)
{
	uint32_t step = 1 + (bin.n - 1) / IN_BIN, n = 0;
	struct vote some[IN_BIN];
	struct align_candidate best = {.votes = 0};

	for (uint32_t i = 0; i < bin.n && n < IN_BIN; i += step)
		some[n++] = v->vote[bin.from + i];
	align_spend(work, n * n / 2 * n / DRAWN_STEP);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i; k < n; k++) {
			double t = (double)(int64_t)(some[k].at_ns - some[i].at_ns);
			double d = (double)(int64_t)(some[k].offset_ns - some[i].offset_ns);
			double drift = t > 1e8 || t < -1e8 ? d / t : 0;
			uint32_t votes;

			if (drift > ALIGN_DRIFT || drift < -ALIGN_DRIFT)
				continue;
			votes = near(some, n, &some[i], drift);
			if (votes > best.votes)
				best = (struct align_candidate){
					{some[i].at_ns, some[i].offset_ns + v->base_ns, drift},
					some[i].event,
					votes};
		}
	best.votes *= step;
	return best;
}

static int by_votes(const void *a, const void *b)
{
	const struct align_candidate *x = a, *y = b;

	return x->votes < y->votes ? 1 : x->votes > y->votes ? -1 : 0;
}

uint32_t align_search(const struct align_all *all, uint32_t low, uint32_t high,
		      struct align_candidate found[ALIGN_CANDIDATES])
{
	struct votes v = {.vote = calloc(VOTES_MOST, sizeof(*v.vote))};
	uint32_t chosen[VOTERS], n, count = 0;
	struct bin bin[BINS];

	for (int dense = 0; v.vote && low < high && dense < 2; dense++) {
		uint32_t bins;

		n = dense ? densest(all, low, high, chosen)
			  : longest(all, low, high, VOTERS, chosen);
		if (!n)
			continue;
		collect(&v, all, chosen, n);
		bins = fullest(&v, bin);
		for (uint32_t b = 0; b < bins; b++)
			found[count++] = draw(&v, bin[b], all->work);
	}
	free(v.vote);
	qsort(found, count, sizeof(*found), by_votes);
	return count;
}
