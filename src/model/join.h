/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The join: which records explain a hiccup, and how many nanoseconds belong to each. One join for
 * each CPU.
 *
 * Records come in the order of their ends, hiccups in order of time. Inside a hiccup the records
 * form a strict nest (NMI in IRQ in softirq in thread), and an inner one ends before the outer, so
 * each record's net time is known as it arrives: its length less the intervals that ended inside
 * it. Every nanosecond of the hiccup then goes to exactly one of
 *
 *   attributed  the net time of a named interval;
 *   edge        kernel entry and exit around the outermost intervals, up to a bound that is
 *               calibrated on this machine;
 *   lost        time in which records are known to be missing, and which no other record explains
 *               (holes.h);
 *   outside     the rest: nothing in the kernel explains it (firmware, hypervisor, hardware, or
 *               something that is not observed).
 *
 * attributed + edge + lost + outside == end - start, always.
 *
 * Records are matched by timestamp. The sequence numbers that the sampler read before and after the
 * gap must agree with that choice; a disagreement counts as a mismatch.
 *
 * Pure: no clock, no I/O. Memory is bounded however long a hiccup or a run lasts: JOIN_WAIT_ALL
 * records of 64 bytes, 16 MiB, and half of that again while their ring grows. It is as large as
 * that only while a hiccup of so many records lasts, and goes back after it.
 */
#ifndef CULPRIT_JOIN_H
#define CULPRIT_JOIN_H

#include <stdbool.h>
#include "model/hiccup.h"
#include "model/holes.h"
#include "model/interval.h"
#include "model/nest.h"
#include "model/bystanders.h"
#include "model/nohz_tick.h"

struct join_counts {
	uint64_t seen; /* records taken */
	/* places in the sequence without a record, and records that were dropped before the hiccup
	 * came in which they lie */
	uint64_t lost;
	/* records in gaps too short to be hiccups, or so it seemed, and in hiccups that were lost
	 */
	uint64_t below_threshold;
	/* timestamps and sequence disagree, or a record of a hiccup's length lies in none, where
	 * none was lost */
	uint64_t mismatches;
	/* top-level intervals merged to bound memory, in hiccups of very many records */
	uint64_t folded;
};

struct join_options {
	struct sources *sources; /* raised as hiccups come; outlives the join, as do the next two */
	struct nohz_ticks *ticks;      /* NULL: not wanted */
	struct bystanders *bystanders; /* NULL: not wanted */
	const struct names *names;     /* NULL: numbers without names */
	struct intervals *intervals;   /* gets each interval; NULL: not wanted */
	bool spans;                    /* record spans in accounts */
	bool real_time;                /* the sampler has a real-time priority */
	/* Hiccups are windows of a workload: what ran between them is no loss. */
	bool windows;
	uint64_t threshold_ns; /* shortest gap that is a hiccup */
	struct edge_bounds bounds;
};

struct join;

struct join *join_new(const struct join_options *options); /* NULL when out of memory */
void join_free(struct join *j);

/* Sets the CPU's sequences at the window's begin, or where it goes on as the CPU is back: records
 * before that count as below the threshold, also those of a hiccup that was netted ahead and has
 * not come; those that miss behind it as lost. */
void join_start(struct join *j, const uint32_t cursor[LEVELS]);

/* Takes one record. A record may end up to 1 us before its predecessor (levels race for the clock).
 */
void join_record(struct join *j, const struct record *r);

/* Accounts for one hiccup, after all its records. The result is valid until the next call; its
 * sources' totals are already raised. */
struct account *join_hiccup(struct join *j, const struct hiccup *h);

/* Bounds memory when records pile up and no hiccup ends. since_ns: since when something else has
 * had the CPU without a break, 0 when the sampler has it. Records since then are netted into the
 * open hiccup, older ones dropped as below the threshold; those of them that turn out to lie in a
 * hiccup count as lost in it. Call it when join_waiting() exceeds
 * JOIN_WAIT_MAX, after a batch of records, with a since_ns that held when the ring was looked at.
 * With fewer waiting it does nothing. For a workload's windows it keeps the newest 32,768
 * records. */
void join_relieve(struct join *j, uint64_t since_ns);
uint32_t join_waiting(const struct join *j);
#define JOIN_WAIT_MAX 16384
#define JOIN_WAIT_ALL (16 * JOIN_WAIT_MAX) /* more never wait */

const struct join_counts *join_counts(const struct join *j);

#endif
