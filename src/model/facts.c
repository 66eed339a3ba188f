/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/facts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

/* The first row whose name is not before `name` in its first n bytes. */
static uint32_t lower(const struct facts *f, const char *name, size_t n)
{
	uint32_t lo = 0, hi = f->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (strncmp(f->row[mid].name, name, n) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int grow(struct facts *f)
{
	uint32_t room = f->room ? 2 * f->room : 64;
	struct fact *row;

	if (f->count < f->room)
		return 0;
	row = realloc(f->row, room * sizeof(*row));
	if (!row)
		return -ENOMEM;
	f->row = row;
	f->room = room;
	return 0;
}

static int copy(struct fact *x, const char *name, int err, const void *text, size_t len)
{
	*x = (struct fact){strdup(name), malloc(len + 1), len, err};
	if (!x->name || !x->text) {
		free(x->name);
		free(x->text);
		return -ENOMEM;
	}
	if (len)
		memcpy(x->text, text, len);
	x->text[len] = 0;
	return 0;
}

static size_t size_of(const struct fact *x)
{
	return strlen(x->name) + x->len;
}

int facts_add(struct facts *f, const char *name, int err, const void *text, size_t len)
{
	uint32_t at = lower(f, name, FACT_NAME_MAX + 1);
	bool known = at < f->count && !strcmp(f->row[at].name, name);
	size_t before = known ? size_of(&f->row[at]) : 0;
	struct fact new;
	int bad;

	if (!name[0] || strlen(name) > FACT_NAME_MAX)
		return -EINVAL;
	if (len > FACT_MAX) {
		len = FACT_MAX;
		err = FACT_TOO_LONG;
	}
	if ((!known && f->count >= FACTS_MAX) ||
	    f->bytes - before + strlen(name) + len > FACTS_ALL_MAX)
		return -ENOSPC;
	bad = known ? 0 : grow(f);
	if (!bad)
		bad = copy(&new, name, err, text, len);
	if (bad)
		return bad;
	if (known) {
		free(f->row[at].name);
		free(f->row[at].text);
	} else {
		memmove(&f->row[at + 1], &f->row[at], (f->count - at) * sizeof(*f->row));
		f->count++;
	}
	f->row[at] = new;
	f->bytes += size_of(&new) - before;
	return 0;
}

void facts_keep(struct facts *f, bool (*keep)(struct fact *x))
{
	uint32_t n = 0;

	f->bytes = 0;
	for (uint32_t i = 0; i < f->count; i++) {
		struct fact *x = &f->row[i];

		if (keep(x)) {
			f->bytes += size_of(x);
			f->row[n++] = *x;
		} else {
			free(x->name);
			free(x->text);
		}
	}
	f->count = n;
}

void facts_free(struct facts *f)
{
	for (uint32_t i = 0; i < f->count; i++) {
		free(f->row[i].name);
		free(f->row[i].text);
	}
	free(f->row);
	*f = (struct facts){0};
}

void threads_told_free(struct threads_told *t)
{
	free(t->movable);
	free(t->real_time);
	free(t->rests);
	numbers_free(&t->ended);
	free(t->conditions);
	*t = (struct threads_told){0};
}

const struct fact *facts_find(const struct facts *f, const char *name)
{
	uint32_t at = lower(f, name, FACT_NAME_MAX + 1);

	return at < f->count && !strcmp(f->row[at].name, name) ? &f->row[at] : NULL;
}

const struct fact *facts_next(const struct facts *f, const char *glob, const struct fact *after)
{
	size_t fixed = strcspn(glob, "*");
	uint32_t at = after ? (uint32_t)(after - f->row) + 1 : lower(f, glob, fixed);

	for (; at < f->count && !strncmp(f->row[at].name, glob, fixed); at++)
		if (f->row[at].err != FACT_NOT_KEPT && glob_fits(glob, f->row[at].name, '/'))
			return &f->row[at];
	return NULL;
}

const struct fact *facts_not_kept(const struct facts *f, const char *name)
{
	for (uint32_t i = 0; i < f->count; i++) {
		const struct fact *x = &f->row[i];
		size_t len = x->err == FACT_NOT_KEPT ? strlen(x->name) : 0;

		if (len && (glob_fits(x->name, name, '/') ||
			    (x->name[len - 1] == '/' && !strncmp(x->name, name, len))))
			return x;
	}
	return NULL;
}

bool facts_taken(const struct facts *f)
{
	return f->count > (facts_find(f, FACT_ENDED) != NULL);
}

const char *facts_text(const struct facts *f, const char *name)
{
	const struct fact *x = facts_find(f, name);

	return x && !x->err ? x->text : NULL;
}
