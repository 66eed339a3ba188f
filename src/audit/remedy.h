/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remedies: what to do about a cause on this machine, in one line that can work here. */
#ifndef CULPRIT_REMEDY_H
#define CULPRIT_REMEDY_H

#include "audit/book.h"
#include "audit/placeholders.h"
#include "model/facts.h"
#include "model/finding.h"
#include "model/view.h"

struct audit;

/* The parts of isolation that this kernel lacks, those that the CPUs have already, and those that
 * one CPU has. Unknown ones are false. */
struct conditions {
	bool no_isolcpus, no_nohz_full, no_rcu_nocbs; /* the kernel is built without */
	bool isolated, nohz_full, offloaded;          /* this CPU is; its RCU callbacks are */
	struct cpus all_isolated, all_nohz_full;      /* those that are */
	struct cpus rcu_nocbs_list;                   /* those that the parameter names */
	bool managed_irq;  /* isolcpus=managed_irq asks managed interrupts to keep off this CPU */
	bool asks_managed; /* isolcpus=managed_irq is given */
	bool boot_cpu;     /* the kernel booted on this CPU */
	/* Those that isolcpus= and nohz_full= name or are in force for, and whether they are given.
	 */
	struct cpus isolcpus_list, nohz_full_list, online;
	bool isolcpus_given, nohz_full_given;
	bool one_list; /* the kernel drops the second of two that differ: see to_isolate() */
};

/* Derived from the facts, of which there may be many; where these lack the command line, as nobody
 * took any, from what the host says, which may be NULL. */
struct conditions conditions_of(const struct facts *facts, const struct host *host);
/* The same, and those of one CPU; -1: of none in particular. */
struct conditions conditions_at(const struct conditions *all, long cpu);

/* Sets the CPUs that boot parameters are to name: the measured ones, and those that are isolated
 * already, which a list without them would end. */
void placeholders_boot(struct placeholders *f, const struct conditions *here);

/* The cause's advice where it can be filled in and can work; else its `otherwise`; else the reason
 * why neither can. The caller frees it. NULL: out of memory. */
char *remedy(const struct cause *c, const struct placeholders *f, const struct conditions *here);

/* The same of a thread that has ended, where no command that takes its number helps. user: it is a
 * program's, which may be started again. */
char *remedy_ended(const struct cause *c, bool user, const struct placeholders *f);

/* The reason why a fix of boot parameters cannot work; NULL: it can. */
const char *boot_refused(const char *parameters, const struct conditions *here, bool somebody_left);

/* "isolcpus=managed_irq,domain,1-3": flags begin with a letter, the list with a digit
 * (kernel/sched/isolation.c). Returns the list. */
const char *isolcpus_flags(const char *given, bool *flags, bool *domain);

/* The targets, and all that isolcpus= and nohz_full= name now or are in force for. Both should name
 * all of them: of two lists that differ the kernel drops the second, up to 5.17, and from 5.18 on
 * where both are about the same (isolcpus=nohz, or one parameter given twice). */
struct cpus to_isolate(const struct audit *a);

/* Sets the fix to these parameters with such a list, and the other of them, too, where its list on
 * the command line is another one. nohz_full= leaves out the boot CPU, unless it is the only one.
 */
void isolate(struct audit *a, struct finding *f, bool isolcpus, bool nohz_full);

#define NONE_UNLISTED                                                                              \
	"with those that are isolated already no CPU would be left to housekeeping: isolate fewer"
#define BOOT_CPU_TICKS "the boot CPU cannot be nohz_full: isolate other CPUs"
#define NOBODY_LEFT    "no other CPU is left for it: measure fewer CPUs than the machine has"
#define ISOLATED_LEFT  "no other CPU is left for it: all others are isolated or nohz_full"

/* The one of these two that is true of work that should leave the CPUs. */
const char *nobody_left(const struct conditions *here, const struct cpus *cpus);

#endif
