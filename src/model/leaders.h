/* Leaders: which sources of a CPU a monitoring system gets as time series of their own, and the
 * rest of each kind as one.
 *
 * A monitoring system pays for every name it has ever seen, and takes a counter that falls for a
 * restart. So names are few: they are diff_name()'s, the same on every boot and CPU; the sources
 * with the most time stand apart, LEADERS_TOP at first and never more than LEADERS_MAX a CPU. And
 * from one update to the next no counter falls, whoever comes into the leading ones or leaves them:
 * what a source took before it got its series stays in the rest, and where one must make room,
 * which takes the least of those, what it had taken goes with it. So over any time the growth of
 * all of them is the time lost. A source that the table of sources merges into its rest keeps in
 * its series what it had.
 *
 * Pure; memory is bounded.
 */
#ifndef CULPRIT_LEADERS_H
#define CULPRIT_LEADERS_H

#include "model/diff.h"

#define LEADERS_TOP 20
#define LEADERS_MAX 40

struct leader_sums {
	uint64_t ns, count, runs; /* net time, interruptions, runs of the function */
};

/* All sources of one kind, name and function; of threads all of the kernel's, or all others. */
struct leader {
	enum source_kind kind;
	bool kernel_thread;
	char name[DIFF_NAME];
	const char *function, *cause; /* as of the first of them */
	struct leader_sums sum;       /* since it has this series */
	struct leader_sums last;      /* of all its rows, at the last update */
};

struct leaders_cpu {
	struct leader own[LEADERS_MAX];
	uint32_t count;
	struct leader_sums rest[SOURCE_KINDS]; /* what has no series of its own */
	struct leader_sums gone[SOURCE_KINDS]; /* what went with those that made room */
	uint64_t serial;                       /* the newest source seen before the last update */
};

struct leaders {
	struct leaders_cpu *cpu; /* by index of the summary */
	uint32_t ncpus;
};

int leaders_init(struct leaders *s, uint32_t ncpus); /* 0 or -ENOMEM */
void leaders_free(struct leaders *s);

/* Brings all series up to the summary, which is always the same one. 0 or -ENOMEM: they are as they
 * were. */
int leaders_update(struct leaders *s, const struct summary *summary);

#endif
