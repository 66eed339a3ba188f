/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of sources: keys, which rows are merged when there are too many, names of any bytes,
 * rank. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/follow.h"
#include "model/source_trim.h"

#define ROWS_MAX SOURCE_ROWS

static struct sources t;

static int begin(void **state)
{
	(void)state;
	return sources_init(&t);
}

static int end(void **state)
{
	(void)state;
	sources_free(&t);
	return 0;
}

static const struct source *find(enum source_kind kind, uint32_t id, const char *name,
				 const char *function)
{
	uint32_t row = sources_find(&t, kind, id, name, function);

	assert_true(row < t.count);
	return t.row[row];
}

static void test_each_part_of_the_key_counts(void **state)
{
	static const struct {
		enum source_kind kind;
		uint32_t id;
		const char *name, *function;
	} keys[] = {
		{SOURCE_IRQ, 1, "a", NULL},       {SOURCE_SOFTIRQ, 1, "a", NULL},
		{SOURCE_IRQ, 2, "a", NULL},       {SOURCE_IRQ, 1, "b", NULL},
		{SOURCE_IRQ, 1, "a", "f"},        {SOURCE_IRQ, 1, "a", "g"},
		{SOURCE_IRQ, 1, "af", NULL},      {SOURCE_IRQ, 1, "", "af"},
		{SOURCE_IRQ, 1, NULL, NULL},      {SOURCE_IRQ, 1, "a", ""},
		{SOURCE_IRQ, 0x100, "a", NULL},   {SOURCE_IRQ, UINT32_MAX, "a", NULL},
		{SOURCE_OUTSIDE, 0, "smi", NULL}, {SOURCE_THREAD, 0, "kw", NULL},
		{SOURCE_THREAD, 9, "kw", NULL},
	};
	const unsigned n = sizeof(keys) / sizeof(keys[0]);
	char name[8], function[8];

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < n; i++) {
			const struct source *s;

			/* Equal texts at other addresses are equal keys. */
			snprintf(name, sizeof(name), "%s", keys[i].name ? keys[i].name : "");
			snprintf(function, sizeof(function), "%s",
				 keys[i].function ? keys[i].function : "");
			assert_int_equal(sources_find(&t, keys[i].kind, keys[i].id,
						      keys[i].name ? name : NULL,
						      round && keys[i].function ? function
										: keys[i].function),
					 i);
			s = t.row[i];
			assert_int_equal(s->kind, keys[i].kind);
			assert_int_equal(s->id, keys[i].id);
			assert_string_equal(s->name, keys[i].name ? keys[i].name : "");
			assert_true(!s->function == !keys[i].function);
			assert_true(!s->function || !strcmp(s->function, keys[i].function));
			memset(name, 'x', sizeof(name) - 1); /* the name was copied */
		}
	assert_int_equal(t.count, n);
}

/* A thread takes its time. */
static const struct source *run_in(uint32_t process, uint32_t tid, const char *comm, uint64_t ns)
{
	uint32_t row = sources_find_key(
		&t, &(struct source_key){SOURCE_THREAD, tid, comm, NULL, false, process});

	source_add(t.row[row], ns, true);
	return t.row[row];
}

static const struct source *row_of(enum source_kind kind, uint32_t id, const char *name,
				   bool kernel_thread)
{
	for (uint32_t i = 0; i < t.count; i++)
		if (t.row[i]->kind == kind && t.row[i]->id == id &&
		    t.row[i]->kernel_thread == kernel_thread && !t.row[i]->rest &&
		    !strcmp(t.row[i]->name, name))
			return t.row[i];
	return NULL;
}

/* Checks that nothing is lost, and nothing counts twice. */
static void check_sums(uint64_t ns, uint64_t count)
{
	uint32_t rows[SOURCE_KINDS] = {0};
	uint64_t serial = 0;

	assert_true(t.count <= ROWS_MAX);
	for (uint32_t i = 0; i < t.count; i++) {
		ns -= t.row[i]->net.sum;
		count -= t.row[i]->count;
		rows[t.row[i]->kind] += !t.row[i]->rest;
		for (uint32_t k = 0; k < i; k++)
			assert_true(t.row[k]->serial != t.row[i]->serial);
		serial = t.row[i]->serial > serial ? t.row[i]->serial : serial;
	}
	assert_true(serial <= t.serial);
	assert_int_equal(ns, 0);
	assert_int_equal(count, 0);
	for (int k = 0; k < SOURCE_KINDS; k++) {
		assert_int_equal(rows[k], t.rows[k]);
		assert_true(rows[k] <= kind_rows[k]);
	}
}

/* More threads of a comm than have rows of their own: those with the least share one. */
static void test_many_threads_of_one_comm(void **state)
{
	const struct source *shared;
	uint64_t merged;

	(void)state;
	run_in(1, 1, "sh", 1000000);
	for (uint32_t tid = 2; tid <= SOURCE_PIDS; tid++)
		assert_int_equal(run_in(tid, tid, "sh", tid)->id, tid);
	assert_null(row_of(SOURCE_THREAD, 0, "sh", false));
	assert_int_equal(run_in(1000, 1000, "sh", 5)->id, 1000);
	shared = row_of(SOURCE_THREAD, 0, "sh", false);
	assert_non_null(shared);
	assert_int_equal(shared->merged, SOURCE_PIDS / 2);
	for (uint32_t tid = 2000; tid < 7000; tid++)
		assert_int_equal(run_in(tid, tid, "sh", tid % 7)->id, tid);
	assert_ptr_equal(row_of(SOURCE_THREAD, 0, "sh", false), shared);
	assert_int_equal(row_of(SOURCE_THREAD, 1, "sh", false)->net.sum, 1000000);
	assert_true(t.count <= SOURCE_PIDS + 1);
	assert_int_equal(shared->merged + t.count - 1, SOURCE_PIDS + 1 + 5000);
	/* Those with another comm, the kernel's, and what is no thread, are not touched by it. */
	assert_int_equal(find(SOURCE_THREAD, 1000, "make", NULL)->id, 1000);
	assert_int_equal(find(SOURCE_THREAD, 2000, "s", NULL)->id, 2000);
	for (uint32_t irq = 1; irq <= 3 * SOURCE_PIDS; irq++)
		assert_int_equal(find(SOURCE_IRQ, irq, "sh", NULL)->id, irq);
	assert_int_equal(sources_merged(&t, SOURCE_KINDS, &merged), 0);
}

/* One that takes little at a time, but again and again, while others come once. */
static void test_little_by_little(void **state)
{
	char comm[16];

	(void)state;
	for (uint32_t i = 0; i < 50000; i++) {
		if (i % 10 == 0)
			run_in(7, 7, "patient", 100);
		snprintf(comm, sizeof(comm), "storm-%u", i);
		run_in(1000 + i, 1000 + i, comm, 400);
		run_in(1000 + i, 1000 + i, "python3", 400);
		if (i % 10 == 5)
			run_in(8, 8, "python3", 500); /* with the storm's own name */
	}
	assert_int_equal(row_of(SOURCE_THREAD, 7, "patient", false)->count, 5000);
	assert_int_equal(row_of(SOURCE_THREAD, 8, "python3", false)->count, 5000);
	check_sums(50000 * 860ULL, 110000);
}

/* One thread of many functions is one thread. */
static void test_many_functions_of_one_thread(void **state)
{
	static char function[2 * SOURCE_PIDS][16];

	(void)state;
	for (unsigned i = 0; i < 2 * SOURCE_PIDS; i++) {
		snprintf(function[i], sizeof(function[i]), "work_%u", i);
		assert_int_equal(find(SOURCE_THREAD, 77, "kworker/1:2", function[i])->id, 77);
	}
	for (uint32_t tid = 1; tid < SOURCE_PIDS; tid++)
		assert_int_equal(find(SOURCE_THREAD, tid, "kworker/1:2", function[0])->id, tid);
	assert_int_equal(t.count, 3 * SOURCE_PIDS - 1);
	assert_int_equal(t.trims, 0);
	assert_int_equal(find(SOURCE_THREAD, 500, "kworker/1:2", function[0])->id, 500);
	assert_int_equal(t.trims, 1);
	for (uint32_t i = 0; i < t.count; i++) /* a shared interrupt is told by its function */
		if (!t.row[i]->id)
			assert_string_equal(t.row[i]->function, t.row[i]->merged > 1
									? function[0]
									: t.row[i]->function);
}

/* A thread that renames itself for each of its stays gets no more of the table than its process may
 * have.
 */
static void test_rename_storm(void **state)
{
	const struct source *rest;
	uint64_t ns, merged;
	char comm[16];
	uint64_t mine = 0;

	(void)state;
	for (uint32_t irq = 0; irq < 40; irq++)
		source_add(t.row[sources_find(&t, SOURCE_IRQ, irq, "eth0", NULL)], 1000, true);
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(comm, sizeof(comm), "n-%u", i);
		run_in(666, 666, comm, 2000);
		if (i == 15000)
			run_in(9, 9, "heavy", 600000000);
		if (i % 100 == 0)
			run_in(10 + i / 100 % 50, 10 + i / 100 % 50, "quiet", 3000);
	}
	assert_int_equal(row_of(SOURCE_THREAD, 9, "heavy", false)->net.sum, 600000000);
	assert_int_equal(t.rows[SOURCE_IRQ], 40);
	assert_int_equal(find(SOURCE_SOFTIRQ, 1, "TIMER", NULL)->rest, false);
	for (uint32_t i = 0; i < t.count; i++)
		mine += t.row[i]->group == 666;
	assert_true(mine > 0 && mine <= kind_rows[SOURCE_THREAD]);
	sources_trim_kind(&t, SOURCE_THREAD);
	mine = 0;
	for (uint32_t i = 0; i < t.count; i++)
		mine += t.row[i]->group == 666;
	assert_true(mine <= kind_rows[SOURCE_THREAD] / 4U);
	rest = t.row[sources_rest(&t, SOURCE_THREAD)];
	merged = sources_merged(&t, SOURCE_KINDS, &ns);
	assert_int_equal(rest->merged, merged);
	assert_int_equal(rest->net.sum, ns);
	assert_int_equal(ns, (20000 - mine) * 2000);
	check_sums(20000 * 2000ULL + 600000000 + 200 * 3000 + 40 * 1000, 20000 + 1 + 200 + 40);
}

/* Each kind has its own rows: a full kind leaves the others theirs. */
static void test_each_kind_has_its_rows(void **state)
{
	uint64_t ns = 0, count = 0, serial = 0;
	char name[16];

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned kind = 0; kind < SOURCE_KINDS; kind++)
			for (uint32_t id = 0; id < 2U * (uint32_t)kind_rows[kind]; id++) {
				struct source *s;

				snprintf(name, sizeof(name), "%u-%u", kind, id);
				s = t.row[sources_find(&t, kind, id, name,
						       id % 2 ? "function" : NULL)];
				assert_false(s->rest);
				assert_int_equal(s->kind, kind);
				assert_string_equal(s->name, name);
				assert_true(s->serial > serial || round);
				source_add(s, 1 + id, true);
				ns += 1 + id;
				count++;
			}
	check_sums(ns, count);
	for (int k = 0; k < SOURCE_KINDS; k++) {
		uint64_t of_kind;

		assert_true(sources_merged(&t, k, &of_kind) > 0 && of_kind > 0);
		assert_string_equal(t.row[sources_rest(&t, k)]->name, "(others)");
	}
}

/* No thread can pose as the rest, or as the kernel. */
static void test_fakes(void **state)
{
	struct source_key kernel = {SOURCE_THREAD, 12, "kworker/1:0", NULL, true, 12};
	uint32_t a, b;

	(void)state;
	a = sources_find(&t, SOURCE_THREAD, 12, "kworker/1:0", NULL);
	b = sources_find_key(&t, &kernel);
	assert_int_not_equal(a, b);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(sources_find(&t, SOURCE_THREAD, 12, "kworker/1:0", NULL), a);
		assert_int_equal(sources_find_key(&t, &kernel), b);
	}
	assert_false(t.row[a]->kernel_thread);
	assert_true(t.row[b]->kernel_thread);
	a = sources_find(&t, SOURCE_THREAD, 0, "(others)", NULL);
	assert_false(t.row[a]->rest);
	assert_int_not_equal(sources_rest(&t, SOURCE_THREAD), a);
	assert_int_equal(sources_find(&t, SOURCE_THREAD, 0, "(others)", NULL), a);
}

/* Whoever keeps places finds the same rows again, or the rows they went into. */
static void test_places(void **state)
{
	const struct source *row[ROWS_MAX];
	uint64_t serial[ROWS_MAX], trims;
	uint32_t n, random = 1;
	char comm[16];

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		sources_settle(&t);
		n = t.count;
		for (uint32_t i = 0; i < n; i++) {
			row[i] = t.row[i];
			serial[i] = t.row[i]->serial;
		}
		for (unsigned i = 0; i < 300; i++) { /* trims several times, or not at all */
			random = random * 1664525 + 1013904223;
			snprintf(comm, sizeof(comm), "%u",
				 (random >> 8) % (round % 3 ? 2000 : 200));
			trims = t.trims;
			run_in(1 + (random >> 20) % 9, 1 + (random >> 12) % 40, comm, random >> 24);
			assert_true(t.trims - trims <= 2);
		}
		for (uint32_t i = 0; i < n; i++) {
			const struct source *now = t.row[t.moved[i] & SOURCE_PLACE];

			if (t.moved[i] & SOURCE_GONE)
				assert_true(now->rest || !now->id);
			else
				assert_true(now == row[i] &&
					    (now->serial == serial[i] || !now->id));
		}
	}
	assert_true(t.trims > 100);
}

static void test_pieces_follow(void **state)
{
	const struct asker poke = {.kind = ASKER_THREAD, .tid = 8};
	struct piece p[] = {{.source = 0, .asker = poke, .net_ns = 10},
			    {.source = 1, .asker = poke, .net_ns = 20},
			    {.source = 2, .asker = poke, .net_ns = 30},
			    {.source = 3, .asker = poke, .net_ns = 40}};
	struct span s[] = {{1, 2, .source = 1, .asker = poke}, {3, 4, .source = 2, .asker = poke}};
	const uint32_t places[] = {2 | SOURCE_GONE, 0, 2 | SOURCE_GONE, 1};

	(void)state;
	assert_int_equal(pieces_follow(p, 4, places), 3);
	assert_int_equal(p[0].source, 2);
	assert_int_equal(p[0].asker.kind, ASKER_UNKNOWN);
	assert_int_equal(p[0].net_ns, 40);
	assert_int_equal(p[1].source, 0);
	assert_int_equal(p[1].asker.tid, 8);
	assert_int_equal(p[2].source, 1);
	assert_int_equal(p[2].net_ns, 40);
	spans_follow(s, 2, places);
	assert_int_equal(s[0].source, 0);
	assert_int_equal(s[0].asker.tid, 8);
	assert_int_equal(s[1].source, 2);
	assert_int_equal(s[1].asker.tid, 8);
}

/* With 4,096 slots hundreds of keys collide by the dozen; each must find its own row again. */
static void test_collisions(void **state)
{
	static const char *functions[] = {NULL, "f", "g", ""};
	char name[SOURCE_NAME];

	(void)state;
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 192; i++) {
			snprintf(name, sizeof(name), "%u", i / 16);
			assert_int_equal(sources_find(&t, i % 2 ? SOURCE_IRQ : SOURCE_SOFTIRQ,
						      i % 16 / 2 * 4096, name, functions[i / 48]),
					 i);
		}
	assert_int_equal(t.count, 192);
}

static void test_any_bytes(void **state)
{
	char comm[17] = "", longest[200];
	const struct source *kept;

	(void)state;
	for (unsigned byte = 1; byte < 256; byte++) {
		comm[0] = (char)byte;
		memset(comm + 1, '\xff', 15);
		assert_int_equal(sources_find(&t, SOURCE_THREAD, 5, comm, NULL), byte - 1);
		assert_memory_equal(t.row[byte - 1]->name, comm, sizeof(comm));
	}
	assert_string_equal(find(SOURCE_THREAD, 5, "a\n\x1b[2J%s\"\\", NULL)->name,
			    "a\n\x1b[2J%s\"\\");
	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	kept = find(SOURCE_IRQ, 5, longest, NULL);
	assert_int_equal(strlen(kept->name), SOURCE_NAME - 1);
	longest[SOURCE_NAME - 1] = 0; /* as long as is kept: the same row */
	assert_ptr_equal(find(SOURCE_IRQ, 5, longest, NULL), kept);
	longest[SOURCE_NAME - 2] = 0;
	assert_ptr_not_equal(find(SOURCE_IRQ, 5, longest, NULL), kept);
}

static void test_rank(void **state)
{
	static const uint64_t nets[] = {50, 0, 900, 50, 7, 900, 0};
	static const uint32_t want[] = {2, 5, 0, 3, 4, 6};
	uint32_t order[ROWS_MAX];

	(void)state;
	assert_int_equal(sources_rank(&t, order), 0);
	for (uint32_t i = 0; i < 7; i++) {
		uint32_t row = sources_find(&t, SOURCE_IRQ, i, "x", NULL);

		if (i == 0 || i == 4) { /* figures of parts that were not counted yet */
			t.row[row]->net.sum = nets[i];
			continue;
		}
		if (i != 1)
			hist_add(&t.row[row]->net, nets[i] - nets[i] / 3);
		if (i != 1 && nets[i])
			hist_add(&t.row[row]->net, nets[i] / 3);
	}
	/* Equal ones in order of appearance; one of 0 ns has an interval, the other has none. */
	assert_int_equal(sources_rank(&t, order), 6);
	assert_memory_equal(order, want, sizeof(want));
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(source_kind_name(SOURCE_IRQ), "irq");
	assert_string_equal(source_kind_name(SOURCE_OUTSIDE), "outside");
	assert_string_equal(source_kind_name(SOURCE_KINDS), "unknown");
	assert_string_equal(softirq_name(0), "HI");
	assert_string_equal(softirq_name(9), "RCU");
	assert_string_equal(softirq_name(10), "unknown");
	assert_string_equal(softirq_name(UINT32_MAX), "unknown");
	assert_string_equal(vector_name(0), "unknown");
	assert_string_equal(vector_name(VECTOR_LOCAL_TIMER), "local_timer");
	assert_string_equal(vector_name(VECTOR_IRQ_WORK), "irq_work");
	assert_string_equal(vector_name(VECTOR_PLATFORM_IPI), "x86_platform_ipi");
	assert_string_equal(vector_name(VECTOR_IDS), "unknown");
}

/* Words have texts, and are found by them; TLB reasons are numbers of the kernel's. */
static void test_words(void **state)
{
	(void)state;
	assert_string_equal(word_text(WORD_THROTTLED), "[throttled]");
	assert_string_equal(word_text(WORD_NOT_TRACED), "not traced");
	assert_null(word_text(WORD_NONE));
	assert_null(word_text(WORD_REST));
	assert_int_equal(word_of("steal"), WORD_STEAL);
	assert_int_equal(word_of("remote wrong CPU"), WORD_TLB_REMOTE_WRONG_CPU);
	assert_int_equal(word_of(""), WORD_NONE);
	assert_int_equal(word_of("steals"), WORD_NONE);
	for (uint32_t reason = 0; reason < 6; reason++)
		assert_int_equal(word_tlb_reason(word_of_tlb(reason)), reason);
	assert_string_equal(word_text(word_of_tlb(1)), "remote shootdown");
	assert_string_equal(word_text(word_of_tlb(5)), "remote wrong CPU");
	assert_int_equal(word_of_tlb(6), WORD_NONE);
	assert_int_equal(word_of_tlb(UINT32_MAX), WORD_NONE);
	assert_int_equal(word_tlb_reason(WORD_NONE), -1);
	assert_int_equal(word_tlb_reason(WORD_REST), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

/* A row of an owner stays apart from threads that are called as it is, also when these share one.
 */
static void test_owners(void **state)
{
	const struct source_key owner = {
		.kind = SOURCE_THREAD, .name = "nginx", .by = BY_CONTAINER};
	uint32_t row = sources_find_key(&t, &owner), other;

	(void)state;
	source_add(t.row[row], 7, true);
	other = sources_find(&t, SOURCE_THREAD, 0, "nginx", NULL);
	assert_int_not_equal(other, row);
	assert_int_equal(sources_find_key(&t, &owner), row);
	for (uint32_t tid = 1; tid <= SOURCE_PIDS + 1; tid++)
		source_add(t.row[sources_find(&t, SOURCE_THREAD, tid, "nginx", NULL)], 100, true);
	for (uint32_t i = 0; i < t.count; i++)
		if (t.row[i]->by == BY_CONTAINER)
			assert_int_equal(t.row[i]->net.sum, 7);
		else
			assert_true(!t.row[i]->net.count || t.row[i]->net.sum >= 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_part_of_the_key_counts),
		TEST(test_many_threads_of_one_comm),
		TEST(test_owners),
		TEST(test_many_functions_of_one_thread),
		TEST(test_little_by_little),
		TEST(test_rename_storm),
		TEST(test_each_kind_has_its_rows),
		TEST(test_fakes),
		TEST(test_places),
		TEST(test_pieces_follow),
		TEST(test_collisions),
		TEST(test_any_bytes),
		TEST(test_rank),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
