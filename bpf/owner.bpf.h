/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owner of a thread: its process and its control group; and a thread together with that. */
#ifndef CULPRIT_OWNER_BPF_H
#define CULPRIT_OWNER_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "state.h"
#include "vmlinux.h"

/* enum owners_in, and the id of that hierarchy of control groups */
extern const volatile int owners_in, owners_hierarchy;

/* The group of the hierarchy that tells owners (collect/owners.h). */
static __always_inline struct cgroup *group_of(struct css_set *set, int in)
{
	struct cgroup *unified;

	switch (in) {
	case OWNERS_UNIFIED:
		unified = set->dfl_cgrp;
		barrier_var(unified); /* the cases share no load then, whose address is added up */
		return unified;
#define OWNERS_BY(name)                                                                            \
	(bpf_core_enum_value_exists(enum cgroup_subsys_id, name)                                   \
		 ? set->subsys[bpf_core_enum_value(enum cgroup_subsys_id, name)]->cgroup           \
		 : NULL)
	case OWNERS_PIDS:
		return OWNERS_BY(pids_cgrp_id);
	case OWNERS_MEMORY:
		return OWNERS_BY(memory_cgrp_id);
	case OWNERS_CPU:
		return OWNERS_BY(cpu_cgrp_id);
#undef OWNERS_BY
	}
	return NULL;
}

/* Owner of the task, see OWNER. A kernel thread is in the root, or where a user has put it. */
static __always_inline __u64 owner_of(struct task_struct *task)
{
	struct cgroup *group = NULL;
	int in = owners_in; /* once: the kernel drops no load of a constant */

	if (in && bpf_core_field_exists(task->cgroups))
		group = group_of(task->cgroups, in);
	return OWNER(task->tgid, group ? group->kn->id : 0);
}

/* A thread that a program tells about. Its owner is read once: each pointer on the way costs the
 * kernel a search of all its types, in each way through a program that it checks. So is its number:
 * the kernel makes eight instructions of a load from a thread, and the compiler repeats it after
 * each store to the CPU's state. */
struct party {
	struct task_struct *task;
	__u64 owner;
	__u32 tid;
};

static __always_inline struct party party_of(struct task_struct *task)
{
	return (struct party){task, owner_of(task), task->pid};
}

#endif
