/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/direct.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "direct_mark.h"

#define FUNCTION "bpf_rdonly_cast"
/* A structure that begins with a number of 32 bits, and is there in all kernels. */
#define TYPE "refcount_struct"

/* The two instructions of DIRECT that have a number. */
static bool is_mark(const struct bpf_insn *at)
{
	return at[0].code == (BPF_ALU64 | BPF_MOV | BPF_K) && at[0].imm == DIRECT_MARK &&
	       at[1].code == (BPF_JMP | BPF_CALL) && at[1].imm == DIRECT_MARK;
}

static void put_numbers(struct bpf_insn *at, int type, int function)
{
	at[0].imm = type;
	at[1].imm = function;
	at[1].src_reg = BPF_PSEUDO_KFUNC_CALL;
}

/* True when the kernel takes a program that does it. */
static bool is_taken(int type, int function)
{
	struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2},
		{.code = BPF_JMP | BPF_CALL},
		{.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd;

	put_numbers(program + 1, type, function);
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "direct", "GPL", program,
			   sizeof(program) / sizeof(program[0]), NULL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* False: out of memory. */
static bool put_into(struct bpf_program *prog, int type, int function)
{
	size_t n = bpf_program__insn_cnt(prog);
	struct bpf_insn *insn = malloc(n * sizeof(*insn));
	bool done = insn, any = false;

	if (!insn)
		return false;
	memcpy(insn, bpf_program__insns(prog), n * sizeof(*insn));
	for (size_t i = 0; i + 1 < n; i++) {
		if (!is_mark(insn + i))
			continue;
		put_numbers(insn + i, type, function);
		any = true;
	}
	if (any)
		done = !bpf_program__set_insns(prog, insn, n);
	free(insn);
	return done;
}

bool direct_reads(struct bpf_object *object, const struct kernel *k)
{
	int type = kernel_structure(k, TYPE), function = kernel_function(k, FUNCTION);
	struct bpf_program *prog;

	if (type <= 0 || function <= 0 || !is_taken(type, function))
		return false;
	bpf_object__for_each_program(prog,
				     object) if (!put_into(prog, type, function)) return false;
	return true;
}
