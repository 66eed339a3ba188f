/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list's words are sorted by the name in front of their "=", so that all values of one name of a
 * file stand together. */
#include "model/diff_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

int diff_note(struct diff *d, const char *what, const char *const *value)
{
	struct diff_fact *f, *grown;
	bool differ = false;

	for (uint32_t k = 1; k < d->n; k++)
		differ |= !equal(value[0], value[k]);
	if (!differ)
		return 0;
	grown = reallocarray(d->fact, d->facts + 1, sizeof(*d->fact));
	if (!grown)
		return -ENOMEM;
	d->fact = grown;
	f = &d->fact[d->facts++];
	memset(f, 0, sizeof(*f));
	f->what = strdup(what);
	if (!f->what)
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++)
		if (value[k] && !(f->value[k] = strdup(value[k])))
			return -ENOMEM;
	return 0;
}

/* ---- lists ---- */

struct word {
	char *text; /* as it is, NUL-terminated */
	size_t name_len;
	uint32_t file, place;
};

static int name_order(const struct word *a, const struct word *b)
{
	int order =
		strncmp(a->text, b->text, a->name_len < b->name_len ? a->name_len : b->name_len);

	return order ? order : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static int by_name(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	int order = name_order(x, y);

	if (order)
		return order;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

/* End of a word; blanks between double quotes belong to it, as in the kernel (lib/cmdline.c:
 * next_arg). */
static char *word_end(char *at, const char *separators)
{
	bool quoted = false;

	for (; *at && (quoted || !strchr(separators, *at)); at++)
		quoted ^= *at == '"' && separators[0] == ' ';
	return at;
}

/* Cuts text into words, which stay in it. Returns their number so far, or -ENOMEM. */
static long cut(char *text, const char *separators, uint32_t file, struct word **words, long n)
{
	for (char *at = text, *end; at && *(at += strspn(at, separators)); at = end) {
		struct word *grown;
		size_t name;

		end = word_end(at, separators);
		end = *end ? (*end = 0, end + 1) : NULL;
		if (!(n & (n - 1))) { /* the room is the next power of two */
			grown = reallocarray(*words, n ? 2 * n : 1, sizeof(**words));
			if (!grown)
				return -ENOMEM;
			*words = grown;
		}
		name = strcspn(at, "=");
		(*words)[n] = (struct word){.text = at, .name_len = name, .file = file, .place = n};
		n++;
	}
	return n;
}

/* Notes all words of one name, with what each file says as value, several with a blank between
 * them. */
static int note_words(struct diff *d, const char *what, const struct word *word, long n)
{
	char *value[DIFF_FILES] = {NULL}, *name = NULL;
	int err = 0;

	for (long i = 0; i < n && !err; i++) {
		uint32_t k = word[i].file;
		char *joined = NULL;

		if (asprintf(&joined, "%s%s%s", value[k] ? value[k] : "", value[k] ? " " : "",
			     word[i].text) < 0)
			err = -ENOMEM;
		else
			free(value[k]), value[k] = joined;
	}
	if (!err && asprintf(&name, "%s %.*s", what, (int)word[0].name_len, word[0].text) < 0)
		err = -ENOMEM, name = NULL;
	if (!err)
		err = diff_note(d, name, (const char *const *)value);
	free(name);
	for (uint32_t k = 0; k < d->n; k++)
		free(value[k]);
	return err;
}

int diff_note_list(struct diff *d, const char *what, const char *const *text,
		   const char *separators)
{
	char *copy[DIFF_FILES] = {NULL};
	struct word *words = NULL;
	long n = 0;
	int err = 0;

	for (uint32_t k = 0; k < d->n && n >= 0; k++) {
		copy[k] = strdup(text[k] ? text[k] : "");
		n = copy[k] ? cut(copy[k], separators, k, &words, n) : -ENOMEM;
	}
	if (n < 0)
		err = -ENOMEM;
	else if (n)
		qsort(words, n, sizeof(*words), by_name);
	for (long i = 0, next; i < n && !err; i = next) {
		for (next = i + 1; next < n && !name_order(&words[i], &words[next]);)
			next++;
		err = note_words(d, what, &words[i], next - i);
	}
	free(words);
	for (uint32_t k = 0; k < d->n; k++)
		free(copy[k]);
	return err;
}
