/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Askers: senders of IPIs, wakers, queuers of work. The programs run on the other CPUs, and their
 * first instructions test whether the request is for a target CPU. The kernel stack names the
 * function behind the request; with the context it tells whether the noted thread wanted it, or an
 * interrupt or softirq that ran on top of that thread. */
#include "context.bpf.h"
#include "asker.bpf.h"
#include "user.bpf.h"

struct asker_notes asker_notes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 8192); /* STACKS_MAX of live_names.c */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 48 * sizeof(__u64)); /* STACK_FRAMES, at most */
} asker_stacks SEC(".maps");

/* A request that somebody makes. */
struct request {
	__u32 set;                 /* the key's */
	__u64 callsite;            /* 0: the stack tells */
	struct task_struct *wakes; /* the woken thread; NULL: it is no wake-up */
	struct cpu_state *home;    /* state of this CPU, when it asks itself; NULL: look for it */
};

/* The one that makes it. */
struct asker {
	const struct task_struct *thread; /* current_thread(); NULL: no thread had a part in it */
	__u8 context;                     /* RECORD_CONTEXT */
	__s16 stack;
	__u64 callsite; /* for who is no thread */
};

/* State of a target that records what is asked for there; NULL: this is none. */
static __always_inline struct cpu_state *asked_target(__u32 cpu)
{
	struct cpu_state *c = gate ? state_of_cpu(cpu) : NULL;

	return c && (!WATCHING || c->active) ? c : NULL;
}

/* Threads that run deferred softirqs. The end of an interrupt, or the raiser of a softirq, wakes
 * them. */
static __always_inline bool runs_softirqs(struct task_struct *task)
{
	char comm[16];

	if (!task || !(task->flags & PF_KTHREAD))
		return false;
	read_comm(comm, task);
	return !__builtin_memcmp(comm, "ksoftirq", 8) || !__builtin_memcmp(comm, "ktimers/", 8);
}

/* Interrupts and softirqs run on top of any thread: that thread has no part in their requests. */
static __always_inline void nobody(struct asker *a, int context, __u64 function)
{
	a->context = context;
	a->thread = NULL;
	if (function)
		a->callsite = function;
}

/* A target CPU asks, or a thread on it. A stack takes a microsecond and more there, so none is
 * taken where the context alone tells who asked: the CPU's open interval is known already. */
static __always_inline bool needs_stack_on_target(const struct cpu_state *c, enum context context,
						  struct task_struct *wakes, struct asker *a)
{
	switch (context) {
	case CONTEXT_NMI:
		nobody(a, RECORD_BY_INTERRUPT, 0);
		return false;
	case CONTEXT_IRQ:
		nobody(a, RECORD_BY_INTERRUPT, c->irq[0].start_ns ? c->own.mark[LEVEL_IRQ] : 0);
		return false;
	case CONTEXT_SOFTIRQ:
		nobody(a, RECORD_BY_SOFTIRQ, c->softirq.start_ns ? c->own.mark[LEVEL_SOFTIRQ] : 0);
		return false;
	case CONTEXT_THREAD:
		if (runs_softirqs(wakes)) {
			nobody(a, RECORD_BY_SOFTIRQ, 0);
			return false;
		}
		return !came_by_itself(a->thread);
	default:
		return true;
	}
}

/* Stack ids are hash slots, and the first stack keeps its slot. On a collision retry without our
 * own top frame, which hashes elsewhere. */
static __always_inline __s32 unwind(void *ctx)
{
	long id = bpf_get_stackid(ctx, &asker_stacks, 0);

	if (id < 0)
		id = bpf_get_stackid(ctx, &asker_stacks, 1);
	if (id < 0)
		id = bpf_get_stackid(ctx, &asker_stacks, 2);
	return id < 0 ? -2 : id;
}

/* ---- ways: stacks that need not be unwound again ----
 *
 * To unwind a stack takes microseconds, and threads repeat themselves. A thread that makes the same
 * system call from the same place of its program, with the same arguments, and asks for the same at
 * the same depth of its kernel stack, has come the way that it came before. (Some kernels move the
 * stack by a random distance, one of few: then each way has several keys.) One request in WAY_LOOKS
 * is unwound all the same; what was once not as before is always unwound. */

#define WAYS      512
#define WAY_LOOKS 32
#define WAY_DOUBT (-1)  /* two stacks were seen for this key */
#define STACK_MAX 65536 /* no kernel stack is larger */

/* Threads that never leave the kernel: PF_KTHREAD, PF_IO_WORKER and PF_USER_WORKER (io_uring,
 * vhost). The last two have the registers of a system call for ever, which tell no way. */
#define PF_NO_CALLS (PF_KTHREAD | 0x10 | 0x4000)

struct way {
	/* The upper 48 bits; the lower 16 are the stack's id, or WAY_DOUBT. One store writes both.
	 */
	__u64 key;
	__u64 times; /* number of times that the thread came this way */
};

/* Each CPU's own. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WAYS);
	__type(key, __u32);
	__type(value, struct way);
} asker_ways SEC(".maps");

/* Key of the way that the current thread, in a system call, has come to this request; 0: not known.
 * The arguments of a tracepoint, ctx, lie on the stack where it is called from. */
static __always_inline __u64 way_here(const void *ctx, const struct task_struct *task,
				      __u64 request)
{
	const void *regs = (const void *)bpf_task_pt_regs((struct task_struct *)task);
	const struct pt_regs___x86 *x86 = regs;
	const struct pt_regs___on_arm64 *arm64 = regs;
	__u32 depth = low_half(regs) - low_half(ctx);
	__u64 key = add_to_key(add_to_key(request, task->pid), depth);

	if (depth > STACK_MAX)
		return 0;
	if (bpf_core_field_exists(x86->orig_ax)) {
		key = add_to_key(add_to_key(key, x86->orig_ax), x86->ip);
		key = add_to_key(add_to_key(key, x86->sp), x86->di);
		return add_to_key(add_to_key(key, x86->si), x86->dx);
	}
	if (!bpf_core_field_exists(arm64->syscallno))
		return 0;
	key = add_to_key(add_to_key(key, arm64->syscallno), arm64->pc);
	key = add_to_key(add_to_key(key, arm64->sp), arm64->regs[0]);
	return add_to_key(add_to_key(key, arm64->regs[1]), arm64->regs[2]);
}

static __always_inline __s32 stack_by_way(void *ctx, __u64 key)
{
	__u32 index = (key >> 16) % WAYS;
	struct way *w = key ? bpf_map_lookup_elem(&asker_ways, &index) : NULL;
	__u64 known = w ? *(volatile __u64 *)&w->key : 0;
	__s16 before = known, now;
	bool same = known >> 16 == key >> 16;

	if (w && same && before != WAY_DOUBT && ++w->times % WAY_LOOKS)
		return before;
	now = unwind(ctx);
	if (w)
		w->key = key >> 16 << 16 | (__u16)(same && now != before ? WAY_DOUBT : now);
	return now;
}

/* A thread's own request, for which its system call alone is the reason. */
static __always_inline bool is_own(enum context context, const struct task_struct *current,
				   struct task_struct *wakes)
{
	return context == CONTEXT_THREAD && came_by_itself(current) &&
	       !(current->flags & PF_NO_CALLS) && !runs_softirqs(wakes);
}

/* on_target: this CPU is one, and no stack of the program is taken there. */
static __always_inline __s32 stack_of(void *ctx, enum context context,
				      const struct task_struct *current, const struct request *q,
				      bool on_target)
{
	__s32 stack;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs) ||
	    !is_own(context, current, q->wakes))
		return unwind(ctx);
	stack = stack_by_way(ctx, way_here(ctx, current, q->callsite + q->set));
	if (user_stacks_wanted && !on_target && stack >= 0)
		stack = with_user_stack(current, stack);
	return stack;
}

/* ---- notes ---- */

static __always_inline struct asker asker_of(void *ctx, const struct request *q)
{
	struct asker a = {.thread = current_thread(), .stack = -1, .callsite = q->callsite};
	enum context context = context_upon(a.thread);
	struct cpu_state *c = q->home;

	if (!c)
		c = context == CONTEXT_NMI ? target_in_nmi() : target();
	a.context = context & RECORD_CONTEXT;
	if (!c || needs_stack_on_target(c, context, q->wakes, &a))
		a.stack = stack_of(ctx, context, a.thread, q, c);
	return a;
}

/* Names the current thread. A stack names the function: the call site's place is then free for the
 * owner. */
static __always_inline void name_thread(struct asker_note *to, const struct asker *a,
					const struct request *q)
{
	to->callsite = q->callsite;
	to->context = a->context;
	if (!CURRENT_IS_TOLD) {
		to->tid = (__u32)bpf_get_current_pid_tgid();
		bpf_get_current_comm(to->comm, sizeof(to->comm));
		return;
	}
	to->tid = a->thread->pid;
	read_comm(to->comm, a->thread);
	if (!to->tid || (a->stack < 0 && q->callsite))
		return;
	to->owner = owner_of((struct task_struct *)a->thread);
	to->context = a->context | RECORD_OWNED;
}

static __always_inline void note(const struct asker_key *key, const struct request *q,
				 const struct asker *a)
{
	struct asker_note *to = begin_note(key);

	if (!to)
		return;
	to->stack = a->stack;
	to->cpu = bpf_get_smp_processor_id();
	to->none = 0;
	if (a->thread) {
		name_thread(to, a, q);
	} else {
		to->callsite = a->callsite;
		to->context = a->context;
		to->tid = 0;
		__builtin_memset(to->comm, 0, sizeof(to->comm));
	}
	end_note(to, key);
}

/* c: asked_target(cpu), not NULL. */
static __always_inline void ask_target(void *ctx, struct cpu_state *c, __u32 cpu, __u64 callsite,
				       struct asker_key key)
{
	struct request q = {.set = key.set, .callsite = callsite};
	struct asker a;

	q.home = cpu == bpf_get_smp_processor_id() ? c : NULL;
	a = asker_of(ctx, &q);
	note(&key, &q, &a);
}

static __always_inline void ask(void *ctx, __u32 cpu, __u64 callsite, struct asker_key key)
{
	struct cpu_state *c = asked_target(cpu);

	if (c)
		ask_target(ctx, c, cpu, callsite, key);
}

/* enum of include/linux/smp_types.h */
#define CSD_FLAG_TYPE_MASK 0xf0
#define CSD_TYPE_IRQ_WORK  0x20

SEC("?tp_btf/csd_queue_cpu")
int BPF_PROG(csd_queue_cpu, unsigned int cpu, unsigned long callsite, void *function,
	     struct __call_single_data *csd)
{
	struct cpu_state *c = asked_target(cpu);
	struct asker_key key;

	if (!c)
		return 0;
	key = csd_key(cpu, csd);
	if ((csd->node.u_flags & CSD_FLAG_TYPE_MASK) == CSD_TYPE_IRQ_WORK) {
		c->own.irq_work_ns = bpf_ktime_get_ns();
		c->own.irq_work = (__u64)BPF_CORE_READ(csd, func);
		key = irq_work_key(cpu, c->own.irq_work);
	}
	ask_target(ctx, c, cpu, callsite, key);
	return 0;
}

/* A reschedule IPI has no callback; csd_queue_cpu notes function calls. */
SEC("?tp_btf/ipi_send_cpu")
int BPF_PROG(ipi_send_cpu, unsigned int cpu, unsigned long callsite, void *callback)
{
	if (!callback)
		ask(ctx, cpu, callsite, resched_key(cpu));
	return 0;
}

SEC("?tp_btf/workqueue_queue_work")
int BPF_PROG(workqueue_queue_work, int req_cpu, struct pool_workqueue *pwq,
	     struct work_struct *work)
{
	ask(ctx, pwq->pool->cpu, 0, work_key(work));
	return 0;
}

/* A thread that has not left yet goes on running, and one that was preempted comes back, whoever
 * wakes it meanwhile: a note would blame its waker for a later arrival. Nobody holds the run
 * queue's lock here: a thread that falls asleep just behind this test is woken without a note, so
 * that its arrival has no name, never a false one. */
static __always_inline bool is_asleep(const struct task_struct *task)
{
	return !task->on_rq ||
	       (bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed);
}

/* The next CPU of the thread is not chosen yet: its last CPU stands for it. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	__u32 cpu = task->wake_cpu;
	struct cpu_state *c = asked_target(cpu);
	struct request q = {.wakes = task};
	struct asker_key key;
	struct asker a;

	if (!c && !(WATCHING && gate && is_watched(task)))
		return 0;
	if (!is_asleep(task))
		return 0;
	if (!task)
		__builtin_unreachable();
	q.set = wake_key(task->pid).set;
	q.home = cpu == bpf_get_smp_processor_id() ? c : NULL;
	a = asker_of(ctx, &q);
	/* Made late: until here each part would have to be kept. */
	key = wake_key(task->pid);
	key.switches = !!task->on_cpu;
	key.switches |= switches_of(task);
	note(&key, &q, &a);
	return 0;
}

/* The thread went to another CPU after all: forget its waker, who has no part in a later arrival
 * here. */
SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *task, int dest_cpu)
{
	struct asker_key key = wake_key(task->pid);

	if (!WATCHING && asked_target(task->wake_cpu) && !asked_target(dest_cpu))
		forget_note(&key);
	return 0;
}
