/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/align.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/align_state.h"

#define HOST_MOST    4096           /* gaps of a lane on the host that the search looks at */
#define FEWEST       20             /* gaps that could tell anything */
#define PIECES_MOST  64             /* times that the line breaks */
#define SEGMENTS     4096           /* straight parts of all pieces */
#define SEGMENT      48             /* matched gaps of a straight part, at least... */
#define SEGMENT_NS   10000000000ULL /* time of such a part, at least */
#define DENSE        400 /* matched gaps that tell of a shorter part: clocks are slewed */
#define DENSE_NS     1000000000ULL
#define SURE         27.7   /* twice the logarithm of a million */
#define RIVAL_MOST   1024   /* events that the moved lines are compared by */
#define MOVES        100    /* the line is moved by so many... */
#define MOVE_NS      100000 /* length of such a step, to both sides */
#define BETWEEN      48     /* gaps whose time to those after them also moves the line */
#define AFTER        4
#define STEPS_GATHER 20            /* work, as align() has it */
#define BEYOND_NS    2000000000ULL /* a line is believed so long beyond its gaps */

void align_free(struct alignment *a)
{
	free(a->piece);
	a->piece = NULL;
	a->npieces = 0;
}

/* ---- all lanes together ---- */

static int by_start(const void *a, const void *b)
{
	const struct align_event *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static int gather(struct align_all *all, uint32_t n)
{
	uint32_t events = 0;

	for (uint32_t i = 0; i < n; i++)
		events += all->lane[i].guest->n;
	all->event = calloc(events + 1, sizeof(*all->event));
	all->least_ns = calloc(n + 1, sizeof(*all->least_ns));
	if (!all->event || !all->least_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		all->least_ns[i] = align_least(all->lane[i].host, HOST_MOST);
	for (uint32_t i = 0; i < n; i++) {
		const struct align_gaps *g = all->lane[i].guest;

		for (uint32_t k = 0; k < g->n; k++)
			all->event[all->n++] = (struct align_event){
				g->gap[k].start_ns, g->gap[k].length_ns, i, ALIGN_NOBODY};
	}
	qsort(all->event, all->n, sizeof(*all->event), by_start);
	return 0;
}

/* ---- rivals ---- */

/* Events that only one of two lines explains. */
struct score {
	uint32_t mine, theirs;
};

/* True when so many more are mine that a fair coin hardly ever does that. */
static bool is_sure(struct score s)
{
	double more = (double)s.mine - s.theirs, all = (double)s.mine + s.theirs;

	return more > 0 && more * more >= SURE * all;
}

struct doubt {
	struct align_all *all;
	uint32_t low, high; /* the events of the line */
	uint32_t rival;     /* events that the best rival explains */
	bool beaten;
};

static void judge(struct doubt *d, struct score s, uint32_t matched)
{
	if (matched > d->rival)
		d->rival = matched;
	d->beaten |= !is_sure(s);
}

/* A rival is another candidate's line, followed as this one was. It may come upon this one. */
static void weigh_other(struct doubt *d, const struct align_candidate *c)
{
	struct score s = {.mine = 0};
	uint32_t first, last, same = 0, matched;

	if (c->from < d->low || c->from >= d->high)
		return;
	matched = align_follow(d->all, &c->line, c->from, d->low, d->high, &first, &last);
	for (uint32_t i = d->low; i < d->high; i++) {
		const struct align_event *e = &d->all->event[i];

		same += e->best != ALIGN_NOBODY && e->partner == e->best;
		s.mine += e->best != ALIGN_NOBODY && e->partner == ALIGN_NOBODY;
		s.theirs += e->best == ALIGN_NOBODY && e->partner != ALIGN_NOBODY;
	}
	if (2 * same < matched)
		judge(d, s, matched);
}

/* A rival is the same line, moved by a signed number of ns. */
static void weigh_moved(struct doubt *d, uint64_t moved)
{
	uint32_t step = 1 + (d->high - d->low) / RIVAL_MOST, matched = 0;
	struct score s = {.mine = 0};
	uint64_t offset = 0; /* offset of the newest matched gap; the first event is one */

	for (uint32_t i = d->low; i < d->high && !d->beaten; i += step) {
		const struct align_event *e = &d->all->event[i];
		const struct align_gaps *h = d->all->lane[e->lane].host;
		uint32_t theirs;

		if (e->best != ALIGN_NOBODY)
			offset = h->gap[e->best].start_ns - e->start_ns;
		theirs = align_partner(d->all, e, e->start_ns + offset + moved, ALIGN_NEAR_NS);
		matched += theirs != ALIGN_NOBODY;
		s.mine += e->best != ALIGN_NOBODY && theirs == ALIGN_NOBODY;
		s.theirs += e->best == ALIGN_NOBODY && theirs != ALIGN_NOBODY;
	}
	judge(d, s, matched * step);
}

static void weigh_all_moved(struct doubt *d)
{
	const struct align_all *all = d->all;
	uint32_t step = 1 + (d->high - d->low) / BETWEEN;

	for (uint64_t k = 1; k <= MOVES && !d->beaten; k++) {
		weigh_moved(d, k * MOVE_NS);
		weigh_moved(d, -k * MOVE_NS);
	}
	for (uint32_t i = d->low; i < d->high && !d->beaten; i += step) {
		const struct align_event *e = &all->event[i];
		const struct align_gaps *h = all->lane[e->lane].host;

		for (uint32_t k = 1; e->best != ALIGN_NOBODY && k <= AFTER; k++) {
			uint64_t apart;

			if (e->best + k >= h->n)
				break;
			apart = h->gap[e->best + k].start_ns - h->gap[e->best].start_ns;
			if (apart < MOVE_NS)
				continue;
			weigh_moved(d, apart);
			weigh_moved(d, -apart);
		}
	}
}

/* ---- pieces ---- */

struct found {
	struct align_line line;
	uint32_t first, last, matched;
};

/* The candidate that explains most events of [low, high), with its partners in them. */
static struct found follow_best(struct align_all *all, const struct align_candidate *c, uint32_t n,
				uint32_t low, uint32_t high)
{
	struct found best = {.matched = 0};
	uint32_t which = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct found f = {.line = c[i].line};

		f.matched = align_follow(all, &c[i].line, c[i].from, low, high, &f.first, &f.last);
		if (f.matched > best.matched) {
			best = f;
			which = i;
		}
	}
	if (best.matched) {
		align_follow(all, &c[which].line, c[which].from, low, high, &best.first,
			     &best.last);
		align_fit(all, best.first, best.last + 1, &best.line);
	}
	return best;
}

/* Adds the straight part through events of [low, high). */
static void add_piece(struct alignment *a, const struct align_all *all, uint32_t low, uint32_t high,
		      struct align_line line)
{
	struct align_piece *p = &a->piece[a->npieces];

	if (a->npieces == SEGMENTS || !align_fit(all, low, high, &line))
		return;
	*p = (struct align_piece){all->event[low].start_ns, all->event[high - 1].start_ns,
				  line.at_ns, line.offset_ns, line.drift};
	a->npieces++;
}

/* Cuts a line that was followed into straight parts, one after the other without a gap. */
static void cut(struct alignment *a, const struct align_all *all, const struct found *f)
{
	uint32_t from = f->first, n = 0, begun = a->npieces, rest = 0;
	uint64_t each = (all->event[f->last].start_ns - all->event[f->first].start_ns) /
			(SEGMENTS / PIECES_MOST);
	uint64_t least = each > SEGMENT_NS ? each : SEGMENT_NS;
	uint64_t dense = each > DENSE_NS ? each : DENSE_NS;

	for (uint32_t i = f->first; i <= f->last; i++)
		rest += all->event[i].partner != ALIGN_NOBODY;
	for (uint32_t i = f->first; i <= f->last; i++) {
		uint64_t t = all->event[i].start_ns, left = all->event[f->last].start_ns - t;
		uint64_t length = t - all->event[from].start_ns;

		a->gaps++;
		if (all->event[i].partner == ALIGN_NOBODY)
			continue;
		a->matched++;
		n++;
		rest--;
		if (i == f->last || (n >= SEGMENT && length >= least && left >= least) ||
		    (n >= DENSE && length >= dense && rest >= DENSE && left >= dense)) {
			add_piece(a, all, from, i + 1, f->line);
			from = i;
			n = 0;
		}
	}
	for (uint32_t k = begun + 1; k < a->npieces; k++)
		a->piece[k - 1].to_ns = a->piece[k].from_ns;
}

static bool is_too_much(struct alignment *a, const struct align_all *all)
{
	if (*all->work)
		return false;
	a->more = true;
	if (a->verdict != ALIGN_FOUND)
		a->verdict = ALIGN_MUCH;
	return true;
}

/* Searches [low, high) for one line, and if it has no rival goes on with what lies beside it. */
static void search(struct alignment *a, struct align_all *all, uint32_t low, uint32_t high)
{
	struct align_candidate c[ALIGN_CANDIDATES];
	struct doubt d = {.all = all};
	struct found f;
	uint32_t n;

	if (high - low < FEWEST || all->finds == PIECES_MOST)
		return;
	n = align_search(all, low, high, c);
	f = follow_best(all, c, n, low, high);
	if (is_too_much(a, all) || f.matched < FEWEST)
		return;
	for (uint32_t i = low; i < high; i++)
		all->event[i].best = all->event[i].partner;
	d.low = f.first;
	d.high = f.last + 1;
	d.beaten = !is_sure((struct score){.mine = f.matched});
	for (uint32_t i = 0; i < n && !d.beaten; i++)
		weigh_other(&d, &c[i]);
	for (uint32_t i = low; i < high; i++)
		all->event[i].partner = all->event[i].best;
	weigh_all_moved(&d);
	if (is_too_much(a, all))
		return;
	if (d.rival > a->rival)
		a->rival = d.rival;
	if (d.beaten) {
		if (a->verdict != ALIGN_FOUND)
			a->verdict = 2 * d.rival >= f.matched ? ALIGN_AMBIGUOUS : ALIGN_NONE;
		return;
	}
	a->verdict = ALIGN_FOUND;
	all->finds++;
	cut(a, all, &f);
	search(a, all, low, f.first);
	search(a, all, f.last + 1, high);
}

static int by_time(const void *a, const void *b)
{
	const struct align_piece *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Distance of the matched events from their piece. */
static uint64_t residual(const struct alignment *a, const struct align_all *all)
{
	uint64_t *apart = calloc(all->n + 1, sizeof(*apart)), r = 0, host;
	uint32_t n = 0;

	for (uint32_t i = 0; apart && i < all->n; i++) {
		const struct align_event *e = &all->event[i];
		uint64_t at;

		if (e->partner == ALIGN_NOBODY || !align_host_time(a, e->start_ns, &host))
			continue;
		at = all->lane[e->lane].host->gap[e->partner].start_ns;
		apart[n++] = at > host ? at - host : host - at;
	}
	if (n) {
		qsort(apart, n, sizeof(*apart), by_length);
		r = apart[(uint64_t)n * 95 / 100];
	}
	free(apart);
	return r;
}

int align(const struct align_lane *lane, uint32_t n, uint64_t *work, struct alignment *a)
{
	struct align_all all = {.lane = lane, .work = work};
	uint32_t host = 0;

	*a = (struct alignment){.verdict = ALIGN_NONE};
	a->piece = calloc(SEGMENTS, sizeof(*a->piece));
	if (!a->piece || gather(&all, n)) {
		free(all.event);
		free(all.least_ns);
		align_free(a);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		host += lane[i].host->n;
	align_spend(work, (uint64_t)(all.n + host) * STEPS_GATHER);
	if (all.n < FEWEST || host < FEWEST)
		a->verdict = ALIGN_FEW;
	else if (!is_too_much(a, &all))
		search(a, &all, 0, all.n);
	qsort(a->piece, a->npieces, sizeof(*a->piece), by_time);
	a->residual_ns = residual(a, &all);
	free(all.event);
	free(all.least_ns);
	return 0;
}

bool align_host_time(const struct alignment *a, uint64_t guest_ns, uint64_t *host_ns)
{
	uint32_t low = 0, high = a->npieces;
	const struct align_piece *p;

	/* the last piece that has begun by then */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (a->piece[middle].from_ns <= guest_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && guest_ns <= a->piece[low - 1].to_ns)
		p = &a->piece[low - 1];
	else if (low && guest_ns - a->piece[low - 1].to_ns <= BEYOND_NS)
		p = &a->piece[low - 1];
	else if (low < a->npieces && a->piece[low].from_ns - guest_ns <= BEYOND_NS)
		p = &a->piece[low];
	else
		return false;
	*host_ns = align_at(&(struct align_line){p->at_ns, p->offset_ns, p->drift}, guest_ns);
	return true;
}
