/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/kernel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TRACEPOINT "btf_trace_"
#define HOLD       "bpf_preempt_disable"
#define RELEASE    "bpf_preempt_enable"

/* One pass finds what is asked for by name, because there are more than a hundred thousand types.
 */
struct kernel {
	struct btf *btf;
	uint32_t *tracepoint; /* types whose typedefs are called btf_trace_NAME */
	uint32_t ntracepoints;
	const struct btf_type *percpu; /* the section of per-CPU variables; NULL: none */
	int keep, let;                 /* functions, by HOLD and RELEASE; 0: none */
	bool holds;                    /* programs may call both */
};

/* Takes the file by its size: libbpf's own reading of it grows a buffer, and took four times as
 * long. */
static struct btf *read_types(void)
{
	int fd = open(KERNEL_TYPES, O_RDONLY | O_CLOEXEC);
	struct btf *btf = NULL;
	struct stat st;
	char *bytes;
	off_t at = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	bytes = fstat(fd, &st) ? NULL : malloc(st.st_size);
	while (bytes && (n = read(fd, bytes + at, st.st_size - at)) > 0)
		at += n;
	close(fd);
	if (bytes)
		btf = btf__new(bytes, at);
	free(bytes);
	return btf;
}

static const char *name_of(const struct kernel *k, const struct btf_type *t)
{
	return btf__name_by_offset(k->btf, t->name_off);
}

static bool loads(enum bpf_prog_type type, const struct bpf_insn *program, size_t n,
		  struct bpf_prog_load_opts *opts)
{
	int fd = bpf_prog_load(type, NULL, "GPL", program, n, opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int index_types(struct kernel *k)
{
	uint32_t n = btf__type_cnt(k->btf);

	k->tracepoint = calloc(n, sizeof(*k->tracepoint));
	if (!k->tracepoint)
		return -ENOMEM;
	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(k->btf, id);

		if (btf_is_typedef(t) && !strncmp(name_of(k, t), TRACEPOINT, strlen(TRACEPOINT)))
			k->tracepoint[k->ntracepoints++] = id;
		else if (btf_is_datasec(t) && !strcmp(name_of(k, t), ".data..percpu"))
			k->percpu = t;
		else if (btf_is_func(t) && !strcmp(name_of(k, t), HOLD))
			k->keep = id;
		else if (btf_is_func(t) && !strcmp(name_of(k, t), RELEASE))
			k->let = id;
	}
	return 0;
}

/* True when the kernel takes a program that keeps others out: not without its JIT. */
static bool can_hold(const struct kernel *k)
{
	const struct bpf_insn program[] = {
		{.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = k->keep},
		{.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = k->let},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return k->keep && k->let &&
	       loads(BPF_PROG_TYPE_RAW_TRACEPOINT, program, sizeof(program) / sizeof(program[0]),
		     NULL);
}

int kernel_read(struct kernel **k)
{
	int err;

	*k = calloc(1, sizeof(**k));
	if (!*k)
		return -ENOMEM;
	(*k)->btf = read_types();
	err = (*k)->btf ? index_types(*k) : errno ? -errno : -EINVAL;
	if (err)
		kernel_free(*k);
	else
		(*k)->holds = can_hold(*k);
	return err;
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	btf__free(k->btf);
	free(k->tracepoint);
	free(k);
}

/* The kernel describes the arguments of each tracepoint as a typedef btf_trace_NAME of a pointer to
 * a function. Their number changes between kernels, also within a stable series; the ones that our
 * programs read must exist. */
int kernel_tracepoint_args(const struct kernel *k, const char *name)
{
	const struct btf_type *t = NULL;

	for (uint32_t i = 0; i < k->ntracepoints && !t; i++) {
		t = btf__type_by_id(k->btf, k->tracepoint[i]);
		if (strcmp(name_of(k, t) + strlen(TRACEPOINT), name))
			t = NULL;
	}
	t = t ? btf__type_by_id(k->btf, t->type) : NULL;
	if (!t || !btf_is_ptr(t))
		return -1;
	t = btf__type_by_id(k->btf, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1
					 : -1; /* the first is the probe's own data */
}

bool kernel_function_takes_programs(const struct kernel *k, const char *name)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					   {.code = BPF_JMP | BPF_EXIT}};
	int id = kernel_function(k, name);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = id);

	return id > 0 && loads(BPF_PROG_TYPE_TRACING, nothing, 2, &opts);
}

bool kernel_has_hold(const struct kernel *k)
{
	return k->keep;
}

bool kernel_lets_hold(const struct kernel *k)
{
	return k->holds;
}

bool kernel_is_realtime(void)
{
	struct utsname u;

	return !uname(&u) && strstr(u.version, "PREEMPT_RT");
}

bool kernel_has_member(const struct kernel *k, const char *structure, const char *member)
{
	int id = kernel_structure(k, structure);
	const struct btf_type *t = id > 0 ? btf__type_by_id(k->btf, id) : NULL;

	for (uint32_t i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(k->btf, btf_members(t)[i].name_off), member))
			return true;
	return false;
}

static uint32_t percpu_at(const struct kernel *k, const char *name)
{
	const struct btf_var_secinfo *row = k->percpu ? btf_var_secinfos(k->percpu) : NULL;

	for (uint32_t i = 0; row && i < btf_vlen(k->percpu); i++)
		if (!strcmp(name_of(k, btf__type_by_id(k->btf, row[i].type)), name))
			return row[i].offset;
	return 0;
}

int32_t kernel_from_queue(const struct kernel *k, const char *name)
{
	uint32_t at = percpu_at(k, name), queue = percpu_at(k, "runqueues");

	return at && queue ? (int32_t)(at - queue) : 0;
}

/* Bytes from the begin of a structure or union to a member, also of members without a name; -1: it
 * has none. */
static int32_t member_at(const struct kernel *k, uint32_t id, const char *name)
{
	const struct btf_type *t = btf__type_by_id(k->btf, id);

	for (uint32_t i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *its = btf__name_by_offset(k->btf, m->name_off);
		int32_t at = strcmp(its, name) ? -1 : 0;

		if (!its[0])
			at = member_at(k, m->type, name);
		if (at >= 0)
			return at + (int32_t)(btf_member_bit_offset(t, i) / 8);
	}
	return -1;
}

int kernel_structure(const struct kernel *k, const char *name)
{
	return btf__find_by_name_kind(k->btf, name, BTF_KIND_STRUCT);
}

int kernel_function(const struct kernel *k, const char *name)
{
	return btf__find_by_name_kind(k->btf, name, BTF_KIND_FUNC);
}

int32_t kernel_preempt_count(const struct kernel *k)
{
	int32_t hot = kernel_from_queue(k, "pcpu_hot"); /* 6.2 to 6.14 */
	int type = kernel_structure(k, "pcpu_hot");
	int32_t at = hot && type > 0 ? member_at(k, type, "preempt_count") : -1;

	if (!kernel_has_member(k, "sched_entity", "cfs_rq") ||
	    !kernel_has_member(k, "cfs_rq", "rq"))
		return 0;
	return at >= 0 ? hot + at : kernel_from_queue(k, "__preempt_count");
}

/* libbpf cannot probe helpers of tracing programs. */
bool kernel_has_helper(const struct kernel *k, const char *name)
{
	int id = btf__find_by_name_kind(k->btf, "bpf_func_id", BTF_KIND_ENUM);
	const struct btf_type *t = id > 0 ? btf__type_by_id(k->btf, id) : NULL;

	const char *number = "BPF_FUNC_"; /* in front of each name */

	for (uint32_t i = 0; t && i < btf_vlen(t); i++) {
		const char *is = btf__name_by_offset(k->btf, btf_enum(t)[i].name_off);

		if (!strncmp(is, number, strlen(number)) && !strcmp(is + strlen(number), name))
			return true;
	}
	return false;
}

bool kernel_has_exchange(void)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1},
		{.code = BPF_STX | BPF_MEM | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_1,
		 .off = -8},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_1,
		 .off = -8,
		 .imm = BPF_XCHG},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return loads(BPF_PROG_TYPE_RAW_TRACEPOINT, program, sizeof(program) / sizeof(program[0]),
		     NULL);
}
