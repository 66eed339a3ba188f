/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers: the grammar, one clear error for each mistake, and what pulls them: drawn hiccups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../world/world.h"
#include "model/trigger.h"

#define US  1000ULL
#define MS  1000000ULL
#define SEC 1000000000ULL
#define ALL (~TRIGGER_GOAL)
#define RUN (TRIGGER_BIT(HICCUP) | TRIGGER_BIT(LOST) | TRIGGER_BIT(COUNT))

/* ---- the grammar ---- */

static void test_words(void **state)
{
	static const struct {
		const char *text;
		struct trigger is;
	} row[] = {
		{"hiccup>100us", {.event = TRIGGER_HICCUP, .above = 100 * US}},
		{"  hiccup > 1.5ms  ", {.event = TRIGGER_HICCUP, .above = 1500 * US}},
		{"hiccup>50us by 'softirq NET_RX'",
		 {.event = TRIGGER_HICCUP, .above = 50 * US, .who = "softirq NET_RX"}},
		{"hiccup>50us by \"it's\"",
		 {.event = TRIGGER_HICCUP, .above = 50 * US, .who = "it's"}},
		{"hiccup>1us by K09",
		 {.event = TRIGGER_HICCUP, .above = US, .who = "K09", .cause = true}},
		/* A thread may be called so: in quotes it is no cause. */
		{"hiccup>1us by 'K09'", {.event = TRIGGER_HICCUP, .above = US, .who = "K09"}},
		{"wake>200us by kworker/*",
		 {.event = TRIGGER_WAKE, .above = 200 * US, .who = "kworker/*"}},
		{"late", {.event = TRIGGER_LATE}},
		{"late > 1ms", {.event = TRIGGER_LATE, .above = MS}},
		{"late by app", {.event = TRIGGER_LATE, .who = "app"}},
		{"lost>0.1%/1s", {.event = TRIGGER_LOST, .percent = 0.1, .window_ns = SEC}},
		{"lost > 5 / 10ms", {.event = TRIGGER_LOST, .percent = 5, .window_ns = 10 * MS}},
		{"lost>5/100ms", {.event = TRIGGER_LOST, .percent = 5, .window_ns = 100 * MS}},
		{"count>1000/s of reschedule",
		 {.event = TRIGGER_COUNT, .above = 1000, .window_ns = SEC, .who = "reschedule"}},
		{"SIGUSR1", {.event = TRIGGER_SIGUSR1}},
		{" end ", {.event = TRIGGER_END}},
		{"count>0/10s", {.event = TRIGGER_COUNT, .window_ns = 10 * SEC}},
	};
	struct trigger t;
	char why[400];

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		why[0] = 0;
		assert_int_equal(trigger_parse(row[i].text, ALL, &t, why, sizeof(why)), 0);
		assert_string_equal(t.text, row[i].text);
		assert_int_equal(t.event, row[i].is.event);
		assert_int_equal(t.above, row[i].is.above);
		assert_float_equal(t.percent, row[i].is.percent, 0);
		assert_int_equal(t.window_ns, row[i].is.window_ns);
		assert_string_equal(t.who, row[i].is.who);
		assert_int_equal(t.cause, row[i].is.cause);
	}
}

static void test_goals(void **state)
{
	struct trigger t;
	char why[200];

	(void)state;
	assert_int_equal(trigger_parse("worst < 20us", RUN | TRIGGER_GOAL, &t, why, sizeof(why)),
			 0);
	assert_int_equal(t.event, TRIGGER_HICCUP);
	assert_int_equal(t.above, 20 * US);
	assert_int_equal(trigger_parse("lost<0.1%/1s", RUN | TRIGGER_GOAL, &t, why, sizeof(why)),
			 0);
	assert_int_equal(t.event, TRIGGER_LOST);
	assert_int_not_equal(trigger_parse("hiccup>20us", RUN | TRIGGER_GOAL, &t, why, sizeof(why)),
			     0);
	assert_int_not_equal(trigger_parse("worst>20us", RUN, &t, why, sizeof(why)), 0);
}

/* An example that a reason gives is taken. */
static void test_mistaken_goals(void **state)
{
	static const struct {
		const char *text, *why;
	} row[] = {
		{"", "'': a goal begins with worst, lost or count, as in worst<100us"},
		{"wurst<1us", "'wurst<1us': a goal begins with worst, lost or count, as in "
			      "worst<100us"},
		{"late", "'late': late cannot happen here: use worst, lost or count"},
		{"worst", "'worst': behind worst a < and a limit are missing, as in worst<100us"},
		{"hiccup>20us", "'hiccup>20us': behind hiccup a < and a limit are missing, as in "
				"hiccup<100us"},
		{"lost>0.1%/1s", "'lost>0.1%/1s': behind lost a < and a limit are missing, as in "
				 "lost<0.1%/1s"},
		{"lost<0.1%", "'lost<0.1%': within what time is missing, as in lost<0.1%/1s"},
		{"count<10", "'count<10': within what time is missing, as in count<1000/s"},
	};
	struct trigger t;
	char why[200];

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const char *example;

		assert_int_equal(
			trigger_parse(row[i].text, RUN | TRIGGER_GOAL, &t, why, sizeof(why)),
			-EINVAL);
		assert_string_equal(why, row[i].why);
		example = strstr(why, "as in ");
		if (example && trigger_parse(example + strlen("as in "), RUN | TRIGGER_GOAL, &t,
					     why, sizeof(why)))
			fail_msg("not taken: %s", why);
	}
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *why;
	} row[] = {
		{"", "'': a trigger begins with hiccup, lost or count, as in hiccup>100us"},
		{"hicup>1us", "'hicup>1us': a trigger begins with hiccup, lost or count, as in "
			      "hiccup>100us"},
		{"wake>1us", "'wake>1us': wake cannot happen here: use hiccup, lost or count"},
		{"hiccup", "'hiccup': behind hiccup a > and a limit are missing, as in "
			   "hiccup>100us"},
		{"hiccup<1us", "'hiccup<1us': behind hiccup a > and a limit are missing, as in "
			       "hiccup>100us"},
		{"hiccup>", "'hiccup>': '': not a time: write a number and a unit, like 200ms"},
		{"hiccup>100", "'hiccup>100': '100': no unit: write 100us or 100ms, say"},
		{"hiccup>1us 5", "'hiccup>1us 5': '5' behind it means nothing: only by WHO can "
				 "follow"},
		{"hiccup>1us of a", "'hiccup>1us of a': 'of a' behind it means nothing: only by "
				    "WHO can follow"},
		{"hiccup>1us by", "'hiccup>1us by': who it is by is missing"},
		{"hiccup>1us by ", "'hiccup>1us by ': who it is by is missing"},
		{"hiccup>1us by ''", "'hiccup>1us by ''': who it is by is missing"},
		{"hiccup>1us by 'a", "'hiccup>1us by 'a': the quote is not closed"},
		{"hiccup>1us by a b", "'hiccup>1us by a b': a name with spaces needs quotes, as in "
				      "by 'softirq NET_RX'"},
		{"lost>1%", "'lost>1%': within what time is missing, as in lost>0.1%/1s"},
		{"lost>101%/s", "'lost>101%/s': '101%': not a share: must be more than 0 and at "
				"most 100"},
		{"lost>1%/1us", "'lost>1%/1us': the time behind / must be 1 ms or more"},
		{"end>1s", "'end>1s': end cannot happen here: use hiccup, lost or count"},
		{"lost>1%/s by a", "'lost>1%/s by a': 'by a' behind it means nothing"},
		{"count>-1/s", "'count>-1/s': '-1': not a whole number"},
		{"count>5/", "'count>5/': '': not a time: write a number and a unit, like 200ms"},
		{"count>5/parsec",
		 "'count>5/parsec': '1parsec': unknown unit 'parsec': use ns, us, "
		 "ms, s, m, h or d"},
	};
	char why[400], longest[400];
	struct trigger t;

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		if (!trigger_parse(row[i].text, RUN, &t, why, sizeof(why)))
			fail_msg("taken: %s", row[i].text);
		if (strncmp(why, row[i].why, strlen(row[i].why)))
			assert_string_equal(why, row[i].why);
	}
	assert_int_not_equal(trigger_parse("end>1s", ALL, &t, why, sizeof(why)), 0);
	assert_string_equal(why, "'end>1s': '>1s' behind it means nothing");
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "hiccup>1us by ", 14);
	longest[14 + TRIGGER_WHO] = 0;
	assert_int_not_equal(trigger_parse(longest, RUN, &t, why, sizeof(why)), 0);
	assert_non_null(strstr(why, "who it is by is too long"));
	longest[13 + TRIGGER_WHO] = 0;
	assert_int_equal(trigger_parse(longest, RUN, &t, why, sizeof(why)), 0);
	longest[13 + TRIGGER_WHO] = longest[14 + TRIGGER_WHO] = 'a';
	longest[399] = 0;
	assert_int_not_equal(trigger_parse(longest, RUN, &t, why, sizeof(why)), 0);
}

/* ---- what pulls them ---- */

/* A CPU with three sources, and hiccups drawn by hand. */
static struct heard {
	struct view view;
	uint32_t worker, net, tick;
	struct triggers triggers;
	struct trigger_hit hit;
} s;

static void begin(const char *text)
{
	unsigned cpu = 3;
	struct sources *t;
	char why[300];

	memset(&s, 0, sizeof(s));
	world_view(&s.view, "", &cpu, 1);
	t = &s.view.cpu[0].sources;
	s.worker = sources_find(t, SOURCE_THREAD, 7, "kworker/3:1", "vmstat_update");
	s.net = sources_find(t, SOURCE_SOFTIRQ, 3, "NET_RX", NULL);
	s.tick = sources_find(t, SOURCE_VECTOR, 1, "local_timer", NULL);
	assert_int_equal(trigger_parse(text, ALL, &s.triggers.row[0], why, sizeof(why)), 0);
	s.triggers.count = 1;
	assert_int_equal(triggers_begin(&s.triggers, 1), 0);
}

static void end(void)
{
	triggers_free(&s.triggers);
	view_free(&s.view);
}

static bool hear_of(uint64_t at, uint64_t worker, uint64_t net, uint64_t outside,
		    enum window window)
{
	struct piece pieces[] = {{.source = s.worker, .net_ns = worker, .count = !!worker},
				 {.source = s.net, .net_ns = net, .count = 2 * !!net}};
	struct account a = {.start_ns = at,
			    .duration_ns = worker + net + outside,
			    .attributed_ns = worker + net,
			    .outside_ns = outside,
			    .spot.window = window,
			    .pieces = pieces,
			    .npieces = 2};

	return triggers_hear(&s.triggers, &s.view, 0, &a, &s.hit);
}

static bool hear(uint64_t at, uint64_t worker, uint64_t net, uint64_t outside)
{
	return hear_of(at, worker, net, outside, WINDOW_UNKNOWN);
}

static void test_hiccups(void **state)
{
	(void)state;
	begin("hiccup>100us");
	assert_false(hear(SEC, 60 * US, 40 * US, 0)); /* not longer */
	assert_true(hear(2 * SEC, 60 * US, 40 * US, 1));
	assert_string_equal(s.hit.who, "thread kworker/3:1");
	assert_int_equal(s.hit.start_ns, 2 * SEC);
	assert_int_equal(s.hit.duration_ns, 100 * US + 1);
	assert_true(hear(3 * SEC, 0, 0, 101 * US));
	assert_string_equal(s.hit.who, "outside");
	s.view.run.traced = false;
	assert_true(hear(4 * SEC, 0, 0, 101 * US));
	assert_string_equal(s.hit.who, ""); /* nobody knows whose it is */
	assert_int_equal(s.triggers.row[0].pulled, 3);
	end();
}

static void test_by_whom(void **state)
{
	static const char *const who[] = {"'softirq NET_RX'", "NET_RX", "'softirq *'", "NET*"};

	(void)state;
	for (size_t i = 0; i < sizeof(who) / sizeof(who[0]); i++) {
		char text[80];

		snprintf(text, sizeof(text), "hiccup>50us by %s", who[i]);
		begin(text);
		assert_true(hear(SEC, 40 * US, 41 * US, 40 * US));
		assert_false(hear(SEC, 41 * US, 41 * US, 0)); /* no more than another */
		assert_false(hear(SEC, 30 * US, 40 * US, 41 * US));
		assert_false(hear(SEC, 0, 50 * US, 0)); /* too short */
		end();
	}
	begin("hiccup>50us by vmstat_update"); /* by the function */
	assert_true(hear(SEC, 40 * US, 30 * US, 0));
	end();
	begin("hiccup>50us by outside");
	assert_true(hear(SEC, 30 * US, 30 * US, 31 * US));
	assert_false(hear(SEC, 30 * US, 32 * US, 31 * US));
	end();
	begin("hiccup>50us by *"); /* all together */
	assert_true(hear(SEC, 30 * US, 32 * US, 31 * US));
	end();
}

static void find_cause(void *ctx, uint32_t lane, struct source *source)
{
	(void)ctx;
	assert_int_equal(lane, 0);
	source->cause = source->kind == SOURCE_THREAD ? "K09" : NULL;
}

static void test_by_cause(void **state)
{
	(void)state;
	begin("hiccup>50us by K09");
	s.triggers.find_cause = find_cause;
	assert_true(hear(SEC, 31 * US, 30 * US, 0));
	assert_false(hear(SEC, 30 * US, 31 * US, 0));
	end();
}

static void test_windows(void **state)
{
	(void)state;
	begin("wake>50us");
	assert_true(hear_of(SEC, 51 * US, 0, 0, WINDOW_WOKEN));
	assert_false(hear_of(SEC, 50 * US, 0, 0, WINDOW_WOKEN));
	assert_false(hear_of(SEC, 51 * US, 0, 0, WINDOW_PREEMPTED));
	assert_false(hear_of(SEC, 51 * US, 0, 0, WINDOW_UNKNOWN));
	s.triggers.wakes = true;
	assert_true(hear_of(SEC, 51 * US, 0, 0, WINDOW_UNKNOWN));
	end();
	begin("late");
	assert_true(hear_of(SEC, 1, 0, 0, WINDOW_REPORTED));
	assert_false(hear_of(SEC, 51 * US, 0, 0, WINDOW_WOKEN));
	end();
}

/* 1 % of 64 ms is 640 us: each 64th is 1 ms. */
static void test_lost(void **state)
{
	uint64_t at = 1000 * MS;

	(void)state;
	begin("lost>1%/64ms");
	assert_false(hear(at, 320 * US, 0, 0));
	assert_false(hear(at + 10 * MS, 320 * US, 0, 0)); /* 640 us: not more */
	assert_true(hear(at + 62 * MS, 0, 1 * US, 0));
	assert_false(hear(at + 62 * MS, 0, 600 * US, 0)); /* from zero again */
	/* Both ends of the time count, and nothing older. */
	at += 1000 * MS;
	assert_false(hear(at + 999 * US, 0, 2 * US, 0)); /* 1 us in each 64th */
	assert_true(hear(at + 64 * MS, 639 * US, 1 * US, 0));
	at += 1000 * MS;
	assert_false(hear(at, 600 * US, 0, 0));
	assert_false(hear(at + 64 * MS, 600 * US, 0, 0));
	/* A hiccup longer than all of the time, spread over it. */
	at += 1000 * MS;
	assert_true(hear(at, 900 * MS, 0, 0));
	/* Windows that programs report may overlap. */
	assert_false(hear_of(at + 2000 * MS, 60 * MS, 0, 0, WINDOW_REPORTED));
	end();
}

static void test_counts(void **state)
{
	uint64_t at = 1000 * MS;

	(void)state;
	begin("count>4/64ms of NET_RX"); /* each hiccup has two */
	assert_false(hear(at, 1, 1, 0));
	assert_false(hear(at + 20 * MS, 1, 1, 0));
	assert_false(hear(at + 64 * MS, 1, 1, 0)); /* the first one is too old */
	assert_false(hear(at + 65 * MS, 1, 0, 0));
	assert_true(hear(at + 66 * MS, 1, 1, 0));
	end();
	begin("count>1/64ms");
	assert_false(hear(at, 1, 1, 0));
	assert_true(hear(at + 1 * MS, 0, 0, 1));
	end();
}

/* No share of drawn random hiccups is called larger than it is: against the exact sum. */
static void test_never_wrongly(void **state)
{
	uint64_t at = SEC, start[4000], took[4000], x = 88172645463325252ULL;
	unsigned pulled = 0, first = 0;

	(void)state;
	begin("lost>10%/100ms");
	for (unsigned i = 0; i < 4000; i++) {
		uint64_t sum = 0;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		start[i] = at += x % 5000000;
		took[i] = 1 + x % 977 * 700;
		at += took[i];
		if (!hear(start[i], took[i], 0, 0))
			continue;
		for (unsigned k = first; k <= i; k++) {
			uint64_t from = start[k] + 100 * MS > at ? start[k] : at - 100 * MS;

			if (start[k] + took[k] > from)
				sum += start[k] + took[k] - from;
		}
		assert_true(sum > 10 * MS);
		first = i + 1;
		pulled++;
	}
	assert_true(pulled > 10 && pulled < 3000);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),          cmocka_unit_test(test_goals),
		cmocka_unit_test(test_mistaken_goals), cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_hiccups),        cmocka_unit_test(test_by_whom),
		cmocka_unit_test(test_by_cause),       cmocka_unit_test(test_windows),
		cmocka_unit_test(test_lost),           cmocka_unit_test(test_counts),
		cmocka_unit_test(test_never_wrongly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
