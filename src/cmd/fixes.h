/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fixes that culprit try tries, and the settings that they change here. */
#ifndef CULPRIT_FIXES_H
#define CULPRIT_FIXES_H

#include "cmd/measure.h"
#include "model/tried.h"

/* A fix that was asked for: "K09", or with the number of a thread or an interrupt "K34:812". */
struct wish {
	const struct cause *cause;
	uint32_t number; /* 0: not given */
};

/* 0, or -1 with the reason said. */
int fixes_parse(char *const *words, int n, struct wish *wish, uint32_t *count);

/* True where only a measurement tells what to change: no fix was named, or one that is about a
 * thread or an interrupt, without its number. */
bool fixes_need_view(const struct wish *wish, uint32_t n);

/* Fills t->fix and adds what they change on t->host to t->knobs. view: measured, for what was not
 * named; NULL: none. most: of fixes that nobody named. 0, or -1 with the reason said: a fix cannot
 * be tried, is not culprit's to change, or there is none. */
int fixes_plan(struct tried *t, const struct wish *wish, uint32_t n, struct view *view,
	       const struct measure *m, uint32_t most);

/* A choice of fixes. */
struct fixes_choice {
	const struct wish *only; /* these; without a number all of the cause; none: all */
	uint32_t nonly;
	const struct wish *done; /* these are left out */
	uint32_t ndone;
};

/* Plans the fix of the source that takes most time in the view, of those that may be chosen, as
 * *which. 0; 1: none is left; -EPERM: it cannot be tried here, and why[KNOB_WHY] says the reason;
 * -ENOMEM. */
int fixes_next(struct tried *t, struct view *view, const struct measure *m,
	       const struct fixes_choice *choice, struct wish *which, char *why);

/* True when one of the fixes is meant for this source. */
bool fixes_meant(void *tried, const struct view *v, const struct source *s);

#endif
