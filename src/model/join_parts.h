/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the join, for join.c and join_ahead.c alone. */
#ifndef CULPRIT_JOIN_PARTS_H
#define CULPRIT_JOIN_PARTS_H

#include "model/join.h"

#define WAIT_FIRST 128 /* slots; doubled up to JOIN_WAIT_ALL, a power of two, as records wait */
/* Records that stay when room is made: one that ended just before them may still come. */
#define NEWEST 64
/* Error between the sampler's and the probes' clock: the same clock, read through two paths. */
#define TOLERANCE_NS 100

struct join {
	struct nest *nest;
	struct nohz_ticks *ticks;
	struct bystanders *bystanders;
	struct intervals *intervals;
	struct edge_bounds bounds;
	uint64_t threshold_ns;
	bool windows;
	struct join_counts counts;
	struct record *wait; /* ring of `slots` */
	uint64_t slots;
	uint64_t first, last;
	uint32_t seq[LEVELS]; /* sequence of the newest record taken */
	/* Place and end of the newest record that waits no more. */
	uint32_t done[LEVELS];
	uint64_t done_ns[LEVELS];
	/* Place and end of the newest record that was dropped to make room, and how many were
	 * missing before it since the last hiccup. */
	uint32_t dropped[LEVELS], dropped_missing[LEVELS];
	uint64_t dropped_ns[LEVELS];
	/* Number of dropped records since the last hiccup that must lie in one, and the end of the
	 * first. */
	uint64_t astray, astray_ns;
	bool doubt[LEVELS]; /* some were, right before the next one taken */
	struct holes holes; /* holes of the hiccup in hand */
	uint64_t missing;   /* number of records missing in them */
	/* No waiting record from this place on, and none that has been passed, has a gap in the
	 * sequence of its level before it. */
	uint64_t whole;
	uint64_t looked;   /* value of `last` when room was made last */
	uint64_t since_ns; /* begin of the gap for which records are netted ahead; 0: not known */
	uint64_t ahead;    /* number of records taken for the open hiccup before it came */
	bool idle;         /* the last join_relieve said that the sampler has the CPU */
	bool last_missing[LEVELS]; /* the last ones of the level are missing, too */
};

/* The waiting record at a place, from j->first up to j->last. */
static inline struct record *join_place(const struct join *j, uint64_t i)
{
	return &j->wait[i & (j->slots - 1)];
}

/* join_relieve(), whatever the one before said; since_ns 0: not known. */
void join_net_ahead(struct join *j, uint64_t since_ns);

/* Drops the oldest waiting record, as below the threshold: should a hiccup come that began before
 * its end, then it is lost there. */
void join_drop_first(struct join *j);

/* Drops what waits, and what was netted for a hiccup that never comes, as below the threshold. */
void join_drop_all(struct join *j);

/* Finds where records are missing among the waiting ones, up to the place `stop`: after the end of
 * one and before the begin of the level's next. from_ns: earlier holes are ignored. h: the hiccup,
 * which ends the last holes; NULL: it lasts. */
void join_find_holes(struct join *j, const struct hiccup *h, uint64_t from_ns, uint64_t stop);

/* Gives a record to the nest. before: the sequence of its level at the hiccup's begin. */
void join_take(struct join *j, const struct record *r, uint32_t before, uint64_t from, uint64_t to);

/* Ends the waiting of a record. */
void join_pass(struct join *j, const struct record *r);

#endif
