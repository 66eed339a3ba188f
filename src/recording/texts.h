/* The texts of a recording, each stored once. */
#ifndef CULPRIT_TEXTS_H
#define CULPRIT_TEXTS_H

#include <stddef.h>

/* Texts that the read data point to; they live as long as it does. */
struct texts;
struct texts *texts_new(void); /* NULL: out of memory */
void texts_free(struct texts *t);
/* Returns the stored copy of a text; NULL when memory, or the most that a recording may name (64
 * MiB), is used up.
 */
const char *texts_keep(struct texts *t, const char *text, size_t len);

#endif
