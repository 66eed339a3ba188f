/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns knobs of the running kernel, and turns them back (model/knob.h).
 *
 * No shell is involved, and names of the machine are nothing but names of files. `root` is put
 * before all paths: "" for the machine, a directory for tests. Functions that fail write the reason
 * to why[KNOB_WHY], unescaped.
 */
#ifndef CULPRIT_COLLECT_KNOBS_H
#define CULPRIT_COLLECT_KNOBS_H

#include <stddef.h>
#include "base/cpus.h"
#include "model/knob.h"

#define KNOB_WHY 512

/* Adds what this knob is made of, with what is set now, and changes nothing. path: for KNOB_FILES a
 * glob. value: of KNOB_FEATURE one word or more. tid: of KNOB_THREAD. Left out is what is set so
 * already; masks of CPUs are compared without the zeros before them, and those of threads without
 * CPUs that are offline. 0, -1: it cannot be done here. */
int knobs_plan(struct knobs *k, const char *root, enum knob_kind kind, const char *path,
	       const char *value, unsigned tid, char *why);

enum knob_set {
	KNOB_SET,
	KNOB_LOST,    /* gone, or changed by somebody else since, which is left alone: `why` */
	KNOB_NOT_SET, /* the kernel refuses it, or leaves it as it was: `why` */
};

/* Sets a knob, and reads back what the kernel made of it into `now`. */
enum knob_set knob_apply(struct knob *k, const char *root, char *why);

enum knob_back {
	KNOB_BACK, /* all is as it was, or was it already */
	/* As before are the CPUs of a thread, without some that are offline, and they may stay away
	 * when these are online again: `why` */
	KNOB_OFFLINE,
	KNOB_GONE,    /* the file or the thread is no longer there: `why` */
	KNOB_OTHERS,  /* somebody else has changed it since: it was left alone: `why` */
	KNOB_REFUSED, /* `why` */
};

/* Puts back what was there, and reads it again to make sure. One that was not turned is left as it
 * is. Where the kernel makes something else of it, that becomes `now`. */
enum knob_back knob_restore(struct knob *k, const char *root, char *why);

/* The name of somebody who sets such knobs by himself and would fight about this one, "irqbalance";
 * NULL: nobody runs. */
const char *knob_rival(const struct knob *k, const char *root);

#endif
