/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known noise is held against the hiccups around it: what names it, in each respect, and what the
 * kernel could not have told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "../world/world.h"
#include "model/noise.h"

#define US   1000ULL
#define MS   1000000ULL
#define WHEN (WORLD_STARTED + 100 * MS)

static struct view view;
static struct noise_heard heard;
static struct noise_sum sum;

static int begin(void **state)
{
	static const unsigned cpus[] = {3};

	(void)state;
	world_view(&view, "host", cpus, 1);
	sum = (struct noise_sum){0};
	return 0;
}

static int end(void **state)
{
	(void)state;
	noise_forget(&heard);
	view_free(&view);
	return 0;
}

/* A hiccup of one piece, so many us after WHEN; asker 0: nobody is known. */
static void hear(uint64_t at_us, uint64_t us, enum source_kind kind, uint32_t id, const char *name,
		 const char *function, uint32_t asker)
{
	struct piece p = {
		.source = sources_find(&view.cpu[0].sources, kind, id, name, function),
		.count = 1,
		.net_ns = us * US,
		.asker = {.kind = asker ? ASKER_THREAD : 0, .tid = asker},
	};
	const struct account a = {.start_ns = WHEN + at_us * US,
				  .duration_ns = us * US,
				  .attributed_ns = us * US,
				  .pieces = &p,
				  .npieces = 1};

	noise_hear(&heard, &view, 0, &a);
}

static void judge(const char *class, const char *function)
{
	struct noise n = {.class = noise_class_of(class),
			  .start_ns = WHEN,
			  .end_ns = WHEN + 50 * US,
			  .tid = 77,
			  .sender = 70,
			  .comm = "poke-fifo"};

	strcpy(n.function, function);
	noise_judge(&heard, &view, &n, &sum);
}

static void check_share(struct noise_share s, uint32_t asked, uint32_t right)
{
	assert_int_equal(s.asked, asked);
	assert_int_equal(s.right, right);
}

static void names_thread_and_asker(void **state)
{
	(void)state;
	hear(2, 40, SOURCE_THREAD, 77, "poke-fifo", NULL, 70);
	judge("fifo", "");
	assert_int_equal(sum.made, 1);
	assert_int_equal(sum.found, 1);
	check_share(sum.source, 1, 1);
	check_share(sum.function, 0, 0);
	check_share(sum.asker, 1, 1);
	assert_true(noise_is_named(&sum));
}

static void other_thread_is_none(void **state)
{
	(void)state;
	hear(2, 40, SOURCE_THREAD, 78, "poke-fifo", NULL, 70);
	judge("fifo", "");
	assert_int_equal(sum.found, 1);
	check_share(sum.source, 1, 0);
	check_share(sum.asker, 1, 0);
	assert_false(noise_is_named(&sum));
}

static void another_asker_is_wrong(void **state)
{
	(void)state;
	hear(2, 40, SOURCE_THREAD, 77, "poke-fifo", NULL, 71);
	judge("fifo", "");
	check_share(sum.source, 1, 1);
	check_share(sum.asker, 1, 0);
	assert_false(noise_is_named(&sum));
}

static void beyond_its_time(void **state)
{
	(void)state;
	hear(2100, 40, SOURCE_THREAD, 77, "poke-fifo", NULL, 70);
	judge("fifo", "");
	assert_int_equal(sum.found, 0);
	judge("thread", ""); /* a thread waits for its share of the CPU */
	assert_int_equal(sum.found, 1);
}

static void blind_for_a_function(void **state)
{
	(void)state;
	hear(2, 4, SOURCE_VECTOR, 0, "call_function_single", "other", 70);
	judge("membarrier", "ipi_mb");
	check_share(sum.source, 1, 1);
	check_share(sum.function, 1, 0);
	view_not_observed(&view, "csd_function_entry");
	judge("membarrier", "ipi_mb");
	check_share(sum.function, 1, 0);
	check_share(sum.asker, 2, 1);
}

static void function_under_any_name(void **state)
{
	(void)state;
	hear(2, 4, SOURCE_IRQ, 11, "arch_timer", "timerfd_tmrproc", 0);
	judge("timerfd", "timerfd_tmrproc");
	check_share(sum.source, 1, 1);
	check_share(sum.function, 1, 1);
	assert_true(noise_is_named(&sum));
}

static void names_by_cpu(void **state)
{
	(void)state;
	hear(2, 4, SOURCE_THREAD, 9, "ksoftirqd/3", NULL, 0);
	hear(8, 4, SOURCE_SOFTIRQ, 3, "NET_RX", NULL, 0);
	judge("ksoftirqd", "");
	check_share(sum.source, 1, 1);
	noise_forget(&heard);
	hear(8, 4, SOURCE_SOFTIRQ, 3, "NET_RX", NULL, 0);
	judge("ksoftirqd", "");
	check_share(sum.source, 2, 1);
}

static void bar_of_a_class(void **state)
{
	struct noise_sum s = {.made = 25, .found = 25, .source = {25, 20}};

	(void)state;
	assert_true(noise_is_named(&s));
	s.source.right = 19;
	assert_false(noise_is_named(&s));
}

static void length_of_a_gap(void **state)
{
	const struct noise n = {.start_ns = WHEN, .end_ns = WHEN + 50 * US};

	(void)state;
	hear(0, 10, SOURCE_SOFTIRQ, 1, "TIMER", NULL, 0);
	hear(40, 30, SOURCE_SOFTIRQ, 1, "TIMER", NULL, 0);
	hear(80, 90, SOURCE_SOFTIRQ, 1, "TIMER", NULL, 0);
	assert_int_equal(noise_length(&heard, &n), 30 * US);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(names_thread_and_asker), TEST(other_thread_is_none),
		TEST(another_asker_is_wrong), TEST(beyond_its_time),
		TEST(blind_for_a_function),   TEST(function_under_any_name),
		TEST(names_by_cpu),           TEST(bar_of_a_class),
		TEST(length_of_a_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
