/* Stopped handlers: told from those that take long by themselves, and only with a sign of a
 * stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "model/stops.h"
#include "model/report.h"
#include "render/render.h"

static struct view v;

static int begin(void **state)
{
	static const unsigned cpus[] = {3};

	(void)state;
	memset(&v, 0, sizeof(v));
	strcpy(v.host.hypervisor, "KVM");
	return view_cpus(&v, cpus, 1);
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
	v.cpu[0].smi_count = 2;
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 2);
	v.cpu[0].smi_count = 0;
	add(SOURCE_OUTSIDE, "hardware or hypervisor", 2, 900000);
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 0);
	add(SOURCE_OUTSIDE, "simultaneous", 2, 900000);
	stops_find(&v, 0);
	assert_int_equal(s->stopped.count, 2);
}

/* Few samples; less than 50 us; less than eight times; one of fifty; a thread, whose turns have no
 * usual length. */
static void test_no_stops(void **state)
{
	static const struct {
		enum source_kind kind;
		uint64_t count, ns, few, long_ns;
	} is[] = {
		{SOURCE_VECTOR, 190, 2000, 1, 1000000},   {SOURCE_VECTOR, 1000, 2000, 1, 49000},
		{SOURCE_VECTOR, 1000, 20000, 1, 150000},  {SOURCE_VECTOR, 1000, 2000, 20, 1000000},
		{SOURCE_THREAD, 1000, 2000, 1, 1000000},  {SOURCE_FAULT, 1000, 2000, 1, 1000000},
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
		TEST(test_what_speaks_for_a_stop),
		TEST(test_no_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
