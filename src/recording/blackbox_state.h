/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside blackbox.h: what comes is kept (blackbox.c), and a part of it becomes a file
 * (blackbox_file.c). */
#ifndef CULPRIT_BLACKBOX_STATE_H
#define CULPRIT_BLACKBOX_STATE_H

#include "recording/blackbox.h"
#include "recording/codec.h"
#include "recording/hide.h"
#include "recording/seen.h"

#define BOX_SLICES 96 /* kept at most */

/* Counters of a lane, as of the begin of a slice. */
struct box_count {
	uint64_t observed_ns, unpaired, hiccups_lost, hiccups_lost_ns, bookkeeping_ns, steal_ns;
	uint64_t woken, woken_due, reported, reported_ns, unseen_ns, unseen_whole;
	uint64_t waits_lost;
	uint64_t halts, halted_ns, halted_here_ns, asleep_ns, taken_ns, unended;
};

struct box_chunk {
	struct bytes bytes;
	uint64_t hiccups, records;
};

struct box_slice {
	uint64_t begin_ns;
	uint64_t first_ns;       /* begin of the first hiccup in it, if it is earlier */
	struct bytes before;     /* records that a join must know first */
	struct box_count *count; /* counts of each lane */
	struct box_chunk *chunk;
	uint32_t nchunks;
	uint64_t bytes;
	uint64_t hiccups_lost, records_lost; /* for lack of memory */
	uint64_t reports_lost;               /* the run's, as of its begin */
};

struct box_lane {
	bool begun;
	uint32_t cursor[LEVELS]; /* everything up to here is done with */
	bool steal_known;
	uint64_t steal_ns;
	struct record *waiting;
	uint32_t nwaiting, room;
};

/* A file on its way. */
struct box_file {
	struct recorder *recorder;
	struct view part;   /* the run's view, its numbers those of the part */
	uint64_t next, end; /* slices by their numbers since the begin */
	uint32_t chunk; /* chunk of the slice `next`; names and `before` have come when it is > 0 */
	bool older_named; /* the older names have come */
	bool begun;       /* all names have come */
};

struct blackbox {
	struct tap tap;
	uint64_t keep_ns, slice_ns, most_bytes, bytes;
	uint32_t nlanes;
	struct box_lane *lane;
	struct hide hide;
	struct encoder *events;
	struct encoder *names;    /* the newest names */
	struct bytes older_names; /* as many names before them */
	uint64_t all_named;       /* first slice since which no name has been let go */
	uint64_t named;           /* first slice whose names are the newest */
	struct names_seen *seen;
	uint64_t hiccups, records; /* in the chunk in hand */
	struct box_slice slice[BOX_SLICES];
	uint64_t first, last; /* slices [first, last): the newest is last - 1 */
	struct box_file w;
	uint64_t written_ns;
	bool names_lack; /* in the newest file */
	struct recorder_stats stats;
};

static inline struct box_slice *box_slice(struct blackbox *b, uint64_t number)
{
	return &b->slice[number % BOX_SLICES];
}

/* A lane's counters as of now. */
struct box_count box_count(const struct cpu *c);

/* Moves the packed events into the newest slice. */
void box_cut(struct blackbox *b);

/* Lets the newest names go: the slices so far lack them; what is needed again comes again. */
void box_forget_names(struct blackbox *b);

/* Lets slices go that are too old or too many. Slices for which a file still waits are too many
 * only beyond twice the bound. */
void box_trim(struct blackbox *b);

#endif
