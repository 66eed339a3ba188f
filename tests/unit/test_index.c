/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of a recording's time is the same with an index and without, and what the index says is
 * not in it is not read. An index that tells what cannot be is of no use, and does no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../world/chance.h"
#include "../world/chunk.h"
#include "../world/scene.h"
#include "recording/codec.h"
#include "recording/index.h"
#include "recording/read.h"
#include "recording/seen.h"
#include "render/render.h"

#define CPUS       3
#define GAPS       3000
#define EACH       10 /* hiccups of a chunk */
#define GROUP      3  /* chunks with one index */
#define CHUNKS_MAX 1024
#define MS         1000000ULL

static char path[] = "/tmp/culprit-test-XXXXXX";

/* A recording, chunk by chunk, with indexes that come more often than a writer's. */
struct made {
	struct chunk chunk[CHUNKS_MAX];
	uint32_t n;
	uint64_t length_ns;
};

static struct made made;

/* ---- making ---- */

struct splitter {
	struct encoder *encoder;
	struct names_seen *seen;
	struct index index;
	uint32_t hiccups, chunks;
};

static void add_chunk(uint32_t type, const struct bytes *b)
{
	struct chunk *c = &made.chunk[made.n++];

	assert_true(made.n < CHUNKS_MAX);
	*c = (struct chunk){.type = type, .len = b->len, .payload = malloc(b->len + 1)};
	memcpy(c->payload, b->at, b->len);
}

static void end_group(struct splitter *s)
{
	struct bytes b = {0};

	put_index(&b, &s->index);
	add_chunk(CHUNK_INDEX, &b);
	free(b.at);
	index_clear(&s->index);
}

static void split_event(void *ctx, const struct event *e)
{
	struct splitter *s = ctx;

	if (event_is_name(e->type) && seen_before(s->seen, e->type, e->named.number))
		return;
	encoder_put(s->encoder, e);
	index_event(&s->index, e);
	s->hiccups += e->type == EVENT_HICCUP;
	if (s->hiccups < EACH)
		return;
	s->hiccups = 0;
	s->index.chunks++;
	s->index.raw += encoder_len(s->encoder);
	add_chunk(CHUNK_EVENTS, encoder_bytes(s->encoder));
	encoder_reset(s->encoder);
	if (s->index.chunks == GROUP)
		end_group(s);
}

/* The last CPU is quiet: one hiccup in 300, and records below the threshold. Now and then something
 * has a CPU for long, and a new name comes. The steal clock rises in the first half alone. */
static void make_gap(struct scene *s, uint32_t i, uint64_t *at)
{
	static char name[20][8];
	uint32_t cpu = i % 300 == 77 ? CPUS - 1 : i % (CPUS - 1);
	uint64_t tick = scene_function(s, "tick_nohz_handler"),
		 length = i % 500 == 250 ? 40 * MS : 1000 + below(9000);

	if (i % 601 == 0) {
		snprintf(name[i / 601], sizeof(name[0]), "f%u", i / 601);
		tick = scene_function(s, name[i / 601]);
	}
	scene_gap(s, cpu, *at);
	scene_put(s, mark(LEVEL_IRQ, MARK_HRTIMER, tick, 400));
	scene_put(s, vector(VECTOR_LOCAL_TIMER, 300, 900));
	if (length > 5000 && i % 7 && i % 1000 != 750)
		scene_put(s, thread(100 + below(5), "poke", 1000, length - 200));
	scene_end(s, length);
	*at += length + 1000 + below(MS / 2);
	if (!below(5)) {
		scene_gap(s, below(CPUS), *at);
		scene_put(s, nmi(0, 10, 20));
		*at += 500;
	}
	if (i % 20 == 0)
		scene_steal(s, below(CPUS), i < GAPS / 2 ? *at / 4 : GAPS);
}

static void take_all(struct scene *s, struct splitter *to)
{
	uint64_t at = MS;

	for (uint32_t i = 0; i < CPUS; i++) /* the begin of the scene came before the tap */
		split_event(to, &(struct event){.type = EVENT_START, .index = i});
	for (uint32_t i = 0; i < GAPS; i++)
		make_gap(s, i, &at);
	end_group(to);
	s->view.run.duration_ns = made.length_ns = at + MS;
}

static uint8_t *read_file(size_t *len)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	uint8_t *all;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	all = malloc(st.st_size);
	*len = fread(all, 1, st.st_size, f);
	assert_int_equal(*len, st.st_size);
	fclose(f);
	return all;
}

/* Head, run and tail are as the recorder writes them. */
static int make(void **state)
{
	static const unsigned cpus[CPUS] = {1, 3, 4};
	struct splitter s = {.encoder = encoder_new(CPUS), .seen = calloc(1, sizeof(*s.seen))};
	struct tap tap = {&s, split_event};
	struct chunk chunk[64];
	struct scene scene;
	uint8_t *file;
	uint32_t n;
	size_t len;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	scene_init(&scene, "web-07", cpus, CPUS);
	assert_int_equal(index_init(&s.index, CPUS), 0);
	made.n = 2;
	scene_begin(&scene, path);
	scene.also = &tap;
	take_all(&scene, &s);
	assert_int_equal(scene_finish(&scene), 0);
	file = read_file(&len);
	n = chunks_parse(file, len, chunk, 64);
	for (uint32_t i = 0; i < n; i++)
		if (i < 2)
			made.chunk[i] = chunk[i];
		else if (i >= n - 2)
			made.chunk[made.n++] = chunk[i];
		else
			free(chunk[i].payload);
	free(file);
	view_free(&scene.view);
	encoder_free(s.encoder);
	index_free(&s.index);
	free(s.seen);
	return 0;
}

static int forget(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < made.n; i++)
		free(made.chunk[i].payload);
	return unlink(path);
}

/* ---- reading ---- */

enum { BARE, INDEXED };

/* damaged: number of the chunk of which one byte is another one; 0: none. */
static void write_file(int indexed, uint32_t damaged)
{
	struct bytes b = {0};
	FILE *f = fopen(path, "w");

	put_file_head(&b, FORMAT_MAJOR, FORMAT_MINOR);
	for (uint32_t i = 0; i < made.n; i++) {
		const struct chunk *c = &made.chunk[i];

		if (c->type == CHUNK_INDEX && !indexed)
			continue;
		put_chunk(&b, c->type, c->payload, c->len);
		if (i == damaged && damaged)
			b.at[b.len - 1] ^= 1;
	}
	assert_non_null(f);
	assert_int_equal(fwrite(b.at, 1, b.len, f), b.len);
	assert_int_equal(fclose(f), 0);
	free(b.at);
}

static void check_sums(const struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];

		assert_int_equal(c->attributed_ns + c->edge_ns + c->lost_ns + c->outside_ns,
				 c->hiccups.sum);
		assert_true(c->hiccups.sum + c->hiccups_lost_ns <= c->observed_ns);
	}
}

/* All that is known of a part, as JSON. */
static char *report(const struct part *part, bool *damaged)
{
	struct view view = {0};
	const struct view *views[] = {&view};
	struct recording *r = recording_open(path, part, &view);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(r);
	recording_finish(r);
	check_sums(&view);
	for (const struct format *f = formats; f->choice.name; f++)
		if (!strcmp(f->choice.name, "json"))
			assert_int_equal(
				f->write(views, 1, &(struct render_options){.stacks = true}, out),
				0);
	assert_int_equal(fclose(out), 0);
	assert_true(len > 1000);
	if (damaged)
		*damaged = view.run.damaged;
	view_free(&view);
	recording_close(r);
	return text;
}

static struct part random_part(void)
{
	struct part p = {.threads = 1};

	p.from_ns = below(4) ? 1 + below(made.length_ns) : 0;
	p.to_ns = below(4) || !p.from_ns ? p.from_ns + 1 + below(made.length_ns / 4) : 0;
	p.threshold_ns = below(3) ? 0 : 5000;
	if (below(3))
		cpus_add(&p.cpus, below(2) ? 1 : 4);
	return p;
}

static void test_same(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		const struct part part = random_part();
		char *text[2];

		for (int indexed = BARE; indexed <= INDEXED; indexed++) {
			write_file(indexed, 0);
			text[indexed] = report(&part, NULL);
		}
		assert_string_equal(text[0], text[1]);
		free(text[0]);
		free(text[1]);
	}
}

/* Damage of a chunk that holds nothing of the part goes unseen with an index alone. */
static void test_not_read(void **state)
{
	const struct part part = {
		.from_ns = made.length_ns / 2, .to_ns = made.length_ns / 2 + 50 * MS, .threads = 1};
	uint32_t read = 0, chunks = 0;

	(void)state;
	for (uint32_t i = 0; i < made.n; i++) {
		bool damaged[2];

		if (made.chunk[i].type != CHUNK_EVENTS || chunks++ % 4)
			continue;
		for (int indexed = BARE; indexed <= INDEXED; indexed++) {
			write_file(indexed, i);
			free(report(&part, &damaged[indexed]));
		}
		assert_true(damaged[BARE]);
		read += damaged[INDEXED];
	}
	assert_int_equal(chunks, GAPS / EACH);
	/* those with new names are read, too, and those in which the quiet CPU has records since
	 * its last hiccup */
	assert_true(read > 0 && read <= chunks / 12);
}

/* An index that no chunks can have is left aside, and what another one may lead to adds up. */
static void test_hostile(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		const struct part part = random_part();
		struct chunk *c;
		uint32_t at;
		uint8_t was, by = 1 + below(255);

		do
			c = &made.chunk[below(made.n)];
		while (c->type != CHUNK_INDEX);
		at = below(c->len);
		was = c->payload[at];
		c->payload[at] ^= by;
		write_file(INDEXED, 0);
		free(report(&part, NULL));
		c->payload[at] = was;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_not_read),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, make, forget);
}
