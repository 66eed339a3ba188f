/* Reading a recording: the events that a session was given, given to another one, which fills the
 * view as the live run did. Needs neither privileges nor the machine that it was made on. Memory
 * does not grow with the file.
 *
 *   recording_open    the head: host, run, CPUs
 *   recording_next    each hiccup in turn
 *   recording_finish  the view is complete
 *   recording_close   the names in the view have been its own
 */
#ifndef CULPRIT_RECORDING_READ_H
#define CULPRIT_RECORDING_READ_H

#include "model/session.h"

struct recording;

/* What of it is wanted. */
struct part {
	struct cpus cpus; /* empty: all */
	bool spans;       /* accounts and the worst hiccups have their spans */
	/* Shorter hiccups become short gaps, except a workload's windows; 0: all are hiccups. */
	uint64_t threshold_ns;
	/* Keep hiccups that begin in this time, since the window's start; to_ns 0: to the end. */
	uint64_t from_ns, to_ns;
};

/* part NULL: all. `view` is all zeros, and is there until recording_close. NULL with the reason
 * said: no such file, not a recording, of a newer major version, or its head is damaged. What else
 * is missing or damaged is told in view->run.incomplete when it is finished. */
struct recording *recording_open(const char *path, const struct part *part, struct view *view);

/* The account is valid until the next call; NULL: there are no more. */
const struct account *recording_next(struct recording *r, uint32_t *index);
void recording_finish(struct recording *r); /* reads what is left */
void recording_close(
	struct recording *r); /* what the view points to goes; view_free before or after */

#endif
