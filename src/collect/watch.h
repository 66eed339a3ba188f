/* A live watch: the probes follow threads of the user's, on whatever CPU they are, and this process
 * reads them from the housekeeping CPUs. The same steps as collect.h's, without samplers.
 */
#ifndef CULPRIT_COLLECT_WATCH_H
#define CULPRIT_COLLECT_WATCH_H

#include "collect/probes.h"
#include "model/session.h"

struct watch_options {
	struct watched threads;
	int32_t pid; /* its own reports of lateness are read as well (src/culprit.h); 0: none are */
	struct cpus cpus;         /* where they may run */
	struct cpus housekeeping; /* for this process; empty: it stays where it is */
	uint64_t threshold_ns;    /* shorter losses are left out */
	bool spans;               /* as collect.h's */
	const struct tap *tap;
	void (*hear)(void *ctx, uint32_t lane, const struct account *a); /* each hiccup; NULL */
	void *ctx;
};

struct live_watch;

/* view->host has been read; the rest is filled in here, and stays the caller's. NULL with the
 * reason said. */
struct live_watch *watch_open(const struct watch_options *options, struct view *view);
void watch_begin(struct live_watch *w);
bool watch_poll(struct live_watch *w); /* false: the watched process has ended */
void watch_end(struct live_watch *w);  /* the view is complete */
void watch_close(struct live_watch *w);

#endif
