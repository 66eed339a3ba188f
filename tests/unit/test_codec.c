/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events to bytes and back: of all types, random and at the limits, over several chunks, each of
 * which can be read alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../world/chance.h"
#include "recording/codec.h"
#include "recording/format.h"

#define CPUS     5
#define EVENTS   30000
#define CHUNKS   7
#define NAMES    6
#define TEXT_MAX 300

/* An event that owns what it points to. */
struct kept {
	struct event event;
	struct record record;
	struct hiccup hiccup;
	struct spot spot;
	char text[NAMES][TEXT_MAX];
	const char *frame[STACK_FRAMES];
};

/* A number of random length in bits: small ones as likely as large ones. */
static uint64_t any_number(void)
{
	unsigned bits = below(65);

	return bits == 64 ? random64() : random64() & ((UINT64_C(1) << bits) - 1);
}

static struct record some_record(uint64_t now)
{
	struct record r = {.end_ns = now - below(500),
			   .arg = below(3) ? below(20) : any_number(),
			   .id = below(3) ? below(20) : any_number(),
			   .prio = below(3) ? 120 : any_number(),
			   .seq = any_number(),
			   .kind = below(4) ? below(RECORD_OSNOISE + 1) : below(256),
			   .level = below(LEVELS),
			   .flags = below(3) ? 0 : below(256),
			   .mark = below(3) ? 0 : below(256),
			   .stack = below(2) ? -1 : (int32_t)any_number(),
			   .callsite = below(2) ? 0 : any_number()};

	r.start_ns = below(4) ? r.end_ns - below(100000) : r.end_ns;
	if (!below(200))
		r.start_ns = any_number();
	for (size_t i = 0; i < sizeof(r.name) && below(8); i++)
		r.name[i] = below(256);
	return r;
}

static void some_text(char *text)
{
	size_t len = below(30) ? below(20) : TEXT_MAX - 1;

	for (size_t i = 0; i < len; i++)
		text[i] = 1 + below(255);
	text[len] = 0;
}

static void make(struct kept *k, uint64_t now, struct hiccup *last)
{
	struct event *e = &k->event;

	memset(k, 0, sizeof(*k));
	e->type = below(3) ? EVENT_RECORD : 1 + below(EVENT_TYPES - 1);
	e->index = below(CPUS);
	for (int i = 0; i < NAMES; i++)
		some_text(k->text[i]);
	switch (e->type) {
	case EVENT_START:
		for (int i = 0; i < LEVELS; i++)
			e->cursor[i] = any_number();
		break;
	case EVENT_RECORD:
		k->record = some_record(now);
		e->record = &k->record;
		break;
	case EVENT_HICCUP:
		k->hiccup = (struct hiccup){.start_ns = below(50) ? now : any_number() / 2};
		k->hiccup.end_ns =
			k->hiccup.start_ns + (below(50) ? below(1000000) : any_number() / 2);
		for (int i = 0; i < LEVELS; i++) {
			k->hiccup.before[i] = below(5) ? last->after[i] : any_number();
			k->hiccup.after[i] =
				k->hiccup.before[i] + (below(5) ? below(3) : any_number());
		}
		k->hiccup.lost = below(5) ? 0 : any_number() & UINT32_MAX;
		*last = k->hiccup;
		e->hiccup = &k->hiccup;
		break;
	case EVENT_RELIEVE:
	case EVENT_STEAL:
		e->ns = any_number();
		break;
	case EVENT_WHERE:
		k->spot = (struct spot){.cpu = any_number(),
					.tid = any_number(),
					.thread = any_number() % (SPOT_THREAD_KERNEL + 1),
					.series = any_number()};
		memcpy(k->spot.comm, k->text[0], strnlen(k->text[0], sizeof(k->spot.comm) - 1));
		e->spot = &k->spot;
		break;
	default:
		e->index = 0; /* names belong to no CPU */
		e->named.number = e->type == EVENT_SYMBOL ? random64()
				  : below(3)              ? below(100)
							  : any_number();
		e->named.name = below(5) ? k->text[0] : NULL;
		e->named.user = any_number();
		e->named.affinity = below(2) ? k->text[1] : NULL;
		if (e->type != EVENT_STACK)
			break;
		e->named.nframes = below(STACK_FRAMES + 1);
		e->named.frame = k->frame;
		for (int i = 0; i < e->named.nframes; i++)
			k->frame[i] = k->text[i % NAMES];
	}
}

static void check_text(struct reading *r, const char *want)
{
	size_t len;
	const char *is = get_text(r, &len);

	assert_int_equal(!is, !want);
	if (!want)
		return;
	assert_int_equal(len, strlen(want));
	assert_memory_equal(is, want, len);
}

static void check(const struct kept *want, const struct event *is, struct reading *r)
{
	const struct event *e = &want->event;

	assert_int_equal(is->type, e->type);
	if (!event_is_name(e->type))
		assert_int_equal(is->index, e->index);
	switch (e->type) {
	case EVENT_START:
		assert_memory_equal(is->cursor, e->cursor, sizeof(e->cursor));
		break;
	case EVENT_RECORD:
		assert_memory_equal(is->record, e->record, sizeof(*e->record));
		break;
	case EVENT_HICCUP:
		assert_memory_equal(is->hiccup, e->hiccup, sizeof(*e->hiccup));
		break;
	case EVENT_RELIEVE:
	case EVENT_STEAL:
		assert_int_equal(is->ns, e->ns);
		break;
	case EVENT_WHERE:
		assert_memory_equal(is->spot, e->spot, sizeof(*e->spot));
		break;
	case EVENT_CALLER:
		assert_int_equal(is->named.number, e->named.number);
		assert_int_equal(is->named.user, e->named.user);
		break;
	case EVENT_STACK:
		assert_int_equal(is->named.number, e->named.number);
		assert_int_equal(is->named.nframes, e->named.nframes);
		for (int i = 0; i < e->named.nframes; i++)
			check_text(r, e->named.frame[i]);
		break;
	default:
		assert_int_equal(is->named.number, e->named.number);
		check_text(r, e->named.name);
		if (e->type == EVENT_IRQ)
			check_text(r, e->named.affinity);
	}
}

struct chunk {
	uint8_t *at;
	size_t len;
	uint32_t first, end; /* events */
};

static void read_chunk(struct decoder *d, const struct chunk *c, const struct kept *all)
{
	struct reading r = {c->at, c->at + c->len, false};
	struct event e;

	decoder_start(d, &r);
	for (uint32_t i = c->first; i < c->end; i++) {
		assert_true(decoder_next(d, &r, &e));
		check(&all[i], &e, &r);
	}
	assert_false(decoder_next(d, &r, &e));
	assert_false(r.bad);
}

static struct chunk take_chunk(struct encoder *e, uint32_t first, uint32_t end)
{
	const struct bytes *b = encoder_bytes(e);
	struct chunk c = {malloc(b->len), b->len, first, end};

	assert_non_null(c.at);
	assert_false(b->failed);
	memcpy(c.at, b->at, b->len);
	encoder_reset(e);
	return c;
}

/* In order, and then each chunk alone in a decoder that has seen others. */
static void test_random(void **state)
{
	struct kept *all = calloc(EVENTS, sizeof(*all));
	struct encoder *e = encoder_new(CPUS);
	struct decoder *d = decoder_new(CPUS, FORMAT_MAJOR);
	struct chunk chunk[CHUNKS];
	struct hiccup last = {0};
	uint64_t now = 123456789012345;
	uint32_t first = 0;

	(void)state;
	assert_non_null(all);
	for (uint32_t n = 0; n < CHUNKS; n++) {
		uint32_t end = n == CHUNKS - 1 ? EVENTS : first + (n % 2 ? 1 : EVENTS / CHUNKS);

		for (uint32_t i = first; i < end; i++) {
			make(&all[i], now += below(20000), &last);
			encoder_put(e, &all[i].event);
		}
		chunk[n] = take_chunk(e, first, end);
		first = end;
	}
	for (uint32_t n = 0; n < CHUNKS; n++)
		read_chunk(d, &chunk[n], all);
	for (uint32_t n = CHUNKS; n--;)
		read_chunk(d, &chunk[n], all);
	for (uint32_t n = 0; n < CHUNKS; n++)
		free(chunk[n].at);
	encoder_free(e);
	decoder_free(d);
	free(all);
}

static size_t cost_of(struct encoder *e, const struct event *event)
{
	size_t before = encoder_len(e);

	encoder_put(e, event);
	return encoder_len(e) - before;
}

/* The limits of times and sequences, for every kind and level. */
static void test_edges(void **state)
{
	static const uint64_t times[] = {
		0, 1, 127, 128, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
	enum { N = sizeof(times) / sizeof(times[0]) };
	struct kept *all = calloc(N * N * 16 + 2, sizeof(*all));
	struct encoder *e = encoder_new(CPUS);
	struct decoder *d = decoder_new(CPUS, FORMAT_MAJOR);
	struct chunk c;
	uint32_t n = 0;

	(void)state;
	assert_non_null(all);
	for (int a = 0; a < N; a++)
		for (int b = 0; b < N; b++)
			for (int kind = 0; kind < 16; kind++, n++) {
				all[n].event =
					(struct event){.type = EVENT_RECORD, .index = n % CPUS};
				all[n].event.record = &all[n].record;
				all[n].record =
					(struct record){.start_ns = times[a],
							.end_ns = times[b],
							.arg = times[kind % N],
							.callsite = times[(a + kind) % N],
							.id = UINT32_MAX * (a % 2),
							.prio = b % 2 ? INT16_MIN : INT16_MAX,
							.seq = kind % 3 ? UINT16_MAX : 0,
							.kind = kind,
							.level = kind % LEVELS,
							.flags = 255 * (b % 2),
							.mark = 255 * (a % 2),
							.stack = a % 2 ? INT16_MIN : INT16_MAX};
				memset(all[n].record.name, kind % 2 ? 255 : 0,
				       sizeof(all[n].record.name));
				encoder_put(e, &all[n].event);
			}
	for (int i = 0; i < 2; i++, n++) {
		all[n].hiccup = (struct hiccup){.start_ns = 0, .end_ns = UINT64_MAX};
		for (int level = 0; level < LEVELS; level++)
			all[n].hiccup.before[level] = i ? 0 : UINT16_MAX,
			all[n].hiccup.after[level] = i ? 1 : 0;
		all[n].event = (struct event){
			.type = EVENT_HICCUP, .index = CPUS - 1, .hiccup = &all[n].hiccup};
		encoder_put(e, &all[n].event);
	}
	c = take_chunk(e, 0, n);
	read_chunk(d, &c, all);
	free(c.at);
	encoder_free(e);
	decoder_free(d);
	free(all);
}

/* The most frequent events are small: a tick, and the hiccup that it makes. */
static void test_size(void **state)
{
	struct encoder *e = encoder_new(1);
	struct record r = {.kind = RECORD_VECTOR, .level = LEVEL_IRQ, .id = 1, .arg = 236};
	struct hiccup h = {0};

	(void)state;
	for (int i = 0; i < 10; i++) {
		size_t record, hiccup;

		r.seq++;
		r.start_ns = 5000000000 + 4000000ull * i + 300;
		r.end_ns = r.start_ns + 2100;
		h.start_ns = r.start_ns - 300;
		h.end_ns = r.end_ns + 500;
		h.before[LEVEL_IRQ] = i;
		h.after[LEVEL_IRQ] = i + 1;
		record = cost_of(e, &(struct event){.type = EVENT_RECORD, .record = &r});
		hiccup = cost_of(e, &(struct event){.type = EVENT_HICCUP, .hiccup = &h});
		if (i)
			assert_true(record <= 8 && hiccup <= 6);
	}
	encoder_free(e);
}

static void check_bad(const struct bytes *b, unsigned major)
{
	struct decoder *d = decoder_new(CPUS, major);
	uint8_t *copy = malloc(b->len); /* memory whose end the sanitizer knows */
	struct reading r = {copy, copy + b->len, false};
	struct event e;
	int events = 0;

	assert_non_null(d);
	assert_non_null(copy);
	memcpy(copy, b->at, b->len);
	decoder_start(d, &r);
	while (decoder_next(d, &r, &e))
		events++;
	assert_int_equal(events, 0);
	assert_true(r.bad);
	free(copy);
	decoder_free(d);
}

/* Chunks that no encoder makes: nothing is read beyond their end, and `bad` says so. */
static void test_bad(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{"\0\xc0\x05\x02", 4},                 /* a shape that was never put */
		{"\0\x81\xff\xff\x7f", 5},             /* a place that is none */
		{"\0\x81\x01short", 8},                /* a shape that is cut */
		{"\0\x40\x05\x05\x01", 5},             /* CPU 5 of 5 */
		{"\0\x40", 2},                         /* no CPU */
		{"\0\x40\x01", 3},                     /* nothing behind it */
		{"\0\x3f", 2},                         /* an event that is none */
		{"\0\0", 2},                           /* the same */
		{"\0\x08\x01\x31", 4},                 /* 49 frames */
		{"\0\x08\x01\xff\xff\xff\xff\x0f", 8}, /* -1 frames */
		{"\0\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		 13},                        /* a number without an end */
		{"\0\x01\0\0\0\0\0\0\0", 9}, /* half a cursor */
		{"\0\x41\x10", 3},           /* a hiccup without times */
		{"\0\x03", 2},               /* the same */
	};
	/* Sections that do not fit into the chunk: of 8 bytes, and of more than all memory. */
	static const char *const sections[] = {"\x01\0\0\0\0\0\0", "\x01\0\0\0\0\0\0\0",
					       "\0\0\0\0\x01\0\0\0",
					       "\xff\xff\xff\xff\xff\xff\xff\xff"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct bytes b = {0};

		put_raw(&b, bad[i].bytes, bad[i].len);
		check_bad(&b, 2);
		b.len = 0;
		put_u32(&b, bad[i].len);
		put_u32(&b, 0);
		put_raw(&b, bad[i].bytes, bad[i].len);
		check_bad(&b, FORMAT_MAJOR);
		free(b.at);
	}
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		struct bytes b = {0};

		put_raw(&b, sections[i], i ? 8 : 7);
		check_bad(&b, FORMAT_MAJOR);
		free(b.at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
