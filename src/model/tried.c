/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tried.h"

const char *tried_verdict_name(enum tried_verdict verdict)
{
	static const char *const names[TRIED_VERDICTS] = {
		[TRIED_NOT] = "not measured", [TRIED_ABSENT] = "absent",
		[TRIED_HELPS] = "helps",      [TRIED_NOTHING] = "no effect seen",
		[TRIED_HARMS] = "harms",
	};

	return names[verdict];
}

bool tried_moves_threads(const struct knobs *k, bool all)
{
	for (uint32_t i = 0; i < k->count; i++)
		if (k->row[i].kind == KNOB_THREAD && (all || !k->row[i].kept))
			return true;
	return false;
}

enum tried_verdict tried_judge(const struct tried *t)
{
	enum diff_verdict asked = t->asked[1].verdict;

	if (!t->diff)
		return TRIED_NOT;
	if (!t->asked[0].count && !t->asked[1].count)
		return TRIED_ABSENT;
	if (t->diff->total[1].verdict == DIFF_WORSE || asked == DIFF_WORSE || asked == DIFF_NEW)
		return TRIED_HARMS;
	return asked == DIFF_GONE || asked == DIFF_BETTER ? TRIED_HELPS : TRIED_NOTHING;
}
