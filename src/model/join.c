/* For what this does see join.h. `wait` holds records that belong to nothing yet. When a hiccup
 * comes, records that ended before it are dropped as below the threshold, those inside it go to the
 * nest, later ones stay.
 */
#include "model/join.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_SLOTS JOIN_WAIT_ALL /* touched only as far as records wait */
/* Records that stay when room is made: one that ended just before them may still come. */
#define NEWEST 64
/* largest number of records that one may come late by; more than any clock's error takes */
#define DISORDER 256
/* Error between the sampler's and the probes' clock: the same clock, read through two paths. */
#define TOLERANCE_NS 100
/* Time of the sampler's bookkeeping: a record may fall between its cursor and its counter
 * readings. */
#define NEAR_NS 2000

struct join {
	struct nest *nest;
	struct ticks *ticks;
	struct others *others;
	struct intervals *intervals;
	struct edge_bounds bounds;
	uint64_t threshold_ns;
	bool windows;
	struct join_counts counts;
	struct record *wait; /* ring of WAIT_SLOTS */
	uint64_t first, last;
	uint32_t seq[LEVELS]; /* of the newest record taken */
	/* Of the newest record that waits no more: its place, and its end. */
	uint32_t done[LEVELS];
	uint64_t done_ns[LEVELS];
	struct holes holes; /* of the hiccup in hand */
	uint64_t missing;   /* number of records missing in them */
	uint64_t looked;    /* value of `last` when room was made last */
	uint64_t since_ns;  /* begin of the gap for which records are netted ahead; 0: not known */
	bool last_missing[LEVELS]; /* the last ones of the level are missing, too */
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
	if (j->nest) {
		nest_tap(j->nest, o->intervals);
		nest_holes(j->nest, &j->holes);
	}
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
	holes_free(&j->holes);
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

/* Moves the few records that are left to the begin of the ring: its far part is touched only when
 * many wait. */
static void rewind_ring(struct join *j)
{
	uint32_t n = join_waiting(j), first = j->first % WAIT_SLOTS;

	if (n > NEWEST || first < NEWEST || first + n > WAIT_SLOTS)
		return;
	memcpy(j->wait, waiting(j, j->first), n * sizeof(*j->wait));
	j->first = 0;
	j->last = n;
	j->looked = 0;
}

/* Of two with the same end the inner one is the higher level. Records of one level stay in the
 * order of their places. */
static bool ends_after(const struct record *a, const struct record *b)
{
	if (a->level == b->level)
		return false;
	return a->end_ns > b->end_ns || (a->end_ns == b->end_ns && a->level < b->level);
}

void join_start(struct join *j, const uint32_t cursor[LEVELS])
{
	memcpy(j->seq, cursor, sizeof(j->seq));
	memcpy(j->done, cursor, sizeof(j->done));
}

/* Counts records as lost that should have come: all up to `seq`. Later ones may have come, too. */
static void expect_sequence(struct join *j, unsigned level, uint32_t seq)
{
	int32_t missing = seq - j->seq[level];

	if (missing > 0) {
		j->counts.lost += missing;
		j->seq[level] = seq;
	}
}

void join_record(struct join *j, const struct record *r)
{
	uint64_t i = j->last, first;
	int32_t ahead;

	if (r->level >= LEVELS || r->end_ns < r->start_ns)
		return;
	ahead = r->seq - j->seq[r->level];
	if (ahead > 0)
		j->counts.lost += ahead - 1;
	j->seq[r->level] = r->seq;
	j->counts.seen++;
	if (r->kind == RECORD_TICK && j->ticks)
		ticks_add(j->ticks, r);
	if (r->kind == RECORD_THREAD && j->others)
		others_add(j->others, r);
	if (j->last - j->first >= WAIT_SLOTS)
		join_relieve(j, 0);
	first = join_waiting(j) > DISORDER ? j->last - DISORDER : j->first;
	while (i > first && ends_after(waiting(j, i - 1), r)) {
		*waiting(j, i) = *waiting(j, i - 1);
		i--;
	}
	*waiting(j, i) = *r;
	j->last++;
}

static bool in_window(uint32_t seq, uint32_t before, uint32_t after)
{
	return seq - before - 1 < after - before;
}

/* Checks the choice by timestamp against the sequence. Just before the gap the sampler's two
 * readings are apart. */
static void check_sequence(struct join *j, const struct record *r, const struct hiccup *h,
			   bool inside)
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
		j->counts.mismatches++; /* a record this long must lie in a hiccup */
}

/* True when the record lies in an earlier gap. A long one may reach into this hiccup by the clocks'
 * error. */
static bool is_before(const struct record *r, const struct hiccup *h)
{
	uint64_t length = r->end_ns - r->start_ns;

	if (length > TOLERANCE_NS)
		return r->end_ns < h->start_ns + TOLERANCE_NS;
	return length ? r->end_ns <= h->start_ns : r->end_ns < h->start_ns;
}

/* True when the record lies in a later gap, or seems to: a record that began in this hiccup and
 * counts as its own should end in it. */
static bool is_after(struct join *j, const struct record *r, const struct hiccup *h)
{
	if (r->start_ns < h->end_ns && r->end_ns <= h->end_ns + TOLERANCE_NS)
		return false;
	if (r->start_ns + TOLERANCE_NS < h->end_ns &&
	    in_window(r->seq, h->before[r->level], h->after[r->level]))
		j->counts.mismatches++;
	return true;
}

/* ---- what is missing ---- */

/* Number of records missing right before this place of the hiccup's window. */
static uint32_t missing_before(uint32_t seq, uint32_t done, uint32_t before)
{
	int32_t n = seq - ((int32_t)(done - before) > 0 ? done : before);

	return n > 0 ? n - 1 : 0;
}

/* Finds where records are missing among the waiting ones, up to the place `stop`: after the end of
 * one and before the begin of the level's next. from_ns: earlier holes are ignored. h: the hiccup,
 * which ends the last holes; NULL: it lasts. */
static void find_holes(struct join *j, const struct hiccup *h, uint64_t from_ns, uint64_t stop)
{
	uint64_t end_ns[LEVELS];
	uint32_t seq[LEVELS];

	memcpy(seq, j->done, sizeof(seq));
	memcpy(end_ns, j->done_ns, sizeof(end_ns));
	for (uint64_t i = j->first; i < stop; i++) {
		const struct record *r = waiting(j, i);
		unsigned level = r->level;
		uint32_t n;

		if (h && (int32_t)(r->seq - h->after[level]) > 0)
			continue;
		n = missing_before(r->seq, seq[level], h ? h->before[level] : seq[level]);
		if (n && (!h || (int32_t)(r->seq - h->before[level]) > 0)) {
			j->missing += n;
			holes_add(&j->holes, level,
				  end_ns[level] > from_ns ? end_ns[level] : from_ns, r->start_ns);
		}
		seq[level] = r->seq;
		if (r->end_ns > end_ns[level])
			end_ns[level] = r->end_ns;
	}
	for (unsigned level = 0; h && level < LEVELS; level++) {
		uint32_t n = missing_before(h->after[level] + 1, seq[level], h->before[level]);

		j->missing += n;
		j->last_missing[level] = n;
		if (n)
			holes_add(&j->holes, level,
				  end_ns[level] > from_ns ? end_ns[level] : from_ns, h->end_ns);
	}
}

/* Gives a record to the nest. before: the sequence of its level at the hiccup's begin. */
static void take(struct join *j, const struct record *r, uint32_t before, uint64_t from,
		 uint64_t to)
{
	if (missing_before(r->seq, j->done[r->level], before))
		nest_doubt(j->nest, r->level,
			   r->start_ns == r->end_ns || r->start_ns < j->done_ns[r->level]);
	nest_take(j->nest, r, from, to);
}

/* Ends the waiting of a record. */
static void pass(struct join *j, const struct record *r)
{
	j->done[r->level] = r->seq;
	if (r->end_ns > j->done_ns[r->level])
		j->done_ns[r->level] = r->end_ns;
}

static void pass_window(struct join *j, const struct hiccup *h)
{
	for (unsigned level = 0; level < LEVELS; level++) {
		if ((int32_t)(h->after[level] - j->done[level]) <= 0)
			continue;
		j->done[level] = h->after[level];
		j->done_ns[level] = h->end_ns;
		if (j->last_missing[level])
			nest_doubt(j->nest, level, false);
	}
}

struct account *join_hiccup(struct join *j, const struct hiccup *h)
{
	struct account *account;
	unsigned stuck_out;

	for (unsigned level = 0; level < LEVELS; level++)
		expect_sequence(j, level, h->after[level]);
	nest_open(j->nest);
	find_holes(j, h, h->start_ns, j->last);
	for (; j->first < j->last; j->first++) {
		const struct record *r = waiting(j, j->first);
		bool before = is_before(r, h);

		if (!before && is_after(j, r, h))
			break;
		check_sequence(j, r, h, !before);
		if (before)
			drop_below(j, r);
		else
			take(j, r, h->before[r->level], h->start_ns, h->end_ns);
		pass(j, r);
	}
	rewind_ring(j);
	pass_window(j, h);
	account = nest_close(j->nest, h->start_ns, h->end_ns, &stuck_out);
	account->lost = j->missing;
	j->missing = 0;
	holes_clear(&j->holes);
	j->counts.mismatches += stuck_out;
	j->counts.folded = nest_folded(j->nest);
	return account;
}

/* The first waiting record that is too long for a gap below the threshold: it lies in a hiccup that
 * has not come yet. Returns its place, or j->last. The sampler may have got the CPU back for too
 * short a time to report the hiccup. */
static uint64_t first_long(const struct join *j)
{
	uint64_t i = j->first;

	while (i < j->last &&
	       waiting(j, i)->end_ns - waiting(j, i)->start_ns <= j->threshold_ns + TOLERANCE_NS)
		i++;
	return i;
}

/* The first waiting record of the gap that was open at from_ns: earlier records belong to it when
 * only the kernel's entry and exit lie between. Those up to the place `sure` belong to it in any
 * case. */
static uint64_t first_of_gap(const struct join *j, uint64_t sure, uint64_t from_ns)
{
	uint64_t near = j->bounds.irq_ns + j->bounds.thread_ns;
	uint64_t i = j->last, start = from_ns;

	for (; i > j->first; i--) {
		const struct record *r = waiting(j, i - 1);

		if (i <= sure && r->end_ns < from_ns && r->end_ns + near < start)
			break;
		start = r->start_ns < start ? r->start_ns : start;
	}
	return i;
}

/* Drops what waits before this place: it fell in gaps below the threshold. The newest half stays in
 * any case: a hiccup that has ended may not have come yet. */
static void drop_before(struct join *j, uint64_t place)
{
	for (; j->first < place && join_waiting(j) > JOIN_WAIT_MAX / 2; j->first++) {
		drop_below(j, waiting(j, j->first));
		pass(j, waiting(j, j->first));
	}
}

/* Gives what waits before this place to the hiccup that comes next. */
static void take_before(struct join *j, uint64_t place)
{
	find_holes(j, NULL, nest_is_open(j->nest) ? 0 : waiting(j, j->first)->start_ns, place);
	nest_open(j->nest);
	for (; j->first < place; j->first++) {
		const struct record *r = waiting(j, j->first);

		take(j, r, j->done[r->level], 0, UINT64_MAX);
		pass(j, r);
	}
}

/* Nets nothing that may belong to a later hiccup than the next one. The next one may have ended,
 * with no time for the sampler to report it before a further one began. So records are netted ahead
 * only when no hiccup can still come for older records, and while the same gap lasts. Otherwise
 * they go on waiting, up to all slots. Only its hiccup tells where exactly the gap began: the
 * longer the wait, the better. */
void join_relieve(struct join *j, uint64_t since_ns)
{
	bool full = join_waiting(j) >= WAIT_SLOTS;
	uint64_t lasting = j->last, told;

	if (join_waiting(j) <= JOIN_WAIT_MAX)
		return;
	/* A sleeping workload is off its CPU all the time, and the begin of its window is known
	 * only at its end. */
	if (j->windows) {
		for (; join_waiting(j) > 2 * JOIN_WAIT_MAX; j->first++) {
			drop_below(j, waiting(j, j->first));
			pass(j, waiting(j, j->first));
		}
		return;
	}
	if (nest_is_open(j->nest)) {
		if (full || (since_ns && since_ns == j->since_ns))
			take_before(j, j->last - NEWEST);
		return;
	}
	if (!full &&
	    j->last - j->looked <
		    JOIN_WAIT_MAX /
			    2) /* bounds how often each record is looked at: some dozen times */
		return;
	j->looked = j->last;
	if (since_ns)
		lasting = first_of_gap(j, j->last - NEWEST, since_ns);
	told = first_long(j);
	drop_before(j,
		    told < lasting ? first_of_gap(j, told, waiting(j, told)->start_ns) : lasting);
	if (join_waiting(j) <= JOIN_WAIT_MAX / 2)
		return;
	if (!full && (!since_ns || told < lasting || join_waiting(j) < JOIN_WAIT_ALL / 4 * 3))
		return;
	j->since_ns = since_ns;
	take_before(j, j->last - NEWEST);
}
