/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved osnoise output beside a view: which sources are paired, and which added up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../world/world.h"
#include "model/osnoise_rates.h"
#include "render/osnoise_rates.h"

struct ground {
	struct osnoise_reader reader;
	struct view view;
};

static int setup(void **state)
{
	struct ground *g = calloc(1, sizeof(*g));
	unsigned cpu = 1;

	assert_non_null(g);
	assert_int_equal(osnoise_init(&g->reader), 0);
	world_view(&g->view, "", &cpu, 1);
	world_lasts(&g->view, 2000000000);
	*state = g;
	return 0;
}

static int teardown(void **state)
{
	struct ground *g = *state;

	osnoise_free(&g->reader);
	view_free(&g->view);
	free(g);
	return 0;
}

static void say(struct ground *g, const char *line)
{
	osnoise_line(&g->reader, line, strlen(line));
}

static void ours(struct ground *g, enum source_kind kind, uint32_t id, const char *name,
		 const char *function, uint64_t ns)
{
	world_runs(&g->view, 0, kind, id, name, function, 1, ns);
}

static const struct rates_row *row_of(const struct osnoise_rates *b, enum source_kind kind,
				      const char *name)
{
	for (uint32_t i = 0; i < b->count; i++)
		if (b->row[i].kind == kind && !strcmp(b->row[i].name, name))
			return &b->row[i];
	fail_msg("no row %s", name);
	return NULL;
}

/* A vector is an IRQ to osnoise; functions and thread ids are added up; a source of one side only
 * has a row, too. */
static void test_pairs(void **state)
{
	struct ground *g = *state;
	struct osnoise_rates b;

	say(g, "  <idle>-0   [001] d.h1.    10.000100: irq_noise: local_timer:236 start "
	       "10.000000000 duration 5000 ns");
	say(g, "  <idle>-0   [001] d.h1.    11.000100: irq_noise: local_timer:236 start "
	       "11.000000000 duration 7000 ns");
	say(g, "  <idle>-0   [001] d.h1.    11.500100: irq_noise: nvme0q1:42 start 11.500000000 "
	       "duration 900 ns");
	ours(g, SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 4000);
	ours(g, SOURCE_VECTOR, 236, "local_timer", "hrtimer_wakeup", 2000);
	ours(g, SOURCE_THREAD, 7, "poke", NULL, 100);
	ours(g, SOURCE_THREAD, 8, "poke", NULL, 200);
	ours(g, SOURCE_OUTSIDE, 0, "steal", NULL, 100000);
	assert_int_equal(rates_make(&b, &g->reader, &g->view), 0);
	assert_true(b.theirs_detailed);
	assert_int_equal(b.count, 3);
	assert_int_equal(row_of(&b, SOURCE_IRQ, "local_timer")->theirs.ns, 12000);
	assert_int_equal(row_of(&b, SOURCE_IRQ, "local_timer")->theirs.count, 2);
	assert_int_equal(row_of(&b, SOURCE_IRQ, "local_timer")->ours.ns, 6000);
	assert_int_equal(row_of(&b, SOURCE_IRQ, "nvme0q1")->ours.count, 0);
	assert_int_equal(row_of(&b, SOURCE_THREAD, "poke")->ours.ns, 300);
	assert_int_equal(row_of(&b, SOURCE_THREAD, "poke")->theirs.count, 0);
	assert_string_equal(b.row[0].name, "local_timer");
	assert_int_equal(b.ours_ns, 2000000000);
	assert_int_equal(b.theirs_ns, 1500000900);
	rates_free(&b);
}

/* rtla's table has counters only: then culprit's have no names either. */
static void test_counters(void **state)
{
	struct ground *g = *state;
	struct osnoise_rates b;

	say(g, "                                          Operating System Noise");
	say(g, "duration:   0 00:00:02 | time is in us");
	say(g, "CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max "
	       "Single          HW          NMI          IRQ      Softirq       Thread");
	say(g, "  1 #2          2000000          40    99.99800          20           10           "
	       "3            0          500            6            4");
	ours(g, SOURCE_VECTOR, 236, "local_timer", NULL, 4000);
	ours(g, SOURCE_IRQ, 42, "nvme0q1", NULL, 1000);
	assert_int_equal(rates_make(&b, &g->reader, &g->view), 0);
	assert_false(b.theirs_detailed);
	assert_int_equal(b.theirs_ns, 2000000000);
	assert_int_equal(b.theirs.ns, 40000);
	assert_int_equal(row_of(&b, SOURCE_IRQ, "")->theirs.count, 500);
	assert_int_equal(row_of(&b, SOURCE_IRQ, "")->ours.count, 2);
	assert_int_equal(row_of(&b, SOURCE_THREAD, "")->theirs.count, 4);
	assert_int_equal(row_of(&b, SOURCE_SOFTIRQ, "")->ours.count, 0);
	rates_free(&b);
}

static void check_text(struct ground *g, const char *gaps)
{
	struct osnoise_rates b;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(rates_make(&b, &g->reader, &g->view), 0);
	assert_int_equal(render_osnoise_rates_text(&b, "a", "b", &(struct render_options){0}, out),
			 0);
	fclose(out);
	if (!strstr(text, gaps))
		fail_msg("no \"%s\" in:\n%s", gaps, text);
	free(text);
	rates_free(&b);
}

#define FRONT "       osnoise/1-113     [001] ....1    20.349031: "
#define NOISY "1000000      77158  92.28420   15987      2      0    181      0     42"
#define QUIET "1000000          0 100.00000       0      0      0    181      0     42"

/* The periods say how long the gaps were, only samples how many: they need not be traced. */
static void test_gaps_not_counted(void **state)
{
	struct ground *g = *state;
	struct osnoise_rates b;

	say(g, FRONT NOISY);
	assert_int_equal(rates_make(&b, &g->reader, &g->view), 0);
	assert_true(b.theirs.no_count && !b.theirs.no_ns);
	assert_true(row_of(&b, SOURCE_IRQ, "")->theirs.no_ns);
	rates_free(&b);
	check_text(g, "          -  77.2 ms        0.0    0 ns   gone          all gaps");
	say(g, FRONT "sample_threshold: start 20.241016755 duration 7206 ns interference 1");
	check_text(g, "        1.0  77.2 ms        0.0    0 ns   gone          all gaps");
}

static void test_no_gaps(void **state)
{
	struct ground *g = *state;

	say(g, FRONT QUIET);
	check_text(g, "        0.0    0 ns        0.0    0 ns                 all gaps");
}

/* Noises alone say nothing of gaps; neither does a period without its run time say a rate. */
static void test_nothing_known(void **state)
{
	struct ground *g = *state;

	say(g, "  <idle>-0   [001] d.h1.    10.000100: irq_noise: local_timer:236 start "
	       "10.000000000 duration 5000 ns");
	check_text(g, "          -       -        0.0    0 ns      -        all gaps");
}

/* Samples say how many gaps there were, and nothing of what interrupted; nor do the tables and the
 * histograms of timerlat. */
static void test_no_sources(void **state)
{
	struct ground *g = *state;
	struct osnoise_rates b;

	ours(g, SOURCE_SOFTIRQ, 1, "TIMER", "run_timer_softirq", 4000);
	check_text(g, "          -       -        0.5  2.00 us      -           all gaps");
	say(g, FRONT "sample_threshold: start 20.241016755 duration 7206 ns interference 1");
	say(g, FRONT "sample_threshold: start 21.241016755 duration 7206 ns interference 1");
	check_text(g, "          -        -        0.5  2.00 us      -  softirq  (all)");
	check_text(g, "does not tell what interrupted");
	assert_int_equal(rates_make(&b, &g->reader, &g->view), 0);
	assert_true(b.row[0].theirs.no_count && b.row[0].theirs.no_ns);
	assert_false(b.theirs.no_count || b.theirs.no_ns);
	rates_free(&b);
	say(g, FRONT NOISY);
	check_text(g, "has counters only");
	check_text(g, "0.5  2.00 us    new  softirq  (all)");
}

static void test_no_run_time(void **state)
{
	struct ground *g = *state;

	say(g, FRONT "osnoise: noise:5000 max_sample:4000 hw:1 nmi:0 irq:100 softirq:0 thread:0");
	assert_int_equal(g->reader.events[OSNOISE_PERIOD], 1);
	check_text(g, "an unknown time observed");
	check_text(g, "        -       -");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gaps_not_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_gaps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_sources, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_run_time, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
