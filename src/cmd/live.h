/* A live run as run and record do it: the window, its progress line, its hiccups one by one, its recording. */
#ifndef CULPRIT_LIVE_H
#define CULPRIT_LIVE_H

#include "cmd/measure.h"
#include "recording/write.h"

struct live {
	const struct measure *measure;
	struct view *view;           /* its host has been read */
	const char *record_to;       /* a recording; NULL: none */
	bool force;                  /* overwrite it */
	struct recorder_stats stats; /* of the recording, at the end */
	void *ctx;                   /* for these: */
	void (*begin)(void *ctx);    /* the window has opened; may be NULL */
	/* Each hiccup (NULL: not wanted), and what to do after some have come: false ends the window. */
	void (*hiccup)(void *ctx, uint32_t index, const struct account *a);
	bool (*flush)(void *ctx);
	int (*end)(void *ctx); /* the view is complete: returns the exit code */
};

int live_run(struct live *l); /* the exit code */

#endif
