/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs where a thread may run. Those that are offline count: sched_getaffinity(2) leaves them
 * out, and a mask that was put back without them would lack them when they come online again. */
#ifndef CULPRIT_COLLECT_KNOB_THREAD_H
#define CULPRIT_COLLECT_KNOB_THREAD_H

#include <stdbool.h>

#define THREAD_NAME 64 /* a kernel thread's; all others have 15 bytes */

struct knob_thread {
	bool bound; /* the kernel lets nobody move it */
	unsigned long long born;
	char name[THREAD_NAME];
};

/* 0 or -errno. */
int knob_thread_read(const char *root, unsigned tid, struct knob_thread *t);

/* As a list, text[KNOB_VALUE]. 0 or -errno. */
int knob_cpus_read(const char *root, unsigned tid, char *text);
int knob_cpus_write(unsigned tid, const char *list);

/* True when two lists differ in CPUs that are offline at the most. */
bool knob_cpus_same(const char *root, const char *a, const char *b);

/* True when all CPUs of this list are in that. */
bool knob_cpus_within(const char *list, const char *in);

/* True when it is known that all CPUs of the list are offline. */
bool knob_cpus_offline(const char *root, const char *list);

#endif
