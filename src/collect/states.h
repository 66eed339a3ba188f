/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that probes share with samplers and readers: a cpu_state for each target CPU, on the
 * CPU's own NUMA node. */
#ifndef CULPRIT_STATES_H
#define CULPRIT_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cpus.h"
#include "state.h"

struct states {
	void *memory; /* n of them; NULL: none */
	uint32_t n;
	size_t stride; /* bytes of each */
	int fd;        /* descriptor of their BPF map */
	int *one; /* one map for each target, where targets lie on several nodes of a map of maps */
};

/* rings: with the rings of records, else only what stands before them. 0 or -errno; states_end() in
 * any case. *s is all zeros before. */
int states_make(struct states *s, const struct cpus *targets, bool rings);
void states_end(struct states *s);

/* The state of the nth target, in ascending order of CPU; valid until states_end(). */
struct cpu_state *states_at(const struct states *s, uint32_t index);

/* As probes_lend(). 0 or -errno. */
int states_lend(struct states *s, uint32_t index, bool on);

#endif
