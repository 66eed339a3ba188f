/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a tuning, as a page; names of any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "render/tuned.h"

static struct view view;
static struct tuned t;
static char *out;
static size_t len;

static void add_file(struct tuned_step *s, const char *path, const char *old, const char *new)
{
	assert_non_null(knobs_add(&s->knobs, KNOB_FILE, path, old, new));
}

static int begin(void **state)
{
	static const unsigned cpus[] = {3};
	struct tuned_step *s;
	struct knob *k;

	(void)state;
	world_view(&view, "host", cpus, 1);
	cpus_clear(&view.run.cpus);
	cpus_add(&view.run.cpus, 3);
	t = (struct tuned){.host = &view.host,
			   .cpus = &view.run.cpus,
			   .before = {1000000000, 100, 20000000, 5000000, 0},
			   .after = {1000000000, 10, 100000, 20000, 0},
			   .end = TUNED_NOTHING};
	s = tuned_add(&t);
	s->fix[0] = (struct tried_fix){"K01", "vmstat", 0, 0};
	s->nfixes = 1;
	s->kept = true;
	s->verdict = TRIED_HELPS;
	s->windows = 5;
	s->window_ns = 2000000000;
	s->asked[0] = (struct diff_cell){.count = 9, .total_ns = 9000, .ns_per_s = 900};
	s->asked[1].count_ratio = (struct ratio){0, 0, 0.25};
	add_file(s, "/proc/sys/vm/stat_interval", "1", "120");
	add_file(s, "/sys/kernel/mm/x", "a b", "c");
	s = tuned_add(&t);
	s->fix[0] = (struct tried_fix){"K34", "a thread", 812, 0};
	s->nfixes = 1;
	s->kept = true;
	s->verdict = TRIED_HELPS;
	k = knobs_add(&s->knobs, KNOB_THREAD, "", "3", "0-2");
	assert_non_null(k);
	k->tid = 812;
	strcpy(k->comm, "<a>|\033[1m`b");
	s = tuned_add(&t);
	s->fix[0] = (struct tried_fix){"T17", "a watchdog", 0, 0};
	s->nfixes = 1;
	s->verdict = TRIED_NOTHING;
	add_file(s, "/proc/sys/kernel/watchdog_cpumask", "0-3", "0-2");
	s = tuned_add(&t);
	s->fix[0] = (struct tried_fix){"I01", "an interrupt", 4, 0};
	s->nfixes = 1;
	strcpy(s->why, "irqbalance runs here");
	s = tuned_add(&t);
	s->fix[0] = (struct tried_fix){"K34", "a thread", 813, 0};
	s->nfixes = 1;
	strcpy(s->cut, "b\033 has ended");
	return 0;
}

static int end(void **state)
{
	(void)state;
	tuned_free(&t);
	view_free(&view);
	free(out);
	out = NULL;
	return 0;
}

static void has(const char *text)
{
	if (!strstr(out, text))
		fail_msg("'%s' is missing in:\n%s", text, out);
}

static void hasnt(const char *text)
{
	if (strstr(out, text))
		fail_msg("'%s' is in:\n%s", text, out);
}

static void render(enum sheet_form form)
{
	const struct render_options o = {.width = 100};
	FILE *f = open_memstream(&out, &len);

	assert_int_equal(render_tuned(&t, form, &o, f), 0);
	fclose(f);
}

static void as_text(void **state)
{
	(void)state;
	render(SHEET_TEXT);
	has("  time lost to hiccups           2 %   0.01 %\n");
	has("  worst hiccup               5.00 ms  20.0 us\n");
	has("Kept\n");
	has("  K01           900 ns        0       0 - 0.25");
	has("Tried in vain\n");
	has("  /proc/sys/vm/stat_interval: 1, now 120\n");
	has("  the CPUs of <a>|\\x1b[1m`b [812]: 3, now 0-2\n");
	has("Not tried\n  I01:4: irqbalance runs here\n");
	has("Not tried to the end\n  K34:813: b\\x1b has ended\n");
	has("It ended because nothing is left to try.\n");
	hasnt("watchdog_cpumask"); /* put back */
	hasnt("\033");
}

static void as_markup(void **state)
{
	(void)state;
	render(SHEET_MARKDOWN);
	has("\\<a\\>|\\\\x1b\\[1m\\`b \\[812\\]");
	has("\n## Kept\n\n| fix ");
	free(out);
	render(SHEET_HTML);
	has("<li>the CPUs of &lt;a&gt;|\\x1b[1m`b [812]: 3, now 0-2</li>");
	hasnt("<a>");
}

static void as_json(void **state)
{
	FILE *f = open_memstream(&out, &len);

	(void)state;
	assert_int_equal(render_tuned_json(&t, f), 0);
	fclose(f);
	has("\"schema\": \"culprit.tune/1\"");
	has("\"why_not\": \"irqbalance runs here\"");
	has("\"cut_short\": \"b\\\\x1b has ended\"");
	has("{\"kind\": \"thread\", \"tid\": 812, \"comm\": \"<a>|\\\\x1b[1m`b\", ");
}

/* Hiccups that were not read count, and no goal is met with them. */
static void lost_hiccups(void **state)
{
	struct triggers goal = {.count = 1};
	struct tuned_look l;
	struct cpu *c = &view.cpu[0];

	(void)state;
	c->observed_ns = 1000000000;
	c->hiccups.count = 2;
	c->hiccups.sum = 500;
	c->hiccups.max = 300;
	assert_int_equal(tuned_judge(&view, &goal), GOAL_MET);
	c->hiccups_lost = 3;
	c->hiccups_lost_ns = 7000;
	assert_int_equal(tuned_judge(&view, &goal), GOAL_UNKNOWN);
	goal.row[0].pulled = 1;
	assert_int_equal(tuned_judge(&view, &goal), GOAL_MISSED);
	l = tuned_sum_up(&view);
	assert_int_equal(l.hiccups, 5);
	assert_int_equal(l.lost_ns, 7500);
	assert_int_equal(l.worst_ns, 300);
	assert_int_equal(l.unread, 3);
	t.after = l;
	t.goal = "worst<1us";
	render(SHEET_TEXT);
	has("Of the hiccups after, 3 came faster than they could be read");
	has("Whether the goal, worst<1us, is met is not known: hiccups were lost");
}

/* Ended in the look behind the last change. */
static void no_last_look(void **state)
{
	(void)state;
	t.after = (struct tuned_look){0};
	t.goal = "worst<1us";
	t.end = TUNED_CUT;
	strcpy(t.cut, "SIGINT came");
	render(SHEET_TEXT);
	has("It ended because SIGINT came.\n");
	hasnt("Before and after");
	has("No whole window was measured behind the last change.");
	has("is met is not known: it was not measured as the settings are now.");
	free(out);
	as_json(state);
	has("\"after\": null");
	has("\"goal_met\": null");
	has("\"ended\": \"SIGINT came\"");
}

/* Says no more than that where nothing was changed. */
static void nothing_changed(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < t.nsteps; i++) {
		t.step[i].kept = false;
		knobs_free(&t.step[i].knobs);
		t.step[i].knobs = (struct knobs){0};
	}
	render(SHEET_TEXT);
	has("Nothing was changed.");
	hasnt("as it was");
	free(out);
	t.dry = true;
	render(SHEET_TEXT);
	has("Nothing is changed, and no fix would be tried.");
}

/* Says what was not put back, and never that all was. */
static void put_back(void **state)
{
	render(SHEET_TEXT);
	has("All else is as it was.");
	free(out);
	t.step[2].others = 2;
	t.step[2].gone = 1;
	t.step[2].offline = 3;
	render(SHEET_TEXT);
	has("All else is as it was, but for:");
	has("  2 set by somebody else meanwhile: left so\n");
	has("  1 whose file or thread is no longer there\n");
	has("  3 whose CPUs lack some that are offline\n");
	free(out);
	t.step[2].stuck = true;
	t.step[0].kept = t.step[1].kept = false;
	t.after = (struct tuned_look){0};
	t.goal = "worst<1us";
	render(SHEET_TEXT);
	has("is met is not known: it was not measured as the settings are now.");
	has("Putting back failed: whether all that was changed is as it was is not known.");
	hasnt("is as it was.");
	hasnt("but for:");
	free(out);
	as_json(state);
	has("\"left_to_others\": 2");
	has("\"gone\": 1");
	has("\"without_offline_cpus\": 3");
	has("\"undo_failed\": true");
}

/* A fix with a lag is not measured in turn. */
static void order_of_windows(void **state)
{
	(void)state;
	t.step[1].in_turn = t.step[2].in_turn = true;
	render(SHEET_TEXT);
	has("with the fix, in turn;");
	has("Of K01 all windows with the fix are behind those without");
	free(out);
	t.step[0].in_turn = true;
	render(SHEET_TEXT);
	hasnt("behind those without");
	free(out);
	t.step[0].in_turn = t.step[1].in_turn = t.step[2].in_turn = false;
	render(SHEET_TEXT);
	hasnt("in turn");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(as_text),      TEST(as_markup),       TEST(as_json),  TEST(lost_hiccups),
		TEST(no_last_look), TEST(nothing_changed), TEST(put_back), TEST(order_of_windows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
