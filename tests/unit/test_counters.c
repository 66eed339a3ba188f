/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's counters beside records: tables as the kernel writes them, and which numbers may
 * differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/counters_state.h"

#define BEGIN_NS 1000000 /* the first reading, 1 ms long; the second a second later */
#define MS       1000000ULL
#define END_NS   (BEGIN_NS + 1000 * MS)

static unsigned asked; /* IRQs whose handlers were counted */

static unsigned actions(void *ctx, uint32_t irq)
{
	(void)ctx;
	asked++;
	return irq == 9 ? 2 : 1;
}

static void take(struct counters *c, enum reading when, const char *text)
{
	assert_int_equal(counters_table(c, when, "", text, strlen(text)), 0);
}

static struct counters *between(const unsigned *cpu, uint32_t n, const char *begin, const char *end)
{
	struct counters *c = counters_new(cpu, n);

	take(c, READING_BEGIN, begin);
	counters_time(c, READING_BEGIN, BEGIN_NS, BEGIN_NS + MS);
	if (end) {
		take(c, READING_END, end);
		counters_time(c, READING_END, END_NS, END_NS + MS);
	}
	return c;
}

static struct cpu compare(const struct counters *c, uint32_t i)
{
	struct cpu run = {0};

	counters_compare(c, i, 0, &run, actions, NULL);
	assert_true(run.closure_known);
	return run;
}

/* "24 3/2 LOC 1/1": what the kernel and the records say. */
static void check(const struct counters *c, uint32_t i, const char *want)
{
	struct cpu run = compare(c, i);
	char text[512] = "";

	for (uint32_t k = 0; k < run.nclosure; k++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %llu/%llu",
			 k ? " " : "", run.closure[k].counter,
			 (unsigned long long)run.closure[k].kernel,
			 (unsigned long long)run.closure[k].traced);
	assert_string_equal(text, want);
	cpu_clear(&run);
}

static void record(struct counters *c, uint32_t i, enum record_kind kind, uint32_t id, uint64_t at)
{
	counters_record(c, i,
			&(struct record){.kind = kind, .id = id, .start_ns = at, .end_ns = at + 1});
}

/* CPU 2 is offline, CPU 1 is not measured. */
static void test_columns(void **state)
{
	const unsigned cpu[] = {0, 3};
	struct counters *c =
		between(cpu, 2,
			"           CPU0       CPU1       CPU3\n"
			"  24:          1         70          5   PCI-MSI 3-edge      nvme0\n"
			"LOC:         10        700         50   Local timer interrupts\n"
			"ERR:          7\n",
			"           CPU0       CPU1       CPU3\n"
			"  24:          2         90          9   PCI-MSI 3-edge      nvme0\n"
			"LOC:         12        900         57   Local timer interrupts\n"
			"ERR:          8\n");

	(void)state;
	check(c, 0, "24 1/0 LOC 2/0");
	check(c, 1, "24 4/0 LOC 7/0");
	counters_free(c);
}

/* The kernel's counters are 32 bits wide. */
static void test_wrap(void **state)
{
	const unsigned cpu[] = {0};
	struct counters *c = between(cpu, 1, " CPU0\nLOC: 4294967290\n", " CPU0\nLOC: 4\n");

	(void)state;
	check(c, 0, "LOC 10/0");
	counters_free(c);
}

/* A counter began again, and the records went on: the kernel's number is the nearest to theirs that
 * has the same 32 bits. */
static void test_wrap_often(void **state)
{
	const unsigned cpu[] = {0};
	struct counters *c = counters_new(cpu, 1);

	(void)state;
	take(c, READING_BEGIN, " CPU0\nLOC: 4294967290\n");
	take(c, READING_END, " CPU0\nLOC: 4\n");
	counters_switches(c, READING_BEGIN, 0, (struct switches){0, 0, 0});
	counters_switches(c, READING_END, 0, (struct switches){0, 0, 0});
	c->sure[0].vector[VECTOR_LOCAL_TIMER] = (UINT64_C(1) << 32) + 10;
	check(c, 0, "LOC 4294967306/4294967306");
	c->sure[0].vector[VECTOR_LOCAL_TIMER] = (UINT64_C(1) << 32) + 8;
	check(c, 0, "LOC 4294967306/4294967304");
	c->sure[0].vector[VECTOR_LOCAL_TIMER] = (UINT64_C(1) << 32) + 13;
	check(c, 0, "LOC 4294967306/4294967309");
	c->sure[0].vector[VECTOR_LOCAL_TIMER] = (UINT64_C(1) << 32) - 5;
	c->perhaps[0].vector[VECTOR_LOCAL_TIMER] = 20;
	check(c, 0, "LOC 4294967306/4294967306");
	counters_free(c);
}

/* Interrupts with numbers that are not counted are compared with nothing. */
static void test_high_numbers(void **state)
{
	const unsigned cpu[] = {0};
	struct counters *c = between(cpu, 1, " CPU0\n16383: 5 x\n16384: 5 y\n",
				     " CPU0\n16383: 6 x\n16384: 7 y\n");
	struct cpu run;

	(void)state;
	record(c, 0, RECORD_IRQ, 16383, BEGIN_NS + 2 * MS);
	record(c, 0, RECORD_IRQ, 16384, BEGIN_NS + 2 * MS);
	check(c, 0, "16383 1/1 16384 2/0");
	run = compare(c, 0);
	assert_null(run.closure[0].why);
	assert_string_equal(run.closure[1].why, "numbers from 16384 on are not counted");
	cpu_clear(&run);
	counters_free(c);
}

/* An IRQ that came between the readings began at 0; one that went has counted nothing. */
static void test_rows_come_and_go(void **state)
{
	const unsigned cpu[] = {0};
	struct counters *c = between(cpu, 1, " CPU0\n 24: 5 x\n 25: 6 y\nLOC: 1\n",
				     " CPU0\n 25: 8 y\n 26: 3 z\nLOC: 2");

	(void)state;
	check(c, 0, "25 2/0 LOC 1/0 26 3/0");
	counters_free(c);
}

/* On arm64 the timer and the IPIs are interrupts with a number, which are recorded as vectors. */
static void test_arm64(void **state)
{
	static const struct {
		enum record_kind kind;
		uint32_t id;
	} records[] = {{RECORD_VECTOR, VECTOR_LOCAL_TIMER},
		       {RECORD_VECTOR, VECTOR_RESCHEDULE},
		       {RECORD_VECTOR, VECTOR_CALL_FUNCTION},
		       {RECORD_IRQ, 13},
		       {RECORD_IRQ, 6}};
	const unsigned cpu[] = {0};
	struct counters *c = between(cpu, 1,
				     "           CPU0\n"
				     " 11:        100     GICv3  27 Level     arch_timer\n"
				     " 13:          0     GICv3  33 Level     uart-pl011\n"
				     "IPI0:         7       Rescheduling interrupts\n"
				     "IPI1:         7       Function call interrupts\n"
				     "IPI4:         0       Timer broadcast interrupts\n",
				     "           CPU0\n"
				     " 11:        101     GICv3  27 Level     arch_timer\n"
				     " 13:          1     GICv3  33 Level     uart-pl011\n"
				     "IPI0:         8       Rescheduling interrupts\n"
				     "IPI1:         8       Function call interrupts\n"
				     "IPI4:         1       Timer broadcast interrupts\n");

	(void)state;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		record(c, 0, records[i].kind, records[i].id, BEGIN_NS + 100 * MS);
	/* without the number of IPI0, nothing is known of row IPI4 */
	check(c, 0, "11 1/1 13 1/1 IPI0 1/1 IPI1 1/1 IPI4 1/0");
	counters_free(c);
	c = counters_new(cpu, 1);
	counters_ipis(c, 2);
	take(c, READING_BEGIN, " CPU0\nIPI4: 0 Timer broadcast interrupts\n");
	counters_time(c, READING_BEGIN, BEGIN_NS, BEGIN_NS + MS);
	record(c, 0, RECORD_IRQ, 6, BEGIN_NS + 100 * MS);
	take(c, READING_END, " CPU0\nIPI4: 1 Timer broadcast interrupts\n");
	counters_time(c, READING_END, END_NS, END_NS + MS);
	check(c, 0, "IPI4 1/1");
	counters_free(c);
}

/* Interrupts that begin during a reading may have been counted in it, or not; nothing else may
 * differ. */
static void test_bounds(void **state)
{
	static const struct {
		uint64_t at;
		const char *kernel_0, *kernel_1;
	} cases[] = {
		{BEGIN_NS - 1, "", "24 1/0"},
		{BEGIN_NS + MS / 2, "", "24 1/1"},
		{BEGIN_NS + MS + 10000, "", "24 1/1"}, /* counted before its record began */
		{BEGIN_NS + MS + 30000, "24 0/1", "24 1/1"},
		{END_NS, "24 0/1", "24 1/1"},
		{END_NS + MS / 2, "", "24 1/1"},
		{END_NS + MS + 30000, "", "24 1/0"},
	};
	const unsigned cpu[] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct counters *same = between(cpu, 1, " CPU0\n24: 5\n", " CPU0\n24: 5\n"),
				*more = between(cpu, 1, " CPU0\n24: 5\n", " CPU0\n24: 6\n");

		record(same, 0, RECORD_IRQ, 24, cases[i].at);
		record(more, 0, RECORD_IRQ, 24, cases[i].at);
		check(same, 0, cases[i].kernel_0);
		check(more, 0, cases[i].kernel_1);
		counters_free(same);
		counters_free(more);
	}
}

/* Records are counted before the second reading, too, when its time is not known yet. */
static void test_kinds(void **state)
{
	const unsigned cpu[] = {0};
	struct counters *c = between(cpu, 1, " CPU0\n9: 0 a, b\nLOC: 0\nNMI: 0\n", NULL);
	const char *softirqs = " CPU0\n HI: 0\nTIMER: 0\n";

	(void)state;
	assert_int_equal(counters_table(c, READING_BEGIN, "softirq ", softirqs, strlen(softirqs)),
			 0);
	record(c, 0, RECORD_IRQ, 9, BEGIN_NS + 2 * MS); /* two handlers share it */
	record(c, 0, RECORD_IRQ, 9, BEGIN_NS + 3 * MS);
	record(c, 0, RECORD_VECTOR, VECTOR_LOCAL_TIMER, BEGIN_NS + 2 * MS);
	record(c, 0, RECORD_NMI, 0, BEGIN_NS + 2 * MS);
	record(c, 0, RECORD_SOFTIRQ, 1, BEGIN_NS + 2 * MS);
	counters_switches(c, READING_BEGIN, 0, (struct switches){10, 4, 5});
	counters_switches(c, READING_END, 0, (struct switches){13, 7, 7});
	take(c, READING_END, " CPU0\n9: 1 a, b\nLOC: 1\nNMI: 1\n");
	softirqs = " CPU0\n HI: 0\nTIMER: 2\n";
	assert_int_equal(counters_table(c, READING_END, "softirq ", softirqs, strlen(softirqs)), 0);
	counters_time(c, READING_END, END_NS, END_NS + MS);
	check(c, 0, "9 1/1 LOC 1/1 NMI 1/1 softirq TIMER 2/1 context switches 3/3");
	counters_free(c);
}

/* Some kernels leave the TLB's calls out of those of all functions. */
static void test_calls(void **state)
{
	const unsigned cpu[] = {0};
	struct counters *c = between(cpu, 1, " CPU0\nCAL: 5\nTLB: 1\n", " CPU0\nCAL: 6\nTLB: 3\n");

	(void)state;
	for (int i = 0; i < 3; i++)
		record(c, 0, RECORD_VECTOR, VECTOR_CALL_FUNCTION, BEGIN_NS + 2 * MS);
	check(c, 0, "CAL 3/3");
	counters_free(c);
}

static void test_lost(void **state)
{
	const unsigned cpu[] = {0};
	struct counters *c = between(cpu, 1, " CPU0\n24: 5\n", " CPU0\n24: 6\n");
	struct cpu run = {0};

	(void)state;
	counters_compare(c, 0, 1, &run, actions, NULL);
	assert_string_equal(run.closure[0].why, "records were lost");
	cpu_clear(&run);
	counters_free(c);
}

/* Any bytes, cut at any place, end in rows or in none. */
static void test_bad_tables(void **state)
{
	static const char *const tables[] = {
		"",  "\n",   "CPU",          " CPU0",         " CPU0\n24",         " CPU0\n:",
		"x", "0:\n", " CPU0\n24:\n", " CPU0\n24: \n", " CPU0 CPU0\n: 1 2", "CPU9\n1: 1"};
	const unsigned cpu[] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct counters *c = between(cpu, 1, tables[i], tables[i]);

		check(c, 0, "");
		counters_free(c);
	}
}

/* ---- many CPUs ---- */

#define CPUS 256
#define IRQS 3000

/* Each IRQ has counted 1000 x CPU + IRQ, and `more` on the CPU with its number modulo CPUS. */
static char *many(unsigned more)
{
	char *text = malloc((size_t)CPUS * (IRQS + 1) * 11 + IRQS * 64), *at = text;

	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		at += sprintf(at, "       CPU%u", cpu);
	for (unsigned irq = 0; irq < IRQS; irq++) {
		at += sprintf(at, "\n%4u:", irq);
		for (unsigned cpu = 0; cpu < CPUS; cpu++)
			at += sprintf(at, " %10u", 1000 * cpu + irq + (irq % CPUS == cpu) * more);
		at += sprintf(at, "  IR-PCI-MSI %u-edge      eth0-TxRx-%u", irq, irq);
	}
	return text;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Both readings for the first n CPUs: their CPU time in seconds, or `least` if that is less. */
static double read_both(const unsigned *cpu, uint32_t n, const char *begin, const char *end,
			double least)
{
	double from = seconds(), took;
	struct counters *c = between(cpu, n, begin, end);

	took = seconds() - from;
	counters_free(c);
	return took < least ? took : least;
}

/* One reading serves all CPUs: it costs little more than one for a single CPU does. */
static void test_many(void **state)
{
	unsigned cpu[CPUS];
	char *begin = many(0), *end = many(7);
	struct counters *all;
	double of_one = 1e9, of_all = 1e9;
	int tries = 0;

	(void)state;
	for (unsigned i = 0; i < CPUS; i++)
		cpu[i] = i;
	/* a busy machine makes some readings longer, of one as of all */
	do {
		of_one = read_both(cpu, 1, begin, end, of_one);
		of_all = read_both(cpu, CPUS, begin, end, of_all);
	} while (of_all >= 10 * of_one && ++tries < 100);
	assert_true(of_all < 10 * of_one);
	all = between(cpu, CPUS, begin, end);
	for (unsigned i = 0; i < CPUS; i++) {
		struct cpu run;

		asked = 0;
		run = compare(all, i);
		assert_int_equal(run.nclosure, (IRQS + CPUS - 1 - i) / CPUS);
		assert_int_equal(asked, run.nclosure);
		for (uint32_t k = 0; k < run.nclosure; k++) {
			assert_int_equal(atoi(run.closure[k].counter), i + k * CPUS);
			assert_int_equal(run.closure[k].kernel, 7);
		}
		cpu_clear(&run);
	}
	counters_free(all);
	free(begin);
	free(end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_wrap_often),
		cmocka_unit_test(test_high_numbers),
		cmocka_unit_test(test_rows_come_and_go),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
