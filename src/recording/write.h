/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing a recording. The events of a session are packed here and handed, a chunk at a time, to a
 * process of its own on the housekeeping CPUs, which compresses and writes them: a slow or full
 * disk cannot delay the reader of the probes' rings. The queue between the two is bounded; chunks
 * without room are left out, counted, and missing from the recording only.
 *
 *   recorder_open    makes the file, forks the writing process: before the engine is opened, so
 * that it inherits nothing of that recorder_head    when the engine is open, before the window
 *   recorder_begun   the window has opened
 *   recorder_poll    now and then, at least each second
 *   recorder_end     the view is complete: hands over tail and end, and waits for the disk
 *   recorder_close   enough by itself at any point; removes a file that has no head yet
 */
#ifndef CULPRIT_RECORDING_WRITE_H
#define CULPRIT_RECORDING_WRITE_H

#include "model/redact.h"
#include "model/session.h"
#include "recording/bytes.h"

struct recorder;

/* Statistics of the writing process, for reports of what recording costs. */
struct recorder_stats {
	uint64_t hiccups, records;           /* put into the recording */
	uint64_t hiccups_lost, records_lost; /* left out for lack of room */
	uint64_t raw_bytes;    /* bytes of the chunks in the file, before they were compressed */
	uint64_t stored_bytes; /* bytes of the file, up to the end of its last whole chunk */
	uint64_t cpu_ns;       /* CPU time of the writing process */
	bool cut;              /* the rest of the file is missing: writing failed */
};

/* force: overwrites an existing file. NULL with the reason said. */
struct recorder *recorder_open(const char *path, bool force, const struct cpus *housekeeping);

/* The same into what is open, a pipe or a file without a name, which it takes over; `name` is for
 * messages. most: bytes that a file may have, 0: any. */
struct recorder *recorder_open_to(int fd, const char *name, uint64_t most,
				  const struct cpus *housekeeping);

/* The file is removed at the end: messages of what fails from here on have these words in place of
 * its name. They outlive the recorder. */
void recorder_scratch(struct recorder *r, const char *words);

/* From here on events are recorded with the names of this, which outlives the recorder; what else
 * is to be redacted is so in the view already. */
void recorder_redact(struct recorder *r, struct redact *redact);
const struct tap *
recorder_tap(const struct recorder *r); /* for the session; hears from recorder_head on */
int recorder_head(struct recorder *r, const struct view *v);

/* Waits until all that was handed over is in the file, before that takes the place of an old one.
 * 0, or -1 where it cannot be: the reason has been said, and nothing more is recorded. */
int recorder_settle(struct recorder *r);
void recorder_begun(struct recorder *r, const struct view *v);

/* False after a failure to write: the reason has been said once, and nothing more is recorded. */
bool recorder_poll(struct recorder *r);

/* recorder_end in steps, for one who cannot wait for the disk, and who has packed the events itself
 * (blackbox.h).
 *   recorder_put      a chunk of events, after recorder_head; false: there is no room now
 *   recorder_lacks    counts what it will not be given
 *   recorder_tail     the view is complete; 0, or -1 with the reason said
 *   recorder_written  after it: 1: all is in the file; 0: not yet; -1: it failed, and the reason
 *                     has been said */
bool recorder_put(struct recorder *r, const struct bytes *b, uint64_t hiccups, uint64_t records);
void recorder_lacks(struct recorder *r, uint64_t hiccups, uint64_t records);
int recorder_tail(struct recorder *r, const struct view *v);
int recorder_written(struct recorder *r);

/* 0, or -1: the file lacks something, and the reason has been said. */
int recorder_end(struct recorder *r, const struct view *v);
void recorder_close(struct recorder *r);

struct recorder_stats recorder_stats(const struct recorder *r);

#endif
