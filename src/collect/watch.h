/* A live watch: the probes follow threads of the user's on any CPU, and this process reads them
 * from the housekeeping CPUs. The same steps as in collect.h, without samplers.
 */
#ifndef CULPRIT_COLLECT_WATCH_H
#define CULPRIT_COLLECT_WATCH_H

#include "collect/probes.h"
#include "model/session.h"

struct watch_options {
	struct watched threads;
	/* process whose own reports of lateness are read as well (src/culprit.h); 0: none */
	int32_t pid;
	struct cpus cpus;         /* CPUs on which the threads may run */
	struct cpus housekeeping; /* for this process; empty: it stays where it is */
	uint64_t threshold_ns;    /* shorter losses are left out */
	bool spans;               /* as in collect.h */
	const struct tap *tap;
	/* called with each hiccup; NULL: none */
	void (*hear)(void *ctx, uint32_t lane, const struct account *a);
	void *ctx;
};

struct live_watch;

/* The caller has read view->host. Fills the rest, which stays the caller's. NULL with the reason
 * said. */
struct live_watch *watch_open(const struct watch_options *options, struct view *view);
void watch_begin(struct live_watch *w);
bool watch_poll(struct live_watch *w); /* false: the watched process has ended */
void watch_end(struct live_watch *w);  /* completes the view */
void watch_close(struct live_watch *w);

#endif
