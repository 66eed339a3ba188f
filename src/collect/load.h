/* A load beside a measurement: stress-ng (the Debian package), started in the middle of the window
 * and gone when it is over, whatever ends culprit. A process of ours, the keeper, starts it and
 * adopts all that it leaves; it hears of culprit's end by a signal of the kernel's, also when
 * culprit was killed, ends every descendant, and removes the directory that they wrote to.
 */
#ifndef CULPRIT_COLLECT_LOAD_H
#define CULPRIT_COLLECT_LOAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/cpus.h"

enum load_kind { LOAD_CPU, LOAD_DISK, LOAD_NET, LOAD_KINDS };
extern const char *const load_names[]; /* "cpu", "disk", "net" */

struct load_options {
	uint32_t workers[LOAD_KINDS]; /* how many of each; 0: none */
	struct cpus cpus;             /* where they run */
	/* How much of the window comes first; 0: until somebody asks (LOAD_WANTED). */
	uint64_t before_ns;
};

enum load_phase {
	LOAD_NONE,   /* not yet */
	LOAD_WANTED, /* it is being started: what is measured now is neither without nor with it */
	LOAD_ON,
	LOAD_ENDED, /* it should run, and does not */
};

/* Shared by samplers, keeper and culprit. */
struct load_state {
	_Atomic int phase; /* enum load_phase */
	_Atomic uint64_t
		begun; /* CLOCK_MONOTONIC: the first sampler's window has opened; 0: not yet */
};

struct load;

/* Before the samplers are forked. NULL with the reason said: no stress-ng, no directory. */
struct load *load_open(const struct load_options *options);
struct load_state *load_state(struct load *l); /* until load_close */
void load_close(struct load *l);               /* nothing of it runs or is left behind any more */

#endif
