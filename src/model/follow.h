/* Rows of sources change their places when there are too many (source.h). Whoever keeps places
 * follows: of the hiccup in hand with each search for a source, by sources.went; the worst hiccups
 * with each hiccup, by sources.moved. What was two rows may be one then, and who asked for a piece
 * of it the last time is not said any more: the row knows who did, and so does each span. */
#ifndef CULPRIT_FOLLOW_H
#define CULPRIT_FOLLOW_H

#include "model/nest.h"

/* Returns how many pieces there are now: those of one row are one, at the place of the first. */
uint32_t pieces_follow(struct piece *pieces, uint32_t n, const uint32_t *places);
void spans_follow(struct span *spans, uint32_t n, const uint32_t *places);

#endif
