/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's description of itself: its type information (BTF), as far as the choice of programs
 * needs it. */
#ifndef CULPRIT_KERNEL_H
#define CULPRIT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

struct kernel;

/* 0 and *k, for kernel_free; or -errno. */
int kernel_read(struct kernel **k);
void kernel_free(struct kernel *k); /* NULL: nothing to do */

/* Number of arguments of a tracepoint; -1 where there is none of that name. */
int kernel_tracepoint_args(const struct kernel *k, const char *name);

/* True when programs on this function may be loaded: many kernels, and some architectures,
 * refuse. */
bool kernel_function_takes_programs(const struct kernel *k, const char *name);

/* True when the kernel has a function by which programs keep others off their CPU (6.10); and when
 * it takes programs that call it: not without BPF's JIT. */
bool kernel_has_hold(const struct kernel *k);
bool kernel_lets_hold(const struct kernel *k);

/* False where this kernel refuses a program that does what bpf/ring.bpf.h needs on any architecture
 * but x86: an exchange in memory that returns what was there. */
bool kernel_has_exchange(void);

/* True when this structure of the kernel's has a member of that name itself. */
bool kernel_has_member(const struct kernel *k, const char *structure, const char *member);

/* True when programs may call this function, "get_current_task_btf". */
bool kernel_has_helper(const struct kernel *k, const char *name);

/* True on PREEMPT_RT, by what uname says. */
bool kernel_is_realtime(void);

/* Bytes from a CPU's run queue to its per-CPU variable of this name; 0: not known. */
int32_t kernel_from_queue(const struct kernel *k, const char *name);

/* As kernel_from_queue(), to the count of what keeps the running thread on its CPU, where it is
 * such a variable (x86) and programs find the run queue of a thread. */
int32_t kernel_preempt_count(const struct kernel *k);

/* Numbers among the kernel's types: of a structure, and of a function; below 0: none. */
int kernel_structure(const struct kernel *k, const char *name);
int kernel_function(const struct kernel *k, const char *name);

#endif
