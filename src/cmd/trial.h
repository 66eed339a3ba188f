/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One try: windows without and with the fixes, in turn, and what they differ in. */
#ifndef CULPRIT_TRIAL_H
#define CULPRIT_TRIAL_H

#include "cmd/measure.h"
#include "collect/guardian.h"
#include "model/tried.h"
#include "model/trigger.h"

/* A trial of the planned fixes: writes the journal in `dir`, which is locked, and starts the
 * guardian. NULL with the reason said: then nothing is changed.
 *
 * trial_run measures t->windows windows of t->window_ns of each side into a recording, and compares
 * them. When it returns the knobs are as they were, unless t->kept: `keep` asks for that, where the
 * fixes help. Where they are lost meanwhile, to somebody else or with their thread or file, it ends
 * early, without the windows in which that may have been. Fills the rest of t. Returns the exit
 * code, with the reason said; *views, which t->diff points to, are freed by trial_free. */
struct trial;
struct trial *trial_new(struct tried *t, const struct measure *m, const char *dir,
			const char *boot);
void trial_again(struct trial *r); /* another measurement follows: all rights are kept */
int trial_run(struct trial *r, bool keep);
void trial_free(struct trial *r); /* NULL: nothing */

/* Measures for so long without changing anything, into v, whose host has been read; goal: triggers
 * that hear it, NULL: none. Its window opens when --begin says; the next ones then follow, as m
 * says no more of that. Returns the exit code: EXIT_INCOMPLETE, with the reason said, also where a
 * signal ended it. */
int trial_look(struct view *v, struct measure *m, uint64_t duration_ns, struct triggers *goal);

#endif
