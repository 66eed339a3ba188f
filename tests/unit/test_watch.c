/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watched threads: which windows a made-up stream of records is cut into, and what explains each. A
 * window is compared as text, "thread 7 5000+3000 thread:make=3000 rest=0". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "model/exit.h"
#include "model/report.h"
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
	return address == 'a' ? "a" : address == 'b' ? "b" : "f";
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
static uint16_t seq[2][LEVELS];
static uint64_t owner; /* owner of the threads of the next records */
static int16_t prio;   /* priority of the threads of the next records */
static bool upon[2];   /* a watched thread is on the CPU with this index */

static void hear(void *ctx, uint32_t lane, const struct account *a)
{
	const struct sources *t = &view.cpu[lane].sources;
	size_t n = strlen(said);

	(void)ctx;
	n += snprintf(said + n, sizeof(said) - n, "%s %u %lu+%lu", view.cpu[lane].comm,
		      view.cpu[lane].tid, (unsigned long)a->start_ns,
		      (unsigned long)a->duration_ns);
	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct source *s = t->row[a->pieces[i].source];

		n += snprintf(said + n, sizeof(said) - n, " %s:%s=%lu", source_kind_name(s->kind),
			      s->name, (unsigned long)a->pieces[i].net_ns);
	}
	if (a->lost_ns)
		n += snprintf(said + n, sizeof(said) - n, " lost=%lu", (unsigned long)a->lost_ns);
	snprintf(said + n, sizeof(said) - n, " rest=%lu\n",
		 (unsigned long)(a->edge_ns + a->outside_ns));
	assert_int_equal(a->attributed_ns + a->edge_ns + a->lost_ns + a->outside_ns,
			 a->duration_ns);
}

static void begin(uint64_t threshold_ns)
{
	static const unsigned cpus[] = {FIRST, 5};
	unsigned lane[WATCH_LANES];

	said[0] = '\0';
	owner = 0;
	prio = 0;
	memset(seq, 0, sizeof(seq));
	memset(upon, 0, sizeof(upon));
	for (unsigned i = 0; i < WATCH_LANES; i++)
		lane[i] = i;
	world_view(&view, "", lane, WATCH_LANES);
	view.run.started_ns = 0;
	for (unsigned i = 0; i < WATCH_LANES; i++) {
		view.cpu[i].threshold_ns = threshold_ns;
		view.cpu[i].bounds = (struct edge_bounds){0, 0};
	}
	view.run.watch = view.run.windows = true;
	strcpy(view.run.rest, "unexplained");
	session = session_new(&(struct session_options){.view = &view, .names = &names});
	assert_non_null(session);
	watch = watch_new(&view, session, cpus, 2);
	assert_non_null(watch);
	watch_hear(watch, hear, NULL);
}

static void end_with(uint64_t ns, uint64_t lost)
{
	watch_finish(watch, ns);
	session_finish(session);
	for (uint32_t i = 0; i < view.ncpus; i++) {
		const struct join_counts *c = session_counts(session, i);

		assert_int_equal(c->lost, i ? 0 : lost);
		assert_int_equal(c->mismatches, 0);
	}
	watch_free(watch);
	session_free(session);
}

static void end(uint64_t ns)
{
	end_with(ns, 0);
}

static void give(uint32_t index, enum record_kind kind, unsigned level, uint32_t id, uint64_t start,
		 uint64_t stop, unsigned mark, uint64_t arg, const char *name)
{
	struct record r = {.kind = kind,
			   .level = level,
			   .id = id,
			   .start_ns = start,
			   .end_ns = stop,
			   .mark = mark,
			   .arg = arg,
			   .seq = ++seq[index][level],
			   .flags = upon[index] ? RECORD_UPON : 0,
			   .owner = owner,
			   .prio = prio,
			   .stack = -1};

	memcpy(r.name, name, strnlen(name, sizeof(r.name)));
	watch_record(watch, index, &r);
}

static void comes(uint32_t index, uint32_t tid, enum watch_kind how, uint32_t waited_cpu,
		  uint64_t since, uint64_t ns)
{
	give(index, RECORD_WATCH, LEVEL_THREAD, tid, since, ns, how, waited_cpu, "mine");
	upon[index] = true;
}

static void goes(uint32_t index, uint32_t tid, uint64_t since, uint64_t ns)
{
	give(index, RECORD_WATCH, LEVEL_THREAD, tid, since, ns, WATCH_OUT, tid, "mine");
	upon[index] = false;
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

static const struct source *source_of(uint32_t lane, const char *name)
{
	const struct sources *t = &view.cpu[lane].sources;

	for (uint32_t i = 0; i < t->count; i++)
		if (!strcmp(t->row[i]->name, name))
			return t->row[i];
	fail_msg("no source %s", name);
	return NULL;
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
		struct record r = {.kind = RECORD_WATCH,
				   .id = 7 + i,
				   .start_ns = 1000 * i,
				   .end_ns = 1000 * i + 500};

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

/* A wait that still goes on at the end of the window is closed there; an open window is told in
 * time, not at the end only. */
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
	other(0, 9, "make", 9000, 9500); /* the thread sleeps: nobody is in its way */
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

/* The thread waited on one CPU and ran on another: the wait is explained by the CPU where it
 * waited. */
static void migrated(void **state)
{
	(void)state;
	begin(0);
	other(1, 11, "there", 4500, 7000);
	other(0, 9, "here", 4000, 6000);
	comes(1, 7, WATCH_IN_PREEMPTED, FIRST, 5000, 7000);
	irq(0, 8000, 8500); /* the CPU where it was */
	irq(1, 8100, 8300); /* the CPU where it is */
	goes(1, 7, 7000, 9000);
	end(10000);
	is("mine 7 5000+2000 thread:here=1000 rest=1000\n"
	   "mine 7 8100+200 irq:disk=200 rest=0\n");
}

/* A thread on two CPUs in turn: for how long it ran where, and how often it moved. */
static void moves(void **state)
{
	const struct places *p;
	char *notes;

	(void)state;
	begin(0);
	p = &view.cpu[0].places;
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	goes(0, 7, 1000, 4000);
	comes(1, 7, WATCH_IN_PREEMPTED, FIRST, 4000, 5000);
	goes(1, 7, 5000, 7000);
	comes(1, 7, WATCH_IN_WOKEN, 5, 8000, 8000);
	goes(1, 7, 8000, 8500);
	comes(0, 7, WATCH_IN_WOKEN, FIRST, 9000, 9000); /* runs on when the window ends */
	end(10000);
	assert_int_equal(p->n, 2);
	assert_int_equal(p->row[0].cpu, FIRST);
	assert_int_equal(p->row[0].stays, 2);
	assert_int_equal(p->row[0].moves, 1);
	assert_int_equal(p->row[0].ran_ns, 3000 + 1000);
	assert_int_equal(p->row[1].cpu, 5);
	assert_int_equal(p->row[1].stays, 2);
	assert_int_equal(p->row[1].moves, 1);
	assert_int_equal(p->row[1].ran_ns, 2000 + 500);
	notes = report_thread_notes(&view, &view.cpu[0]);
	assert_non_null(notes);
	assert_non_null(strstr(notes, "ran on cpu 3 4.00 us (2 times), cpu 5 2.50 us (2 times); "
				      "moved 2 times\n"));
	free(notes);
	is("mine 7 4000+1000 rest=1000\n");
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
	irq(0, 7900, 8200); /* an interrupt that began while the switch was under way */
	goes(0, 7, 8000, 9000);
	end(10000);
	is("mine 7 5000+3000 thread:make=3000 rest=0\n"
	   "mine 7 8000+200 irq:disk=200 rest=0\n");
}

/* A stop by a signal or a debugger is no wait, and counts from when the thread leaves until it is
 * woken, or the window ends. */
static void stopped_by_signals(void **state)
{
	struct record out = {
		.kind = RECORD_WATCH, .mark = WATCH_OUT, .id = 7, .flags = RECORD_PART};

	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	for (uint64_t at = 5000; at < 20000; at += 10000) {
		out.start_ns = at - 4000;
		out.end_ns = at;
		out.seq = ++seq[0][LEVEL_THREAD];
		watch_record(watch, 0, &out);
		upon[0] = false;
		if (at == 5000)
			comes(0, 7, WATCH_IN_WOKEN, FIRST, 10500, 11000);
	}
	end(18000);
	assert_int_equal(view.cpu[0].stops, 2);
	assert_int_equal(view.cpu[0].stopped_ns, 5500 + 3000);
	is("mine 7 10500+500 rest=500\n");
}

/* The end of an IPI tells who sent it: that belongs to its window, though the window ends there. */
static void asked_at_the_end(void **state)
{
	const struct source *s;
	struct record r = {.kind = RECORD_MARK,
			   .mark = MARK_RESCHEDULE,
			   .level = LEVEL_IRQ,
			   .id = 12,
			   .start_ns = 2500,
			   .end_ns = 2500,
			   .flags = RECORD_ASKED | RECORD_BY_THREAD,
			   .stack = -1};

	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	r.seq = ++seq[0][LEVEL_IRQ];
	watch_record(watch, 0, &r);
	give(0, RECORD_VECTOR, LEVEL_IRQ, VECTOR_RESCHEDULE, 2000, 2500, 0, 0, "");
	goes(0, 7, 1000, 20000);
	end(30000);
	s = source_of(0, "reschedule");
	assert_int_equal(s->net.count, 1);
	assert_non_null(s->askers);
	assert_int_equal(s->askers->known, 1);
	assert_int_equal(s->askers->row[0].who.tid, 12);
	is("mine 7 2000+500 vector:reschedule=500 rest=0\n");
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
	assert_int_equal(view.cpu[0].hiccups.sum, 1000);
	assert_int_equal(view.cpu[1].hiccups.sum, 1100);
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
	irq(0, 8200, 8300); /* the CPU where it was */
	irq(1, 8200, 8600);
	watch_window(watch, 0, 7, 3000, 9000);
	irq(1, 9100, 9600);
	watch_window(watch, 0, 7, 9000, 9700);
	watch_window(watch, 0, 7, 9800, 9800); /* no time at all */
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
	watch_window(watch, 0, 7, 1100, 1200);
	irq(0, 4000, 4500);
	comes(1, 8, WATCH_IN, 5, 1000, 1000);
	irq(1, 5000, 5500);
	end(10000);
	is("mine 7 1100+100 rest=100\n"
	   "mine 8 5000+500 irq:disk=500 rest=0\n");
}

/* A report of no time silences nobody. */
static void own_of_no_time(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	watch_window(watch, 0, 7, 2000, 2000);
	irq(0, 4000, 4500);
	end(10000);
	is("mine 7 4000+500 irq:disk=500 rest=0\n");
}

/* Nobody could say which one of several threads in a lane reports its windows itself. */
static void own_among_others(void **state)
{
	(void)state;
	begin(0);
	for (uint32_t i = 0; i < WATCH_LANES; i++)
		watch_window(watch, 0, 100 + i, 500, 600);
	said[0] = '\0';
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(0, 2000, 2500);
	watch_window(watch, 0, 7, 2900, 3000);
	irq(0, 4000, 4500);
	end(10000);
	is("(others) 0 2900+100 rest=100\n"
	   "(others) 0 2000+500 irq:disk=500 rest=0\n"
	   "(others) 0 4000+500 irq:disk=500 rest=0\n");
}

/* A number that another process's thread has next, and whose it is where no record has told. */
static void own_of_process(void **state)
{
	(void)state;
	begin(0);
	owner = OWNER(7, 5);
	watch_window(watch, 7, 7, 500, 600);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(0, 2000, 2500);
	owner = OWNER(7, 6); /* moved to another cgroup */
	goes(0, 7, 1000, 3000);
	irq(0, 3500, 3600);
	comes(0, 7, WATCH_IN, FIRST, 4000, 4000);
	irq(0, 4500, 4600);
	assert_int_equal(watch_process(watch, 7), 7);
	assert_int_equal(watch_process(watch, 8), 0);
	goes(0, 7, 4000, 5000);
	owner = OWNER(8, 5);
	comes(0, 7, WATCH_IN, FIRST, 6000, 6000);
	irq(0, 7000, 7500);
	assert_int_equal(watch_process(watch, 7), 8);
	end(10000);
	is(" 7 500+100 rest=100\n"
	   "mine 7 7000+500 irq:disk=500 rest=0\n");
}

/* ---- what is not seen ---- */

/* The thread leaves without a record: a sign that another has the CPU ends its stay where it was
 * last seen. */
static void left_unseen(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(0, 2000, 2500);
	upon[0] = false;
	irq(0, 6000, 6500); /* upon somebody else */
	irq(0, 8000, 8500);
	comes(0, 7, WATCH_IN, FIRST, 10000, 10000);
	other(0, 9, "make", 12000, 13000); /* in the way of another one */
	irq(0, 14000, 14500);
	comes(0, 7, WATCH_IN, FIRST, 20000, 20000);
	give(0, RECORD_WATCH, LEVEL_THREAD, 7, 22000, 22000, WATCH_GONE, 0, "");
	irq(0, 23000, 23500);
	comes(0, 7, WATCH_IN, FIRST, 30000, 30000);
	irq(0, 31000, 31100);
	comes(0, 8, WATCH_IN, FIRST, 40000, 40000);
	goes(0, 8, 40000, 41000);
	end(100000);
	assert_int_equal(view.cpu[0].observed_ns, 1500 + 1100);
	assert_int_equal(view.cpu[0].unpaired, 4);
	assert_int_equal(view.cpu[1].observed_ns, 1000);
	assert_int_equal(view.cpu[1].unpaired, 0);
	is("mine 7 2000+500 irq:disk=500 rest=0\n"
	   "mine 7 31000+100 irq:disk=100 rest=0\n");
}

/* The record that is missing may be its leaving. */
static void lost_record(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(0, 2000, 2500);
	seq[0][LEVEL_THREAD]++;
	give(0, RECORD_MARK, LEVEL_THREAD, 0, 5000, 5000, MARK_WAKER, 0, "");
	irq(0, 6000, 6500); /* upon whom? */
	goes(0, 7, 5500, 9000);
	comes(1, 7, WATCH_IN, 5, 10000, 10000);
	irq(1, 11000, 11500);
	comes(0, 7, WATCH_IN, FIRST, 20000, 20000); /* no thread can be at two places */
	irq(1, 21000, 21500);
	irq(0, 22000, 22500);
	watch_lost(watch, 0);
	end(100000);
	assert_int_equal(view.cpu[0].observed_ns, 1500 + 3500 + 1500 + 2500);
	assert_int_equal(view.cpu[0].unpaired, 3);
	is("mine 7 2000+500 irq:disk=500 rest=0\n"
	   "mine 7 11000+500 irq:disk=500 rest=0\n"
	   "mine 7 22000+500 irq:disk=500 rest=0\n");
}

/* Records that are missing from the ring while it waits: what ran then is not known. */
static void lost_while_it_waits(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	irq(0, 2000, 2500);
	goes(0, 7, 1000, 5000);
	other(0, 9, "make", 5000, 6000);
	irq(0, 8900, 8950);
	seq[0][LEVEL_THREAD] += 3;
	other(0, 9, "make", 8000, 9000);
	seq[0][LEVEL_IRQ] += 2;
	irq(0, 9200, 9300);
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 5000, 9400);
	goes(0, 7, 9400, 9900);
	end_with(10000, 5);
	is("mine 7 2000+500 irq:disk=500 rest=0\n"
	   "mine 7 5000+4400 thread:make=1900 irq:disk=150 lost=2250 rest=100\n");
}

/* The thread came unseen: since when it ran is not known. */
static void came_unseen(void **state)
{
	(void)state;
	begin(0);
	goes(0, 7, 5000, 5000);
	comes(1, 8, WATCH_IN, 5, 1, 3000); /* since before the window, which began at 0 */
	goes(1, 8, 3000, 4000);
	end(10000);
	assert_int_equal(view.cpu[0].observed_ns, 0);
	assert_int_equal(view.cpu[1].observed_ns, 3999);
	is("");
}

/* Threads that were found before the window stay where they were, and have not waited in it. */
static void here_before(void **state)
{
	(void)state;
	begin(0);
	view.run.started_ns = 1000;
	comes(0, 7, WATCH_IN_WOKEN, FIRST, 200, 900);
	comes(1, 8, WATCH_IN, 5, 1, 950);
	goes(0, 7, 900, 3000);
	end(10000);
	assert_int_equal(view.cpu[0].observed_ns, 2000);
	assert_int_equal(view.cpu[0].woken, 0);
	assert_int_equal(view.cpu[0].waits_before, 0);
	assert_int_equal(view.cpu[1].observed_ns, 9000);
	assert_int_equal(view.cpu[1].waits_before, 0);
	assert_int_equal(watch_lanes(&view), 2);
	is("");
}

/* Waits that reach beyond the window are in no figure, and noted. */
static void beyond(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000); /* had waited before the window */
	goes(0, 7, 1000, 2000);
	comes(0, 7, WATCH_IN, FIRST, 3000, 3000); /* had been where nobody looks */
	goes(0, 7, 3000, 4000);
	goes(1, 8, 1, 2000); /* ran already */
	comes(1, 8, WATCH_IN, 5, 4000, 4000);
	goes(1, 8, 4000, 5000);
	comes(1, 9, WATCH_IN_WOKEN, 5, 6000, 6500);
	watch_waits_on(watch, 7, 4000, 10000);
	watch_waits_on(watch, 11, 3000, 10000);
	watch_waits_on(watch, 12, 9000, 10000);
	end(10000);
	assert_int_equal(view.cpu[0].waits_before, 1);
	assert_int_equal(view.cpu[0].waits_beyond, 1);
	assert_int_equal(view.cpu[0].waits_beyond_ns, 6000);
	assert_int_equal(view.cpu[1].waits_before, 0);
	assert_int_equal(view.cpu[1].waits_beyond, 0);
	assert_int_equal(view.cpu[2].waits_before, 0);
	assert_int_equal(view.run.never_ran, 2);
	assert_int_equal(view.run.never_ran_ns, 7000);
	assert_int_equal(watch_lanes(&view), 3);
	is("mine 9 6000+500 rest=500\n");
}

/* Records that are lost may turn out to be in a hiccup later: no count falls for that. */
static void lost_counts_rise(void **state)
{
	struct cpu lane[2] = {0};
	struct view v = {.cpu = lane, .ncpus = 2};

	(void)state;
	watch_count_lost(&v, 10, false);
	assert_int_equal(v.run.records_lost, 10);
	assert_int_equal(lane[0].counts.lost, 0);
	lane[1].counts.lost = 9;
	watch_count_lost(&v, 10, false);
	assert_int_equal(v.run.records_lost, 10);
	assert_int_equal(lane[0].counts.lost, 0);
	lane[0].counts.lost = 1;
	watch_count_lost(&v, 12, true);
	assert_int_equal(v.run.records_lost, 12);
	assert_int_equal(lane[0].counts.lost, 3);
	assert_int_equal(lane[1].counts.lost, 9);
	watch_count_lost(&v, 0, true); /* as a recording is read */
	assert_int_equal(v.run.records_lost, 12);
	assert_int_equal(lane[0].counts.lost, 3);
}

/* A wait that begins with a timer's due time, but never before the thread left. */
static void due(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	goes(0, 7, 1000, 2000);
	comes(0, 7, WATCH_IN_DUE, FIRST, 5000, 5600);
	goes(0, 7, 5600, 6000);
	comes(0, 7, WATCH_IN_DUE, FIRST, 3000, 6500);
	goes(0, 7, 6500, 7000);
	comes(0, 7, WATCH_IN_WOKEN, FIRST, 8000, 8100);
	end(9000);
	assert_int_equal(view.cpu[0].woken, 3);
	assert_int_equal(view.cpu[0].woken_due, 2);
	is("mine 7 5000+600 rest=600\n"
	   "mine 7 6000+500 rest=500\n"
	   "mine 7 8000+100 rest=100\n");
}

/* The thread waited on one CPU, then on another: each explains its part. */
static void moved(void **state)
{
	(void)state;
	begin(0);
	other(0, 9, "here", 4000, 7000);
	give(1, RECORD_WATCH, LEVEL_THREAD, 7, 5000, 6000, WATCH_MOVED, FIRST, "mine");
	other(0, 9, "here", 7000, 8000);
	other(1, 11, "there", 5000, 8500);
	comes(1, 7, WATCH_IN_PREEMPTED, 5, 5000, 8500);
	goes(1, 7, 8500, 9000);
	end(10000);
	assert_int_equal(view.cpu[0].observed_ns, 4000);
	is("mine 7 5000+3500 thread:here=1000 thread:there=2500 rest=0\n");
}

/* Another thread of this priority has the CPU; at its end it has `last`. */
static void has_cpu(uint32_t tid, const char *name, int16_t first, int16_t last, uint64_t start,
		    uint64_t stop)
{
	prio = first;
	give(0, RECORD_MARK, LEVEL_THREAD, tid, start, start, MARK_THREAD, 0, name);
	prio = last;
	other(0, tid, name, start, stop);
}

/* A switch to a thread without a real-time priority while one that has it is ready is the kernel's
 * throttling: not one to a higher priority, not who was there when it was woken, not one that has
 * its priority from a lock, and nothing where it had no such priority when it left. */
static void let_in(void **state)
{
	enum { RT = 50, HIGHER = 40, NORMAL = 120 };

	(void)state;
	begin(0);
	prio = RT;
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	goes(0, 7, 1000, 2000);
	has_cpu(9, "make", NORMAL, NORMAL, 2000, 5000);
	has_cpu(11, "higher", HIGHER, HIGHER, 5000, 5500);
	has_cpu(0, "swapper/3", NORMAL, NORMAL, 5500, 5700);
	prio = RT;
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 2000, 5700);
	goes(0, 7, 5700, 6000);
	prio = NORMAL;
	other(0, 9, "make", 7000, 7100);
	prio = RT;
	comes(0, 7, WATCH_IN_WOKEN, FIRST, 7000, 7100);
	goes(0, 7, 7100, 8000);
	has_cpu(9, "make", HIGHER, NORMAL, 8000, 8500);
	prio = RT;
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 8000, 8500);
	prio = NORMAL;
	goes(0, 7, 8500, 9000);
	has_cpu(9, "make", NORMAL, NORMAL, 9000, 9400);
	prio = RT;
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 9000, 9400);
	end(10000);
	assert_int_equal(view.cpu[0].let_in_ns, 3200);
	assert_int_equal(view.cpu[0].whose_ns[WHOSE_THROTTLED], 3200);
	assert_int_equal(view.cpu[0].whose_ns[WHOSE_OWN], 500 + 100 + 500 + 400);
	is("mine 7 2000+3700 thread:make=3000 thread:higher=500 thread:swapper/3=200 rest=0\n"
	   "mine 7 7000+100 thread:make=100 rest=0\n"
	   "mine 7 8000+500 thread:make=500 rest=0\n"
	   "mine 7 9000+400 thread:make=400 rest=0\n");
}

/* Nobody tells the end of the thread from which it was moved away: it went on, with nobody in its
 * way. */
static void moved_away(void **state)
{
	const struct source *s;

	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	goes(0, 7, 1000, 5000);
	give(0, RECORD_MARK, LEVEL_THREAD, 9, 5000, 5000, MARK_THREAD, 0, "here");
	irq(0, 5200, 5300);
	give(0, RECORD_WATCH, LEVEL_THREAD, 7, 5000, 6000, WATCH_MOVED, FIRST, "mine");
	other(1, 11, "there", 5500, 8000);
	comes(1, 7, WATCH_IN_PREEMPTED, 5, 5000, 8000);
	goes(1, 7, 8000, 9000);
	end(10000);
	s = view.cpu[0].sources.row[1];
	assert_string_equal(s->name, "here");
	assert_int_equal(s->unseen.count, 0);
	is("mine 7 5000+3000 irq:disk=100 thread:here=900 thread:there=2000 rest=0\n");
}

/* Nor what it does later: a worker that is there again has perhaps new work. */
static void moved_away_from_work(void **state)
{
	const struct sources *s;

	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	goes(0, 7, 1000, 5000);
	give(0, RECORD_MARK, LEVEL_THREAD, 9, 5000, 5000, MARK_THREAD, 0, "kworker/3:1");
	give(0, RECORD_MARK, LEVEL_THREAD, 9, 5000, 5000, MARK_WORK, 'a', "");
	give(0, RECORD_WATCH, LEVEL_THREAD, 7, 5000, 6000, WATCH_MOVED, FIRST, "mine");
	comes(1, 7, WATCH_IN_PREEMPTED, 5, 5000, 6000);
	goes(1, 7, 6000, 7000);
	give(0, RECORD_MARK, LEVEL_THREAD, 9, 8100, 8100, MARK_WORK, 'b', "");
	other(0, 9, "kworker/3:1", 7500, 9000);
	comes(0, 7, WATCH_IN_WOKEN, FIRST, 8000, 9000);
	end(10000);
	s = &view.cpu[0].sources;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->row[i]->function) {
			assert_int_equal(s->row[i]->net.count, 1);
			assert_int_equal(s->row[i]->net.sum, 1000);
		}
	is("mine 7 5000+1000 thread:kworker/3:1=1000 rest=0\n"
	   "mine 7 8000+1000 thread:kworker/3:1=1000 rest=0\n");
}

/* ---- whatever comes ---- */

#define WORLD_CPUS    2
#define WORLD_THREADS 5
#define FOREIGN       99 /* a thread that is not watched */

/* A machine, what the probes know of it, and what is true. */
static struct {
	uint64_t now, random;
	unsigned running[WORLD_CPUS]; /* 0: idle */
	unsigned here[WORLD_CPUS];    /* as the probes believe */
	bool told[WORLD_CPUS], lost[WORLD_CPUS];
	uint64_t came[WORLD_CPUS];
	unsigned waits_on[WORLD_THREADS + 1]; /* 1 + CPU; 0: it does not */
	uint64_t waits[WORLD_THREADS + 1], moves[WORLD_THREADS + 1];
	bool on[WORLD_THREADS + 1];
	uint64_t true_ns[WORLD_THREADS + 1];
} world;

static unsigned roll(unsigned n)
{
	world.random = world.random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (world.random >> 33) % n;
}

static void pass(uint64_t ns)
{
	world.now += ns;
	for (unsigned t = 1; t <= WORLD_THREADS; t++)
		if (world.on[t] || world.waits_on[t])
			world.true_ns[t] += ns;
}

/* A record of the watch's, which may be lost. */
static void say(unsigned cpu, enum watch_kind what, unsigned t, unsigned waited, uint64_t start)
{
	world.told[cpu] = roll(8) != 0;
	if (!world.told[cpu]) {
		seq[cpu][LEVEL_THREAD]++;
		world.lost[cpu] = true;
		return;
	}
	give(cpu, RECORD_WATCH, LEVEL_THREAD, t, start, world.now, what, waited ? FIRST : 5,
	     "mine");
}

static void leaves(unsigned cpu, bool waits)
{
	unsigned t = world.running[cpu];

	if (world.here[cpu] && world.here[cpu] != t)
		say(cpu, WATCH_GONE, world.here[cpu], 0, world.now);
	if (t != FOREIGN) {
		say(cpu, WATCH_OUT, t, 0, world.here[cpu] == t ? world.came[cpu] : world.now);
		world.on[t] = false;
		world.waits_on[t] = waits ? 1 + cpu : 0;
		world.waits[t] = world.moves[t] = world.now;
	}
	world.here[cpu] = world.running[cpu] = 0;
}

static void comes_here(unsigned cpu, unsigned t)
{
	enum watch_kind how = roll(2) ? WATCH_IN_PREEMPTED : WATCH_IN_DUE;
	unsigned on = world.waits_on[t];

	world.running[cpu] = t;
	world.on[t] = true;
	world.waits_on[t] = 0;
	if (!roll(10))
		return; /* unseen */
	world.here[cpu] = t;
	world.came[cpu] = world.now;
	say(cpu, on ? how : WATCH_IN, t, on == 1, on ? world.waits[t] : world.now);
}

static void happens(unsigned cpu)
{
	unsigned t = 1 + roll(WORLD_THREADS), running = world.running[cpu];
	uint64_t from = world.now;

	switch (roll(8)) {
	case 0:
	case 1: /* an interrupt */
		pass(1 + roll(2000));
		upon[cpu] = running && world.told[cpu] && world.here[cpu] == running;
		irq(cpu, from, world.now);
		break;
	case 2:
		if (running && running != FOREIGN && !roll(4)) { /* unseen, and for somebody else */
			world.on[running] = false;
			world.running[cpu] = FOREIGN;
		}
		break;
	case 3:
	case 4:
		if (running)
			leaves(cpu, roll(2));
		break;
	case 5:
		if (!running && !world.on[t])
			comes_here(cpu, t);
		break;
	case 6:
		if (!world.on[t] && !world.waits_on[t]) {
			world.waits_on[t] = 1 + cpu;
			world.waits[t] = world.moves[t] = world.now;
		}
		break;
	default:
		if (world.waits_on[t]) {
			say(cpu, WATCH_MOVED, t, world.waits_on[t] == 1, world.moves[t]);
			world.told[cpu] = world.told[cpu] &&
					  running; /* the probes' flag is the newest record's */
			world.waits_on[t] = 1 + roll(WORLD_CPUS);
			world.moves[t] = world.now;
		}
	}
}

static void check_world(uint64_t window)
{
	for (unsigned lane = 0; lane < WORLD_THREADS; lane++) {
		const struct cpu *run = &view.cpu[lane];

		if (!run->tid)
			continue;
		assert_true(view.cpu[lane].hiccups.sum <= run->observed_ns);
		assert_true(run->observed_ns <= world.true_ns[run->tid]);
		assert_true(run->observed_ns <= window);
	}
}

/* Threads that come and go unseen, records that are lost: no thread loses more than its time, or
 * has more than there was. */
static void random_streams(void **state)
{
	uint64_t some = 0;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		memset(&world, 0, sizeof(world));
		world.random = round * 77 + 1;
		begin(0);
		for (unsigned i = 0; i < 2500; i++) {
			pass(1 + roll(3000));
			happens(roll(WORLD_CPUS));
			said[0] = '\0';
		}
		for (unsigned cpu = 0; cpu < WORLD_CPUS; cpu++)
			if (world.lost[cpu])
				watch_lost(watch, cpu);
		end(world.now);
		check_world(world.now);
		some += view.cpu[0].hiccups.sum;
		view_free(&view);
	}
	assert_true(some > 20 * 10000);
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
	assert_int_equal(view.cpu[WATCH_LANES - 1].hiccups.count, 7);
	for (uint32_t i = 0; i < WATCH_LANES - 1; i++)
		assert_int_equal(view.cpu[i].hiccups.sum, 10 + i);
	watch_cut(&view);
	assert_int_equal(view.ncpus, WATCH_LANES);
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
	assert_int_equal(view.ncpus, 2);
	assert_int_equal(view.cpu[1].tid, 8);
	view_free(&view);
}

/* Nothing is kept of a CPU but its newest records: a long wait loses its oldest explanations, not
 * its sum, and what is forgotten is not recorded: nobody may say that it was not seen. */
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
	end_with(3000001, 1);
	snprintf(want, sizeof(want), "mine 7 1000+%d irq:disk=%d lost=%d rest=%d\n", 2999000, 81920,
		 1181800, 2999000 - 81920 - 1181800);
	is(want);
}

/* ---- by whom ---- */

static void check_whose(uint64_t foreign, uint64_t own, uint64_t throttled, uint64_t kernel)
{
	const uint64_t *ns = view.cpu[0].whose_ns;

	assert_int_equal(ns[WHOSE_FOREIGN], foreign);
	assert_int_equal(ns[WHOSE_OWN], own);
	assert_int_equal(ns[WHOSE_THROTTLED], throttled);
	assert_int_equal(ns[WHOSE_KERNEL], kernel);
	assert_int_equal(foreign + own + throttled + kernel,
			 view.cpu[0].attributed_ns + view.cpu[0].edge_ns);
}

/* One wait behind a thread with this owner, an interrupt in it, and the idle thread. */
static void behind(uint64_t mine, uint64_t others, uint64_t foreign, uint64_t own)
{
	begin(0);
	irq(0, 1500, 1600);
	owner = others;
	other(0, 20, "make", 1000, 4000);
	owner = OWNER(0, OWNER_ROOT);
	other(0, 0, "swapper/3", 4000, 4050);
	owner = mine;
	comes(0, 7, WATCH_IN_WOKEN, FIRST, 1000, 4050);
	end(30000);
	check_whose(foreign, own, 0, 150);
	is("mine 7 1000+3050 irq:disk=100 thread:make=2900 thread:swapper/3=50 rest=0\n");
}

static void whose(void **state)
{
	(void)state;
	behind(OWNER(7, 5), OWNER(20, 6), 2900, 0); /* thread of another unit */
	behind(OWNER(7, 5), OWNER(20, 5), 0, 2900); /* thread of the same unit, whatever process */
	behind(OWNER(7, 5), OWNER(20, OWNER_ROOT), 2900, 0); /* thread of no unit */
	behind(OWNER(7, 5), OWNER(7, 6), 0, 2900); /* thread of the process, in another cgroup */
	/* Both of none, or not known: by process. */
	behind(OWNER(7, OWNER_ROOT), OWNER(20, OWNER_ROOT), 2900, 0);
	behind(OWNER(7, OWNER_ROOT), OWNER(7, OWNER_ROOT), 0, 2900);
	behind(OWNER(7, 5), OWNER(20, 0), 2900, 0);
	behind(OWNER(7, 0), OWNER(7, 5), 0, 2900);
}

/* The quota's part of a wait is its own, whoever ran meanwhile; the next wait has none. */
static void throttled(void **state)
{
	(void)state;
	begin(0);
	owner = OWNER(20, 6);
	other(0, 20, "make", 1000, 2500);
	irq(0, 3000, 3100);
	other(0, 21, "cc1", 2500, 6000);
	other(0, 22, "ld", 6000, 7000);
	owner = OWNER(7, 5);
	give(0, RECORD_WATCH, LEVEL_THREAD, 7, 2000, 7000, WATCH_THROTTLED, 5000, "mine");
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 1000, 7000);
	goes(0, 7, 7000, 8000);
	owner = OWNER(20, 6);
	other(0, 20, "make", 8000, 9000);
	owner = OWNER(7, 5);
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 8000, 9000);
	end(30000);
	check_whose(4000, 0, 3000, 0);
	is("mine 7 1000+6000 thread:make=1000 throttled:CPU quota=3000 thread:cc1=1000 "
	   "thread:ld=1000 rest=0\n"
	   "mine 7 8000+1000 thread:make=1000 rest=0\n");
}

/* From before the wait to its end. Where quotas cannot be seen, none has taken a time that is not
 * known. */
static void throttled_whole(void **state)
{
	(void)state;
	begin(0);
	assert_true(view_whose_known(&view, &view.cpu[0], WHOSE_THROTTLED));
	view_not_observed(&view, "throttle_cfs_rq");
	assert_false(view_whose_known(&view, &view.cpu[0], WHOSE_THROTTLED));
	assert_true(view_whose_known(&view, &view.cpu[0], WHOSE_FOREIGN));
	other(1, 21, "cc1", 1000, 6000);
	give(1, RECORD_WATCH, LEVEL_THREAD, 7, 500, 6000, WATCH_THROTTLED, 9000, "mine");
	comes(1, 7, WATCH_IN_WOKEN, 5, 1000, 6000);
	end(30000);
	check_whose(0, 0, 5000, 0);
	is("mine 7 1000+5000 throttled:CPU quota=5000 rest=0\n");
}

/* ---- virtual CPUs ---- */

#define SVM(reason) EXIT_ID(EXIT_SVM, reason)
#define EXIT_IO     SVM(0x7b)
#define EXIT_HLT    SVM(0x78)

/* An exit of the watched thread here; one more piece follows where flags have RECORD_PART. */
static void is_out(uint32_t index, uint32_t id, uint64_t start, uint64_t stop, unsigned flags)
{
	struct record r = {.kind = RECORD_EXIT,
			   .id = id,
			   .arg = 7,
			   .start_ns = start,
			   .end_ns = stop,
			   .seq = ++seq[index][LEVEL_THREAD],
			   .flags = (upon[index] ? RECORD_UPON : 0) | flags};

	watch_record(watch, index, &r);
}

static void halts(uint32_t index, uint32_t tid, uint64_t start, uint64_t stop, unsigned flags,
		  unsigned begun)
{
	struct record r = {.kind = RECORD_WATCH,
			   .mark = WATCH_HALTED,
			   .id = tid,
			   .arg = begun,
			   .start_ns = start,
			   .end_ns = stop,
			   .seq = ++seq[index][LEVEL_THREAD],
			   .flags = flags};

	watch_record(watch, index, &r);
}

static void inner_irq(uint32_t index, uint64_t start, uint64_t stop)
{
	struct record r = {.kind = RECORD_IRQ,
			   .level = LEVEL_IRQ,
			   .id = 36,
			   .start_ns = start,
			   .end_ns = stop,
			   .seq = ++seq[index][LEVEL_IRQ],
			   .flags = RECORD_UPON | RECORD_INNER};

	watch_record(watch, index, &r);
}

/* Two interrupts in one exit do not tear it; what is between two exits is the guest's. */
static void exits(void **state)
{
	(void)state;
	begin(0);
	is_out(0, EXIT_IO, 100, 200, 0); /* nobody who is watched runs */
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	inner_irq(0, 2100, 2200);
	inner_irq(0, 4100, 4300);
	is_out(0, EXIT_IO, 2000, 5000, 0);
	is_out(0, SVM(0x72), 5010, 5090, 0);
	irq(0, 5100, 5150);
	is_out(0, EXIT_SVM_MSR | EXIT_WRITES, 5160, 5200, 0);
	goes(0, 7, 1000, 9000);
	comes(0, 8, WATCH_IN, FIRST, 9100, 9100); /* no virtual CPU */
	goes(0, 8, 9100, 9200);
	end(10000);
	assert_int_equal(view.cpu[0].observed_ns, 8000);
	assert_int_equal(view.cpu[0].halts, 0);
	assert_true(view.cpu[0].is_vcpu);
	assert_false(view.cpu[1].is_vcpu);
	check_whose(0, 2700 + 80 + 40, 0, 350);
	is("mine 7 2000+3000 irq:disk=300 exit:exit IO=2700 rest=0\n"
	   "mine 7 5010+80 exit:exit CPUID=80 rest=0\n"
	   "mine 7 5100+50 irq:disk=50 rest=0\n"
	   "mine 7 5160+40 exit:exit MSR_WRITE=40 rest=0\n");
}

/* An exit in pieces is one, and an interrupt of the host's is not the guest's own doing. */
static void exits_in_pieces(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	is_out(0, SVM(0x60), 2000, 2100, RECORD_PART);
	goes(0, 7, 1000, 2100);
	other(0, 9, "make", 2100, 3000);
	comes(0, 7, WATCH_IN_PREEMPTED, FIRST, 2100, 3000);
	is_out(0, SVM(0x60), 3000, 3050, 0);
	goes(0, 7, 3000, 9000);
	end(10000);
	assert_int_equal(source_of(0, "exit INTERRUPT")->net.count, 1);
	assert_int_equal(source_of(0, "exit INTERRUPT")->net.sum, 150);
	check_whose(0, 900, 0, 150);
	is("mine 7 2000+100 exit:exit INTERRUPT=100 rest=0\n"
	   "mine 7 2100+900 thread:make=900 rest=0\n"
	   "mine 7 3000+50 exit:exit INTERRUPT=50 rest=0\n");
}

/* A halt is no loss, on the CPU or asleep; the way back from it is. */
static void halted(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	inner_irq(0, 2010, 2020); /* while it polls */
	halts(0, 7, 2000, 2100, RECORD_PART, 1);
	goes(0, 7, 1000, 2100);
	comes(0, 7, WATCH_IN_WOKEN, FIRST, 5000, 5050);
	is_out(0, EXIT_HLT, 5050, 5100, RECORD_PART); /* woken for nothing: sleeps again */
	goes(0, 7, 5050, 5100);
	comes(1, 7, WATCH_IN_WOKEN, FIRST, 6000, 6050);
	is_out(1, EXIT_HLT, 6050, 6100, 0);
	halts(1, 8, 6200, 6300, 0, 1); /* another thread's */
	halts(1, 7, 7000, 7100, RECORD_PART, 1);
	is_out(1, EXIT_HLT, 7100, 7120, 0); /* polled with success */
	halts(1, 7, 8000, 8010, RECORD_PART, 1);
	goes(1, 7, 6050, 8010); /* preempted while it polled: it was not asleep */
	comes(1, 7, WATCH_IN_PREEMPTED, 5, 8010, 8500);
	halts(1, 7, 8500, 8510, RECORD_PART, 0);
	is_out(1, EXIT_HLT, 8510, 8520, RECORD_PART);
	goes(1, 7, 8500, 8520); /* preempted on its way back */
	comes(1, 7, WATCH_IN_PREEMPTED, 5, 8520, 8600);
	is_out(1, EXIT_HLT, 8600, 8610, 0);
	end(9000);
	assert_int_equal(view.cpu[0].halts, 3);
	assert_int_equal(view.cpu[0].halted_here_ns, 100 + 100 + 10 + 490 + 10);
	assert_int_equal(view.cpu[0].halted_ns, 710 + 2900 + 900);
	assert_int_equal(view_guest_wanted(&view.cpu[0]), view.cpu[0].observed_ns - 710);
	is("mine 7 5000+50 rest=50\n"
	   "mine 7 5050+50 exit:exit HLT=50 rest=0\n"
	   "mine 7 6000+50 rest=50\n"
	   "mine 7 6050+50 exit:exit HLT=50 rest=0\n"
	   "mine 7 7100+20 exit:exit HLT=20 rest=0\n"
	   "mine 7 8510+10 exit:exit HLT=10 rest=0\n"
	   "mine 7 8520+80 rest=80\n"
	   "mine 7 8600+10 exit:exit HLT=10 rest=0\n");
}

/* A thread that is called so, and was stopped or slept. */
static void vcpu_goes(const char *name, uint64_t since, uint64_t ns, bool stopped)
{
	struct record r = {.kind = RECORD_WATCH,
			   .mark = WATCH_OUT,
			   .id = 7,
			   .arg = 7,
			   .start_ns = since,
			   .end_ns = ns,
			   .seq = ++seq[0][LEVEL_THREAD],
			   .flags = stopped ? RECORD_PART : 0};

	strcpy(r.name, name);
	upon[0] = false;
	watch_record(watch, 0, &r);
}

static void vcpu_comes(const char *name, enum watch_kind how, uint64_t since, uint64_t ns)
{
	give(0, RECORD_WATCH, LEVEL_THREAD, 7, since, ns, how, 0, name);
	upon[0] = true;
}

/* A virtual CPU that is stopped loses that time, but for one that had halted; KVM or none, while a
 * sleep without an exit is nothing that anybody knows of. Other threads lose nothing by it. */
static void stopped(void **state)
{
	static const char *const comms[] = {"CPU 0/TCG", "program"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin(60);
		vcpu_comes(comms[i], WATCH_IN, 1000, 1000);
		vcpu_goes(comms[i], 1000, 2000, true);
		vcpu_comes(comms[i], WATCH_IN_WOKEN, 4000, 4000);
		vcpu_goes(comms[i], 4000, 5000, false);
		vcpu_comes(comms[i], WATCH_IN_WOKEN, 6000, 6000);
		is_out(0, EXIT_IO, 6000, 6010, RECORD_PART);
		vcpu_goes(comms[i], 6000, 6010, true);
		vcpu_comes(comms[i], WATCH_IN_WOKEN, 7000, 7000);
		halts(0, 7, 7000, 7010, RECORD_PART, 1);
		vcpu_goes(comms[i], 7000, 7010, true);
		vcpu_comes(comms[i], WATCH_IN_WOKEN, 9000, 9000);
		end(10000);
		is(i ? "program 7 6010+990 exit:exit IO=990 rest=0\n"
		     : "CPU 0/TCG 7 2000+2000 exit:exit STOPPED=2000 rest=0\n"
		       "CPU 0/TCG 7 6010+990 exit:exit STOPPED=990 rest=0\n");
	}
}

/* A sleep in an exit is the guest's loss, but for one that may be its own wish. Short losses count
 * in what it got. */
static void asleep(void **state)
{
	(void)state;
	begin(60);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	is_out(0, EXIT_IO, 2000, 2100, RECORD_PART);
	goes(0, 7, 1000, 2100);
	comes(1, 7, WATCH_IN_DUE, 5, 5000, 5050); /* the wait is shorter than the threshold */
	is_out(1, EXIT_IO, 5050, 5150, RECORD_PART);
	goes(1, 7, 5050, 5150);
	other(1, 9, "make", 5150, 6000);
	comes(1, 7, WATCH_IN_PREEMPTED, 5, 5150, 6000);
	is_out(1, EXIT_IO, 6000, 6010, 0);
	is_out(1, SVM(0x81), 7000, 7100, RECORD_PART);
	goes(1, 7, 6000, 7100);
	comes(1, 7, WATCH_IN_WOKEN, 5, 9000, 9000);
	is_out(1, SVM(0x81), 9000, 9010, 0);
	goes(1, 7, 9000, 9500); /* with its guest entered */
	comes(1, 7, WATCH_IN_WOKEN, 5, 9900, 9900);
	end(10000);
	assert_int_equal(view.cpu[0].asleep_ns, 2900);
	assert_int_equal(view.cpu[0].halted_ns, 0);
	assert_int_equal(view.cpu[0].observed_ns, 1100 + 2900 + 50 + 100 + 850 + 1100 + 500 + 100);
	assert_int_equal(view.cpu[0].taken_ns, 100 + 2900 + 50 + 100 + 850 + 10 + 100 + 10);
	assert_int_equal(view_guest_wanted(&view.cpu[0]), view.cpu[0].observed_ns);
	assert_int_equal(view_guest_got(&view.cpu[0]),
			 view.cpu[0].observed_ns - view.cpu[0].taken_ns);
	assert_int_equal(source_of(0, "exit IO")->net.count,
			 0); /* pieces alone: the end is short */
	check_whose(0, 100 + 2900 + 100 + 850 + 100, 0, 0);
	is("mine 7 2000+100 exit:exit IO=100 rest=0\n"
	   "mine 7 2100+2900 exit:exit IO=2900 rest=0\n"
	   "mine 7 5050+100 exit:exit IO=100 rest=0\n"
	   "mine 7 5150+850 thread:make=850 rest=0\n"
	   "mine 7 7000+100 exit:exit VMMCALL=100 rest=0\n");
}

/* An exit whose end is not told shows that the thread is here, and its time is not known. */
static void unended(void **state)
{
	char *notes;

	(void)state;
	begin(0);
	view.run.exits = true;
	give(0, RECORD_WATCH, LEVEL_THREAD, 7, 100, 200, WATCH_UNENDED, 0, ""); /* not here */
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	give(0, RECORD_WATCH, LEVEL_THREAD, 8, 1100, 1200, WATCH_UNENDED, 0, ""); /* another's */
	assert_false(view.cpu[0].is_vcpu);
	give(0, RECORD_WATCH, LEVEL_THREAD, 7, 2000, 2500, WATCH_UNENDED, 0, "");
	assert_true(view.cpu[0].is_vcpu);
	assert_int_equal(view.cpu[0].observed_ns, 1500);
	give(0, RECORD_WATCH, LEVEL_THREAD, 7, 2500, 3000, WATCH_UNENDED, 0, "");
	is_out(0, EXIT_IO, 3000, 3100, 0);
	goes(0, 7, 1000, 9000);
	assert_int_equal(view.cpu[0].unended, 2);
	assert_int_equal(view_guest_got(&view.cpu[0]), 8000 - 100);
	notes = report_thread_notes(&view, &view.cpu[0]);
	assert_non_null(notes);
	assert_non_null(strstr(notes, "2 exits whose end this kernel does not tell: the time "
				      "counts as the guest's\n"));
	free(notes);
	end(10000);
	is("mine 7 3000+100 exit:exit IO=100 rest=0\n");
}

/* A pinned virtual CPU may not be switched out before the end: a lost record costs what lies before
 * the next exit. */
static void here_again(void **state)
{
	(void)state;
	begin(0);
	comes(0, 7, WATCH_IN, FIRST, 1000, 1000);
	is_out(0, EXIT_IO, 2000, 2100, 0);
	seq[0][LEVEL_THREAD]++;
	is_out(0, EXIT_IO, 4000, 4200, 0);
	is_out(0, EXIT_IO, 5000, 5300, 0);
	goes(0, 7, 1000, 9000);
	is_out(0, EXIT_IO, 9100, 9200, 0); /* nobody who is watched runs */
	assert_int_equal(view.cpu[0].unpaired, 1);
	assert_int_equal(view.cpu[0].observed_ns, 1100 + 5000);
	assert_int_equal(view.cpu[0].taken_ns, 100 + 200 + 300);
	end_with(10000, 1);
	is("mine 7 2000+100 exit:exit IO=100 rest=0\n"
	   "mine 7 4000+200 exit:exit IO=200 rest=0\n"
	   "mine 7 5000+300 exit:exit IO=300 rest=0\n");
}

static void names_of_exits(void **state)
{
	static const struct {
		uint32_t id;
		const char *name;
		bool hosts;
	} rows[] = {
		{EXIT_ID(EXIT_VMX, 12), "exit HLT", false},
		{EXIT_AT(EXIT_VMX_IO, 1), "exit IO 0x0", false},
		{EXIT_AT(EXIT_SVM_IO, EXIT_PORTS), "exit IO 0xffff", false},
		{EXIT_AT(EXIT_SVM_IO, EXIT_PORTS + 1), "exit IO", false},
		{EXIT_AT(EXIT_VMX_WRMSR, 0x6e0 + 1), "exit MSR_WRITE 0x6e0 TSC_DEADLINE", false},
		{EXIT_AT(EXIT_VMX_RDMSR, 0x2000), "exit MSR_READ 0x1fff", false},
		{EXIT_AT(EXIT_SVM_MSR | EXIT_WRITES, 0x2000 + 0x1000 + 2),
		 "exit MSR_WRITE 0x4b564d01", false},
		{EXIT_AT(EXIT_SVM_MSR, 0x3100 + 0x81), "exit MSR_READ 0xc0000080 EFER", false},
		{EXIT_AT(EXIT_SVM_MSR, 0x7100), "exit MSR_READ 0xc0011fff", false},
		{EXIT_AT(EXIT_SVM_MSR, 0x7101), "exit MSR_READ", false},
		{EXIT_AT(EXIT_ID(EXIT_VMX, 10), 5), "exit CPUID", false},
		{EXIT_ID(EXIT_VMX, 1), "exit EXTERNAL_INTERRUPT", true},
		{EXIT_ID(EXIT_VMX, 0x80000030), "exit EPT_VIOLATION", false},
		{EXIT_ID(EXIT_VMX, 32), "exit MSR_WRITE", false},
		{EXIT_ID(EXIT_VMX, 75), "exit NOTIFY", false},
		{EXIT_ID(EXIT_VMX, 76), "exit VMX 0x4c", false},
		{EXIT_ID(EXIT_VMX, 5), "exit VMX 0x5", false},
		{SVM(0x78), "exit HLT", false},
		{SVM(0x400), "exit NPF", false},
		{SVM(0x403), "exit VMGEXIT", false},
		{SVM(0x404), "exit SVM 0x404", false},
		{SVM(0x60), "exit INTERRUPT", true},
		{SVM(0x10), "exit WRITE_CR0", false},
		{SVM(0x3f), "exit WRITE_DR15", false},
		{SVM(0x4e), "exit EXCEPTION_14", false},
		{SVM(0x7c), "exit MSR_READ", false},
		{SVM(0x7c) | EXIT_WRITES, "exit MSR_WRITE", false},
		{SVM(0xffffffff), "exit SVM 0xfff", false},
		{0, "exit of an unknown kind 0", false},
		{0xffffffff, "exit of an unknown kind 0xfff", false}};
	char name[EXIT_NAME];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(exit_name(rows[i].id, name, sizeof(name)), rows[i].name);
		assert_int_equal(exit_is_hosts(rows[i].id), rows[i].hosts);
	}
	assert_true(EXIT_HALTS(EXIT_ID(EXIT_VMX, 12)) && EXIT_HALTS(SVM(0x78)));
	assert_false(EXIT_HALTS(EXIT_ID(EXIT_VMX, 0x78)) || EXIT_HALTS(SVM(12)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exits),
		cmocka_unit_test(exits_in_pieces),
		cmocka_unit_test(halted),
		cmocka_unit_test(asleep),
		cmocka_unit_test(unended),
		cmocka_unit_test(here_again),
		cmocka_unit_test(names_of_exits),
		cmocka_unit_test(whose),
		cmocka_unit_test(throttled),
		cmocka_unit_test(throttled_whole),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(kernel_thread),
		cmocka_unit_test(nested),
		cmocka_unit_test(short_ones),
		cmocka_unit_test(in_time),
		cmocka_unit_test(preempted),
		cmocka_unit_test(woken),
		cmocka_unit_test(migrated),
		cmocka_unit_test(moves),
		cmocka_unit_test(adjacent),
		cmocka_unit_test(stopped_by_signals),
		cmocka_unit_test(asked_at_the_end),
		cmocka_unit_test(each_other),
		cmocka_unit_test(own),
		cmocka_unit_test(own_only),
		cmocka_unit_test(own_of_no_time),
		cmocka_unit_test(own_among_others),
		cmocka_unit_test(own_of_process),
		cmocka_unit_test(stopped),
		cmocka_unit_test(left_unseen),
		cmocka_unit_test(lost_record),
		cmocka_unit_test(came_unseen),
		cmocka_unit_test(here_before),
		cmocka_unit_test(let_in),
		cmocka_unit_test(beyond),
		cmocka_unit_test(due),
		cmocka_unit_test(moved),
		cmocka_unit_test(moved_away),
		cmocka_unit_test(moved_away_from_work),
		cmocka_unit_test(random_streams),
		cmocka_unit_test(many),
		cmocka_unit_test(unused_lanes_go),
		cmocka_unit_test(bounded),
		cmocka_unit_test(lost_while_it_waits),
		cmocka_unit_test(lost_counts_rise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
