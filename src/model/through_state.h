/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside through.h: the gaps and the match (through.c), and the join (through_join.c). */
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
	uint32_t npieces;
	struct window_piece piece[];
};

/* Windows of one thread, the newest: a ring. */
struct windows {
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
	struct piece *piece;
	uint32_t pieces_room, own_pieces; /* the first ones are the guest's own */
};

void through_forget(struct through *t); /* frees what the join has */

#endif
