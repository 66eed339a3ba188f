/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For what this does see join.h. `wait` holds records that belong to nothing yet. When a hiccup
 * comes, records that ended before it are dropped as below the threshold, those inside it go to the
 * nest, later ones stay.
 */
#include "model/join_parts.h"

#include <stdlib.h>
#include <string.h>

/* largest number of records that one may come late by; more than any clock's error takes */
#define DISORDER 256
/* Time of the sampler's bookkeeping: a record may fall between its cursor and its counter
 * readings. */
#define NEAR_NS 2000

struct join *join_new(const struct join_options *o)
{
	struct join *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->ticks = o->ticks;
	j->bystanders = o->bystanders;
	j->threshold_ns = o->threshold_ns;
	j->windows = o->windows;
	j->bounds = o->bounds;
	j->nest = nest_new(o->sources, o->bounds, o->names, o->real_time);
	j->intervals = o->intervals;
	if (j->nest) {
		nest_tap(j->nest, o->intervals);
		nest_holes(j->nest, &j->holes);
	}
	j->slots = WAIT_FIRST;
	j->wait = calloc(j->slots, sizeof(*j->wait));
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

/* Moves the few records that are left to the begin of the ring: its far part is touched only when
 * many wait. What a very long hiccup has made it grow by goes back. */
static void rewind_ring(struct join *j)
{
	uint32_t n = join_waiting(j), first = j->first & (j->slots - 1);
	bool shrinks = j->slots > JOIN_WAIT_MAX;
	struct record *to = j->wait;

	if (n > NEWEST || first < NEWEST || first + n > j->slots)
		return;
	if (shrinks && !(to = calloc(WAIT_FIRST, sizeof(*to))))
		return;
	memcpy(to, join_place(j, j->first), n * sizeof(*to));
	if (shrinks) {
		free(j->wait);
		j->wait = to;
		j->slots = WAIT_FIRST;
	}
	j->whole = j->whole > j->first ? j->whole - j->first : 0;
	j->first = 0;
	j->last = n;
	j->looked = 0;
}

/* Doubles the ring; false: it is as large as it may be, or memory is out. */
static bool grow(struct join *j)
{
	struct record *more = j->slots < JOIN_WAIT_ALL ? calloc(2 * j->slots, sizeof(*more)) : NULL;

	if (!more)
		return false;
	for (uint64_t i = j->first; i < j->last; i++)
		more[i & (2 * j->slots - 1)] = *join_place(j, i);
	free(j->wait);
	j->wait = more;
	j->slots *= 2;
	return true;
}

/* ---- what goes without a hiccup ---- */

/* Number of records missing right before this place of the hiccup's window. */
static uint32_t missing_before(uint32_t seq, uint32_t done, uint32_t before)
{
	int32_t n = seq - ((int32_t)(done - before) > 0 ? done : before);

	return n > 0 ? n - 1 : 0;
}

/* Counts a record as below the threshold. */
static void drop_below(struct join *j, const struct record *r)
{
	if (j->intervals && (record_is_interval(r) || r->kind == RECORD_OSNOISE)) {
		struct interval interval = interval_of(r, r->end_ns - r->start_ns);

		intervals_push(j->intervals, &interval);
	}
	nest_forget(j->nest, r);
	j->counts.below_threshold++;
}

/* True for a record so long that it must lie in a hiccup. */
static bool is_astray(const struct join *j, const struct record *r)
{
	return !j->windows && r->end_ns - r->start_ns > j->threshold_ns + TOLERANCE_NS;
}

void join_pass(struct join *j, const struct record *r)
{
	j->done[r->level] = r->seq;
	if (r->end_ns > j->done_ns[r->level])
		j->done_ns[r->level] = r->end_ns;
}

void join_drop_first(struct join *j)
{
	const struct record *r = join_place(j, j->first++);

	j->dropped_missing[r->level] +=
		missing_before(r->seq, j->done[r->level], j->done[r->level]);
	j->dropped[r->level] = r->seq;
	j->dropped_ns[r->level] = r->end_ns;
	if (is_astray(j, r) && !j->astray++)
		j->astray_ns = r->end_ns;
	drop_below(j, r);
	join_pass(j, r);
}

/* Makes room in a ring that does not grow: one that is smaller than it should be loses its oldest
 * record. */
static void make_room(struct join *j)
{
	if (j->slots == JOIN_WAIT_ALL)
		join_net_ahead(j, 0);
	if (join_waiting(j) == j->slots)
		join_drop_first(j);
}

/* ---- what comes ---- */

/* Sorts by end; of two with the same end the inner one has the higher level. Records of one level
 * stay in the order of their places. */
static bool ends_after(const struct record *a, const struct record *b)
{
	if (a->level == b->level)
		return false;
	return a->end_ns > b->end_ns || (a->end_ns == b->end_ns && a->level < b->level);
}

void join_start(struct join *j, const uint32_t cursor[LEVELS])
{
	/* Those of a CPU that went offline: its sampler had left. */
	join_drop_all(j);
	memcpy(j->seq, cursor, sizeof(j->seq));
	memcpy(j->done, cursor, sizeof(j->done));
	j->whole = j->last + 1;
}

/* Counts records as lost that should have come: all up to `seq`. Later ones may have come, too.
 * True: there are some. */
static bool expect_sequence(struct join *j, unsigned level, uint32_t seq)
{
	int32_t missing = seq - j->seq[level];

	if (missing <= 0)
		return false;
	j->counts.lost += missing;
	j->seq[level] = seq;
	return true;
}

void join_record(struct join *j, const struct record *r)
{
	uint64_t i = j->last, first;
	int32_t ahead;

	if (r->level >= LEVELS || r->end_ns < r->start_ns)
		return;
	ahead = r->seq - j->seq[r->level];
	if (ahead != 1)
		j->whole = j->last + 1;
	if (ahead > 0)
		j->counts.lost += ahead - 1;
	j->seq[r->level] = r->seq;
	j->counts.seen++;
	if (r->kind == RECORD_TICK && j->ticks)
		nohz_ticks_add(j->ticks, r);
	if (r->kind == RECORD_THREAD && j->bystanders)
		bystanders_add(j->bystanders, r);
	if (join_waiting(j) == j->slots && !grow(j))
		make_room(j);
	first = join_waiting(j) > DISORDER ? j->last - DISORDER : j->first;
	while (i > first && ends_after(join_place(j, i - 1), r)) {
		*join_place(j, i) = *join_place(j, i - 1);
		i--;
	}
	if (j->whole > i) /* the place of a gap may be one later now */
		j->whole = j->last + 1;
	*join_place(j, i) = *r;
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

void join_find_holes(struct join *j, const struct hiccup *h, uint64_t from_ns, uint64_t stop)
{
	uint64_t end_ns[LEVELS];
	uint32_t seq[LEVELS];

	memcpy(seq, j->done, sizeof(seq));
	memcpy(end_ns, j->done_ns, sizeof(end_ns));
	for (uint64_t i = j->first; i < stop; i++) {
		const struct record *r = join_place(j, i);
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

void join_take(struct join *j, const struct record *r, uint32_t before, uint64_t from, uint64_t to)
{
	if (missing_before(r->seq, j->done[r->level], before) || j->doubt[r->level])
		nest_doubt(j->nest, r->level,
			   r->start_ns == r->end_ns || r->start_ns < j->done_ns[r->level]);
	j->doubt[r->level] = false;
	nest_take(j->nest, r, from, to);
}

static void pass_window(struct join *j, const struct hiccup *h)
{
	for (unsigned level = 0; level < LEVELS; level++) {
		if (j->doubt[level])
			nest_doubt(j->nest, level, false);
		j->doubt[level] = false;
		if ((int32_t)(h->after[level] - j->done[level]) <= 0)
			continue;
		j->done[level] = h->after[level];
		j->done_ns[level] = h->end_ns;
		if (j->last_missing[level])
			nest_doubt(j->nest, level, false);
	}
}

/* Counts the records as lost that were dropped although they lie in this hiccup, which nobody knew
 * of by then: it has holes where they were. Those that were missing among them count already. */
static void own_up(struct join *j, const struct hiccup *h)
{
	for (unsigned level = 0; level < LEVELS; level++) {
		uint32_t newest = j->dropped[level], missing = j->dropped_missing[level];
		uint64_t end_ns = j->dropped_ns[level];
		int32_t n;

		j->dropped_missing[level] = 0;
		if (end_ns <= h->start_ns + TOLERANCE_NS)
			continue;
		if ((int32_t)(newest - h->after[level]) > 0)
			newest = h->after[level];
		n = newest - h->before[level];
		if (n <= 0)
			continue;
		j->missing += n;
		j->counts.lost += (uint32_t)n > missing ? n - missing : 0;
		j->doubt[level] = !nest_is_open(j->nest);
		holes_add_first(&j->holes, level, h->start_ns,
				end_ns < h->end_ns ? end_ns : h->end_ns);
	}
}

/* Counts records as mismatches that were dropped and lie in no hiccup: neither in this one, nor in
 * one that was lost before it. */
static void count_astray(struct join *j, const struct hiccup *h)
{
	if (!h->lost && j->astray_ns < h->start_ns + TOLERANCE_NS)
		j->counts.mismatches += j->astray;
	j->astray = 0;
}

struct account *join_hiccup(struct join *j, const struct hiccup *h)
{
	bool missing = j->first < j->whole;
	struct account *account;
	unsigned stuck_out;

	for (unsigned level = 0; level < LEVELS; level++)
		missing |= expect_sequence(j, level, h->after[level]);
	own_up(j, h);
	count_astray(j, h);
	nest_open(j->nest);
	if (missing)
		join_find_holes(j, h, h->start_ns, j->last);
	else
		memset(j->last_missing, 0, sizeof(j->last_missing));
	for (; j->first < j->last; j->first++) {
		const struct record *r = join_place(j, j->first);
		bool before = is_before(r, h);

		if (!before && is_after(j, r, h))
			break;
		check_sequence(j, r, h, !before);
		if (before) {
			j->counts.mismatches += is_astray(j, r) && !h->lost;
			drop_below(j, r);
		} else {
			join_take(j, r, h->before[r->level], h->start_ns, h->end_ns);
		}
		join_pass(j, r);
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
