/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the nest: what nest.c (the accounting), nest_pieces.c (to whom it goes), nest_stack.c
 * (what has ended) and nest_names.c (what a record is called) share. */
#ifndef CULPRIT_NEST_STATE_H
#define CULPRIT_NEST_STATE_H

#include "model/nest.h"

#define STACK_SLOTS 4096 /* at most */
#define STACK_FIRST 32   /* at least; a power of two */
#define ONGOING     64   /* threads that left in the middle of a work item, by tid */

/* An entry that has ended inside the hiccup and lies in no later interval yet. */
struct ended {
	uint64_t start, end;
	/* After folding: time inside that belongs to no interval, and how much of it is edge */
	uint64_t gaps, edge;
	uint64_t lost;            /* length of the part that lies in holes */
	uint32_t intervals;       /* 1, after folding more */
	bool thread, last_thread; /* the first, the last of several intervals is a thread */
	bool note;                /* an instant, not an interval: its record follows */
	bool doubt;               /* records of its level are missing before it */
	struct record record;
};

#define TOGETHER 16 /* control groups whose names are at hand */

/* Control group of threads with one row, and its name (enum owner_by); 0: none. */
struct together {
	uint32_t cgroup;
	char name[SOURCE_NAME];
};

struct nest {
	struct sources *sources;
	const struct names *names;
	struct intervals *intervals;
	struct spans *spans; /* NULL: not wanted */
	uint64_t own;        /* net time of the interval in hand */
	bool real_time;
	struct edge_bounds bounds;
	struct ended *stack;
	uint32_t depth, room; /* room: for entries of the stack */
	uint32_t pieces_room; /* room for pieces of the account */
	bool in_fault;        /* a page fault of the sampler is open */
	struct record fault;
	bool in_thread; /* a thread has replaced the sampler, and has not left yet */
	struct record thread;
	bool doubt[LEVELS]; /* see nest_doubt */
	const struct holes *holes;
	struct {
		uint32_t tid;
		const char *function;
	} ongoing[ONGOING];
	struct together together[TOGETHER];
	bool open;
	uint64_t epoch;
	uint64_t trims; /* number of trims of the sources at the last follow */
	uint64_t folded;
	struct account account;
};

/* The part of an interval that runs one function. */
struct segment {
	const char *function; /* NULL: not known, or it has a word instead */
	enum own_word word;
	const struct record *asker;
	const struct record *flush; /* the TLB flush for another CPU inside it */
	uint64_t start, net;
	/* The interval begins with this piece, and is counted there. A softirq in pieces counts at
	 * its last piece. */
	bool first;
	bool marked, unseen; /* has a mark; RECORD_UNSEEN */
	bool resumed;        /* goes on with the run of its source that was put aside */
};

/* Time, uncovered by intervals of this level and above, in which one may be missing. */
static inline uint64_t lost_within(const struct nest *n, unsigned level, uint64_t start,
				   uint64_t end)
{
	return n->holes && n->holes->count ? holes_within(n->holes, level, start, end) : 0;
}

/* The longest time beside an interval that is its edge. */
static inline uint64_t bound_at(const struct nest *n, bool thread)
{
	return thread ? n->bounds.thread_ns : n->bounds.irq_ns;
}

/* ---- nest_stack.c ---- */

/* Pushes an entry; leaves its record as it was: only a note has one. */
struct ended *nest_push(struct nest *n, uint64_t start, uint64_t end);

/* A record that is an instant. */
void nest_push_note(struct nest *n, const struct record *r, uint64_t at);

/* Takes an entry below an interval. The stack stays in order of time without overlaps whatever
 * comes. Not a strict nest (the clock, a lost exit): time that is taken stays taken, and the
 * interval begins after it. A folded entry that began before this interval: all its gaps count as
 * inside the interval, as they are when threads follow each other, or when one runs for very long
 * after the interrupt that woke it. Returns these gaps. */
uint64_t nest_below(struct ended *e, uint64_t *start, uint64_t *lost);

/* Accounts for time that no interval covers: beside an interval it is edge up to the bound, the
 * rest is outside. */
void nest_account_gaps(struct nest *n, uint64_t end_ns);

/* ---- nest_pieces.c ---- */

/* Ends a segment of an interval: its time goes to its source. part: the segment goes on in another
 * interval. */
void nest_end_segment(struct nest *n, const struct record *r, const struct segment *s, uint64_t end,
		      bool part);

/* ---- nest_names.c ---- */

/* The row of a thread's key, which may become that of all threads of its comm or owner. cgroup: the
 * number of its control group; 0: not known. */
uint32_t nest_thread(struct nest *n, struct source_key *key, uint32_t cgroup);
/* The row of the sources that this record's time goes to while it runs the function, or what the
 * word says instead; NULL, WORD_NONE: none. */
uint32_t nest_source(struct nest *n, const struct record *r, const char *symbol,
		     enum own_word word);

/* Tells by whom a watched thread loses the net time of this interval. */
enum whose nest_whose(const struct record *r);

/* True when a note tells of this interval: of its own level, and no other thread's. */
bool nest_tells_of(const struct nest *n, const struct record *note, const struct record *interval);

/* NULL: not known. */
const char *nest_symbol(const struct nest *n, uint64_t address);

/* Function of the interval before its first mark. */
const char *nest_first_function(const struct nest *n, const struct record *r);

/* The word in its place. */
enum own_word nest_first_word(const struct nest *n, const struct record *r);

/* Remembers the function of a worker that is switched out in the middle of its work: it goes on
 * with it. Throttling says nothing about the work. */
void nest_keep_function(struct nest *n, const struct record *r, const char *function,
			enum own_word word);

#endif
