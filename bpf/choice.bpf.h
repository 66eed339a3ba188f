/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of watched threads: by number, all, or by name or group. A process is looked at when
 * it begins and when it is renamed, as by exec; a cgroup when a thread of it is first seen, and
 * again when other cgroups are chosen. */
#ifndef CULPRIT_CHOICE_BPF_H
#define CULPRIT_CHOICE_BPF_H

#include "choice.h"

#define WATCH_IDS 16

extern const volatile __s32 watch_tgid[WATCH_IDS],
	watch_tid[WATCH_IDS];                     /* watched processes and threads; 0: none */
extern const volatile int watch_users;            /* watch all threads of user space */
extern const volatile int watch_comms;            /* number of globs for the names of processes */
extern const volatile int watch_vcpus;            /* 1: threads of watch_threads are watched */
extern const volatile int watch_in_groups;        /* 1: threads of cgroups are watched */
extern volatile __u64 watch_group[CHOICE_GROUPS]; /* ids of these cgroups; 0: none */
/* Raised after they change; and a place for its load to be ordered by. */
extern volatile __u32 watch_groups_epoch, watch_groups_fence;

/* Processes whose name fits one of the globs, until their last thread exits: anybody can make more
 * of them, and none may push out another. Number 0, which is nobody's, counts those that had no
 * place; CHOICE_DEEP is there when a thread in a cgroup too deep to be looked at was seen. */
struct watch_processes {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CHOICE_LIVE + 2);
	__type(key, __s32);
	__type(value, __u64);
};
extern struct watch_processes watch_processes SEC(".maps");

struct watch_threads { /* those of a virtual machine that are its CPUs: the process of each */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CHOICE_THREADS);
	__type(key, __s32);
	__type(value, __s32);
};
extern struct watch_threads watch_threads SEC(".maps");

struct watch_groups { /* 2 * epoch of the look + 1: it is in one of the chosen */
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u32);
};
extern struct watch_groups watch_groups SEC(".maps");

#define PF_EXITING 0x00000004 /* include/linux/sched.h */
#define PF_KTHREAD 0x00200000

static __always_inline bool look_at_groups(struct task_struct *task)
{
	struct cgroup_subsys_state *css = &task->cgroups->dfl_cgrp->self;

	order_loads_at(&watch_groups_fence);
	for (int i = 0; i < CHOICE_DEPTH && css; i++) {
		__u64 id = css->cgroup->kn->id;

		for (int k = 0; k < CHOICE_GROUPS; k++)
			if (watch_group[k] == id)
				return true;
		css = css->parent;
	}
	if (css)
		bpf_map_update_elem(&watch_processes, &(__s32){CHOICE_DEEP}, &(__u64){1}, BPF_ANY);
	return false;
}

static __always_inline bool is_in_group(struct task_struct *task)
{
	__u32 epoch = watch_groups_epoch, *known, found;
	__u64 id;

	if (!bpf_core_field_exists(task->cgroups) ||
	    !bpf_core_field_exists(task->cgroups->dfl_cgrp->kn->id))
		return false;
	id = task->cgroups->dfl_cgrp->kn->id;
	known = bpf_map_lookup_elem(&watch_groups, &id);
	if (known && *known >> 1 == epoch)
		return *known & 1;
	found = epoch << 1 | look_at_groups(task);
	bpf_map_update_elem(&watch_groups, &id, &found, BPF_ANY);
	return found & 1;
}

/* A thread that is gone may have left its number to one of another process. */
static __always_inline bool is_vcpu(__s32 tgid, __s32 tid)
{
	__s32 *of = bpf_map_lookup_elem(&watch_threads, &tid);

	return of && *of == tgid;
}

static __always_inline bool is_watched(struct task_struct *task)
{
	__s32 tgid = task->tgid, tid = task->pid;

	if (watch_users)
		return tid && !(task->flags & PF_KTHREAD);
	for (int i = 0; i < WATCH_IDS; i++)
		if ((watch_tgid[i] && watch_tgid[i] == tgid) ||
		    (watch_tid[i] && watch_tid[i] == tid))
			return true;
	if (watch_comms && tgid && bpf_map_lookup_elem(&watch_processes, &tgid))
		return true;
	if (watch_vcpus && tid && is_vcpu(tgid, tid))
		return true;
	return watch_in_groups && tid && is_in_group(task);
}

#endif
