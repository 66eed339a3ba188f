/* What to do about a cause on this machine, in one line: only what can work here. */
#ifndef CULPRIT_REMEDY_H
#define CULPRIT_REMEDY_H

#include "audit/advise.h"

/* What of isolation this kernel lacks, and what this CPU has already. What is not known is false.
 */
struct conditions {
	bool no_isolcpus, no_nohz_full, no_rcu_nocbs; /* the kernel is built without */
	bool isolated, nohz_full;                     /* this CPU is */
	bool managed_irq; /* managed interrupts are asked to keep off it: isolcpus=managed_irq */
	bool boot_cpu;    /* this CPU is the one that the kernel booted on */
};

/* By the facts alone; cpu -1: of no CPU in particular. */
struct conditions conditions_of(const struct facts *facts, long cpu);

/* The cause's advice where it can be filled in and can work; else what it says otherwise; else
 * words that say why neither can. The caller frees it. NULL: out of memory. */
char *remedy(const struct cause *c, const struct fill *f, const struct conditions *here);

/* A fix that consists of boot parameters cannot work, for this reason; NULL: it can. */
const char *boot_refused(const char *parameters, const struct conditions *here, bool somebody_left);

#define NOBODY_LEFT "no other CPU is left for it: measure fewer CPUs than the machine has"

#endif
