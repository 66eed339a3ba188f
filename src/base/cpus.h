/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU lists in the kernel's syntax (Documentation/core-api/cpu_hotplug, lib/bitmap.c: "0-3,8",
 * "0-15:2/4"). */
#ifndef CULPRIT_CPUS_H
#define CULPRIT_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPUS_MAX 8192 /* the largest NR_CPUS that x86 and arm64 kernels can be built with */

struct cpus {
	uint64_t bits[CPUS_MAX / 64];
};

/* Reads "1-3,8" or "0-15:2/4" (of each 4 the first 2) into *out. An empty or blank string is the
 * empty set (sysfs files are like that); blanks and a newline around the list are allowed, none
 * inside. Returns 0, or -EINVAL (malformed, reversed range, CPUs named many times over) or -ERANGE
 * (a number at or over CPUS_MAX) with a one-line reason naming the bad part in why[whylen]: "'5-3'
 * runs backwards: ...". *out is untouched on error. */
int cpus_parse(const char *text, struct cpus *out, char *why, size_t whylen);

/* Bytes that hold every list, as text and as a hex mask: the longest names two of each three CPUs.
 */
#define CPUS_LIST 27000
#define CPUS_MASK (CPUS_MAX / 4 + CPUS_MAX / 32 + 12)

/* Writes the list as the kernel prints it: ascending, runs as ranges, no strides ("1-3,8", "" for
 * none). Where it does not fit it is cut between two parts: "1-3,8,...". Returns buf. */
char *cpus_format(const struct cpus *set, char *buf, size_t len);

/* A CPU at or over CPUS_MAX is in no set; adding it does nothing. */
void cpus_clear(struct cpus *set);
void cpus_add(struct cpus *set, unsigned cpu);
void cpus_del(struct cpus *set, unsigned cpu);
bool cpus_has(const struct cpus *set, unsigned cpu);
unsigned cpus_count(const struct cpus *set);
bool cpus_empty(const struct cpus *set);
void cpus_and(struct cpus *set, const struct cpus *other); /* set &= other */
void cpus_or(struct cpus *set, const struct cpus *other);  /* set |= other */
void cpus_sub(struct cpus *set, const struct cpus *other); /* set &= ~other */
bool cpus_cover(const struct cpus *all, const struct cpus *part);

/* The first CPU in the set at or after `from`, -1 if none:
 *   for (int c = cpus_next(s, 0); c >= 0; c = cpus_next(s, c + 1)) */
int cpus_next(const struct cpus *set, unsigned from);

/* One more than the highest CPU in the set, 0 for none: numbers of CPUs may have holes. */
unsigned cpus_end(const struct cpus *set);

/* The kernel's hex masks: words of 32 bits, the highest first ("ff,00000001"), as in smp_affinity
 * and the workqueues' cpumask. cpus_parse_mask reads the first line; false: it is no mask, and *set
 * is undefined. cpus_format_mask returns buf. */
bool cpus_parse_mask(const char *text, struct cpus *set);
char *cpus_format_mask(const struct cpus *set, char *buf, size_t len);

/* Restricts this thread to these CPUs, or to this one. 0 or -errno. */
int cpus_run_on(const struct cpus *set);
int cpus_run_on_one(unsigned cpu);

/* The CPUs that this thread may run on; isolated CPUs are mostly not among them. */
void cpus_allowed(struct cpus *set);

#endif
