/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two clocks matched by gaps that coincide: what a guest lost is what the threads of its CPUs lost
 * on the host, whatever either side calls the time. Both clocks are steady, so the times of gaps on
 * the host over the same gaps in the guest are a straight line, or pieces of one where the guest
 * was suspended: an offset, and a drift of some parts per million.
 *
 *   search   some of the longest gaps vote for offsets; in each offset that many vote for, the line
 *            that most of them are near
 *   follow   the line is followed through all gaps, both ways, and corrected by those that coincide
 *   doubt    every other line, and the same one moved by a little or by what lies between two gaps,
 *            is a rival. Of the gaps that only one of the two explains the line must have so many
 *            more than its rival that a fair coin gives as many in less than one of a million
 *            throws (Hoeffding's bound). Periodic noise fits as well one period later, so it alone
 *            matches nothing; nor do two recordings without a relation, which fit in many places a
 *            little.
 *
 * Pure. All times are ns; offsets count modulo 2^64, so any recording may stand on either side.
 */
#ifndef CULPRIT_ALIGN_H
#define CULPRIT_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

struct align_gap {
	uint64_t start_ns, length_ns;
};

/* Gaps in order of their starts: the longest, if they are more than `most`. Begins as zeros but for
 * most. */
struct align_gaps {
	struct align_gap *gap; /* owned */
	uint32_t n, room, most;
	uint64_t least_ns; /* shorter ones are left out */
};

void align_gaps_add(struct align_gaps *g, uint64_t start_ns, uint64_t length_ns);
void align_gaps_free(struct align_gaps *g);

/* Copies the longest, at most so many; those of one length in order. 0 or -ENOMEM. */
int align_gaps_longest(const struct align_gaps *from, uint32_t most, struct align_gaps *to);

/* One CPU of the guest, and its thread on the host. */
struct align_lane {
	const struct align_gaps *guest, *host;
};

enum align_verdict {
	ALIGN_FEW,       /* too few gaps on one of the sides to tell anything */
	ALIGN_NONE,      /* nothing is common to them */
	ALIGN_MUCH,      /* the work was used up before it was known */
	ALIGN_AMBIGUOUS, /* another line explains nearly as many */
	ALIGN_FOUND,
};

/* From from_ns to to_ns of the guest's time. */
struct align_piece {
	uint64_t from_ns, to_ns;
	uint64_t at_ns,
		offset_ns; /* at_ns: there the host's clock shows so much more, modulo 2^64 */
	double drift;      /* gain of the host's clock, ns for each ns */
};

struct alignment {
	enum align_verdict verdict;
	bool known;                /* the line was known before, and the gaps confirm it */
	bool more;                 /* the work was used up: there may be more pieces */
	struct align_piece *piece; /* in order of time; owned */
	uint32_t npieces;
	uint32_t gaps;        /* number of the guest's in the pieces */
	uint32_t matched;     /* number of these that coincide with the host's */
	uint32_t rival;       /* as many coincide by the best other line */
	uint64_t residual_ns; /* 95 % of the matched are at most so far from the line */
};

/* Work that may still be done, in steps of some 5 ns: a file's few bytes may hold gaps for hours.
 * Takes so many away; false when none are left. */
bool align_spend(uint64_t *work, uint64_t steps);

/* Matches the clock of the guest, which all its CPUs have in common, with the host's. 0, or -ENOMEM
 * with verdict ALIGN_NONE. align_free() in either case. */
int align(const struct align_lane *lane, uint32_t n, uint64_t *work, struct alignment *a);
void align_free(struct alignment *a);

/* The same with a line that is known from elsewhere, which the gaps only have to confirm: fewer do,
 * and periodic ones, too. Every verdict but ALIGN_FOUND says that they do not. 0, or -ENOMEM. */
int align_known(const struct align_lane *lane, uint32_t n, const struct align_piece *piece,
		uint32_t npieces, uint64_t *work, struct alignment *a);

/* Number of the lane's gaps that coincide, where the clocks are matched. *fewer: how many gaps the
 * side with fewer of them has there. */
uint32_t align_common(const struct alignment *a, const struct align_lane *lane, uint32_t *fewer);

/* The host's time at guest_ns. False: the clocks are not matched there. */
bool align_host_time(const struct alignment *a, uint64_t guest_ns, uint64_t *host_ns);

/* True when a gap on the host, so far from the place where the guest's would be, may be the same
 * one: a guest loses a little more than its thread, for the way out and back. */
bool align_fits(uint64_t guest_ns, uint64_t host_ns);

#endif
