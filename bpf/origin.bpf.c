/* Who asked: senders of IPIs, wakers, queuers of work. The programs run on the other CPUs, and
 * their first instructions test whether the request is for a target CPU. The kernel stack names the
 * function behind the request; with the context it tells whether the noted thread wanted it, or an
 * interrupt or softirq that ran on top of that thread. */
#include "context.bpf.h"
#include "origin.bpf.h"

struct origin_map origin_csds SEC(".maps");
struct origin_map origin_works SEC(".maps");
struct origin_map origin_wakes SEC(".maps");
struct origin_map origin_resched SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 8192); /* STACKS_MAX of live_names.c */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 48 * sizeof(__u64)); /* STACK_FRAMES */
} origin_stacks SEC(".maps");

static __always_inline bool is_target(__u32 cpu)
{
	struct cpu_state *c = gate ? state_of_cpu(cpu) : NULL;

	return c && (!watching || c->active);
}

/* Threads that run deferred softirqs. The end of an interrupt, or the raiser of a softirq, wakes
 * them. */
static __always_inline bool runs_softirqs(struct task_struct *task)
{
	char comm[8] = "";

	if (!task || !(task->flags & PF_KTHREAD))
		return false;
	bpf_probe_read_kernel(comm, sizeof(comm), task->comm);
	return !__builtin_memcmp(comm, "ksoftirq", 8) || !__builtin_memcmp(comm, "ktimers/", 8);
}

/* Interrupts and softirqs run on top of any thread: that thread has no part in their requests. */
static __always_inline void nobody(struct asker *a, int context, __u64 function)
{
	a->context = context;
	a->tid = 0;
	__builtin_memset(a->comm, 0, sizeof(a->comm));
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
		return !came_by_itself();
	default:
		return true;
	}
}

static __always_inline __u8 context_flag(enum context context)
{
	if (context == CONTEXT_UNKNOWN)
		return 0;
	if (context == CONTEXT_THREAD)
		return RECORD_BY_THREAD;
	return context == CONTEXT_SOFTIRQ ? RECORD_BY_SOFTIRQ : RECORD_BY_INTERRUPT;
}

/* Stack ids are hash slots, and the first stack keeps its slot. On a collision retry without our
 * own top frame, which hashes elsewhere. */
static __always_inline __s32 stack_of(void *ctx)
{
	long id = bpf_get_stackid(ctx, &origin_stacks, 0);

	if (id < 0)
		id = bpf_get_stackid(ctx, &origin_stacks, 1);
	if (id < 0)
		id = bpf_get_stackid(ctx, &origin_stacks, 2);
	return id < 0 ? -2 : id;
}

/* wakes: the woken thread; NULL: the request is no wake-up. */
static __always_inline void note(void *ctx, void *map, struct origin_key key, __u64 callsite,
				 struct task_struct *wakes)
{
	struct asker a = {.callsite = callsite, .stack = -1, .cpu = bpf_get_smp_processor_id()};
	enum context context = context_now();
	struct cpu_state *c = target();

	a.context = context_flag(context);
	a.tid = (__u32)bpf_get_current_pid_tgid();
	bpf_get_current_comm(a.comm, sizeof(a.comm));
	if (!c || needs_stack_on_target(c, context, wakes, &a))
		a.stack = stack_of(ctx);
	/* The map is full: remove what an earlier request left under the same key. */
	if (bpf_map_update_elem(map, &key, &a, BPF_ANY))
		bpf_map_delete_elem(map, &key);
}

SEC("?tp_btf/csd_queue_cpu")
int BPF_PROG(csd_queue_cpu, unsigned int cpu, unsigned long callsite, void *function, void *csd)
{
	if (is_target(cpu))
		note(ctx, &origin_csds, csd_key(cpu, csd), callsite, NULL);
	return 0;
}

/* A reschedule IPI has no callback; csd_queue_cpu notes function calls. */
SEC("?tp_btf/ipi_send_cpu")
int BPF_PROG(ipi_send_cpu, unsigned int cpu, unsigned long callsite, void *callback)
{
	if (!callback && is_target(cpu))
		note(ctx, &origin_resched, csd_key(cpu, NULL), callsite, NULL);
	return 0;
}

SEC("?tp_btf/workqueue_queue_work")
int BPF_PROG(workqueue_queue_work, int req_cpu, struct pool_workqueue *pwq,
	     struct work_struct *work)
{
	if (is_target(pwq->pool->cpu))
		note(ctx, &origin_works, work_key(work), 0, NULL);
	return 0;
}

/* The next CPU of the thread is not chosen yet: its last CPU stands for it. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	if (is_target(task->wake_cpu) || (watching && gate && is_watched(task)))
		note(ctx, &origin_wakes, wake_key(task->pid), 0, task);
	return 0;
}

/* The thread went to another CPU after all: forget its waker, who has no part in a later arrival
 * here. */
SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *task, int dest_cpu)
{
	struct origin_key key = wake_key(task->pid);

	if (!watching && is_target(task->wake_cpu) && !is_target(dest_cpu))
		bpf_map_delete_elem(&origin_wakes, &key);
	return 0;
}
