/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/codec.h"

#include <stdlib.h>
#include <string.h>

#include "recording/codec_state.h"

#define FOUND (4 * SHAPES) /* a shape's slot seldom has another one */

/* A record without its times and its place in the sequence. */
struct shape {
	uint64_t arg, callsite;
	uint32_t id;
	int32_t stack;
	uint16_t prio;
	uint8_t kind, level, flags, mark;
	uint8_t pad[2]; /* zero: shapes are compared as memory */
	char name[16];
};

struct encoder {
	struct codec_state *s;
	struct shape shape[SHAPES];
	struct bytes b, low, high; /* the three sections */
	struct bytes chunk;        /* all of them, once asked for */
	uint16_t found[FOUND];     /* 1 + place of the newest shape with this hash */
};

struct encoder *encoder_new(uint32_t ncpus)
{
	struct encoder *e = calloc(1, sizeof(*e));

	if (e)
		e->s = codec_state_new(ncpus);
	if (e && e->s)
		return e;
	free(e);
	return NULL;
}

void encoder_free(struct encoder *e)
{
	if (!e)
		return;
	codec_state_free(e->s);
	free(e->b.at);
	free(e->low.at);
	free(e->high.at);
	free(e->chunk.at);
	free(e);
}

size_t encoder_len(const struct encoder *e)
{
	return e->b.len ? CODEC_HEAD + e->b.len + e->low.len + e->high.len : 0;
}

const struct bytes *encoder_bytes(struct encoder *e)
{
	struct bytes *c = &e->chunk;

	c->len = 0;
	c->failed = e->b.failed || e->low.failed || e->high.failed;
	if (!e->b.len)
		return c;
	put_u32(c, e->b.len);
	put_u32(c, e->low.len);
	put_raw(c, e->b.at, e->b.len);
	put_raw(c, e->low.at, e->low.len);
	put_raw(c, e->high.at, e->high.len);
	return c;
}

void encoder_reset(struct encoder *e)
{
	e->b.len = e->low.len = e->high.len = 0;
	e->b.failed = e->low.failed = e->high.failed = false;
}

/* ---- times ---- */

/* Numbers of times: the first byte in one section, the others, which are more alike, in another. */
static void put_time(struct encoder *e, uint64_t v)
{
	if (v < 0x80) {
		put_u8(&e->low, v);
		return;
	}
	put_u8(&e->low, v | 0x80);
	put_number(&e->high, v >> 7);
}

static void put_signed_time(struct encoder *e, int64_t v)
{
	put_time(e, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

/* ---- events ---- */

static uint64_t time_of(const struct event *event)
{
	return event->type == EVENT_RECORD   ? event->record->end_ns
	       : event->type == EVENT_HICCUP ? event->hiccup->end_ns
					     : 0;
}

static struct shape shape_of(const struct record *r)
{
	struct shape s = {.arg = r->arg,
			  .callsite = r->callsite,
			  .id = r->id,
			  .stack = r->stack,
			  .prio = r->prio,
			  .kind = r->kind,
			  .level = r->level,
			  .flags = r->flags,
			  .mark = r->mark};

	memcpy(s.name, r->name, sizeof(s.name));
	return s;
}

static uint32_t hash_of(const struct shape *s)
{
	const unsigned char *p = (const unsigned char *)s;
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < sizeof(*s); i += 8) {
		uint64_t word;

		memcpy(&word, p + i, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h % FOUND;
}

/* The place of the shape, or one for it: those that come first have the short numbers. */
static uint32_t place_of(struct encoder *e, const struct shape *shape, bool *new)
{
	struct codec_state *s = e->s;
	uint32_t hash = hash_of(shape), place = e->found[hash] - 1U;

	*new = !e->found[hash] || s->of_chunk[place] != s->chunk ||
	       memcmp(&e->shape[place], shape, sizeof(*shape)) != 0;
	if (!*new)
		return place;
	place = s->shapes < SHAPES ? s->shapes++ : hash % SHAPES;
	e->found[hash] = place + 1;
	return place;
}

static void put_shape(struct bytes *b, const struct shape *s)
{
	put_u64(b, s->arg);
	put_u64(b, s->callsite);
	put_u32(b, s->id);
	put_u32(b, s->stack);
	put_u16(b, s->prio);
	put_u8(b, s->kind);
	put_u8(b, s->level);
	put_u8(b, s->flags);
	put_u8(b, s->mark);
	put_raw(b, s->name, sizeof(s->name));
}

static void put_record(struct encoder *e, const struct record *r)
{
	struct codec_state *s = e->s;
	struct last *last = &s->last[s->index];
	struct shape shape = shape_of(r);
	bool new;
	uint32_t place = place_of(e, &shape, &new);
	bool jumps = r->seq != last->seq[r->level % LEVELS] + 1;
	bool instant = r->start_ns == r->end_ns;

	put_u8(&e->b, CODE_RECORD | (new ? SHAPE_NEW : 0) | (jumps ? SEQUENCE_JUMPS : 0) |
			      (instant ? INSTANT : 0));
	put_number(&e->b, place);
	if (new) {
		put_shape(&e->b, &shape);
		e->shape[place] = shape;
		s->of_chunk[place] = s->chunk;
	}
	if (jumps)
		put_u32(&e->b, r->seq);
	put_signed_time(e, r->end_ns - last->record_end);
	if (!instant)
		put_time(e, r->end_ns - r->start_ns);
	last->record_end = r->end_ns;
	last->seq[r->level % LEVELS] = r->seq;
	e->b.failed |= !codec_state_note(s, r);
}

/* True when the hiccup is written as CODE_NEAR. */
static bool put_near(struct encoder *e, const struct hiccup *h)
{
	struct last *last = &e->s->last[e->s->index];
	uint32_t n[LEVELS];
	uint64_t start, end;

	for (int i = 0; i < LEVELS; i++)
		n[i] = h->after[i] - h->before[i];
	if (h->lost || memcmp(h->before, last->after, sizeof(h->before)) ||
	    n[LEVEL_THREAD] > NEAR_THREADS || n[LEVEL_SOFTIRQ] > NEAR_SOFTIRQS ||
	    n[LEVEL_IRQ] > NEAR_IRQS || n[LEVEL_NMI] > NEAR_NMIS)
		return false;
	codec_state_guess(e->s, n, &start, &end);
	put_u8(&e->b, CODE_NEAR);
	put_u8(&e->b,
	       n[LEVEL_THREAD] | n[LEVEL_SOFTIRQ] << 2 | n[LEVEL_IRQ] << 4 | n[LEVEL_NMI] << 7);
	put_signed_time(e, h->start_ns - start);
	put_signed_time(e, h->end_ns - end);
	return true;
}

static void put_hiccup(struct encoder *e, const struct hiccup *h)
{
	struct last *last = &e->s->last[e->s->index];
	uint64_t lost = (h->lost > UINT32_MAX ? UINT32_MAX : h->lost) << HICCUPS_LOST_SHIFT;

	if (!put_near(e, h)) {
		put_u8(&e->b, EVENT_HICCUP);
		put_signed_time(e, h->start_ns - last->hiccup_end);
		put_time(e, h->end_ns - h->start_ns);
		for (int i = 0; i < LEVELS; i++) {
			put_number(&e->b,
				   (uint32_t)(h->before[i] - last->after[i]) | (i ? 0 : lost));
			put_number(&e->b, (uint32_t)(h->after[i] - h->before[i]));
		}
	}
	memcpy(last->after, h->after, sizeof(last->after));
	last->hiccup_end = h->end_ns;
}

static void put_spot(struct encoder *e, const struct spot *p)
{
	put_u8(&e->b, EVENT_WHERE);
	put_number(&e->b, p->cpu);
	put_number(&e->b, p->tid | (uint64_t)p->thread << SPOT_THREAD_SHIFT |
				  (uint64_t)p->series << SPOT_SERIES_SHIFT);
	put_text(&e->b, p->comm, sizeof(p->comm));
}

static void put_named(struct encoder *e, const struct event *event)
{
	put_u8(&e->b, event->type);
	if (event->type == EVENT_SYMBOL)
		put_u64(&e->b, event->named.number);
	else
		put_number(&e->b, event->named.number);
	if (event->type == EVENT_CALLER) {
		put_number(&e->b, event->named.user);
		return;
	}
	if (event->type == EVENT_STACK) {
		put_number(&e->b, event->named.nframes);
		for (int i = 0; i < event->named.nframes; i++)
			put_text(&e->b, event->named.frame[i], SIZE_MAX / 2);
		return;
	}
	put_text(&e->b, event->named.name, SIZE_MAX / 2);
	if (event->type == EVENT_IRQ)
		put_text(&e->b, event->named.affinity, SIZE_MAX / 2);
}

void encoder_put(struct encoder *e, const struct event *event)
{
	if (!e->b.len) {
		put_number(&e->b, time_of(event));
		codec_state_start(e->s, time_of(event));
	}
	if (event->index != e->s->index && !event_is_name(event->type)) {
		put_u8(&e->b, CODE_CPU);
		put_number(&e->b, event->index);
		e->s->index = event->index;
	}
	switch (event->type) {
	case EVENT_START:
		put_u8(&e->b, event->type);
		for (int i = 0; i < LEVELS; i++)
			put_u32(&e->b, event->cursor[i]);
		break;
	case EVENT_RECORD:
		put_record(e, event->record);
		break;
	case EVENT_HICCUP:
		put_hiccup(e, event->hiccup);
		break;
	case EVENT_WHERE:
		put_spot(e, event->spot);
		break;
	case EVENT_RELIEVE:
	case EVENT_STEAL:
		put_u8(&e->b, event->type);
		put_number(&e->b, event->ns);
		break;
	default:
		put_named(e, event);
	}
}
