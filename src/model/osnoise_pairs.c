/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/osnoise_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Time between the two probes of one tracepoint: a guest may be stopped there. */
#define APART_NS    20000000
#define PATIENCE_NS 200000000 /* after this no partner comes any more */

int pairs_init(struct osnoise_pairs *c)
{
	memset(c, 0, sizeof(*c));
	return hist_init(&c->difference, 5) || hist_init(&c->relative, 5) ? -ENOMEM : 0;
}

void pairs_free(struct osnoise_pairs *c)
{
	for (uint32_t i = 0; i < c->rows; i++)
		hist_free(&c->row[i].difference);
	hist_free(&c->difference);
	hist_free(&c->relative);
	free(c->row);
	memset(c, 0, sizeof(*c));
}

static struct pairs_row *row_of(struct osnoise_pairs *c, const struct interval *i)
{
	struct pairs_row *r;

	for (uint32_t k = 0; k < c->rows; k++) {
		r = &c->row[k];
		if (r->kind == i->kind && r->id == i->id) {
			if (!r->name[0])
				memcpy(r->name, i->name, sizeof(r->name));
			return r;
		}
	}
	if (c->rows == c->room) {
		uint32_t room = c->room * 2 + 32;

		r = realloc(c->row, room * sizeof(*r));
		if (!r)
			return NULL;
		c->row = r;
		c->room = room;
	}
	r = &c->row[c->rows];
	memset(r, 0, sizeof(*r));
	if (hist_init(&r->difference, 5))
		return NULL;
	r->kind = i->kind;
	r->id = i->id;
	memcpy(r->name, i->name, sizeof(r->name));
	c->rows++;
	return r;
}

static void count(struct pairs_row *r, const struct interval *i)
{
	if (i->theirs) {
		r->theirs++;
		r->theirs_ns += i->net_ns;
	} else {
		r->ours++;
		r->ours_ns += i->net_ns;
	}
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void leave(struct osnoise_pairs *c, const struct interval *i)
{
	struct pairs_row *r = row_of(c, i);

	if (!r)
		c->dropped++;
	else if (i->theirs)
		r->only_theirs++;
	else
		r->only_ours++;
}

/* Finds, of the other side's waiting intervals of the same source, the nearest in time. */
static int partner(const struct osnoise_pairs *c, const struct interval *i)
{
	int best = -1;

	for (int k = 0; k < PAIRS_PENDING; k++) {
		const struct interval *p = &c->pending[!i->theirs][k].i;

		if (!c->pending[!i->theirs][k].used || p->kind != i->kind || p->id != i->id ||
		    apart(p->end_ns, i->end_ns) > APART_NS)
			continue;
		if (best < 0 || apart(p->end_ns, i->end_ns) <
					apart(c->pending[!i->theirs][best].i.end_ns, i->end_ns))
			best = k;
	}
	return best;
}

static void forget_old(struct osnoise_pairs *c)
{
	for (int side = 0; side < 2; side++)
		for (int k = 0; k < PAIRS_PENDING; k++)
			if (c->pending[side][k].used &&
			    c->pending[side][k].i.end_ns + PATIENCE_NS < c->newest_ns) {
				leave(c, &c->pending[side][k].i);
				c->pending[side][k].used = false;
			}
}

static void wait(struct osnoise_pairs *c, const struct interval *i)
{
	uint32_t at = c->next[i->theirs]++ % PAIRS_PENDING;

	if (at % 64 == 0)
		forget_old(c);
	if (c->pending[i->theirs][at].used)
		leave(c, &c->pending[i->theirs][at].i);
	c->pending[i->theirs][at].i = *i;
	c->pending[i->theirs][at].used = true;
}

static void match(struct osnoise_pairs *c, struct pairs_row *r, const struct interval *ours,
		  const struct interval *theirs)
{
	uint64_t late = ours->end_ns > theirs->end_ns ? ours->end_ns - theirs->end_ns : 0;
	uint64_t net = late < ours->net_ns ? ours->net_ns - late : 0;
	uint64_t difference = apart(net, theirs->net_ns);

	r->matched++;
	r->matched_ns += ours->net_ns;
	r->shorter += net < theirs->net_ns;
	hist_add(&r->difference, difference);
	hist_add(&c->difference, difference);
	hist_add(&c->relative, difference * 10000 / (ours->net_ns + !ours->net_ns));
}

void pairs_add(struct osnoise_pairs *c, const struct interval *i)
{
	struct pairs_row *r = row_of(c, i);
	const struct interval *p;
	int k;

	if (!r) {
		c->dropped++;
		return;
	}
	if (i->end_ns > c->newest_ns)
		c->newest_ns = i->end_ns;
	count(r, i);
	k = partner(c, i);
	if (k < 0) {
		wait(c, i);
		return;
	}
	p = &c->pending[!i->theirs][k].i;
	c->pending[!i->theirs][k].used = false;
	match(c, r, i->theirs ? p : i, i->theirs ? i : p);
}

void pairs_finish(struct osnoise_pairs *c)
{
	c->newest_ns = UINT64_MAX;
	forget_old(c);
}

#define SOFTIRQS_IN_THREADS "on PREEMPT_RT osnoise leaves softirqs in the threads that run them"

/* Other kernels' osnoise has softirqs of its own. */
static bool leaves_softirqs(const struct osnoise_pairs *c)
{
	uint64_t ours = 0, theirs = 0;

	for (uint32_t i = 0; i < c->rows; i++)
		if (c->row[i].kind == SOURCE_SOFTIRQ) {
			ours += c->row[i].ours;
			theirs += c->row[i].theirs;
		}
	return ours && !theirs;
}

const char *pairs_why(const struct osnoise_pairs *c, const struct pairs_row *row)
{
	if (row->kind == SOURCE_SOFTIRQ && leaves_softirqs(c))
		return SOFTIRQS_IN_THREADS;
	return row->kind == SOURCE_FAULT ? "osnoise does not hook page faults" : NULL;
}

bool pairs_differs(const struct pairs_row *row)
{
	uint64_t median = hist_percentile(&row->difference, 50);

	return row->matched && median > PAIRS_ALIKE_NS &&
	       median * 20 > row->matched_ns / row->matched;
}

/* The pairs are asked, most of which the median tells of: one that differs by much would turn the
 * sums. */
const char *pairs_why_differs(const struct osnoise_pairs *c, const struct pairs_row *row)
{
	if (row->kind == SOURCE_NMI)
		return "osnoise counts the way into an NMI and out of it as well";
	if (row->kind == SOURCE_THREAD)
		return leaves_softirqs(c) && 2 * row->shorter > row->matched ? SOFTIRQS_IN_THREADS
									     : NULL;
	return "so short that what the probe of the one takes is seen by the other";
}
