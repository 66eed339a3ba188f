/* Watched threads: which windows a made-up stream of records is cut into, and what explains each. A window is compared as text,
 * "thread 7 5000+3000 thread:make=3000 rest=0". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/watch.h"

#define FIRST 3 /* CPU number of index 0 */

static const char *name_irq(void *ctx, uint32_t irq)
{
	(void)ctx;
	return irq == 36 ? "disk" : "net";
}

static const char *name_symbol(void *ctx, uint64_t address)
{
	(void)ctx;
	(void)address;
	return "f";
}

static int name_stack(void *ctx, int32_t id, const char **frame)
{
	(void)ctx;
	(void)id;
	(void)frame;
	return 0;
}

static const struct names names = {.irq = name_irq, .symbol = name_symbol, .stack = name_stack};

/* ---- a watch of CPUs 3 and 5, and what it said ---- */

static struct view view;
static struct session *session;
static struct watch *watch;
static char said[8192];

static void hear(void *ctx, uint32_t lane, const struct account *a)
{
	const struct sources *t = &view.summary.cpu[lane].sources;
	size_t n = strlen(said);

	(void)ctx;
	n += snprintf(said + n, sizeof(said) - n, "%s %u %lu+%lu", view.cpu[lane].comm, view.cpu[lane].tid,
		      (unsigned long)a->start_ns, (unsigned long)a->duration_ns);
	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct source *s = t->row[a->pieces[i].source];

		n += snprintf(said + n, sizeof(said) - n, " %s:%s=%lu", source_kind_name(s->kind), s->name,
			      (unsigned long)a->pieces[i].net_ns);
	}
	snprintf(said + n, sizeof(said) - n, " rest=%lu\n", (unsigned long)(a->edge_ns + a->outside_ns));
	assert_int_equal(a->attributed_ns + a->edge_ns + a->outside_ns, a->duration_ns);
}

static void begin(uint64_t threshold_ns)
{
	static const unsigned cpus[] = {FIRST, 5};
	unsigned lane[WATCH_LANES];

	memset(&view, 0, sizeof(view));
	said[0] = '\0';
	for (unsigned i = 0; i < WATCH_LANES; i++)
		lane[i] = i;
	view.cpu = calloc(WATCH_LANES, sizeof(*view.cpu));
	assert_non_null(view.cpu);
	assert_int_equal(summary_init(&view.summary, lane, WATCH_LANES), 0);
	for (unsigned i = 0; i < WATCH_LANES; i++)
		view.cpu[i].threshold_ns = threshold_ns;
	view.run.watch = view.run.windows = view.run.traced = true;
	strcpy(view.run.rest, "unexplained");
	session = session_new(&(struct session_options){.view = &view, .names = &names});
	assert_non_null(session);
	watch = watch_new(&view, session, cpus, 2);
	assert_non_null(watch);
	watch_hear(watch, hear, NULL);
}

static void end(uint64_t ns)
{
	watch_finish(watch, ns);
	session_finish(session);
	for (uint32_t i = 0; i < view.summary.ncpus; i++) {
		const struct join_counts *c = session_counts(session, i);

		assert_int_equal(c->lost, 0);
		assert_int_equal(c->mismatches, 0);
	}
	watch_free(watch);
	session_free(session);
}

static void give(uint32_t index, enum record_kind kind, unsigned level, uint32_t id, uint64_t start, uint64_t stop,
		 unsigned mark, uint64_t arg, const char *name)
{
	struct record r = {.kind = kind,
			   .level = level,
			   .id = id,
			   .start_ns = start,
			   .end_ns = stop,
			   .mark = mark,
			   .arg = arg,
			   .stack = -1};

	memcpy(r.name, name, strnlen(name, sizeof(r.name)));
	watch_record(watch, index, &r);
}

static void comes(uint32_t index, uint32_t tid, enum watch_kind how, uint32_t waited_cpu, uint64_t since, uint64_t ns)
{
	give(index, RECORD_WATCH, LEVEL_THREAD, tid, since, ns, how, waited_cpu, "mine");
}

static void goes(uint32_t index, uint32_t tid, uint64_t since, uint64_t ns)
{
	give(index, RECORD_WATCH, LEVEL_THREAD, tid, since, ns, WATCH_OUT, tid, "mine");
}

static void irq(uint32_t index, uint64_t start, uint64_t stop)
{
	give(index, RECORD_IRQ, LEVEL_IRQ, 36, start, stop, 0, 0, "");
}

static void softirq(uint32_t index, uint64_t start, uint64_t stop)
{
	give(index, RECORD_SOFTIRQ, LEVEL_SOFTIRQ, 3, start, stop, 0, 0, "");
}

static void other(uint32_t index, uint32_t tid, const char *name, uint64_t start, uint64_t stop)
{
	give(index, RECORD_THREAD, LEVEL_THREAD, tid, start, stop, 0, tid, name);
}

static void is(const char *want)
{
	assert_string_equal(said, want);
	view_free(&view);
}

/* ---- while it runs ---- */

static void interrupted(void **state)
{
	(void)state;
	begin(0);
	irq(0, 100, 200); /* nobody who is watched runs */
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(1, 1100, 1200); /* elsewhere */
	irq(0, 2000, 2500);
	softirq(0, 2510, 2800); /* behind the interrupt: the same window */
	irq(0, 10000, 10400);
	goes(0, 7, 1000, 20000);
	irq(0, 21000, 22000);
	end(30000);
	assert_int_equal(view.cpu[0].observed_ns, 19000);
	is("mine 7 2000+800 irq:disk=500 softirq:NET_RX=290 rest=10\n"
	   "mine 7 10000+400 irq:disk=400 rest=0\n");
}

/* A lane says whether its thread is the kernel's, whatever it is called. */
static void kernel_thread(void **state)
{
	static const struct {
		const char *comm;
		uint8_t flags;
		const char *lane;
	} threads[] = {
		{"kworker/3:1", RECORD_KTHREAD, "[kworker/3:1] [7]"},
		{"kworker/3:1", 0, "kworker/3:1 [8]"},
		{"[kworker/3:1]", 0, "user thread [kworker/3:1] [9]"},
	};
	char lane[LANE_NAME];

	(void)state;
	begin(0);
	for (uint32_t i = 0; i < 3; i++) {
		struct record r = {.kind = RECORD_WATCH, .id = 7 + i, .start_ns = 1000 * i, .end_ns = 1000 * i + 500};

		r.mark = WATCH_OUT;
		r.flags = threads[i].flags;
		memcpy(r.name, threads[i].comm, strlen(threads[i].comm));
		watch_record(watch, 0, &r);
		assert_string_equal(view_lane(&view, i, lane), threads[i].lane);
		assert_int_equal(view.cpu[i].kernel_thread, threads[i].flags != 0);
	}
	end(30000);
	is("");
}

/* An interrupt over a softirq: the softirq's window is the longer one, and its time is net. */
static void nested(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(0, 2200, 2500);
	softirq(0, 2000, 3000);
	goes(0, 7, 1000, 20000);
	end(30000);
	is("mine 7 2000+1000 irq:disk=300 softirq:NET_RX=700 rest=0\n");
}

static void short_ones(void **state)
{
	(void)state;
	begin(500);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(0, 2000, 2499);
	irq(0, 10000, 10500);
	goes(0, 7, 1000, 20000);
	end(30000);
	is("mine 7 10000+500 irq:disk=500 rest=0\n");
}

/* What still ran at the end of the window is closed there; an open window is told in time, not at the end only. */
static void in_time(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(0, 2000, 2500);
	watch_until(watch, 3000); /* another interrupt may still join it */
	assert_string_equal(said, "");
	watch_until(watch, 9000);
	assert_string_equal(said, "mine 7 2000+500 irq:disk=500 rest=0\n");
	end(11000);
	assert_int_equal(view.cpu[0].observed_ns, 10000);
	is("mine 7 2000+500 irq:disk=500 rest=0\n");
}

/* ---- while it would run ---- */

static void preempted(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	goes(0, 7, 1000, 5000);
	irq(0, 6000, 6500);
	other(0, 9, "make", 5000, 8000);
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 5000, 8000);
	goes(0, 7, 8000, 9000);
	other(0, 9, "make", 9000, 9500); /* it sleeps: nobody is in its way */
	end(10000);
	assert_int_equal(view.cpu[0].observed_ns, 4000 + 3000 + 1000);
	is("mine 7 5000+3000 irq:disk=500 thread:make=2500 rest=0\n");
}

static void woken(void **state)
{
	(void)state;
	begin(0);
	other(0, 9, "make", 4000, 5200);
	comes(0, 7, WATCH_IN_WOKEN, FIRST, 5000, 5600);
	goes(0, 7, 5600, 6000);
	end(10000);
	is("mine 7 5000+600 thread:make=200 rest=400\n");
}

/* It waited on one CPU and ran on another: what explains the wait is what ran where it waited. */
static void migrated(void **state)
{
	(void)state;
	begin(0);
	other(1, 11, "there", 4500, 7000);
	other(0, 9, "here", 4000, 6000);
	comes(1, 7, WATCH_IN_PREEMPTED, FIRST, 5000, 7000);
	irq(0, 8000, 8500); /* where it was */
	irq(1, 8100, 8300); /* where it is */
	goes(1, 7, 7000, 9000);
	end(10000);
	is("mine 7 5000+2000 thread:here=1000 rest=1000\n"
	   "mine 7 8100+200 irq:disk=200 rest=0\n");
}

/* Windows without time between them: what happens just there is in one of them. */
static void adjacent(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	goes(0, 7, 1000, 5000);
	give(0, RECORD_MARK, LEVEL_THREAD, 9, 5000, 5000, MARK_THREAD, 0, "make");
	other(0, 9, "make", 5000, 8000);
	give(0, RECORD_MARK, LEVEL_THREAD, 9, 8000, 8000, MARK_WAKER, 0, "make");
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 5000, 8000);
	irq(0, 7900, 8200); /* it began while the switch was under way */
	goes(0, 7, 8000, 9000);
	end(10000);
	is("mine 7 5000+3000 thread:make=3000 rest=0\n"
	   "mine 7 8000+200 irq:disk=200 rest=0\n");
}

/* A watched thread in the way of another one. */
static void each_other(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	goes(0, 7, 1000, 5000);
	comes(0, 8, WATCH_IN_WOKEN, FIRST, 4000, 5000);
	irq(0, 5500, 5600);
	other(0, 8, "mine", 5000, 6000);
	goes(0, 8, 5000, 6000);
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 5000, 6000);
	end(7000);
	assert_int_equal(view.summary.cpu[0].hiccups.sum, 1000);
	assert_int_equal(view.summary.cpu[1].hiccups.sum, 1100);
	is("mine 8 4000+1000 rest=1000\n"
	   "mine 8 5500+100 irq:disk=100 rest=0\n"
	   "mine 7 5000+1000 irq:disk=100 thread:mine=900 rest=0\n");
}

/* ---- what it says itself ---- */

static void own(void **state)
{
	(void)state;
	begin(100000); /* no threshold holds for those */
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(0, 2000, 2500);
	irq(0, 4000, 4500);
	goes(0, 7, 1000, 5000);
	other(0, 9, "make", 5000, 8000);
	comes(1, 7, WATCH_IN_PREEMPTED, FIRST, 5000, 8000);
	irq(0, 8200, 8300); /* where it was */
	irq(1, 8200, 8600);
	watch_window(watch, 7, 3000, 9000);
	irq(1, 9100, 9600);
	watch_window(watch, 7, 9000, 9700);
	watch_window(watch, 7, 9800, 9800); /* no time at all */
	goes(1, 7, 8000, 9900);
	end(10000);
	is("mine 7 3000+6000 irq:disk=900 thread:make=3000 rest=2100\n"
	   "mine 7 9000+700 irq:disk=500 rest=200\n");
}

/* From its first report on the thread's interruptions are no hiccups of their own. */
static void own_only(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	watch_window(watch, 7, 1100, 1200);
	irq(0, 4000, 4500);
	comes(1, 8, WATCH_IN, 5, 1000, 1000);
	irq(1, 5000, 5500);
	end(10000);
	is("mine 7 1100+100 rest=100\n"
	   "mine 8 5000+500 irq:disk=500 rest=0\n");
}

/* ---- threads ---- */

static void many(void **state)
{
	(void)state;
	begin(0);
	for (uint32_t i = 0; i < WATCH_LANES + 6; i++) {
		uint64_t now = 1000 + 10000 * i;

		comes(0, 100 + i, WATCH_IN, FIRST, now, now);
		irq(0, now + 1000, now + 1000 + 10 + i);
		goes(0, 100 + i, now, now + 5000);
	}
	end(2000000);
	assert_int_equal(view.cpu[0].tid, 100);
	assert_int_equal(view.cpu[WATCH_LANES - 2].tid, 100 + WATCH_LANES - 2);
	assert_int_equal(view.cpu[WATCH_LANES - 1].tid, 0); /* several */
	assert_string_equal(view.cpu[WATCH_LANES - 1].comm, "(others)");
	assert_int_equal(view.summary.cpu[WATCH_LANES - 1].hiccups.count, 7);
	for (uint32_t i = 0; i < WATCH_LANES - 1; i++)
		assert_int_equal(view.summary.cpu[i].hiccups.sum, 10 + i);
	watch_cut(&view);
	assert_int_equal(view.summary.ncpus, WATCH_LANES);
	view_free(&view);
}

static void unused_lanes_go(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	comes(1, 8, WATCH_IN, 5, 1000, 1000);
	end(2000);
	watch_cut(&view);
	assert_int_equal(view.summary.ncpus, 2);
	assert_int_equal(view.cpu[1].tid, 8);
	view_free(&view);
}

/* Nothing is kept of a CPU but its newest records: a long wait loses its oldest explanations, not its sum. */
static void bounded(void **state)
{
	char want[64];

	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 500, 500);
	goes(0, 7, 500, 1000);
	for (uint64_t i = 0; i < 20000; i++)
		irq(0, 2000 + 100 * i, 2000 + 100 * i + 10);
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 1000, 3000000);
	end(3000001);
	snprintf(want, sizeof(want), "mine 7 1000+%d irq:disk=%d rest=%d\n", 2999000, 81920, 2999000 - 81920);
	is(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupted), cmocka_unit_test(kernel_thread),
		cmocka_unit_test(nested),      cmocka_unit_test(short_ones),
		cmocka_unit_test(in_time),     cmocka_unit_test(preempted),
		cmocka_unit_test(woken),       cmocka_unit_test(migrated),
		cmocka_unit_test(adjacent),    cmocka_unit_test(each_other),
		cmocka_unit_test(own),         cmocka_unit_test(own_only),
		cmocka_unit_test(many),        cmocka_unit_test(unused_lanes_go),
		cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
