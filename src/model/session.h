/* A session: the streams of all target CPUs joined into a summary, event by event. A live run feeds
 * it from samplers and probes, a recording feeds it what it kept of that; the same events in the
 * same order make the same view, byte for byte.
 *
 * Pure: no clock, no I/O. Memory is bounded however long it goes on.
 */
#ifndef CULPRIT_SESSION_H
#define CULPRIT_SESSION_H

#include "model/join.h"
#include "model/view.h"

/* Recordings hold these: never renumbered. */
enum event_type {
	EVENT_START = 1,  /* the window of a CPU begins: the sequences then */
	EVENT_RECORD = 2, /* a record of the probes */
	EVENT_HICCUP = 3, /* a hiccup of the sampler; all its records have been given */
	/* join_relieve: ns = since when another thread has the CPU; 0: the sampler has it. */
	EVENT_RELIEVE = 4,
	EVENT_STEAL = 5, /* ns = the CPU's steal clock: what it rose by is in the view's cpus */
	/* What numbers are called: said by the session just before the event that it is needed for,
	   not fed to it. */
	EVENT_IRQ = 6,
	EVENT_SYMBOL = 7,
	EVENT_STACK = 8,
	EVENT_WHERE = 9, /* whose the next hiccup of this lane is, when threads are watched */
	EVENT_TYPES,
};

struct event {
	enum event_type type;
	uint32_t index; /* of the CPU in the summary */
	union {
		uint32_t cursor[LEVELS];
		const struct record *record;
		const struct hiccup *hiccup;
		uint64_t ns;
		const struct spot *spot;
		struct {
			uint64_t number;      /* IRQ, address, stack id */
			const char *name;     /* of an IRQ, address; NULL: none */
			const char *affinity; /* of an IRQ; NULL: not known */
			const char *const *frame;
			int nframes;
		} named;
	};
};

/* Names have a meaning of their own, whatever the lane. */
static inline bool event_is_name(enum event_type type)
{
	return type >= EVENT_IRQ && type <= EVENT_STACK;
}

/* Hears everything that a session is given, in its order. */
struct tap {
	void *ctx;
	void (*event)(void *ctx, const struct event *event);
};

struct session_options {
	/* Holds the summary, and the thresholds and bounds of the CPUs; outlives the session. */
	struct view *view;
	const struct names *names;
	const struct tap *tap; /* NULL: nobody listens */
	bool intervals;        /* keep each interval for session_interval */
	bool spans;            /* accounts and the worst hiccups have their spans */
};

struct session;

struct session *session_new(const struct session_options *options); /* NULL: out of memory */
void session_free(struct session *s); /* the view may be empty by then */

/* Of a hiccup its account, which is in the summary already and valid until the next event; NULL
 * otherwise. An event of a CPU that the view has not is passed over. */
const struct account *session_feed(struct session *s, const struct event *event);

/* All has come: decides what is still open. */
void session_finish(struct session *s);

uint32_t
session_waiting(const struct session *s,
		uint32_t index); /* records that wait for their hiccup: see JOIN_WAIT_MAX */
const struct join_counts *session_counts(const struct session *s, uint32_t index);
struct intervals *session_intervals(const struct session *s, uint32_t index); /* NULL: not wanted */

#endif
