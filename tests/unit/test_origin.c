/* Who asked: how askers are told apart and counted, which frame of a stack is named, and that the nest gives each interval its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/nest.h"
#include "model/origin.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FRAMES_MAX   6

/* Stacks by id. */
static const char *const stacks[][FRAMES_MAX] = {
	{"insert_work", "__queue_work", "queue_work_on", "vmstat_shepherd", "process_one_work"},
	{"try_to_wake_up", "wake_up_q", "futex_wake", "do_syscall_64"},
	{"ttwu_queue_wakelist", "try_to_wake_up", "hrtimer_wakeup", "asm_sysvec_apic_timer_interrupt", "do_work"},
	{"__queue_work", "delayed_work_timer_fn", "call_timer_fn", "handle_softirqs", "irq_exit_rcu"},
	{"smp_call_function_many_cond", "on_each_cpu_cond_mask"}, /* helpers only */
	{"bpf_prog_1 [bpf]", "[unknown 0xffffffff81000000]", "flush_tlb_mm_range"},
	{"el1h_64_irq", "default_idle"},
	{NULL},
};

/* The same text is at a new place each time, as it may be when several addresses lie in one function. */
static const char *name_symbol(void *ctx, uint64_t address)
{
	static char text[256][24];
	static unsigned next;
	char *at = text[next++ % COUNT(text)];

	(void)ctx;
	snprintf(at, sizeof(text[0]), "site_%llu", (unsigned long long)address);
	return at;
}

static int name_stack(void *ctx, int32_t id, const char **frame)
{
	int n = 0;

	(void)ctx;
	assert_in_range(id, 0, COUNT(stacks) - 1);
	for (; n < FRAMES_MAX && stacks[id][n]; n++)
		frame[n] = stacks[id][n];
	return n;
}

static const struct names names = {.symbol = name_symbol, .stack = name_stack};

static struct record asker(uint16_t cpu, uint32_t tid, const char *comm, int32_t stack, uint64_t site)
{
	struct record r = {.kind = RECORD_MARK, .mark = MARK_CSD, .flags = RECORD_ORIGIN, .level = LEVEL_IRQ};

	r.origin_cpu = cpu;
	r.id = tid;
	r.stack = stack;
	r.origin = site;
	memcpy(r.name, comm, strnlen(comm, sizeof(r.name)));
	return r;
}

static uint32_t add(struct origins *o, uint16_t cpu, uint32_t tid, const char *comm, int32_t stack, uint64_t site)
{
	struct record r = asker(cpu, tid, comm, stack, site);

	return origins_add(o, &r, &names);
}

static void test_each_part_of_the_key_counts(void **state)
{
	struct origins o = {.count = 0};

	(void)state;
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(add(&o, 1, 10, "a", -1, 5), 1);
		assert_int_equal(add(&o, 2, 10, "a", -1, 5), 2);
		assert_int_equal(add(&o, 1, 11, "a", -1, 5), 3);
		assert_int_equal(add(&o, 1, 10, "b", -1, 5), 4);
		assert_int_equal(add(&o, 1, 10, "a", -1, 6), 5);
		assert_int_equal(add(&o, 1, 10, "a", -1, 0), 6);
		assert_int_equal(add(&o, 1, 10, "a", 1, 5), 7);
		assert_int_equal(o.count, 7);
		assert_int_equal(o.known, 7 * i);
		for (unsigned row = 0; row < o.count; row++)
			assert_int_equal(o.row[row].count, i);
	}
	assert_int_equal(o.others, 0);
	assert_int_equal(o.row[1].cpu, 2);
	assert_int_equal(o.row[2].tid, 11);
	assert_string_equal(o.row[3].comm, "b");
	assert_string_equal(o.row[4].function, "site_6");
	assert_null(o.row[5].function);
	assert_string_equal(o.row[6].function, "futex_wake");
}

static void test_without_names(void **state)
{
	struct origins o = {.count = 0};
	struct record r = asker(1, 10, "a", 1, 5);

	(void)state;
	assert_int_equal(origins_add(&o, &r, NULL), 0);
	assert_int_equal(o.count + o.known + o.others, 0);
}

static const struct {
	int32_t stack;
	uint64_t site;
	const char *function;
	bool interrupt;
} requests[] = {
	{0, 9, "vmstat_shepherd", false},
	{1, 9, "futex_wake", false},
	{2, 9, "hrtimer_wakeup", true},
	{3, 9, "delayed_work_timer_fn", true},
	{4, 9, "site_9", false},                /* nothing but helpers: the call site says more */
	{4, 0, "on_each_cpu_cond_mask", false}, /* the outermost helper */
	{5, 9, "flush_tlb_mm_range", false},
	{6, 9, "el1h_64_irq", true},
	{-1, 9, "site_9", false}, /* noted on a target: its context is known */
	{-1, 0, NULL, false},
};

/* Without a stack that can be read it may have been an interrupt, in the name of whatever thread it hit: nobody is named. */
static void test_unreadable(void **state)
{
	static const int32_t without[] = {7, -2}; /* empty; none could be had */

	(void)state;
	for (unsigned i = 0; i < COUNT(without); i++) {
		struct origins o = {.count = 0};

		assert_int_equal(add(&o, 3, 77, "innocent", without[i], 9), 0);
		assert_int_equal(o.count, 0);
		assert_int_equal(o.known, 1);
		assert_int_equal(o.others, 1);
	}
}

static void test_functions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT(requests); i++) {
		struct origins o = {.count = 0};
		int frames = 0;

		assert_int_equal(add(&o, 3, 77, "a long name", requests[i].stack, requests[i].site), 1);
		if (requests[i].function)
			assert_string_equal(o.row[0].function, requests[i].function);
		else
			assert_null(o.row[0].function);
		assert_int_equal(o.row[0].cpu, 3);
		assert_int_equal(o.row[0].tid, requests[i].interrupt ? 0 : 77);
		assert_string_equal(o.row[0].comm, requests[i].interrupt ? "(interrupt)" : "a long name");
		while (requests[i].stack >= 0 && stacks[requests[i].stack][frames]) {
			assert_string_equal(o.row[0].frame[frames], stacks[requests[i].stack][frames]);
			frames++;
		}
		assert_int_equal(o.row[0].nframes, frames);
	}
}

/* Interrupts that ask the same are one asker, whomever they interrupted. */
static void test_interrupts_are_one(void **state)
{
	struct origins o = {.count = 0};

	(void)state;
	assert_int_equal(add(&o, 3, 77, "a name of 16 byt", 2, 0), 1);
	assert_int_equal(add(&o, 3, 78, "b", 2, 0), 1);
	assert_int_equal(add(&o, 4, 77, "a name of 16 byt", 2, 0), 2);
	assert_int_equal(add(&o, 3, 77, "a name of 16 byt", 3, 0), 3);
	assert_int_equal(o.row[0].count, 2);
	assert_int_equal(o.known, 4);
}

static void test_comms_of_any_bytes(void **state)
{
	struct origins o = {.count = 0};

	(void)state;
	assert_int_equal(add(&o, 0, 1, "0123456789abcdef", -1, 0), 1); /* no NUL: what follows is not the name's */
	assert_int_equal(add(&o, 0, 1, "0123456789abcde", -1, 0), 2);
	assert_int_equal(add(&o, 0, 1, "\x1b]0;x\x07\xff\xc3\n", -1, 0), 3);
	assert_int_equal(add(&o, 0, 1, "", -1, 0), 4);
	assert_int_equal(add(&o, 0, 1, "0123456789abcdef", -1, 0), 1);
	assert_string_equal(o.row[0].comm, "0123456789abcdef");
	assert_string_equal(o.row[1].comm, "0123456789abcde");
	assert_string_equal(o.row[2].comm, "\x1b]0;x\x07\xff\xc3\n");
	assert_string_equal(o.row[3].comm, "");
}

static void test_more_than_rows(void **state)
{
	struct origins o = {.count = 0};
	uint64_t sum = 0;

	(void)state;
	for (uint32_t tid = 1; tid <= 3 * ORIGINS_MAX; tid++)
		assert_int_equal(add(&o, 0, tid, "many", -1, 0), tid <= ORIGINS_MAX ? tid : 0);
	assert_int_equal(add(&o, 0, ORIGINS_MAX, "many", -1, 0), ORIGINS_MAX);
	assert_int_equal(add(&o, 0, ORIGINS_MAX + 1, "many", -1, 0), 0);
	assert_int_equal(o.count, ORIGINS_MAX);
	assert_int_equal(o.others, 2 * ORIGINS_MAX + 1);
	assert_int_equal(o.known, 3 * ORIGINS_MAX + 2);
	for (uint32_t i = 0; i < o.count; i++)
		sum += o.row[i].count;
	assert_int_equal(sum + o.others, o.known);
}

/* By falling count, of equal ones the earlier first. */
static void test_top(void **state)
{
	static const uint64_t counts[] = {3, 9, 1, 9, 4, 3};
	static const uint32_t want[] = {1, 3, 4, 0, 5, 2};
	uint32_t order[ORIGINS_MAX];
	struct origins o = {.count = 0};

	(void)state;
	assert_int_equal(origins_top(&o, order, 3), 0);
	for (uint32_t i = 0; i < COUNT(counts); i++)
		for (uint64_t n = counts[i]; n; n--)
			add(&o, 0, i + 1, "a", -1, 0);
	for (uint32_t n = 0; n <= COUNT(want) + 2; n++) {
		uint32_t found = n < COUNT(want) ? n : COUNT(want);

		memset(order, 0xff, sizeof(order));
		assert_int_equal(origins_top(&o, order, n), found);
		assert_memory_equal(order, want, found * sizeof(order[0]));
		assert_int_equal(order[found], UINT32_MAX); /* no more than was asked for */
	}
}

/* ---- in the nest ---- */

static const struct edge_bounds bounds = {.irq_ns = 10, .thread_ns = 20};
static struct sources t;
static struct nest *n;

static int begin(void **state)
{
	(void)state;
	if (sources_init(&t))
		return -1;
	n = nest_new(&t, bounds, &names, false);
	if (!n)
		return -1;
	nest_open(n);
	return 0;
}

static int end(void **state)
{
	(void)state;
	nest_free(n);
	sources_free(&t);
	return 0;
}

static void take(unsigned level, unsigned kind, uint64_t start, uint64_t end_ns)
{
	struct record r = {
		.start_ns = start, .end_ns = end_ns, .level = level, .kind = kind, .arg = 251, .id = 3, .name = "hog"};

	nest_take(n, &r, 0, UINT64_MAX);
}

/* asker 0: not known, though the fields of one are filled in. function 0: a mark that has none. */
static void take_mark(unsigned level, unsigned mark, uint64_t at, uint64_t function, uint32_t tid)
{
	struct record r = asker(1, tid ? tid : 666, tid ? "asker" : "stale", 1, 5);

	r.start_ns = r.end_ns = at;
	r.level = level;
	r.mark = mark;
	r.arg = function;
	r.flags = tid ? RECORD_ORIGIN : 0;
	nest_take(n, &r, 0, UINT64_MAX);
}

/* Pieces: function, net time and, behind a slash, the asker's tid; in brackets all requests so far. */
static void assert_account(uint64_t end_ns, const char *want)
{
	unsigned stuck_out;
	const struct account *a = nest_close(n, 0, end_ns, &stuck_out);
	char text[512] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct piece *p = &a->pieces[i];
		const struct source *s = t.row[p->source];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %llu", i ? ", " : "",
				       s->function ? s->function : s->name, (unsigned long long)p->net_ns);
		if (p->asker)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "/%u", s->origins->row[p->asker - 1].tid);
		if (s->origins)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " (%llu)",
					       (unsigned long long)s->origins->known);
	}
	assert_string_equal(text, want);
	nest_open(n);
}

static void test_each_interval_its_own(void **state)
{
	(void)state;
	take_mark(LEVEL_THREAD, MARK_WAKER, 100, 0, 41);
	take(LEVEL_THREAD, RECORD_THREAD, 100, 150);
	take(LEVEL_SOFTIRQ, RECORD_SOFTIRQ, 150, 160);
	take_mark(LEVEL_IRQ, MARK_RESCHEDULE, 180, 0, 42);
	take(LEVEL_IRQ, RECORD_VECTOR, 160, 180);
	assert_account(200, "hog 50/41 (1), NET_RX 10, call_function 20/42 (1)");
	take(LEVEL_THREAD, RECORD_THREAD, 100, 150);
	take(LEVEL_IRQ, RECORD_VECTOR, 160, 180);
	assert_account(200, "hog 50 (1), call_function 20 (1)");
}

static void test_without_the_flag_nobody_asked(void **state)
{
	(void)state;
	take_mark(LEVEL_IRQ, MARK_CSD, 110, 1, 0);
	take(LEVEL_IRQ, RECORD_VECTOR, 100, 150);
	take_mark(LEVEL_THREAD, MARK_WAKER, 150, 0, 0);
	take_mark(LEVEL_THREAD, MARK_WORK, 160, 2, 0);
	take(LEVEL_THREAD, RECORD_THREAD, 150, 200);
	assert_account(200, "site_1 50, site_2 50");
	for (uint32_t i = 0; i < t.count; i++)
		assert_null(t.row[i]->origins);
}

static void test_work_before_waker(void **state)
{
	(void)state;
	take_mark(LEVEL_THREAD, MARK_WAKER, 100, 0, 41);
	take_mark(LEVEL_THREAD, MARK_WORK, 110, 1, 42);
	take_mark(LEVEL_THREAD, MARK_WORK, 120, 2, 43);
	take_mark(LEVEL_THREAD, MARK_WORK, 130, 3, 0);
	take(LEVEL_THREAD, RECORD_THREAD, 100, 150);
	take_mark(LEVEL_THREAD, MARK_WAKER, 150, 0, 44);
	take_mark(LEVEL_THREAD, MARK_WORK, 155, 4, 0); /* nobody queued it here: it stays the waker's */
	take(LEVEL_THREAD, RECORD_THREAD, 150, 170);
	assert_account(200, "site_1 20/42 (1), site_2 10/43 (1), site_3 20, site_4 20/44 (1)");
}

static void test_each_call_its_own(void **state)
{
	(void)state;
	take_mark(LEVEL_IRQ, MARK_CSD, 110, 1, 41);
	take_mark(LEVEL_IRQ, MARK_CSD, 120, 1, 42);
	take_mark(LEVEL_IRQ, MARK_CSD, 130, 2, 0);
	take_mark(LEVEL_IRQ, MARK_CSD, 140, 1, 41);
	take(LEVEL_IRQ, RECORD_VECTOR, 100, 150);
	assert_account(200, "site_1 40/41 (3), site_2 10");
	assert_int_equal(t.row[0]->origins->count, 2);
	assert_int_equal(t.row[0]->origins->row[0].count, 2);
}

#define TICKS 50000

/* A hog that was woken, and went to work, before very many ticks: it keeps its waker, its work and who queued it. The time behind what
 * woke it is merged with the rest (nest.c: below()). */
static void hog(bool woken_by_irq, uint32_t waker, uint32_t queuer, const char *who)
{
	uint64_t now = 120;
	char want[128];

	if (woken_by_irq)
		take(LEVEL_SOFTIRQ, RECORD_SOFTIRQ, 0, 95);
	take_mark(LEVEL_THREAD, MARK_WAKER, 100, 0, waker);
	if (queuer != UINT32_MAX)
		take_mark(LEVEL_THREAD, MARK_WORK, 110, 1, queuer);
	for (unsigned i = 0; i < TICKS; i++, now += 10)
		take(LEVEL_IRQ, RECORD_VECTOR, now, now + 3);
	take(LEVEL_THREAD, RECORD_THREAD, 100, now);
	snprintf(want, sizeof(want), "%scall_function %u, %s %u/%s", woken_by_irq ? "NET_RX 95, " : "", 3 * TICKS,
		 queuer == UINT32_MAX ? "hog" : "site_1", 20 + 7 * TICKS + (woken_by_irq ? 5 : 0), who);
	assert_true(nest_folded(n) > 0);
	assert_account(now, want);
}

static void test_hogs(void **state)
{
	(void)state;
	hog(false, 41, UINT32_MAX, "41 (1)");
	hog(false, 42, 43, "43 (1)");
	hog(false, 44, 0, "44 (2)");
	hog(true, 45, UINT32_MAX, "45 (2)");
	hog(true, 46, 0, "46 (3)");
	hog(true, 47, 48, "48 (4)");
}

/* A mark that is older than all that was merged stays where it was: what went on until then has its time. */
static void test_hog_goes_on(void **state)
{
	struct record left = {.start_ns = 10, .end_ns = 50, .kind = RECORD_THREAD, .id = 3, .flags = RECORD_ONGOING};
	uint64_t now = 120;

	(void)state;
	take_mark(LEVEL_THREAD, MARK_WORK, 20, 1, 0);
	nest_take(n, &left, 0, UINT64_MAX);
	assert_account(100, "site_1 40");
	take_mark(LEVEL_THREAD, MARK_WORK, 110, 2, 0);
	for (unsigned i = 0; i < TICKS; i++, now += 10)
		take(LEVEL_IRQ, RECORD_VECTOR, now, now + 3);
	left.start_ns = 100;
	left.end_ns = now;
	nest_take(n, &left, 0, UINT64_MAX);
	assert_account(now, "call_function 150000, site_1 10, site_2 350010");
}

#define TEST(f) cmocka_unit_test(f)
#define NEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_part_of_the_key_counts),
		TEST(test_without_names),
		TEST(test_functions),
		TEST(test_unreadable),
		TEST(test_interrupts_are_one),
		TEST(test_comms_of_any_bytes),
		TEST(test_more_than_rows),
		TEST(test_top),
		NEST(test_each_interval_its_own),
		NEST(test_without_the_flag_nobody_asked),
		NEST(test_work_before_waker),
		NEST(test_each_call_its_own),
		NEST(test_hogs),
		NEST(test_hog_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
