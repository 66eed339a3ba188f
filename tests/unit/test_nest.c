/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nest: how marks divide an interval's time among functions, and who asked. First drawn by
 * hand, then at random against an oracle that owns every nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/nest.h"
#include "../world/letters.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HICCUP_NS    400 /* length of the drawn ones */
#define NEST_RECORDS 24

static const struct edge_bounds bounds = {.irq_ns = 10, .thread_ns = 20};

static int name_stack(void *ctx, int32_t id, const char **frame)
{
	(void)ctx;
	(void)id;
	(void)frame;
	return 0;
}

static const struct names names = {.irq = name_irq, .symbol = name_symbol, .stack = name_stack};

/* ---- drawn by hand ---- */

/* clang-format off */
#define AT(from, to, of, what) .start_ns = from, .end_ns = to, .level = of, .kind = what
#define IRQ(from, to, number, handler) \
	{AT(from, to, LEVEL_IRQ, RECORD_IRQ), .id = number, .arg = handler}
#define VEC(from, to, vector) \
	{AT(from, to, LEVEL_IRQ, RECORD_VECTOR), .id = vector, .arg = vector}
#define SIR(from, to, number, flag) \
	{AT(from, to, LEVEL_SOFTIRQ, RECORD_SOFTIRQ), .id = number, .flags = flag}
#define NMI(from, to, handler) {AT(from, to, LEVEL_NMI, RECORD_NMI), .arg = handler}
#define THR(from, to, tid, priority, flag) \
	{AT(from, to, LEVEL_THREAD, RECORD_THREAD), .id = tid, .prio = priority, .flags = flag, \
	 .name = "kw"}
#define UNBOUND(from, to) \
	{AT(from, to, LEVEL_THREAD, RECORD_THREAD), .id = 7, .prio = 120, \
	 .flags = RECORD_ONGOING | RECORD_KTHREAD, .name = "kworker/u8:0"}
#define MARK(at, of, what, function) \
	{AT(at, at, of, RECORD_MARK), .mark = what, .arg = function}
#define ASKED(at, of, what, function, tid) \
	{AT(at, at, of, RECORD_MARK), .mark = what, .arg = function, .id = tid, \
	 .flags = RECORD_ASKED, .stack = -1}
#define TLB(at, reason) {AT(at, at, LEVEL_IRQ, RECORD_TLB), .id = reason}
#define FAULT(at)       {AT(at, at, LEVEL_THREAD, RECORD_FAULT)}
#define NEXT            {.start_ns = 1} /* another hiccup */
/* clang-format on */

#define TIMER VECTOR_LOCAL_TIMER
#define CALL  VECTOR_CALL_FUNCTION

struct drawing {
	const char *what;
	bool real_time;
	struct record record[NEST_RECORDS]; /* as they end */
	const char *want; /* pieces in order of first appearance: name>function net */
};

static const struct drawing drawings[] = {
	{
		.what = "time before the first mark is the first mark's",
		.record = {MARK(140, LEVEL_IRQ, MARK_HRTIMER, 'a'), VEC(100, 200, TIMER)},
		.want = "local_timer>a 100 | edge 20 outside 280",
	},
	{
		.what = "each kind of mark, and what is not marked",
		.record = {MARK(110, LEVEL_IRQ, MARK_HRTIMER, 'a'),
			   MARK(130, LEVEL_IRQ, MARK_CSD, 'b'),
			   MARK(160, LEVEL_IRQ, MARK_IRQ_WORK, 'c'), VEC(100, 200, TIMER),
			   MARK(210, LEVEL_SOFTIRQ, MARK_TIMER, 'd'),
			   MARK(220, LEVEL_SOFTIRQ, MARK_TASKLET, 'e'), SIR(200, 250, 1, 0),
			   MARK(250, LEVEL_THREAD, MARK_WORK, 'f'), THR(250, 300, 7, 120, 0),
			   VEC(300, 310, TIMER), SIR(310, 330, 1, 0), THR(330, 350, 7, 120, 0)},
		.want = "local_timer>a 30, local_timer>b 30, local_timer>c 40, TIMER>d 20, TIMER>e "
			"30, kw>f 50, local_timer 10, TIMER 20, kw 20 | edge 30 outside 120",
	},
	{
		.what = "what lies within is taken from its own segment",
		.record = {MARK(110, LEVEL_SOFTIRQ, MARK_TIMER, 'a'), NMI(112, 115, 0),
			   VEC(120, 130, TIMER), MARK(140, LEVEL_SOFTIRQ, MARK_TIMER, 'b'),
			   VEC(140, 160, TIMER), IRQ(190, 200, 0, 0), SIR(100, 200, 1, 0)},
		.want = "NMI 3, local_timer 30, disk 10, TIMER>a 27, TIMER>b 30 | edge 20 outside "
			"280",
	},
	{
		.what = "marks of other levels: above, below, and at once",
		.record = {MARK(100, LEVEL_THREAD, MARK_WORK, 'w'),
			   MARK(100, LEVEL_SOFTIRQ, MARK_TIMER, 's'),
			   MARK(100, LEVEL_IRQ, MARK_HRTIMER, 'h'), VEC(100, 130, TIMER),
			   SIR(100, 150, 1, 0), MARK(160, LEVEL_IRQ, MARK_CSD, 'x'),
			   MARK(165, LEVEL_SOFTIRQ, MARK_TIMER, 'y'), THR(100, 200, 7, 120, 0)},
		.want = "local_timer>h 30, TIMER>s 20, kw>w 50 | edge 40 outside 260",
	},
	{
		.what = "marks at the very start and end",
		.record = {MARK(100, LEVEL_IRQ, MARK_HRTIMER, 'a'),
			   MARK(200, LEVEL_IRQ, MARK_HRTIMER, 'b'), VEC(100, 200, TIMER),
			   MARK(200, LEVEL_IRQ, MARK_CSD, 'c'), VEC(200, 220, CALL)},
		.want = "local_timer>a 100, local_timer>b 0, call_function>c 20 | edge 20 outside "
			"260",
	},
	{
		.what = "a mark behind all of its level waits in vain",
		.record = {VEC(100, 200, TIMER), MARK(210, LEVEL_IRQ, MARK_HRTIMER, 'a'),
			   VEC(220, 240, TIMER), NEXT, VEC(100, 200, TIMER)},
		.want = "local_timer 120 | edge 40 outside 240; local_timer 100 | edge 20 outside "
			"280",
	},
	{
		.what = "late marks are left out",
		.record = {VEC(100, 200, TIMER), MARK(150, LEVEL_IRQ, MARK_HRTIMER, 'a'),
			   MARK(150, LEVEL_SOFTIRQ, MARK_TIMER, 'b'), TLB(199, 1),
			   SIR(90, 210, 1, 0)},
		.want = "local_timer 100, TIMER 20 | edge 20 outside 260",
	},
	{
		.what = "a function of an interrupt that was not seen is no softirq's",
		.record = {MARK(100, LEVEL_SOFTIRQ, MARK_TIMER, 'a'),
			   MARK(120, LEVEL_IRQ, MARK_HRTIMER, 'b'), VEC(140, 150, TIMER),
			   SIR(100, 200, 1, 0), MARK(220, LEVEL_IRQ, MARK_HRTIMER, 'c')},
		.want = "local_timer 10, TIMER>a 90 | edge 20 outside 280",
	},
	{
		.what = "an outer handler's mark before a demultiplexed one's",
		.record = {MARK(110, LEVEL_IRQ, MARK_IRQ_WORK, 'a'),
			   MARK(125, LEVEL_IRQ, MARK_HRTIMER, 'b'), IRQ(120, 150, 1, 0),
			   IRQ(100, 200, 0, 0)},
		.want = "net>b 30, disk>a 70 | edge 20 outside 280",
	},
	{
		.what = "TLB flushes with functions and without",
		.record = {MARK(110, LEVEL_IRQ, MARK_CSD, 'a'), TLB(120, 1), VEC(100, 150, CALL),
			   TLB(160, 5), VEC(150, 200, CALL), TLB(210, 1),
			   MARK(220, LEVEL_IRQ, MARK_CSD, 'b'), VEC(200, 230, CALL),
			   MARK(230, LEVEL_IRQ, MARK_CSD, 0), TLB(231, 1),
			   MARK(240, LEVEL_IRQ, MARK_CSD, 'c'), VEC(230, 250, CALL)},
		.want = "call_function>a 50, call_function>remote wrong CPU 50, call_function>b "
			"30, call_function>remote shootdown 10, call_function>c 10 | edge 20 "
			"outside 230",
	},
	{
		.what = "functions of interrupts and NMIs are their handlers'",
		.record = {IRQ(100, 120, 0, 'd'), NMI(150, 160, 'n'), NMI(160, 165, 'm'),
			   MARK(210, LEVEL_IRQ, MARK_HRTIMER, 't'), IRQ(200, 220, 1, 'h'),
			   IRQ(220, 230, 9, 0)},
		.want = "disk>d 20, NMI>n 10, NMI>m 5, net>t 20,  10 | edge 60 outside 275",
	},
	{
		.what = "so does a softirq, which is counted once",
		.record = {MARK(105, LEVEL_SOFTIRQ, MARK_TIMER, 'a'), SIR(100, 150, 1, RECORD_PART),
			   THR(150, 160, 8, 120, 0), MARK(160, LEVEL_SOFTIRQ, MARK_TIMER, 'a'),
			   SIR(160, 190, 1, 0)},
		.want = "TIMER>a 80, kw 10 | edge 20 outside 290",
	},
	{
		.what = "a worker goes on with its work after preemption",
		.record = {MARK(110, LEVEL_THREAD, MARK_WORK, 'a'),
			   THR(100, 150, 7, 120, RECORD_ONGOING),
			   THR(150, 160, 8, 120, RECORD_ONGOING),
			   MARK(190, LEVEL_THREAD, MARK_WORK, 'b'),
			   THR(160, 200, 7, 120, RECORD_ONGOING), NEXT,
			   THR(100, 150, 7, 120, RECORD_ONGOING), NEXT, THR(100, 110, 7, 120, 0),
			   THR(110, 130, 7, 120, 0)},
		.want = "kw>a 80, kw 10, kw>b 10 | edge 40 outside 260; kw>b 50 | edge 40 outside "
			"310; kw>b 10, kw 20 | edge 40 outside 330",
	},
	{
		.what = "not one that may have ended it on another CPU",
		.record = {MARK(110, LEVEL_THREAD, MARK_WORK, 'a'), UNBOUND(100, 150),
			   THR(150, 160, 8, 120, 0), UNBOUND(160, 200)},
		.want = "kworker/u8:0>a 50, kw 10, kworker/u8:0 40 | edge 40 outside 260",
	},
	{
		.what = "unless it says so when it comes",
		.record = {MARK(100, LEVEL_THREAD, MARK_WAKER, 0),
			   MARK(100, LEVEL_THREAD, MARK_WORK, 'a'),
			   MARK(190, LEVEL_THREAD, MARK_WORK, 'b'), UNBOUND(100, 200)},
		.want = "kworker/u8:0>a 90, kworker/u8:0>b 10 | edge 40 outside 260",
	},
	{
		.what = "not when it left idle",
		.record = {MARK(110, LEVEL_THREAD, MARK_WORK, 'a'), THR(100, 150, 7, 120, 0),
			   THR(150, 160, 7, 120, RECORD_ONGOING),
			   THR(160, 190, 7, 120, RECORD_ONGOING)},
		.want = "kw>a 50, kw 40 | edge 40 outside 270",
	},
	{
		.what = "nor another thread in its place",
		.record = {MARK(110, LEVEL_THREAD, MARK_WORK, 'a'),
			   THR(100, 150, 7, 120, RECORD_ONGOING),
			   THR(150, 160, 71, 120, RECORD_ONGOING), THR(160, 170, 71, 120, 0),
			   THR(170, 180, 7, 120, RECORD_ONGOING),
			   MARK(190, LEVEL_THREAD, MARK_WORK, 'b'),
			   THR(190, 200, 71, 120, RECORD_ONGOING),
			   THR(200, 210, 7, 120, RECORD_ONGOING), THR(210, 220, 71, 120, 0)},
		.want = "kw>a 60, kw 20, kw>b 20, kw 10 | edge 50 outside 240",
	},
	{
		.what = "nor the idle thread",
		.record = {MARK(110, LEVEL_THREAD, MARK_WORK, 'a'),
			   THR(100, 150, 64, 120, RECORD_ONGOING), THR(150, 160, 64, 120, 0),
			   THR(160, 190, 0, 120, RECORD_ONGOING)},
		.want = "kw>a 60, kw 30 | edge 40 outside 270",
	},
	{
		.what = "throttled: a thread without real-time priority in a real-time sampler's "
			"stead",
		.real_time = true,
		.record = {THR(100, 150, 7, 100, 0), THR(150, 160, 8, 99, 0),
			   THR(160, 170, 8, -1, 0), MARK(180, LEVEL_THREAD, MARK_WORK, 'a'),
			   THR(170, 200, 9, 120, RECORD_ONGOING),
			   THR(200, 205, 9, 120, RECORD_ONGOING), THR(205, 210, 9, 98, 0)},
		.want = "kw>[throttled] 50, kw 20, kw>[throttled] 15, kw>a 25 | edge 40 outside "
			"250",
	},
	{
		.what = "throttling is not a work item that goes on",
		.real_time = true,
		.record = {THR(100, 150, 7, 120, RECORD_ONGOING), THR(150, 160, 7, 98, 0)},
		.want = "kw>[throttled] 50, kw 10 | edge 40 outside 300",
	},
	{
		.what = "throttled: a worker that says when it comes what it goes on with",
		.real_time = true,
		.record = {MARK(100, LEVEL_THREAD, MARK_WAKER, 0),
			   MARK(100, LEVEL_THREAD, MARK_WORK, 'a'), THR(100, 150, 7, 120, 0),
			   MARK(150, LEVEL_THREAD, MARK_WORK, 'a'),
			   MARK(180, LEVEL_THREAD, MARK_WORK, 'b'), THR(150, 200, 7, 120, 0)},
		.want = "kw>[throttled] 80, kw>b 20 | edge 40 outside 260",
	},
	{
		.what = "a fault takes no mark of a thread that was lost",
		.record = {FAULT(100), ASKED(120, LEVEL_THREAD, MARK_WAKER, 0, 41),
			   MARK(130, LEVEL_THREAD, MARK_WORK, 'a'), VEC(200, 250, TIMER)},
		.want = "local_timer 50, page fault 250 | edge 10 outside 90",
	},
};

static void say_account(FILE *out, const struct sources *t, const struct account *a)
{
	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct piece *p = &a->pieces[i];
		const struct source *s = t->row[p->source];

		fprintf(out, "%s%s%s%s %llu", i ? ", " : "", s->name, s->function ? ">" : "",
			s->function ? s->function : "", (unsigned long long)p->net_ns);
	}
	fprintf(out, "%s| edge %llu outside %llu", a->npieces ? " " : "",
		(unsigned long long)a->edge_ns, (unsigned long long)a->outside_ns);
}

static void check_sums(const struct account *a)
{
	uint64_t pieces = 0;

	for (uint32_t i = 0; i < a->npieces; i++)
		pieces += a->pieces[i].net_ns;
	assert_int_equal(pieces, a->attributed_ns);
	assert_true(a->attributed_ns <= a->duration_ns && a->edge_ns <= a->duration_ns);
	assert_int_equal(a->attributed_ns + a->edge_ns + a->lost_ns + a->outside_ns,
			 a->duration_ns);
}

/* Checks that spans are in order of time, each lies in one that is less deep by one, and their net
 * times equal the pieces. */
static void check_spans(const struct account *a)
{
	const struct span *in[16] = {NULL};
	uint64_t net[SOURCES_MAX] = {0};

	assert_int_equal(a->spans_left, 0);
	for (uint32_t i = 0; i < a->nspans; i++) {
		const struct span *s = &a->spans[i],
				  *last = s->depth < COUNT(in) ? in[s->depth] : NULL;

		assert_true(a->start_ns <= s->start_ns && s->start_ns < s->end_ns);
		assert_true(s->end_ns <= a->start_ns + a->duration_ns);
		assert_true(!last || last->end_ns <= s->start_ns);
		net[s->source] += s->end_ns - s->start_ns;
		if (s->depth) {
			const struct span *outer = in[s->depth - 1];

			assert_true(outer->start_ns <= s->start_ns && s->end_ns <= outer->end_ns);
			net[outer->source] -= s->end_ns - s->start_ns;
		}
		in[s->depth] = s;
	}
	for (uint32_t i = 0; i < a->npieces; i++) {
		assert_int_equal(net[a->pieces[i].source], a->pieces[i].net_ns);
		net[a->pieces[i].source] = 0;
	}
	for (uint32_t i = 0; i < SOURCES_MAX; i++)
		assert_int_equal(net[i], 0);
}

static void test_drawing(void **state)
{
	const struct drawing *d = *state;
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	unsigned stuck_out, last = NEST_RECORDS;
	struct sources t;
	struct nest *n;

	assert_non_null(out);
	assert_int_equal(sources_init(&t), 0);
	n = nest_new(&t, bounds, &names, d->real_time);
	assert_non_null(n);
	assert_int_equal(nest_keep_spans(n), 0);
	while (!d->record[last - 1].start_ns)
		last--;
	nest_open(n);
	for (unsigned i = 0; i <= last; i++) {
		const struct account *a;

		if (i < last && d->record[i].kind) {
			nest_take(n, &d->record[i], 0, HICCUP_NS);
			continue;
		}
		a = nest_close(n, 0, HICCUP_NS, &stuck_out);
		assert_int_equal(stuck_out, 0);
		check_sums(a);
		check_spans(a);
		say_account(out, &t, a);
		if (i < last)
			fputs("; ", out);
		nest_open(n);
	}
	fclose(out);
	assert_string_equal(text, d->want);
	nest_free(n);
	sources_free(&t);
}

/* ---- at random ---- */

#define NESTS   12000 /* nests for each kind of sampler */
#define SPAN_NS 2000
#define KEYS    256 /* 16 * source + function */

enum { NO_FUNCTION, THROTTLED = 7, SHOOTDOWN, WRONG_CPU }; /* between them 'a' to 'f' */

static const uint32_t tids[] = {3,  67, 131, 5,
				64, 0}; /* sources 0 to 5; then softirqs, IRQs, vectors and NMI */

static struct {
	struct nest *nest;
	bool real_time;
	unsigned kept[COUNT(tids)]; /* functions that threads go on with */
	uint16_t owner[SPAN_NS];    /* 1 + key */
	uint8_t outer[SPAN_NS];     /* bound of the outermost interval */
	uint64_t net[KEYS], runs[KEYS], first[KEYS], known[KEYS];
	uint64_t aside[KEYS]; /* net ns of runs that were put aside */
	uint64_t left;        /* when the last thread left */
	uint64_t intervals;   /* number of those that ended */
	uint32_t asker[KEYS];
} w;

/* The function that an interval runs now. */
struct segment {
	uint64_t from;
	unsigned source, function;
	uint32_t asker;
	bool marked, first, resumed;
};

static unsigned below(uint64_t n)
{
	return (unsigned)((uint64_t)random() % n);
}

/* Counts a run that was put aside and did not come back; its interval has not ended. */
static void end_run(unsigned key)
{
	w.runs[key] += !!w.aside[key];
	w.aside[key] = 0;
}

static void end_segment(struct segment *s, uint64_t to, bool counts)
{
	unsigned key = 16 * s->source + s->function;

	if (!s->resumed)
		end_run(key);
	for (; s->from < to; s->from++) {
		if (w.owner[s->from])
			continue;
		w.owner[s->from] = 1 + key;
		w.aside[key] += !counts;
	}
	if (counts)
		w.aside[key] = 0;
	w.runs[key] += counts;
	w.first[key] += s->first;
	s->first = s->resumed = false;
	w.known[key] += !!s->asker;
	if (s->asker)
		w.asker[key] = s->asker;
	s->asker = 0;
}

static void make_mark(unsigned level, uint64_t at, struct segment *s)
{
	struct record m =
		MARK(at, level, 1 + below(MARK_RESCHEDULE), below(5) ? 'a' + below(6) : 0);

	m.id = 1 + below(20);
	m.flags = below(2) ? RECORD_ASKED : 0;
	m.stack = -1;
	nest_take(w.nest, &m, 0, SPAN_NS);
	if (m.mark == MARK_WAKER || m.mark == MARK_RESCHEDULE) {
		s->asker = m.flags ? m.id : 0;
		return;
	}
	if (!s->marked && s->function == THROTTLED && at == s->from)
		return;
	if (s->marked || (s->function && level == LEVEL_THREAD))
		end_segment(s, at, true);
	s->marked = true;
	s->function = m.arg ? m.arg - 'a' + 1 : NO_FUNCTION;
	s->asker = m.flags ? m.id : s->asker;
}

static void make_source(struct record *r, struct segment *s)
{
	static const int16_t prios[] = {-1, 99, 100, 120};
	unsigned which = below(r->level == LEVEL_THREAD ? COUNT(tids) : 3);

	r->kind = r->level == LEVEL_THREAD    ? RECORD_THREAD
		  : r->level == LEVEL_SOFTIRQ ? RECORD_SOFTIRQ
					      : RECORD_NMI;
	r->id = r->level == LEVEL_THREAD ? tids[which] : which;
	s->source = r->level == LEVEL_THREAD
			    ? which
			    : 3 * r->level + 3 + (r->level == LEVEL_NMI ? 3 : which);
	if (r->level == LEVEL_THREAD) {
		r->prio = prios[below(COUNT(prios))];
		r->flags = below(2) ? RECORD_ONGOING : 0;
		s->function = w.real_time && r->prio >= 100 ? THROTTLED : w.kept[which];
	} else if (r->level == LEVEL_SOFTIRQ) {
		r->flags = below(4) ? 0 : RECORD_PART;
	} else if (r->level == LEVEL_IRQ && below(2)) {
		r->kind = RECORD_VECTOR;
		r->arg = which;
		s->source += 3;
	} else {
		r->kind = r->level == LEVEL_IRQ ? RECORD_IRQ : RECORD_NMI;
		s->function = below(3) ? 1 + below(6) : NO_FUNCTION;
		r->arg = s->function ? 'a' + s->function - 1 : 0;
	}
}

static void leave_thread(const struct record *r, const struct segment *s)
{
	if (!r->id || (r->flags && s->function == THROTTLED))
		return;
	for (unsigned i = 0; r->flags && s->function && i < COUNT(tids); i++)
		if (tids[i] % 64 == r->id % 64)
			w.kept[i] = NO_FUNCTION;
	w.kept[s->source] = r->flags ? s->function : NO_FUNCTION;
}

/* Makes the records inside it first, as the probes do. */
static void make_interval(unsigned level, uint64_t from, uint64_t to)
{
	struct record r = {.start_ns = from, .end_ns = to, .level = level, .name = "t"};
	struct segment s = {.from = from};
	uint64_t at = from, end;

	make_source(&r, &s);
	s.first = !(r.flags & RECORD_PART);
	s.resumed = level == LEVEL_SOFTIRQ && from == w.left;
	w.intervals += s.first;
	for (; below(6); at += below(3) ? below(to - at + 1) : 0) {
		unsigned what = below(5);

		if (what < 2 && level < LEVEL_NMI) {
			make_mark(level, at, &s);
		} else if (what == 2 && level == LEVEL_IRQ) {
			struct record flush = TLB(at, below(2) ? 1 : 5);

			nest_take(w.nest, &flush, 0, SPAN_NS);
			if (!s.function)
				s.function = flush.id == 1 ? SHOOTDOWN : WRONG_CPU;
		} else if (what == 3 && level < LEVEL_NMI &&
			   at < to) { /* a mark of a higher level is nobody's */
			struct record other = ASKED(at, level + 1, MARK_CSD, 'z', 99);

			nest_take(w.nest, &other, 0, SPAN_NS);
			at++;
		} else if (what == 4 && level < LEVEL_NMI && at < to) {
			end = at + 1 + below(to - at);
			make_interval(level + 1 + below(LEVEL_NMI - level), at, end);
			at = end;
		}
	}
	end_segment(&s, to, !(r.flags & RECORD_PART));
	if (level == LEVEL_THREAD) {
		leave_thread(&r, &s);
		w.left = to;
	}
	nest_take(w.nest, &r, 0, SPAN_NS);
}

static uint64_t make_hiccup(void)
{
	uint64_t now = below(60), end;

	memset(w.owner, 0, sizeof(w.owner));
	memset(w.outer, 0, sizeof(w.outer));
	memset(w.net, 0, sizeof(w.net));
	w.left = UINT64_MAX;
	while (now < SPAN_NS - 300 && below(6)) {
		unsigned level = below(LEVELS);

		end = now + 1 + below(200);
		memset(w.outer + now, level == LEVEL_THREAD ? bounds.thread_ns : bounds.irq_ns,
		       end - now);
		make_interval(level, now, end);
		now = end + below(3) * below(40);
	}
	return now + 1;
}

static unsigned key_of(const struct source *s)
{
	unsigned source = s->kind == SOURCE_NMI       ? 15
			  : s->kind == SOURCE_SOFTIRQ ? 6 + s->id
						      : 9 + s->id;
	unsigned function = s->function ? s->function[0] - 'a' + 1 : NO_FUNCTION;

	for (unsigned i = 0; s->kind == SOURCE_THREAD && i < COUNT(tids); i++)
		source = tids[i] == s->id ? i : source;
	if (s->function && s->function[0] == '[')
		function = THROTTLED;
	else if (s->function && s->function[1])
		function = strcmp(s->function, word_text(WORD_TLB_REMOTE_SHOOTDOWN)) ? WRONG_CPU
										     : SHOOTDOWN;
	return 16 * (source + (s->kind == SOURCE_VECTOR ? 3 : 0)) + function;
}

static void check_hiccup(const struct sources *t, const struct account *a)
{
	uint64_t edge = 0, gap, bound;

	for (uint64_t i = 0; i < a->duration_ns; i++) {
		if (w.owner[i]) {
			w.net[w.owner[i] - 1]++;
			continue;
		}
		bound = i ? w.outer[i - 1] : 0;
		for (gap = 1; i + 1 < a->duration_ns && !w.owner[i + 1]; gap++)
			i++;
		bound += i + 1 < a->duration_ns ? w.outer[i + 1] : 0;
		edge += gap < bound ? gap : bound;
	}
	check_sums(a);
	check_spans(a);
	assert_int_equal(a->edge_ns, edge);
	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct source *s = t->row[a->pieces[i].source];
		unsigned key = key_of(s);

		assert_int_equal(a->pieces[i].net_ns, w.net[key]);
		assert_int_equal(a->pieces[i].asker.tid, w.asker[key]);
		w.net[key] = w.asker[key] = 0;
	}
	for (unsigned key = 0; key < KEYS; key++)
		assert_true(!w.net[key] && !w.asker[key]);
}

/* The same for a thread whose leaving was not traced. */
static void test_kernel_threads_are_told(void **state)
{
	static const struct record records[] = {
		THR(100, 110, 7, 120, RECORD_KTHREAD | RECORD_ONGOING),
		THR(110, 120, 8, 120, RECORD_ONGOING),
		THR(120, 125, 0, 120, 0), /* idle: before 5.14 it has no flag */
		{.start_ns = 130,
		 .end_ns = 130,
		 .kind = RECORD_MARK,
		 .mark = MARK_THREAD,
		 .id = 9,
		 .name = "kw",
		 .flags = RECORD_KTHREAD},
	};
	struct sources sources;
	struct nest *n;
	unsigned stuck;

	(void)state;
	assert_int_equal(sources_init(&sources), 0);
	n = nest_new(&sources, bounds, &names, false);
	assert_non_null(n);
	nest_open(n);
	for (size_t i = 0; i < COUNT(records); i++)
		nest_take(n, &records[i], 0, HICCUP_NS);
	nest_close(n, 0, HICCUP_NS, &stuck);
	assert_int_equal(sources.count, 4);
	for (uint32_t i = 0; i < sources.count; i++)
		assert_int_equal(sources.row[i]->kernel_thread, sources.row[i]->id != 8);
	nest_free(n);
	sources_free(&sources);
}

/* Flushes for several programs are no single one's, and one whose program is not known changes
 * nothing. */
static void test_whose_memory(void **state)
{
	static const char *const flushes[] = {"often", "", "often", "last", "often"};
	static const char *const want[] = {"often", "often", "often", "", ""};
	struct sources sources;
	struct nest *n;
	unsigned stuck;

	(void)state;
	assert_int_equal(sources_init(&sources), 0);
	n = nest_new(&sources, bounds, &names, false);
	assert_non_null(n);
	for (size_t i = 0; i < COUNT(flushes); i++) {
		struct record flush = TLB(120, *flushes[i] ? 1 : 5);

		memcpy(flush.name, flushes[i], strlen(flushes[i]));
		nest_open(n);
		nest_take(n, &(struct record)MARK(110, LEVEL_IRQ, MARK_CSD, 'a'), 0, HICCUP_NS);
		nest_take(n, &flush, 0, HICCUP_NS);
		nest_take(n, &(struct record)VEC(100, 150, CALL), 0, HICCUP_NS);
		nest_close(n, 0, HICCUP_NS, &stuck);
		assert_int_equal(sources.count, 1);
		assert_string_equal(sources.row[0]->memory_of, want[i]);
		assert_int_equal(sources.row[0]->memories, i >= 3);
	}
	nest_free(n);
	sources_free(&sources);
}

/* The pieces of a softirq are one run when its thread comes back with it, and else are two. */
static void test_softirq_in_pieces(void **state)
{
	static const struct {
		struct record record[4];
		uint64_t count, runs, sum, max;
	} is[] = {
		{{SIR(100, 5100, 1, RECORD_PART), THR(5100, 5200, 8, 120, 0), SIR(5200, 5299, 1, 0),
		  THR(5299, 5400, 7, 120, 0)},
		 1,
		 1,
		 5099,
		 5099},
		/* the sampler ran in between */
		{{SIR(100, 5100, 1, RECORD_PART),
		  {AT(6000, 6000, LEVEL_THREAD, RECORD_MARK), .mark = MARK_THREAD, .id = 7},
		  SIR(6000, 6050, 1, RECORD_PART),
		  THR(6050, 6060, 8, 120, 0)},
		 0,
		 1,
		 5050,
		 5050},
		/* the last piece was not recorded: another run */
		{{SIR(100, 5100, 1, RECORD_PART), THR(5100, 5200, 8, 120, 0), SIR(5210, 5510, 1, 0),
		  THR(5600, 5700, 7, 120, 0)},
		 1,
		 2,
		 5300,
		 5000},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(is); i++) {
		struct sources sources;
		const struct source *s;
		unsigned stuck;
		struct nest *n;

		assert_int_equal(sources_init(&sources), 0);
		n = nest_new(&sources, bounds, &names, false);
		assert_non_null(n);
		nest_open(n);
		for (size_t k = 0; k < COUNT(is[i].record); k++)
			nest_take(n, &is[i].record[k], 0, 10000);
		nest_close(n, 0, 10000, &stuck);
		s = sources.row[0];
		assert_int_equal(s->kind, SOURCE_SOFTIRQ);
		assert_int_equal(s->net.sum, is[i].sum);
		sources_end_runs(&sources);
		sources_end_runs(&sources);
		assert_int_equal(s->net.sum, is[i].sum);
		assert_int_equal(s->net.count, is[i].runs);
		assert_int_equal(s->count, is[i].count);
		assert_int_equal(s->net.max, is[i].max);
		nest_free(n);
		sources_free(&sources);
	}
}

/* As a kernel's counter has it: softirqs with several timers each, some in pieces, more than the
 * nest keeps apart. */
static void test_interruptions_are_intervals(void **state)
{
	enum { N = 9000 };
	uint64_t intervals = 0, runs = 0, count[4] = {0};
	struct sources sources;
	struct nest *n;
	unsigned stuck;

	(void)state;
	assert_int_equal(sources_init(&sources), 0);
	n = nest_new(&sources, bounds, &names, false);
	assert_non_null(n);
	nest_open(n);
	for (uint64_t i = 0, at = 0; i < N; i++, at += 100) {
		for (uint64_t k = 0; k < i % 4; k++) {
			struct record m = MARK(at + 10 + 10 * k, LEVEL_SOFTIRQ, MARK_TIMER,
					       'a' + (i + k) % 3);

			nest_take(n, &m, 0, N * 100);
		}
		nest_take(n, &(struct record)SIR(at, at + 50, 1, i % 5 == 4 ? RECORD_PART : 0), 0,
			  N * 100);
		intervals += i % 5 != 4;
		runs += i % 4 ? i % 4 : 1;
		if (i % 5 != 4)
			count[i % 4 ? 1 + i % 3 : 0]++;
	}
	nest_close(n, 0, N * 100, &stuck);
	sources_end_runs(&sources);
	assert_true(nest_folded(n) > 0);
	assert_int_equal(sources.count, 4);
	for (uint32_t i = 0; i < sources.count; i++) {
		const struct source *s = sources.row[i];

		assert_int_equal(s->count, count[s->function ? 1 + s->function[0] - 'a' : 0]);
		intervals -= s->count;
		runs -= s->net.count;
	}
	assert_int_equal(intervals, 0);
	assert_int_equal(runs, 0);
	nest_free(n);
	sources_free(&sources);
}

/* A storm of names within one hiccup: the pieces follow their sources into the rest, and the newest
 * name is kept. */
static void test_storm_in_one_hiccup(void **state)
{
	enum { N = 5000 };
	struct sources sources;
	const struct account *a;
	uint64_t heavy = 0;
	struct nest *n;
	unsigned stuck;

	(void)state;
	assert_int_equal(sources_init(&sources), 0);
	n = nest_new(&sources, bounds, &names, false);
	assert_non_null(n);
	assert_int_equal(nest_keep_spans(n), 0);
	nest_open(n);
	for (uint64_t i = 0; i < N; i++) {
		struct record r = THR(i * 100, i * 100 + 90, 7, 120, 0);

		snprintf(r.name, sizeof(r.name), "n%llu", (unsigned long long)i);
		nest_take(n, &r, 0, N * 1000);
	}
	nest_take(n, &(struct record)IRQ(N * 100, N * 100 + 50, 1, 0), 0, N * 1000);
	nest_take(n, &(struct record)THR(N * 200, N * 900, 8, 120, 0), 0, N * 1000);
	a = nest_close(n, 0, N * 1000, &stuck);
	assert_int_equal(stuck, 0);
	assert_int_equal(a->attributed_ns, N * 90 + 50 + N * 700);
	check_sums(a);
	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct source *s = sources.row[a->pieces[i].source];

		assert_int_equal(a->pieces[i].net_ns, s->net.sum);
		assert_int_equal(s->piece, i);
		heavy += s->id == 8 ? s->net.sum : 0;
	}
	assert_int_equal(heavy, N * 700);
	assert_int_equal(a->npieces, sources.count);
	assert_true(sources_merged(&sources, SOURCE_THREAD, &heavy) > N / 2);
	assert_int_equal(sources_merged(&sources, SOURCE_IRQ, &heavy), 0);
	for (uint32_t i = 0; i < a->nspans; i++) {
		const struct source *s = sources.row[a->spans[i].source];

		assert_true(s->rest || s->id == (a->spans[i].end_ns <= N * 100     ? 7U
						 : a->spans[i].start_ns == N * 100 ? 1U
										   : 8U));
	}
	nest_free(n);
	sources_free(&sources);
}

static void test_random(void **state)
{
	unsigned stuck_out;
	struct sources t;

	memset(&w, 0, sizeof(w));
	w.real_time = !!*state;
	assert_int_equal(sources_init(&t), 0);
	w.nest = nest_new(&t, bounds, &names, w.real_time);
	assert_non_null(w.nest);
	assert_int_equal(nest_keep_spans(w.nest), 0);
	srandom(20240607);
	for (unsigned i = 0; i < NESTS; i++) {
		nest_open(w.nest);
		check_hiccup(&t, nest_close(w.nest, 0, make_hiccup(), &stuck_out));
		assert_int_equal(stuck_out, 0);
	}
	sources_end_runs(&t);
	for (unsigned key = 0; key < KEYS; key++)
		end_run(key);
	for (uint32_t i = 0; i < t.count; i++) {
		assert_int_equal(t.row[i]->net.count, w.runs[key_of(t.row[i])]);
		assert_int_equal(t.row[i]->count, w.first[key_of(t.row[i])]);
		w.intervals -= t.row[i]->count;
		assert_int_equal(t.row[i]->askers ? t.row[i]->askers->known : 0,
				 w.known[key_of(t.row[i])]);
	}
	assert_int_equal(w.intervals, 0);
	assert_true(t.count > 100);
	nest_free(w.nest);
	sources_free(&t);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(drawings) + 7] = {
		{"random nests", test_random, NULL, NULL, NULL},
		cmocka_unit_test(test_kernel_threads_are_told),
		cmocka_unit_test(test_whose_memory),
		cmocka_unit_test(test_softirq_in_pieces),
		cmocka_unit_test(test_interruptions_are_intervals),
		cmocka_unit_test(test_storm_in_one_hiccup),
		{"random nests, a real-time sampler", test_random, NULL, NULL, (void *)&names},
	};

	for (unsigned i = 0; i < COUNT(drawings); i++)
		tests[i + 7] = (struct CMUnitTest){drawings[i].what, test_drawing, NULL, NULL,
						   (void *)&drawings[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
