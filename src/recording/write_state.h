/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside write.h: a recording while events come (write.c), and its end (write_end.c). */
#ifndef CULPRIT_WRITE_STATE_H
#define CULPRIT_WRITE_STATE_H

#include "recording/codec.h"
#include "recording/hide.h"
#include "recording/index.h"
#include "recording/queue.h"
#include "recording/seen.h"
#include "recording/write.h"

struct recorder {
	char *path;
	const char *scratch; /* words in place of its name; NULL: that is said */
	struct queue *queue;
	pid_t pid;
	struct tap tap;
	struct encoder *encoder;
	struct names_seen *seen;
	struct hide hide;
	struct index chunk, group; /* contents of the chunk in hand, and of those since the index */
	uint64_t cut_ns;           /* time of the last cut */
	uint64_t hiccups, records; /* in the chunk in hand */
	struct recorder_stats stats;
	bool headed, failed, made; /* made: has a name, and goes if nothing is in it */
	bool ended;                /* tail and end are on the way */
	bool piped;                /* true: its file is a pipe */
	/* When the end must be through: into a pipe from the tail on, else once it is waited for;
	 * 0: not yet. */
	uint64_t end_by_ns;
};

/* Give what is in hand to the writing process: the chunk of events, and the index of those. */
void write_events(struct recorder *r);
void write_index(struct recorder *r);

/* Hands over a chunk that must get in, and frees it: waits while the writing process makes room.
 * False: it made none. */
bool write_patiently(struct recorder *r, uint32_t type, struct bytes *b);

/* Time until which to wait for the writing process, CLOCK_MONOTONIC. */
uint64_t write_deadline(const struct recorder *r);

/* Says why nothing more is written; -1. It asks the file how much there is, because everything in
 * the queue is lost with the rest. */
int write_stops(struct recorder *r, int error);

#endif
