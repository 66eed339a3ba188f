/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cause book: complete, without contradictions, and found by every name that means one of its
 * causes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/explain.h"
#include "audit/meaning.h"
#include "record.h"

static void assert_cause(const struct cause *c, const char *id, const char *what)
{
	if (!c || strcmp(c->id, id))
		fail_msg("%s is %s, not %s", what, c ? c->id : "none", id);
}

/* Numbers are never given to another entry: one that is missing was lost, unless it stands here. */
static bool was_given_up(const char *id)
{
	return !strcmp(id, "K31") || !strcmp(id, "K32") || !strcmp(id, "K33");
}

static void test_all_entries_are_there(void **state)
{
	unsigned counted = 0;

	(void)state;
	for (const struct cause *c = causes; c->id; c++) {
		counted++;
		for (unsigned i = 1; i < (unsigned)atoi(c->id + 1); i++) {
			char id[16];

			snprintf(id, sizeof(id), "%c%02u", c->id[0], i);
			if (!cause_by_id(id) && !was_given_up(id))
				fail_msg("there is %s, and no %s", c->id, id);
		}
	}
	assert_int_equal(counted, causes_count);
}

static void test_entries_are_whole(void **state)
{
	(void)state;
	for (const struct cause *c = causes; c->id; c++) {
		const char *const required[] = {c->group,   c->title, c->what,  c->why,
						c->confirm, c->fix,   c->since, c->source};

		for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++)
			if (!required[i] || strlen(required[i]) < 2)
				fail_msg("%s lacks field %zu", c->id, i);
		if (c->undo && !c->advice)
			fail_msg("%s: undo without advice", c->id);
		assert_ptr_equal(cause_by_id(c->id), c);
	}
	assert_null(cause_by_id("T00"));
	assert_null(cause_by_id(""));
	assert_null(cause_by_id("T011"));
	assert_ptr_equal(cause_by_id("k01"), cause_by_id("K01"));
}

static void test_no_two_rows_fight(void **state)
{
	(void)state;
	for (const struct cause_match *a = cause_matches; a->kind; a++)
		for (const struct cause_match *b = a + 1; b->kind; b++)
			if (!strcmp(a->kind, b->kind) && !strcmp(a->pattern, b->pattern))
				fail_msg("%s %s is both %s and %s", a->kind, a->pattern,
					 a->cause->id, b->cause->id);
}

/* A name that the pattern matches: "kworker/[0-9]*" is "kworker/7x". */
static void name_for(const char *pattern, char *name, size_t len)
{
	size_t n = 0;

	for (; *pattern && n + 2 < len; pattern++) {
		if (*pattern == '*') {
			name[n++] = 'x';
		} else if (*pattern == '[') {
			name[n++] = '7';
			pattern = strchr(pattern, ']');
		} else {
			name[n++] = *pattern;
		}
	}
	name[n] = 0;
}

/* A report's source with this name. */
static struct source source_for(const char *kind, const char *name)
{
	static const struct {
		const char *kind;
		enum source_kind source;
		const char *name;
	} carriers[] = {
		{"hrtimer", SOURCE_VECTOR, "local_timer"},
		{"timer", SOURCE_SOFTIRQ, "TIMER"},
		{"csd", SOURCE_VECTOR, "call_function"},
		{"irqwork", SOURCE_VECTOR, "irq_work"},
		{"work", SOURCE_THREAD, "kworker/3:1"},
		{"stopper", SOURCE_THREAD, "migration/3"},
		{"nmi", SOURCE_NMI, "NMI"},
	};
	struct source s = {.kind = SOURCE_THREAD, .id = 812, .kernel_thread = true};

	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
		if (!strcmp(carriers[i].kind, kind)) {
			s.kind = carriers[i].source;
			s.id = s.kind == SOURCE_SOFTIRQ ? 1 : 812;
			snprintf(s.name, sizeof(s.name), "%s", carriers[i].name);
			s.function = name;
			return s;
		}
	if (!strcmp(kind, "softirq")) {
		s.kind = SOURCE_SOFTIRQ;
		s.id = atoi(name);
		snprintf(s.name, sizeof(s.name), "%s", softirq_name(s.id));
	} else if (!strcmp(kind, "tlbreason")) {
		s.kind = SOURCE_VECTOR;
		snprintf(s.name, sizeof(s.name), "call_function");
		s.word = word_of_tlb(atoi(name));
		s.function = word_text(s.word);
	} else {
		assert_string_equal(kind, "comm");
		snprintf(s.name, sizeof(s.name), "%.*s", SOURCE_NAME - 1, name);
	}
	return s;
}

/* The book's row for this kind and pattern; NULL: it has none. */
static const struct cause_match *match_row(const char *kind, const char *pattern)
{
	for (const struct cause_match *m = cause_matches; m->kind; m++)
		if (!strcmp(m->kind, kind) && !strcmp(m->pattern, pattern))
			return m;
	return NULL;
}

/* tests/fixtures/causes.tsv: kind, pattern, and the id to which a name of that pattern must lead:
 * a line for each of the book's rows, but for those of the kinds here, which the tests below ask
 * for by the names that lead to them. */
static void test_every_pattern_leads_to_its_cause(void **state)
{
	FILE *f = fopen("tests/fixtures/causes.tsv", "re");
	char line[256], name[128], id[8], kind[32], pattern[128], function[160];
	static const char elsewhere[] = " irq fault user outside family word ";
	bool seen[1024] = {0};

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const struct cause_match *row;
		struct source s;

		assert_int_equal(sscanf(line, "%31s %127s %7s", kind, pattern, id), 3);
		name_for(pattern, name, sizeof(name));
		assert_int_equal(fnmatch(pattern, name, 0), 0);
		assert_cause(cause_match(kind, name), id, name);
		row = match_row(kind, pattern);
		if (!row)
			fail_msg("the book has no %s %s", kind, pattern);
		assert_true(row - cause_matches < 1024);
		seen[row - cause_matches] = true;
		if (!strcmp(kind, "irqrow") || !strcmp(kind, "tickdep"))
			continue;
		s = source_for(kind, name);
		assert_cause(cause_of(&s), id, name);
		if (s.function && strcmp(kind, "tlbreason")) {
			snprintf(function, sizeof(function), "%s.isra.0 [some_module]", name);
			s.function = function;
			assert_cause(cause_of(&s), id, function);
		}
	}
	fclose(f);
	for (const struct cause_match *m = cause_matches; m->kind; m++) {
		snprintf(function, sizeof(function), " %s ", m->kind);
		if (!seen[m - cause_matches] && !strstr(elsewhere, function))
			fail_msg("causes.tsv has no line for %s %s", m->kind, m->pattern);
	}
}

/* ---- sources, as the join names them ---- */

static void test_the_most_specific_row_wins(void **state)
{
	(void)state;
	assert_cause(cause_match("comm", "kworker/u8:2"), "K09", "kworker/u8:2");
	assert_cause(cause_match("comm", "kworker/3:1H"), "K07", "kworker/3:1H");
	assert_cause(cause_match("comm", "kworker/R-ext4"), "K09", "kworker/R-ext4");
	/* exact before glob */
	assert_cause(cause_match("timer", "clocksource_watchdog"), "T13", "clocksource_watchdog");
	assert_cause(cause_match("timer", "e1000_watchdog"), "K13", "e1000_watchdog");
	/* rows that an arm64 CPU has for itself are none of the devices' */
	assert_cause(cause_match("irq", "eth0-TxRx-0"), "I01", "eth0-TxRx-0");
	assert_cause(cause_match("irq", "arm-pmu"), "I12", "arm-pmu");
	assert_cause(cause_match("irq", "kvm guest vtimer"), "I12", "kvm guest vtimer");
	assert_cause(cause_match("irq", "IPI6 CPU backtrace interrupts"), "I12", "IPI6");
	assert_null(cause_match("comm", "bash"));
	assert_null(cause_match("no such kind", "vmstat_update"));
}

static const struct {
	struct source s;
	const char *id; /* NULL: none */
} leads[] = {
	{{.kind = SOURCE_THREAD,
	  .name = "kworker/3:1",
	  .kernel_thread = true,
	  .function = "vmstat_update"},
	 "K01"},
	{{.kind = SOURCE_THREAD,
	  .name = "kworker/3:1",
	  .kernel_thread = true,
	  .function = "some_work [mod]"},
	 "K07"},
	{{.kind = SOURCE_THREAD, .name = "kworker/3:1", .kernel_thread = true}, "K07"},
	{{.kind = SOURCE_THREAD,
	  .name = "ktimers/3",
	  .kernel_thread = true,
	  .function = "process_timeout"},
	 "T10"},
	{{.kind = SOURCE_THREAD, .name = "unheard-of", .kernel_thread = true}, NULL},
	{{.kind = SOURCE_THREAD, .name = "bash", .id = 7}, "K34"},
	{{.kind = SOURCE_THREAD, .name = "kswapd0", .id = 7}, "K34"},
	{{.kind = SOURCE_THREAD, .name = "kworker/3:1", .id = 7}, "K34"},
	{{.kind = SOURCE_THREAD, .name = "kworker/3:1", .id = 7, .function = "vmstat_update"},
	 "K34"},
	{{.kind = SOURCE_THREAD, .name = "ksoftirqd/3", .id = 7}, "K34"},
	{{.kind = SOURCE_THREAD, .name = "migration/3", .id = 7}, "K34"},
	{{.kind = SOURCE_THREAD, .name = "rcu_preempt", .id = 7}, "K34"},
	{{.kind = SOURCE_THREAD, .name = "swapper/3", .id = 7}, "K34"},
	{{.kind = SOURCE_THREAD, .name = "irq/24-eth0", .id = 7}, "K34"},
	{{.kind = SOURCE_THREAD, .name = "(others)", .rest = true}, NULL},
	{{.kind = SOURCE_SOFTIRQ, .name = "(others)", .rest = true}, NULL},
	{{.kind = SOURCE_THREAD, .name = "turbostat", .id = 7}, "P12"},
	{{.kind = SOURCE_VECTOR, .name = "local_timer", .function = "tick_nohz_handler"}, "T01"},
	{{.kind = SOURCE_VECTOR, .name = "local_timer"}, "T01"},
	{{.kind = SOURCE_VECTOR, .name = "local_timer", .function = "some_timer [mod]"}, NULL},
	{{.kind = SOURCE_VECTOR, .name = "local_timer", .function = "[unknown 0xffffffff81000000]"},
	 "T01"},
	{{.kind = SOURCE_VECTOR, .name = "reschedule"}, "P01"},
	{{.kind = SOURCE_VECTOR, .name = "call_function"}, "G05"},
	{{.kind = SOURCE_VECTOR, .name = "call_function_single"}, "G05"},
	{{.kind = SOURCE_VECTOR, .name = "call_function", .function = "unheard_of"}, NULL},
	{{.kind = SOURCE_VECTOR,
	  .name = "call_function",
	  .function = "remote shootdown",
	  .word = WORD_TLB_REMOTE_SHOOTDOWN},
	 "P05"},
	{{.kind = SOURCE_VECTOR, .name = "call_function_single", .function = "kvm_mmu_something"},
	 "P22"},
	{{.kind = SOURCE_SOFTIRQ, .id = 1, .name = "TIMER", .function = "kvm_something"}, "I07"},
	{{.kind = SOURCE_SOFTIRQ, .id = 1, .name = "TIMER", .function = "unheard_of"}, "S01"},
	{{.kind = SOURCE_SOFTIRQ, .id = 9, .name = "RCU"}, "S07"},
	{{.kind = SOURCE_VECTOR, .name = "irq_work"}, "G04"}, /* any of W01 to W07 */
	{{.kind = SOURCE_VECTOR, .name = "thermal_apic"}, "I08"},
	{{.kind = SOURCE_VECTOR, .name = "threshold_apic"}, "I09"},
	{{.kind = SOURCE_VECTOR, .name = "deferred_error_apic"}, "I09"},
	{{.kind = SOURCE_VECTOR, .name = "error_apic"}, "I10"},
	{{.kind = SOURCE_VECTOR, .name = "spurious_apic"}, "I10"},
	{{.kind = SOURCE_VECTOR, .name = "x86_platform_ipi"}, "I11"},
	{{.kind = SOURCE_VECTOR, .name = "unknown"}, NULL},
	{{.kind = SOURCE_NMI, .name = "NMI", .function = "perf_event_nmi_handler"}, "H02"},
	{{.kind = SOURCE_NMI, .name = "NMI"}, "H02"},
	{{.kind = SOURCE_NMI, .name = "NMI", .function = "unheard_of"}, NULL},
	{{.kind = SOURCE_IRQ, .id = 36, .name = "eth0-TxRx-3", .function = "e1000_intr [e1000]"},
	 "I01"},
	{{.kind = SOURCE_IRQ, .id = 36, .name = ""}, "I01"},
	{{.kind = SOURCE_IRQ, .id = 37, .name = "nvme0q5", .function = "nvme_irq [nvme]"}, "I02"},
	{{.kind = SOURCE_IRQ, .id = 38, .name = "virtio1-req.0"}, "I02"},
	/* the work mlx5* does not mean its interrupt handlers */
	{{.kind = SOURCE_IRQ,
	  .id = 39,
	  .name = "mlx5_comp3",
	  .function = "mlx5_irq_int_handler [mlx5_core]"},
	 "I01"},
	{{.kind = SOURCE_FAULT, .name = "page fault"}, "F01"},
	{{.kind = SOURCE_OUTSIDE, .name = "not traced"}, NULL},
};

static void test_sources_lead_to_causes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		const struct cause *c = cause_of(&leads[i].s);
		const char *what = leads[i].s.function ? leads[i].s.function : leads[i].s.name;

		if (leads[i].id)
			assert_cause(c, leads[i].id, what);
		else if (c)
			fail_msg("%s is %s, not none", what, c->id);
	}
}

static void test_names_are_explained(void **state)
{
	static const char *const is[][2] = {
		{"vmstat_update", "K01"}, {"vmstat_update.isra.0", "K01"},
		{"kworker/u8:2", "K09"},  {"local_timer", "T01"},
		{"LOC", "T01"},           {"loc", "T01"},
		{"TIMER", "S01"},         {"net_rx", "S03"},
		{"nvme0q5", "I02"},       {"mlx5e_stats [mlx5_core]", "K13"},
		{"reschedule", "P01"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++)
		assert_cause(cause_of_name(is[i][0]), is[i][1], is[i][0]);
	assert_null(cause_of_name("unheard_of"));
	assert_null(cause_of_name(""));
	assert_null(cause_of_name("[unknown 0x0]"));
	assert_null(cause_of_name("*"));
}

/* Every spelling of a report, and its meaning; note: the entry is on the kind of thing, and says
 * so. */
static const struct {
	const char *name, *id;
	bool note;
	long irq;
	uint32_t tid;
} spellings[] = {
	{"local_timer > tick_nohz_handler", "T01", false, -1, 0},
	{"local_timer > unheard_of", "G02", true, -1, 0},
	{"TIMER > unheard_of [mod]", "G01", true, -1, 0},
	{"TIMER > tcp_orphan_update", "T27", false, -1, 0},
	{"kworker/1:2 [6290] > refresh_vm_stats", "K05", false, -1, 6290},
	{"kworker/1:2 [6290] > unheard_of", "G03", true, -1, 6290},
	{"irq_work > unheard_of", "G04", true, -1, 0},
	{"call_function > unheard_of", "G05", true, -1, 0},
	{"call_function_single > remote shootdown", "P05", false, -1, 0},
	{"migration/3 [20] > unheard_of", "G06", true, -1, 20},
	{"NMI > unheard_of", "G07", true, -1, 0},
	{"thermal_apic > unheard_of", "G09", true, -1, 0},
	{"bash [7] > [throttled]", "T18", false, -1, 7},
	{"python3 [4242]", "K34", true, -1, 4242},
	{"thread python3 [4242]", "K34", true, -1, 4242},
	{"[ksoftirqd/1]", "S08", false, -1, 0},
	{"[ksoftirqd/1] [16]", "S08", false, -1, 16},
	{"[kworker/1:2] [6290] > refresh_vm_stats", "K05", false, -1, 6290},
	{"the kernel thread kworker/1:2 [6290] > refresh_vm_stats", "K05", false, -1, 6290},
	{"[ktimerd/3] [30] > process_timeout", "T10", false, -1, 30},
	{"ktimerd/3 [30] > process_timeout", "K34", false, -1, 30},
	{"\\x5bksoftirqd/1] [16]", "K34", true, -1, 16},
	{"ksoftirqd/1 [16]", "S08", false, -1, 16},
	{"[unheard-of]", "G08", true, -1, 0},
	{"virtio1-req.0 (irq 36)", "I02", false, 36, 0},
	{"IRQ 36 (virtio1-req.0)", "I02", false, 36, 0},
	{"irq 36", "I01", false, 36, 0},
	{"eth0 (irq 24) > e1000_intr [e1000]", "I01", false, 24, 0},
	{"[K34]", "K34", false, -1, 0},
	{" k34 ", "K34", false, -1, 0},
	{"softirq TIMER", "S01", false, -1, 0},
	{"tick", "T01", false, -1, 0},
	{"timer interrupt", "T01", false, -1, 0},
	{"steal", "H14", false, -1, 0},
	{"hardware or hypervisor", "G11", false, -1, 0},
	{"simultaneous", "G11", false, -1, 0},
	{"outside", "G11", false, -1, 0},
	{"not traced", "G11", false, -1, 0},
	{"edge", "G12", false, -1, 0},
	{"not recorded", "G13", false, -1, 0},
	{"records lost", "G13", false, -1, 0},
	{"swapper/12", "G14", false, -1, 0},
	{"(others)", "G15", false, -1, 0},
	{"[unknown 0xffffffff81000000]", "G16", false, -1, 0},
	{"context switches", "G17", false, -1, 0},
	{"irq_work", "G04", false, -1, 0},
	{"IWI", "G04", false, -1, 0},
	{"page fault", "F01", false, -1, 0},
	{"syscall futex", "F08", false, -1, 0},
	{"remote shootdown", "P05", false, -1, 0},
	{"POSIX_TIMER", "T04", false, -1, 0},
	{"my_own_timer", "G01", true, -1, 0},
	{"my_own_dwork.constprop.0 [mod]", "G03", true, -1, 0},
	{"unheard_of", NULL, false, -1, 0},
	{"rm -rf _work", NULL, false, -1, 0},
	{"", NULL, false, -1, 0},
	{" > ", NULL, false, -1, 0},
	{"[]", NULL, false, -1, 0},
	{" [7]", NULL, false, -1, 0},
};

static void test_spellings(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		struct meaning m;

		name_meaning(spellings[i].name, &m);
		if (spellings[i].id)
			assert_cause(m.cause, spellings[i].id, spellings[i].name);
		else if (m.cause)
			fail_msg("'%s' is %s, not none", spellings[i].name, m.cause->id);
		if ((m.note[0] != 0) != spellings[i].note || m.irq != spellings[i].irq ||
		    m.tid != spellings[i].tid)
			fail_msg("'%s': note '%s' irq %ld tid %u", spellings[i].name, m.note, m.irq,
				 m.tid);
	}
}

/* tests/fixtures/functions.txt: functions from the symbol tables of 6.12 and 6.12-rt with names
 * like those of timers and work items, and some seen in reports. Each leads to an entry, or to the
 * one on its kind, marked as such; a report never takes a cause from the latter. */
static void test_functions_of_kernels(void **state)
{
	FILE *f = fopen("tests/fixtures/functions.txt", "re");
	unsigned own = 0, kind = 0;
	char name[128];

	(void)state;
	assert_non_null(f);
	while (fscanf(f, "%127s", name) == 1) {
		struct source s = {.kind = SOURCE_VECTOR, .name = "local_timer", .function = name};
		struct meaning m;

		name_meaning(name, &m);
		if (!m.cause || cause_is_family(m.cause) != (m.note[0] != 0))
			fail_msg("%s: %s '%s'", name, m.cause ? m.cause->id : "none", m.note);
		own += !cause_is_family(m.cause);
		kind += cause_is_family(m.cause);
		if (cause_of(&s) && cause_is_family(cause_of(&s)))
			fail_msg("%s: a source's cause is %s", name, cause_of(&s)->id);
	}
	assert_true(feof(f));
	fclose(f);
	assert_true(own);
	assert_true(kind);
}

/* Writes what explain says of all entries where the machine is of this architecture. */
static char *explained_on(const char *arch, int format)
{
	struct explain_options o = {.format = format,
				    .width = 100,
				    .whole = true,
				    .arch = arch,
				    .fill = PLACEHOLDERS_NONE};
	struct explained *all = calloc(causes_count, sizeof(*all));
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(all);
	assert_non_null(out);
	for (unsigned i = 0; i < causes_count; i++)
		all[i].cause = &causes[i];
	assert_int_equal(explain(all, causes_count, &o, out), 0);
	fclose(out);
	free(all);
	return text;
}

static bool has(const char *text, const char *word)
{
	return strstr(text, word);
}

/* An entry that names x86 in its kernels is x86's alone, but for those three. */
static void test_entries_of_x86(void **state)
{
	(void)state;
	for (const struct cause *c = causes; c->id; c++) {
		bool named = strstr(c->since, "x86") || strstr(c->since, "Intel");

		if (cause_is_x86(c) !=
		    (named && strcmp(c->id, "H02") && strcmp(c->id, "P06") && strcmp(c->id, "K26")))
			fail_msg("%s: %s", c->id, c->since);
		assert_true(cause_fits(c, "x86_64") && cause_fits(c, "i686") && cause_fits(c, ""));
		assert_int_equal(cause_fits(c, "aarch64"), !cause_is_x86(c));
		assert_int_equal(cause_fits(c, "riscv64"), !cause_is_x86(c));
	}
	assert_true(cause_is_x86(cause_by_id("H01")));
}

/* A remark on one architecture is made of machines of this architecture alone. */
static void test_remarks_stay_on_their_architecture(void **state)
{
	static const struct {
		const char *arch;
		bool x86, arm64;
	} machines[] = {{"x86_64", true, false},
			{"i686", true, false},
			{"aarch64", false, true},
			{"riscv64", false, false},
			{"", false, false}};
	static const struct {
		int format;
		const char *x86, *arm64;
	} forms[] = {
		{EXPLAIN_TEXT, "\n  on x86     ", "\n  on arm64   "},
		{EXPLAIN_MARKDOWN, "\n* **On x86:** ", "\n* **On arm64:** "},
		{EXPLAIN_JSON, "\"x86\": \"", "\"arm64\": \""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
			char *text = explained_on(machines[i].arch, forms[k].format);

			assert_int_equal(has(text, forms[k].x86), machines[i].x86);
			assert_int_equal(has(text, forms[k].arm64), machines[i].arm64);
			assert_int_equal(has(text, "intel_idle"), machines[i].x86);
			assert_int_equal(has(text, "cpuidle.off=1"), machines[i].arm64);
			free(text);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_entries_are_there),
		cmocka_unit_test(test_entries_are_whole),
		cmocka_unit_test(test_no_two_rows_fight),
		cmocka_unit_test(test_every_pattern_leads_to_its_cause),
		cmocka_unit_test(test_the_most_specific_row_wins),
		cmocka_unit_test(test_sources_lead_to_causes),
		cmocka_unit_test(test_names_are_explained),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_functions_of_kernels),
		cmocka_unit_test(test_entries_of_x86),
		cmocka_unit_test(test_remarks_stay_on_their_architecture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
