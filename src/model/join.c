/* See join.h for what this does. `wait` holds records not yet spoken for. When a hiccup comes, those that ended before it are dropped as
 * below the threshold, those inside it go to the nest, later ones stay.
 */
#include "model/join.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_SLOTS   (4 * JOIN_WAIT_MAX)
#define NEWEST       64   /* records that stay when room is made: one that ended just before them may still come */
#define DISORDER     256  /* records that one may come late by; more than any clock's error takes */
#define TOLERANCE_NS 100  /* the sampler's clock against the probes': same clock, read through two paths */
#define NEAR_NS      2000 /* the sampler's bookkeeping: a record may fall between its cursor and its counter readings */

struct join {
	struct nest *nest;
	struct ticks *ticks;
	struct others *others;
	struct intervals *intervals;
	struct edge_bounds bounds;
	uint64_t threshold_ns;
	bool windows;
	struct join_counts counts;
	uint64_t lost_before; /* up to the last hiccup */
	struct record *wait;  /* ring of WAIT_SLOTS */
	uint64_t first, last;
	uint16_t seq[LEVELS]; /* of the newest record taken */
};

struct join *join_new(const struct join_options *o)
{
	struct join *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->ticks = o->ticks;
	j->others = o->others;
	j->threshold_ns = o->threshold_ns;
	j->windows = o->windows;
	j->bounds = o->bounds;
	j->nest = nest_new(o->sources, o->bounds, o->names, o->real_time);
	j->intervals = o->intervals;
	if (j->nest)
		nest_tap(j->nest, o->intervals);
	j->wait = calloc(WAIT_SLOTS, sizeof(*j->wait));
	if (j->nest && j->wait && !(o->spans && nest_keep_spans(j->nest)))
		return j;
	join_free(j);
	return NULL;
}

void join_free(struct join *j)
{
	if (!j)
		return;
	nest_free(j->nest);
	free(j->wait);
	free(j);
}

const struct join_counts *join_counts(const struct join *j)
{
	return &j->counts;
}

uint32_t join_waiting(const struct join *j)
{
	return j->last - j->first;
}

static struct record *waiting(const struct join *j, uint64_t i)
{
	return &j->wait[i % WAIT_SLOTS];
}

/* What few records are left go to the ring's begin: what lies far behind it is touched only when many wait. */
static void rewind_ring(struct join *j)
{
	uint32_t n = join_waiting(j), first = j->first % WAIT_SLOTS;

	if (n > NEWEST || first < NEWEST || first + n > WAIT_SLOTS)
		return;
	memcpy(j->wait, waiting(j, j->first), n * sizeof(*j->wait));
	j->first = 0;
	j->last = n;
}

/* Of two that end together the inner one is the higher level. */
static bool ends_after(const struct record *a, const struct record *b)
{
	return a->end_ns > b->end_ns || (a->end_ns == b->end_ns && a->level < b->level);
}

void join_start(struct join *j, const uint16_t cursor[LEVELS])
{
	memcpy(j->seq, cursor, sizeof(j->seq));
}

/* All records up to `seq` must have come by now; those that did not were dropped. Later ones may have come, too. */
static void expect_sequence(struct join *j, unsigned level, uint16_t seq)
{
	int16_t missing = seq - j->seq[level];

	if (missing > 0) {
		j->counts.lost += missing;
		j->seq[level] = seq;
	}
}

void join_record(struct join *j, const struct record *r)
{
	uint64_t i = j->last, first;

	if (r->level >= LEVELS || r->end_ns < r->start_ns)
		return;
	j->counts.lost += (uint16_t)(r->seq - j->seq[r->level] - 1);
	j->seq[r->level] = r->seq;
	j->counts.seen++;
	if (r->kind == RECORD_TICK && j->ticks)
		ticks_add(j->ticks, r);
	if (r->kind == RECORD_THREAD && j->others)
		others_add(j->others, r);
	if (j->last - j->first >= WAIT_SLOTS)
		join_relieve(j, nest_is_open(j->nest)); /* what waits behind a hiccup that has begun belongs to it */
	first = join_waiting(j) > DISORDER ? j->last - DISORDER : j->first;
	while (i > first && ends_after(waiting(j, i - 1), r)) {
		*waiting(j, i) = *waiting(j, i - 1);
		i--;
	}
	*waiting(j, i) = *r;
	j->last++;
}

static bool in_window(uint16_t seq, uint16_t before, uint16_t after)
{
	return (uint16_t)(seq - before - 1) < (uint16_t)(after - before);
}

/* Timestamps chose `inside` or before; the sequence must agree. Just before the gap the sampler's two readings are not one. */
static void check_sequence(struct join *j, const struct record *r, const struct hiccup *h, bool inside)
{
	bool window = in_window(r->seq, h->before[r->level], h->after[r->level]);
	uint64_t slack = j->threshold_ns + NEAR_NS;

	if (inside == window || (j->windows && !inside))
		return;
	if (!inside && r->end_ns + slack > h->start_ns)
		return;
	j->counts.mismatches++;
}

static void drop_below(struct join *j, const struct record *r)
{
	if (j->intervals && (r->kind < RECORD_FAULT || r->kind == RECORD_OSNOISE)) {
		struct interval interval = interval_of(r, r->end_ns - r->start_ns);

		intervals_push(j->intervals, &interval);
	}
	j->counts.below_threshold++;
	if (!j->windows && r->end_ns - r->start_ns > j->threshold_ns + TOLERANCE_NS)
		j->counts.mismatches++; /* so long a record must lie in a hiccup */
}

/* The record lies in an earlier gap. Of a long one a little may reach into this by the clocks' error. */
static bool is_before(const struct record *r, const struct hiccup *h)
{
	uint64_t length = r->end_ns - r->start_ns;

	if (length > TOLERANCE_NS)
		return r->end_ns < h->start_ns + TOLERANCE_NS;
	return length ? r->end_ns <= h->start_ns : r->end_ns < h->start_ns;
}

/* The record lies in a later gap, or so it seems: one that has begun in this one and counts as its own should end in it. */
static bool is_after(struct join *j, const struct record *r, const struct hiccup *h)
{
	if (r->start_ns < h->end_ns && r->end_ns <= h->end_ns + TOLERANCE_NS)
		return false;
	if (r->start_ns + TOLERANCE_NS < h->end_ns && in_window(r->seq, h->before[r->level], h->after[r->level]))
		j->counts.mismatches++;
	return true;
}

struct account *join_hiccup(struct join *j, const struct hiccup *hiccup)
{
	struct hiccup copy = *hiccup, *h = &copy;
	struct account *account;
	unsigned stuck_out;

	for (unsigned level = 0; level < LEVELS; level++) {
		expect_sequence(j, level, h->after[level]);
		if (nest_is_open(j->nest)) /* it may have begun more than 2^16 records ago */
			h->before[level] = h->after[level] - 0x8000;
	}
	nest_open(j->nest);
	for (; j->first < j->last; j->first++) {
		const struct record *r = waiting(j, j->first);
		bool before = is_before(r, h);

		if (!before && is_after(j, r, h))
			break;
		check_sequence(j, r, h, !before);
		if (before)
			drop_below(j, r);
		else
			nest_take(j->nest, r, h->start_ns, h->end_ns);
	}
	rewind_ring(j);
	account = nest_close(j->nest, h->start_ns, h->end_ns, &stuck_out);
	account->lost = j->counts.lost - j->lost_before;
	j->lost_before = j->counts.lost;
	j->counts.mismatches += stuck_out;
	j->counts.folded = nest_folded(j->nest);
	return account;
}

/* The first waiting record of the gap that began before off_cpu_ns and lasts: other threads may have come before this one, and
 * before them the interrupt that woke the first, with only the kernel's own way between. A thread that ended just now may not
 * have come yet. */
static uint64_t first_ahead(const struct join *j, uint64_t off_cpu_ns)
{
	uint64_t near = j->bounds.irq_ns + j->bounds.thread_ns;
	uint64_t i = j->last, start = off_cpu_ns;

	for (; i > j->first; i--) {
		const struct record *r = waiting(j, i - 1);

		if (r->end_ns + near < start && j->last - i >= NEWEST)
			break;
		start = r->start_ns < start ? r->start_ns : start;
	}
	return i;
}

/* The newest half stays in any case: a hiccup that has ended may not have come yet. */
void join_relieve(struct join *j, uint64_t off_cpu_ns)
{
	uint64_t ahead = j->last;

	if (join_waiting(j) <= JOIN_WAIT_MAX)
		return;
	if (j->windows) { /* a workload that sleeps is off its CPU all the time, and when its window began is known at its end only */
		for (; join_waiting(j) > WAIT_SLOTS / 2; j->first++)
			drop_below(j, waiting(j, j->first));
		return;
	}
	if (!nest_is_open(j->nest)) {
		if (off_cpu_ns)
			ahead = first_ahead(j, off_cpu_ns);
		for (; j->first < ahead && join_waiting(j) > JOIN_WAIT_MAX / 2; j->first++)
			drop_below(j, waiting(j, j->first));
	}
	if (off_cpu_ns && join_waiting(j) > JOIN_WAIT_MAX / 2) {
		nest_open(j->nest);
		for (uint64_t stop = j->last - NEWEST; j->first < stop; j->first++)
			nest_take(j->nest, waiting(j, j->first), 0, UINT64_MAX);
	}
}
