/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nest: the accounting of one hiccup at a time. Records come in the order of their ends; a
 * stack holds those that have ended and lie in no later interval yet. A new interval takes from the
 * top of the stack all that lies inside it; the rest of its length is its net time, which its marks
 * divide among functions. join.h says what becomes of every nanosecond.
 */
#ifndef CULPRIT_NEST_H
#define CULPRIT_NEST_H

#include <stdbool.h>
#include "model/holes.h"
#include "model/interval.h"
#include "model/names.h"
#include "model/source.h"
#include "model/spans.h"

/* Longest time beside an interval that counts as the kernel's entry or exit. */
struct edge_bounds {
	uint64_t irq_ns;    /* beside an interrupt or softirq */
	uint64_t thread_ns; /* beside a thread: it includes the scheduler's own work */
};

struct piece {
	uint32_t source; /* row of the CPU's sources */
	uint32_t count;  /* interruptions that it began with */
	uint64_t net_ns;
	uint64_t unseen_ns; /* time in intervals where threads left unseen (RECORD_UNSEEN) */
	struct asker asker; /* the last one who asked for it */
};

/* Causes by which a watched thread lost its time; recordings do not hold them. */
enum window {
	WINDOW_UNKNOWN,   /* not a watched thread's, or read from a recording */
	WINDOW_CAME_UPON, /* interrupts while it ran */
	WINDOW_PREEMPTED, /* ready, after another thread took the CPU from it */
	WINDOW_WOKEN,     /* ready, after it was woken */
	WINDOW_ASLEEP,    /* a virtual CPU's: asleep though its guest wanted to run */
	WINDOW_REPORTED,  /* the program says so itself (src/culprit.h) */
};

/* Place of a hiccup, and its thread when threads are watched. */
#define SPOT_UNKNOWN UINT32_MAX
enum spot_thread { SPOT_THREAD_UNKNOWN, SPOT_THREAD_USER, SPOT_THREAD_KERNEL };
struct spot {
	uint32_t cpu; /* SPOT_UNKNOWN: not known */
	uint32_t tid; /* 0: no thread's */
	char comm[17];
	enum spot_thread thread; /* the thread is the kernel's, or not */
	enum window window;
	/* Series of a workload's window: 1 + its index in the CPU's; 0: not known, or the loop's
	 * own gap. */
	uint8_t series;
};

#define NORMAL_PRIO 100 /* task_struct.prio from here on is not real time; idle has 120 */

/* By whom a watched thread lost time: FOREIGN by threads of another process that are in another
 * cgroup (unit, container), or where both are in none; OWN by other threads of its own, and on
 * request by its own system calls and page faults, and as a virtual CPU by what its guest does;
 * THROTTLED by a used-up quota of its group, or, with a real-time priority, by what the kernel let
 * in against that; KERNEL by interrupts, kernel threads and the idle thread. */
enum whose { WHOSE_FOREIGN, WHOSE_OWN, WHOSE_THROTTLED, WHOSE_KERNEL, WHOSE };
const char *whose_name(enum whose whose); /* "foreign" */

/* The account of one hiccup. */
struct account {
	uint64_t start_ns, duration_ns;
	/* Together duration_ns, with host_ns: what the host's recording explains (through.h). */
	uint64_t attributed_ns, edge_ns, lost_ns, outside_ns;
	uint64_t host_ns;
	/* Parts of outside_ns: the host was recorded, and nothing was seen there; it was not. */
	uint64_t host_nothing_ns, host_not_covered_ns;
	uint64_t whose_ns[WHOSE]; /* together attributed_ns */
	uint64_t let_in_ns;       /* a part of what was throttled: RECORD_LET_IN */
	/* Before the first and after the last interval; both 0 without any. */
	uint64_t pre_ns, post_ns;
	bool first_thread, last_thread; /* true: these intervals are threads */
	uint32_t intervals;             /* outermost ones */
	uint32_t theirs;                /* ends of intervals by the kernel's osnoise tracer */
	struct spot spot;               /* set by the session */
	uint64_t lost;                  /* number of records missing in it; set by the join */
	/* One for each source, in order of first appearance: attributed_ns and host_ns. */
	struct piece *pieces;
	uint32_t npieces;
	const struct span *spans;    /* when each ran, see spans.h; none unless nest_keep_spans */
	uint32_t nspans, spans_left; /* number of intervals, and number of those without a place */
};

struct nest;

/* `sources` and `names` (NULL: numbers without names) outlive the nest. real_time: the sampler runs
 * FIFO/RR; a normal thread in its place was let in by throttling or the deadline server. NULL when
 * out of memory. */
struct nest *nest_new(struct sources *sources, struct edge_bounds bounds, const struct names *names,
		      bool real_time);
void nest_free(struct nest *n);

/* Copies each netted interval there; NULL: stops that. */
void nest_tap(struct nest *n, struct intervals *intervals);

/* Records spans in accounts from here on. 0 or -ENOMEM. */
int nest_keep_spans(struct nest *n);

/* Begins the account of a hiccup, unless one is open. */
void nest_open(struct nest *n);
bool nest_is_open(const struct nest *n);

/* Sets where records are missing: read while intervals are netted and gaps accounted for; outlives
 * the nest. */
void nest_holes(struct nest *n, const struct holes *holes);

/* Drops the account, if one is open: its hiccup never comes. The sources' totals keep its time,
 * which is that of a hiccup that was lost. No thread goes on with what it did. */
void nest_drop(struct nest *n);

/* Notes a record that was not taken: nobody knows what its thread goes on with. */
void nest_forget(struct nest *n, const struct record *r);

/* Notes that records of this level are missing before the next one taken, or before the end.
 * inside: the next one's interval had begun before them, so nobody knows when it ran which
 * function. */
void nest_doubt(struct nest *n, unsigned level, bool inside);

/* Takes one record of the hiccup, cut to [from, to]. Raises the sources' totals at once. */
void nest_take(struct nest *n, const struct record *r, uint64_t from, uint64_t to);

/* Ends the account. Intervals may stick out of [start_ns, end_ns]: then the hiccup is longer by
 * that much, and *stuck_out says how many of its two ends were wrong. The account belongs to the
 * nest and is valid until the next nest_open. */
struct account *nest_close(struct nest *n, uint64_t start_ns, uint64_t end_ns, unsigned *stuck_out);

/* Number of outermost intervals merged to bound memory. */
uint64_t nest_folded(const struct nest *n);

#endif
