/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the facts from which the audit concludes (model/facts.h): a table of paths and globs, and
 * what is derived from /proc.
 *
 * Reading must not be noise. Files whose reading sends an IPI to a CPU or queues work on it are
 * marked in the table: they are read last and only on request (`deep`), never before a run's
 * window. Files whose reading disturbs every CPU are never opened. Nothing is written anywhere.
 */
#ifndef CULPRIT_COLLECT_FACTS_H
#define CULPRIT_COLLECT_FACTS_H

#include <stdbool.h>
#include "base/cpus.h"
#include "model/view.h"

struct facts_options {
	const char *root; /* NULL: "/"; another directory for tests */
	bool deep;        /* read also what disturbs CPUs; else it is FACT_NOT_TAKEN */
	/* This thread moves to these CPUs first; NULL or empty: it stays where it is. */
	const struct cpus *from;
};

/* Adds to `facts`. 0, or when the set is not complete: -ENOMEM, or -ENOSPC when all was read that
 * there is room for, and FACT_NOT_KEPT stands for the rest. A fact that cannot be read has its
 * error in the set.
 *
 * Derived facts:
 *   run/tasks/0000      "tid tgid state flags(hex) cpu policy rt-priority affinity comm\n" of each
 *                       thread, comm escaped; 0001 goes on
 *   run/tasks/left_out  number of threads beyond those
 *   run/irqbalance      IRQBALANCE_* variables of the running irqbalance, one on each line
 *   run/root            numbers of the processes that run as root, one on each line
 *   run/kconfig         the lines of the kernel's configuration that the checks ask for
 *   run/dmesg           the kernel's messages about isolation, clocks, throttling and split locks
 *   sys/fs/cgroup/...   cpuset.cpus.partition that is not "member", cpu.max that is not "max", v1's
 *                       quotas, and what follows from them
 */
int facts_take(struct facts *facts, const struct facts_options *options);
const char *facts_error(int err); /* words for what facts_take returned */

/* Looks which threads of the view's reports have ended: FACT_ENDED. 0 or -ENOMEM. */
int facts_ended(struct view *v);

/* Subsets of these facts: which CPUs are isolated now (model/isolation.h); and how CPUs share cores
 * and memory, too (model/place.h). root: as above. Each takes a few milliseconds on a large
 * machine. */
int facts_isolation(struct facts *facts, const char *root);
int facts_cpusets(struct facts *facts, const char *root); /* all cpuset partitions */
int facts_layout(struct facts *facts, const char *root);

/* Likewise: what the kernel was built with, as far as advice asks. */
int facts_built(struct facts *facts, const char *root);

#endif
