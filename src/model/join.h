/* The join: which records explain a hiccup, and how many nanoseconds belong to each. One join per
 * CPU.
 *
 * Records come in the order in which they ended, hiccups in order of time. Inside a hiccup the
 * records form a strict nest (NMI in IRQ in softirq in thread), and an inner one ends before the
 * outer, so each record's net time is known as it arrives: its length less the intervals that ended
 * inside it. Every nanosecond of the hiccup then goes to exactly one of
 *   attributed  the net time of a named interval;
 *   edge        kernel entry and exit around the outermost intervals, up to a bound that is
 *               calibrated on this machine;
 *   lost        time in which records are known to be missing, and none that came says whose it was
 *               (holes.h);
 *   outside     the rest: nothing that the kernel showed explains it (firmware, hypervisor,
 *               hardware, or what is not observed).
 * attributed + edge + lost + outside == end - start, always.
 *
 * Records are matched by timestamp. The sequence numbers that the sampler read before and after the
 * gap must agree with that choice; where they do not, it is counted as a mismatch.
 *
 * Pure: no clock, no I/O. Memory is bounded however long a hiccup or a run lasts.
 */
#ifndef CULPRIT_JOIN_H
#define CULPRIT_JOIN_H

#include <stdbool.h>
#include "model/hiccup.h"
#include "model/holes.h"
#include "model/interval.h"
#include "model/nest.h"
#include "model/others.h"
#include "model/tick.h"

struct join_counts {
	uint64_t seen;            /* records taken */
	uint64_t lost;            /* places in the sequence that no record came for */
	uint64_t below_threshold; /* records in gaps too short to be hiccups */
	uint64_t mismatches;      /* timestamps and sequence disagree */
	/* top-level intervals merged to bound memory, in hiccups of very many records */
	uint64_t folded;
};

struct join_options {
	struct sources *sources; /* raised as hiccups come; outlives the join, as do the next two */
	struct ticks *ticks;     /* NULL: not wanted */
	struct others *others;   /* NULL: not wanted */
	const struct names *names;   /* NULL: numbers have no names */
	struct intervals *intervals; /* gets each interval; NULL: not wanted */
	bool spans;                  /* accounts have their spans */
	bool real_time;              /* the sampler has a real-time priority */
	/* Hiccups are windows of a workload: nobody lost what ran between them. */
	bool windows;
	uint64_t threshold_ns; /* shortest gap that is a hiccup */
	struct edge_bounds bounds;
};

struct join;

struct join *join_new(const struct join_options *options); /* NULL when out of memory */
void join_free(struct join *j);

/* The CPU's sequences where the window begins; what comes later and is missing counts as lost. */
void join_start(struct join *j, const uint32_t cursor[LEVELS]);

/* Takes one record. A record may end up to 1 us before its predecessor (levels race for the clock).
 */
void join_record(struct join *j, const struct record *r);

/* Accounts for one hiccup; all its records have been given. The result is valid until the next
 * call; its sources' totals are already raised. */
struct account *join_hiccup(struct join *j, const struct hiccup *h);

/* Frees space while a hiccup lasts (of a workload's windows: keeps the newest 32,768 records):
 * records are waiting and no hiccup has come. since_ns: since when something else has had the CPU
 * without a break, 0 when the sampler has it. Records since then belong to the hiccup to come and
 * are netted now; older ones fell in gaps below the threshold. To be called when join_waiting()
 * exceeds JOIN_WAIT_MAX, behind a batch of records, with a since_ns that was true when their
 * writing was looked at. With fewer waiting it does nothing. */
void join_relieve(struct join *j, uint64_t since_ns);
uint32_t join_waiting(const struct join *j);
#define JOIN_WAIT_MAX 16384
#define JOIN_WAIT_ALL (16 * JOIN_WAIT_MAX) /* more never wait */

const struct join_counts *join_counts(const struct join *j);

#endif
