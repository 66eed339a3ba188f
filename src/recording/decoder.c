/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/codec.h"

#include <stdlib.h>
#include <string.h>

#include "recording/codec_state.h"

struct decoder {
	/* The decoder is written to for each event, so no other thread's data may share its cache
	 * lines. */
	char apart[64];
	struct codec_state *s;
	struct record shape[SHAPES]; /* with no time, and no place in the sequence */
	bool narrow;                 /* format 1 */
	/* From format 3 on: records tell where hiccups are, and times have sections of their own.
	 */
	bool near;
	struct reading low, high;
	struct record record;
	struct hiccup hiccup;
	struct spot spot;
	char end[64];
};

struct decoder *decoder_new(uint32_t ncpus, unsigned major)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (d) {
		d->narrow = major == 1;
		d->near = major >= 3;
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

size_t codec_sections(const uint8_t *chunk, size_t len, size_t ends[CODEC_SECTIONS])
{
	struct reading r = {chunk, chunk + len, false};
	uint64_t first = get_u32(&r), second = get_u32(&r);

	if (r.bad || CODEC_HEAD + first + second > len) {
		ends[0] = len;
		return 1;
	}
	ends[0] = CODEC_HEAD + first;
	ends[1] = CODEC_HEAD + first + second;
	ends[2] = len;
	return CODEC_SECTIONS;
}

static void find_sections(struct decoder *d, struct reading *r)
{
	size_t end[CODEC_SECTIONS];

	d->low = d->high = (struct reading){NULL, NULL, false};
	if (codec_sections(r->at, r->end - r->at, end) < CODEC_SECTIONS) {
		r->bad = true;
		r->at = r->end;
		return;
	}
	d->low = (struct reading){r->at + end[0], r->at + end[1], false};
	d->high = (struct reading){r->at + end[1], r->at + end[2], false};
	*r = (struct reading){r->at + CODEC_HEAD, r->at + end[0], false};
}

void decoder_start(struct decoder *d, struct reading *r)
{
	if (d->near)
		find_sections(d, r);
	codec_state_start(d->s, get_number(r));
}

/* ---- times ---- */

static inline uint64_t get_time(struct decoder *d, struct reading *r)
{
	uint64_t v;

	if (!d->near)
		return get_number(r);
	if (d->low.at == d->low.end) {
		r->bad = true;
		return 0;
	}
	v = *d->low.at++;
	if (v < 0x80)
		return v;
	v = (v & 0x7f) | get_number(&d->high) << 7;
	r->bad |= d->high.bad;
	return v;
}

static inline int64_t get_signed_time(struct decoder *d, struct reading *r)
{
	uint64_t v = get_time(d, r);

	return v >> 1 ^ -(v & 1);
}

/* ---- events ---- */

static void get_shape(struct reading *r, struct record *s)
{
	const uint8_t *name;

	memset(s, 0, sizeof(*s));
	s->arg = get_u64(r);
	s->callsite = get_u64(r);
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
	struct record *out = &d->record;

	if (place >= SHAPES || (!(code & SHAPE_NEW) && s->of_chunk[place] != s->chunk)) {
		r->bad = true;
		return false;
	}
	if (code & SHAPE_NEW) {
		get_shape(r, &d->shape[place]);
		if (r->bad)
			return false;
		s->of_chunk[place] = s->chunk;
	}
	*out = d->shape[place];
	out->seq = get_sequence(d, r, out->level, code & SEQUENCE_JUMPS);
	out->end_ns = last->record_end + get_signed_time(d, r);
	out->start_ns = out->end_ns - (code & INSTANT ? 0 : get_time(d, r));
	last->record_end = out->end_ns;
	if (d->near && !codec_state_note(s, out))
		r->bad = true;
	return !r->bad;
}

/* Not a part of decoder_next, most of whose events are records: those need less room. */
static __attribute__((noinline)) bool get_near(struct decoder *d, struct reading *r)
{
	struct last *last = &d->s->last[d->s->index];
	struct hiccup *h = &d->hiccup;
	unsigned byte = get_u8(r);
	const uint32_t n[LEVELS] = {[LEVEL_THREAD] = byte & NEAR_THREADS,
				    [LEVEL_SOFTIRQ] = byte >> 2 & NEAR_SOFTIRQS,
				    [LEVEL_IRQ] = byte >> 4 & NEAR_IRQS,
				    [LEVEL_NMI] = byte >> 7};

	codec_state_guess(d->s, n, &h->start_ns, &h->end_ns);
	h->start_ns += get_signed_time(d, r);
	h->end_ns += get_signed_time(d, r);
	for (int i = 0; i < LEVELS; i++) {
		h->before[i] = last->after[i];
		h->after[i] = last->after[i] += n[i];
	}
	h->lost = 0;
	last->hiccup_end = h->end_ns;
	if (h->end_ns < h->start_ns)
		r->bad = true;
	return !r->bad;
}

static bool get_hiccup(struct decoder *d, struct reading *r)
{
	struct last *last = &d->s->last[d->s->index];
	struct hiccup *h = &d->hiccup;

	h->start_ns = last->hiccup_end + get_signed_time(d, r);
	h->end_ns = h->start_ns + get_time(d, r);
	for (int i = 0; i < LEVELS; i++) {
		uint64_t number = get_number(r);

		if (!i)
			h->lost = number >> HICCUPS_LOST_SHIFT;
		h->before[i] = last->after[i] + number;
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
static __attribute__((noinline)) bool get_event(struct decoder *d, struct reading *r,
						struct event *event, uint8_t code)
{
	memset(event, 0, sizeof(*event));
	event->index = d->s->index;
	event->type = code;
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
	case EVENT_OWNER:
	case EVENT_COMMAND:
	case EVENT_DEVICE:
	case EVENT_CALLS:
		event->named.number = get_number(r);
		return !r->bad;
	case EVENT_CALLER:
		event->named.number = get_number(r);
		event->named.user = get_number(r);
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
	event->index = s->index;
	if (code & CODE_RECORD) {
		event->type = EVENT_RECORD;
		event->record = &d->record;
		return get_record(d, r, code);
	}
	if (code == CODE_NEAR && d->near) {
		event->type = EVENT_HICCUP;
		event->hiccup = &d->hiccup;
		return get_near(d, r);
	}
	return get_event(d, r, event, code);
}
