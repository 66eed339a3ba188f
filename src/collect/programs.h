/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice among the BPF programs, and why the kernel refused them. */
#ifndef CULPRIT_COLLECT_PROGRAMS_H
#define CULPRIT_COLLECT_PROGRAMS_H

#include <bpf/libbpf.h>
#include "collect/kernel.h"
#include "collect/probes.h"

struct wanted {
	bool osnoise;                  /* the events of osnoise */
	enum sleeper sleeper;          /* see probes_load */
	const struct watched *watched; /* NULL: a sampler */
};

/* The sampler's programs and those that watch threads replace each other. */
bool program_is_wanted(const struct bpf_program *prog, const struct wanted *p,
		       const struct kernel *k);

/* Says why the kernel did not load them. why: libbpf's complaint. Returns -1. */
int program_complain(int err, const struct wanted *p, const char *why);

#endif
