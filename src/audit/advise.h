/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice on a source: what to do, with this machine's numbers in the command: placeholders.h. */
#ifndef CULPRIT_ADVISE_H
#define CULPRIT_ADVISE_H

#include "audit/book.h"
#include "model/view.h"

/* Bytes of a list of CPUs in advice, at most: each source has one. A machine with 1,000 CPUs of
 * which every second one is listed needs as many. */
#define ADVICE_LIST 2048

/* Gives each source of the view its cause and advice, and sets view->advised. Where a name alone
 * means several things, its neighbours, the tick's table, the steal clock and the SMI count decide.
 * Call it when the view is complete, as often as the view changes. 0 or -ENOMEM. */
int advise(struct view *v);

/* The same for one source of the lane with this index, without the rest of the view. */
int advise_source(struct view *v, uint32_t lane, struct source *s);

/* Fills view->told, once for all sources. 0 or -ENOMEM. */
int advise_threads(struct view *v);
/* The thread, when it was there before the window's end and may leave the run's CPUs; else NULL. */
const struct thread_told *advise_movable(const struct view *v, uint32_t id);
/* The source's thread as it was before the window, where that is a user's real-time thread of this
 * name; else NULL. */
const struct real_time_told *advise_real_time(const struct view *v, const struct source *s);
/* Sets *others to the rest of where the thread may run, when that is its own workload's: it is not
 * sent away from there. */
void advise_own(const struct view *v, uint32_t id, struct cpus *others);

/* The same for a source of kind SOURCE_HOST, once the host's view is advised. */
int advise_host(const struct view *v, struct source *s);

/* The same for a row of an owner's threads. */
int advise_owner(const struct view *v, struct source *s);

/* The CPUs that can take over the work of the measured ones; where the cause's advice is on a
 * single thread or interrupt, those on which culprit itself ran. c may be NULL. */
struct cpus advise_others(const struct view *v, const struct cause *c);

#endif
