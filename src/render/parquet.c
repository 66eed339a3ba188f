/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "render/parquet_state.h"

#define GROUP_MAX (8 << 20) /* bytes of a group of rows before they are packed */
#define WORDS_MAX (1 << 20) /* bytes of the texts of a column that a group may hold */

/* ---- schema ---- */

/* Adds the columns of a field and its children. Returns the field behind them. */
static unsigned add_columns(struct parquet *p, unsigned at, const struct column *above)
{
	const struct parquet_field *f = &p->fields[at++];
	struct column c = *above;

	c.field = f;
	c.path[c.names++] = f->name;
	c.defined += f->optional || f->type == PARQUET_LIST;
	if (f->type == PARQUET_LIST) {
		c.repeated = true;
		c.path[c.names++] = "list";
	}
	if (f->type < PARQUET_LIST)
		p->column[p->ncolumns++] = c;
	for (unsigned i = 0; i < f->children; i++)
		at = add_columns(p, at, &c);
	return at;
}

struct parquet *parquet_begin(const struct parquet_field *fields, unsigned n, FILE *out)
{
	struct parquet *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->out = out;
	p->fields = fields;
	p->nfields = n;
	for (unsigned at = 0; at < n;)
		at = add_columns(p, at, &(struct column){0});
	return p;
}

/* ---- values ---- */

static void add_levels(struct column *c, bool again, uint8_t there)
{
	if (c->defined)
		bytes_u8(&c->there, there);
	if (c->repeated)
		bytes_u8(&c->again, again);
}

void parquet_null(struct parquet *p, unsigned column, bool again, uint8_t there)
{
	struct column *c = &p->column[column];

	add_levels(c, again, there);
	c->nulls++;
}

void parquet_number(struct parquet *p, unsigned column, bool again, int64_t value)
{
	struct column *c = &p->column[column];

	if (!c->values.used || value < c->least)
		c->least = value;
	if (!c->values.used || value > c->most)
		c->most = value;
	add_levels(c, again, c->defined);
	bytes_put(&c->values, &value, sizeof(value));
}

static uint32_t word_begin(const struct words *w, uint32_t number)
{
	return ((const uint32_t *)(const void *)w->begin.at)[number];
}

static uint32_t *word_slot(const struct words *w, const char *text, size_t len)
{
	uint32_t i = hash_slot(hash_bytes(hash_of_strangers(), text, len), w->slots);

	for (;; i = (i + 1) & (w->slots - 1)) {
		const uint8_t *at;

		if (!w->slot[i])
			return &w->slot[i];
		at = w->at.at + word_begin(w, w->slot[i] - 1);
		if (len == ((size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16) &&
		    !memcmp(at + 4, text, len))
			return &w->slot[i];
	}
}

/* Doubles the hash when it is half full. False: out of memory. */
static bool words_room(struct words *w)
{
	struct words more = *w;

	if (w->count < w->slots / 2)
		return true;
	more.slots = w->slots ? 2 * w->slots : 64;
	more.slot = calloc(more.slots, sizeof(*more.slot));
	if (!more.slot)
		return false;
	for (uint32_t i = 0; i < w->count; i++) {
		const uint8_t *at = w->at.at + word_begin(w, i);
		size_t len = (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16;

		*word_slot(&more, (const char *)at + 4, len) = 1 + i;
	}
	free(w->slot);
	*w = more;
	return true;
}

void parquet_text(struct parquet *p, unsigned column, bool again, const char *text)
{
	struct column *c = &p->column[column];
	struct words *w = &c->words;
	size_t len = strlen(text);
	uint32_t number, *slot;

	if (!words_room(w)) {
		p->error = -ENOMEM;
		return;
	}
	slot = word_slot(w, text, len);
	if (!*slot) {
		uint32_t begin = (uint32_t)w->at.used;

		bytes_put(&w->begin, &begin, sizeof(begin));
		bytes_le32(&w->at, (uint32_t)len);
		bytes_put(&w->at, text, len);
		if (w->begin.failed || w->at.failed) {
			p->error = -ENOMEM;
			return;
		}
		*slot = ++w->count;
	}
	number = *slot - 1;
	add_levels(c, again, c->defined);
	bytes_put(&c->values, &number, sizeof(number));
}

/* ---- rows ---- */

int parquet_row(struct parquet *p)
{
	size_t used = 0, words = 0;

	p->rows++;
	for (unsigned i = 0; i < p->ncolumns; i++) {
		const struct column *c = &p->column[i];

		used += c->values.used + c->there.used + c->again.used;
		if (c->words.at.used > words)
			words = c->words.at.used;
	}
	if (used + words >= GROUP_MAX || words >= WORDS_MAX)
		parquet_put_group(p);
	return p->error;
}

int parquet_end(struct parquet *p)
{
	int err;

	parquet_put_group(p);
	parquet_put_footer(p);
	err = p->error;
	for (unsigned i = 0; i < p->ncolumns; i++) {
		struct column *c = &p->column[i];

		bytes_free(&c->there);
		bytes_free(&c->again);
		bytes_free(&c->values);
		bytes_free(&c->words.at);
		bytes_free(&c->words.begin);
		free(c->words.slot);
	}
	bytes_free(&p->groups);
	free(p);
	return err;
}
