/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that earlier tries have left in force, by the journal. */
#ifndef CULPRIT_CMD_UNDO_H
#define CULPRIT_CMD_UNDO_H

#include "collect/journal.h"

/* Puts back all of it, and says what it did. Returns the exit code. */
int undo_all(const char *dir);

/* Takes the lock of the journal's directory for new tries, and the boot's id. The lock's
 * descriptor, for journal_unlock, or -1 with the reason said: also where an earlier try could not
 * put things back. */
int undo_begin(const char *dir, char boot[BOOT_ID]);

/* Adds the settings that earlier tries have kept in force. The directory is locked. 0 or -1 with
 * the reason said. */
int undo_kept(const char *dir, struct knobs *k);

#endif
