/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The paths of control groups that are made while the probes are attached: they may be gone before
 * anybody can look. On whatever CPU makes them; what is seldom asked for goes first. */
#include "trace.bpf.h"

const volatile int owners_in = OWNERS_NOWHERE;
const volatile int owners_hierarchy = 0;

struct group_path {
	char path[GROUP_PATH];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct group_path);
} groups_made SEC(".maps");

/* Values of the map are too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct group_path);
} group_room SEC(".maps");

SEC("?tp_btf/cgroup_mkdir")
int BPF_PROG(cgroup_mkdir, struct cgroup *group, const char *path)
{
	__u32 zero = 0, number = group->kn->id;
	struct group_path *room;

	if (!owners_in || group->root->hierarchy_id != owners_hierarchy)
		return 0;
	room = bpf_map_lookup_elem(&group_room, &zero);
	/* A path that was cut would be another group's. */
	if (!room || bpf_probe_read_kernel_str(room->path, sizeof(room->path), path) ==
			     (long)sizeof(room->path))
		return 0;
	bpf_map_update_elem(&groups_made, &number, room, BPF_ANY);
	return 0;
}
