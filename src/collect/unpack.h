/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF objects that the build has packed (tools/skeleton.awk), so that the program is small. */
#ifndef CULPRIT_UNPACK_H
#define CULPRIT_UNPACK_H

struct bpf_object_skeleton;
struct bpf_object_open_opts;

/* Opens the object that is packed in the skeleton's data, which is NULL after that. 0 or -errno. */
int unpack_open(struct bpf_object_skeleton *s, const struct bpf_object_open_opts *opts);

#endif
