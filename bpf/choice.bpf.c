/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes whose names are watched: noted as they begin and as they are renamed, which exec does,
 * and forgotten as they end. */
#include "trace.bpf.h"

#define COMM 16

const volatile struct name_glob watch_comm[CHOICE_GLOBS] = {};

static __always_inline void look_at(__s32 tgid, const void *comm)
{
	char name[COMM] = {};
	__u64 one = 1, *left_out;
	__s32 nobody = 0;

	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	for (int i = 0; i < CHOICE_GLOBS; i++)
		if (i < watch_comms && glob_takes(&watch_comm[i], name, COMM)) {
			if (!bpf_map_update_elem(&watch_processes, &tgid, &one, BPF_ANY))
				return;
			left_out = bpf_map_lookup_elem(&watch_processes, &nobody);
			if (left_out)
				__sync_fetch_and_add(left_out, 1);
			return;
		}
	bpf_map_delete_elem(&watch_processes, &tgid);
}

SEC("?tp_btf/task_rename")
int BPF_PROG(watch_comm_renamed, struct task_struct *task, const char *comm)
{
	if (task->pid == task->tgid)
		look_at(task->tgid, comm);
	return 0;
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(watch_comm_forked, struct task_struct *parent, struct task_struct *child)
{
	if (child->pid == child->tgid)
		look_at(child->tgid, child->comm);
	return 0;
}

/* The last thread of a process has been taken from those that live before this. */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(watch_comm_exited, struct task_struct *task)
{
	__s32 tgid = task->tgid;

	if (!task->signal->live.counter)
		bpf_map_delete_elem(&watch_processes, &tgid);
	return 0;
}
