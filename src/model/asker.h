/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Askers: who asked for what a source ran, from the askers in the records.
 *
 * Each source keeps ASKERS_MAX askers apart. One more takes the place of the least frequent, and
 * may have come, unseen, as often as that one. So any asker of more than one in ASKERS_MAX
 * requests is among them (space saving, Metwally et al. 2005). A count is what was seen for
 * certain; where `missed` is not 0 the truth may be that much higher.
 */
#ifndef CULPRIT_ASKER_H
#define CULPRIT_ASKER_H

#include <stdbool.h>
#include <stdint.h>
#include "model/names.h"
#include "record.h"

#define ASKERS_MAX   32
#define ASKER_FRAMES 24 /* frames kept of a stack, the innermost */

enum asker_kind {
	ASKER_UNKNOWN,
	ASKER_INTERRUPT,
	/* the raiser is not known: an interrupt, a thread, or ksoftirqd after a delay */
	ASKER_SOFTIRQ,
	ASKER_THREAD,
};

/* An asker. Stays true when its row goes to another asker: keep a copy. */
struct asker {
	enum asker_kind kind;
	uint32_t tid; /* number of the thread; 0: the idle thread */
	uint16_t cpu;
	bool host;     /* true: it asked on the host, whose cpu and tid these are */
	char comm[17]; /* name of the thread; "(interrupt)", "(softirq)" */
	/* Control group of the thread (0: not known), and what names->owner says of it: belongs to
	 * the names; NULL: not known. */
	uint32_t cgroup;
	const char *owner;
	uint32_t process; /* a source's process and command line, in the same way */
	const char *command;
	/* Number of the user stack from which it asked (0: none is known, or of several); ways have
	 * its calls (calls.h) when the session has finished: belong to the names; NULL: not known.
	 */
	uint32_t user;
	const char *calls;
	/* The function behind the request; belongs to the names; NULL: not known. */
	const char *function;
};

/* A request as it was recorded. */
struct asker_last {
	int32_t stack;
	uint32_t tid;
	uint64_t site; /* call site, or OWNER */
	uint8_t context;
	bool user; /* with a user stack, which a way has */
	char comm[16];
};

struct asker_row {
	struct asker who;
	struct asker_last last; /* the newest such request */
	uint64_t count;         /* requests, no more than the truth */
	uint64_t missed;        /* the truth is at most this much higher */
	/* Frames of the first such request; owned, but by names that keep them as long as the view.
	 */
	int nframes;
	bool kept;
	const char *const *frame;
	/* The same requests by user stack, where one is known; else equal in `who`. Owned; NULL:
	 * none is known, and none in a way. */
	struct askers *ways;
};

#define ASKERS_NEAR 64 /* a power of two */

struct askers {                /* all zeros: nobody asked */
	struct asker_row *row; /* owned, as many as there are: most sources have one or two */
	/* 1 + the row that a request with this hash had last; a hint, looked at first. Owned; NULL
	 * while there are few rows. */
	uint8_t *near;
	uint32_t count, room;
	bool full;        /* no memory was left for more rows */
	uint64_t known;   /* requests that were noted */
	uint64_t unnamed; /* those of them whose asker is not known */
};

/* r is a mark with RECORD_ASKED. Returns who asked, until the next call; NULL: not known. */
const struct asker *askers_add(struct askers *o, const struct record *r, const struct names *names);

/* The same for an asker that is known already. */
void askers_note(struct askers *o, const struct asker *who);

/* Writes the indices of the n most frequent rows to order[n]; returns how many there are. */
uint32_t askers_top(const struct askers *o, uint32_t *order, uint32_t n);

/* The most frequent way of a row's requests; NULL: none is known. */
const struct asker_row *asker_way(const struct asker_row *row);

/* Makes one of ways with the same calls, when those are known. */
void asker_ways_join(struct asker_row *row);

/* "an interrupt", "a softirq"; NULL: a thread, which has a name. */
const char *asker_context(const struct asker *a);

/* Moves all of `from`, of another row of the same table of sources. */
void askers_merge(struct askers *o, struct askers *from);

void askers_clear(struct askers *o); /* frees what they hold: nobody asked */

#endif
