/* The nest: the accounting of one hiccup at a time. Records come in the order in which they ended;
 * a stack holds what has ended and lies in no later interval yet. A new interval takes from its top
 * all that lies within it; what remains of its own length is its net time, which its marks divide
 * among functions. See join.h for what becomes of every nanosecond.
 */
#ifndef CULPRIT_NEST_H
#define CULPRIT_NEST_H

#include <stdbool.h>
#include "model/holes.h"
#include "model/interval.h"
#include "model/names.h"
#include "model/source.h"
#include "model/spans.h"

/* Longest time beside an interval that still counts as the kernel's own way in or out. */
struct edge_bounds {
	uint64_t irq_ns;    /* beside an interrupt or softirq */
	uint64_t thread_ns; /* beside a thread: the scheduler's own work comes on top */
};

struct piece {
	uint32_t source; /* row of the CPU's sources */
	uint64_t net_ns;
	struct asker asker; /* who asked for it, the last time */
};

/* Where a hiccup was, and of watched threads whose it is. */
#define SPOT_UNKNOWN UINT32_MAX
struct spot {
	uint32_t cpu; /* SPOT_UNKNOWN: not known */
	uint32_t tid; /* 0: not a thread's */
	char comm[17];
};

/* One hiccup, accounted for. */
struct account {
	uint64_t start_ns, duration_ns;
	uint64_t attributed_ns, edge_ns, lost_ns, outside_ns;
	/* Before the first and after the last interval; both 0 when there is none. */
	uint64_t pre_ns, post_ns;
	bool first_thread, last_thread; /* these intervals are threads */
	uint32_t intervals;             /* outermost ones */
	uint32_t theirs;  /* intervals that ended here by the kernel's osnoise tracer */
	struct spot spot; /* set by the session */
	uint64_t lost;    /* records that are missing in it; set by the join */
	/* one per source, in order of first appearance; attributed time only */
	struct piece *pieces;
	uint32_t npieces;
	const struct span *spans;    /* when each ran, see spans.h; none unless nest_keep_spans */
	uint32_t nspans, spans_left; /* how many, and how many more there were */
};

struct nest;

/* `sources` and `names` (NULL: numbers have no names) outlive the nest. real_time: the sampler has
 * a real-time priority, so that a thread without one that runs in its stead was let in by RT
 * throttling or the deadline server. NULL when out of memory. */
struct nest *nest_new(struct sources *sources, struct edge_bounds bounds, const struct names *names,
		      bool real_time);
void nest_free(struct nest *n);

/* Each interval that is netted goes there as well; NULL: no more. */
void nest_tap(struct nest *n, struct intervals *intervals);

/* From here on accounts have their spans. 0 or -ENOMEM. */
int nest_keep_spans(struct nest *n);

/* Begins the account of a hiccup, unless one is open. */
void nest_open(struct nest *n);
bool nest_is_open(const struct nest *n);

/* Where records are missing: read while intervals are netted and gaps accounted for; outlives the
 * nest. */
void nest_holes(struct nest *n, const struct holes *holes);

/* Records of this level are missing ahead of the next one that is taken, or of the end. inside: the
 * next one's interval had begun before them, so that nobody knows which function it ran when. */
void nest_doubt(struct nest *n, unsigned level, bool inside);

/* One record of the hiccup, cut to [from, to]. Sources' totals are raised at once. */
void nest_take(struct nest *n, const struct record *r, uint64_t from, uint64_t to);

/* Ends the account. What was taken may stick out of [start_ns, end_ns]: then the hiccup is that
 * much longer, and *stuck_out says how many of its two ends were wrong. The account belongs to the
 * nest and is valid until the next nest_open. */
struct account *nest_close(struct nest *n, uint64_t start_ns, uint64_t end_ns, unsigned *stuck_out);

/* Outermost intervals that were merged to bound memory. */
uint64_t nest_folded(const struct nest *n);

#endif
