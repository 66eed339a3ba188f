/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff_kind.h"

#include <string.h>

#include "base/say.h"

const char *diff_kind(const struct view *v)
{
	return v->run.sums      ? "of watch --sums"
	       : v->run.watch   ? "of watch"
	       : v->run.windows ? "of a workload"
				: "of run";
}

bool diff_kinds_alike(const char *const *path, const struct view *view, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (!strcmp(diff_kind(&view[i]), diff_kind(&view[0])))
			continue;
		complain("%s: a recording %s, but %s is one %s: they do not lose the same time; "
			 "compare recordings of one kind",
			 path[i], diff_kind(&view[i]), path[0], diff_kind(&view[0]));
		return false;
	}
	return true;
}
