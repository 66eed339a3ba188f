/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stopped handlers: told from those that take long by themselves, and only with a sign of a
 * stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "model/stops.h"
#include "model/report.h"
#include "render/render.h"

static struct view v;

static int begin(void **state)
{
	static const unsigned cpus[] = {3};

	(void)state;
	world_view(&v, "guest", cpus, 1);
	strcpy(v.host.hypervisor, "KVM");
	return 0;
}

static int end(void **state)
{
	(void)state;
	view_free(&v);
	return 0;
}

static struct source *add(enum source_kind kind, const char *name, uint64_t count, uint64_t ns)
{
	struct sources *t = &v.cpu[0].sources;
	struct source *s = t->row[sources_find(t, kind, 0, name, NULL)];

	s->word = word_of(name);
	hist_add_n(&s->net, ns, count);
	return s;
}

/* The measured case: a tick of 18 us in which the host took 1.47 ms. */
static void test_a_stop(void **state)
{
	struct source *s = add(SOURCE_VECTOR, "local_timer", 2500, 18000);
	char text[REPORT_TEXT];

	(void)state;
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 0);
	assert_int_equal(stops_usual_max(s), 18000);
	assert_null(report_stops(s, text, sizeof(text)));
	add(SOURCE_VECTOR, "local_timer", 1, 1470000);
	for (int again = 0; again < 2; again++) {
		stops_find(&v, 0);
		assert_int_equal(s->stopped.count, 1);
		assert_string_equal(report_stops(s, text, sizeof(text)),
				    "max 1.47 ms: likely stopped inside; p99 18.4 us");
		assert_in_range(s->stopped.usual_ns, 18000, 18000 * 33 / 32);
		assert_in_range(s->stopped.ns, 1452000 * 31 / 32, 1452000 * 33 / 32);
		assert_in_range(stops_usual_max(s), 18000, 18000 * 33 / 32);
		assert_in_range(stops_usual_sum(s), 2501 * 18000 - 1470000 / 32,
				2501 * 18000 + 1470000 / 32);
	}
}

/* Few runs: by their median, or by what no handler takes. Measured: a guest that stood still for
 * 224 ms in the timer's interrupt, and for 400 ms in one that another CPU had asked for. */
static void test_a_stop_of_few(void **state)
{
	static const struct {
		uint64_t count, stop_ns, usual_ns;
		const char *text;
	} is[] = {
		{40, 224000000, 18000, "max 224 ms: likely stopped inside; p50 18.4 us"},
		{9, 400000000, 18000, "max 400 ms: likely stopped inside; p50 18.4 us"},
		{8, 400000000, 0, "max 400 ms: likely stopped inside"},
		{0, 400000000, 0, "max 400 ms: likely stopped inside"},
	};
	char name[16] = "a", text[REPORT_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++, name[0]++) {
		struct source *s = add(SOURCE_VECTOR, name, is[i].count, 18000);
		uint64_t others = is[i].count * 18000;

		add(SOURCE_VECTOR, name, 1, is[i].stop_ns);
		stops_find(&v, 0);
		assert_int_equal(s->stopped.count, 1);
		assert_string_equal(report_stops(s, text, sizeof(text)), is[i].text);
		/* the one that is stopped is known to the nanosecond */
		assert_in_range(s->stopped.usual_ns, is[i].usual_ns, is[i].usual_ns * 33 / 32);
		assert_int_equal(s->stopped.ns, is[i].stop_ns - s->stopped.usual_ns);
		assert_int_equal(stops_usual_sum(s), others + s->stopped.usual_ns);
		assert_in_range(stops_usual_max(s), is[i].count ? 18000 : 0, 18000 * 33 / 32);
	}
}

static void test_what_speaks_for_a_stop(void **state)
{
	struct source *s = add(SOURCE_IRQ, "eth0", 1000, 3000);

	(void)state;
	add(SOURCE_IRQ, "eth0", 2, 900000);
	v.host.hypervisor[0] = 0;
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 0); /* bare metal */
	v.cpu[0].smi_known = true;
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 0); /* no SMI came */
	v.cpu[0].smi_count = 1;
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 0); /* nobody knows which of the two it was */
	v.cpu[0].smi_count = 2;
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 2);
	add(SOURCE_IRQ, "eth1", 1000, 3000);
	add(SOURCE_IRQ, "eth1", 1, 900000); /* nobody knows which of three */
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 0);
	v.cpu[0].smi_count = 0;
	add(SOURCE_OUTSIDE, "hardware or hypervisor", 2, 900000);
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 0);
	add(SOURCE_OUTSIDE, "simultaneous", 2, 900000);
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 2);
}

/* Less than 50 us; less than eight times; one of fifty; few runs and a millisecond, as a batch of a
 * softirq takes; half of them; less than 64 times the median; a few, and less than any handler may
 * take; a thread, a fault, whose times have no usual length. */
static void test_no_stops(void **state)
{
	static const struct {
		enum source_kind kind;
		uint64_t count, ns, few, long_ns;
	} is[] = {
		{SOURCE_VECTOR, 1000, 2000, 1, 49000},
		{SOURCE_VECTOR, 1000, 20000, 1, 150000},
		{SOURCE_VECTOR, 1000, 2000, 20, 1000000},
		{SOURCE_SOFTIRQ, 190, 2000, 1, 9500000},
		{SOURCE_VECTOR, 20, 2000, 21, 20000000},
		{SOURCE_VECTOR, 100, 1000000, 1, 60000000},
		{SOURCE_VECTOR, 8, 2000, 1, 95000000},
		{SOURCE_THREAD, 1000, 2000, 1, 1000000},
		{SOURCE_FAULT, 1000, 2000, 1, 1000000},
		{SOURCE_OUTSIDE, 1000, 2000, 1, 1000000},
	};
	char name[16] = "a";

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++, name[0]++) {
		struct source *s = add(is[i].kind, name, is[i].count, is[i].ns);

		add(is[i].kind, name, is[i].few, is[i].long_ns);
		stops_find(&v, 0);
		assert_int_equal(s->stopped.count, 0);
		assert_int_equal(stops_usual_max(s), is[i].long_ns);
		assert_int_equal(stops_usual_sum(s),
				 is[i].count * is[i].ns + is[i].few * is[i].long_ns);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_stop),
		TEST(test_a_stop_of_few),
		TEST(test_what_speaks_for_a_stop),
		TEST(test_no_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
