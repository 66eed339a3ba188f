/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal: all that a try of a fix has changed, on disk, so that it can be put back when no
 * process of the try is left. It is written whole, synced and renamed into place before the first
 * knob is turned, removed when all is back. It is only root's: a directory of mode 0700 and a file
 * of mode 0600.
 *
 * Text, one thing a line; all but letters, digits and ._/:,+@- of a name is %XX:
 *
 *	culprit try 1
 *	boot 7c5c6a35-...
 *	knob file 0 =/proc/sys/vm/stat_interval =1 =120 =120
 *	knob thread 1 61 42 =kswapd0 =0-3 =0 -
 *	knob file 0 =/sys/kernel/rcu_normal =0 =1 unturned
 *	end
 *
 * The last word is what the kernel made of the new value; -: not known, perhaps it was not written;
 * unturned: the fix was never in force.
 */
#ifndef CULPRIT_COLLECT_JOURNAL_H
#define CULPRIT_COLLECT_JOURNAL_H

#include <stdbool.h>
#include "model/knob.h"

#define JOURNAL_DIR "/var/lib/culprit"
#define BOOT_ID     64

/* Makes the directory if need be, and takes its lock, which ends with the descriptor and its copies
 * in children. wait: for up to two seconds. The descriptor, or -1 with the reason said. */
int journal_lock(const char *dir, bool wait);
/* Removes the directory if nothing is in it, and gives the lock back. */
void journal_unlock(const char *dir, int lock);

/* 0, or -1 with the reason said. */
int journal_write(const char *dir, const char *boot, const struct knobs *k);
int journal_remove(const char *dir);

/* Keeps the journal, which is damaged, under a second name, in place of an older one; writes that
 * name to kept. 0, or -1 with the reason said. */
int journal_keep(const char *dir, char *kept, size_t len);

/* The recording of the windows, beside the journal: its name, and its removal. Returns buf. */
char *journal_recording(const char *dir, char *buf, size_t len);
void journal_scrap(const char *dir);

enum journal_state {
	JOURNAL_BAD = -1, /* with the reason said */
	JOURNAL_NONE,
	JOURNAL_WHOLE,
	JOURNAL_CUT, /* damaged, or the end is missing: what is there is taken */
};

/* Adds its knobs to k, and writes the boot id that it is of. One that is cut before that
 * id is JOURNAL_BAD; lines that a try would not have written so are passed over. */
enum journal_state journal_read(const char *dir, char boot[BOOT_ID], struct knobs *k);

/* The running kernel's boot id. 0, or -1 with the reason said: it is not known. */
int journal_boot(char boot[BOOT_ID]);

#endif
