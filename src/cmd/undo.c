/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/undo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "collect/guardian.h"
#include "model/tried.h"

static void say_undone(const struct guardian_sum *s, bool moved)
{
	printf("put back: %u setting%s\n", s->back, plural(s->back));
	if (s->offline)
		printf("of these, %u %s" TRIED_OFFLINE "\n", s->offline,
		       s->offline == 1 ? "is of a thread" : "are of threads");
	if (s->others)
		printf("left as somebody else has set them: %u\n", s->others);
	if (s->gone)
		printf("no longer there: %u\n", s->gone);
	if (moved)
		printf(TRIED_CHILDREN "\n");
}

static int say_nothing(void)
{
	printf("no try has left anything to be put back\n");
	return EXIT_OK;
}

/* As journal_read, without what was not turned: that is as it was, or as somebody else has set it
 * since. */
static enum journal_state read_turned(const char *dir, char boot[BOOT_ID], struct knobs *k)
{
	enum journal_state state = journal_read(dir, boot, k);

	for (uint32_t i = k->count; i-- > 0;)
		if (!k->row[i].turned)
			knobs_remove(k, i);
	return state;
}

int undo_all(const char *dir)
{
	char boot[BOOT_ID], now[BOOT_ID], kept[PATH_MAX];
	struct knobs k = {0};
	struct guardian_sum sum;
	enum journal_state state;
	int lock, code = EXIT_ERROR;
	bool moved;

	/* nor is it made: where it would be there may be no directory, or none to write in */
	if (access(dir, F_OK) && errno == ENOENT)
		return say_nothing();
	lock = journal_lock(dir, true);
	if (lock < 0)
		return EXIT_ERROR;
	journal_scrap(dir);
	state = read_turned(dir, boot, &k);
	moved = tried_moves_threads(&k, true);
	if (state > JOURNAL_NONE && journal_boot(now))
		state = JOURNAL_BAD;
	if (state == JOURNAL_NONE) {
		code = say_nothing();
	} else if (state != JOURNAL_BAD && strcmp(boot, now)) {
		printf("the machine was rebooted since: what a try had changed ended with "
		       "that\n");
		code = journal_remove(dir) ? EXIT_ERROR : EXIT_OK;
	} else if (state != JOURNAL_BAD) {
		bool is_kept = state == JOURNAL_CUT && !journal_keep(dir, kept, sizeof(kept));

		code = guardian_restore(&k, dir, boot, true, &sum) ? EXIT_ERROR : EXIT_OK;
		if (code == EXIT_OK)
			say_undone(&sum, moved);
		if (state == JOURNAL_CUT) {
			complain("%s/try.journal was damaged: what else it said may still be "
				 "set%s%s%s",
				 dir, is_kept ? "; it is kept as " : "", is_kept ? kept : "",
				 is_kept ? ": look at it, then remove it" : "");
			code = EXIT_ERROR;
		}
	}
	knobs_free(&k);
	journal_unlock(dir, lock);
	return code;
}

int undo_begin(const char *dir, char boot[BOOT_ID])
{
	struct knobs k = {0};
	int lock = journal_lock(dir, false);
	enum journal_state state;
	char old[BOOT_ID];
	bool undone = true;

	if (lock < 0)
		return -1;
	journal_scrap(dir);
	state = journal_boot(boot) ? JOURNAL_BAD : read_turned(dir, old, &k);
	if ((state == JOURNAL_WHOLE || state == JOURNAL_CUT) && strcmp(old, boot)) {
		say("what an earlier try had changed ended with a reboot");
		state = journal_remove(dir) ? JOURNAL_BAD : JOURNAL_NONE;
	}
	/* nobody knows what else a damaged one said */
	for (uint32_t i = 0; i < k.count && state == JOURNAL_WHOLE; i++)
		undone &= k.row[i].kept;
	if (state == JOURNAL_CUT || !undone) {
		complain("what an earlier try has changed may not be back yet: run culprit try "
			 "--undo first");
		state = JOURNAL_BAD;
	}
	knobs_free(&k);
	if (state != JOURNAL_BAD)
		return lock;
	journal_unlock(dir, lock);
	return -1;
}

int undo_kept(const char *dir, struct knobs *k)
{
	char boot[BOOT_ID];

	return read_turned(dir, boot, k) == JOURNAL_BAD ? -1 : 0;
}
