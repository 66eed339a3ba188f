/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a CPU's table and the parts of a worst hiccup, whatever format lays them out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/report.h"
#include "render/render.h"
#include "../world/made.h"

static struct report report;
static struct report_rows rows;

static int begin(void **state)
{
	static const unsigned cpus[] = {3};

	(void)state;
	report_init(&report, "web-07", cpus, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(rows.row);
	rows.row = NULL;
	report_free(&report);
	return 0;
}

/* n sources of one hiccup each: 1 us, 2 us, ... and edge_ns in the last. */
static void some(uint32_t n, uint64_t edge_ns)
{
	char name[16];

	for (uint32_t i = 1; i <= n; i++) {
		snprintf(name, sizeof(name), "irq-%u", i);
		report_hiccup(&report, 0, i * 1000000ULL, i == n ? edge_ns : 0, 0);
		report_piece(&report, SOURCE_IRQ, i, name, NULL, i * 1000ULL);
		report_end(&report, NULL);
	}
	assert_int_equal(report_rows(&report.view, 0, 0, &rows), 0);
}

static void test_edge_by_size(void **state)
{
	char who[REPORT_WHO + 2];

	(void)state;
	some(3, 2500);
	assert_int_equal(rows.n, 4);
	assert_int_equal(rows.row[0].ns, 3000);
	assert_int_equal(rows.row[1].kind, TIMELINE_EDGE);
	assert_int_equal(rows.row[1].ns, 2500);
	assert_null(rows.row[1].source);
	assert_string_equal(report_row_kind(&rows.row[1]), "edge");
	assert_int_equal(rows.row[3].ns, 1000);
	assert_int_equal(rows.whole_ns, 8500);
	assert_int_equal(rows.longest_ns, 3000);
	assert_string_equal(report_row_who(&rows.row[0], who), "\1irq-3 (irq 3)\2");
	assert_string_equal(report_unmark(who), "irq-3 (irq 3)");
}

/* No row for the rest of one; else all time is in the rows. */
static void test_rest(void **state)
{
	uint64_t sum = 0;
	char who[REPORT_WHO + 2];

	(void)state;
	some(17, 100);
	assert_int_equal(rows.n, 18);
	free(rows.row);
	some(20, 0); /* 17 of them the second time */
	assert_int_equal(rows.n, 18);
	assert_int_equal(rows.row[16].kind, TIMELINE_EDGE);
	assert_int_equal(rows.row[17].kind, TIMELINE_KINDS);
	assert_int_equal(rows.row[17].more, 4);
	assert_string_equal(report_row_who(&rows.row[17], who), "4 more sources (all in -f json)");
	assert_string_equal(report_row_kind(&rows.row[17]), "");
	for (uint32_t i = 0; i < rows.n; i++)
		sum += rows.row[i].ns;
	assert_int_equal(sum, rows.whole_ns);
}

static void advise(uint32_t row, const char *cause, const char *advice)
{
	struct source *s = report.view.cpu[0].sources.row[row];

	s->cause = cause;
	s->advice = advice ? strdup(advice) : NULL;
}

static void test_as_above(void **state)
{
	(void)state;
	some(6, 0);
	free(rows.row);
	advise(5, "T01", "nohz_full=3");
	advise(4, "T01", "nohz_full=3");
	advise(3, "T01", NULL);
	advise(2, "S01", NULL);
	advise(1, "T01", NULL);
	assert_int_equal(report_rows(&report.view, 0, 0, &rows), 0);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(rows.row[i].as_above, i == 1 || i == 4);
}

static void test_share(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(report_share(0, 0, text, sizeof(text)), "0.00");
	assert_string_equal(report_share(1, 100000, text, sizeof(text)), "<0.01");
	assert_string_equal(report_share(1, 20000, text, sizeof(text)), "0.01");
	assert_string_equal(report_share(1, 3, text, sizeof(text)), "33.33");
}

static void test_notes(void **state)
{
	struct sources *t = &report.view.cpu[0].sources;
	struct source *s;
	char *notes;

	(void)state;
	report_hiccup(&report, 0, 1000000, 0, 0);
	s = report_piece(&report, SOURCE_THREAD, 812, "\1poke\n", NULL, 5000);
	report_asked(&report, s, 4414, "\2a\nb", 7, 2);
	s->affinity = "0-3";
	strcpy(s->memory_of, "java");
	s->unseen.count = 1;
	s->unseen.ns = 3410;
	source_add(s, 1000, false);
	report_lost(&report, 7, 300);
	report_end(&report, NULL);
	notes = report_notes(t, s, false);
	assert_string_equal(notes, "2 runs; 1 interruption began with it\n"
				   "others left unseen, 1 time: up to 3.41 us\n"
				   "may go to cpu \0010-3\2\n"
				   "memory of \1java\2\n"
				   "by \1\\x02a\\x0ab [4414]\2 on cpu 7: \1poke_ask\2 (1 of 1)\n");
	free(notes);
	s->memory_of[0] = 0;
	s->memories = true;
	s->askers->row[0].count = 9123;
	s->askers->known = 10456;
	notes = report_notes(t, s, false);
	assert_non_null(strstr(notes, "\nmemory of several\n"));
	assert_non_null(strstr(notes, " (9,123 of 10,456)\n"));
	free(notes);
	notes = report_notes(t, t->row[t->count - 1], false);
	assert_string_equal(notes, "7 records missing; most seen: \1\\x01poke\\x0a [812]\2\n");
	free(notes);
}

static bool has_memories(void)
{
	struct json j;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool has;

	assert_non_null(out);
	json_init(&j, out);
	assert_int_equal(render_json_cpu(&j, &report.view, 0), 0);
	fclose(out);
	has = strstr(text, "\"memories\": true") != NULL;
	free(text);
	return has;
}

/* Memory of several is another thing than memory that is not known. */
static void test_memories_in_json(void **state)
{
	struct source *s;

	(void)state;
	report_hiccup(&report, 0, 1000000, 0, 0);
	s = report_piece(&report, SOURCE_VECTOR, 3, "call_function", NULL, 5000);
	report_end(&report, NULL);
	assert_false(has_memories());
	s->memories = true;
	assert_true(has_memories());
}

static void test_parts(void **state)
{
	struct report_part part[REPORT_PARTS];
	struct piece piece[REPORT_PIECES_MAX + 2];
	struct worst w = {.pieces = piece, .edge_ns = 5, .lost_ns = 6, .outside_ns = 7};
	char name[REPORT_PART];

	(void)state;
	some(1, 0);
	for (uint32_t i = 0; i < REPORT_PIECES_MAX + 2; i++)
		piece[i] = (struct piece){.source = 0, .net_ns = 100 - i};
	piece[0].asker.kind = ASKER_INTERRUPT;
	piece[1].asker.kind = ASKER_THREAD;
	w.npieces = REPORT_PIECES_MAX + 1; /* none is left out for the sake of one line */
	assert_int_equal(report_parts(&report.view, &w, part), REPORT_PARTS);
	assert_int_equal(part[REPORT_PIECES_MAX].ns, 100 - REPORT_PIECES_MAX);
	assert_null(part[0].asker);
	assert_ptr_equal(part[1].asker, &piece[1].asker);
	w.npieces++;
	assert_int_equal(report_parts(&report.view, &w, part), REPORT_PARTS);
	assert_int_equal(part[REPORT_PIECES_MAX].more, 2);
	assert_int_equal(part[REPORT_PIECES_MAX].ns, 200 - 2 * REPORT_PIECES_MAX - 1);
	assert_string_equal(report_part_name(&report.view, &part[REPORT_PIECES_MAX], name),
			    "2 more");
	assert_string_equal(report_part_name(&report.view, &part[REPORT_PIECES_MAX + 1], name),
			    "edge");
	assert_string_equal(report_part_name(&report.view, &part[REPORT_PIECES_MAX + 2], name),
			    NOT_RECORDED);
	assert_string_equal(report_part_name(&report.view, &part[REPORT_PIECES_MAX + 3], name),
			    "outside the kernel");
	strcpy(report.view.run.rest, "not\n seen");
	assert_string_equal(report_part_name(&report.view, &part[REPORT_PIECES_MAX + 3], name),
			    "\1not\\x0a seen\2");
}

static void notes_are(const char *want)
{
	char *notes = report_thread_notes(&report.view, &report.view.cpu[0]);

	assert_string_equal(notes, want);
	free(notes);
}

/* Waits that reach beyond the window are in no figure. */
static void test_wait_notes(void **state)
{
	struct cpu *c = &report.view.cpu[0];

	(void)state;
	report.view.run.watch = true;
	c->waits_before = c->waits_beyond = 1;
	c->waits_beyond_ns = 2500000;
	notes_are("its first wait is not counted: it had begun before the window, or unseen\n"
		  "its last wait is not counted: after 2.50 ms it was not over when the window "
		  "ended\n");
	c->waits_before = 0;
	c->waits_beyond = 3;
	notes_are("3 waits are not counted: after up to 2.50 ms they were not over when the window "
		  "ended\n");
	c->waits_beyond = 0;
	notes_are("");
}

/* Steal of a watched thread's time is told where it was measured, and else not known; a steal clock
 * tells of the CPU and never of the thread. */
static void test_thread_notes(void **state)
{
	struct cpu *c = &report.view.cpu[0];

	(void)state;
	report.view.run.watch = true;
	notes_are("");
	hist_add(&c->hiccups, 1000);
	c->woken = c->woken_due = c->unpaired = 1;
	notes_are(
		"1 time nobody saw when it left its CPU: not all of its time is known, nor all of "
		"its losses\n"
		"woken 1 time: waits count from when a timer was due\n");
	c->unpaired = 0;
	c->woken_due = 0;
	notes_are("woken 1 time: waits count from the wake-up\n");
	c->woken = 3;
	c->woken_due = 1;
	notes_are("woken 3 times: 1 wait counts from when a timer was due, the others from the "
		  "wake-up\n");
	c->woken_due = 2;
	notes_are("woken 3 times: 2 waits count from when a timer was due, the others from the "
		  "wake-up\n");
	c->reported = c->reported_ns = 1;
	c->reported_ns = 1000;
	notes_are("of the 1.00 us in its reports, which may overlap, 0 % is not seen: 0 ns\n");
	hist_add(&c->hiccups, 3000);
	c->reported = 2926;
	c->reported_ns = 100000000;
	c->unseen_ns = 11000000;
	c->unseen_max_ns = 1070000;
	c->unseen_whole = 878;
	notes_are("of the 100 ms in its reports, which may overlap, 11 % is not seen: 11.0 ms, up "
		  "to 1.07 ms in one; 878 of 2,926 hold nothing else\n");
	cpus_add(&c->ran_on, 3);
	c->ran_steal_known = true;
	c->reported = 0;
	c->woken = 0;
	notes_are(""); /* no hypervisor */
	strcpy(report.view.host.hypervisor, "KVM");
	notes_are("cpu 3, where it ran: the steal clock did not move, in steps of 10 ms\n");
	c->ran_steal_ns = 40000000;
	notes_are("cpu 3, where it ran: the steal clock rose by 40.0 ms, in steps of 10 ms: how "
		  "much of that was taken from this thread is not known\n");
	cpus_add(&c->ran_on, 5);
	notes_are("cpus 3,5, where it ran: the steal clocks rose by 40.0 ms together, in steps of "
		  "10 ms: how much of that was taken from this thread is not known\n");
	c->ran_steal_known = false;
	notes_are("cpus 3,5, where it ran: the steal clocks tell nothing, so what the host took is "
		  "not known\n");
	c->reported = 3;
	report.view.run.part = true;
	notes_are("counts and times of the whole thread are not known here: this is a part\n");
}

/* "worst 100 p99 99 ...", of so many hiccups of as many different lengths. */
static const char *lengths_of(uint64_t n)
{
	static char text[160];
	struct report_length length[REPORT_LENGTHS];
	struct hist h;
	size_t len = 0;

	assert_int_equal(hist_init(&h, 10), 0);
	for (uint64_t i = 1; i <= n; i++)
		hist_add_n(&h, i <= n / 2 ? 1 : i == n ? 3 : 2, 1);
	text[0] = '\0';
	for (uint32_t i = 0, some = report_lengths(&h, length); i < some; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s %u ", length[i].name,
				(unsigned)length[i].ns);
	hist_free(&h);
	return text;
}

static void test_far_percentiles_need_a_value_beyond(void **state)
{
	(void)state;
	assert_string_equal(lengths_of(0), "");
	assert_string_equal(lengths_of(9999), "worst 3 p99 2 median 2 ");
	assert_string_equal(lengths_of(10000), "worst 3 p99.99 2 p99 2 median 1 ");
	assert_string_equal(lengths_of(99999), "worst 3 p99.99 2 p99 2 median 2 ");
	assert_string_equal(lengths_of(100000), "worst 3 p99.999 2 p99.99 2 p99 2 median 1 ");
}

static void test_rate(void **state)
{
	(void)state;
	some(3, 0);
	report.view.cpu[0].observed_ns = 2000000000;
	assert_true(report_rate(&report.view, 0) == 1.5);
	report.view.run.watch = true;
	assert_true(report_rate(&report.view, 0) < 0);
	report.view.run.watch = false;
	report.view.cpu[0].observed_ns = 0;
	assert_true(report_rate(&report.view, 0) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_edge_by_size, begin, end),
		cmocka_unit_test_setup_teardown(test_rest, begin, end),
		cmocka_unit_test_setup_teardown(test_as_above, begin, end),
		cmocka_unit_test_setup_teardown(test_notes, begin, end),
		cmocka_unit_test_setup_teardown(test_memories_in_json, begin, end),
		cmocka_unit_test_setup_teardown(test_parts, begin, end),
		cmocka_unit_test_setup_teardown(test_wait_notes, begin, end),
		cmocka_unit_test_setup_teardown(test_thread_notes, begin, end),
		cmocka_unit_test_setup_teardown(test_rate, begin, end),
		cmocka_unit_test(test_far_percentiles_need_a_value_beyond),
		cmocka_unit_test(test_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
