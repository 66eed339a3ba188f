/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No advice that cannot work: every cause of the book, as a report meets it, on machines that lack
 * something. Everything said goes through conclude(), as in a report: advice of the sources, fixes
 * of the findings, the verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "audit/advise.h"
#include "audit/meaning.h"
#include "audit/conclude.h"
#include "record.h"

#define KCONFIG_FULL                                                                               \
	"CONFIG_CPU_ISOLATION=y\nCONFIG_NO_HZ_FULL=y\nCONFIG_RCU_NOCB_CPU=y\nCONFIG_HZ=250\n"
#define KCONFIG_NONE                                                                               \
	"# CONFIG_CPU_ISOLATION is not set\n# CONFIG_NO_HZ_FULL is not set\nCONFIG_HZ=250\n"

struct machine {
	const char *name, *cpus, *housekeeping, *online;
	const char *kconfig;
	const char *isolated, *nohz_full, *hypervisor, *arch;
	const char *tasks; /* NULL: no facts at all */
	bool throttling;
};

#define TASKS    "1 1 S 400100 0 0 0 0-3 systemd\n812 812 S 400000 3 0 0 0-3 some\n"
#define DEADLINE "900 900 R 400000 3 6 0 0-3 control\n20 20 S 4208040 3 6 0 3 sugov:3\n"

static const struct machine machines[] = {
	{"plain", "3", "0-2", "0-3", KCONFIG_FULL, "", "", "", "x86_64", TASKS, true},
	{"no facts", "3", "0-2", "0-3", NULL, "", "", "", "x86_64", NULL, false},
	{"no NO_HZ_FULL", "3", "0-2", "0-3", KCONFIG_NONE, "", NULL, "", "x86_64", TASKS, true},
	{"one housekeeping CPU", "1-3", "0", "0-3", KCONFIG_FULL, "", "", "", "x86_64", TASKS,
	 true},
	{"no housekeeping CPU", "0-3", "0", "0-3", KCONFIG_FULL, "", "", "", "x86_64", TASKS, true},
	{"one CPU", "0", "0", "0", KCONFIG_FULL, "", "", "", "x86_64", TASKS, false},
	{"isolated", "3", "0-2", "0-3", KCONFIG_FULL, "3", "3", "", "x86_64", TASKS, true},
	{"a cpuset partition", "3", "0-2", "0-3", KCONFIG_FULL, "", "", "", "x86_64", TASKS, true},
	{"guest", "3", "0-2", "0-3", KCONFIG_FULL, "3", "", "KVM", "x86_64", TASKS, false},
	{"arm64", "3", "0-2", "0-3", KCONFIG_FULL, "", "", "", "aarch64", TASKS, false},
	{"a deadline task", "3", "0-2", "0-3", KCONFIG_FULL, "3", "3", "", "x86_64", TASKS DEADLINE,
	 true},
	{"the boot CPU", "0", "1-3", "0-3", KCONFIG_FULL, "", "", "", "x86_64", TASKS, false},
	{"the boot CPU and another", "0,3", "1-2", "0-3", KCONFIG_FULL, "", "", "", "x86_64", TASKS,
	 false},
	{"siblings, real time", "2-3", "0-1", "0-3", KCONFIG_FULL "CONFIG_PREEMPT_RT=y\n", "2-3",
	 "2-3", "", "x86_64", TASKS, true},
	{"another is isolated", "3", "0-1", "0-3", KCONFIG_FULL, "2", "2", "", "x86_64", TASKS,
	 false},
	{"no NO_HZ_FULL, all CPUs", "0-3", "", "0-3", KCONFIG_NONE, "", NULL, "", "x86_64", TASKS,
	 true},
	{"no NO_HZ_FULL, no facts", "3", "0-2", "0-3", KCONFIG_NONE, "", NULL, "", "x86_64", NULL,
	 false},
	{"no file of nohz_full, no facts", "3", "0-2", "0-3", NULL, "", NULL, "", "x86_64", NULL,
	 false},
};

static struct view v;

static void fact(const char *name, const char *text)
{
	world_fact(&v, name, text);
}

static void absent(const char *name)
{
	assert_int_equal(facts_add(&v.facts, name, -ENOENT, "", 0), 0);
}

static void set(const char *list, struct cpus *cpus)
{
	cpus_clear(cpus);
	if (list && *list)
		assert_int_equal(cpus_parse(list, cpus, NULL, 0), 0);
}

static void begin(const struct machine *m)
{
	unsigned cpus[8], n = 0;

	struct cpus targets;

	set(m->cpus, &targets);
	for (int c = cpus_next(&targets, 0); c >= 0; c = cpus_next(&targets, c + 1))
		cpus[n++] = c;
	world_view(&v, m->name, cpus, n);
	world_lasts(&v, 1000000000);
	set(m->housekeeping, &v.run.housekeeping);
	set(m->online, &v.host.online);
	set(m->isolated, &v.host.isolated);
	set(m->nohz_full, &v.host.nohz_full);
	snprintf(v.host.hypervisor, sizeof(v.host.hypervisor), "%s", m->hypervisor);
	snprintf(v.host.arch, sizeof(v.host.arch), "%s", m->arch);
	if (!m->tasks) {
		snprintf(v.host.kconfig, sizeof(v.host.kconfig), "%s",
			 m->kconfig ? m->kconfig : "");
		v.host.no_nohz_full = !m->nohz_full;
		return;
	}
	fact("sys/devices/system/cpu/online", m->online);
	fact("sys/devices/system/cpu/possible", m->online);
	fact("sys/devices/system/cpu/isolated", m->isolated);
	if (m->nohz_full)
		fact("sys/devices/system/cpu/nohz_full", m->nohz_full);
	else
		absent("sys/devices/system/cpu/nohz_full");
	if (!strcmp(m->name, "a cpuset partition"))
		fact("sys/fs/cgroup/cpuset.cpus.isolated", m->cpus);
	if (!strcmp(m->name, "the boot CPU and another"))
		fact("proc/sys/kernel/osrelease", "6.12.9\n"); /* takes two lists that differ */
	fact("run/kconfig", m->kconfig);
	fact("run/tasks/0000", m->tasks);
	fact("proc/cmdline", !strcmp(m->name, "another is isolated") ? "isolcpus=2 nohz_full=2\n"
			     : !strcmp(m->name, "isolated")
				     ? "isolcpus=managed_irq,domain,3 nohz_full=3\n"
				     : "quiet\n");
	fact("proc/irq/36/smp_affinity_list", "0-3\n");
	fact("proc/irq/36/effective_affinity_list", m->cpus);
	fact("sys/kernel/irq/36/actions", "ahci\n");
	fact("sys/kernel/irq/36/per_cpu_count", "900,900,900,900\n");
	fact("proc/irq/40/smp_affinity_list", m->cpus);
	fact("proc/irq/40/effective_affinity_list", m->cpus);
	fact("sys/kernel/irq/40/actions", "nvme0q4\n");
	fact("sys/kernel/irq/40/per_cpu_count", "900,900,900,900\n");
	fact("proc/irq/default_smp_affinity", "f\n");
	fact("sys/devices/virtual/workqueue/cpumask", "f\n");
	fact("proc/sys/kernel/watchdog", "1\n");
	fact("proc/sys/kernel/soft_watchdog", "1\n");
	fact("proc/sys/kernel/watchdog_cpumask", "0-3\n");
	fact("proc/sys/kernel/sched_rt_runtime_us", "950000\n");
	fact("proc/sys/kernel/sched_rt_period_us", "1000000\n");
	fact("sys/kernel/debug/sched/features", "NO_HRTICK\n");
	if (m->throttling)
		fact("sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n");
}

/* ---- what a report would hold ---- */

static void interval(uint32_t cpu, enum source_kind kind, uint32_t id, const char *name,
		     const char *function, bool kernel)
{
	world_runs(&v, cpu, kind, id, name, function, 10, 100000)->kernel_thread = kernel;
}

/* A name that the pattern means, for as long as the test runs. */
static const char *name_for(const char *pattern)
{
	static char names[1024][64];
	static unsigned used;
	char *name = names[used++ % 1024];
	size_t n = 0;

	for (; *pattern && n + 1 < sizeof(names[0]); pattern++) {
		name[n] = *pattern == '*' || *pattern == '?' ? 'x'
			  : *pattern == '['                  ? '7'
							     : *pattern;
		if (*pattern == '[')
			pattern = strchr(pattern, ']');
		n++;
	}
	name[n] = 0;
	return name;
}

/* A source of this cause: false, the kind is none of a source's. */
static bool source_of(const struct cause_match *m, uint32_t cpu)
{
	static const struct {
		const char *kind;
		enum source_kind source;
		uint32_t id;
		const char *name;
	} carriers[] = {
		{"hrtimer", SOURCE_VECTOR, 0, "local_timer"},
		{"timer", SOURCE_SOFTIRQ, 1, "TIMER"},
		{"csd", SOURCE_VECTOR, 0, "call_function"},
		{"irqwork", SOURCE_VECTOR, 0, "irq_work"},
		{"work", SOURCE_THREAD, 77, "kworker/3:1"},
		{"stopper", SOURCE_THREAD, 20, "migration/3"},
		{"nmi", SOURCE_NMI, 0, "NMI"},
	};
	const char *name = name_for(m->pattern);

	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
		if (!strcmp(carriers[i].kind, m->kind)) {
			interval(cpu, carriers[i].source, carriers[i].id, carriers[i].name, name,
				 carriers[i].source == SOURCE_THREAD);
			return true;
		}
	if (!strcmp(m->kind, "softirq"))
		interval(cpu, SOURCE_SOFTIRQ, atoi(name), softirq_name(atoi(name)), NULL, false);
	else if (!strcmp(m->kind, "tlbreason"))
		interval(cpu, SOURCE_VECTOR, 0, "call_function", word_text(word_of_tlb(atoi(name))),
			 false);
	else if (!strcmp(m->kind, "comm"))
		interval(cpu, SOURCE_THREAD, 55, name, NULL, true);
	else if (!strcmp(m->kind, "irq"))
		interval(cpu, SOURCE_IRQ, 36, name, NULL, false);
	else if (!strcmp(m->kind, "fault"))
		interval(cpu, SOURCE_FAULT, 0, "page fault", NULL, false);
	else
		return false;
	return true;
}

/* Those that names alone do not make. */
static void others(uint32_t cpu, unsigned which)
{
	static const struct {
		enum source_kind kind;
		uint32_t id;
		const char *name, *function;
		bool kernel;
	} rows[] = {
		{SOURCE_OUTSIDE, 0, "steal", NULL, false},
		{SOURCE_OUTSIDE, 0, "simultaneous", NULL, false},
		{SOURCE_OUTSIDE, 0, "hardware or hypervisor", NULL, false},
		{SOURCE_THREAD, 812, "some", NULL, false},
		{SOURCE_THREAD, 0, "several", NULL, false},
		{SOURCE_THREAD, 4242, "culprit", NULL, false},
		{SOURCE_THREAD, 7, "bash", "[throttled]", false},
		{SOURCE_THREAD, 0, "kswapd0", NULL, true},
		{SOURCE_THREAD, 30, "rcuc/3", NULL, true},
		{SOURCE_SOFTIRQ, 1, "TIMER", NULL, false},
		{SOURCE_SOFTIRQ, 1, "TIMER", "unheard_of [mod]", false},
		{SOURCE_VECTOR, 0, "reschedule", NULL, false},
		{SOURCE_VECTOR, 0, "irq_work", NULL, false},
		{SOURCE_VECTOR, 0, "local_timer", NULL, false},
		{SOURCE_SYSCALL, 0, "futex", NULL, false},
		{SOURCE_IRQ, 37, "a b'c", NULL, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (i == which || which == UINT32_MAX)
			interval(cpu, rows[i].kind, rows[i].id, rows[i].name, rows[i].function,
				 rows[i].kernel);
}
#define OTHERS 16

/* ---- forbidden advice ---- */

static void refuse(const struct machine *m, const char *who, const char *text, const char *why)
{
	fail_msg("%s: %s: \"%s\": %s", m->name, who, text, why);
}

static void check_commands(const struct machine *m, const char *who, const char *text)
{
	static const char *const gaps[] = {
		"HOUSEKEEPING", "CPUS",          "HKMASK", "/IRQ/",  "PID",     "COMM",
		"FUNCTION",     "INTERFACE",     "GROUP",  "cpuCPU", "cpu CPU", "echo  >",
		"echo >",       "taskset -pc  ", "-C  ",   "=,",     "\001",    "idle=poll"};
	struct cpus to;

	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++)
		if (strstr(text, gaps[i]))
			refuse(m, who, text, gaps[i]);
	for (const char *at = text; strcmp(who, "undo") && (at = strstr(at, "taskset -pc "));
	     at++) {
		char list[64];

		if (sscanf(at, "taskset -pc %63s", list) == 1 && !cpus_parse(list, &to, NULL, 0)) {
			cpus_and(&to, &v.run.cpus);
			if (!cpus_empty(&to))
				refuse(m, who, text, "moves a thread to where it shall not be");
		}
	}
}

static void check_isolation(const struct machine *m, const char *who, const char *text)
{
	bool boots = !strncmp(text, "boot with ", 10) || strstr(text, " the command line");
	bool nohz = strstr(text, "nohz_full="), isolcpus = strstr(text, "isolcpus=");
	bool lacks = m->kconfig && !strcmp(m->kconfig, KCONFIG_NONE);
	struct cpus left = v.host.online;

	cpus_sub(&left, &v.run.cpus);
	if (cpus_empty(&left) && strstr(text, "with -H"))
		refuse(m, who, text, "no CPU is left for culprit itself");
	if (cpus_empty(&left) && strstr(text, "with nohz_full="))
		refuse(m, who, text, "no CPU is left for the others' work");
	if (!boots)
		return;
	if (nohz && (lacks || !m->nohz_full || cpus_empty(&left)))
		refuse(m, who, text, "nohz_full cannot be had here");
	if (isolcpus && (lacks || cpus_empty(&left)))
		refuse(m, who, text, "isolcpus cannot be had here");
	if (strstr(text, "rcu_nocbs=") && lacks)
		refuse(m, who, text, "rcu_nocbs cannot be had here");
	if (!strcmp(m->name, "another is isolated") && (nohz || isolcpus) && !strstr(text, "2-3"))
		refuse(m, who, text, "takes the isolation from another CPU");
	if (!strcmp(m->name, "another is isolated") && nohz != isolcpus)
		refuse(m, who, text, "some kernels drop one of two lists");
	if (!strcmp(m->name, "isolated") && (nohz || isolcpus))
		refuse(m, who, text, "it is so already");
	if (!strcmp(m->name, "the boot CPU") && nohz)
		refuse(m, who, text, "the boot CPU cannot be");
	if (!strcmp(m->name, "the boot CPU and another") &&
	    (strstr(text, "nohz_full=0") || (isolcpus && !strstr(text, "domain,0,3"))))
		refuse(m, who, text, "the boot CPU cannot be, with others neither");
}

static void check_text(const struct machine *m, const char *who, const char *text)
{
	if (!text)
		return;
	check_commands(m, who, text);
	check_isolation(m, who, text);
}

static bool is_own(const struct source *s)
{
	const struct cause *c = cause_by_id(s->cause);

	return c->advice && (strstr(c->advice, "{pid}") || strstr(c->advice, "{irq}") ||
			     strstr(c->advice, "{function}"));
}

static void check_source(const struct machine *m, const struct sources *t, const struct source *s)
{
	const struct cause *c = s->cause ? cause_by_id(s->cause) : NULL;
	char who[256];

	snprintf(who, sizeof(who), "%s > %s [%s]", s->name, s->function ? s->function : "-",
		 s->cause ? s->cause : "none");
	check_text(m, who, s->advice);
	if (c && cause_is_family(c) &&
	    (s->function || (strcmp(c->id, "G04") != 0 && strcmp(c->id, "G05") != 0)))
		refuse(m, who, "", "a family is no cause");
	if (!strcmp(s->name, "culprit") && s->advice && strstr(s->advice, "taskset"))
		refuse(m, who, s->advice, "culprit itself");
	if (!strcmp(m->name, "a deadline task") && c && !strcmp(c->id, "T03") &&
	    s->kind != SOURCE_THREAD)
		refuse(m, who, s->advice, "the fair server did not do it");
	if (!strcmp(s->name, "irq_work") && !s->function && c && strcmp(c->id, "G04") != 0)
		refuse(m, who, "", "any irq_work is no kernel message");
	for (uint32_t i = 0; c && i < t->count && !is_own(s); i++) {
		const struct source *o = t->row[i];

		if (o->cause && !strcmp(o->cause, s->cause) &&
		    strcmp(o->advice ? o->advice : "", s->advice ? s->advice : "") &&
		    strcmp(o->name, "culprit") && strcmp(s->name, "culprit"))
			refuse(m, who, o->advice, s->advice ? s->advice : "none");
	}
}

/* The book's own words say what to do anywhere, with the lists of this machine. */
static void check_entry(const struct machine *m, const struct book_entry *x)
{
	bool other = !strcmp(m->name, "another is isolated");

	for (const char *at = x->fix; (at = strstr(at, "nohz_full=")); at++)
		if ((other && strncmp(at, "nohz_full=2-3`", 14)) ||
		    (!strcmp(m->name, "the boot CPU and another") &&
		     strncmp(at, "nohz_full=3`", 12)))
			refuse(m, x->id, x->fix, "not the list that nohz_full is to have");
	for (const char *at = x->fix; (at = strstr(at, "isolcpus=managed_irq,domain,")); at++)
		if (other && strncmp(at, "isolcpus=managed_irq,domain,2-3", 31))
			refuse(m, x->id, x->fix, "takes the isolation from another CPU");
}

static void check_all(const struct machine *m)
{
	assert_int_equal(conclude(&v), 0);
	for (uint32_t i = 0; i < v.ncpus; i++) {
		const struct sources *t = &v.cpu[i].sources;

		for (uint32_t k = 0; k < t->count; k++)
			check_source(m, t, t->row[k]);
		check_text(m, "verdict", v.cpu[i].verdict);
	}
	for (uint32_t i = 0; i < v.entries.n; i++)
		check_entry(m, &v.entries.row[i]);
	for (uint32_t i = 0; i < v.findings.count; i++) {
		const struct finding *f = &v.findings.row[i];
		char text[1024];

		snprintf(text, sizeof(text), "%s%s",
			 f->fix && f->fix_kind == FIX_BOOT ? "boot with " : "",
			 f->fix ? f->fix : "");
		check_text(m, f->id, text);
		check_text(m, "undo", f->undo);
		check_text(m, f->id, f->good);
	}
}

/* The verdict's advice about its one source is that of the source's row. */
static void check_verdict(const struct machine *m)
{
	const struct sources *t = &v.cpu[0].sources;
	const char *advice = t->count ? t->row[0]->advice : NULL;

	if (!advice || strstr(advice, " in place of "))
		return;
	advice += strncmp(advice, "boot with ", 10) ||
				  !strstr(v.cpu[0].verdict, "to the command line")
			  ? 0
			  : 10;
	if (strlen(advice) <= FIX_MAX && !strstr(v.cpu[0].verdict, advice))
		refuse(m, v.cpu[0].verdict, advice, "the row says something else");
}

static void test_all_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		begin(&machines[i]);
		for (const struct cause_match *c = cause_matches; c->kind; c++)
			source_of(c, 0);
		others(v.ncpus - 1, UINT32_MAX);
		check_all(&machines[i]);
		view_free(&v);
	}
}

static void test_each_alone(void **state)
{
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		for (const struct cause_match *c = cause_matches; c->kind; c++) {
			begin(&machines[i]);
			if (source_of(c, 0)) {
				check_all(&machines[i]);
				check_verdict(&machines[i]);
				n++;
			}
			view_free(&v);
		}
		for (unsigned k = 0; k < OTHERS; k++) {
			begin(&machines[i]);
			others(0, k);
			check_all(&machines[i]);
			check_verdict(&machines[i]);
			view_free(&v);
		}
	}
	assert_true(n > 3000);
}

/* Each dependency that keeps the tick, with a thread's number and without. */
static void test_kept_ticks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		for (uint32_t bit = 1; bit <= 32; bit *= 2)
			for (uint32_t tid = 0; tid < 2; tid++) {
				struct record r = {.kind = RECORD_TICK,
						   .id = bit,
						   .arg = tid * 812,
						   .name = "app"};

				begin(&machines[i]);
				cpus_or(&v.host.nohz_full, &v.run.cpus);
				nohz_ticks_add(&v.cpu[0].ticks, &r);
				interval(0, SOURCE_VECTOR, 0, "local_timer", "tick_nohz_handler",
					 false);
				if (bit == 4)
					interval(0, SOURCE_VECTOR, 0, "local_timer",
						 "dl_task_timer", false);
				check_all(&machines[i]);
				view_free(&v);
			}
}

/* The words where nothing can be done by command say why. */
static void test_words(void **state)
{
	static const struct {
		size_t machine;
		const char *words;
	} is[] = {
		{2, "built with CONFIG_NO_HZ_FULL=y"},
		{4, "measure fewer CPUs"},
		{5, "measure fewer CPUs"},
		{11, "isolate other CPUs"},
		{16, "built without NO_HZ_FULL"},
		{17, "built without NO_HZ_FULL"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		const struct sources *t;

		begin(&machines[is[i].machine]);
		interval(0, SOURCE_VECTOR, 0, "local_timer", "tick_nohz_handler", false);
		check_all(&machines[is[i].machine]);
		t = &v.cpu[0].sources;
		if (!strstr(t->row[0]->advice, is[i].words))
			refuse(&machines[is[i].machine], "tick", t->row[0]->advice, is[i].words);
		view_free(&v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_at_once),
		cmocka_unit_test(test_each_alone),
		cmocka_unit_test(test_kept_ticks),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
