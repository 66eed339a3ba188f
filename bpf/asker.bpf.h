/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Askers: who, on which CPU, asked for what a target CPU then ran. Noted where the asker runs, at
 * its cost; fetched by the mark on the target. A second request under the same key overwrites the
 * first. Fetching removes the note, so that nobody is blamed twice. */
#ifndef CULPRIT_ASKER_BPF_H
#define CULPRIT_ASKER_BPF_H

#include "trace.bpf.h"
#include "note.bpf.h"

/* A range of the table's sets for each kind of request; powers of two. */
#define WAKES    2048
#define CSDS     1024
#define WORKS    512
#define RESCHEDS 512
#define SETS     (WAKES + CSDS + WORKS + RESCHEDS)

struct asker_notes {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SETS);
	__type(key, __u32);
	__type(value, struct note_set);
};

extern struct asker_notes asker_notes SEC(".maps");

static __always_inline struct note_set *set_at(__u32 index)
{
	return bpf_map_lookup_elem(&asker_notes, &index);
}

/* The lower half of an address: the verifier lets programs copy it, and forbids to reckon with the
 * address itself. */
static __always_inline __u32 low_half(const void *address)
{
	__u64 low;

	asm volatile("r1 = %1; w1 = w1; %0 = r1" : "=r"(low) : "r"(address) : "r1");
	return low;
}

/* Fibonacci hashing (Knuth, TAOCP 3, 6.4): the upper bits of the product depend on all of `what`.
 */
static __always_inline __u32 scatter(__u32 what)
{
	return what * 0x9e3779b1 >> 16;
}

static __always_inline struct asker_key csd_key(__u32 cpu, const void *csd)
{
	return (struct asker_key){(__u64)csd, cpu,
				  WAKES + (scatter(low_half(csd) + cpu) & (CSDS - 1)), 0};
}

static __always_inline struct asker_key work_key(const void *work)
{
	return (struct asker_key){(__u64)work, 0,
				  WAKES + CSDS + (scatter(low_half(work)) & (WORKS - 1)), 0};
}

/* Threads that began one after the other do not meet. */
static __always_inline struct asker_key wake_key(__u32 tid)
{
	return (struct asker_key){tid, 0, tid & (WAKES - 1), 0};
}

/* Twice the times that a thread was switched out, see asker_key. */
static __always_inline __u32 switches_of(const struct task_struct *task)
{
	return (__u32)(task->nvcsw + task->nivcsw) << 1;
}

/* A CPU has one: a reschedule IPI carries nothing. */
static __always_inline struct asker_key resched_key(__u32 cpu)
{
	return (struct asker_key){1, cpu, WAKES + CSDS + WORKS + (cpu & (RESCHEDS - 1)), 0};
}

/* An irq_work that was queued on a CPU by a call: `function` is what it runs. It lies beside the
 * CPU's reschedule IPI. */
static __always_inline struct asker_key irq_work_key(__u32 cpu, __u64 function)
{
	return (struct asker_key){function, cpu, resched_key(cpu).set, 0};
}

/* As mark(), with the asker of note_of() this key, if there is one. plain: mark also without. */
static __always_inline void mark_noted(struct cpu_state *c, int level, int what, __u64 function,
				       __u64 now, struct asker_note *n, struct asker_key key,
				       bool plain)
{
	struct record r = {
		.start_ns = now, .end_ns = now, .arg = function, .kind = RECORD_MARK, .mark = what};

	if (RECORDS_WANTED && take_note(c, &r, n, &key)) {
		c->own.mark[level] = function;
		if (SUMMING && plain)
			sum_function(c, level, function, now);
		put_wide(c, level, &r);
	} else if (plain) {
		mark(c, level, what, function, now);
	}
}

static __always_inline void mark_asked(struct cpu_state *c, int level, int what, __u64 function,
				       __u64 now, struct asker_key key, bool plain)
{
	mark_noted(c, level, what, function, now, RECORDS_WANTED ? note_of(&key) : NULL, key,
		   plain);
}

/* From when an irq_work is queued until it runs, at most: an idle CPU that polls runs it without an
 * IPI, and a later one is not for it. */
#define IRQ_WORK_NS 1000000000

/* Names the irq_work for which the IPI of a function call came, where nothing else named what ran.
 * The kernel runs these without csd_function_entry (kernel/smp.c, __flush_smp_call_function_queue),
 * and most kernels let nobody watch irq_work_single(). */
static __always_inline void name_irq_work(struct cpu_state *c, __u64 now)
{
	__u64 function = c->own.irq_work;

	/* Queued while this one ran: another IPI comes for it. */
	if (!function || c->own.irq_work_ns > (c->irq[1].start_ns ?: c->irq[0].start_ns))
		return;
	c->own.irq_work = 0;
	if (now - c->own.irq_work_ns > IRQ_WORK_NS)
		return;
	if (!c->own.mark[LEVEL_IRQ])
		mark_asked(c, LEVEL_IRQ, MARK_IRQ_WORK, function, now,
			   irq_work_key(bpf_get_smp_processor_id(), function), true);
}

/* Ends a system vector. No tracepoint shows work of the reschedule IPI's handler, so its mark says
 * only who sent it. */
static __always_inline void end_vector(struct cpu_state *c, __u32 id, __u32 number)
{
	__u64 now = clock_at(c, LEVEL_IRQ);

	if (id == VECTOR_RESCHEDULE)
		mark_asked(c, LEVEL_IRQ, MARK_RESCHEDULE, 0, now,
			   resched_key(bpf_get_smp_processor_id()), false);
	if (id == VECTOR_CALL_FUNCTION || id == VECTOR_CALL_FUNCTION_SINGLE)
		name_irq_work(c, now);
	end_irq(c, RECORD_VECTOR, id, number, now);
}

#endif
