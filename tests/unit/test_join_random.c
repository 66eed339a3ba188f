/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The join on many short random hiccups with time between them, in batches; see world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../world/nests.h"

#define HICCUPS 60000 /* in each test */

static void make_hiccup(void)
{
	struct hiccup *h = begin_hiccup();

	w.now_ns += below(3) * below(150);
	while (!one_in(4)) {
		bool threads = one_in(3);

		if (one_in(12))
			make_fault();
		do
			make_outermost(threads ? LEVEL_THREAD : 1 + below(LEVEL_NMI),
				       1 + below(400), 0);
		while (threads && !one_in(3));
		w.now_ns += below(3) * below(150);
	}
	end_hiccup(h);
}

/* Between hiccups the sampler runs, and is away for less than the threshold. Its cursors may be
 * read on the other side of that. */
static void make_spare(struct hiccup *h)
{
	for (unsigned n = below(4); n; n--) {
		uint64_t before = w.seen;

		w.now_ns += 1 + below(300);
		make_outermost(below(LEVELS), 1 + below(threshold_ns - 1), 0);
		w.short_ones += w.seen - before;
		if (one_in(2) && w.now_ns - h->end_ns < 1500)
			memcpy(h->after, w.cursor, sizeof(w.cursor));
	}
	w.now_ns += below(300);
}

static void make_batch(unsigned hiccups)
{
	begin_world(100000);
	while (w.nhiccups < hiccups) {
		uint32_t early[LEVELS];
		uint64_t early_ns = w.now_ns;

		memcpy(early, w.cursor, sizeof(early));
		if (w.nhiccups)
			make_spare(&w.hiccup[w.nhiccups - 1]);
		make_hiccup();
		if (one_in(3) && w.hiccup[w.nhiccups - 1].start_ns - early_ns < 1500)
			memcpy(w.hiccup[w.nhiccups - 1].before, early, sizeof(early));
	}
	assert_true(w.now_ns - w.begin_ns < 100000);
	for (unsigned i = 0; w.messy && i < w.nhiccups; i++) {
		struct hiccup *h = &w.hiccup[i];

		if (i && h->start_ns > h[-1].end_ns + PLAY_NS)
			h->start_ns -= below(PLAY_NS);
		if (h->end_ns - h->start_ns > PLAY_NS)
			h->end_ns -= below(PLAY_NS);
	}
}

static void join_short_ones(bool messy)
{
	unsigned done = 0;

	begin_join(messy);
	while (done < HICCUPS) {
		struct giver g = {.late = (int)below(LEVELS + 1) - 1};

		make_batch(1 + below(BATCH_MAX));
		give(&g);
		for (unsigned i = 0; i < w.nhiccups; i++)
			check_account(&w.hiccup[i], join_hiccup(join, &w.hiccup[i]), 0);
		done += w.nhiccups;
		if (w.nhiccups < BATCH_MAX && one_in(2)) /* zero: the next begins at once */
			w.now_ns += below(5000);
	}
	end_join();
}

static void test_exact(void **state)
{
	(void)state;
	join_short_ones(false);
	assert_true(attributed_ns > 100 * HICCUPS && edge_ns > HICCUPS && outside_ns > HICCUPS);
}

/* A seventh of the records is dropped; times and borders are wrong by up to PLAY_NS. */
static void test_messy(void **state)
{
	(void)state;
	join_short_ones(true);
	assert_true(w.lost > HICCUPS / 10 && attributed_ns > 100 * HICCUPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_messy),
	};
	int failed;

	world_init();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	world_free();
	return failed;
}
