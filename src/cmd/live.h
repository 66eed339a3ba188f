/* A live run as run and record do it: the window, its progress line, its hiccups one by one, its
 * recording. */
#ifndef CULPRIT_LIVE_H
#define CULPRIT_LIVE_H

#include "cmd/limits.h"
#include "cmd/measure.h"
#include "cmd/output.h"
#include "recording/write.h"

struct live {
	const struct measure *measure;
	struct view *view;               /* its host has been read */
	const struct workload *workload; /* instead of spinning; NULL: spin */
	const void *workload_options;
	bool spans;                  /* as collect.h's */
	const char *record_to;       /* a recording; NULL: none */
	bool force;                  /* overwrite it */
	struct recorder_stats stats; /* of the recording, at the end */
	void *ctx;                   /* for these: */
	void (*begin)(void *ctx);    /* the window has opened; may be NULL */
	/* Each hiccup (NULL: not wanted), and what to do after some have come: false ends the
	 * window. */
	void (*hiccup)(void *ctx, uint32_t index, const struct account *a);
	bool (*flush)(void *ctx);
	uint64_t every_ns; /* so often, and when the window has opened: */
	void (*snapshot)(
		void *ctx);    /* the view is as of now, see collect_snapshot; NULL: not wanted */
	int (*end)(void *ctx); /* the view is complete: returns the exit code */
};

int live_run(struct live *l); /* the exit code */

/* The options of commands that measure a workload, and what they have in common. */
struct bench {
	struct measure measure;
	struct output output;
	struct limits limits;
	const char *record, *label;
	bool force;
	int (*report)(struct bench *b,
		      struct view *v); /* instead of bench_report, which it may call; NULL: that */
};

/* Rows of option tables: of a struct bench all that a workload's command has beside the workload's
 * own; and those for a recording of it, which a table of another struct can have, too. */
extern const struct opt bench_opts[], bench_record_opts[];

int bench_report(struct bench *b, struct view *v); /* the exit code */

/* Measures the workload and writes the report. Returns the exit code. */
int bench_run(struct bench *b, const struct workload *workload, const void *workload_options);

#endif
