#include "recording/codec.h"

#include <stdlib.h>
#include <string.h>

#define CODE_CPU       0x40
#define CODE_RECORD    0x80
#define SHAPE_NEW      1
#define SEQUENCE_JUMPS 2
#define INSTANT        4
#define SHAPES         4096
#define SHAPE_BYTES    46

/* A record without its times and its place in the sequence. */
struct shape {
	uint64_t arg, origin;
	uint32_t id;
	int32_t stack;
	uint16_t prio;
	uint8_t kind, level, flags, mark;
	uint8_t pad[2]; /* zero: shapes are compared as memory */
	char name[16];
};

struct last { /* newest values of a CPU */
	uint64_t record_end, hiccup_end;
	uint32_t after[LEVELS], seq[LEVELS];
	/* Format 1: the whole sequence number of the newest record; lives through all chunks. */
	uint32_t whole[LEVELS];
};

/* State that writer and reader hold alike. */
struct state {
	uint32_t ncpus, index;
	uint32_t chunk;            /* number of the chunk */
	uint32_t of_chunk[SHAPES]; /* the chunk that the shape belongs to */
	struct shape shape[SHAPES];
	struct last *last;
};

static struct state *state_new(uint32_t ncpus)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ncpus = ncpus;
	s->last = calloc(ncpus ? ncpus : 1, sizeof(*s->last));
	if (s->last)
		return s;
	free(s);
	return NULL;
}

static void state_free(struct state *s)
{
	if (s)
		free(s->last);
	free(s);
}

static void state_start(struct state *s, uint64_t base)
{
	s->chunk++;
	s->index = 0;
	for (uint32_t i = 0; i < s->ncpus; i++) {
		struct last *l = &s->last[i];

		l->record_end = l->hiccup_end = base;
		memset(l->after, 0, sizeof(l->after));
		memset(l->seq, 0, sizeof(l->seq));
	}
}

/* ---- writing ---- */

struct encoder {
	struct state *s;
	struct bytes b;
};

struct encoder *encoder_new(uint32_t ncpus)
{
	struct encoder *e = calloc(1, sizeof(*e));

	if (e)
		e->s = state_new(ncpus);
	if (e && e->s)
		return e;
	free(e);
	return NULL;
}

void encoder_free(struct encoder *e)
{
	if (!e)
		return;
	state_free(e->s);
	free(e->b.at);
	free(e);
}

const struct bytes *encoder_bytes(const struct encoder *e)
{
	return &e->b;
}

void encoder_reset(struct encoder *e)
{
	e->b.len = 0;
	e->b.failed = false;
}

static uint64_t time_of(const struct event *event)
{
	return event->type == EVENT_RECORD   ? event->record->end_ns
	       : event->type == EVENT_HICCUP ? event->hiccup->end_ns
					     : 0;
}

static struct shape shape_of(const struct record *r)
{
	struct shape s = {.arg = r->arg,
			  .origin = r->origin,
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

static uint32_t place_of(const struct shape *s)
{
	const unsigned char *p = (const unsigned char *)s;
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < sizeof(*s); i += 8) {
		uint64_t word;

		memcpy(&word, p + i, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h % SHAPES;
}

static void put_shape(struct bytes *b, const struct shape *s)
{
	put_u64(b, s->arg);
	put_u64(b, s->origin);
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
	struct state *s = e->s;
	struct last *last = &s->last[s->index];
	struct shape shape = shape_of(r);
	uint32_t place = place_of(&shape);
	bool new = s->of_chunk[place] != s->chunk ||
		   memcmp(&s->shape[place], &shape, sizeof(shape)) != 0;
	bool jumps = r->seq != last->seq[r->level % LEVELS] + 1;
	bool instant = r->start_ns == r->end_ns;

	put_u8(&e->b, CODE_RECORD | (new ? SHAPE_NEW : 0) | (jumps ? SEQUENCE_JUMPS : 0) |
			      (instant ? INSTANT : 0));
	put_number(&e->b, place);
	if (new) {
		put_shape(&e->b, &shape);
		s->shape[place] = shape;
		s->of_chunk[place] = s->chunk;
	}
	if (jumps)
		put_u32(&e->b, r->seq);
	put_signed(&e->b, r->end_ns - last->record_end);
	if (!instant)
		put_number(&e->b, r->end_ns - r->start_ns);
	last->record_end = r->end_ns;
	last->seq[r->level % LEVELS] = r->seq;
}

static void put_hiccup(struct encoder *e, const struct hiccup *h)
{
	struct last *last = &e->s->last[e->s->index];

	put_u8(&e->b, EVENT_HICCUP);
	put_signed(&e->b, h->start_ns - last->hiccup_end);
	put_number(&e->b, h->end_ns - h->start_ns);
	for (int i = 0; i < LEVELS; i++) {
		put_number(&e->b, (uint32_t)(h->before[i] - last->after[i]));
		put_number(&e->b, (uint32_t)(h->after[i] - h->before[i]));
		last->after[i] = h->after[i];
	}
	last->hiccup_end = h->end_ns;
}

static void put_spot(struct encoder *e, const struct spot *p)
{
	put_u8(&e->b, EVENT_WHERE);
	put_number(&e->b, p->cpu);
	put_number(&e->b, p->tid);
	put_text(&e->b, p->comm, sizeof(p->comm));
}

static void put_named(struct encoder *e, const struct event *event)
{
	put_u8(&e->b, event->type);
	if (event->type == EVENT_SYMBOL)
		put_u64(&e->b, event->named.number);
	else
		put_number(&e->b, event->named.number);
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
		state_start(e->s, time_of(event));
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

/* ---- reading ---- */

struct decoder {
	struct state *s;
	bool narrow; /* format 1 */
	struct record record;
	struct hiccup hiccup;
	struct spot spot;
};

struct decoder *decoder_new(uint32_t ncpus, unsigned major)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (d) {
		d->narrow = major == 1;
		d->s = state_new(ncpus);
	}
	if (d && d->s)
		return d;
	free(d);
	return NULL;
}

void decoder_free(struct decoder *d)
{
	if (d)
		state_free(d->s);
	free(d);
}

void decoder_start(struct decoder *d, struct reading *r)
{
	state_start(d->s, get_number(r));
}

static void get_shape(struct reading *r, struct shape *s)
{
	const uint8_t *name;

	s->arg = get_u64(r);
	s->origin = get_u64(r);
	s->id = get_u32(r);
	s->stack = get_u32(r);
	s->prio = get_u16(r);
	s->kind = get_u8(r);
	s->level = get_u8(r);
	s->flags = get_u8(r);
	s->mark = get_u8(r);
	name = get_raw(r, sizeof(s->name));
	if (name)
		memcpy(s->name, name, sizeof(s->name));
	if (s->level >= LEVELS)
		r->bad = true;
}

/* The sequence nearest to `near` that ends in these 16 bits. */
static uint32_t whole(uint32_t near, uint16_t low)
{
	return near + (int16_t)(low - (uint16_t)near);
}

/* Place of a record in its level's sequence. */
static uint32_t get_sequence(struct decoder *d, struct reading *r, unsigned level, bool jumps)
{
	struct last *last = &d->s->last[d->s->index];

	if (!d->narrow)
		last->seq[level] = jumps ? get_u32(r) : last->seq[level] + 1;
	else {
		last->seq[level] = jumps ? get_u16(r) : (uint16_t)(last->seq[level] + 1);
		/* Nothing distinguishes more losses than these from fewer. */
		last->whole[level] += (uint16_t)(last->seq[level] - last->whole[level]);
		return last->whole[level];
	}
	return last->seq[level];
}

static bool get_record(struct decoder *d, struct reading *r, uint8_t code)
{
	struct state *s = d->s;
	struct last *last = &s->last[s->index];
	uint64_t place = get_number(r);
	const struct shape *shape;
	struct record *out = &d->record;

	if (place >= SHAPES || (!(code & SHAPE_NEW) && s->of_chunk[place] != s->chunk)) {
		r->bad = true;
		return false;
	}
	if (code & SHAPE_NEW) {
		get_shape(r, &s->shape[place]);
		if (r->bad)
			return false;
		s->of_chunk[place] = s->chunk;
	}
	shape = &s->shape[place];
	out->arg = shape->arg;
	out->origin = shape->origin;
	out->id = shape->id;
	out->stack = shape->stack;
	out->prio = shape->prio;
	out->kind = shape->kind;
	out->level = shape->level;
	out->flags = shape->flags;
	out->mark = shape->mark;
	memcpy(out->name, shape->name, sizeof(out->name));
	out->seq = get_sequence(d, r, shape->level, code & SEQUENCE_JUMPS);
	out->end_ns = last->record_end + get_signed(r);
	out->start_ns = out->end_ns - (code & INSTANT ? 0 : get_number(r));
	last->record_end = out->end_ns;
	return !r->bad;
}

static bool get_hiccup(struct decoder *d, struct reading *r)
{
	struct last *last = &d->s->last[d->s->index];
	struct hiccup *h = &d->hiccup;

	h->start_ns = last->hiccup_end + get_signed(r);
	h->end_ns = h->start_ns + get_number(r);
	for (int i = 0; i < LEVELS; i++) {
		h->before[i] = last->after[i] + get_number(r);
		h->after[i] = h->before[i] + get_number(r);
		last->after[i] = h->after[i];
		if (d->narrow) {
			last->after[i] = (uint16_t)h->after[i];
			h->after[i] = whole(last->whole[i], h->after[i]);
			h->before[i] = h->after[i] - (uint16_t)(h->after[i] - h->before[i]);
		}
	}
	last->hiccup_end = h->end_ns;
	if (h->end_ns < h->start_ns)
		r->bad = true;
	return !r->bad;
}

static bool get_spot(struct decoder *d, struct reading *r)
{
	const char *comm;
	size_t len;

	memset(&d->spot, 0, sizeof(d->spot));
	d->spot.cpu = get_number(r);
	d->spot.tid = get_number(r);
	comm = get_text(r, &len);
	if (comm)
		memcpy(d->spot.comm, comm,
		       len < sizeof(d->spot.comm) - 1 ? len : sizeof(d->spot.comm) - 1);
	return !r->bad;
}

/* Decodes the event behind a code that is no record's. */
static bool get_event(struct decoder *d, struct reading *r, struct event *event)
{
	switch (event->type) {
	case EVENT_START:
		for (int i = 0; i < LEVELS; i++) {
			event->cursor[i] = d->narrow ? get_u16(r) : get_u32(r);
			d->s->last[d->s->index].whole[i] = event->cursor[i];
		}
		return !r->bad;
	case EVENT_HICCUP:
		event->hiccup = &d->hiccup;
		return get_hiccup(d, r);
	case EVENT_WHERE:
		event->spot = &d->spot;
		return get_spot(d, r);
	case EVENT_RELIEVE:
	case EVENT_STEAL:
		event->ns = get_number(r);
		return !r->bad;
	case EVENT_SYMBOL:
		event->named.number = get_u64(r);
		return !r->bad;
	case EVENT_IRQ:
		event->named.number = get_number(r);
		return !r->bad;
	case EVENT_STACK:
		event->named.number = get_number(r);
		event->named.nframes = get_number(r);
		r->bad |= event->named.nframes < 0 || event->named.nframes > STACK_FRAMES;
		return !r->bad;
	default:
		r->bad = true;
		return false;
	}
}

bool decoder_next(struct decoder *d, struct reading *r, struct event *event)
{
	struct state *s = d->s;
	uint8_t code;

	if (r->at == r->end)
		return false;
	code = *r->at++;
	while (code == CODE_CPU && !r->bad) {
		uint64_t index = get_number(r);

		if (index >= s->ncpus)
			r->bad = true;
		else
			s->index = index;
		code = get_u8(r);
	}
	if (r->bad)
		return false;
	memset(event, 0, sizeof(*event));
	event->index = s->index;
	if (code & CODE_RECORD) {
		event->type = EVENT_RECORD;
		event->record = &d->record;
		return get_record(d, r, code);
	}
	event->type = code;
	return get_event(d, r, event);
}
