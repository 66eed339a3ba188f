/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known noise: what culprit selftest makes on a CPU, and whether what was measured meanwhile names
 * it. One noise has a class, such as "a thread of the real-time class is woken"; of each class a
 * row of noise_classes tells what a report has to say: whose time it was, which function, and who
 * asked for it.
 *
 * A noise is looked for in the hiccups that touch its time, with what it may come late by. Pure.
 */
#ifndef CULPRIT_NOISE_H
#define CULPRIT_NOISE_H

#include "model/view.h"

#define NOISE_WANTS    5
#define NOISE_FUNCTION 32
#define NOISE_BAR      80 /* percent of a class that have to be right: see noise_is_named */

enum noise_what {
	NOISE_NOTHING,
	NOISE_OWN,     /* thread of the noise */
	NOISE_PARTNER, /* second thread of it */
	NOISE_NAMED,   /* source of this kind whose name begins so; %u: the CPU */
	/* Interrupt whose name begins so, or that runs the function, whatever its name is. */
	NOISE_CALL,
};

enum noise_asker {
	NOISE_ANYBODY,
	NOISE_SENDER,    /* thread that made the noise */
	NOISE_INTERRUPT, /* no thread: an interrupt */
};

struct noise_want {
	enum noise_what what;
	enum source_kind kind;
	const char *name;
	const char *function; /* NULL: none is asked for; "": the noise's own */
	enum noise_asker asker;
	/* Tracepoints without which the function, the asker cannot be known; NULL: none. */
	const char *function_by, *asker_by;
};

struct noise_class {
	const char *name;
	const char *left_out; /* reason why it is not made; NULL: it is */
	uint64_t late_ns;     /* time by which it may come late */
	struct noise_want want[NOISE_WANTS];
};
extern const struct noise_class noise_classes[]; /* ends with a row of zeros */
#define NOISE_CLASSES 24

/* One noise that was made; times are CLOCK_MONOTONIC ns. */
struct noise {
	uint32_t class; /* row of noise_classes */
	uint64_t start_ns, end_ns;
	uint32_t tid, partner, sender; /* 0: none */
	char comm[17];
	char function[NOISE_FUNCTION];
};

/* The row of this name; -1: none. */
int noise_class_of(const char *name);

/* ---- the hiccups meanwhile ---- */

#define NOISE_HICCUPS (1u << 17) /* more are not kept, and said to be missing */
#define NOISE_PIECES  (1u << 18)

struct noise_piece;
struct noise_hiccup {
	uint64_t start_ns, end_ns;
	uint32_t first, pieces;
};

struct noise_heard { /* all zeros: nothing yet */
	struct noise_hiccup *row;
	struct noise_piece *piece;
	uint32_t count, room, pieces, pieces_room;
	bool full; /* some had no room */
};

/* Takes a hiccup of the view's lane, in the order of their ends. */
void noise_hear(struct noise_heard *h, const struct view *v, uint32_t lane,
		const struct account *a);
void noise_forget(struct noise_heard *h); /* frees it */

/* Length of the longest hiccup that touches the noise; 0: none does. */
uint64_t noise_length(const struct noise_heard *h, const struct noise *n);

/* ---- the judgement ---- */

struct noise_share {
	uint32_t asked, right;
};

/* Sums of a class. */
struct noise_sum {
	uint32_t made, found; /* found: in a hiccup that something explains */
	struct noise_share source, function, asker;
	char why[200]; /* reason why it could not be made; "": it was, or was not wanted */
};

/* True when this tracepoint was not observed in the view's window; NULL: false. */
bool noise_is_blind(const struct view *v, const char *tracepoint);

/* Adds one noise to the sum of its class. v: the window's view, complete. */
void noise_judge(const struct noise_heard *h, const struct view *v, const struct noise *n,
		 struct noise_sum *sum);

/* True when at least NOISE_BAR percent of a class, in each respect, are right. Of 25 noises at most
 * five may be wrong: on a virtual machine under load one in a thousand was seen to be, and even of
 * one in a hundred six are wrong in fewer than one of a million runs. */
bool noise_is_named(const struct noise_sum *sum);

/* ---- the result of a self-test ---- */

/* Time that tracing adds to the gap of a noise: of each window the 10th percentile of such gaps, as
 * where others share the CPU most are theirs. */
struct selftest_cost {
	const char *class, *what;
	uint64_t without_ns, with_ns;
	uint32_t without, with; /* number of them */
};
#define SELFTEST_COSTS 2

struct selftest {
	const struct view *view; /* view of the traced window; complete */
	struct noise_sum sum[NOISE_CLASSES];
	struct selftest_cost cost[SELFTEST_COSTS];
	bool full;  /* some hiccups could not be kept, so some noise may be missed for that */
	bool whole; /* all noise was made that was to be made */
};

/* Counts classes: made, and those of them that are not named. */
uint32_t selftest_made(const struct selftest *t, uint32_t *missed);

#endif
