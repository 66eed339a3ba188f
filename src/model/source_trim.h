/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of the table of sources: which rows go when there are too many. The rules are in source.h.
 */
#ifndef CULPRIT_SOURCE_TRIM_H
#define CULPRIT_SOURCE_TRIM_H

#include "model/source.h"

void sources_trim_kind(struct sources *t, enum source_kind kind);
void sources_trim_comm(struct sources *t,
		       const struct source *any); /* threads with the same comm */

void sources_index(struct sources *t); /* rows have moved: builds all indexes anew */

#endif
