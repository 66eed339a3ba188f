/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows in which a source keeps its askers apart. For asker.c and asker_top.c alone. */
#ifndef CULPRIT_ASKER_ROWS_H
#define CULPRIT_ASKER_ROWS_H

#include "model/asker.h"

/* The row whose last request was the same as this one, with the same names, because askers mostly
 * repeat themselves; NULL: none. *way: which of its ways it is; NULL: no user stack is known. */
struct asker_row *asker_row_again(struct askers *o, const struct record *r, struct asker_row **way);

/* The asker's row: its own, a free one, or that of the least frequent asker; NULL: no memory. */
struct asker_row *asker_row_of(struct askers *o, const struct asker *who);

/* A row's way by who->user, likewise; its count is 0 when it is new. */
struct asker_row *asker_way_of(struct asker_row *row, const struct asker *who);

/* Takes a row away; the last one has its place. */
void asker_row_drop(struct askers *o, uint32_t i);

/* Keeps the innermost frames of n but the tracer's own. kept: where these frames stay; NULL:
 * nowhere. Without memory it keeps none. */
void asker_row_frames(struct asker_row *row, const char *const *frame, int n,
		      const char *const *kept);

#endif
