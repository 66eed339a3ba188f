/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside through.h: the gaps (through.c), the match (through_match.c) and its sentence
 * (through_say.c), the join (through_join.c). */
#ifndef CULPRIT_THROUGH_STATE_H
#define CULPRIT_THROUGH_STATE_H

#include "model/through.h"

struct side_lane {
	struct align_gaps gaps;
	uint64_t start_ns, end_ns; /* the gap that may go on */
};

struct side {
	struct side_lane *lane;
	uint32_t n;
};

void side_close(struct side *s); /* ends the gaps that may go on */
void side_free(struct side *s);

/* Writes the sentence; left: not all threads were tried. */
void through_say(struct through_found *f, bool left);

#define ORIGINS 4096 /* a power of two; half of them at most */

/* A source of the host's, without its sums. */
struct origin {
	enum source_kind kind;
	uint32_t id;
	bool kernel_thread;
	bool rest; /* the row for what could not be kept apart; the others say nothing then */
	char name[SOURCE_NAME];
	const char *function; /* belongs to the host's names */
};

struct window_piece {
	uint32_t origin;
	uint64_t ns;
	struct asker asker;
};

/* A window that a thread lost on the host. */
struct host_window {
	uint64_t start_ns, end_ns; /* the host's */
	uint32_t cpu;              /* 1 + that of the host; 0: not known */
	uint32_t npieces, nspans;
	uint32_t left;     /* spans that are not here */
	struct span *span; /* in its memory; by the host's clock, of origins in place of rows */
	struct window_piece piece[];
};

/* A gap on its way from one clock to the other. */
struct gap {
	uint64_t from_ns, to_ns; /* the host's */
	uint64_t near_ns;        /* windows may stick out so far */
	const struct account *a;
};

/* Windows of one thread, the newest: a ring. */
struct windows {
	bool wanted; /* a CPU of the guest's: others' need no room */
	struct host_window **window;
	uint64_t first, next; /* counted from the begin of the recording */
	uint64_t dropped_ns;  /* the last of those that had to go ended then */
};

struct through {
	struct side guest, host;
	struct through_found found;
	/* the join */
	struct view *view; /* the guest's */
	const struct view *host_view;
	const char *host_name;   /* NULL: it is the only one */
	uint64_t from_ns, to_ns; /* window of the host's recording */
	bool *holes;             /* one for each of the host's lanes: something in it is missing */
	uint32_t nholes;
	struct through_source source;
	struct divider divider;
	struct windows *windows; /* one ring for each of the host's lanes */
	uint32_t nwindows;
	uint32_t most;    /* windows of a lane that are kept */
	uint32_t npieces; /* all those that are kept have together */
	uint64_t newest_ns;
	struct origin *origin;
	uint32_t *slot; /* hash: 1 + index of origin */
	uint32_t norigins;
	struct account account;
	struct span *span; /* SPANS_MAX of the account */
	struct piece *piece;
	uint32_t pieces_room, own_pieces; /* the first ones are the guest's own */
};

void through_forget(struct through *t); /* frees what the join has */

uint64_t through_overlap(uint64_t a, uint64_t b, uint64_t c, uint64_t d); /* ns */
uint64_t through_part(uint64_t ns, uint64_t part, uint64_t whole);        /* 0 of nothing */

/* The time of the window's piece in [from, to] of the host's: where its spans lie; where not all of
 * them are known, or it has none, as much as of the window. */
uint64_t through_piece_in(const struct host_window *w, uint32_t piece, uint64_t from, uint64_t to);

/* The guest's row of an origin. May move the rows of the account's pieces and spans. */
uint32_t through_row(struct through *t, uint32_t index, const struct origin *o);

/* Begins the account's spans as those of the guest's own. */
void through_own_spans(struct through *t);
/* Adds the window's, by the guest's clock, as far as they are in the gap and have room. */
void through_spans(struct through *t, uint32_t index, const struct gap *g,
		   const struct host_window *w);

#endif
