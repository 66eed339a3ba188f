/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a machine: a flat set of named texts, as they were read. A live run and a recording
 * hold the same set, so conclusions from facts can be drawn anywhere.
 *
 * A fact's name is the file's path without the leading slash, "proc/irq/36/smp_affinity_list";
 * facts that are no file begin with "run/". A fact has bytes or an error, never a guess: absent
 * (-ENOENT) and unreadable (-EACCES, ...) stay apart from empty.
 */
#ifndef CULPRIT_FACTS_H
#define CULPRIT_FACTS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cpus.h"
#include "base/numbers.h"

#define FACT_MAX       (64u << 10) /* bytes of one text */
#define FACTS_MAX      (1u << 16)  /* facts of a set */
#define FACTS_ALL_MAX  (16u << 20) /* bytes of a set's names and texts together */
#define FACT_NAME_MAX  4096
#define FACT_TOO_LONG  (-EFBIG)   /* the text is the first FACT_MAX bytes of a longer one */
#define FACT_FOREIGN   (-EREMOTE) /* not read: a network namespace's, perhaps not the machine's */
#define FACT_NOT_TAKEN (-EAGAIN)  /* not read, because reading it disturbs CPUs */
/* The name is a glob, or the begin of names up to a slash: of these files not all are here, for
 * they were too many. */
#define FACT_NOT_KEPT (-ENOSPC)

struct fact {
	char *name;
	char *text;   /* any bytes, and a NUL after them; never NULL */
	uint32_t len; /* without that NUL */
	int err;      /* 0 or -errno; with FACT_TOO_LONG it has text all the same */
};

struct facts {            /* all zeros: the empty set */
	struct fact *row; /* by name, strcmp's order */
	uint32_t count, room;
	size_t bytes;
};

struct conditions;

/* Answers of the facts, for advice on many sources: advise() fills it. */
struct threads_told {
	bool read;            /* false: nobody looked yet */
	bool systemd;         /* true: it can give a unit CPUs */
	struct cpus deadline; /* on which a user's thread of SCHED_DEADLINE may run */
	struct thread_told {
		uint32_t id;
		uint32_t rest; /* 1 + index of the other CPUs that it may run on, where these are
				  to be quiet, too: its workload's own; else 0 */
	} * movable;           /* threads that may leave the run's CPUs, ascending; owned */
	size_t nmovable, room;
	struct real_time_told {
		uint32_t id;
		uint8_t policy, priority;
		uint64_t comm; /* hash of its name */
	} * real_time;         /* users' real-time threads, ascending; owned */
	size_t nreal_time, real_time_room;
	struct cpus *rests; /* owned */
	uint32_t nrests, rests_room;
	struct numbers ended;          /* FACT_ENDED */
	struct conditions *conditions; /* audit/remedy.h; owned */
};

/* Adds a copy; it replaces a fact of the same name. A text over FACT_MAX is cut and gets
 * FACT_TOO_LONG. 0; -EINVAL for an empty or too long name; -ENOSPC when the set is full, -ENOMEM:
 * the set is unchanged. */
int facts_add(struct facts *f, const char *name, int err, const void *text, size_t len);
/* Removes those for which keep says no; it may shorten their text. */
void facts_keep(struct facts *f, bool (*keep)(struct fact *x));
void facts_free(struct facts *f); /* frees its contents; it is empty then */
void threads_told_free(struct threads_told *t);

const struct fact *facts_find(const struct facts *f, const char *name); /* NULL: nobody read it */

/* The FACT_NOT_KEPT that this name would be among; NULL: none. */
const struct fact *facts_not_kept(const struct facts *f, const char *name);

/* Facts that are known only when a window ends: numbers of the report's threads that no longer
 * exist, with a blank behind each. Absent: nobody has looked. */
#define FACT_ENDED "run/ended"

/* False where at most that is there: how the machine is set up was not read. */
bool facts_taken(const struct facts *f);

/* Facts whose name matches a glob, in order; an asterisk stands for any bytes but a slash.
 * FACT_NOT_KEPT is none of them. Begin
 * with after = NULL:
 *	for (const struct fact *x = facts_next(f, glob, NULL); x; x = facts_next(f, glob, x)) */
const struct fact *facts_next(const struct facts *f, const char *glob, const struct fact *after);

/* Text of a fact that was read, as a C string (a NUL in it ends it); NULL when it is missing or has
 * an error. */
const char *facts_text(const struct facts *f, const char *name);

#endif
