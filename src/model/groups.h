/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of CPUs that are alike: 60 isolated CPUs that lose the same to the same are one thing to
 * read, and the one that differs is another.
 *
 * Two CPUs are alike when all of this holds:
 *
 *   state    isolated or not, nohz_full or not, and what must be said of their measurement are
 *            equal: an end before the window's, lost hiccups or records, counters that differ
 *   cost     what one of them lost to a source and the other did not, over all sources, is no more
 *            than half of what the more disturbed one lost; or both are quiet
 *   longest  neither has a run of a source, or a gap, longer than GROUP_TIMES what the other has of
 *            the same; all up to QUIET_NS counts as that long
 *
 * Sources are the same by kind, function and name, without numbers that belong to one CPU or
 * thread: group_name(). In the order of model/rank.h each CPU joins the first group whose first CPU
 * it is like, or begins one: groups stand in that order, too. So what is rare and long is never in
 * one group with what is frequent and short. Of more than GROUP_NEAR groups it is compared with the
 * last ones, whose figures are near its own: 8,192 CPUs that all differ would be 34 million pairs.
 *
 * CPUs of a workload must besides have the same series: of each, medians no more than half of the
 * larger apart, and p99 and the longest value as with longest above. Watched threads are grouped
 * as CPUs are, where their names are the same but for the last number. */
#ifndef CULPRIT_GROUPS_H
#define CULPRIT_GROUPS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/cpus.h"
#include "model/source.h"

struct view;
struct series;

#define GROUP_TIMES 4
#define GROUP_NEAR  64
#define GROUP_NAME  40

/* Share of its time that a quiet CPU may lose, and its longest gap; rtla and cyclictest pass
 * machines for real time by tens of microseconds. */
#define QUIET_SHARE 0.0001
#define QUIET_NS    20000

/* One figure of all CPUs of a group. */
struct spread {
	double least, median, most; /* median: the lower of the two in the middle */
	uint32_t lane;              /* index of the CPU with the most */
};

/* A source on the CPUs of a group. */
struct group_source {
	/* For names, kind and cause. Its name and id are what all have in common, with an asterisk
	 * for a number that differs; advice only where all have the same. Nothing in it is owned.
	 */
	struct source who;
	bool differs;  /* CPUs of the group need different advice */
	uint32_t cpus; /* number of CPUs from which it took time */
	uint64_t count, total_ns;
	struct spread ns;          /* time on each CPU; 0 on those that lack it */
	uint64_t max_ns;           /* longest run */
	uint32_t max_lane;         /* CPU of that longest run */
	const struct asker *asker; /* most frequent asker, the same on `askers` CPUs */
	uint32_t askers;           /* number of these CPUs; 0: nobody is known */
};

/* The values of a workload on the CPUs of a group: ns, or ps where one->fine is set. */
struct group_series {
	const struct series *one;       /* series of the first CPU; all have its name; not owned */
	uint64_t count;                 /* number of values of all CPUs */
	uint64_t longer;                /* number of longer ones than the threshold, of all CPUs */
	struct spread median, p99, max; /* figures of each CPU */
};

/* CPUs that are alike, or watched threads, for which what is said of CPUs here holds, too. */
struct cpu_group {
	uint32_t *lane; /* indices of its CPUs, ascending; owned */
	uint32_t n;
	uint32_t first;        /* index of the CPU that ranks highest */
	struct cpus cpus;      /* empty: of threads */
	char name[GROUP_NAME]; /* name of threads, any bytes; an asterisk for a number that differs
				*/
	struct spread lost;    /* share of a CPU's, or a thread's, time; below 0: not known */
	struct spread hiccups; /* number of hiccups of a CPU */
	struct spread lost_each_ns;                  /* time of a CPU's hiccups */
	struct spread longest_ns, p99_ns, median_ns; /* lengths of the hiccups */
	/* Sums over all its CPUs. */
	uint64_t total_ns, attributed_ns, edge_ns, lost_ns, host_ns, outside_ns;
	struct group_source *source; /* owned; by falling time */
	uint32_t nsources;
	struct group_series *series; /* owned; series that have values, in the first CPU's order */
	uint32_t nseries;
	/* As of a CPU, of all of them: audit/verdict.h. Any bytes; "": none, or one CPU. */
	char verdict[800];
	char head[800];     /* instead, of CPUs of later groups, too, of which the same is said */
	uint32_t head_cpus; /* number of CPUs in that sentence */
	bool said;          /* the head of an earlier group is about its CPUs, too */
};

struct cpu_groups { /* all zeros: none */
	struct cpu_group *row;
	uint32_t n;
	uint32_t *of; /* by index of a CPU: its group */
};

/* Fills v->groups from the summary and the sources' causes; empties it before. 0 or -ENOMEM, and
 * then it is empty. */
int groups_make(struct view *v);
void groups_free(struct cpu_groups *g);

/* True when reports show groups instead of each CPU: there are CPUs that are alike, or more than
 * two that are not. CPUs of a workload have parts of their own, and watched threads names: where
 * none are alike, reports show up to GROUP_DETAILS one by one. */
bool groups_shown(const struct view *v);

/* True when a report that shows groups has room for the details of this CPU: it stands alone or
 * for its group, which is among the first GROUP_DETAILS. True where none are shown. */
#define GROUP_DETAILS 12
bool group_detailed(const struct view *v, uint32_t lane);

/* The sentence on a group: its own, or that of its one CPU. k: index of the group. */
const char *group_verdict(const struct view *v, uint32_t k);

/* The same for a list of what is said of all groups: "" where an earlier one says it, too. */
const char *group_head(const struct view *v, uint32_t k);

/* Writes the name of a thread, or what else, with an asterisk for its last number, in place. Names
 * without a number stay. */
void group_star(char *name);

/* A source's name without numbers that differ from CPU to CPU: diff_name()'s, and of interrupts and
 * threads an asterisk for the last number, "eth0-TxRx-*". name holds DIFF_NAME bytes. */
void group_name(const struct source *s, char *name);

/* The source of a CPU that took most of its time; NULL: none. Only the usual part of stopped runs
 * counts, here and below (model/stops.h). */
const struct source *group_most(const struct sources *t);

/* The source of a CPU's longest run, where that is out of proportion to what took most of its time:
 * group_longer() than its longest run. NULL: there is none. */
const struct source *group_odd(const struct sources *t);

/* True when a is longer than GROUP_TIMES b; all up to QUIET_NS counts as that long. */
bool group_longer(uint64_t a, uint64_t b);

/* True when this row of a CPU counts to a group's source. */
bool group_has(const struct group_source *g, const struct source *s);

/* The source of a group that this row of one of its CPUs counts to; NULL: none. */
const struct group_source *group_source(const struct cpu_group *g, const struct source *s);

#endif
