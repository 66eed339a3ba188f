/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that `culprit watch --sums` keeps in the kernel in place of records: for each target
 * CPU a table of sources, each with its number, its net time and a histogram. The probes add, the
 * reader only reads.
 *
 * Order of publication: a row's name and key, then `what` with release semantics; the least and the
 * most, then the run's bucket. The reader loads `what` and the buckets with acquire semantics, then
 * the rest (model/sums.h: sum_take). So a row has its own name, and no run in it is longer or
 * shorter than all. tests/unit/test_order_shared.c runs both sides through all orders that ARMv8
 * permits. */
#ifndef CULPRIT_SUM_H
#define CULPRIT_SUM_H

#include "record.h"

/* Net times: two buckets an octave from 64 ns to 4 s, and one for all below and one for all
 * above. */
#define SUM_BITS    1
#define SUM_FIRST   6
#define SUM_LAST    32
#define SUM_BUCKETS (((SUM_LAST - SUM_FIRST) << SUM_BITS) + 2)

/* Each level has rows of its own, so that a row and its place have one writer at a time, however
 * interrupts nest. */
#define SUM_NMIS     4
#define SUM_IRQS     64
#define SUM_SOFTIRQS 64
#define SUM_THREADS  128
#define SUM_RESTS    5 /* for what had no row any more: each level's, the IRQ's of devices */
#define SUM_VECTORS  4 /* place among the rests: vectors */
#define SUM_ROWS     (SUM_NMIS + SUM_IRQS + SUM_SOFTIRQS + SUM_THREADS + SUM_RESTS)

/* Meaning of `what`: a record_kind in the lowest byte, 0: the row is free, or a rest; and
 * of threads: */
#define SUM_KIND    0xff
#define SUM_KTHREAD 0x100
#define SUM_SEVERAL 0x200 /* threads of this name with other ids were seen, too */
#define SUM_OWNERS  0x400 /* threads of several control groups */

struct sum {
	/* As in struct record. A thread's id is of the first of its name, and a vector's arg the
	 * first that was seen. */
	__u64 function; /* the function's address; 0: not known */
	char name[16];  /* a thread's; else zeros */
	__u64 arg, owner;
	__u32 id;
	__u32 what;  /* see above */
	__u64 count; /* intervals that began with it */
	__u64 net_ns, min_ns, max_ns;
	__u64 bucket[SUM_BUCKETS]; /* runs by their net time */
};

_Static_assert(sizeof(struct sum) % 64 == 0, "whole cache lines");

/* An interval that is open: what ran inside it before its current function. */
struct sum_open {
	__u64 inside;   /* sum_inside() at the function's begin */
	__u64 since_ns; /* the function's begin; 0: the interval's */
	__u64 function;
	__u64 gap_ns;  /* time since then in which it was in nobody's way */
	__u32 marked;  /* 1: a mark has told the function */
	__u32 counted; /* 1: the interval is counted */
};

/* Sums are added up or not, in place of records or, to compare both, beside them. */
enum summing { SUMS_NONE, SUMS_ALONE, SUMS_BESIDE };

/* The innermost handler of an interrupt has a place of its own. */
enum sum_place { SUM_THREAD, SUM_SOFTIRQ, SUM_IRQ, SUM_IRQ_INSIDE, SUM_PLACES };

/* A CPU's state for sums, which only the probes use. */
struct sum_state {
	__u64 net_ns[LEVELS]; /* net time of all intervals of the level so far */
	__u64 inside[LEVELS]; /* sum_inside() when the level read its clock last */
	struct sum_open open[SUM_PLACES];
	__u64 nmi;               /* the handler of the newest NMI */
	__u64 left_ns;           /* when cpu_state.active last fell to 0 */
	__u64 misfits;           /* net times that would have been below 0, and count as 0 */
	__u32 preempted_counted; /* sum_open.counted of the softirq put aside with its thread */
	__u32 base;              /* the CPU's first row; set before the gate opens */
};

#endif
