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
	/* One map for each target, in a map of maps: where targets lie on several nodes, or some
	 * come later. 0: it has not come. */
	int *one;
	uint32_t given;         /* targets from the begin on */
	const struct sum *sums; /* NULL: none */
	uint32_t rows;          /* SUM_ROWS of the sums for each that has come */
	uint32_t places;        /* room for so many */
};

/* later: targets that may come with states_come(); until then nothing is in their states, which
 * take no memory. rings: with the rings of records, else only what stands before them. 0 or -errno;
 * states_end() in any case. *s is all zeros before. */
int states_make(struct states *s, const struct cpus *targets, const struct cpus *later, bool rings);
void states_end(struct states *s);
/* Keeps memory that is shared with the probes from processes that begin later. */
void states_hide(void *at, size_t bytes);

/* Maps the sums of the targets, and of as many more as `places` has room for. 0 or -errno. */
int states_map_sums(struct states *s, int fd, uint32_t places);

/* Makes the memory of a target that has come, and gives it to the probes. 0 or -errno; -ENOSPC: its
 * sums have no room. */
int states_come(struct states *s, uint32_t index, unsigned cpu);

/* The state of the nth target, in ascending order of CPU, those behind all others that come later;
 * valid until states_end(). */
struct cpu_state *states_at(const struct states *s, uint32_t index);

/* As probes_lend(). 0 or -errno. */
int states_lend(struct states *s, uint32_t index, bool on);

#endif
