/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of one target CPU, shared by its probes, its sampler and the reader: the open
 * intervals, the rings of records, and who has read how far. */
#ifndef CULPRIT_STATE_H
#define CULPRIT_STATE_H

#include "record.h"
#include "sum.h"

/* The hierarchy of control groups that tells whose a thread is (collect/owners.h). */
enum owners_in { OWNERS_NOWHERE, OWNERS_UNIFIED, OWNERS_PIDS, OWNERS_MEMORY, OWNERS_CPU };

/* A watched thread that is ready to run and does not: wait.bpf.h. */
#define WAIT_SETS 2048 /* a power of 2 */
#define WAIT_WAYS 4

struct wait {
	__s32 tid;    /* 0: the place is free */
	__u32 inside; /* see enter() */
	__u64 since_ns;
	__u64 here_ns; /* since when it waits on this CPU */
	__u32 cpu;     /* CPU where it waits; it may run on another */
	__u32 kind;    /* WATCH_IN_PREEMPTED, WATCH_IN_WOKEN */
	__u64 queue;   /* the group's queue on this CPU, and its throttled_clock_self_time at the
			  begin */
	__u64 throttled_ns;
	__u64 unused[2];
};

_Static_assert(sizeof(struct wait) == 64, "a cache line");

struct wait_set {
	struct wait wait[WAIT_WAYS];
};

#define GROUP_PATH 320 /* bytes of a new group's path; a longer path is not known */

/* Unit of the rings: half a record. */
struct record_half {
	__u64 word[4];
};

_Static_assert(sizeof(struct record) == 2 * sizeof(struct record_half), "two halves");

/* An interval that has begun and not ended. */
struct record_open {
	__u64 start_ns;
	__u32 id;
	__u32 kind;
};

/* Size of each level's ring in halves: enough for a tenth of a second of the most that the level
 * can produce (culprit help costs). */
#define RING_THREAD  (60 << 10)
#define RING_SOFTIRQ (28 << 10)
#define RING_IRQ     (36 << 10)
#define RING_NMI     (2 << 10)
#define RING_HALVES  (RING_THREAD + RING_SOFTIRQ + RING_IRQ + RING_NMI)

static inline __attribute__((always_inline)) __u32 ring_size(int level)
{
	return level == LEVEL_THREAD    ? RING_THREAD
	       : level == LEVEL_SOFTIRQ ? RING_SOFTIRQ
	       : level == LEVEL_IRQ     ? RING_IRQ
					: RING_NMI;
}

/* Index of the level's first half in cpu_state.ring. */
static inline __attribute__((always_inline)) __u32 ring_base(int level)
{
	return level == LEVEL_THREAD    ? 0
	       : level == LEVEL_SOFTIRQ ? RING_THREAD
	       : level == LEVEL_IRQ     ? RING_THREAD + RING_SOFTIRQ
					: RING_THREAD + RING_SOFTIRQ + RING_IRQ;
}

/* Place of the record that follows one of so many halves. A wide record must not be torn: the
 * ring's last half begins none. */
static inline __attribute__((always_inline)) __u32 ring_next(int level, __u32 place, __u32 halves)
{
	place += halves;
	return place >= ring_size(level) - 1 ? 0 : place;
}

/* Second halves repeat: who was here, who asked. A record is written without its second half when
 * that equals the one of the last record in the same place. Writer and reader keep the newest
 * second half of each place alike. NMIs have none. */
#define SAME_PLACES 256

static inline __attribute__((always_inline)) __u32 record_place(const struct record *r)
{
	return (r->id + 31 * r->kind + 7 * r->mark) % SAME_PLACES;
}

/* A change of the CPU's frequency. */
struct khz_report {
	__u64 at_ns;
	__u32 khz, unused;
};
#define KHZ_REPORTS 64 /* changes between two visits of the reader, at most */

/* A run of the kernel's timer: when it was due, and when it came; the sequences before it was due,
 * and then. */
struct tick {
	__u64 due_ns, ran_ns;
	__u32 before[LEVELS], after[LEVELS];
};
#define TICKS 32 /* runs between two visits of the sampler, at most */

/* Work of a virtual CPU while it is out of its guest (vcpu.bpf.h). */
enum exit_state { EXIT_WORKS, EXIT_HALTED, EXIT_HALTED_ON /* not since the exit */ };
enum exit_field {
	EXIT_FIELD_REASON,
	EXIT_FIELD_ISA,
	EXIT_FIELD_INFO1,
	EXIT_FIELD_MSR, /* the last one is kvm_msr's */
	EXIT_FIELDS
};

/* State that only the probes read and write. */
struct probe_state {
	__u64 mark[LEVELS];   /* function that the open interval of this level runs, 0: not known */
	__u32 place[LEVELS];  /* place of the next record, counted from ring_base() */
	__u32 unsaid[LEVELS]; /* lost records that no RECORD_LOST has reported yet */
	__u32 began[LEVELS];  /* inner_records() at the begin of the open interval */
	/* Softirq put aside with its thread (PREEMPT_RT): start_ns = tid; and its function. */
	struct record_open preempted;
	__u64 preempted_mark;
	/* Handlers that the newest NMI asked; start 0: one knew the NMI. */
	__u64 nmi_start, nmi_seen;
	__u32 khz; /* the CPU's frequency */
	/* For watched threads. */
	__u32 seen;  /* 1: `active` counts the thread that was running when the gate opened */
	__u32 here;  /* tid of the running watched thread; 0: none */
	__u32 told;  /* 1: the ring had room for the newest RECORD_WATCH */
	__u32 fence; /* see order_loads() and order_stores() */
	__u32 unused;
	__u64 waits_lost; /* see wait_new(); any CPU adds to it */
	/* Last irq_work queued here by a call: when, and its function; any CPU writes them, in this
	 * order. */
	__u64 irq_work_ns, irq_work;
	__u64 active_since;                /* when `active` was last raised from 0 */
	struct record_open syscall, fault; /* those of the running thread; fault: id = error code */
	struct record_open exit;           /* from its guest: enum exit_state */
	struct record_half same[LEVEL_NMI][SAME_PLACES]; /* see record_place() */
	struct sum_state sums;
};

/* One per target CPU, in an mmapable BPF array. The kernel side writes all but `tail` and
 * `sampler`; every level's fields have one writer at a time, because a level does not interrupt
 * itself (held.bpf.c sees to that where threads run it), so there are no locks and no atomics here,
 * and NMI code never waits for anything.
 *
 * Order of publication, of one level: the record's halves, then `head` with release semantics
 * (trace.bpf.h: publish). The reader loads `head` with acquire semantics, reads the halves, and
 * then stores `tail` with release semantics; the writer loads `tail` and writes only behind a
 * branch that depends on it. So the reader never sees half a record, and the writer never writes
 * over one that is being read. `cursor` is read by the sampler, on the same CPU, where program
 * order is enough: it says which records fell into a hiccup. When the sampler then publishes the
 * hiccup with release semantics, its records were published before it; so who has seen the hiccup
 * sees them. tests/unit/test_order.c runs both sides through all orders that ARMv8 permits, and
 * shows that each of these barriers is needed. */
struct cpu_state {
	__u32 cursor[LEVELS]; /* seq of the newest record of each level, dropped or not */
	__s32 sampler;        /* tid; set before the gate opens */
	__u32 active;         /* watched threads that run or wait here; 0: nothing is recorded */
	struct record_open thread;
	struct record_open softirq;
	/* A demultiplexing handler (GPIO banks) calls a second one inside the first. */
	struct record_open irq[2];
	__u64 away_ns;      /* since when the sampler is switched out; 0: it has the CPU */
	__u64 head[LEVELS]; /* halves written */
	__u64 lost[LEVELS]; /* records dropped because the ring was full */
	__u64 unpaired;     /* ends without a begin */
	__u64 switches;     /* times that the sampler was switched out */
	__u64 khz_changes;  /* frequency changes of the CPU since the reader reset these to 0 */
	__u32 khz_min, khz_max;
	struct khz_report khz_report[KHZ_REPORTS]; /* the newest changes */
	/* Times of a sampler that sleeps (sleeper.bpf.c): when the timer that woke it last began to
	 * run, and when the sampler got the CPU after that. */
	__u64 timer_ns, came_ns;
	/* A timer of the kernel's own (ticker.bpf.c): how far apart its runs are, by the sampler,
	 * and the newest of them, counted by `ticks`. */
	__u64 tick_interval;
	__u64 ticks;
	struct tick tick[TICKS];
	struct probe_state own;
	/* Halves read; written by the reader, on a page of its own. */
	__u64 tail[LEVELS] __attribute__((aligned(4096)));
	struct record_half ring[RING_HALVES] __attribute__((aligned(4096)));
};

/* A sampler that has the place of its cursors reads the rest of what is before `own` there. */
_Static_assert(__builtin_offsetof(struct cpu_state, cursor) == 0, "they come first");
/* The sampler reads all cursors with one load (collect/sampler.h: cursors_t). */
_Static_assert(__builtin_offsetof(struct cpu_state, cursor) % 16 == 0, "one load");
_Static_assert(LEVELS * sizeof(__u32) == 16, "one load");
/* Ensures that the compilers of the probes and of the reader agree: nothing is padded before the
 * pages. */
_Static_assert(sizeof(struct record_open) == 16, "no padding");
_Static_assert(__builtin_offsetof(struct probe_state, preempted) == 80, "no padding");
_Static_assert(__builtin_offsetof(struct probe_state, same) == 224, "no padding");
_Static_assert(__builtin_offsetof(struct cpu_state, thread) == 24, "no padding");
_Static_assert(__builtin_offsetof(struct cpu_state, head) == 96, "no padding");
_Static_assert(__builtin_offsetof(struct cpu_state, khz_changes) == 176, "no padding");
_Static_assert(__builtin_offsetof(struct cpu_state, own) == 224 + KHZ_REPORTS * 16 + TICKS * 48,
	       "no padding");
_Static_assert(__builtin_offsetof(struct cpu_state, own) <= 4096, "the sampler has one page");
_Static_assert(__builtin_offsetof(struct cpu_state, tail) % 4096 == 0, "the reader's page");
_Static_assert(__builtin_offsetof(struct cpu_state, ring) ==
		       __builtin_offsetof(struct cpu_state, tail) + 4096,
	       "the reader's page is its alone");
_Static_assert(sizeof(struct cpu_state) % 4096 == 0, "each begins on a page of its own");
_Static_assert(sizeof(struct cpu_state) <= 4 << 20, "the kernel memory that a target CPU may take");

#endif
