/* Knobs of the scheduler and the watchdogs, clocks, tracing, and other parts of the system that
 * reach every CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"

#define KERNEL "proc/sys/kernel/"
#define DEBUG  "sys/kernel/debug/"

#define KNOB(...) check_knob, &(const struct knob)__VA_ARGS__

static void check_softlockup(struct audit *a)
{
	long long on, soft;
	struct cpus mask;
	char list[LIST_MAX];

	if (!number_of(a, KERNEL "watchdog", &on) || !number_of(a, KERNEL "soft_watchdog", &soft)) {
		unknown(a, "soft-lockup watchdog", KERNEL "soft_watchdog");
		return;
	}
	if (!on || !soft) {
		found_ok(a, "no soft-lockup watchdog");
		return;
	}
	if (!list_of(a, KERNEL "watchdog_cpumask", &mask)) {
		unknown(a, "CPUs of the soft-lockup watchdog", KERNEL "watchdog_cpumask");
		return;
	}
	if (!meets(&mask, &a->targets)) {
		found_ok(a, "the soft-lockup watchdog keeps off");
		return;
	}
	struct finding *f = warn(a,
				 "the soft-lockup watchdog runs on %s: a timer and a switch to "
				 "migration/N every 4 s",
				 a->whose);

	if (f)
		f->cpus = a->targets;
	value(f, "watchdog_cpumask %s", cpus_format(&mask, list, sizeof(list)));
	good(f, "%s", a->keep);
	write_fix(a, f, KERNEL "watchdog_cpumask", a->keep);
}

/* Whether throttling takes off a spinning real-time thread. Since the fair server came only that
 * one does, unless real-time threads have groups (kernel/sched/rt.c). False: not known. */
static bool throttling_acts(const struct audit *a, bool *acts)
{
	char groups[8];

	*acts = kconfig(a, "RT_GROUP_SCHED", groups, sizeof(groups)) && !strcmp(groups, "y");
	if (*acts)
		return true;
	*acts = text_of(a, DEBUG "sched/features") &&
		!facts_next(a->facts, DEBUG "sched/fair_server/*/runtime", NULL);
	return text_of(a, DEBUG "sched/features") != NULL;
}

/* Throttling takes a real-time thread that never sleeps off for 50 ms a second: the trap of a
 * spinning FIFO workload. */
static void check_rt_throttle(struct audit *a)
{
	long long runtime, period;
	struct finding *f;
	bool acts;

	if (!number_of(a, KERNEL "sched_rt_runtime_us", &runtime) ||
	    !number_of(a, KERNEL "sched_rt_period_us", &period)) {
		unknown(a, "real-time throttling", KERNEL "sched_rt_runtime_us");
		return;
	}
	if (!throttling_acts(a, &acts)) {
		unknown(a, "whether real-time throttling acts here, or the fair server",
			DEBUG "sched/features");
		return;
	}
	if (!acts) {
		found_ok(a, "no real-time throttling: the fair server does it in this kernel");
		return;
	}
	if (runtime < 0 || runtime >= period) {
		value(found_ok(a, "no real-time throttling"), "%lld", runtime);
		return;
	}
	if (a->realtime)
		f = warn(a,
			 "real-time throttling: a FIFO thread that spins loses the CPU for %lld ms "
			 "in every %lld ms",
			 (period - runtime) / 1000, period / 1000);
	else
		f = info(a, "real-time throttling is on: it matters when a FIFO thread spins on %s",
			 a->whose);
	value(f, "%lld of %lld us", runtime, period);
	good(f, "-1");
	write_fix(a, f, KERNEL "sched_rt_runtime_us", "-1");
}

/* Since 6.12 the deadline server does the work of throttling, and restarts the tick for it. */
static void check_fair_server(struct audit *a)
{
	struct naming names = {0};
	const struct fact *x = NULL;
	unsigned cpu, looked = 0;
	char *fix = NULL, *back = NULL;
	struct cpus set;
	long long n;

	cpus_clear(&set);
	while ((x = facts_next(a->facts, DEBUG "sched/fair_server/*/runtime", x))) {
		if (!one_number(x->name, DEBUG "sched/fair_server/cpu", &cpu) ||
		    !number_of(a, x->name, &n))
			continue;
		looked++;
		if (!n || !cpus_has(&a->targets, cpu))
			continue;
		cpus_add(&set, cpu);
		name_add(&names, "", 0);
		text_add(&fix, "%secho 0 > /%s", fix ? "; " : "", x->name);
		text_add(&back, "%secho %lld > /%s", back ? "; " : "", n, x->name);
	}
	if (!looked) {
		unknown(a, "the fair server", DEBUG "sched/fair_server/");
	} else if (!names.count) {
		found_ok(a, "the fair server is off");
	} else {
		struct finding *f = found(a, a->realtime ? FINDING_WARN : FINDING_INFO,
					  a->realtime ? "the fair server takes 50 ms a second from "
							"a FIFO thread for any normal one on %s"
						      : "the fair server is on: it matters when a "
							"FIFO thread spins on %s",
					  a->whose);

		if (f)
			f->cpus = set;
		good(f, "runtime 0");
		if (fix && back) {
			command(f, "%s", fix);
			undo(f, "%s", back);
		}
	}
	free(fix);
	free(back);
}

/* When on, timers that a nohz_full CPU arms go to a housekeeping CPU (kernel/time/hrtimer.c:
 * get_target_base). */
static void check_timer_migration(struct audit *a)
{
	struct cpus nohz;
	long long n;

	if (!number_of(a, KERNEL "timer_migration", &n)) {
		unknown(a, "timer migration", KERNEL "timer_migration");
		return;
	}
	list_of(a, "sys/devices/system/cpu/nohz_full", &nohz);
	if (n) {
		found_ok(a, meets(&nohz, &a->targets)
				    ? "timers that are armed on nohz_full CPUs go to others"
				    : "timer migration is on");
		return;
	}
	struct finding *f = info(a, "timers stay on the CPU that armed them%s",
				 meets(&nohz, &a->targets) ? ", though it is nohz_full" : "");

	value(f, "timer_migration is 0");
	good(f, "1 with nohz_full; 0 keeps an idle CPU's timers off where there is no nohz_full");
	write_fix(a, f, KERNEL "timer_migration", "1");
}

static void check_features(struct audit *a)
{
	const char *text = text_of(a, DEBUG "sched/features");

	if (!text) {
		unknown(a, "scheduler features", DEBUG "sched/features");
		return;
	}
	if (!has_word(text, "HRTICK")) {
		found_ok(a, "no HRTICK preemption timer");
		return;
	}
	struct finding *f = info(a, "the scheduler uses an exact preemption timer (HRTICK)");

	good(f, "NO_HRTICK");
	command(f, "echo NO_HRTICK > /sys/kernel/debug/sched/features");
	undo(f, "echo HRTICK > /sys/kernel/debug/sched/features");
}

static void check_backtraces(struct audit *a)
{
	static const char *const names[] = {
		KERNEL "hung_task_all_cpu_backtrace", KERNEL "softlockup_all_cpu_backtrace",
		KERNEL "hardlockup_all_cpu_backtrace", KERNEL "oops_all_cpu_backtrace"};
	long long n;
	int bad = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!number_of(a, names[i], &n) || !n)
			continue;
		struct finding *f = info(a, "%s: an NMI to all CPUs when it happens",
					 names[i] + strlen(KERNEL));

		good(f, "0");
		write_fix(a, f, names[i], "0");
		bad++;
	}
	if (!bad)
		found_ok(a, "no lockup asks all CPUs for a backtrace");
}

static void check_psi(struct audit *a)
{
	const struct fact *x = facts_find(a->facts, "proc/pressure/cpu");

	if (!x || x->err) { /* with psi=0 the file exists and cannot be opened */
		found_ok(a, "no pressure stall accounting");
		return;
	}
	struct finding *f = info(
		a,
		"pressure stall accounting is on: a work item every 2 s where tasks change state");

	good(f, "psi=0");
	boot(f, "psi=0");
}

/* ---- clocks ---- */

static void check_clocksource(struct audit *a)
{
	static const char name[] =
		"sys/devices/system/clocksource/clocksource0/current_clocksource";
	char now[64];
	struct finding *f;

	if (!text_of(a, name)) {
		unknown(a, "the clocksource", name);
		return;
	}
	first_line(text_of(a, name), now, sizeof(now));
	if (!strcmp(now, "tsc") || !strcmp(now, "arch_sys_counter")) {
		value(found_ok(a, "the clock is read without a system call"), "%s", now);
		return;
	}
	if (!strncmp(now, "kvm-clock", 9) || !strncmp(now, "hyperv", 6) || !strcmp(now, "xen")) {
		value(info(a, "the clock is the hypervisor's"), "%s", now);
		return;
	}
	f = fail(
		a,
		"the clock is %s: every clock_gettime is a system call and a slow read of a device",
		now);
	good(f, "tsc");
	words(f, "see the kernel's messages for why the TSC was refused; tsc=reliable where it is "
		 "known to be good");
}

static void check_split_lock(struct audit *a)
{
	const char *text = text_of(a, "run/dmesg");
	char line[LINE_MAX_TEXT];

	if (!text) {
		unknown(a, "split locks", "run/dmesg");
		return;
	}
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		first_line(text, line, sizeof(line));
		/* "x86/split lock detection: warning ..." at boot only says that it is on. */
		if (!strstr(line, "took a split_lock trap") &&
		    !strstr(line, "took a bus_lock trap"))
			continue;
		struct finding *f = warn(a, "a program takes split locks: each stops all cores");

		value(f, "%s", line);
		words(f, "correct or stop that program");
		return;
	}
	found_ok(a, "no split lock in the kernel's messages");
}

/* ---- tracing ---- */

static void check_tracing(struct audit *a)
{
	static const char *const names[] = {
		"sys/kernel/tracing/current_tracer",
		"sys/kernel/tracing/set_event",
		"sys/kernel/tracing/kprobe_events",
		"sys/kernel/tracing/uprobe_events",
		"sys/kernel/tracing/instances/*/current_tracer",
		"sys/kernel/tracing/instances/*/set_event",
	};
	char line[LINE_MAX_TEXT];
	int active = 0;

	if (!text_of(a, names[0])) {
		unknown(a, "the kernel's tracers", names[0]);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (const struct fact *x = facts_next(a->facts, names[i], NULL); x;
		     x = facts_next(a->facts, names[i], x)) {
			first_line(x->text, line, sizeof(line));
			if (x->err || !line[0] || !strcmp(line, "nop"))
				continue;
			struct finding *f = warn(a, "the kernel is being traced: /%s", x->name);

			value(f, "%s", line);
			words(f, "end it before the workload runs: switching it on or off patches "
				 "the kernel's text");
			active++;
		}
	if (!active)
		found_ok(a, "the kernel is not being traced");
}

static void check_livepatch(struct audit *a)
{
	const struct fact *x = NULL;
	long long n;

	while ((x = facts_next(a->facts, "sys/kernel/livepatch/*/transition", x)))
		if (number_of(a, x->name, &n) && n) {
			words(warn(a, "a live patch is in transition: it signals threads until all "
				      "have taken it"),
			      "wait until /%s is 0", x->name);
			return;
		}
	found_ok(a, "no live patch in transition");
}

static void check_lockdown(struct audit *a)
{
	static const char name[] = "sys/kernel/security/lockdown";
	const char *text = text_of(a, name);

	if (!text) {
		unknown(a, "kernel lockdown", name);
	} else if (strstr(text, "[confidentiality]")) {
		struct finding *f = fail(a, "kernel lockdown (confidentiality) refuses BPF "
					    "tracing: culprit can only measure");

		words(f, "boot with lockdown=integrity or without it");
	} else {
		found_ok(a, "kernel lockdown allows BPF tracing");
	}
}

static void check_resctrl(struct audit *a)
{
	const char *text = text_of(a, "proc/mounts");

	if (!text)
		unknown(a, "resctrl", "proc/mounts");
	else if (has_word(text, "resctrl"))
		words(info(a, "resctrl is mounted: its monitoring runs work on CPUs of each cache "
			      "every second"),
		      "umount /sys/fs/resctrl, or use groups without monitoring");
	else
		found_ok(a, "resctrl is not mounted");
}

static void check_load(struct audit *a)
{
	const char *text = text_of(a, "proc/loadavg");
	unsigned cpus = cpus_count(&a->housekeeping), targets = cpus_count(&a->targets);
	double load;

	if (!text || sscanf(text, "%lf", &load) != 1) {
		unknown(a, "the load", "proc/loadavg");
		return;
	}
	/* A spinning workload counts one for each target. */
	if (!cpus || load <= cpus + targets) {
		value(found_ok(a, "housekeeping CPUs are not overloaded"), "load %.2f", load);
		return;
	}
	struct finding *f = warn(
		a, "housekeeping CPUs are overloaded: what they do reaches %s by IPIs", a->whose);

	value(f, "load %.2f on %u CPU%s and %s", load, cpus, cpus == 1 ? "" : "s", a->whose);
	words(f, "give housekeeping more CPUs, or less to do");
}

static void check_iommu(struct audit *a)
{
	const struct fact *x = NULL;
	unsigned lazy = 0;

	while ((x = facts_next(a->facts, "sys/kernel/iommu_groups/*/type", x)))
		lazy += !x->err && !strncmp(x->text, "DMA-FQ", 6);
	if (!lazy) {
		found_ok(a, "no lazy IOMMU flushing");
		return;
	}
	struct finding *f =
		info(a, "the IOMMU flushes lazily: a timer on the CPU that used the device");

	value(f, "%u groups of type DMA-FQ", lazy);
	good(f, "passthrough or strict");
	boot(f, "iommu.passthrough=1");
}

const struct check checks_system[] = {
	{"softlockup", "T17", check_softlockup, NULL},
	{"nmi_watchdog", "H02",
	 KNOB({.name = KERNEL "nmi_watchdog",
	       .test = GOOD_IS,
	       .limit = 0,
	       .level = FINDING_WARN,
	       .title = "the NMI watchdog interrupts each CPU about every 10 s",
	       .fine = "no NMI watchdog",
	       .set = "0"})},
	{"backtraces", "H04", check_backtraces, NULL},
	{"rt_throttle", "T18", check_rt_throttle, NULL},
	{"fair_server", "T03", check_fair_server, NULL},
	{"timer_migration", "T12", check_timer_migration, NULL},
	{"sched_features", "T19", check_features, NULL},
	{"psi", "K08", check_psi, NULL},
	{"clocksource", "F08", check_clocksource, NULL},
	{"split_lock", "H11", check_split_lock, NULL},
	{"media_polling", "K17",
	 KNOB({.name = "sys/module/block/parameters/events_dfl_poll_msecs",
	       .test = GOOD_IS,
	       .limit = 0,
	       .level = FINDING_INFO,
	       .title = "drives of removable media are polled",
	       .fine = "removable media are not polled by default",
	       .set = "0"})},
	{"tracing", "X02", check_tracing, NULL},
	{"bpf_stats", "X02",
	 KNOB({.name = KERNEL "bpf_stats_enabled",
	       .test = GOOD_IS,
	       .limit = 0,
	       .level = FINDING_INFO,
	       .title = "BPF statistics are on: every program run reads the clock twice",
	       .fine = "no BPF statistics",
	       .set = "0"})},
	{"livepatch", "X03", check_livepatch, NULL},
	{"resctrl", "P21", check_resctrl, NULL},
	{"iommu", "T25", check_iommu, NULL},
	{"load", NULL, check_load, NULL},
	{"lockdown", NULL, check_lockdown, NULL},
	{"kptr_restrict", NULL,
	 KNOB({.name = KERNEL "kptr_restrict",
	       .test = BAD_WORD,
	       .bad = "2",
	       .level = FINDING_INFO,
	       .title = "the kernel hides its addresses from all: functions have no names in a "
			"report",
	       .fine = "root may see the kernel's addresses",
	       .set = "1"})},
	{0},
};
