/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A load beside a measurement: stress-ng (the Debian package), started in the middle of the window
 * and gone when the window is over, however culprit ends. A process of ours, the keeper, starts
 * stress-ng and adopts all orphans. A signal of the kernel tells the keeper of culprit's end, even
 * by SIGKILL; it then ends every descendant and removes the directory that they wrote to.
 */
#ifndef CULPRIT_COLLECT_LOAD_H
#define CULPRIT_COLLECT_LOAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/cpus.h"

enum load_kind { LOAD_CPU, LOAD_DISK, LOAD_NET, LOAD_KINDS };
extern const char *const load_names[]; /* "cpu", "disk", "net" */

struct load_options {
	uint32_t workers[LOAD_KINDS]; /* number of each; 0: none */
	struct cpus cpus;             /* CPUs on which they run */
	/* Part of the window without the load, at its begin; 0: until somebody asks
	 * (LOAD_WANTED). */
	uint64_t before_ns;
};

enum load_phase {
	LOAD_NONE,   /* not started yet */
	LOAD_WANTED, /* starting: a sleep now is measured neither without nor with the load */
	LOAD_ON,
	LOAD_ENDED, /* has ended too early */
};

/* Shared by samplers, keeper and culprit. */
struct load_state {
	_Atomic int phase; /* enum load_phase */
	_Atomic uint64_t
		begun; /* CLOCK_MONOTONIC time when the first sampler's window opened; 0: not yet */
};

struct load;

/* Call before the samplers are forked. NULL with the reason said: no stress-ng, no directory. */
struct load *load_open(const struct load_options *options);
struct load_state *load_state(struct load *l); /* valid until load_close */
/* Leaves nothing of it running or behind, or says what the kernel keeps. */
void load_close(struct load *l);

#endif
