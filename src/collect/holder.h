/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that keeps a sampler from its CPU, and what may be done about that. */
#ifndef CULPRIT_HOLDER_H
#define CULPRIT_HOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/cpus.h"

struct holder {
	char comm[64];
	uint32_t tid;
	bool kernel_thread;
	int policy;
	unsigned priority; /* 0 where the policy has none */
};

/* Finds the thread that goes first of those that run on the CPU or wait for it, in `proc`
 * ("/proc"). own: a process that does not count, nor do its children. False: there is none, or it
 * cannot be seen. */
bool holder_find(const char *proc, unsigned cpu, pid_t own, struct holder *h);

#define HOLDER_TEXT 320
/* Writes who it is, and what may be done; NULL: nobody is known. A priority that it names is above
 * the thread's, and above the samplers'. own: the samplers' policy, as policy_format() writes it.
 * rest: CPUs to which it may be moved. Returns buf. */
const char *holder_text(const struct holder *h, unsigned cpu, const char *own,
			const struct cpus *rest, char buf[HOLDER_TEXT]);

#endif
