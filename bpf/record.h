/* THE contract: what the probes write, what a recording stores, what the analysis reads. One struct
 * for all three; in the rings most records are their first half only.
 *
 * A record is an interval during which something other than the sampler held a target CPU (start_ns
 * < end_ns), or an instant that explains one (start_ns == end_ns). Times are CLOCK_MONOTONIC:
 * bpf_ktime_get_ns() in the kernel and clock_gettime() in the sampler read the same clock
 * (kernel/bpf/helpers.c, kernel/time/timekeeping.c: ktime_get_mono_fast_ns).
 *
 * Enum values are never renumbered: recordings hold them.
 */
#ifndef CULPRIT_RECORD_H
#define CULPRIT_RECORD_H

#include <linux/types.h>

enum record_kind {
	/* Intervals. */
	RECORD_IRQ = 1, /* device interrupt handler: id = IRQ number, arg = the handler's address */
	RECORD_VECTOR = 2,  /* x86 system vector: id = enum vector_id, arg = vector number */
	RECORD_SOFTIRQ = 3, /* id = softirq number (include/linux/interrupt.h) */
	/* One NMI: arg = address of the handler that knew it, or of the fallback when none did. */
	RECORD_NMI = 4,
	/* another thread than the sampler: id = tid (0: idle), arg = tgid, prio, name = comm */
	RECORD_THREAD = 5,
	/* Instants. A fault lasts until the sampler runs on: id = error code, arg = address. */
	RECORD_FAULT = 6,
	/* A TLB flush for another CPU: id = reason (enum tlb_flush_reason), arg = pages, name =
	 * comm of the memory's owner. */
	RECORD_TLB = 7,
	/* From here on the enclosing interval of this level runs the function `arg`; see enum
	 * mark_kind. */
	RECORD_MARK = 8,
	/* The tick could not be stopped: id = dependency bit (include/linux/tick.h), arg = tid,
	 * name = comm. */
	RECORD_TICK = 9,
	/* The kernel's osnoise tracer reports the end of an interval: mark = its record_kind, id =
	 * IRQ, vector, softirq or tid, arg = net ns, name = as osnoise calls it. */
	RECORD_OSNOISE = 10,
	/* A watched thread: mark = enum watch_kind, id = tid, name = comm; arg = of WATCH_IN the
	 * CPU where it waited, of WATCH_OUT its tgid. Read by the watch stage (model/watch.h)
	 * only. */
	RECORD_WATCH = 11,
	/* A system call of a watched thread, on request: id = its number; ends where the thread is
	 * switched out. */
	RECORD_SYSCALL = 12,
	/* In a ring only: `id` records had no room here. */
	RECORD_LOST = 13,
};

enum watch_kind {
	WATCH_IN_PREEMPTED = 1, /* runs again; it was ready to run since start_ns */
	WATCH_IN_WOKEN = 2,     /* the same after a sleep */
	WATCH_IN = 3,           /* runs since start_ns; what it did before is not known */
	/* Ran since start_ns, and was switched out. start_ns == end_ns: nobody saw it switched
	 * in. */
	WATCH_OUT = 4,
	WATCH_GONE =
		5, /* runs no more, and left some time before: the tracepoint did not show it */
	WATCH_IN_DUE = 6, /* as WATCH_IN_WOKEN, woken by a timer that was due at start_ns */
	WATCH_MOVED =
		7, /* waits on another CPU from now on; it waited on CPU `arg` since start_ns */
};

/* The meaning of a mark. With RECORD_ORIGIN the record's name, id, origin_cpu, origin and stack say
 * who asked. */
enum mark_kind {
	MARK_HRTIMER = 1,
	MARK_TIMER = 2, /* the function; of a delayed work's timer, the work's function */
	MARK_WORK = 3,
	MARK_CSD = 4, /* a function called by an IPI */
	MARK_IRQ_WORK = 5,
	MARK_TASKLET = 6,
	MARK_WAKER = 7,      /* no function: the waker of the thread that begins here */
	MARK_RESCHEDULE = 8, /* no function: the sender of the reschedule IPI */
	/* No function: the sampler makes way for thread `id`, `name`; its record follows when it
	 * leaves. */
	MARK_THREAD = 9,
};

/* A context interrupts only lower ones, and within one CPU a level never runs twice at once (for
 * IRQs see irq[] below). */
enum record_level {
	LEVEL_THREAD = 0,
	LEVEL_SOFTIRQ = 1,
	LEVEL_IRQ = 2,
	LEVEL_NMI = 3,
	LEVELS = 4,
};

enum vector_id {
	VECTOR_LOCAL_TIMER = 1,
	VECTOR_RESCHEDULE = 2,
	VECTOR_CALL_FUNCTION = 3,
	VECTOR_CALL_FUNCTION_SINGLE = 4,
	VECTOR_IRQ_WORK = 5,
	VECTOR_THERMAL = 6,
	VECTOR_THRESHOLD = 7,
	VECTOR_DEFERRED_ERROR = 8,
	VECTOR_ERROR = 9,
	VECTOR_SPURIOUS = 10,
	VECTOR_PLATFORM_IPI = 11,
	VECTORS = 12,
};

/* flags */
/* A piece of a softirq that was preempted (PREEMPT_RT); the next piece follows. */
#define RECORD_PART 1
/* RECORD_THREAD: left in the middle of its work; a worker goes on with the same work. */
#define RECORD_ONGOING 2
#define RECORD_ORIGIN  4 /* name, id, origin_cpu, origin and stack tell who asked */
#define RECORD_KTHREAD 8 /* RECORD_THREAD, RECORD_WATCH: a kernel thread */
/* While threads are watched: interrupted the thread whose WATCH_IN was the CPU's last. */
#define RECORD_UPON 32
/* RECORD_ORIGIN: the context of the request; 0: not known, the stack may tell. */
#define RECORD_CONTEXT      96
#define RECORD_BY_INTERRUPT 32
/* In the name of the thread it ran on; the stack may show that this thread wanted it. */
#define RECORD_BY_SOFTIRQ 64
/* Or the end of an interrupt on top of the thread: the stack shows that. */
#define RECORD_BY_THREAD 96
#define RECORD_INNER     16 /* while threads are watched: ran inside another interval */
/* In a ring, with the level: */
#define RECORD_WIDE 64 /* the second half follows */
/* The second half equals that of the newest wide record in the same place, see record_place(). */
#define RECORD_SAME 128

struct record {
	/* The first half. */
	__u64 start_ns;
	__u64 end_ns;
	__u64 arg;
	/* RECORD_ORIGIN: tid of the current thread; 0: the idle thread, or no thread had a part in
	 * it (RECORD_CONTEXT). */
	__u32 id;
	__u8 kind;  /* enum record_kind */
	__u8 level; /* enum record_level */
	__u8 flags;
	__u8 mark; /* RECORD_MARK: enum mark_kind */
	/* The second half. */
	/* RECORD_THREAD: comm; RECORD_ORIGIN: the asker's. Any bytes, NUL-terminated only when
	 * shorter. */
	char name[16];
	__u64 origin; /* RECORD_ORIGIN: address that the request came from; 0: see the stack */
	/* RECORD_ORIGIN: id of the asker's kernel stack; -1: the context is known without it; -2:
	 * none could be taken. */
	__s16 stack;
	union {
		__s16 prio;       /* RECORD_THREAD: task_struct.prio */
		__u16 origin_cpu; /* RECORD_ORIGIN */
	};
	/* Place in the sequence of its CPU and level, modulo 2^32; dropped records have a place,
	 * too. Set by the reader. */
	__u32 seq;
};

/* What the rings are made of: half a record. */
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
 * can produce (README, "What it costs"). */
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

/* One per target CPU, in an mmapable BPF array. The kernel side writes all but `tail` and
 * `sampler`; every level's fields have one writer at a time, because a level does not interrupt
 * itself, so there are no locks and no atomics here, and NMI code never waits for anything.
 *
 * Order of publication, of one level: the record's halves, then `head` with release semantics
 * (trace.bpf.h: publish). The reader loads `head` with acquire semantics, reads the halves, and
 * then stores `tail` with release semantics; the writer loads `tail` and writes only behind a
 * branch that depends on it. So the reader never sees half a record, and the writer never writes
 * over one that is being read. `cursor` is read by the sampler, on the same CPU, where program
 * order is enough: it says which records fell into a hiccup. */
struct cpu_state {
	__u32 cursor[LEVELS] __attribute__((
		aligned(16))); /* seq of the newest record of each level, dropped or not */
	__s32 sampler;         /* tid; set before the gate opens */
	__u32 active;          /* watched threads that run or wait here; 0: nothing is recorded */
	struct record_open thread;
	struct record_open softirq;
	/* A demultiplexing handler (GPIO banks) calls a second one inside the first. */
	struct record_open irq[2];
	/* Softirq put aside with its thread (PREEMPT_RT): start_ns = tid. */
	struct record_open preempted;
	__u64 away_ns;              /* since when the sampler is switched out; 0: it has the CPU */
	__u64 head[LEVELS];         /* halves written */
	__u32 place[LEVELS];        /* place of the next record, counted from ring_base() */
	__u64 lost[LEVELS];         /* records dropped because the ring was full */
	__u32 unsaid[LEVELS];       /* those of them that no RECORD_LOST has reported yet */
	__u64 unpaired;             /* ends without a begin */
	__u64 switches;             /* times that the sampler was switched out */
	struct record_open syscall; /* of the running watched thread */
	struct record_open fault;   /* the same: id = error code */
	/* 1: `active` counts the thread that was running when the gate opened */
	__u32 seen;
	__u32 here;         /* tid of the running watched thread; 0: none */
	__u64 active_since; /* when `active` was last raised from 0 */
	__u64 mark[LEVELS]; /* function that the open interval of this level runs, 0: not known */
	/* Handlers that the newest NMI asked; start 0: one knew the NMI. */
	__u64 nmi_start, nmi_seen;
	__u64 preempted_mark; /* the function that `preempted` ran */
	/* frequency changes of the CPU since the reader reset these to 0... */
	__u64 khz_changes;
	__u32 khz, khz_min, khz_max;
	/* 1: the ring had room for the newest RECORD_WATCH, so the reader knows about `here` */
	__u32 told;
	struct record_half same[LEVEL_NMI][SAME_PLACES]; /* see record_place() */
	__u64 tail[LEVELS] __attribute__((
		aligned(4096))); /* halves read; written by the reader, on a page of its own */
	struct record_half ring[RING_HALVES] __attribute__((aligned(4096)));
};

_Static_assert(sizeof(struct cpu_state) % 4096 == 0, "each begins on a page of its own");
_Static_assert(sizeof(struct cpu_state) <= 4 << 20, "the kernel memory that a target CPU may take");

#endif
