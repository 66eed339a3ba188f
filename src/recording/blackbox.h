/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last part of a run, in memory, and recordings of it: what a flight recorder keeps. The events
 * of a session are packed as a recorder packs them (write.h), into slices of time; the oldest go.
 * Nothing is written until it is asked for. Then the slices go through a recorder into a file of
 * its own, while the run goes on.
 *
 * Each slice can be the first of a recording: beside it stands what a join knows where it begins,
 * that is each lane's place in the sequences and the records that wait for their hiccup. Names are
 * kept apart, each once, and stand first in every file.
 *
 *   blackbox_new      before the engine is opened; its tap goes to the session
 *   blackbox_prepare  when the engine is open, before the window
 *   blackbox_begin    when the window has opened
 *   blackbox_slice    after a snapshot of the engine, each blackbox_slice_ns
 *   blackbox_write    begins a file; one at a time
 *   blackbox_poll     every few milliseconds
 *
 * Memory: the slices take what happened in the time, some ten bytes a record, and at most `bytes`;
 * then they cover less time, and the file says what it has. Beside them two MiB for names, of which
 * the oldest go, and 100 KiB for each lane. */
#ifndef CULPRIT_RECORDING_BLACKBOX_H
#define CULPRIT_RECORDING_BLACKBOX_H

#include "recording/write.h"

struct blackbox;

/* keep_ns: how much time. redact: as recorder_redact, NULL: names stay. NULL: out of memory. */
struct blackbox *blackbox_new(uint64_t keep_ns, uint64_t bytes, struct redact *redact);
void blackbox_free(struct blackbox *b);
const struct tap *blackbox_tap(const struct blackbox *b);
uint64_t blackbox_slice_ns(const struct blackbox *b);

int blackbox_prepare(struct blackbox *b, const struct view *v); /* 0 or -ENOMEM */
void blackbox_begin(struct blackbox *b, const struct view *v);
void blackbox_slice(struct blackbox *b, const struct view *v, uint64_t now_ns);

/* Time of the oldest event that is kept. */
uint64_t blackbox_from_ns(const struct blackbox *b);
uint64_t blackbox_bytes(const struct blackbox *b); /* size of the slices */

struct blackbox_file {
	const char *path;
	bool force;
	const struct cpus *housekeeping; /* for the writing process */
	const char *label;               /* label of the run in this file; NULL: as it is */
	uint64_t from_ns;                /* CLOCK_MONOTONIC; the slice with it is the first */
};

/* Begins to write all from there until now, after a snapshot. 0, or -1 with the reason said. */
int blackbox_write(struct blackbox *b, const struct blackbox_file *f, const struct view *v,
		   uint64_t now_ns);

enum blackbox_state {
	BLACKBOX_IDLE,
	BLACKBOX_WRITES,
	BLACKBOX_WRITTEN, /* once, then it is idle */
	BLACKBOX_FAILED,  /* the same; the reason has been said */
};
enum blackbox_state blackbox_poll(struct blackbox *b);

/* Figures of the newest file: its time, and what it has. */
uint64_t blackbox_written_ns(const struct blackbox *b);
bool blackbox_names_lack(const struct blackbox *b); /* may lack names of its first part */
struct recorder_stats blackbox_stats(const struct blackbox *b);

#endif
