/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is shared without a lock beside the rings, on a machine that performs accesses in
 * another order than the program's: the list of frequencies, sums, the time since when a CPU has a
 * watched thread, and a program's own reports. The real code of both sides runs through all orders
 * that ARMv8 permits (order.h): nothing wrong is ever seen. Without any one of the barriers
 * something is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "collect/host.h"
#include "collect/ring.h"
#include "culprit.h"
#include "model/sums.h"
#include "order_hold.h"
#include "order_shared.h"

#define OLD 0x1111111111111111ULL /* no byte of one of these is the other's */
#define NEW 0x2222222222222222ULL

int64_t host_clock_shift(const char *who, const char *clock)
{
	(void)who;
	(void)clock;
	return 0;
}

/* ---- frequencies ---- */

#define CHANGES 1000 /* before the first one here */

static bool took;
static struct khz_report report;
static struct khz_report *const slot = &order_state.khz_report[CHANGES % KHZ_REPORTS];

static void reset_khz(void)
{
	memset(&order_state, 0, offsetof(struct cpu_state, ring));
	order_state.khz_changes = CHANGES;
	*slot = (struct khz_report){.at_ns = OLD, .khz = (uint32_t)OLD};
	order_clock = NEW;
	took = false;
}

static void change_khz(void)
{
	order_frequency((uint32_t)NEW);
}

static void take_new_khz(void)
{
	took = khz_count(&order_state) > CHANGES && khz_take(&order_state, CHANGES, &report);
}

static bool is_not_new(void)
{
	return took && (report.at_ns != NEW || report.khz != (uint32_t)NEW);
}

static void take_old_khz(void)
{
	took = khz_take(&order_state, CHANGES - KHZ_REPORTS, &report);
}

static bool is_not_old(void)
{
	return took && (report.at_ns != OLD || report.khz != (uint32_t)OLD);
}

/* A change that is counted is in the list. */
static void test_a_frequency(void **unused)
{
	struct order_place *changes;

	(void)unused;
	order_begin(&order_state.own.fence, reset_khz, change_khz, take_new_khz, is_not_new);
	changes = order_place(&order_state.khz_changes, 8, WRITER);
	order_data(&slot->at_ns, &slot->unused, NEW);
	order_hold();
	order_fails_without(order_fence, WRITER, 1);
	order_fails_without(changes, READER, 0);
}

static void reset_before(void)
{
	reset_khz();
	order_state.khz_changes = CHANGES - 1;
}

static void change_twice(void)
{
	order_frequency(1);
	order_frequency((uint32_t)NEW);
}

/* One that another one is written over is not taken. */
static void test_a_frequency_of_before(void **unused)
{
	(void)unused;
	order_begin(&order_state.own.fence, reset_before, change_twice, take_old_khz, is_not_old);
	order_place(&order_state.khz_changes, 8, WRITER);
	order_data(&slot->at_ns, &slot->unused, OLD);
	order_hold();
	order_fails_without(order_fence, WRITER, 2);
}

/* ---- sums ---- */

static const struct record source = {.kind = RECORD_IRQ,
				     .level = LEVEL_IRQ,
				     .arg = NEW,
				     .id = (uint32_t)NEW,
				     .owner = NEW,
				     .name = {0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22,
					      0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22}};
static struct sum *row, named, sum;

static void reset_sums(void)
{
	memset(&order_state, 0, offsetof(struct cpu_state, ring));
	memset(order_sums, 0, sizeof(order_sums));
}

static void add_first(void)
{
	order_add(&source, NEW, 1000);
}

static void take_row(void)
{
	sum_take(row, &sum);
}

static bool is_misnamed(void)
{
	return sum.what &&
	       (sum.what != RECORD_IRQ || memcmp(&sum, &named, offsetof(struct sum, what)) != 0);
}

/* The row that the source has got. */
static void find_row(void)
{
	reset_sums();
	add_first();
	for (row = order_sums; !row->what;)
		row++;
	named = *row;
}

/* A row is whose it says. */
static void test_name_of_a_sum(void **unused)
{
	struct order_place *what;

	(void)unused;
	find_row();
	order_begin(&order_state.own.fence, reset_sums, add_first, take_row, is_misnamed);
	what = order_place(&row->what, sizeof(row->what), WRITER);
	order_data(row, &row->what, NEW);
	order_hold();
	order_fails_without(what, WRITER, 0);
	order_fails_without(what, READER, 0);
}

#define LONGEST NEW /* in the bucket of all that are very long */

static void reset_row(void)
{
	reset_sums();
	*row = named;
	row->max_ns = 1000;
	row->min_ns = UINT64_MAX - 1;
}

static void add_longest(void)
{
	order_add(&source, NEW, LONGEST);
}

static bool is_beyond(void)
{
	return sum.bucket[SUM_BUCKETS - 1] && (sum.max_ns != LONGEST || sum.min_ns != LONGEST);
}

/* No run is longer than the longest, or shorter than the shortest. */
static void test_extremes_of_a_sum(void **unused)
{
	struct order_place *bucket;

	(void)unused;
	find_row();
	order_begin(&order_state.own.fence, reset_row, add_longest, take_row, is_beyond);
	bucket = order_place(&row->bucket[SUM_BUCKETS - 1], 8, WRITER);
	order_data(&row->min_ns, &row->max_ns + 1, LONGEST);
	order_hold();
	order_fails_without(order_fence, WRITER, 0);
	order_fails_without(bucket, READER, 0);
}

/* ---- watched threads ---- */

#define LONG_AGO 0x1000

/* An interrupt's begin was seen while a watched thread was here before. */
static void reset_active(void)
{
	memset(&order_state, 0, offsetof(struct cpu_state, ring));
	order_state.own.seen = 1;
	order_state.own.active_since = LONG_AGO;
	order_state.irq[0] = (struct record_open){LONG_AGO + 1, 40, RECORD_IRQ};
	order_clock = NEW;
}

static void end_interrupt(void)
{
	order_interrupt_ends(40);
}

static bool is_recorded(void)
{
	return order_state.cursor[LEVEL_IRQ];
}

/* An interrupt ends when a watched thread has just begun to wait for its CPU: nobody knows when it
 * began, because the begin that is known is another's. */
static void test_an_older_interval(void **unused)
{
	(void)unused;
	order_begin(&order_state.own.fence, reset_active, order_activate, end_interrupt,
		    is_recorded);
	order_place(&order_state.active, sizeof(order_state.active), WRITER);
	order_place(&order_state.own.active_since, 8, WRITER);
	order_hold();
	order_fails_without(order_fence, WRITER, 0);
	order_fails_without(order_fence, READER, 0);
}

/* ---- a program's reports ---- */

static struct culprit_reports *reports;
static struct culprit_report late;
static int how;

static void reset_reports(void)
{
	reports->head = 0;
	reports->report[0] = (struct culprit_report){0, OLD, OLD, 0, 0};
	how = 1;
}

static void reset_full(void)
{
	reports->head = CULPRIT_REPORTS;
	reports->report[0] = (struct culprit_report){1, OLD, OLD, 0, 0};
	how = 1;
}

static void make_report(void)
{
	order_late(reports, NEW, NEW);
}

static void read_first(void)
{
	how = order_read_report(0, &late);
}

static bool is_not_made(void)
{
	return !how && (late.start_ns != NEW || late.end_ns != NEW);
}

static bool is_not_kept(void)
{
	return !how && (late.start_ns != OLD || late.end_ns != OLD);
}

/* A report is read whole. */
static void test_a_report(void **unused)
{
	struct order_place *place;

	(void)unused;
	order_begin(&order_state.own.fence, reset_reports, make_report, read_first, is_not_made);
	place = order_place(&reports->report[0].place, 8, WRITER);
	order_data(&reports->report[0].start_ns, &reports->report[0].tid, NEW);
	order_hold();
	order_fails_without(place, WRITER, 0);
	order_fails_without_fences(READER);
}

/* One that another is written over is read whole, too, or not at all. */
static void test_a_report_of_before(void **unused)
{
	(void)unused;
	order_begin(&order_state.own.fence, reset_full, make_report, read_first, is_not_kept);
	order_place(&reports->report[0].place, 8, WRITER);
	order_data(&reports->report[0].start_ns, &reports->report[0].tid, OLD);
	order_hold();
	order_fails_without_fences(WRITER);
	order_fails_without_fences(READER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_frequency),
					   cmocka_unit_test(test_a_frequency_of_before),
					   cmocka_unit_test(test_name_of_a_sum),
					   cmocka_unit_test(test_extremes_of_a_sum),
					   cmocka_unit_test(test_an_older_interval),
					   cmocka_unit_test(test_a_report),
					   cmocka_unit_test(test_a_report_of_before)};

	reports = calloc(1, sizeof(*reports));
	if (!reports)
		return 1;
	order_late(reports, 0, 0); /* the thread's number is known */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
