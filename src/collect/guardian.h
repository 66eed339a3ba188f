/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guardian: a process of its own that turns the knobs of a try and turns them back, also when
 * the process that tries is no longer there to ask for it: killed, crashed, or stopped for longer
 * than it said. It waits in poll(2) on that process's pidfd, in a session of its own, and is not
 * ended by the signals of a terminal or a manager but SIGKILL; stopped, it goes on when it is told
 * something, and when the other has ended. Where it is the one that was killed, the other turns the
 * knobs back; where both were, the journal is left for the next.
 */
#ifndef CULPRIT_COLLECT_GUARDIAN_H
#define CULPRIT_COLLECT_GUARDIAN_H

#include "base/cpus.h"
#include "collect/journal.h"

struct guardian;

/* Forks it, on these CPUs. knobs: owned by the caller, must live until guardian_end; those that are
 * kept already are left alone. The journal has been written, and its directory is locked: the
 * guardian has the lock, too. NULL with the reason said. */
struct guardian *guardian_start(struct knobs *knobs, const char *dir, const char *boot,
				const struct cpus *housekeeping);

enum turned {
	TURNED,
	TURNED_LOST,    /* a file or a thread has gone, or somebody else has set it: `why` */
	TURNED_REFUSED, /* by the kernel: `why` */
	TURNED_ERROR,   /* no guardian, or no journal: the reason has been said */
};

/* Turns all knobs on, or back; for_ns: if it hears nothing for so long it turns them back and ends.
 * Unless they are TURNED, all has been turned back, as far as that could be done. why[KNOB_WHY] */
enum turned guardian_turn(struct guardian *g, bool on, uint64_t for_ns, char *why);

bool guardian_lives(const struct guardian *g);

/* Numbers of knobs that were to be turned back. */
struct guardian_sum {
	uint32_t back;    /* as they were */
	uint32_t offline; /* those of `back` that lack CPUs which are offline */
	uint32_t gone;    /* file or thread is no longer there */
	uint32_t others;  /* changed by somebody else since: left alone */
	uint32_t said;    /* those that a line was said of */
};

/* Turns them back, or leaves them as they are and says so in the journal, and frees it; without the
 * journal if nothing is left to be undone. Fills sum. NULL: nothing. 0, or -1 with the reason said:
 * then nothing was left in force, as far as that could be done. */
int guardian_end(struct guardian *g, bool keep, struct guardian_sum *sum);

/* Turns back all knobs that are not kept (or all of them), the last one first, and those that could
 * be turned back leave the set. The journal becomes what is left of it. Fills sum (NULL: not
 * wanted), and says what could not be done. Returns how many could not. */
uint32_t guardian_restore(struct knobs *k, const char *dir, const char *boot, bool all,
			  struct guardian_sum *sum);

#endif
