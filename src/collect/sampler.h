/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler: one process for each target CPU that spins on the time-stamp counter and notes every
 * gap.
 *
 * A process, not a thread: because it has a memory map of its own, no munmap or mprotect of
 * culprit's process sends TLB-shootdown IPIs to the CPU under test. Everything that the loop
 * touches is locked and touched before, and nothing else: the memory that it takes does not depend
 * on how many CPUs are measured. It makes no system call between start and stop; a loop is one
 * load, one compare, and counts in registers. To stop it, another process lowers the limit that the
 * loop compares with, so stopping costs no instruction.
 *
 * It shares one `struct sampler_shm` with culprit's process, a shared anonymous mapping.
 */
#ifndef CULPRIT_SAMPLER_H
#define CULPRIT_SAMPLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/cpus.h"
#include "base/policy.h"
#include "model/threshold.h"
#include "state.h"

#define SHM_SLOTS        32768 /* hiccups between two visits of the reader; a power of two */
#define LOOP_CLASSES     8     /* classes of loop lengths while measuring: longer than 2^n ticks */
#define LOOP_CLASS_FIRST 5     /* smallest n */

/* The sequences of all levels of a CPU, cpu_state.cursor; cursor_of() takes one. Read
 * without a lock by two loads, in either order: it is enough that each level's place is read before
 * the counter. */
typedef unsigned __int128 __attribute__((may_alias)) cursors_t;

/* The sequence of one level. high_first: the machine's numbers begin with the highest byte. */
static inline uint32_t cursor_at(cursors_t cursors, int level, bool high_first)
{
	return cursors >> 32 * (high_first ? LEVELS - 1 - level : level);
}

static inline uint32_t cursor_of(cursors_t cursors, int level)
{
	return cursor_at(cursors, level, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

enum sampler_phase {
	SAMPLER_INIT,    /* pinning, locking, measuring the loop */
	SAMPLER_READY,   /* sampler: waits for LEARN */
	SAMPLER_LEARN,   /* culprit: measure the edges, and what a workload needs */
	SAMPLER_LEARNED, /* sampler: waits for MEASURE; the shared memory holds the results */
	SAMPLER_MEASURE, /* culprit: spin */
	/* sampler: has stopped; the window's end is in the shared memory. Where its CPU went
	 * offline it waits for MEASURE, to go on */
	SAMPLER_DONE,
	SAMPLER_FAILED, /* sampler: failed; `error` and `what` say why */
};

struct shm_hiccup {
	cursors_t cursors_before, cursors_after; /* first: so it has no holes */
	uint64_t before, after;                  /* ticks */
	uint64_t anchor_tick;                    /* a reading of both clocks right after the gap */
	uint64_t anchor_width;                   /* ticks between the two readings, at most */
	uint64_t anchor_ns;                      /* CLOCK_MONOTONIC */
	uint32_t lost;                           /* number of hiccups lost right before it */
	uint8_t series;                          /* as in struct spot */
};

_Static_assert(sizeof(struct shm_hiccup) == 80, "a ring of them is most of what a sampler shares");

struct sampler_shm {
	/* Read in the loop. */
	_Atomic uint64_t limit; /* ticks; a loop as long is a gap. 0: stop */

	/* Written by culprit's process. */
	_Alignas(64) _Atomic int phase;
	_Atomic int stop;
	_Atomic uint64_t tail;
	/* CLOCK_MONOTONIC: start of all samplers, which spin until then; set before MEASURE, to
	 * UINT64_MAX while it is not known. */
	_Atomic uint64_t begin_ns;

	/* Written by the sampler. */
	_Alignas(64) _Atomic uint64_t head; /* hiccups published; slot = head % SAMPLER_SLOTS */
	uint64_t lost;                      /* hiccups that came when the ring was full */
	uint64_t lost_ticks;                /* length of the lost hiccups */
	uint64_t lost_told;                 /* number of them that came before one published */
	_Atomic int started;                /* the window has begun: the next five are set */
	uint64_t start, end;                /* the window, ticks */
	cursors_t start_cursors, end_cursors;
	/* The two clocks, read together at the window's start */
	uint64_t start_ns, start_anchor;
	uint64_t end_ns, end_anchor; /* the same at the window's end */
	uint64_t backwards;          /* times that the counter ran backwards */
	uint64_t busy_ticks;         /* bookkeeping between a gap and the next loop */
	uint64_t anchor_min;         /* shortest time between readings of the two clocks, ticks */
	bool anchor_known;
	/* Shortest after a hiccup, and the longest accepted for it. */
	uint64_t busy_min, busy_max;
	uint64_t short_busy_min; /* shortest after a short gap */
	bool smi_known;          /* the CPU counts SMIs and the kernel shows them */
	uint64_t smi_count;      /* in the window */
	/* Steps of its learning that are done, where it learns in several. */
	_Atomic uint32_t steps;
	bool finished;   /* the workload has done all its windows */
	uint64_t unread; /* windows that were written over before the workload could take them */
	bool moved;      /* the kernel took the sampler to another CPU: the window ended there */
	/* Gaps below the threshold: how many, and how long together. */
	uint64_t short_count, short_ticks;
	uint64_t away_ticks;    /* hiccups and bookkeeping: the rest of the window is loops */
	uint64_t earlier_ticks; /* lengths of earlier windows, which ended with its CPU */
	uint64_t loop_count;    /* loops shorter than the threshold, short gaps among them */
	uint64_t loop_min;      /* shortest loop, ticks */
	/* Number of loops longer than 2^(LOOP_CLASS_FIRST+n) ticks. */
	uint64_t loop_above[LOOP_CLASSES];
	uint64_t loop[LOOP_SLOTS]; /* while learning: loops by ticks */
	uint64_t threshold;        /* threshold in force, ticks: given, or learned from the loop */
	/* Ticks: a shorter loop is no gap. Equal to the threshold: short gaps are not counted. */
	uint64_t short_from;
	double ns_per_tick; /* as learned */
	int error;
	char what[64];
	int32_t tid; /* the thread; set before SAMPLER_READY */

	struct shm_hiccup ring[SHM_SLOTS];
};

/* Returns how many ticks two readings may be apart that are at most `times` as far apart as the
 * closest ever. Those of a slow counter may be none apart, and are then no better than others that
 * are one apart: it depends on when the tick comes. */
static inline uint64_t anchor_limit(const struct sampler_shm *l, unsigned times)
{
	return times * l->anchor_min + 1;
}

struct workload;
struct workload_props;
struct partitions;
struct samples;

struct sampler_options {
	struct sampler_shm *shm; /* shared with this sampler */
	unsigned cpu;
	bool clock; /* use CLOCK_MONOTONIC instead of the counter */
	/* SCHED_OTHER, SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE; SCHED_DEADLINE, when all is
	 * learned: nothing spins from then on */
	int policy;
	int priority;
	struct deadline deadline;
	const struct partitions *partitions; /* NULL without SCHED_DEADLINE */
	uint64_t threshold_ns;               /* 0: auto */
	uint64_t threshold_most_ns;          /* limits what a workload teaches; 0: any */
	const cursors_t *cursors;        /* cursors of this CPU's cpu_state; NULL without probes */
	const struct workload *workload; /* runs instead of the spin loop; NULL: spin */
	struct workload_props *props;
	const void *workload_options;
	struct samples *samples;
	const struct cpus *roams;        /* may run on all of these; NULL: on its CPU alone */
	const struct cpus *housekeeping; /* place while its CPU is offline */
	uint32_t index;                  /* place of this sampler among all */
	bool learn_edges;                /* interrupt itself with a timer, to calibrate the edges */
	bool guest;                      /* under a hypervisor */
};

/* Shared memory for a sampler; NULL when out of memory. */
struct sampler_shm *sampler_shm_new(void);
void sampler_shm_free(struct sampler_shm *shm);

/* Forks a process with n samplers, each a thread of it (n: 1 but for workloads whose samplers are
 * to share their memory). It dies with the calling process, and lasts until that ends it. Returns
 * its pid or -errno; the phases of the samplers say when they are ready. */
pid_t sampler_start(struct sampler_options *options, uint32_t n);
/* Has one that waits for it begin a phase: SAMPLER_LEARN, or SAMPLER_MEASURE for the first time. */
void sampler_tell(struct sampler_shm *shm, int phase);

/* For bench: ticks per turn of a bare back-to-back loop over the counter (the least of `batches`
 * short ones). */
double sampler_bench_bare(unsigned batches);
/* For bench: the real loop, in this process, until somebody sets shm->limit to 0 (a signal
 * handler). In ticks: where short gaps and hiccups begin. */
void sampler_bench_loop(struct sampler_shm *shm, uint64_t short_from, uint64_t threshold);

#endif
