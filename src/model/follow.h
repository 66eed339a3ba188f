/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of sources move when there are too many (source.h). Whoever keeps their places follows: the
 * hiccup in hand at each search for a source, by sources.went; the worst hiccups at each hiccup, by
 * sources.moved. Two rows may become one; the piece then no longer says who asked last: the row
 * knows, and so does each span. */
#ifndef CULPRIT_FOLLOW_H
#define CULPRIT_FOLLOW_H

#include "model/nest.h"

/* Returns the new number of pieces: those of one row become one, at the place of the first. */
uint32_t pieces_follow(struct piece *pieces, uint32_t n, const uint32_t *places);
void spans_follow(struct span *spans, uint32_t n, const uint32_t *places);

#endif
