/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice among the BPF programs, and why the kernel refused them. */
#ifndef CULPRIT_COLLECT_PROGRAMS_H
#define CULPRIT_COLLECT_PROGRAMS_H

#include <bpf/libbpf.h>
#include "collect/hook.h"
#include "collect/kernel.h"
#include "collect/probes.h"

struct wanted {
	bool osnoise;                  /* the events of osnoise */
	enum sleeper sleeper;          /* see probes_load */
	const struct watched *watched; /* NULL: a sampler */
	bool user;                     /* user stacks of askers */
	bool turns;                    /* switches of CPUs that are no targets */
};

/* The sampler's programs and those that watch threads replace each other. */
bool program_is_wanted(const struct bpf_program *prog, const struct wanted *p,
		       const struct kernel *k);

/* True when the kernel has the place of a program that is wanted, and no other one of the CPU may
 * come in between while it writes to a ring. */
bool program_may_run(const struct bpf_program *prog, const struct kernel *k);

/* True when the kernel tells why virtual CPUs leave their guests, and these programs, chosen, read
 * that: writes where (hook_exit_fields). False where nobody wants it, or with the reason said. */
bool programs_tell_exits(const struct bpf_program *exit, const struct bpf_program *entry,
			 const struct wanted *p, int at[EXIT_FIELDS]);

/* Keeps the first complaint of libbpf's from now on, which prints many lines: it is the cause, and
 * becomes part of our one line. NULL: keeps none. */
#define PROGRAMS_WHY 256
void programs_listen(char why[PROGRAMS_WHY]);

/* Makes the stacks that programs note no longer than the kernel lets them be. 0, or below 0 with
 * errno set; where it lets there be none, that is kept as the first complaint. */
int programs_fit_stacks(struct bpf_map *stacks);

/* See probes_recursion_misses(). */
uint64_t programs_misses(const struct bpf_object *object);

/* Run a program by hand: here, with its argument (size 0: none), what it returned or -errno; as the
 * one that starts the timer of the nth target (slot) on its CPU, where this process then is, 0 or
 * -1 with the reason said; and by an interrupt of each CPU that is online. */
int program_run(const struct bpf_program *prog, const void *argument, size_t size);
int program_tick(const struct bpf_program *prog, uint32_t slot, unsigned cpu);
void program_run_on(const struct bpf_program *prog, const struct cpus *cpus);

/* 0, or -ENOSYS: the kernel lacks what is needed to tell whose registers a thread has. */
int program_lacks(const struct wanted *p, const struct kernel *k);

/* Say why the kernel's types could not be read, and why it did not load the programs. why:
 * libbpf's complaint. Return -1. */
int program_complain_of_types(int err);
int program_complain(int err, const struct wanted *p, const char *why);

#endif
