/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a recording: its events go to a new session, which fills the view as the live run did.
 * Needs neither privileges nor the machine of the recording. Memory does not grow with the file.
 *
 *   recording_open    reads the head: host, run, CPUs
 *   recording_next    returns each hiccup in turn
 *   recording_lines   or writes a line for each
 *   recording_finish  completes the view
 *   recording_close   frees the strings in the view
 */
#ifndef CULPRIT_RECORDING_READ_H
#define CULPRIT_RECORDING_READ_H

#include <stdio.h>

#include "model/redact.h"
#include "model/session.h"

struct recording;

/* The part of the recording to read. */
struct part {
	struct cpus cpus; /* empty: all */
	const char *name; /* in messages; NULL: its path */
	enum owner_by by; /* meaning of rows of threads */
	bool spans;       /* record spans in accounts and the worst hiccups */
	/* Shorter hiccups become short gaps, except a workload's windows; 0: all are hiccups. */
	uint64_t threshold_ns;
	struct redact *redact; /* takes names and facts of users out; NULL: all is as recorded */
	/* Keep hiccups that begin in this time, since the window's start; to_ns 0: to the end. */
	uint64_t from_ns, to_ns;
	/* Threads that read it; 0: one for each CPU, where it is long enough. Whatever their
	 * number, the same comes of it. */
	unsigned threads;
	/* Divides what lies outside the kernel; NULL: nobody does. Then only recording_next reads
	 * it, in one thread. */
	const struct divider *divider;
};

/* Opens a recording; path "-": standard input, which may be a pipe. part NULL: all. `view` is all
 * zeros, and must live until recording_close. NULL with the reason said: no such file, not a
 * recording, of a newer major version, or its head is damaged. After recording_finish
 * view->run.incomplete names everything else that is missing or damaged. */
struct recording *recording_open(const char *path, const struct part *part, struct view *view);

/* Writes the line of a hiccup of the view's CPU with this index, or nothing: it has none. Hiccups
 * of several CPUs may come at once, from several threads; `out` belongs to the CPU. Before the
 * first line goes to its place the caller hears so. */
struct line_writer {
	void *ctx;
	void (*begin)(void *ctx);
	void (*write)(void *ctx, uint32_t index, const struct account *account, FILE *out);
};

/* Writes the lines of all hiccups in their order, and reads to the end. 0 or -errno. */
int recording_lines(struct recording *r, const struct line_writer *line, FILE *out);

/* The account is valid until the next call; NULL: there are no more. */
const struct account *recording_next(struct recording *r, uint32_t *index);
void recording_finish(struct recording *r); /* reads the rest */

/* Once it is finished: the length of all its time, ns, whatever part is wanted. */
uint64_t recording_whole_ns(const struct recording *r);

/* True if it was made without the names of its machine's users (record --private), whatever the
 * reader leaves out. */
bool recording_private(const struct recording *r);

void recording_close(
	struct recording *r); /* frees what the view points to; view_free before or after */

#endif
