/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit of what a recording may say at most, and with less memory than it asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "../world/world.h"
#include "audit/advise.h"
#include "audit/conclude.h"

#undef fail
#include "audit/checks.h"

#define CPU     "sys/devices/system/cpu/"
#define WQ      "sys/devices/virtual/workqueue/"
#define KTHREAD "200040"

static void put(struct facts *f, const char *name, const char *text)
{
	assert_int_equal(facts_add(f, name, 0, text, strlen(text)), 0);
}

/* Adds n threads, from number 10 on, of this process; 0: each of one of its own. */
static void put_threads(struct facts *f, unsigned n, unsigned tgid, const char *what)
{
	char *text = malloc(FACT_MAX), name[32];

	for (unsigned fact = 0, tid = 10; tid < n + 10; fact++) {
		size_t len = 0;

		for (; tid < n + 10 && len < FACT_MAX - 100; tid++)
			len += snprintf(text + len, FACT_MAX - len, "%u %u S %s a\n", tid,
					tgid ? tgid : tid, what);
		snprintf(name, sizeof(name), "run/tasks/%04u", fact);
		assert_int_equal(facts_add(f, name, 0, text, len), 0);
	}
	free(text);
}

static double seconds(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e9;
}

static int audit_cpu_3(const struct facts *f, struct findings *out)
{
	struct audit_options o = {0};

	cpus_add(&o.targets, 3);
	return audit(f, &o, out);
}

/* Time of a look at all threads. */
static double look(const struct facts *f, unsigned threads)
{
	const struct audit a = {.facts = f};
	struct task_walk w = {0};
	double begin = seconds();
	unsigned n = 0;

	for (struct task t; next_task(&a, &w, &t);)
		n++;
	assert_int_equal(n, threads);
	return seconds() - begin;
}

/* A command for 100,000 threads takes as long as some looks at them (30): were the text copied for
 * each thread, it would be a thousand. */
static void test_many_threads(void **state)
{
	const struct finding *x;
	struct facts f = {0};
	struct findings out = {0};
	double begin, one;

	(void)state;
	put(&f, CPU "online", "0-3\n");
	put_threads(&f, 100000, 1, KTHREAD " 0 1 0 0-3");
	one = look(&f, 100000);
	begin = seconds();
	assert_int_equal(audit_cpu_3(&f, &out), 0);
	assert_true(seconds() - begin < 300 * one);
	for (x = out.row; strcmp(x->id, "kthreads"); x++)
		;
	assert_int_equal(strncmp(x->fix, "for t in 10 11 12 ", 18), 0);
	assert_non_null(strstr(x->fix, " 100009; do taskset -pc 0-2 $t; done"));
	assert_non_null(strstr(x->undo, "taskset -pc 0-3 10; taskset -pc 0-3 11; "));
	findings_free(&out);
	facts_free(&f);
}

/* A machine of 8,192 CPUs of which a thread may run on every second: its list is long. */
static void test_a_long_list(void **state)
{
	static char list[CPUS_LIST], tasks[2 * CPUS_LIST];
	struct findings out = {0};
	const struct finding *x;
	struct facts f = {0};
	struct cpus odd;

	(void)state;
	cpus_clear(&odd);
	for (unsigned cpu = 1; cpu < CPUS_MAX; cpu += 2)
		cpus_add(&odd, cpu);
	cpus_format(&odd, list, sizeof(list));
	snprintf(tasks, sizeof(tasks), "99 99 S 400000 1 1 50 %s a  thread\n", list);
	put(&f, CPU "online", "0-8191\n");
	put(&f, "run/tasks/0000", tasks);
	assert_int_equal(audit_cpu_3(&f, &out), 0);
	for (x = out.row; strcmp(x->id, "realtime"); x++)
		;
	assert_string_equal(
		x->title,
		"real-time threads may preempt what runs on cpu 3: a  thread [99] prio 50");
	snprintf(tasks, sizeof(tasks), "taskset -pc %s 99", list);
	assert_string_equal(x->undo, tasks);
	findings_free(&out);
	facts_free(&f);
}

/* Seconds of an audit where 2,000 processes have this name, and none of them is root's. */
static double named(const char *name)
{
	static char root[FACT_MAX - 1], tasks[FACT_MAX];
	struct findings out = {0};
	const struct finding *x;
	struct facts f = {0};
	size_t len = 0;
	double begin;

	memset(root, '1', sizeof(root) - 1); /* looks like 11 at each place, and is it nowhere */
	for (int i = 0; i < 2000; i++)
		len += snprintf(tasks + len, sizeof(tasks) - len, "11 11 S 0 0 0 0 0 %s\n", name);
	put(&f, CPU "online", "0-3\n");
	put(&f, "run/root", root);
	put(&f, "run/tasks/0000", tasks);
	begin = seconds();
	assert_int_equal(audit_cpu_3(&f, &out), 0);
	begin = seconds() - begin;
	for (x = out.row; strcmp(x->id, "irqbalance"); x++)
		;
	assert_string_equal(x->title, "irqbalance does not run");
	findings_free(&out);
	facts_free(&f);
	return begin;
}

/* Anybody may call processes so: the list of root's is not searched for each, which takes a
 * hundred times as long. */
static void test_many_of_a_name(void **state)
{
	double one = named("irqbalance"), other = named("irqbalancf");

	(void)state;
	assert_true(one < 20 * other);
}

/* Seconds of an audit of 1,000 interrupts where this is the list of possible CPUs. */
static double possible(const char *list)
{
	struct findings out = {0};
	const struct finding *x;
	struct facts f = {0};
	char name[64];
	double begin;

	put(&f, CPU "online", "0-3\n");
	put(&f, CPU "possible", list);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "proc/irq/%d/smp_affinity_list", i);
		put(&f, name, "3\n");
		snprintf(name, sizeof(name), "sys/kernel/irq/%d/actions", i);
		put(&f, name, "x\n");
		snprintf(name, sizeof(name), "sys/kernel/irq/%d/per_cpu_count", i);
		put(&f, name, "0,0,0,7\n");
	}
	begin = seconds();
	assert_int_equal(audit_cpu_3(&f, &out), 0);
	begin = seconds() - begin;
	for (x = out.row; strcmp(x->id, "irq"); x++)
		;
	assert_int_equal(x->list.count, 1000);
	assert_int_equal(x->list.row[0].count, 7);
	findings_free(&out);
	facts_free(&f);
	return begin;
}

/* The list of possible CPUs is read once and not for each interrupt, which takes a hundred times as
 * long. */
static void test_many_interrupts(void **state)
{
	static char list[FACT_MAX - 1];
	double one, other = possible("0-3\n");

	(void)state;
	for (size_t i = 0; i + 4 < sizeof(list); i += 4)
		memcpy(list + i, "0-3,", 4);
	list[strlen(list) - 1] = 0;
	one = possible(list);
	assert_true(one < 20 * other);
}

#define QUOTAS 2000
#define EACH   10

/* 20,000 processes in 2,000 cgroups with a quota each: each is looked up, not looked for. */
static void test_many_quotas(void **state)
{
	struct findings out = {0};
	const struct finding *x;
	struct facts f = {0};
	unsigned fixes = 0;
	double begin, one;

	(void)state;
	put(&f, CPU "online", "0-3\n");
	put_threads(&f, EACH * QUOTAS, 0, "400000 3 0 0 3");
	for (unsigned i = 0; i < QUOTAS; i++) {
		char name[64], procs[128];
		size_t len = 0;

		snprintf(name, sizeof(name), "sys/fs/cgroup/%u/cpu.max", i);
		put(&f, name, "50000 100000\n");
		for (unsigned k = 0; k < EACH; k++)
			len += snprintf(procs + len, sizeof(procs) - len, "%u\n",
					10 + EACH * i + k);
		snprintf(name, sizeof(name), "sys/fs/cgroup/%u/cgroup.procs", i);
		put(&f, name, procs);
	}
	one = look(&f, EACH * QUOTAS);
	begin = seconds();
	assert_int_equal(audit_cpu_3(&f, &out), 0);
	assert_true(seconds() - begin < 300 * one);
	for (x = out.row; strcmp(x->id, "cpu_quota"); x++)
		;
	assert_int_equal(x->list.count, EACH * QUOTAS);
	for (const char *at = x->fix; (at = strstr(at, "echo max > /sys/fs/cgroup/")); at++)
		fixes++;
	assert_int_equal(fixes, QUOTAS);
	findings_free(&out);
	facts_free(&f);
}

#define SOURCES 80 /* on a CPU: so many of a kind have rows of their own */

/* Advice on each of many sources asks what 20,000 threads may do: that they are looked at for each
 * of them would take 480 looks. */
static void test_many_sources(void **state)
{
	static const unsigned cpus[] = {2, 3};
	double begin, one;
	struct view v;

	(void)state;
	world_view(&v, "advised", cpus, 2);
	world_lasts(&v, 60000000000);
	put(&v.facts, CPU "online", "0-3\n");
	put(&v.facts, "sys/kernel/debug/sched/fair_server/cpu2/runtime", "50000000\n");
	put(&v.facts, "sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n");
	put_threads(&v.facts, 20000, 0, "400000 3 0 0 0-3");
	put(&v.facts, "run/tasks/0999", "50000 50000 R 400000 3 0 0 0-3 b\n");
	for (unsigned i = 0; i < 2 * SOURCES; i++) {
		char name[16];
		struct source *x;

		snprintf(name, sizeof(name), "job%u", i);
		world_runs(&v, i % 2, SOURCE_THREAD, 20009 - i, name, NULL, 1, 1000);
		x = world_runs(&v, i % 2, SOURCE_THREAD, 60000 + i, name, NULL, 1, 1000);
		x->by = BY_UNIT;
		x->owner = "/system.slice/a.service";
		world_runs(&v, i % 2, SOURCE_VECTOR, i, "local_timer", "dl_task_timer", 1, 1000);
	}
	one = look(&v.facts, 20001);
	begin = seconds();
	assert_int_equal(conclude(&v), 0);
	assert_true(seconds() - begin < 150 * one);
	for (uint32_t i = 0; i < 2 * v.cpu[0].sources.count; i++) {
		const struct source *x = v.cpu[i % 2].sources.row[i / 2];

		assert_false(x->rest);
		if (x->kind == SOURCE_THREAD && !x->by)
			assert_string_equal(x->advice, "start them with taskset -c 0-1, or put "
						       "them into a cpuset of these CPUs");
		if (x->kind == SOURCE_VECTOR)
			assert_string_equal(x->cause, "T03");
	}
	view_free(&v);
}

/* Seconds of advice on so many threads where 10,000 cgroups may be partitions. */
static double advice(unsigned threads)
{
	static const unsigned cpus[] = {3};
	char name[64];
	struct view v;
	double begin;

	world_view(&v, "advised", cpus, 1);
	put(&v.facts, CPU "online", "0-3\n");
	put(&v.facts, "proc/cmdline", "quiet\n");
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "sys/fs/cgroup/%u/cpuset.cpus.partition", i);
		put(&v.facts, name, "member\n");
	}
	for (unsigned i = 0; i < threads; i++) {
		snprintf(name, sizeof(name), "job%u", i);
		world_runs(&v, 0, SOURCE_THREAD, 10 + i, name, NULL, 1, 1000);
	}
	begin = seconds();
	assert_int_equal(advise(&v), 0);
	begin = seconds() - begin;
	for (uint32_t i = 0; i < threads; i++)
		assert_non_null(v.cpu[0].sources.row[i]->advice);
	view_free(&v);
	return begin;
}

/* Isolated CPUs are looked for once, and not for each of 80 sources. */
static void test_many_cgroups(void **state)
{
	double few = advice(1), many = advice(SOURCES);

	(void)state;
	assert_true(many < 10 * few);
}

/* ---- memory ---- */

static int left; /* allocations until one fails; 0: none does */

static bool fails(void)
{
	return left && !--left;
}

#define REFUSING(name, parameters, arguments)                                                      \
	void *__real_##name parameters;                                                            \
	void *__wrap_##name parameters;                                                            \
	void *__wrap_##name parameters                                                             \
	{                                                                                          \
		return fails() ? NULL : __real_##name arguments;                                   \
	}

REFUSING(malloc, (size_t size), (size))
REFUSING(calloc, (size_t n, size_t size), (n, size))
REFUSING(realloc, (void *p, size_t size), (p, size))
REFUSING(reallocarray, (void *p, size_t n, size_t size), (p, n, size))
REFUSING(strdup, (const char *text), (text))
REFUSING(strndup, (const char *text, size_t len), (text, len))
REFUSING(open_memstream, (char **text, size_t *len), (text, len))

int __real_vasprintf(char **text, const char *fmt, va_list args);
int __wrap_vasprintf(char **text, const char *fmt, va_list args);
int __wrap___vasprintf_chk(char **text, int flag, const char *fmt, va_list args);
int __wrap_asprintf(char **text, const char *fmt, ...);
int __wrap___asprintf_chk(char **text, int flag, const char *fmt, ...);

int __wrap_vasprintf(char **text, const char *fmt, va_list args)
{
	return fails() ? -1 : __real_vasprintf(text, fmt, args);
}

int __wrap___vasprintf_chk(char **text, int flag, const char *fmt, va_list args)
{
	(void)flag;
	return __wrap_vasprintf(text, fmt, args);
}

#define PASS_ON                                                                                    \
	va_list args;                                                                              \
	int n;                                                                                     \
                                                                                                   \
	va_start(args, fmt);                                                                       \
	n = __wrap_vasprintf(text, fmt, args);                                                     \
	va_end(args);                                                                              \
	return n

int __wrap_asprintf(char **text, const char *fmt, ...)
{
	PASS_ON;
}

int __wrap___asprintf_chk(char **text, int flag, const char *fmt, ...)
{
	(void)flag;
	PASS_ON;
}

/* Whichever allocation fails: no finding misses a part of what was found. */
static void test_memory(void **state)
{
	static const char *const world[][2] = {
		{CPU "online", "0-3\n"},
		{CPU "possible", "0-3\n"},
		{CPU "isolated", "\n"},
		{CPU "nohz_full", "\n"},
		{"proc/cmdline", "isolcpus=nohz,domain,2\n"},
		{"run/kconfig", "CONFIG_NO_HZ_FULL=y\nCONFIG_CPU_ISOLATION=y\n"},
		{"run/root", "60\n"},
		{"run/tasks/0000", "60 60 S 0 0 0 0 0 irqbalance\n"
				   "40 40 S " KTHREAD " 1 0 0 0-3 kswapd0\n41 41 S " KTHREAD
				   " 1 1 9 0-3 other\n812 812 R 400000 3 1 50 3 workload\n"},
		{WQ "cpumask", "f\n"},
		{WQ "a/cpumask", "f\n"},
		{WQ "b/cpumask", "f\n"},
		{"sys/fs/cgroup/a/cpu.max", "50000 100000\n"},
		{"sys/fs/cgroup/a/cgroup.procs", "812\n"},
		{"sys/class/net/eth0/queues/rx-0/rps_cpus", "f\n"},
		{"proc/irq/36/smp_affinity_list", "0-3\n"},
		{"proc/irq/36/effective_affinity_list", "3\n"},
		{"sys/kernel/irq/36/actions", "eth0\n"},
		{"sys/kernel/irq/36/per_cpu_count", "5,123,0,7\n"},
		{"proc/swaps", "x\n/dev/sda2 partition 1 0 -2\n"},
		{"sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n"},
		{"proc/sys/vm/stat_interval", "1\n"},
		{CPU "cpu3/topology/thread_siblings_list", "2-3\n"},
		{CPU "cpu3/cpuidle/state0/latency", "99\n"},
		{CPU "cpu3/cpuidle/state0/disable", "0\n"},
		{CPU "cpu3/cpufreq/scaling_governor", "schedutil\n"},
	};
	struct facts f = {0};
	bool failed = true;

	(void)state;
	for (size_t i = 0; i < sizeof(world) / sizeof(world[0]); i++)
		put(&f, world[i][0], world[i][1]);
	for (int n = 1; failed; n++) {
		struct findings out = {0};
		int err;

		left = n;
		err = audit_cpu_3(&f, &out);
		failed = !left;
		left = 0;
		assert_int_equal(err, failed ? -ENOMEM : 0);
		findings_free(&out);
	}
	facts_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_threads), cmocka_unit_test(test_many_of_a_name),
		cmocka_unit_test(test_a_long_list),  cmocka_unit_test(test_many_interrupts),
		cmocka_unit_test(test_many_quotas),  cmocka_unit_test(test_many_sources),
		cmocka_unit_test(test_many_cgroups), cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
