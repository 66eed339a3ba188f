#include "recording/codec.h"

#include <stdlib.h>
#include <string.h>

#include "recording/codec_state.h"

struct decoder {
	struct codec_state *s;
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
		d->s = codec_state_new(ncpus);
	}
	if (d && d->s)
		return d;
	free(d);
	return NULL;
}

void decoder_free(struct decoder *d)
{
	if (d)
		codec_state_free(d->s);
	free(d);
}

void decoder_start(struct decoder *d, struct reading *r)
{
	codec_state_start(d->s, get_number(r));
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
	struct codec_state *s = d->s;
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
	uint64_t thread;
	const char *comm;
	size_t len;

	memset(&d->spot, 0, sizeof(d->spot));
	d->spot.cpu = get_number(r);
	thread = get_number(r);
	d->spot.tid = thread;
	d->spot.series = thread >> SPOT_SERIES_SHIFT;
	thread &= (UINT64_C(1) << SPOT_SERIES_SHIFT) - 1;
	if (thread >> SPOT_THREAD_SHIFT <= SPOT_THREAD_KERNEL)
		d->spot.thread = thread >> SPOT_THREAD_SHIFT;
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
	struct codec_state *s = d->s;
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
