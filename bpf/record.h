/* SPDX-License-Identifier: GPL-2.0-or-later */
/* THE contract: what the probes write, what a recording stores, what the analysis reads. One struct
 * for all three; in the rings (state.h) most records are their first half only.
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

/* An interval takes time from the sampler, and is a source of time (model/kind.h); an instant
 * explains one:
 *
 *   IRQ      device interrupt handler: id = IRQ number, arg = the handler's address
 *   VECTOR   system vector: id = enum vector_id, arg = its number (x86), or its interrupt's
 *   SOFTIRQ  id = softirq number (include/linux/interrupt.h)
 *   NMI      one NMI: arg = address of the handler that knew it, or of the fallback when none did
 *   THREAD   another thread than the sampler: id = tid (0: idle), arg = tgid, prio, name = comm
 *   FAULT    id = error code, arg = address. The sampler's own is an instant: it lasts until it
 *            runs on
 *   TLB      a TLB flush for another CPU: id = reason (TLB_REASONS), arg = pages, name = comm of
 *            the memory's owner
 *   MARK     from here on the enclosing interval of this level runs the function `arg`; see enum
 *            mark_kind
 *   TICK     the tick could not be stopped: id = dependency bit (include/linux/tick.h), arg = tid,
 *            name = comm
 *   OSNOISE  the kernel's osnoise tracer reports the end of an interval: mark = its record_kind,
 *            id = IRQ, vector, softirq or tid, arg = net ns, name = as osnoise calls it
 *   WATCH    a watched thread: mark = enum watch_kind, id = tid, name = comm; arg = of WATCH_IN
 *            the CPU where it waited, of WATCH_OUT its tgid. Read by the watch stage
 *            (model/watch.h) only
 *   SYSCALL  a system call of a watched thread, on request: id = its number, arg = enum
 *            syscall_table, where the number stands; ends where the thread is switched out
 *   EXIT     a virtual CPU was out of its guest, and the guest wanted to run: id = EXIT_ID, arg =
 *            tid (for the watch stage). Ends where its thread is switched out; the piece that
 *            follows has the same id, or one with its place. With mark EXIT_ASLEEP its thread
 *            slept meanwhile, which the watch stage finds out
 *   THROTTLED  a watched thread was ready, and its quota was used up: id = tid. Made by the watch
 *            stage
 *   LOST     in a ring only: `id` records had no room here
 */
#define RECORDS(INTERVAL, INSTANT)                                                                 \
	INTERVAL(IRQ, 1)                                                                           \
	INTERVAL(VECTOR, 2)                                                                        \
	INTERVAL(SOFTIRQ, 3)                                                                       \
	INTERVAL(NMI, 4)                                                                           \
	INTERVAL(THREAD, 5)                                                                        \
	INTERVAL(FAULT, 6)                                                                         \
	INSTANT(TLB, 7)                                                                            \
	INSTANT(MARK, 8)                                                                           \
	INSTANT(TICK, 9)                                                                           \
	INSTANT(OSNOISE, 10)                                                                       \
	INSTANT(WATCH, 11)                                                                         \
	INTERVAL(SYSCALL, 12)                                                                      \
	INSTANT(LOST, 13)                                                                          \
	INTERVAL(THROTTLED, 14)                                                                    \
	INTERVAL(EXIT, 15)

enum record_kind {
#define ROW(name, number) RECORD_##name = number,
	RECORDS(ROW, ROW)
#undef ROW
};

enum watch_kind {
	WATCH_IN_PREEMPTED = 1, /* runs again; it was ready to run since start_ns */
	WATCH_IN_WOKEN = 2,     /* the same after a sleep */
	WATCH_IN = 3,           /* runs since start_ns; what it did before is not known */
	/* Ran since start_ns, and was switched out. start_ns == end_ns: nobody saw it switched
	 * in. */
	WATCH_OUT = 4,
	/* Runs no more, and left some time before: the tracepoint did not show it. */
	WATCH_GONE = 5,
	/* As WATCH_IN_WOKEN, woken by a timer that was due at start_ns. */
	WATCH_IN_DUE = 6,
	/* Waits on another CPU from now on; it waited on CPU `arg` since start_ns. */
	WATCH_MOVED = 7,
	/* Precedes the end of a wait: the quota was used up from start_ns to `arg`. */
	WATCH_THROTTLED = 8,
	/* Had the CPU since start_ns while the guest whose CPU it is waited for an interrupt; `arg`
	 * halts began there: 1, or 0. */
	WATCH_HALTED = 9,
	/* Left its guest at start_ns for the reason `arg` (EXIT_ID), and was in it again at some
	 * time before end_ns: the kernel did not tell when. */
	WATCH_UNENDED = 10,
};

/* The kernel has a table of system calls for its own programs, and others for those of 32 bits. */
enum syscall_table { SYSCALL_UNKNOWN = 0, SYSCALL_X86_64 = 1, SYSCALL_ARM64 = 2 };

enum exit_mark { EXIT_ASLEEP = 1 };

/* The reason for which a virtual CPU left its guest, as the kernel's tracepoint kvm_exit tells: the
 * instruction set that KVM uses (KVM_ISA_VMX, KVM_ISA_SVM), and its number there. SVM has one
 * number for reads and writes of a model-specific register. With it, where that is known (else 0),
 * which port or register: its place among EXIT_PORTS or EXIT_MSRS, from 1 on. */
enum exit_isa { EXIT_VMX = 1, EXIT_SVM = 2 };
#define EXIT_REASON(id)      ((id)&0xfff)
#define EXIT_ISA(id)         ((id) >> 16 & 3)
#define EXIT_ID(isa, reason) ((__u32)(isa) << 16 | EXIT_REASON(reason))
#define EXIT_WRITES          0x8000
#define EXIT_PLAIN(id)       ((id)&0x38fff) /* without its place */
#define EXIT_PLACE(id)       ((id) >> 18 << 3 | ((id) >> 12 & 7))
#define EXIT_AT(id, place)   (EXIT_PLAIN(id) | ((place)&7) << 12 | (place) >> 3 << 18)
#define EXIT_VMX_IO          EXIT_ID(EXIT_VMX, 30)
#define EXIT_SVM_IO          EXIT_ID(EXIT_SVM, 0x7b)
#define EXIT_VMX_RDMSR       EXIT_ID(EXIT_VMX, 31)
#define EXIT_VMX_WRMSR       EXIT_ID(EXIT_VMX, 32)
#define EXIT_SVM_MSR         EXIT_ID(EXIT_SVM, 0x7c)
#define EXIT_STOPPED         EXIT_ID(3, 1) /* STOPPED: of no guest, the thread was stopped */
#define EXIT_PORTS           0x10000
#define EXIT_IS_IO(id)       (EXIT_PLAIN(id) == EXIT_VMX_IO || EXIT_PLAIN(id) == EXIT_SVM_IO)
#define EXIT_IS_MSR(id)                                                                            \
	(EXIT_PLAIN(id) == EXIT_VMX_RDMSR || EXIT_PLAIN(id) == EXIT_VMX_WRMSR ||                   \
	 (EXIT_PLAIN(id) & ~EXIT_WRITES) == EXIT_SVM_MSR)
/* Ranges of registers that guests use: first, how many. The processor's own, those of Hyper-V and
 * of KVM, and the two that AMD began (arch/x86/include/asm/msr-index.h, hyperv-tlfs.h,
 * kvm_para.h). */
#define EXIT_MSRS(RANGE)                                                                           \
	RANGE(0, 0x2000)                                                                           \
	RANGE(0x40000000, 0x1000)                                                                  \
	RANGE(0x4b564d00, 0x100)                                                                   \
	RANGE(0xc0000000, 0x2000)                                                                  \
	RANGE(0xc0010000, 0x2000)
/* The guest waits for an interrupt. */
#define EXIT_HALTS(id) ((id) == EXIT_ID(EXIT_VMX, 12) || (id) == EXIT_ID(EXIT_SVM, 0x78))

/* The meaning of a mark. With RECORD_ASKED the record's name, id, asker_cpu, callsite and stack say
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
 * IRQs see irq[] in state.h). */
enum record_level {
	LEVEL_THREAD = 0,
	LEVEL_SOFTIRQ = 1,
	LEVEL_IRQ = 2,
	LEVEL_NMI = 3,
	LEVELS = 4,
};

/* System vectors: x86's name (arch/x86/include/asm/trace/irq_vectors.h), and the row of
 * /proc/interrupts that counts it there (arch/x86/kernel/irq.c: arch_show_interrupts). Elsewhere
 * the timer and the IPIs that do the same are interrupts with a number (collect/irq_vectors.h). */
#define VECTORS(ROW)                                                                               \
	ROW(1, LOCAL_TIMER, local_timer, "LOC")                                                    \
	ROW(2, RESCHEDULE, reschedule, "RES")                                                      \
	ROW(3, CALL_FUNCTION, call_function, "CAL")                                                \
	ROW(4, CALL_FUNCTION_SINGLE, call_function_single, "CAL")                                  \
	ROW(5, IRQ_WORK, irq_work, "IWI")                                                          \
	ROW(6, THERMAL, thermal_apic, "TRM")                                                       \
	ROW(7, THRESHOLD, threshold_apic, "THR")                                                   \
	ROW(8, DEFERRED_ERROR, deferred_error_apic, "DFR")                                         \
	ROW(9, ERROR, error_apic, "ERR")                                                           \
	ROW(10, SPURIOUS, spurious_apic, "SPU")                                                    \
	ROW(11, PLATFORM_IPI, x86_platform_ipi, "PLT")

enum vector_id {
#define ROW(number, name, kernel_name, counter) VECTOR_##name = number,
	VECTORS(ROW)
#undef ROW
		VECTOR_IDS,
};

/* Interrupts with a lower number than this may be vectors where the architecture has no vectors. */
#define VECTOR_IRQS 256

/* enum tlb_flush_reason (include/linux/mm_types.h), as the kernel's tracepoint writes them
 * (include/trace/events/tlb.h). */
#define TLB_REASONS(ROW)                                                                           \
	ROW(0, TASK_SWITCH, "task switch")                                                         \
	ROW(1, REMOTE_SHOOTDOWN, "remote shootdown")                                               \
	ROW(2, LOCAL_SHOOTDOWN, "local shootdown")                                                 \
	ROW(3, LOCAL_MM_SHOOTDOWN, "local mm shootdown")                                           \
	ROW(4, REMOTE_SEND_IPI, "remote IPI send")                                                 \
	ROW(5, REMOTE_WRONG_CPU, "remote wrong CPU")

enum tlb_reason {
#define ROW(number, name, text) TLB_##name = number,
	TLB_REASONS(ROW)
#undef ROW
};

/* flags */
/* A piece of a softirq that was preempted (PREEMPT_RT), or of RECORD_EXIT; the next one follows. Of
 * WATCH_OUT: the thread was stopped, by a signal or a debugger. */
#define RECORD_PART 1
/* RECORD_THREAD: left in the middle of its work, and goes on with the same work. Not of workers of
 * kernels whose workers tell what they do: a MARK_WORK where they begin says what they go on with.
 */
#define RECORD_ONGOING 2
#define RECORD_ASKED   4 /* name, id, asker_cpu, callsite and stack tell who asked */
#define RECORD_KTHREAD 8 /* RECORD_THREAD, RECORD_WATCH, RECORD_TICK: a kernel thread */
/* RECORD_ASKED: `owner` in place of a callsite: the asker is a thread, and its stack says which
 * function asked, or there is no more to know of that. */
#define RECORD_OWNED 2
/* While threads are watched: interrupted the thread whose WATCH_IN was the CPU's last. */
#define RECORD_UPON 32
/* RECORD_THREAD, before a watched thread: of another unit or container, else of another process. */
#define RECORD_FOREIGN 64
/* RECORD_THREAD, without a real-time priority, before a watched thread that has one: the kernel let
 * it in, by real-time throttling or the deadline server. */
#define RECORD_LET_IN 128
/* RECORD_ASKED: the context of the request; 0: not known, the stack may tell. */
#define RECORD_CONTEXT      96
#define RECORD_BY_INTERRUPT 32
/* In the name of the thread it ran on; the stack may show that this thread wanted it. */
#define RECORD_BY_SOFTIRQ 64
/* By the thread, or by the end of an interrupt on top of it: the stack shows which. */
#define RECORD_BY_THREAD 96
#define RECORD_INNER     16 /* while threads are watched: ran inside another interval */
/* RECORD_THREAD: another thread than this one was seen to come at start_ns. That one and perhaps
 * others left unseen, so part of the time is theirs: who had how much is not known. */
#define RECORD_UNSEEN 16
/* In a ring, with the level: */
#define RECORD_WIDE 64 /* the second half follows */
/* The second half equals that of the newest wide record in the same place, see record_place(). */
#define RECORD_SAME 128

/* Owner of a thread: its process, and the number of its control group, which no other group has at
 * that time; 0: not known, 1: the root. */
#define OWNER(tgid, cgroup)  ((__u64)(__u32)(tgid) << 32 | (__u32)(cgroup))
#define OWNER_PROCESS(owner) ((__u32)((owner) >> 32))
#define OWNER_CGROUP(owner)  ((__u32)(owner))
#define OWNER_ROOT           1

struct record {
	/* The first half. */
	__u64 start_ns;
	__u64 end_ns;
	__u64 arg;
	/* RECORD_ASKED: tid of the current thread; 0: the idle thread, or no thread had a part in
	 * it (RECORD_CONTEXT). */
	__u32 id;
	__u8 kind;  /* enum record_kind */
	__u8 level; /* enum record_level */
	__u8 flags;
	__u8 mark; /* RECORD_MARK: enum mark_kind */
	/* The second half. */
	/* RECORD_THREAD: comm; RECORD_ASKED: the asker's. Any bytes, NUL-terminated only when
	 * shorter. */
	char name[16];
	union {
		__u64 callsite; /* RECORD_ASKED: address that asked; 0: see the stack */
		/* RECORD_THREAD, RECORD_WATCH: the thread's OWNER; RECORD_OWNED: the asker's. */
		__u64 owner;
	};
	/* RECORD_ASKED: id of the asker's kernel stack; -1: the context is known without it; -2:
	 * none could be taken. */
	__s16 stack;
	union {
		__s16 prio;      /* RECORD_THREAD: task_struct.prio */
		__u16 asker_cpu; /* RECORD_ASKED */
	};
	/* Place in the sequence of its CPU and level, modulo 2^32; dropped records have a place,
	 * too. Set by the reader. */
	__u32 seq;
};

/* The halves are copied as such, and nothing is padded. */
_Static_assert(sizeof(struct record) == 64, "two halves of 32 bytes");
_Static_assert(__builtin_offsetof(struct record, mark) == 31, "the first half ends with `mark`");
_Static_assert(__builtin_offsetof(struct record, name) == 32, "the second half begins with `name`");
_Static_assert(__builtin_offsetof(struct record, seq) == 60, "the second half ends with `seq`");

#endif
