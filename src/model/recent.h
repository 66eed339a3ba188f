/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recent time of each source: the growth of its sums in each of the last few full seconds. Bounded
 * by the sources' own bound. When rows are merged into another (source.h), their time in that
 * second goes to the other row; their seconds before are lost. Pure: the caller says when a second
 * is over.
 */
#ifndef CULPRIT_RECENT_H
#define CULPRIT_RECENT_H

#include "model/view.h"

#define RECENT_SECONDS 10
#define RECENT_LINE    240 /* seconds whose lost time is kept for a sparkline */

struct recent_sum {
	uint64_t count, ns;
};

struct recent_cpu {
	struct recent_row {
		uint64_t serial;                       /* the source's */
		struct recent_sum sum[RECENT_SECONDS]; /* sums of each second, modulo */
	} * row;                                       /* [room], as the sources */
	uint32_t room;
	uint64_t observed_ns[RECENT_SECONDS + 1];
	uint64_t lost_ns[RECENT_SECONDS + 1]; /* in hiccups, since the start */
	float line[RECENT_LINE];              /* share of each second lost, 0 to 1 */
};

struct recent {
	struct recent_cpu *cpu;
	uint32_t ncpus;
	uint64_t seconds; /* number of full seconds */
};

int recent_init(struct recent *r, uint32_t ncpus); /* 0 or -ENOMEM */
void recent_free(struct recent *r);

/* Ends a second: notes in the view's sources how far they were counted. 0 or -ENOMEM: some sources
 * are left out. */
int recent_second(struct recent *r, struct view *v);

/* Sums of a source over the last n full seconds (1 to RECENT_SECONDS; fewer when fewer are over).
 */
struct recent_sum recent_of(const struct recent *r, uint32_t cpu, uint32_t row, uint32_t n);
/* Time that the CPU was observed in them, and the time it lost. */
uint64_t recent_observed(const struct recent *r, uint32_t cpu, uint32_t n);
uint64_t recent_lost(const struct recent *r, uint32_t cpu, uint32_t n);

/* Share lost in the nth second before the last (0: the last one), 0 to 1; negative: none. */
double recent_share(const struct recent *r, uint32_t cpu, uint32_t n);

#endif
