/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flight recorder: record --last keeps the last seconds in memory (recording/blackbox.h), and
 * each trigger makes a recording of those before and behind it. Beside that it does what --then
 * says, at once.
 */
#ifndef CULPRIT_FLIGHT_H
#define CULPRIT_FLIGHT_H

#include <limits.h>

#include "cmd/measure.h"
#include "model/trigger.h"

#define ACTIONS_MAX 8
#define RATE_MAX    100

struct action {
	enum action_kind {
		ACTION_KEEP,
		ACTION_STOP,
		ACTION_PRINT,
		ACTION_SIGNAL,
		ACTION_EXEC,
		ACTION_TRACE_OFF,
	} kind;
	const char *text; /* behind the colon; NULL: none */
	int signal;
	long pid; /* 0: not given */
};

struct flight_options {
	uint64_t last_ns; /* 0: no flight recorder */
	uint64_t after_ns;
	struct triggers when;
	struct action then[ACTIONS_MAX];
	uint32_t nthen;
	uint64_t keep;         /* files at most; 0: as its help says */
	struct redact *redact; /* NULL: its recordings tell all */
	struct {
		uint64_t count, within_ns; /* 0: any number */
	} rate;
};

/* Rows of a struct flight_options; context as of limits_stop_on_opts. */
extern const struct opt flight_opts[];

struct flight;

/* Before the engine is opened. path: of a file, or of a directory for several. pid: to which
 * signals go where none is given; 0: none. report: stdout is for a report. NULL with the reason
 * said. */
struct flight *flight_open(const struct flight_options *o, const char *path, bool force, long pid,
			   bool report, const struct cpus *housekeeping);
const struct tap *flight_tap(const struct flight *f);
int flight_prepare(struct flight *f, struct view *v); /* the engine is open; 0 or -1 as below */
void flight_begin(struct flight *f);                  /* the window has opened */
void flight_hear(struct flight *f, uint32_t lane, const struct account *a);

/* True when the view must be as of now for flight_step, which then is due. */
bool flight_wants_snapshot(const struct flight *f, uint64_t now_ns);

/* Call it every few milliseconds. snapshot: the view is as of now. False: stop. */
bool flight_step(struct flight *f, uint64_t now_ns, bool snapshot);

/* The view is complete: writes what is still to be written, and waits for it. Says what was kept
 * and what was not. 0, or -1: a recording failed. */
int flight_end(struct flight *f);

/* Tells what pulled the trigger that stopped it: limits_describe's text, any bytes; NULL: none
 * did. */
const char *flight_stopped(const struct flight *f);

uint64_t flight_rights(const struct flight *f); /* base/confine.h: needed meanwhile */
void flight_close(struct flight *f);            /* NULL: nothing */

#endif
