/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The join on drawn timelines (see drawing.h). The expected account of each hiccup stands beside
 * its drawing. Every drawing is joined several times, each time with the records of one level late,
 * as levels race for the clock. The sequences begin close to their wrap-around. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/join.h"
#include "../world/drawing.h"
#include "../world/records.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct edge_bounds bounds = {.irq_ns = 200, .thread_ns = 500};
static const uint64_t threshold_ns = 300;

struct drawing {
	const char *what;
	uint64_t ns; /* length of a column; 0: 100 */
	const char *rows[ROWS_MAX + 1];
	/* Result for each hiccup: pieces in order of first appearance | edge, outside. */
	const char *want[ROWS_MAX];
	/* Intervals of each source over all, in order of first appearance; NULL: not checked. */
	const char *counts;
	uint64_t lost, below, mismatches;
};

static const struct drawing drawings[] = {
	{
		.what = "an interrupt",
		.rows = {"irq  ...[nvme....].....", "hic  .[--------------]."},
		.want = {"nvme 1000 | edge 400 outside 200"},
		.counts = "nvme 1",
	},
	{
		.what = "nothing: all of it is outside",
		.rows = {"hic  .[----].[--]."},
		.want = {"| edge 0 outside 600", "| edge 0 outside 400"},
	},
	{
		.what = "an interrupt in a softirq",
		.rows = {"sir  ..[TIMER.......]..", "irq  ......[tick]......",
			 "hic  [----------------]"},
		.want = {"local_timer 600, TIMER 800 | edge 400 outside 0"},
	},
	{
		.what = "NMI in interrupt in softirq in thread",
		.rows = {"thr  ...[kworker.............]...", "sir  .....[RCU............]......",
			 "irq  ........[nvme.....].........", "nmi  ...........[NMI]............",
			 "hic  [--------------------------]"},
		.want = {"NMI 500, nvme 600, RCU 600, kworker 500 | edge 600 outside 0"},
		.counts = "NMI 1, nvme 1, RCU 1, kworker 1",
	},
	{
		.what = "two threads, a tick in the second",
		.rows = {"thr  ..[one][two..........]..", "irq  ............[tick]......",
			 "hic  [----------------------]"},
		.want = {"one 500, local_timer 600, two 900 | edge 400 outside 0"},
	},
	{
		.what = "an interrupt in an interrupt (demultiplexed)",
		.rows = {"irq  ..[gpio.....]..", "irq  ....[pin]......", "hic  [------------]."},
		.want = {"pin 500, gpio 600 | edge 300 outside 0"},
	},
	{
		.what = "siblings in one softirq",
		.rows = {"sir  .[NET_RX.................].", "irq  ....[a]...[b]..[tick]......",
			 "nmi  ...........................", "hic  [-------------------------]"},
		.want = {"a 300, b 300, local_timer 600, NET_RX 1300 | edge 200 outside 0"},
	},
	{
		.what = "a fault lasts until the next, that one until the hiccup's end",
		.rows = {"flt  ...F.......F......", "irq  .....[tick].......",
			 "hic  [----------------]"},
		.want = {"local_timer 600, page fault 900 | edge 200 outside 100"},
		.counts = "local_timer 1, page fault 2",
	},
	{
		.what = "a thread runs while a fault waits",
		.rows = {"flt  ..F...............", "thr  .....[kw.]........",
			 "irq  ......[b].........", "hic  [----------------]"},
		.want = {"b 300, kw 200, page fault 1100 | edge 200 outside 0"},
	},
	{
		.what = "a fault ends with its hiccup",
		.rows = {"flt  ..F..............................",
			 "irq  ........................[tick]...",
			 "hic  [---------]...........[---------]"},
		.want = {"page fault 900 | edge 200 outside 0",
			 "local_timer 600 | edge 400 outside 100"},
	},
	{
		.what = "an instant at the start is inside, one at the end is not",
		.rows = {"flt  .F........F...........", "hic  .[-------]...[-------]"},
		.want = {"page fault 900 | edge 0 outside 0", "| edge 0 outside 900"},
		.counts = "page fault 1",
		.below = 1,
	},
	{
		.what = "a TLB flush names its vector's function, not the next one's",
		.rows = {"irq  ..[callfn..].[callfn]..", "tlb  .....1.................",
			 "hic  [---------------------]"},
		.want = {"call_function>remote shootdown 1000, call_function 800 | edge 500 "
			 "outside 0"},
	},
	{
		.what = "a TLB flush in a vector in a softirq",
		.rows = {"sir  .[TIMER..........].", "irq  ....[callfn.]......",
			 "nmi  ......[N].........", "tlb  ..........5........",
			 "hic  [----------------]."},
		.want = {"NMI 300, call_function>remote wrong CPU 600, TIMER 800 | edge 100 "
			 "outside 0"},
	},
	{
		.what = "a TLB flush where one vector ends and the next begins",
		.rows = {"irq  ..[callfn][callfn]..", "tlb  ..........1.........",
			 "hic  [------------------]"},
		.want = {"call_function 800, call_function>remote shootdown 800 | edge 400 outside "
			 "0"},
	},
	{
		.what = "an interval as long as its hiccup",
		.rows = {"irq  ..[tick..]..", "hic  ..[------].."},
		.want = {"local_timer 800 | edge 0 outside 0"},
	},
	{
		.what = "neighbours that touch the hiccup",
		.rows = {"irq  [tick]........[tick]....", "hic  ......[------]..........",
			 "hic  ....................[--]"},
		.want = {"| edge 0 outside 800", "| edge 0 outside 400"},
		.below = 2,
		.mismatches = 2, /* longer than a gap below the threshold can be */
	},
	{
		.what = "short neighbours that touch the hiccup",
		.ns = 10,
		.rows = {"irq  [tick]........[tick]....", "hic  ......[------]..........",
			 "hic  ....................[--]"},
		.want = {"| edge 0 outside 80", "| edge 0 outside 40"},
		.below = 2,
	},
	{
		.what = "over the start by less than the tolerance",
		.ns = 10,
		.rows = {"irq  [tick..............]............",
			 "hic  ...............[------------]..."},
		.want = {"| edge 0 outside 140"},
		.below = 1,
	},
	{
		.what = "over the start by more than the tolerance",
		.ns = 10,
		.rows = {"irq  [tick..............]............",
			 "hic  ........[-------------------]..."},
		.want = {"local_timer 120 | edge 90 outside 0"},
	},
	{
		.what = "over the end by less than the tolerance",
		.ns = 10,
		.rows = {"irq  ............[tick..............]",
			 "hic  ..[---------------------]......."},
		.want = {"local_timer 130 | edge 100 outside 0"},
	},
	{
		.what = "over the end by more than the tolerance",
		.ns = 10,
		.rows = {"irq  ............[tick..............].......",
			 "hic  ..[-----------------]..................",
			 "hic  .....................[----------------]"},
		.want = {"| edge 0 outside 190", "local_timer 110 | edge 70 outside 0"},
	},
	{
		.what = "over the end by more than the tolerance, but the sequence says inside",
		.ns = 10,
		.rows = {"irq  ....[tick....................]",
			 "hic  ..[---------------].........."},
		.want = {"| edge 0 outside 170"},
		.mismatches = 1,
	},
	{
		.what = "several hiccups in one batch",
		.rows = {"irq  ..[tick]......[tick]..[tick]......",
			 "hic  [--------]..[-------------------].",
			 "hic  .................................[-]"},
		.want = {"local_timer 600 | edge 400 outside 0",
			 "local_timer 1200 | edge 600 outside 300", "| edge 0 outside 300"},
		.counts = "local_timer 3",
	},
	{
		.what = "hiccups back to back",
		.rows = {"irq  .[tick]..[tick].......", "hic  [------][------][---]."},
		.want = {"local_timer 600 | edge 200 outside 0",
			 "local_timer 600 | edge 200 outside 0", "| edge 0 outside 500"},
	},
	{
		.what = "records below the threshold between hiccups",
		.rows = {"irq  .[tick]....[a]..[b]....[nvme]....[c]...",
			 "hic  [------]..............[-------].........",
			 "hic  .....................................[]"},
		.want = {"local_timer 600 | edge 200 outside 0", "nvme 600 | edge 300 outside 0",
			 "| edge 0 outside 200"},
		.counts = "local_timer 1, nvme 1",
		.below = 3,
	},
	{
		.what = "gaps before, between and after, each with the bounds of its neighbours",
		.rows = {"irq  ....[a]...........................",
			 "thr  ................[kw]..............",
			 "hic  [--------------------------------]"},
		.want = {"a 300, kw 400 | edge 1400 outside 1300"},
	},
	{
		.what = "gaps inside a thread are the thread's",
		.rows = {"thr  .....[kw.......................].....",
			 "irq  .......[a].................[b].......",
			 "hic  [----------------------------------]."},
		.want = {"a 300, b 300, kw 2100 | edge 900 outside 0"},
	},
	{
		.what = "a softirq that is preempted counts once",
		.rows = {"thr  ..[ksoft........][rt..][ksoft......]..",
			 "sir  ....[TIMER......>......[TIMER..]......",
			 "hic  [------------------------------------]"},
		.want = {"TIMER 2200, ksoft 600, rt 600 | edge 400 outside 0"},
		.counts = "TIMER 1, ksoft 2, rt 1",
	},
	{
		.what = "two end together",
		.rows = {"irq  ....[tick]..", "sir  ..[TIMER.]..", "hic  [----------]"},
		.want = {"local_timer 600, TIMER 200 | edge 400 outside 0"},
	},
	{
		.what = "four end together",
		.rows = {"thr  ..[kw.........]..", "sir  ....[TIMER....]..",
			 "irq  ......[tick...]..", "nmi  ..........[NMI]..",
			 "hic  [---------------]"},
		.want = {"NMI 500, local_timer 400, TIMER 200, kw 200 | edge 400 outside 0"},
	},
	{
		.what = "three begin together",
		.rows = {"sir  ..[TIMER....]..", "irq  ..[tick].......", "nmi  ..[NMI]........",
			 "hic  [-------------]"},
		.want = {"NMI 500, local_timer 100, TIMER 500 | edge 400 outside 0"},
	},
	{
		.what = "one lies exactly in the other",
		.rows = {"irq  ..[tick]..", "nmi  ..[NMI.]..", "hic  [--------]"},
		.want = {"NMI 600, local_timer 0 | edge 400 outside 0"},
	},
	{
		.what = "two that overlap and do not nest: the first keeps its time",
		.rows = {"irq  ..[a....].......", "irq  .....[b......]..", "hic  [-------------]."},
		.want = {"a 700, b 500 | edge 300 outside 0"},
	},
	{
		.what = "an inner one that begins before the outer",
		.rows = {"nmi  ..[NMI]........", "irq  ....[tick...]..", "hic  [-------------]"},
		.want = {"NMI 500, local_timer 600 | edge 400 outside 0"},
	},
	{
		.what = "a dropped record: of the outer one's time nobody knows how much was its",
		.rows = {"sir  ..[TIMER.......]..", "irq  ......[!tick].....",
			 "hic  [----------------]"},
		.want = {"TIMER 0 | edge 0 outside 0 lost 1800"},
		.lost = 1,
	},
	{
		.what = "dropped outer records and dropped ones between hiccups",
		.rows = {"sir  ..[!TIMER......].................[!SCHED].",
			 "irq  ......[tick].....[!a].[!b]...............",
			 "hic  [----------------]......[-----].........."},
		.want = {"local_timer 600 | edge 0 outside 0 lost 1200",
			 "| edge 0 outside 0 lost 700"},
		.lost = 3, /* SCHED ends after the hiccup */
	},
	{
		.what = "records dropped at the tail of every level",
		.rows = {"thr  ...[a][!b][!c]..............", "sir  .......................[!RCU].",
			 "nmi  ...............[N].[!N]........",
			 "hic  [-----------------------------]"},
		.want = {"a 0, NMI 300 | edge 0 outside 0 lost 2800"},
		.lost = 4,
	},
	{
		.what = "records of lost hiccups are no mismatch; those of none are",
		.rows = {"irq  .[tick]......[nvme]..[tick]...[tick].......[a....]....",
			 "los  ............[------][------]..........................",
			 "hic  [------].....................[-------]................",
			 "hic  ...................................................[-]"},
		.want = {"local_timer 600 | edge 200 outside 0",
			 "local_timer 600 | edge 300 outside 0", "| edge 0 outside 300"},
		.counts = "local_timer 2",
		.below = 3,
		.mismatches = 1, /* a */
	},
};

static void say_account(char *text, size_t size, const struct sources *t, const struct account *a)
{
	FILE *out = fmemopen(text, size, "w");

	assert_non_null(out);
	for (unsigned i = 0; i < a->npieces; i++) {
		const struct source *s = t->row[a->pieces[i].source];

		fprintf(out, "%s%s%s%s %llu", i ? ", " : "", s->name, s->function ? ">" : "",
			s->function ? s->function : "", (unsigned long long)a->pieces[i].net_ns);
	}
	fprintf(out, "%s| edge %llu outside %llu", a->npieces ? " " : "",
		(unsigned long long)a->edge_ns, (unsigned long long)a->outside_ns);
	if (a->lost_ns)
		fprintf(out, " lost %llu", (unsigned long long)a->lost_ns);
	fclose(out);
}

static void check_sums(const struct account *a)
{
	uint64_t pieces = 0;

	for (unsigned i = 0; i < a->npieces; i++)
		pieces += a->pieces[i].net_ns;
	assert_int_equal(pieces, a->attributed_ns);
	assert_int_equal(a->attributed_ns + a->edge_ns + a->lost_ns + a->outside_ns,
			 a->duration_ns);
}

static void check_counts(const struct sources *t, const char *want)
{
	char text[512] = "", one[128];

	for (unsigned i = 0; i < t->count; i++) {
		snprintf(one, sizeof(one), "%s%s %llu", i ? ", " : "", t->row[i]->name,
			 (unsigned long long)t->row[i]->net.count);
		strcat(text, one);
	}
	assert_string_equal(text, want);
}

static void check_drawing(const struct drawing *d, int late)
{
	static const uint32_t cursor[LEVELS] = {FIRST_CURSOR, FIRST_CURSOR, FIRST_CURSOR,
						FIRST_CURSOR};
	struct drawn s = {.nrecords = 0};
	struct names names = {.irq = name_of_irq};
	struct sources t;
	struct join *j;
	char text[1024];
	unsigned dropped = 0;

	for (unsigned i = 0; d->rows[i]; i++)
		draw_row(&s, d->rows[i], d->ns ? d->ns : 100);
	number(&s);
	count_lost(&s);
	assert_int_equal(sources_init(&t), 0);
	names.ctx = &s;
	j = join_new(&(struct join_options){
		.sources = &t, .names = &names, .threshold_ns = threshold_ns, .bounds = bounds});
	assert_non_null(j);
	join_start(j, cursor);
	give(&s, j, late);
	for (unsigned h = 0; h < s.nhiccups; h++) {
		const struct account *a = join_hiccup(j, &s.hiccup[h]);

		check_sums(a);
		assert_int_equal(a->start_ns, s.hiccup[h].start_ns);
		assert_int_equal(a->duration_ns, s.hiccup[h].end_ns - s.hiccup[h].start_ns);
		say_account(text, sizeof(text), &t, a);
		assert_non_null(d->want[h]);
		assert_string_equal(text, d->want[h]);
	}
	assert_null(d->want[s.nhiccups]);
	if (d->counts)
		check_counts(&t, d->counts);
	for (unsigned i = 0; i < s.nrecords; i++)
		dropped += s.dropped[i];
	assert_int_equal(join_counts(j)->seen, s.nrecords - dropped);
	assert_int_equal(join_counts(j)->lost, d->lost);
	assert_int_equal(join_counts(j)->below_threshold, d->below);
	assert_int_equal(join_counts(j)->mismatches, d->mismatches);
	assert_int_equal(join_counts(j)->folded, 0);
	join_free(j);
	sources_free(&t);
}

static void test_drawing(void **state)
{
	for (int late = -1; late < LEVELS; late++)
		check_drawing(*state, late);
}

/* ---- the sequence ---- */

struct place {
	const char *what;
	uint64_t start_ns, end_ns; /* times of a record; the hiccup is [10000, 20000) */
	uint32_t seq;              /* the hiccup's cursors are 2^32 - 1 and 2: 0 to 2 are inside */
	uint64_t mismatches;
};

static const struct place places[] = {
	{"inside by both", 12000, 13000, 0, 0},
	{"inside by both, the last place", 12000, 13000, 2, 0},
	{"inside by time, before by place", 12000, 13000, UINT32_MAX, 1},
	{"inside by time, long before by place", 12000, 13000, UINT32_MAX - 25000, 1},
	{"inside by time, behind by place", 12000, 13000, 3, 1},
	{"before by both", 7000, 7200, UINT32_MAX, 0},
	{"just before by time: between the cursors and the counter", 9800, 9950, 0, 0},
	{"just before by time, over the start by the clock's error", 9800, 10050, 0, 0},
	{"long before by time, inside by place", 1000, 1200, 0, 1},
	{"behind by both", 20020, 20200, 3, 0},
	{"just behind by time: between the counter and the cursors", 20020, 20200, 2, 0},
	{"just behind by time, and short", 20010, 20060, 2, 0},
};

static void test_places(void **state)
{
	static const uint32_t cursor[LEVELS] = {0, 0, UINT32_MAX - 1, 0};

	(void)state;
	for (unsigned i = 0; i < COUNT(places); i++) {
		const struct place *p = &places[i];
		struct hiccup h = {.start_ns = 10000,
				   .end_ns = 20000,
				   .before = {0, 0, UINT32_MAX},
				   .after = {0, 0, 2}};
		struct hiccup next = {.start_ns = 30000,
				      .end_ns = 31000,
				      .before = {0, 0, 3},
				      .after = {0, 0, 3}};
		struct record r = {.start_ns = p->start_ns, .end_ns = p->end_ns, .seq = p->seq};
		const struct account *a;
		struct sources t;
		struct join *j;

		r.level = LEVEL_IRQ;
		r.kind = RECORD_IRQ;
		assert_int_equal(sources_init(&t), 0);
		j = join_new(&(struct join_options){
			.sources = &t, .threshold_ns = threshold_ns, .bounds = bounds});
		assert_non_null(j);
		join_start(j, cursor);
		join_record(j, &r);
		a = join_hiccup(j, &h);
		if (join_counts(j)->mismatches != p->mismatches)
			print_message("# %s\n", p->what);
		assert_int_equal(join_counts(j)->mismatches, p->mismatches);
		assert_int_equal(a->npieces, r.start_ns > h.start_ns && r.start_ns < h.end_ns);
		a = join_hiccup(j, &next);
		assert_int_equal(a->npieces, 0);
		join_free(j);
		sources_free(&t);
	}
}

/* However many: up to the places that 31 bits have. */
static void test_lost(void **state)
{
	static const uint32_t cursor[LEVELS] = {5, UINT32_MAX - 5, 0, 0};
	struct record r = {
		.start_ns = 100, .end_ns = 200, .level = LEVEL_SOFTIRQ, .kind = RECORD_SOFTIRQ};
	struct hiccup h = {.start_ns = 1000, .end_ns = 2000};
	struct sources t;
	struct join *j;

	(void)state;
	assert_int_equal(sources_init(&t), 0);
	j = join_new(&(struct join_options){
		.sources = &t, .threshold_ns = threshold_ns, .bounds = bounds});
	assert_non_null(j);
	join_start(j, cursor);
	r.seq = UINT32_MAX - 4;
	join_record(j, &r);
	assert_int_equal(join_counts(j)->lost, 0);
	r.seq = 0; /* behind 2^32 - 4 to 2^32 - 1 */
	join_record(j, &r);
	assert_int_equal(join_counts(j)->lost, 4);
	r.seq = 2000000001;
	join_record(j, &r);
	assert_int_equal(join_counts(j)->lost, 4 + 2000000000);
	memcpy(h.before, cursor, sizeof(cursor));
	h.before[LEVEL_SOFTIRQ] = 2000000001;
	memcpy(h.after, h.before, sizeof(h.after));
	h.after[LEVEL_SOFTIRQ] = 2000000004; /* three that did not come */
	h.after[LEVEL_THREAD] = 6;
	join_hiccup(j, &h);
	assert_int_equal(join_counts(j)->lost, 4 + 2000000000ULL + 4);
	join_hiccup(j, &h); /* late records are counted once */
	r.start_ns = 2100;
	r.end_ns = 2200;
	r.seq = 2000000005;
	join_record(j, &r);
	assert_int_equal(join_counts(j)->lost, 4 + 2000000000ULL + 4);
	assert_int_equal(join_counts(j)->seen, 4);
	r.seq = 2000000006;
	r.end_ns = 2000; /* ends before it begins: not a record */
	join_record(j, &r);
	r.seq = 2000000007;
	r.end_ns = 2300;
	join_record(j, &r);
	assert_int_equal(join_counts(j)->lost, 4 + 2000000000ULL + 5);
	assert_int_equal(join_counts(j)->seen, 5);
	join_free(j);
	sources_free(&t);
}

/* A worker is preempted in the middle of one work item. It ends that in a gap below the threshold,
 * or in records that are lost, and what it does next is named by its own mark, or not known. */
static const char *letter(void *ctx, uint64_t address)
{
	static const char *const text[] = {"a", "b"};

	(void)ctx;
	return text[address - 'a'];
}

static void work(struct join *j, uint32_t seq, uint64_t start_ns, uint64_t end_ns, char function)
{
	struct record r = {.start_ns = start_ns,
			   .end_ns = start_ns,
			   .seq = seq,
			   .level = LEVEL_THREAD,
			   .kind = RECORD_MARK,
			   .mark = MARK_WORK,
			   .arg = function};

	if (function)
		join_record(j, &r);
	r.seq += !!function;
	r.kind = RECORD_THREAD;
	r.start_ns -= 50;
	r.end_ns = end_ns;
	r.id = 7;
	r.flags = function == 'a' ? RECORD_ONGOING : 0;
	join_record(j, &r);
}

static void test_work_ends_unseen(void **state)
{
	static const uint32_t cursor[LEVELS];
	const struct names names = {.symbol = letter};

	(void)state;
	for (int missing = 0; missing < 2; missing++) {
		struct hiccup h = {.start_ns = 10000, .end_ns = 20000, .after = {2}};
		struct hiccup next = {.start_ns = 40000, .end_ns = 50000, .before = {3}};
		struct sources t;
		struct join *j;

		assert_int_equal(sources_init(&t), 0);
		j = join_new(&(struct join_options){
			.sources = &t, .names = &names, .threshold_ns = 300, .bounds = bounds});
		assert_non_null(j);
		join_start(j, cursor);
		work(j, 1, 11000, 19000, 'a');
		join_hiccup(j, &h);
		if (missing)
			next.before[LEVEL_THREAD] = 2; /* in the next hiccup */
		else
			work(j, 3, 30000, 30100, 0);
		work(j, 4, 42000, 49000, missing ? 0 : 'b');
		next.after[LEVEL_THREAD] = missing ? 4 : 5;
		join_hiccup(j, &next);
		assert_int_equal(join_counts(j)->lost, missing);
		assert_int_equal(join_counts(j)->mismatches, 0);
		assert_int_equal(t.count, 2);
		assert_string_equal(t.row[0]->function, "a");
		assert_int_equal(t.row[0]->count, 1);
		assert_int_equal(t.row[0]->net.sum, 8050);
		if (missing)
			assert_null(t.row[1]->function);
		else
			assert_string_equal(t.row[1]->function, "b");
		assert_int_equal(t.row[1]->count, 1);
		assert_int_equal(t.row[1]->net.sum, 7050);
		join_free(j);
		sources_free(&t);
	}
}

/* A softirq of PREEMPT_RT is preempted, and goes on in its function with its thread, at the very
 * time at which the other one leaves, whatever is known of the thread that comes. */
static void test_softirq_goes_on(void **state)
{
	static const uint32_t cursor[LEVELS];
	const struct names names = {.symbol = letter};
	const struct hiccup h = {.start_ns = 1000, .end_ns = 7000, .after = {4, 4}};

	(void)state;
	for (unsigned arrival = 0; arrival < 3; arrival++) {
		struct record r[] = {
			mark(LEVEL_SOFTIRQ, MARK_TIMER, 'a', 1100),
			softirq(1, 1100, 6100),
			thread(7, "ksoftirqd", 1050, 6100),
			mark(LEVEL_SOFTIRQ, MARK_TIMER, 'a', 6200),
			thread(8, "rt", 6100, 6200),
			mark(LEVEL_THREAD, arrival ? MARK_WORK : MARK_WAKER, 'b', 6200),
			softirq(1, 6200, 6300),
			thread(7, "ksoftirqd", 6200, 6400),
		};
		uint32_t seq[LEVELS] = {0};
		const struct source *s;
		struct sources t;
		struct join *j;

		assert_int_equal(sources_init(&t), 0);
		j = join_new(&(struct join_options){
			.sources = &t, .names = &names, .threshold_ns = 300, .bounds = bounds});
		assert_non_null(j);
		join_start(j, cursor);
		r[1].flags = RECORD_PART;
		if (arrival == 2) /* nothing is known */
			r[5].arg = 0;
		for (unsigned i = 0; i < COUNT(r); i++) {
			r[i].seq = ++seq[r[i].level];
			join_record(j, &r[i]);
		}
		check_sums(join_hiccup(j, &h));
		s = t.row[0];
		assert_int_equal(s->kind, SOURCE_SOFTIRQ);
		assert_string_equal(s->function, "a");
		assert_int_equal(s->net.sum, 5100);
		assert_int_equal(s->net.max, 5100);
		assert_int_equal(s->net.count, 1);
		assert_int_equal(s->count, 1);
		for (uint32_t i = 1; i < t.count; i++)
			assert_int_equal(t.row[i]->kind, SOURCE_THREAD);
		assert_int_equal(join_counts(j)->mismatches, 0);
		join_free(j);
		sources_free(&t);
	}
}

int main(void)
{
	struct CMUnitTest tests[COUNT(drawings) + 4] = {
		cmocka_unit_test(test_places), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_work_ends_unseen), cmocka_unit_test(test_softirq_goes_on)};

	for (unsigned i = 0; i < COUNT(drawings); i++)
		tests[i + 4] = (struct CMUnitTest){drawings[i].what, test_drawing, NULL, NULL,
						   (void *)&drawings[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
