/* What each source took lately: how much its sums grew in each of the last few full seconds.
 * Bounded by the sources' own bound. Of rows that were merged into another (source.h) what they
 * took in that second is the other's; what they took in the seconds before is in none. Pure: the
 * caller says when a second is over.
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
		struct recent_sum sum[RECENT_SECONDS]; /* of each second, modulo */
	} * row;                                       /* [room], as the sources */
	uint32_t room;
	uint64_t observed_ns[RECENT_SECONDS + 1];
	uint64_t lost_ns[RECENT_SECONDS + 1]; /* in hiccups, since the start */
	float line[RECENT_LINE];              /* share of each second lost, 0 to 1 */
};

struct recent {
	struct recent_cpu *cpu;
	uint32_t ncpus;
	uint64_t seconds; /* how many are over */
};

int recent_init(struct recent *r, uint32_t ncpus); /* 0 or -ENOMEM */
void recent_free(struct recent *r);

/* One more second is over: notes in the view's sources how far they were counted. 0 or -ENOMEM:
 * some sources are left out. */
int recent_second(struct recent *r, struct view *v);

/* What a source took in the last n full seconds (1 to RECENT_SECONDS; fewer when fewer are over).
 */
struct recent_sum recent_of(const struct recent *r, uint32_t cpu, uint32_t row, uint32_t n);
/* How long the CPU was observed in them, and how much of that it lost. */
uint64_t recent_observed(const struct recent *r, uint32_t cpu, uint32_t n);
uint64_t recent_lost(const struct recent *r, uint32_t cpu, uint32_t n);

/* The share lost in the nth second before the last (0: the last one), 0 to 1; negative: there is
 * none. */
double recent_share(const struct recent *r, uint32_t cpu, uint32_t n);

#endif
