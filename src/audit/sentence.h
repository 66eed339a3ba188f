/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the verdict's sentence: what took the time, why, and what to do about it. */
#ifndef CULPRIT_SENTENCE_H
#define CULPRIT_SENTENCE_H

#include "model/view.h"

struct sentence {
	char *buf; /* a string of at most `len` bytes; what does not fit is cut off */
	size_t len;
};

enum group { TICK, THROTTLED, OUTSIDE, LOST, HOST, GROUPS };

/* The source that took most of some time. */
struct most {
	const struct source *source; /* the source that took most of it */
	enum group group;            /* GROUPS: one source alone */
	uint64_t ns;
	bool summed; /* ns is of all sources of the group together */
	bool many;   /* the sentence is about several CPUs: leaves out what only one of them has */
};

/* The group of sources that the verdict adds up; GROUPS: none. */
enum group group_of(const struct source *s);

__attribute__((format(printf, 2, 3))) void sentence_add(struct sentence *s, const char *fmt, ...);

/* "IRQ 36 (virtio1-req.0)", "the kernel thread [kworker/3:1] [812] > vmstat_update"; unescaped. */
void sentence_source(struct sentence *out, const struct source *s);

/* Restricts "is quiet" to what is known; "" where all of it is. */
const char *sentence_quiet(const struct view *v);
/* Restricts what the sentence says, if anything, to what a recording with holes tells. */
void sentence_hedge(struct sentence *s, const struct view *v);
/* Adds that n hiccups came faster than they could be read, nothing where n is 0. ns: their time; 0:
 * it is not known. */
void sentence_unread(struct sentence *out, uint64_t n, uint64_t ns);

/* Says what took most of a lane's time, why, and what to do. i: index of the lane. */
void sentence_most(struct sentence *out, const struct view *v, uint32_t i, const struct most *m);

#endif
