/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pingpong learns each way from few messages where they take long: both sides then end the way with
 * the same round, also where the one that begins is at the next way before the other has looked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "collect/pingpong_way.h"

#define WAYS     5
#define MESSAGES 400
#define SLOW_US  3000

static struct box box[2];
static struct sampler_shm shm;
static struct spin spin = {.shm = &shm};
static uint64_t noted[2][WAYS]; /* messages that came: [0: those of the side that begins] */
static uint64_t slow_us;        /* the second side looks so late */

/* ---- the sampler's part ---- */

bool work_stopped(const struct work *w)
{
	(void)w;
	return false;
}

cursors_t work_cursors(const struct work *w)
{
	(void)w;
	return (cursors_t){0};
}

void work_window(struct work *w, unsigned series, uint64_t value, uint64_t before, uint64_t after,
		 cursors_t cursors)
{
	(void)value;
	(void)cursors;
	assert_true(before > ENOUGH && before <= after);
	noted[w->index][series]++;
}

void work_outlier(struct work *w, unsigned series, uint64_t before, uint64_t after,
		  cursors_t cursors)
{
	(void)w;
	(void)series;
	(void)before;
	(void)after;
	(void)cursors;
}

/* ---- both sides ---- */

static bool send_word(struct side *s, uint64_t stamp)
{
	atomic_store(&s->out->word, stamp);
	return true;
}

/* A different word is a message, as of the ways that spin. */
static uint64_t receive_word(struct side *s)
{
	uint64_t word;

	if (!s->first)
		usleep(slow_us);
	while ((word = atomic_load(&s->in->word)) == s->last)
		usleep(10);
	return s->last = word;
}

struct player {
	bool first;
	uint64_t for_ns; /* to learn a way */
	bool stopped;
	int err;
};

static void *play_ways(void *arg)
{
	static const struct pingpong_options options;
	struct player *p = arg;
	struct work w = {.spin = &spin, .index = !p->first, .learning = true, .ns_per_tick = 1};
	struct side s = {.work = &w,
			 .o = &options,
			 .first = p->first,
			 .in = &box[!p->first],
			 .out = &box[p->first]};

	for (s.series = 0; s.series < WAYS && !p->err && !p->stopped; s.series++) {
		s.until = p->for_ns ? read_counter(false) + p->for_ns : 0;
		p->err = play(&s, MESSAGES, &p->stopped, send_word, receive_word);
	}
	return NULL;
}

static void play_both(uint64_t for_ns)
{
	struct player one = {.first = true, .for_ns = for_ns},
		      other = {.first = false, .for_ns = for_ns};
	pthread_t thread;

	memset(box, 0, sizeof(box));
	memset(noted, 0, sizeof(noted));
	assert_int_equal(pthread_create(&thread, NULL, play_ways, &other), 0);
	play_ways(&one);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(one.err, 0);
	assert_int_equal(other.err, 0);
	assert_false(one.stopped);
	assert_false(other.stopped);
	for (int i = 0; i < WAYS; i++)
		assert_int_equal(noted[0][i], noted[1][i]);
}

static void test_all_messages(void **state)
{
	(void)state;
	slow_us = 0;
	play_both(0);
	for (int i = 0; i < WAYS; i++)
		assert_int_equal(noted[0][i], MESSAGES);
}

static void test_few_where_they_take_long(void **state)
{
	(void)state;
	slow_us = SLOW_US;
	play_both(1);
	for (int i = 0; i < WAYS; i++)
		assert_int_equal(noted[0][i], FEW);
}

/* Whatever time there was, as many as it held. */
static void test_while_there_is_time(void **state)
{
	(void)state;
	slow_us = SLOW_US;
	play_both(5 * SLOW_US * 1000);
	for (int i = 0; i < WAYS; i++)
		assert_in_range(noted[0][i], FEW, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_messages),
		cmocka_unit_test(test_few_where_they_take_long),
		cmocka_unit_test(test_while_there_is_time),
	};

	alarm(300); /* sides that have lost each other wait for ever */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
