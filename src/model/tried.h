/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of trying fixes on a machine: the settings that were changed, and their effect. */
#ifndef CULPRIT_TRIED_H
#define CULPRIT_TRIED_H

#include "model/diff.h"
#include "model/knob.h"

#define TRIED_FIXES 8
#define TRIED_WHY   512

/* Said where threads were moved: no undo brings this back. */
#define TRIED_CHILDREN "what the moved threads have started meanwhile keeps the CPUs of the fix"
#define TRIED_OFFLINE  " whose CPUs lack some that are offline"

enum tried_verdict {
	TRIED_NOT,     /* nothing was measured: --dry-run, or it was cut short */
	TRIED_ABSENT,  /* the sources did not come in any window: nothing can be said */
	TRIED_HELPS,   /* the sources take less time, and all hiccups together do not take more */
	TRIED_NOTHING, /* no change that is more than chance */
	TRIED_HARMS,   /* the sources take more, or all hiccups together do */
	TRIED_VERDICTS,
};

struct tried_fix {
	const char *id, *title; /* the cause's, static */
	/* The thread's or interrupt's number that it is about; 0: all sources of the cause. */
	uint32_t number;
	unsigned lag_s; /* time after an undo for which the kernel may go on with it */
};

struct tried {
	const struct host *host;
	const struct cpus *cpus; /* measured */
	struct tried_fix fix[TRIED_FIXES];
	uint32_t nfixes;
	struct knobs knobs; /* settings that they change; also those that an earlier try has kept */
	bool in_turn;       /* the windows with and without alternate */
	uint32_t windows;   /* number of windows of each side */
	uint64_t window_ns; /* length of one */
	const struct diff *diff;            /* A is without, B with them; NULL: not measured */
	struct diff_cell asked[DIFF_FILES]; /* all sources of the causes together */
	enum tried_verdict verdict;
	bool dry;  /* only what would be done is to be told */
	bool kept; /* the fixes were left in force */
	/* Settings that were not put back: those that somebody else has set meanwhile, and those
	 * whose files or threads have gone. */
	uint32_t others, gone;
	uint32_t offline; /* threads that may run where before, but for CPUs that are offline */
	/* Putting back failed, or was not done by who had to: what is as it was is not known. */
	bool stuck;
	bool whole; /* all windows that were wanted are there */
	/* Reason why it ended early, "SIGINT came", unescaped; "": it did not, or that has been
	 * said otherwise. */
	char cut[TRIED_WHY];
	bool lost; /* because of its settings: another try may do */
};

const char *tried_verdict_name(enum tried_verdict verdict); /* "helps" */

/* True when one of them is the CPUs of a thread; all: also of those that an earlier try has kept.
 */
bool tried_moves_threads(const struct knobs *k, bool all);

/* By the diff and the asked cell. */
enum tried_verdict tried_judge(const struct tried *t);

#endif
