/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session: the streams of all target CPUs joined into a summary, event by event. A live run feeds
 * it from samplers and probes, a recording from its chunks; the same events in the same order make
 * the same view, byte for byte.
 *
 * Pure: no clock, no I/O. Memory is bounded however long it runs.
 */
#ifndef CULPRIT_SESSION_H
#define CULPRIT_SESSION_H

#include "model/join.h"
#include "model/outside.h"
#include "model/view.h"

/* Recordings hold these values: never renumber them. */
enum event_type {
	EVENT_START = 1,  /* begin of a CPU's window: the sequences at that time */
	EVENT_RECORD = 2, /* a record of the probes */
	EVENT_HICCUP = 3, /* a hiccup of the sampler, after all its records */
	/* join_relieve: ns = since when another thread has the CPU; 0: the sampler has it. */
	EVENT_RELIEVE = 4,
	EVENT_STEAL = 5, /* ns = the CPU's steal clock; the view's cpus hold its growth */
	/* Names of numbers: the session reports each just before the event that needs it; nobody
	 * feeds them. */
	EVENT_IRQ = 6,
	EVENT_SYMBOL = 7,
	EVENT_STACK = 8,
	EVENT_WHERE = 9,    /* the thread of this lane's next hiccup, when threads are watched */
	EVENT_OWNER = 10,   /* the name of a control group's number, as the other names */
	EVENT_COMMAND = 11, /* a command line's, see names_command() */
	EVENT_DEVICE = 12,  /* an IRQ's */
	EVENT_CALLER = 13,  /* the number of the user stack that goes with a stack's id */
	EVENT_CALLS = 14,   /* the calls of such a number (calls.h); it may come late */
	EVENT_TYPES,
};

struct event {
	enum event_type type;
	uint32_t index; /* index of the CPU in the summary */
	union {
		uint32_t cursor[LEVELS];
		const struct record *record;
		const struct hiccup *hiccup;
		uint64_t ns;
		const struct spot *spot;
		struct {
			/* IRQ, address, stack id, control group, command line, user stack */
			uint64_t number;
			/* name of an IRQ, address, control group; command line; device; calls;
			 * NULL: none */
			const char *name;
			uint32_t user;        /* EVENT_CALLER: number of the user stack */
			const char *affinity; /* CPUs of an IRQ; NULL: not known */
			const char *const *frame;
			int nframes;
		} named;
	};
};

/* True for names, which do not depend on the lane. */
static inline bool event_is_name(enum event_type type)
{
	return (type >= EVENT_IRQ && type <= EVENT_STACK) || type >= EVENT_OWNER;
}

/* True for names of which users choose every part, and as many as they like. */
static inline bool event_is_users(enum event_type type)
{
	return type == EVENT_OWNER || type == EVENT_COMMAND || type == EVENT_CALLS;
}

/* Hears everything that a session is given, in its order. */
struct tap {
	void *ctx;
	void (*event)(void *ctx, const struct event *event);
};

/* Divides the time outside the kernel of each hiccup, once that is joined: see through.h. */
struct divider {
	void *ctx;
	/* Returns the account to go on with, its own, valid until the next call. */
	struct account *(*divide)(void *ctx, uint32_t index, const struct account *account);
};

struct session_options {
	/* Holds the summary, and the thresholds and bounds of the CPUs; outlives the session. */
	struct view *view;
	const struct names *names;
	const struct tap *tap;         /* NULL: none */
	const struct divider *divider; /* NULL: none */
	bool kept;                     /* the names are in the view's texts, or static */
	bool intervals;                /* keep each interval for session_interval */
	/* Record spans in accounts and the worst hiccups, and what pictures show of all. */
	bool spans;
};

struct session;

struct session *session_new(const struct session_options *options); /* NULL: out of memory */
void session_free(struct session *s); /* the view may be empty by then */

/* Returns the account of a hiccup, which is in the summary already, valid until the next event;
 * NULL for other events. Skips an event of a CPU that the view lacks. */
const struct account *session_feed(struct session *s, const struct event *event);

/* As session_feed, for several threads at once, of which each has lanes of its own. place: the
 * event's among those of all lanes. Work on several lanes waits for session_meet. The session has
 * no tap. */
const struct account *session_feed_apart(struct session *s, const struct event *event,
					 uint64_t place);
/* The join of a lane, for records alone, and under the same conditions: they pass through the
 * session's hands no further. NULL: the view lacks the CPU, or out of memory. */
struct join *session_join(struct session *s, uint32_t index);

/* Does what waits, in the order of the places, while nobody feeds: then all is as if session_feed
 * had taken these events. */
void session_meet(struct session *s);

/* Decides everything that is still open, after the last event. */
void session_finish(struct session *s);

uint32_t session_waiting(const struct session *s,
			 /* number of records that wait for their hiccup: see JOIN_WAIT_MAX */
			 uint32_t index);
const struct join_counts *session_counts(const struct session *s, uint32_t index);
/* When many CPUs stopped at once. */
const struct coincidences *session_coincidences(const struct session *s);
struct intervals *session_intervals(const struct session *s, uint32_t index); /* NULL: not wanted */

#endif
