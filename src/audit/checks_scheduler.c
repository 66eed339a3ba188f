/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Knobs of the scheduler and the watchdogs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/units.h"

#define KERNEL "proc/sys/kernel/"
#define DEBUG  "sys/kernel/debug/"

#define KNOB_BY(check, ...) check, &(const struct knob_check)__VA_ARGS__

/* kernel.watchdog_thresh in seconds, 0 to 60: with 0 neither watchdog runs, whatever their switches
 * say (kernel/watchdog.c). */
static long long watchdog_thresh(const struct audit *a)
{
	long long n;

	return number_of(a, KERNEL "watchdog_thresh", &n) && n >= 0 && n <= 60 ? n : 10;
}

static void check_softlockup(struct audit *a)
{
	long long on, soft, tenths = 4 * watchdog_thresh(a);
	char list[CPUS_LIST], period[16];
	struct cpus mask;

	if (!number_of(a, KERNEL "watchdog", &on) || !number_of(a, KERNEL "soft_watchdog", &soft)) {
		unknown(a, "soft-lockup watchdog", KERNEL "soft_watchdog");
		return;
	}
	if (!on || !soft || !tenths) {
		found_ok(a, "no soft-lockup watchdog");
		return;
	}
	if (!list_of(a, KERNEL "watchdog_cpumask", &mask)) {
		unknown(a, "CPUs of the soft-lockup watchdog", KERNEL "watchdog_cpumask");
		return;
	}
	if (!meets(&mask, &a->targets)) {
		found_ok(a, "the soft-lockup watchdog leaves these CPUs alone");
		return;
	}
	snprintf(period, sizeof(period), "%g", tenths / 10.0);
	struct finding *f = warn(a,
				 "the soft-lockup watchdog runs on %s: every %s s a timer, and a "
				 "switch to migration/N",
				 a->whose, period);

	if (f)
		f->cpus = a->targets;
	value(f, "watchdog_cpumask %s", cpus_format(&mask, list, sizeof(list)));
	good(f, "%s", a->keep);
	write_fix(a, f, KERNEL "watchdog_cpumask", a->keep);
}

/* The file with the scheduler's features: up to 5.12 it has another name. */
static const char *features_file(const struct audit *a)
{
	return text_of(a, DEBUG "sched_features") ? DEBUG "sched_features" : DEBUG "sched/features";
}

/* Says that it is not known: without SCHED_DEBUG a kernel does not show what its scheduler has. */
static void not_shown(struct audit *a, const char *what)
{
	const struct fact *x = facts_find(a->facts, DEBUG "sched/features");
	const char *mounts = text_of(a, "proc/mounts");
	struct finding *f;

	if ((x && x->err != -ENOENT) || !mounts || !has_word(mounts, "debugfs")) {
		unknown(a, what, DEBUG "sched/features");
		return;
	}
	f = info(a, "%s: not known", what);
	if (f)
		f->known = false;
	value(f, "this kernel has no /" DEBUG "sched/features");
}

/* Sets *acts when throttling stops a spinning real-time thread. In kernels with the fair server
 * only that server does, unless real-time threads have groups (kernel/sched/rt.c). False: not
 * known. */
static bool throttling_acts(struct audit *a, bool *acts)
{
	char groups[8];

	*acts = kconfig(a, "RT_GROUP_SCHED", groups, sizeof(groups)) && !strcmp(groups, "y");
	if (*acts)
		return true;
	*acts = text_of(a, features_file(a)) &&
		!next_of(a, DEBUG "sched/fair_server/*/runtime", NULL);
	return text_of(a, features_file(a)) != NULL;
}

/* Throttling takes a real-time thread that never sleeps off for 50 ms a second: the trap of a
 * spinning FIFO workload. */
static void check_rt_throttle(struct audit *a)
{
	long long runtime, period;
	struct finding *f;
	bool acts, known;

	if (!number_of(a, KERNEL "sched_rt_runtime_us", &runtime) ||
	    !number_of(a, KERNEL "sched_rt_period_us", &period)) {
		unknown(a, "real-time throttling", KERNEL "sched_rt_runtime_us");
		return;
	}
	known = throttling_acts(a, &acts);
	if (known && !acts) {
		found_ok(
			a,
			"there is no real-time throttling: the fair server does it in this kernel");
		return;
	}
	if (runtime < 0 || runtime >= period) {
		value(found_ok(a, "no real-time throttling"), "%lld", runtime);
		return;
	}
	if (!known) {
		not_shown(a, "whether real-time throttling acts here, or the fair server");
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

/* The servers' commands. Some kernels, 6.12 among them, refuse them as busy while the time of
 * deadline tasks is limited, and log that the server is disabled all the same. A limit that is back
 * while a server is off may be refused. */
static void end_limit(struct audit *a, struct text *fix, struct text *back)
{
	struct text first = {.audit = a};
	long long limit;

	if (!fix->len || !number_of(a, KERNEL "sched_rt_runtime_us", &limit) || limit < 0)
		return;
	text_add(&first, "sysctl -w kernel.sched_rt_runtime_us=-1; %s", fix->at);
	text_add(back, "; sysctl -w kernel.sched_rt_runtime_us=%lld", limit);
	free(fix->at);
	*fix = first;
}

/* Since 6.12 the deadline server does the work of throttling, and restarts the tick for it. */
static void check_fair_server(struct audit *a)
{
	const struct fact *x = NULL;
	unsigned cpu, looked = 0;
	struct text fix = {.audit = a}, back = {.audit = a};
	struct finding *f = NULL;
	long long n, most = 0;
	struct cpus set;
	char time[32];

	cpus_clear(&set);
	while ((x = next_of(a, DEBUG "sched/fair_server/*/runtime", x))) {
		if (!one_number(x->name, DEBUG "sched/fair_server/cpu", &cpu) ||
		    !number_of(a, x->name, &n))
			continue;
		looked++;
		if (n <= 0 || !cpus_has(&a->targets, cpu))
			continue;
		most = n > most ? n : most;
		cpus_add(&set, cpu);
		text_add(&fix, "%secho 0 > /%s", fix.len ? "; " : "", x->name);
		text_add(&back, "%secho %lld > /%s", back.len ? "; " : "", n, x->name);
	}
	if (!looked && !text_of(a, features_file(a))) {
		not_shown(a, "the fair server");
	} else if (!looked) {
		unknown(a, "the fair server", DEBUG "sched/fair_server/");
	} else if (!most) {
		found_ok(a, "the fair server is off");
	} else {
		if (a->realtime)
			f = warn(a,
				 "the fair server takes up to %s of each period, 1 s by default, "
				 "from a FIFO thread for any normal one on %s",
				 format_ns(most, time, sizeof(time)), a->whose);
		else
			f = info(
				a,
				"the fair server is on: it matters when a FIFO thread spins on %s; "
				"some kernels (6.12) run its timer once a second else",
				a->whose);
		if (f)
			f->cpus = set;
		good(f, "runtime 0");
		end_limit(a, &fix, &back);
	}
	fix_take(f, &fix, &back);
}

/* When on, timers that a nohz_full CPU arms go to a housekeeping CPU (kernel/time/hrtimer.c:
 * get_target_base). */
static void check_timer_migration(struct audit *a)
{
	struct cpus nohz;
	long long n;
	bool full;

	if (!number_of(a, KERNEL "timer_migration", &n)) {
		unknown(a, "timer migration", KERNEL "timer_migration");
		return;
	}
	list_of(a, "sys/devices/system/cpu/nohz_full", &nohz);
	full = meets(&nohz, &a->targets);
	if (n || !full) {
		found_ok(a, n && full ? "timers that are armed on nohz_full CPUs go to others"
			    : n       ? "timer migration is on"
				      : "timer migration is off, and none of these CPUs is "
					"nohz_full");
		return;
	}
	struct finding *f =
		info(a, "timers stay on the CPU that armed them, though it is nohz_full");

	value(f, "timer_migration is 0");
	good(f, "1");
	write_fix(a, f, KERNEL "timer_migration", "1");
}

static void check_features(struct audit *a)
{
	static const char *const names[] = {"HRTICK", "HRTICK_DL"}; /* the second: since 5.13 */
	const char *file = features_file(a), *text = text_of(a, file);
	struct text fix = {.audit = a}, back = {.audit = a}, on = {.audit = a}, off = {.audit = a};
	struct finding *f;

	if (!text) {
		unknown(a, "scheduler features", file);
		return;
	}
	for (int i = 0; i < 2; i++) {
		if (!has_word(text, names[i]))
			continue;
		text_add(&on, "%s%s", on.len ? ", " : "", names[i]);
		text_add(&off, "%sNO_%s", off.len ? ", " : "", names[i]);
		text_add(&fix, "%secho NO_%s > /%s", fix.len ? "; " : "", names[i], file);
		text_add(&back, "%secho %s > /%s", back.len ? "; " : "", names[i], file);
	}
	if (on.len && off.len) {
		f = info(a, "the scheduler uses an exact preemption timer (%s)", on.at);
		good(f, "%s", off.at);
		fix_take(f, &fix, &back);
	} else {
		found_ok(a, "no HRTICK preemption timer");
	}
	free(on.at);
	free(off.at);
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

/* Without pseudo-NMIs an arm64 CPU has none: its lock-ups are looked for by other CPUs' timers
 * (kernel/watchdog_buddy.c), or not at all. Elsewhere both watchdogs run on the CPUs of one mask,
 * which begins without those of nohz_full= (kernel/watchdog.c: watchdog_enable). */
static void check_nmi_watchdog(struct audit *a)
{
	const char *cpuinfo = begin_of(a, "proc/cpuinfo"), *words = text_of(a, "proc/cmdline");
	char list[CPUS_LIST];
	struct finding *f;
	struct cpus mask;
	long long on;

	if (cpuinfo && strstr(cpuinfo, "\nCPU implementer") &&
	    !(words && strstr(words, "gicv3_pseudo_nmi=1"))) {
		found_ok(a, "no NMI watchdog: this CPU has no NMIs");
		return;
	}
	if (!watchdog_thresh(a)) {
		found_ok(a, "no NMI watchdog");
		return;
	}
	if (!number_of(a, KERNEL "nmi_watchdog", &on) || !on ||
	    !list_of(a, KERNEL "watchdog_cpumask", &mask)) {
		check_knob(a);
		return;
	}
	if (!meets(&mask, &a->targets)) {
		found_ok(a, "the NMI watchdog leaves these CPUs alone");
		return;
	}
	f = warn(a, "the NMI watchdog interrupts %s about every %lld s", a->whose,
		 watchdog_thresh(a));
	if (f) {
		f->cpus = mask;
		cpus_and(&f->cpus, &a->targets);
	}
	value(f, "nmi_watchdog is %lld, watchdog_cpumask %s", on,
	      cpus_format(&mask, list, sizeof(list)));
	if (cpus_empty(&a->housekeeping)) {
		good(f, "nmi_watchdog 0");
		write_fix(a, f, KERNEL "nmi_watchdog", "0");
		return;
	}
	good(f, "watchdog_cpumask %s, or nmi_watchdog 0", a->keep);
	write_fix(a, f, KERNEL "watchdog_cpumask", a->keep);
}

const struct check checks_scheduler[] = {
	{"softlockup", "T17", check_softlockup, NULL},
	{"nmi_watchdog", "H02",
	 KNOB_BY(check_nmi_watchdog,
		 {.name = KERNEL "nmi_watchdog",
		  .test = GOOD_IS,
		  .limit = 0,
		  .level = FINDING_WARN,
		  .title = "the NMI watchdog interrupts each CPU of its mask, about every "
			   "kernel.watchdog_thresh seconds (10 by default)",
		  .fine = "no NMI watchdog",
		  .set = "0"})},
	{"backtraces", "H04", check_backtraces, NULL},
	{"rt_throttle", "T18", check_rt_throttle, NULL},
	{"fair_server", "T03", check_fair_server, NULL},
	{"timer_migration", "T12", check_timer_migration, NULL},
	{"sched_features", "T19", check_features, NULL},
	{"psi", "K08", check_psi, NULL},
	{0},
};
