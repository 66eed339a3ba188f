/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/section.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "model/frequency.h"
#include "model/places.h"
#include "model/readings.h"
#include "recording/format.h"

static void put_set(struct bytes *b, const struct cpus *set)
{
	size_t words = CPUS_MAX / 64;

	while (words && !set->bits[words - 1])
		words--;
	put_number(b, words);
	for (size_t i = 0; i < words; i++)
		put_u64(b, set->bits[i]);
}

static void get_set(struct reading *r, struct cpus *set)
{
	uint64_t words = get_number(r);

	cpus_clear(set);
	for (uint64_t i = 0; i < words && !r->bad; i++) {
		uint64_t bits = get_u64(r);

		if (i < CPUS_MAX / 64)
			set->bits[i] = bits;
	}
}

/* Writes each change by its distance from the one before. */
static void put_khz(struct bytes *b, const struct khz_changes *c)
{
	uint64_t last = 0;

	put_number(b, c->n);
	for (uint32_t i = 0; i < c->n; last = c->row[i++].at_ns) {
		put_signed(b, (int64_t)(c->row[i].at_ns - last));
		put_number(b, c->row[i].khz);
	}
}

static void get_khz(struct reading *r, struct khz_changes *c)
{
	uint64_t n = get_number(r), at = 0;

	khz_free(c);
	r->bad |= n > KHZ_CHANGES_MAX;
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		at += (uint64_t)get_signed(r);
		r->bad |= at > TIME_MAX;
		khz_add(c, at, get_number(r));
	}
}

static void put_places(struct bytes *b, const struct places *p)
{
	put_number(b, p->n);
	for (uint32_t i = 0; i < p->n; i++) {
		put_number(b, p->row[i].cpu);
		put_number(b, p->row[i].stays);
		put_number(b, p->row[i].moves);
		put_number(b, p->row[i].ran_ns);
	}
}

static void get_places(struct reading *r, struct places *p)
{
	uint64_t n = get_number(r);

	places_free(p);
	r->bad |= n > CPUS_MAX;
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		uint64_t cpu = get_number(r);
		struct place_row *row;

		r->bad |= cpu >= CPUS_MAX || (p->n && cpu <= p->row[p->n - 1].cpu);
		row = r->bad ? NULL : places_at(p, cpu);
		if (!row)
			break;
		row->stays = get_number(r);
		row->moves = get_number(r);
		row->ran_ns = get_number(r);
		r->bad |= row->moves > row->stays || row->stays > TIME_MAX / CPUS_MAX ||
			  row->ran_ns > TIME_MAX / CPUS_MAX;
	}
}

/* Writes each reading by its distance from the one before. */
static void put_readings(struct bytes *b, const struct readings *r)
{
	struct reading_of_clocks last = {0};

	put_number(b, r->n);
	for (uint32_t i = 0; i < r->n; last = r->row[i++]) {
		const struct reading_of_clocks *x = &r->row[i];

		put_signed(b, (int64_t)(x->ns - last.ns));
		put_signed(b, (int64_t)(x->tick - last.tick));
		put_signed(b, (int64_t)(x->real - last.real));
		put_signed(b, (int64_t)(x->host - last.host));
	}
}

static void get_readings(struct reading *r, struct readings *to)
{
	uint64_t n = get_number(r);
	struct reading_of_clocks x = {0};

	*to = (struct readings){0};
	r->bad |= n > READINGS_MOST;
	for (uint64_t i = 0; i < n && !r->bad; i++) {
		x.ns += (uint64_t)get_signed(r);
		x.tick += (uint64_t)get_signed(r);
		x.real += (uint64_t)get_signed(r);
		x.host += (uint64_t)get_signed(r);
		r->bad |= x.ns > TIME_MAX || x.real > WALL_MAX || x.host > WALL_MAX ||
			  !readings_add(to, &x);
	}
}

static void put_field(struct bytes *b, const struct field *f, const char *at)
{
	uint64_t bits;

	switch (f->type) {
	case FIELD_NUMBER:
	case FIELD_TIME:
		put_number(b, *(const uint64_t *)at);
		break;
	case FIELD_NUMBER32:
		put_number(b, *(const uint32_t *)at);
		break;
	case FIELD_FLAG:
		put_u8(b, *(const bool *)at);
		break;
	case FIELD_REAL:
		memcpy(&bits, at, sizeof(bits));
		put_u64(b, bits);
		break;
	case FIELD_BUFFER:
		put_text(b, at, f->size);
		break;
	case FIELD_SET:
		put_set(b, (const struct cpus *)at);
		break;
	case FIELD_TEXT:
		put_text(b, *(const char *const *)at, SIZE_MAX / 2);
		break;
	case FIELD_KHZ:
		put_khz(b, (const struct khz_changes *)at);
		break;
	case FIELD_PLACES:
		put_places(b, (const struct places *)at);
		break;
	case FIELD_READINGS:
		put_readings(b, (const struct readings *)at);
		break;
	}
}

/* Reads a time. A senseless one counts as not known: later sums would overflow. */
static uint64_t get_time(struct reading *r)
{
	uint64_t ns = get_number(r);

	return ns <= TIME_MAX ? ns : 0;
}

double get_real(struct reading *r)
{
	uint64_t bits = get_u64(r);
	double ns;

	memcpy(&ns, &bits, sizeof(ns));
	return ns >= 0 && ns <= TIME_MAX ? ns : 0;
}

static void get_field(struct reading *r, const struct field *f, char *at, struct texts *t)
{
	const char *text;
	size_t len;

	switch (f->type) {
	case FIELD_NUMBER:
		*(uint64_t *)at = get_number(r);
		break;
	case FIELD_TIME:
		*(uint64_t *)at = get_time(r);
		break;
	case FIELD_NUMBER32:
		*(uint32_t *)at = get_number(r);
		break;
	case FIELD_FLAG:
		*(bool *)at = get_u8(r);
		break;
	case FIELD_REAL:
		*(double *)at = get_real(r);
		break;
	case FIELD_BUFFER:
		text = get_text(r, &len);
		memset(at, 0, f->size);
		if (text)
			memcpy(at, text, len < f->size - 1 ? len : f->size - 1);
		break;
	case FIELD_SET:
		get_set(r, (struct cpus *)at);
		break;
	case FIELD_TEXT:
		text = get_text(r, &len);
		*(const char **)at = text ? texts_keep(t, text, len) : NULL;
		break;
	case FIELD_KHZ:
		get_khz(r, (struct khz_changes *)at);
		break;
	case FIELD_PLACES:
		get_places(r, (struct places *)at);
		break;
	case FIELD_READINGS:
		get_readings(r, (struct readings *)at);
		break;
	}
}

void put_fields(struct bytes *b, const struct field *table, size_t n, const void *of)
{
	for (size_t i = 0; i < n; i++)
		put_field(b, &table[i], (const char *)of + table[i].offset);
}

void get_fields(struct reading *r, const struct field *table, size_t n, void *of, struct texts *t)
{
	for (size_t i = 0; i < n && r->at < r->end; i++)
		get_field(r, &table[i], (char *)of + table[i].offset, t);
}

void put_section(struct bytes *b, struct bytes *section)
{
	put_number(b, section->len);
	put_raw(b, section->at, section->len);
	b->failed |= section->failed;
	free(section->at);
}

struct reading get_section(struct reading *r)
{
	uint64_t len = get_number(r);
	const uint8_t *at = get_raw(r, len);

	return at ? (struct reading){at, at + len, false} : (struct reading){.bad = true};
}
