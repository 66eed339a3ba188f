/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaders: the sources of a CPU that a monitoring system gets as time series of their own, and the
 * rest of each kind as one.
 *
 * A monitoring system pays for every name it has ever seen, and takes a falling counter for a
 * restart. So names are few: they are diff_name()'s, the same on every boot and CPU; the sources
 * with the most time get a series, LEADERS_TOP at first and never more than LEADERS_MAX a CPU. And
 * no counter falls from one update to the next, whatever sources join or leave: the time of a
 * source before it got its series stays in the rest. When a series must make room, one whose source
 * is gone or the one with the least goes, and its sums go with it, into `gone`: in the rest they
 * would be taken for new. So over any time the growth of all series is the time lost, and what the
 * series have with `gone` is all that was ever lost.
 * A source that the table of sources merges into its rest keeps its sums in its series.
 *
 * Where series are labelled with the owners of user threads, each owner's have one. A row keeps
 * the label that it had at its first update, also when its threads are another owner's by then: the
 * counters of two series would be wrong from there on.
 *
 * Pure; memory is bounded.
 */
#ifndef CULPRIT_LEADERS_H
#define CULPRIT_LEADERS_H

#include "model/diff.h"

#define LEADERS_TOP 20
#define LEADERS_MAX 40
/* Sums over CPUs: */
#define LEADERS_FEW      10
#define LEADERS_FEW_MOST 12

struct leader_sums {
	uint64_t ns, count, runs; /* net time, interruptions, runs of the function */
};

/* All sources of one kind, name and function; threads are all of the kernel's or all others. */
struct leader {
	enum source_kind kind;
	bool kernel_thread;
	enum owner_by by;
	char name[DIFF_NAME];
	char label[OWNER_PART];       /* "": none */
	const char *function, *cause; /* names of the first of them */
	struct leader_sums sum;       /* since it has this series */
	struct leader_sums last;      /* sums of all its rows at the last update */
};

struct leaders_cpu {
	struct leader own[LEADERS_MAX];
	uint32_t count;
	struct leader_sums rest[SOURCE_KINDS]; /* sums without a series of their own */
	struct leader_sums gone[SOURCE_KINDS]; /* sums of the series that made room */
};

struct leaders {
	struct leaders_cpu *cpu; /* a CPU, or several that are added up */
	uint32_t n;
	uint32_t lanes;
	uint32_t *of;      /* by index of the view: its cpu[]; NULL: each is its own */
	uint64_t *serial;  /* by index of the view: the newest source before the last update */
	uint32_t top, max; /* series at first, and at most */
	/* The kind of owner that labels them, from BY_UNIT on; BY_THREAD: none. Set before the
	 * first update. */
	enum owner_by label;
};

/* 0 or -ENOMEM. */
int leaders_init(struct leaders *s, uint32_t lanes);
/* The same with n parts of all CPUs, of[] of each, with few series: names are group_name()'s. */
int leaders_init_parts(struct leaders *s, uint32_t lanes, const uint32_t *of, uint32_t n);
/* The first lane from `from` on that belongs to a part; s->lanes: there is none. */
uint32_t leaders_lane(const struct leaders *s, uint32_t part, uint32_t from);
void leaders_free(struct leaders *s);

/* Updates all series from the view, which is always the same one. 0 or -ENOMEM: they are
 * unchanged. */
int leaders_update(struct leaders *s, const struct view *v);

#endif
