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

/* The rows of these options: `field` is the offset of a struct flight_options, `can` the
 * TRIGGER_BITs of what can happen there. */
#define FLIGHT_OPTIONS(field, can)                                                                 \
	{0,                                                                                        \
	 "last",                                                                                   \
	 "TIME",                                                                                   \
	 "keep only the last TIME, in memory; write nothing before a trigger, then "               \
	 "this time as a recording of its own: culprit help triggers",                             \
	 (field) + offsetof(struct flight_options, last_ns),                                       \
	 opt_set_duration},                                                                        \
		{0,                                                                                \
		 "when",                                                                           \
		 "EXPR",                                                                           \
		 "the trigger: hiccup>100us, say; may be given several times. SIGUSR1 is always "  \
		 "one",                                                                            \
		 (field) + offsetof(struct flight_options, when),                                  \
		 limits_set_trigger,                                                               \
		 .arg = &(const unsigned){(can) | TRIGGER_BIT(SIGUSR1) | TRIGGER_BIT(END)},        \
		 .preset = "end",                                                                  \
		 .needs = "last",                                                                  \
		 .why = "belongs to --last"},                                                      \
		{0,                                                                                \
		 "then",                                                                           \
		 "ACTION",                                                                         \
		 "what a trigger does: keep, stop, print, signal:NAME[:PID], exec:COMMAND or "     \
		 "trace_off[:INSTANCE]; may be given several times",                               \
		 (field) + offsetof(struct flight_options, then),                                  \
		 flight_set_action,                                                                \
		 .preset = "keep",                                                                 \
		 .needs = "last",                                                                  \
		 .why = "belongs to --last"},                                                      \
		{0,                                                                                \
		 "after",                                                                          \
		 "TIME",                                                                           \
		 "how long it goes on before a recording is written",                              \
		 (field) + offsetof(struct flight_options, after_ns),                              \
		 opt_set_duration,                                                                 \
		 .preset = "1s",                                                                   \
		 .needs = "last",                                                                  \
		 .why = "belongs to --last"},                                                      \
		{0,                                                                                \
		 "keep",                                                                           \
		 "N",                                                                              \
		 "how many recordings at most",                                                    \
		 (field) + offsetof(struct flight_options, keep),                                  \
		 measure_set_count,                                                                \
		 .preset = "100 in a directory, or the one file",                                  \
		 .needs = "last",                                                                  \
		 .why = "belongs to --last"},                                                      \
	{                                                                                          \
		0, "rate", "N/TIME", "no more than N recordings within TIME, like 1/10s",          \
			(field) + offsetof(struct flight_options, rate), flight_set_rate,          \
			.preset = "any number", .needs = "last", .why = "belongs to --last"        \
	}
int flight_set_action(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen);
int flight_set_rate(const char *text, void *field, const struct opt *row, char *why, size_t whylen);

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
bool flight_stopped(const struct flight *f);    /* by a trigger */
uint64_t flight_rights(const struct flight *f); /* what it needs of base/confine.h meanwhile */
void flight_close(struct flight *f);            /* NULL: nothing */

#endif
