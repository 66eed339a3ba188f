/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts, and other bytes that do not change, each stored once. */
#ifndef CULPRIT_TEXTS_H
#define CULPRIT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct texts;
#define TEXTS_BYTES (64 << 20)        /* bytes for what a machine, or a recording, may name */
struct texts *texts_new(size_t most); /* most: bytes in all. NULL: out of memory */
void texts_free(struct texts *t);
/* Returns the stored copy of a text, which lives as long as `t`, aligned for pointers; NULL when
 * memory, or the most, is used up. */
const char *texts_keep(struct texts *t, const char *text, size_t len);
bool texts_lack(const struct texts *t); /* true: it had no room for one */

#endif
