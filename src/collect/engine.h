/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An engine measures live into a view: samplers and probes on target CPUs (collect.h), or probes
 * that follow the user's threads (watch.h). Call in this order, close alone at any point:
 *
 *   open       switches on all that it needs and settles, long before the window
 *   begin      opens the window
 *   poll       takes what has come; call it every few milliseconds
 *   snapshot   fills the view as of now, while the run goes on
 *   end        closes the window and completes the view
 *   close      switches everything off again
 */
#ifndef CULPRIT_ENGINE_H
#define CULPRIT_ENGINE_H

#include "model/session.h"

/* The parts of a run. */
struct engine_hooks {
	const struct tap *tap; /* hears what the session is given; NULL: none */
	bool spans;            /* record spans in accounts and the worst hiccups */
	/* Called with each hiccup when it is in the view, in order of time for each CPU or thread;
	 * the account is valid until it returns. NULL: none. Called by poll and end. */
	void (*hear)(void *ctx, uint32_t index, const struct account *a);
	void *ctx;
	const volatile int *stop; /* open checks it while it waits: nonzero, it gives up quietly */
};

struct engine {
	/* options: the engine's own. The caller has read view->host; the rest of the view is filled
	 * and stays the caller's (view_free). NULL with the reason said. */
	void *(*open)(const void *options, const struct engine_hooks *hooks, struct view *view);
	int (*begin)(void *run); /* 0, or -1 with the reason said */
	bool (*poll)(void *run); /* false: there is nothing left to measure */
	/* The intervals of a CPU's hiccups that have been accounted for, for the caller to take;
	 * NULL: the options do not ask for them. */
	struct intervals *(*intervals)(void *run, uint32_t index);
	/* Call it after poll, so that hiccups and time belong together. */
	void (*snapshot)(void *run);
	void (*end)(void *run);
	int (*close)(void *run); /* 0, or -1 with the reason said: something stays as it was made */
};

#endif
