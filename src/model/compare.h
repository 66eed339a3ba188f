/* culprit's intervals beside those of the kernel's osnoise tracer, of the same CPU at the same
 * time, one by one.
 *
 * Both hang on the same tracepoints, so each interval that both see ends at the same moment, but
 * for what lies between two probes of one tracepoint. They are paired by kind, number and time.
 * What has no partner is counted by source, with the reason where it is known.
 *
 * osnoise says what it has seen from within its own probe, and where ours comes behind that, the
 * saying would count as a difference: an interval is held against osnoise's as it was when osnoise
 * spoke.
 */
#ifndef CULPRIT_COMPARE_H
#define CULPRIT_COMPARE_H

#include <stdint.h>
#include "model/interval.h"
#include "model/source.h"

#define COMPARE_PENDING 512

/* One source as both see it. */
struct compare_row {
	enum source_kind kind;
	uint32_t id;
	char name[17];
	uint64_t ours, theirs;       /* intervals */
	uint64_t ours_ns, theirs_ns; /* net */
	uint64_t matched, only_ours, only_theirs;
	struct hist difference; /* |ours, when osnoise spoke - theirs| of the matched, ns */
	uint64_t matched_ns;    /* ours of the matched */
};

struct compare {
	struct compare_row *row; /* in order of appearance */
	uint32_t rows, room;
	struct {
		struct interval i;
		bool used;
	} pending[2][COMPARE_PENDING]; /* ours, theirs */
	uint32_t next[2];
	uint64_t newest_ns;
	struct hist difference, relative; /* of all that matched: ns, and 1/100 percent of ours */
	uint64_t dropped;                 /* rows that found no room: out of memory */
};

int compare_init(struct compare *c); /* 0 or -ENOMEM; one per CPU */
void compare_free(struct compare *c);

/* Takes one interval of either side; those of one side come in the order of their ends, the two
 * sides within 100 ms of each other. */
void compare_add(struct compare *c, const struct interval *i);
void compare_finish(struct compare *c); /* what still waits has no partner */

/* Why osnoise or culprit does not have such an interval, NULL: not known. ours: only culprit has
 * it. */
const char *compare_why(const struct compare_row *row, bool ours);

/* The matched differ, by half of them or more, by more than COMPARE_ALIKE_NS and a twentieth of
 * their length. */
#define COMPARE_ALIKE_NS 200
bool compare_differs(const struct compare_row *row);
/* Why they may, NULL: not known. */
const char *compare_why_differs(const struct compare_row *row);

#endif
