/* The join: which records explain a hiccup, and how many nanoseconds belong to each. One join per CPU.
 *
 * Records come in the order in which they ended, hiccups in order of time. Inside a hiccup the records form a strict nest (NMI in
 * IRQ in softirq in thread), and an inner one ends before the outer, so each record's net time is known as it arrives: its
 * length less the intervals that ended inside it. Every nanosecond of the hiccup then goes to exactly one of
 *   attributed  the net time of a named interval;
 *   edge        kernel entry and exit around the outermost intervals, up to a bound that is calibrated on this machine;
 *   outside     the rest: nothing that the kernel showed explains it (firmware, hypervisor, hardware, or what is not observed).
 * attributed + edge + outside == end - start, always.
 *
 * Records are matched by timestamp. The sequence numbers that the sampler read before and after the gap must agree with that
 * choice; where they do not, it is counted as a mismatch.
 *
 * Pure: no clock, no I/O. Memory is bounded however long a hiccup or a run lasts.
 */
#ifndef CULPRIT_JOIN_H
#define CULPRIT_JOIN_H

#include <stdbool.h>
#include "model/hiccup.h"
#include "model/source.h"

/* Longest time beside an interval that still counts as the kernel's own way in or out. */
struct edge_bounds {
	uint64_t irq_ns;    /* beside an interrupt or softirq */
	uint64_t thread_ns; /* beside a thread: the scheduler's own work comes on top */
};

struct join_counts {
	uint64_t seen;            /* records taken */
	uint64_t lost;            /* places in the sequence that no record came for */
	uint64_t below_threshold; /* records in gaps too short to be hiccups */
	uint64_t mismatches;      /* timestamps and sequence disagree */
	uint64_t folded;          /* top-level intervals merged to bound memory, in hiccups of very many records */
};

struct piece {
	uint32_t source; /* row of the CPU's sources */
	uint64_t net_ns;
};

/* One hiccup, accounted for. Owned by the join, valid until its next call. */
struct account {
	uint64_t start_ns, duration_ns;
	uint64_t attributed_ns, edge_ns, outside_ns;
	/* Before the first and after the last interval; both 0 when there is none. */
	uint64_t pre_ns, post_ns;
	bool first_thread, last_thread; /* these intervals are threads */
	uint32_t intervals;             /* outermost ones */
	struct piece *pieces;           /* one per source, in order of first appearance; attributed time only */
	uint32_t npieces;
};

struct join;

/* names: what IRQ numbers are called; NULL result: unknown. `sources` outlives the join. threshold_ns: shortest gap that is a hiccup.
 * Returns NULL when out of memory. */
struct join *join_new(struct sources *sources, uint64_t threshold_ns, struct edge_bounds bounds,
		      const char *(*irq_name)(void *ctx, uint32_t irq), void *ctx);
void join_free(struct join *j);

/* The CPU's sequences where the window begins; what comes later and is missing counts as lost. */
void join_start(struct join *j, const uint16_t cursor[LEVELS]);

/* Takes one record. A record may end up to 1 us before its predecessor (levels race for the clock). */
void join_record(struct join *j, const struct record *r);

/* Accounts for one hiccup; all its records have been given. The result's sources' totals are already raised. */
const struct account *join_hiccup(struct join *j, const struct hiccup *h);

/* Frees space while a hiccup lasts: records are waiting and no hiccup has come. off_cpu_ns: since when another thread has had the
 * CPU, 0 when the sampler has it. Records since then belong to the hiccup to come and are netted now; older ones fell in
 * gaps below the threshold. To be called when join_waiting() exceeds JOIN_WAIT_MAX. */
void join_relieve(struct join *j, uint64_t off_cpu_ns);
uint32_t join_waiting(const struct join *j);
#define JOIN_WAIT_MAX 16384

const struct join_counts *join_counts(const struct join *j);

#endif
