/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers: what a run waits for, in one grammar for all commands that take one.
 *
 *   hiccup > TIME [by WHO]   a hiccup longer than TIME
 *   wake > TIME [by WHO]     a thread ran longer than TIME after it was woken
 *   late [> TIME] [by WHO]   the program said itself that it was late (src/culprit.h)
 *   lost > SHARE% / TIME     more than SHARE percent lost within TIME
 *   count > N / TIME [of WHO]
 *                            more than N hiccups within TIME; of WHO: its interruptions
 *   SIGUSR1, end             this signal has come; the run is over
 *
 * A goal is the same the other way round, with < in place of >, where it stands: worst < 20us (or
 * hiccup < 20us), lost < 0.1% / 1s, count < 10/s. It is met while its trigger is not pulled.
 *
 * Of a CPU, or of a watched thread, each for itself. TIME is a number and a unit; behind "/" the
 * unit alone is one of it: 1000/s. WHO is a word, or any text in quotes: a glob (an asterisk stands
 * for any bytes) over a source's name, its function, or its kind and name ("softirq NET_RX"), or
 * the id of a cause ("K09"). A hiccup is "by WHO" when what matches took more of it, together, than
 * any other source; time that no interval explains goes by "edge", "lost" and "outside". Spaces do
 * not matter, except in WHO.
 *
 * lost leaves out what a program reports itself: such windows may overlap.
 *
 * A time TIME is counted in 64ths of it: what is more than 63 of these old may have been left out,
 * and nothing older is ever counted. So no trigger is pulled that should not be. After it was, it
 * counts from zero again.
 *
 * Pure: no clock, no I/O. Memory is bounded: 512 bytes for each CPU and each trigger with "/".
 */
#ifndef CULPRIT_TRIGGER_H
#define CULPRIT_TRIGGER_H

#include "model/view.h"

#define TRIGGERS_MAX 16
#define TRIGGER_TEXT 128
#define TRIGGER_WHO  64

enum trigger_event {
	TRIGGER_HICCUP,
	TRIGGER_WAKE,
	TRIGGER_LATE,
	TRIGGER_LOST,
	TRIGGER_COUNT,
	TRIGGER_SIGUSR1, /* these two the caller pulls itself: triggers_pull */
	TRIGGER_END,
};
#define TRIGGER_BIT(event) (1u << TRIGGER_##event)
#define TRIGGER_GOAL       (1u << 31) /* with the bits of what can happen: a goal is wanted */

struct trigger {
	char text[TRIGGER_TEXT]; /* as it was given: its name */
	enum trigger_event event;
	uint64_t above;        /* ns, or a number */
	double percent;        /* threshold of TRIGGER_LOST */
	uint64_t window_ns;    /* the TIME behind "/" */
	char who[TRIGGER_WHO]; /* "": anybody */
	bool cause;            /* `who` is the id of a cause */
	uint64_t pulled;       /* number of times */
};

/* Reads one. can: TRIGGER_BIT of each event that can happen where it is used. 0, or -EINVAL with
 * the reason in why, which begins with the text in quotes. */
int trigger_parse(const char *text, unsigned can, struct trigger *t, char *why, size_t whylen);

/* Several triggers at once; all zeros: none. */
struct triggers {
	struct trigger row[TRIGGERS_MAX + 1]; /* these, and the flight recorder's own */
	uint32_t count;
	bool wakes; /* each hiccup is a wake-up: a workload that sleeps */
	/* Finds out a source's cause when a trigger needs it; NULL: source->cause is all. */
	void (*find_cause)(void *ctx, uint32_t lane, struct source *s);
	void *ctx;
	struct trigger_sums *sums; /* triggers_free */
	uint32_t lanes;
};

/* The event that pulled a trigger. */
struct trigger_hit {
	const struct trigger *trigger;
	uint32_t lane;                  /* UINT32_MAX: none */
	uint64_t start_ns, duration_ns; /* the hiccup that did it */
	struct spot spot;
	/* Largest piece of that hiccup: "softirq NET_RX", "edge"; any bytes; "": not traced. */
	char who[SOURCE_NAME + 16];
	uint32_t source; /* row of that source; UINT32_MAX: it has none */
};

/* Call it when the view has its CPUs. 0 or -ENOMEM. */
int triggers_begin(struct triggers *t, uint32_t lanes);
void triggers_free(struct triggers *t);

/* Writes all of them to buf, which it returns: "worst<20us, count<10/s". */
const char *triggers_text(const struct triggers *t, char *buf, size_t len);

/* Takes a hiccup. True, and *hit: it pulled a trigger, the first of several. */
bool triggers_hear(struct triggers *t, const struct view *v, uint32_t lane, const struct account *a,
		   struct trigger_hit *hit);

/* Pulls the trigger of this event, at a time that no hiccup tells. True, and *hit: there is one. */
bool triggers_pull(struct triggers *t, enum trigger_event event, uint64_t ns,
		   struct trigger_hit *hit);

#endif
