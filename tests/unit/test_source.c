/* The table of sources: keys, what folds into what when there are too many, names of any bytes, rank. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/source.h"

#define ROWS_MAX (SOURCES_MAX + SOURCE_KINDS)

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

static const struct source *find(enum source_kind kind, uint32_t id, const char *name, const char *function)
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
		{SOURCE_IRQ, 1, "a", NULL},       {SOURCE_SOFTIRQ, 1, "a", NULL}, {SOURCE_IRQ, 2, "a", NULL},
		{SOURCE_IRQ, 1, "b", NULL},       {SOURCE_IRQ, 1, "a", "f"},      {SOURCE_IRQ, 1, "a", "g"},
		{SOURCE_IRQ, 1, "af", NULL},      {SOURCE_IRQ, 1, "", "af"},      {SOURCE_IRQ, 1, NULL, NULL},
		{SOURCE_IRQ, 1, "a", ""},         {SOURCE_IRQ, 0x100, "a", NULL}, {SOURCE_IRQ, UINT32_MAX, "a", NULL},
		{SOURCE_OUTSIDE, 0, "smi", NULL}, {SOURCE_THREAD, 0, "kw", NULL}, {SOURCE_THREAD, 9, "kw", NULL},
	};
	const unsigned n = sizeof(keys) / sizeof(keys[0]);
	char name[8], function[8];

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < n; i++) {
			const struct source *s;

			/* Equal texts at other addresses are equal keys. */
			snprintf(name, sizeof(name), "%s", keys[i].name ? keys[i].name : "");
			snprintf(function, sizeof(function), "%s", keys[i].function ? keys[i].function : "");
			assert_int_equal(sources_find(&t, keys[i].kind, keys[i].id, keys[i].name ? name : NULL,
						      round && keys[i].function ? function : keys[i].function),
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

static void test_many_threads_of_one_comm(void **state)
{
	const struct source *folded;

	(void)state;
	for (uint32_t tid = 1; tid <= SOURCE_PIDS; tid++)
		assert_int_equal(find(SOURCE_THREAD, tid, "sh", NULL)->id, tid);
	folded = find(SOURCE_THREAD, 1000, "sh", NULL);
	assert_int_equal(folded->id, 0);
	assert_string_equal(folded->name, "sh");
	for (uint32_t tid = 2000; tid < 7000; tid++)
		assert_ptr_equal(find(SOURCE_THREAD, tid, "sh", NULL), folded);
	/* The first keep their rows; others are not touched by it. */
	for (uint32_t tid = 1; tid <= SOURCE_PIDS; tid++)
		assert_int_equal(find(SOURCE_THREAD, tid, "sh", NULL)->id, tid);
	assert_int_equal(find(SOURCE_THREAD, 1000, "make", NULL)->id, 1000);
	assert_int_equal(find(SOURCE_THREAD, 2000, "s", NULL)->id, 2000);
	assert_int_equal(t.count, SOURCE_PIDS + 1 + 2);
	for (uint32_t irq = 1; irq <= 3 * SOURCE_PIDS; irq++) /* not threads: they do not fold */
		assert_int_equal(find(SOURCE_IRQ, irq, "sh", NULL)->id, irq);
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
	assert_int_equal(find(SOURCE_THREAD, 500, "kworker/1:2", function[0])->id, 0);
	assert_string_equal(find(SOURCE_THREAD, 501, "kworker/1:2", function[1])->function, "work_1");
	assert_int_equal(find(SOURCE_THREAD, 501, "kworker/1:2", function[1])->id, 0);
	assert_int_equal(find(SOURCE_THREAD, 77, "kworker/1:2", "a new one")->id, 77);
}

static void fill(void)
{
	char name[SOURCE_NAME];

	for (uint32_t i = 0; t.count < SOURCES_MAX; i++) {
		snprintf(name, sizeof(name), "filler-%u", i);
		assert_string_equal(find(SOURCE_NMI, i, name, NULL)->name, name);
	}
}

static void test_overflow(void **state)
{
	(void)state;
	find(SOURCE_THREAD, 4, "early", NULL);
	fill();
	for (unsigned round = 0; round < 2; round++)
		for (unsigned kind = 0; kind < SOURCE_KINDS; kind++)
			for (uint32_t id = 0; id < 40; id++) {
				const struct source *s = find(kind, id, "new", id % 2 ? "function" : NULL);

				assert_int_equal(s->kind, kind);
				assert_int_equal(s->id, 0);
				assert_string_equal(s->name, "(others)");
				assert_null(s->function);
			}
	assert_int_equal(t.count, ROWS_MAX);
	assert_int_equal(find(SOURCE_THREAD, 4, "early", NULL)->id, 4);
	assert_string_equal(find(SOURCE_NMI, 3, "filler-3", NULL)->name, "filler-3");
}

/* With 4,096 slots a thousand keys collide by the dozen; each must find its own row again. */
static void test_collisions(void **state)
{
	static const char *functions[] = {NULL, "f", "g", ""};
	char name[SOURCE_NAME];

	(void)state;
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < SOURCES_MAX; i++) {
			snprintf(name, sizeof(name), "%u", i / 16);
			assert_int_equal(sources_find(&t, i % 2 ? SOURCE_IRQ : SOURCE_VECTOR, i % 16 / 2 * 4096, name,
						      functions[i / 256]),
					 i);
		}
	assert_int_equal(t.count, SOURCES_MAX);
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
	assert_string_equal(find(SOURCE_THREAD, 5, "a\n\x1b[2J%s\"\\", NULL)->name, "a\n\x1b[2J%s\"\\");
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

		if (i == 0 || i == 4) { /* of parts that were not counted yet */
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
	assert_string_equal(vector_name(VECTORS), "unknown");
	assert_string_equal(tlb_reason_name(1), "remote shootdown");
	assert_string_equal(tlb_reason_name(5), "remote wrong CPU");
	assert_string_equal(tlb_reason_name(6), "unknown");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_part_of_the_key_counts),
		TEST(test_many_threads_of_one_comm),
		TEST(test_many_functions_of_one_thread),
		TEST(test_overflow),
		TEST(test_collisions),
		TEST(test_any_bytes),
		TEST(test_rank),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
