/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define TEXTS_SLOTS 65536
/* Tries to find a text. After that it is stored again, so a file whose texts were chosen to collide
 * is not slow. */
#define TEXTS_TRIES 32

struct kept {
	struct kept *next;  /* the next one of the slot */
	struct kept *older; /* the one kept before */
	size_t len;
	char text[]; /* as aligned as memory of malloc: it may be an array of pointers */
};

struct texts {
	struct kept *slot[TEXTS_SLOTS];
	struct kept *newest;
	size_t used, most;
	bool lack;
};

struct texts *texts_new(size_t most)
{
	struct texts *t = calloc(1, sizeof(*t));

	if (t)
		t->most = most;
	return t;
}

void texts_free(struct texts *t)
{
	for (struct kept *k = t ? t->newest : NULL, *older; k; k = older) {
		older = k->older;
		free(k);
	}
	free(t);
}

const char *texts_keep(struct texts *t, const char *text, size_t len)
{
	uint64_t h = hash_bytes(HASH_BEGIN, text, len);
	struct kept *k;
	int tries = 0;

	h = (h ^ h >> 32) % TEXTS_SLOTS;
	for (k = t->slot[h]; k && tries < TEXTS_TRIES; k = k->next, tries++)
		if (k->len == len && !memcmp(k->text, text, len))
			return k->text;
	k = len <= t->most && t->used + len + sizeof(*k) <= t->most ? malloc(sizeof(*k) + len + 1)
								    : NULL;
	t->lack |= !k;
	if (!k)
		return NULL;
	t->used += len + sizeof(*k);
	k->len = len;
	memcpy(k->text, text, len);
	k->text[len] = 0;
	k->next = t->slot[h];
	t->slot[h] = k;
	k->older = t->newest;
	t->newest = k;
	return k->text;
}

bool texts_lack(const struct texts *t)
{
	return t->lack;
}
