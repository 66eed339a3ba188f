/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one loop of all commands that measure live: from the engine's open to its close, with
 * signals, the progress line, the recording, the report and the limits. A command takes part by
 * callbacks.
 */
#ifndef CULPRIT_LIVE_H
#define CULPRIT_LIVE_H

#include "cmd/flight.h"
#include "cmd/limits.h"
#include "cmd/measure.h"
#include "cmd/notify.h"
#include "cmd/output.h"
#include "recording/write.h"

struct live {
	const struct measure *measure;
	const struct engine *engine;
	const void *engine_options;
	struct view *view;     /* the caller has read its host */
	struct output *output; /* output of the report, takes each hiccup; NULL: none */
	bool spans;            /* record spans whatever the output needs */
	struct limits *limits; /* NULL: none */
	const char *record_to; /* path of a recording; NULL: none */
	/* Used, where not 0, in place of a new file, and closed; record_to is for messages then. It
	 * takes at most so many bytes; 0: any. */
	int record_fd;
	uint64_t record_most;
	bool force; /* overwrite it */
	/* The recording is removed at the end, and nothing is worth measuring without it: words for
	 * its failure, in place of its name. NULL: neither. */
	const char *scratch;
	struct redact *redact; /* replaces names in the recording; NULL: it tells all */
	/* Capabilities that the command still needs when the window is open, beside those of the
	 * engines and of `output`: a mask of base/confine.h. */
	uint64_t keeps;
	bool makes_maps; /* in the window, for CPUs that come online */
	/* record_to gets the last seconds, and only when a trigger is pulled; NULL: all of it */
	const struct flight_options *last;
	long signal_pid; /* to which the flight recorder's signals go by default; 0: none */
	/* Exit code when a signal comes before the window opens; 0: EXIT_ERROR. */
	int too_early;
	/* The command has the terminal: messages wait for the end of the window. */
	bool full_screen;
	struct recorder_stats stats; /* figures of the recording, set at the end */

	/* Callbacks get ctx; each may be NULL. */
	void *ctx;
	int (*begin)(void *ctx); /* the window has opened; nonzero: give up, with the reason said */
	void (*hiccup)(void *ctx, uint32_t index, const struct account *a);
	uint64_t every_ns;           /* between two snapshots; the first one comes at once */
	void (*snapshot)(void *ctx); /* the view is as of now */
	/* called after each poll, and when the engine has ended; false: end the window */
	bool (*step)(void *ctx);
	void (*over)(void *ctx); /* called when the window's time is over, before it closes */
	/* called with the complete view; returns the exit code. NULL: live_report */
	int (*end)(void *ctx);

	void *run;             /* set by the engine while it is open */
	struct flight *flight; /* while it is open */
	struct newfile file;   /* over an old recording, in its place once the window has opened */
	struct notify notify;
	int host_clock;  /* from readings_open() */
	bool names_said; /* true: names_lack was */
};

/* Refuses a recording that live_run could not make: to standard output, or where one is. Makes
 * nothing. path: NULL: none. 0, or -1 with the reason said. */
int live_check_record(const char *path, bool force);

/* Returns the exit code: EXIT_INCOMPLETE, with the reason said when it was noticed, where the
 * window ended before its time. */
int live_run(struct live *l);

/* Explains the view and writes the report. Returns the exit code. */
int live_report(struct output *o, struct view *v);

#endif
