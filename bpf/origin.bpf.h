/* Origins: who, on which CPU, asked for what a target CPU then ran. Noted where the asker runs, at
 * its cost; fetched by the mark on the target. A second request under the same key overwrites the
 * first. Fetching removes the entry, so that nobody is blamed twice. */
#ifndef CULPRIT_ORIGIN_BPF_H
#define CULPRIT_ORIGIN_BPF_H

#include <bpf/bpf_core_read.h>
#include "trace.bpf.h"

struct asker {
	__u64 callsite;
	__u32 tid;
	__s32 stack;
	__u16 cpu;
	__u8 context; /* RECORD_BY_... */
	char comm[16];
};

struct origin_key {
	__u64 what; /* address of the csd or the work, or the tid */
	__u64 cpu;
};

struct origin_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct origin_key);
	__type(value, struct asker);
};

extern struct origin_map origin_csds SEC(".maps");
extern struct origin_map origin_works SEC(".maps");
extern struct origin_map origin_wakes SEC(".maps");
extern struct origin_map origin_resched SEC(".maps");

static __always_inline struct origin_key csd_key(__u32 cpu, const void *csd)
{
	return (struct origin_key){(__u64)csd, cpu};
}

static __always_inline struct origin_key work_key(const void *work)
{
	return (struct origin_key){(__u64)work, 0};
}

static __always_inline struct origin_key wake_key(int tid)
{
	return (struct origin_key){tid, 0};
}

/* As mark(), with the asker, if one was noted; its entry leaves the map. plain: mark also without
 * an asker. */
static __always_inline void mark_asked(struct cpu_state *c, int level, int what, __u64 function,
				       __u64 now, void *map, struct origin_key key, bool plain)
{
	struct asker *a = bpf_map_lookup_elem(map, &key);
	struct record r = {.start_ns = now,
			   .end_ns = now,
			   .arg = function,
			   .kind = RECORD_MARK,
			   .flags = RECORD_ORIGIN,
			   .mark = what};

	if (!a) {
		if (plain)
			mark(c, level, what, function, now);
		return;
	}
	c->own.mark[level] = function;
	r.flags |= a->context;
	r.id = a->tid;
	r.origin_cpu = a->cpu;
	r.origin = a->callsite;
	r.stack = a->stack;
	__builtin_memcpy(r.name, a->comm, sizeof(r.name));
	bpf_map_delete_elem(map, &key);
	put_wide(c, level, &r);
}

/* Ends a system vector. No tracepoint shows work of the reschedule IPI's handler, so its mark says
 * only who sent it. */
static __always_inline void end_vector(struct cpu_state *c, __u32 id, __u32 number)
{
	__u64 now = bpf_ktime_get_ns();

	if (id == VECTOR_RESCHEDULE) {
		struct origin_key key = csd_key(bpf_get_smp_processor_id(), NULL);

		mark_asked(c, LEVEL_IRQ, MARK_RESCHEDULE, 0, now, &origin_resched, key, false);
	}
	end_irq(c, RECORD_VECTOR, id, number, now);
}

#endif
