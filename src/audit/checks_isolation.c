/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that isolation is in force: the command line's wish, the kernel's deed, and the
 * difference. */
#include <stdio.h>
#include <string.h>

#include "audit/checks.h"
#include "audit/remedy.h"
#include "base/begins.h"
#include "base/units.h"
#include "model/isolation.h"

#define CPU_DIR "sys/devices/system/cpu/"

static const char *is_are(const struct cpus *set)
{
	return cpus_count(set) == 1 ? "is" : "are";
}

static void check_isolated(struct audit *a)
{
	struct cpus isolated, nohz, missing, all = to_isolate(a);
	char given[CPUS_LIST], list[CPUS_LIST];
	struct finding *f;
	bool domain, flags = false;

	if (!isolated_now(a, &isolated)) {
		unknown(a, "isolated CPUs", CPU_DIR "isolated");
		return;
	}
	missing = without(&a->targets, &isolated);
	if (cpus_empty(&missing)) {
		found_ok(a, "these CPUs are isolated from the scheduler's load balancing");
		return;
	}
	cpus_format(&missing, list, sizeof(list));
	if (parameter(a, "isolcpus", given, sizeof(given)))
		isolcpus_flags(given, &flags, &domain);
	list_of(a, CPU_DIR "nohz_full", &nohz);
	if (flags && !domain)
		f = fail(a,
			 "isolcpus=%s has flags but no 'domain': the scheduler still balances "
			 "tasks onto cpu%s %s",
			 given, plural(cpus_count(&missing)), list);
	else if (cpus_cover(&nohz, &missing))
		f = fail(a,
			 "cpu%s %s: nohz_full without isolcpus stops the tick but does not "
			 "isolate: the scheduler balances tasks onto it",
			 plural(cpus_count(&missing)), list);
	else
		f = fail(a, "cpu%s %s %s not isolated: the scheduler balances other tasks onto it",
			 plural(cpus_count(&missing)), list, is_are(&missing));
	if (f)
		f->cpus = missing;
	value(f, "isolated: %s",
	      cpus_empty(&isolated) ? "none" : cpus_format(&isolated, list, sizeof(list)));
	good(f, "isolated: %s", cpus_format(&all, list, sizeof(list)));
	isolate(a, f, true, false);
}

/* The kernel counts the CPUs of isolcpus= among them (kernel/cgroup/cpuset.c). */
static void check_cpuset(struct audit *a)
{
	struct isolation i;
	struct cpus set;
	char list[CPUS_LIST], boot[CPUS_LIST];

	isolation_of(a->facts, &i);
	if (!i.cpusets_known) {
		unknown(a, "CPUs isolated by cpuset partitions",
			"sys/fs/cgroup/cpuset.cpus.isolated");
		return;
	}
	set = without(&i.cpusets, &i.boot);
	if (cpus_empty(&set))
		found_ok(a, "no CPU is isolated by a cpuset partition alone");
	else
		value(info(a, "a cpuset partition isolates CPUs, for as long as it exists"),
		      "now: %s; since boot, by isolcpus=: %s",
		      cpus_format(&set, list, sizeof(list)),
		      !i.boot_known         ? "not known"
		      : cpus_empty(&i.boot) ? "none"
					    : cpus_format(&i.boot, boot, sizeof(boot)));
}

static struct cpus without_boot_cpu(const struct audit *a, const struct cpus *set)
{
	struct cpus rest = *set;
	int boot = cpus_next(&a->online, 0);

	if (boot >= 0)
		cpus_del(&rest, boot);
	return rest;
}

static void say_ticking(struct audit *a, const struct cpus *missing, bool lacking, bool boot)
{
	char list[CPUS_LIST], hz[32];
	struct cpus nohz, all = to_isolate(a);
	struct finding *f;

	if (!kconfig(a, "HZ", hz, sizeof(hz)))
		snprintf(hz, sizeof(hz), "HZ");
	list_of(a, CPU_DIR "nohz_full", &nohz);
	cpus_format(missing, list, sizeof(list));
	f = fail(a, "cpu%s %s %s not nohz_full: the tick interrupts %s %s times a second",
		 plural(cpus_count(missing)), list, is_are(missing),
		 cpus_count(missing) == 1 ? "it" : "each", hz);
	if (f)
		f->cpus = *missing;
	if (boot && has_others(a))
		words(f, BOOT_CPU_TICKS);
	else if (lacking && has_others(a))
		words(f, "boot a kernel that is built with CONFIG_NO_HZ_FULL=y, with nohz_full=%s",
		      list);
	else /* comes here even where it is refused because no other CPU is left */
		isolate(a, f, false, true);
	value(f,
	      lacking             ? "this kernel is built without NO_HZ_FULL"
	      : cpus_empty(&nohz) ? "nohz_full: none"
				  : "nohz_full: %s",
	      cpus_format(&nohz, list, sizeof(list)));
	all = without_boot_cpu(a, &all);
	if (!boot) /* no good one is known for it */
		good(f, "nohz_full: %s", cpus_format(&all, list, sizeof(list)));
}

static void check_nohz_full(struct audit *a)
{
	const struct fact *fact = facts_find(a->facts, CPU_DIR "nohz_full");
	struct cpus nohz, missing, boot, others;
	char built[16];
	bool lacking = kconfig(a, "NO_HZ_FULL", built, sizeof(built)) && strcmp(built, "y");

	if (!list_of(a, CPU_DIR "nohz_full", &nohz) && !lacking && fact && fact->err != -ENOENT) {
		unknown(a, "nohz_full CPUs", CPU_DIR "nohz_full");
		return;
	}
	missing = without(&a->targets, &nohz);
	if (cpus_empty(&missing)) {
		found_ok(a, "these CPUs are nohz_full: their tick can stop");
		return;
	}
	lacking |= !fact || fact->err;
	others = without_boot_cpu(a, &missing);
	boot = without(&missing, &others);
	if (!cpus_empty(&others))
		say_ticking(a, &others, lacking, false);
	if (!cpus_empty(&boot))
		say_ticking(a, &boot, lacking, true);
}

static void check_lists_equal(struct audit *a)
{
	struct cpus isolated, nohz, only, other;
	char list[CPUS_LIST];
	bool boot;

	if (!isolated_now(a, &isolated) || !list_of(a, CPU_DIR "nohz_full", &nohz) ||
	    cpus_empty(&isolated) || cpus_empty(&nohz))
		return;
	only = without(&isolated, &nohz);
	boot = cpus_has(&only, cpus_next(&a->online, 0));
	only = without_boot_cpu(a, &only);
	other = without(&nohz, &isolated);
	cpus_or(&only, &other);
	if (cpus_empty(&only)) {
		found_ok(a, boot ? "isolcpus and nohz_full name the same CPUs, but for the boot "
				   "CPU, which cannot be nohz_full"
				 : "isolcpus and nohz_full name the same CPUs");
		return;
	}
	struct finding *f = warn(
		a,
		"cpu%s %s %s in only one of isolcpus and nohz_full, and the kernel does not say so",
		plural(cpus_count(&only)), cpus_format(&only, list, sizeof(list)), is_are(&only));

	value(f, "isolated: %s", cpus_format(&isolated, list, sizeof(list)));
	good(f, "the same list in both");
	isolate(a, f, true, true);
}

static void check_boot_cpu(struct audit *a)
{
	int first = cpus_next(&a->online, 0);

	if (first < 0 || !cpus_has(&a->targets, first)) {
		found_ok(a, "the boot CPU stays for housekeeping");
		return;
	}
	struct finding *f =
		warn(a, "cpu %d is the boot CPU: it keeps the time for all and cannot be nohz_full",
		     first);

	if (f)
		cpus_add(&f->cpus, first);
	words(f, "isolate other CPUs");
}

#define BOOT_S 1 /* no user's program runs by then */

/* Lines of the boot that say so (kernel/sched/isolation.c). Without times only those that no
 * thread's name can be are believed. */
static bool is_refusal(const char *message, double time_s)
{
	static const char *const known[] = {"Housekeeping: nohz", "Housekeeping: must include",
					    "isolcpus: Skipped unknown flag",
					    "isolcpus: Invalid flag"};

	if (time_s >= 0)
		return time_s < BOOT_S &&
		       (begins(message, "Housekeeping:") || begins(message, "isolcpus:"));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (begins(message, known[i]))
			return true;
	return false;
}

static void check_dmesg(struct audit *a)
{
	const char *text = text_of(a, "run/dmesg"), *log = text;
	char line[LINE_MAX_TEXT];
	int bad = 0;

	if (!text) {
		unknown(a, "kernel messages about isolation", "run/dmesg");
		return;
	}
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *at;
		double time_s;

		first_line(text, line, sizeof(line));
		at = log_message(line, &time_s);
		if (!is_refusal(at, time_s))
			continue;
		words(fail(a, "the kernel refused a part of the isolation: \"%s\"", at),
		      "correct isolcpus= and nohz_full= on the kernel's command line");
		bad++;
	}
	if (bad)
		return;
	if (log_has_boot(log)) {
		found_ok(a, "no kernel message says that isolation was refused");
		return;
	}
	struct finding *f = info(a, "kernel messages about isolation: not known");

	if (f)
		f->known = false;
	value(f, "the kernel's log does not reach back to the boot any more");
}

/* Checks the kernel options that isolation needs. Reports only missing ones, each as a finding. */
static void check_kconfig(struct audit *a)
{
	static const struct {
		const char *option, *without;
	} wanted[] = {
		{"CPU_ISOLATION", "isolcpus= and nohz_full= do nothing"},
		{"RCU_NOCB_CPU", "RCU callbacks cannot be moved off a CPU"},
	};
	char built[32];
	int missing = 0;

	if (!kconfig(a, "HZ", built, sizeof(built))) {
		unknown(a, "the kernel's configuration", "run/kconfig");
		return;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (kconfig(a, wanted[i].option, built, sizeof(built)) && !strcmp(built, "y"))
			continue;
		struct finding *f = warn(a, "this kernel is built without %s: %s", wanted[i].option,
					 wanted[i].without);

		value(f, "CONFIG_%s is not set", wanted[i].option);
		words(f, "boot a kernel that is built with it");
		missing++;
	}
	if (!missing)
		found_ok(a, "the kernel is built with what isolation needs");
}

/* Adds the CPUs that have a thread for callbacks. */
static void add_rcu_threads(const struct audit *a, struct cpus *set)
{
	struct task_walk w = {0};
	struct task t;
	unsigned cpu;

	while (next_task(a, &w, &t)) {
		char comm[32];

		snprintf(comm, sizeof(comm), "%.*s", (int)t.comm_len, t.comm);
		if ((t.flags & TASK_KTHREAD) &&
		    (one_number(comm, "rcuop/", &cpu) || one_number(comm, "rcuos/", &cpu)))
			cpus_add(set, cpu);
	}
}

/* With rcu_nocbs= or nohz_full= every CPU has such a thread, since 5.17, and only those of the
 * lists use it; rcu_nocbs without a list offloads none. Without both a kernel may offload all
 * (RCU_NOCB_CPU_DEFAULT_ALL). */
static void check_rcu_nocb(struct audit *a)
{
	struct cpus offloaded, nohz, missing, named;
	char given[CPUS_LIST], list[CPUS_LIST], why[128];
	bool listed = parameter(a, "rcu_nocbs", given, sizeof(given)), read = true;

	cpus_clear(&named);
	if (!strcmp(given, "all"))
		named = a->targets;
	else
		read = !cpus_parse(given, &named, why, sizeof(why));
	offloaded = named;
	list_of(a, CPU_DIR "nohz_full", &nohz);
	cpus_or(&offloaded, &nohz); /* nohz_full implies the offload */
	if (!listed && cpus_empty(&nohz) && text_of(a, "proc/cmdline"))
		add_rcu_threads(a, &offloaded);
	missing = without(&a->targets, &offloaded);
	if (cpus_empty(&missing)) {
		found_ok(a, "RCU callbacks are offloaded");
		return;
	}
	if (!read || !text_of(a, "proc/cmdline") || !text_of(a, "run/tasks/0000")) {
		unknown(a, "whether RCU callbacks are offloaded",
			read && text_of(a, "proc/cmdline") ? "run/tasks/0000" : "proc/cmdline");
		return;
	}
	struct finding *f =
		warn(a, "RCU callbacks run on cpu%s %s: they are not offloaded",
		     plural(cpus_count(&missing)), cpus_format(&missing, list, sizeof(list)));

	if (f)
		f->cpus = missing;
	good(f, "nohz_full= or rcu_nocbs= with these CPUs");
	cpus_or(&named, &a->targets);
	boot(f, "rcu_nocbs=%s", cpus_format(&named, list, sizeof(list)));
}

static bool is_rcu(const struct task *t)
{
	return comm_begins(t, "rcu");
}

static void check_rcu_threads(struct audit *a)
{
	check_kernel_threads(a, is_rcu, "RCU", "no RCU thread may run on these CPUs");
}

static void check_rcu_expedited(struct audit *a)
{
	long long expedited, normal;

	if (!number_of(a, "sys/kernel/rcu_expedited", &expedited) ||
	    !number_of(a, "sys/kernel/rcu_normal", &normal)) {
		unknown(a, "expedited RCU grace periods", "sys/kernel/rcu_expedited");
		return;
	}
	struct finding *f =
		expedited ? warn(a,
				 "all RCU grace periods are expedited: they send IPIs to busy CPUs")
		: !normal ? info(a, "expedited RCU grace periods are allowed: they send IPIs to "
				    "busy CPUs")
			  : found_ok(a, "no expedited RCU grace periods");

	value(f, "rcu_expedited %lld, rcu_normal %lld", expedited, normal);
	if (!expedited && normal)
		return;
	good(f, "rcu_expedited 0, rcu_normal 1");
	write_fix(a, f, expedited ? "sys/kernel/rcu_expedited" : "sys/kernel/rcu_normal",
		  expedited ? "0" : "1");
}

const struct check checks_isolation[] = {
	{"isolated", "K34", check_isolated, NULL},
	{"nohz_full", "T01", check_nohz_full, NULL},
	{"lists_equal", "T01", check_lists_equal, NULL},
	{"cpuset_isolated", "K34", check_cpuset, NULL},
	{"cpuset_partition", "X01", check_partitions, NULL},
	{"boot_cpu", "T28", check_boot_cpu, NULL},
	{"dmesg", NULL, check_dmesg, NULL},
	{"kconfig", NULL, check_kconfig, NULL},
	{"rcu_nocb", "S07", check_rcu_nocb, NULL},
	{"rcu_threads", "K23", check_rcu_threads, NULL},
	{"rcu_expedited", "P14", check_rcu_expedited, NULL},
	{"cpu_quota", "T09", check_quota, NULL},
	{0},
};
