/* Who asked: IPI senders, wakers, queuers of work. These run on the other CPUs, and their first instructions ask whether a target is
 * meant. The kernel stack names the function behind the request, and tells whether the thread
 * that is noted wanted it, or an interrupt that came upon it. */
#include "origin.bpf.h"

struct origin_map origin_csds SEC(".maps");
struct origin_map origin_works SEC(".maps");
struct origin_map origin_wakes SEC(".maps");
struct origin_map origin_resched SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 8192);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 24 * sizeof(__u64));
} origin_stacks SEC(".maps");

static __always_inline bool is_target(__u32 cpu)
{
	struct cpu_state *c = gate ? state_of_cpu(cpu) : NULL;

	return c && (!watching || c->active);
}

/* A target CPU asks, or something that runs on it. It pays no stack, which takes a microsecond and more: what its open interval runs is
 * known already. */
static __always_inline void asked_on_target(const struct cpu_state *c, struct asker *a)
{
	int level = level_now(c, LEVEL_THREAD);

	if (level != LEVEL_THREAD) {
		a->callsite = c->mark[level];
		a->tid = 0;
		__builtin_memcpy(a->comm, "(interrupt)", 12);
	}
}

/* Two stacks may want one place, and the first keeps it. With one frame less, which is ours and says nothing, it wants another. */
static __always_inline __s32 stack_of(void *ctx)
{
	long id = bpf_get_stackid(ctx, &origin_stacks, 0);

	if (id < 0)
		id = bpf_get_stackid(ctx, &origin_stacks, 1);
	if (id < 0)
		id = bpf_get_stackid(ctx, &origin_stacks, 2);
	return id < 0 ? -2 : id;
}

static __always_inline void note(void *ctx, void *map, struct origin_key key, __u64 callsite)
{
	struct asker a = {.callsite = callsite, .stack = -1, .cpu = bpf_get_smp_processor_id()};
	struct cpu_state *c = target();

	a.tid = (__u32)bpf_get_current_pid_tgid();
	bpf_get_current_comm(a.comm, sizeof(a.comm));
	if (c)
		asked_on_target(c, &a);
	else
		a.stack = stack_of(ctx);
	/* No room: then nothing may be left under the key that belongs to an earlier request. */
	if (bpf_map_update_elem(map, &key, &a, BPF_ANY))
		bpf_map_delete_elem(map, &key);
}

SEC("?tp_btf/csd_queue_cpu")
int BPF_PROG(csd_queue_cpu, unsigned int cpu, unsigned long callsite, void *function, void *csd)
{
	if (is_target(cpu))
		note(ctx, &origin_csds, csd_key(cpu, csd), callsite);
	return 0;
}

/* A reschedule IPI has no callback; function calls are noted by csd_queue_cpu. */
SEC("?tp_btf/ipi_send_cpu")
int BPF_PROG(ipi_send_cpu, unsigned int cpu, unsigned long callsite, void *callback)
{
	if (!callback && is_target(cpu))
		note(ctx, &origin_resched, csd_key(cpu, NULL), callsite);
	return 0;
}

SEC("?tp_btf/workqueue_queue_work")
int BPF_PROG(workqueue_queue_work, int req_cpu, struct pool_workqueue *pwq, struct work_struct *work)
{
	if (is_target(pwq->pool->cpu))
		note(ctx, &origin_works, work_key(work), 0);
	return 0;
}

/* The thread's next CPU is not chosen yet: the one it ran on last stands for it. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	if (is_target(task->wake_cpu) || (watching && gate && is_watched(task)))
		note(ctx, &origin_wakes, wake_key(task->pid), 0);
	return 0;
}

/* It went to another CPU after all: who woke it has no part in its coming here some other time. */
SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *task, int dest_cpu)
{
	struct origin_key key = wake_key(task->pid);

	if (!watching && is_target(task->wake_cpu) && !is_target(dest_cpu))
		bpf_map_delete_elem(&origin_wakes, &key);
	return 0;
}
