/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes whose names are watched: noted as they begin and as they are renamed, which exec does.
 */
#include "trace.bpf.h"

#define COMM 16

const volatile struct name_glob watch_comm[CHOICE_GLOBS] = {};

static __always_inline void look_at(__s32 tgid, const void *comm)
{
	char name[COMM] = {};
	__u8 one = 1;

	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	for (int i = 0; i < CHOICE_GLOBS; i++)
		if (i < watch_comms && glob_takes(&watch_comm[i], name, COMM)) {
			bpf_map_update_elem(&watch_processes, &tgid, &one, BPF_ANY);
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
