/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts, and other bytes that do not change, each stored once. */
#ifndef CULPRIT_TEXTS_H
#define CULPRIT_TEXTS_H

#include <stddef.h>

struct texts;
struct texts *texts_new(void); /* NULL: out of memory */
void texts_free(struct texts *t);
/* Returns the stored copy of a text, which lives as long as `t`, aligned for pointers; NULL when
 * memory, or the most that a recording may name (64 MiB), is used up. */
const char *texts_keep(struct texts *t, const char *text, size_t len);

#endif
