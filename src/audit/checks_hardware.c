/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processor and the layers below the kernel: the counter, siblings, machine checks, the
 * hypervisor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/escape.h"
#include "model/clock.h"
#include "model/hypervisor.h"

#define CPU_DIR "sys/devices/system/cpu/"
#define MCE     "sys/devices/system/machinecheck/machinecheck0/"
#define CLOCK   "sys/devices/system/clocksource/clocksource0/"

bool cpu_flags(const struct audit *a, char *flags, size_t len)
{
	const char *text = begin_of(a, "proc/cpuinfo");
	const char *at = text ? strstr(text, "\nflags") : NULL;

	if (!at || !strchr(at, ':'))
		return false;
	first_line(strchr(at, ':') + 1, flags, len);
	return true;
}

/* ---- the counter ---- */

static void check_tsc(struct audit *a)
{
	char flags[CPUINFO_LINE];
	const char *clocks = text_of(a, CLOCK "available_clocksource");
	bool constant, nonstop;
	struct finding *f;

	if (!cpu_flags(a, flags, sizeof(flags))) {
		if (!begin_of(a, "proc/cpuinfo"))
			unknown(a, "the counter", "proc/cpuinfo");
		return;
	}
	constant = has_word(flags, "constant_tsc");
	nonstop = has_word(flags, "nonstop_tsc");
	if (constant && nonstop && clock_tsc_refused(clocks)) {
		first_line(clocks, flags, sizeof(flags));
		f = fail(a, "the kernel has refused the time-stamp counter as a clock");
		value(f, "available_clocksource is %s", flags);
		good(f, "tsc is one of them");
		words(f, "see the kernel's messages for why");
		return;
	}
	if (constant && nonstop) {
		found_ok(a, "the time-stamp counter runs at one rate and never stops");
		return;
	}
	/* The kernel's own watchdog, or a user's tsc=reliable, may trust it all the same. */
	if (text_of(a, CLOCK "current_clocksource") &&
	    has_word(text_of(a, CLOCK "current_clocksource"), "tsc"))
		f = warn(a, "the time-stamp counter is not known to be steady, though it is the "
			    "kernel's clock");
	else
		f = fail(a, "the time-stamp counter is not known to be steady");
	value(f, "no %s%s%s", constant ? "" : "constant_tsc", constant || nonstop ? "" : ", ",
	      nonstop ? "" : "nonstop_tsc");
	good(f, "constant_tsc and nonstop_tsc");
	words(f, "in a guest: let the host expose an invariant TSC");
}

static unsigned packages(struct audit *a)
{
	const struct fact *x = NULL;
	long long highest = -1, n;

	while ((x = next_of(a, CPU_DIR "cpu*/topology/physical_package_id", x)))
		if (number_of(a, x->name, &n) && n > highest)
			highest = n;
	return highest + 1;
}

static unsigned memory_nodes(struct audit *a)
{
	const struct fact *x = NULL;
	unsigned n = 0;

	while ((x = next_of(a, "sys/devices/system/node/node*/cpulist", x)))
		n++;
	return n;
}

/* Says that it is not known whether there is one. */
static struct finding *watchdog_not_known(struct audit *a)
{
	struct finding *f = info(a, "the clocksource watchdog: not known");

	if (f)
		f->known = false;
	return f;
}

/* Follows the rules of arch/x86/kernel/tsc.c: check_system_tsc_reliable and
 * kernel/time/clocksource.c. A machine of few packages needs no watchdog: some kernels count up to
 * four of them, others up to two memory nodes or two packages. Else the counter is watched also
 * while another clock is the current one, until it is found unstable, when it leaves the list; and
 * by any other clock, a hypervisor's among them. Jiffies, which some kernels take where there is no
 * other, are not in the list. */
static void check_clock_watchdog(struct audit *a)
{
	char flags[CPUINFO_LINE], tsc[64] = "", line[256] = "";
	const char *clocks = text_of(a, CLOCK "available_clocksource");
	struct finding *f;
	bool dropped, steady;

	if (!cpu_flags(a, flags, sizeof(flags)))
		return;
	if (!clocks) {
		unknown(a, "the clocksource watchdog", CLOCK "available_clocksource");
		return;
	}
	parameter(a, "tsc", tsc, sizeof(tsc));
	first_line(clocks, line, sizeof(line));
	steady = has_word(flags, "constant_tsc") && has_word(flags, "nonstop_tsc") &&
		 has_word(flags, "tsc_adjust") && packages(a) <= 4;
	dropped = !strcmp(tsc, "reliable") || !strcmp(tsc, "nowatchdog") ||
		  has_word(flags, "tsc_reliable") || /* a hypervisor says so */
		  (steady && packages(a) <= 2 && memory_nodes(a) <= 2);
	if (dropped || !has_word(line, "tsc")) {
		found_ok(a, "no clocksource watchdog");
		return;
	}
	if (steady) {
		value(watchdog_not_known(a), "kernels differ on %u packages with %u memory nodes",
		      packages(a), memory_nodes(a));
		return;
	}
	if (!strcmp(line, "tsc")) {
		value(watchdog_not_known(a), "kernels differ where no clock but tsc is listed");
		return;
	}
	f = warn(a, "the clocksource watchdog visits every CPU in turn, twice a second");
	value(f, "%s", line);
	boot(f, "tsc=nowatchdog");
}

static void check_tsc_sync(struct audit *a)
{
	char flags[CPUINFO_LINE], tsc[64] = "";

	if (!cpu_flags(a, flags, sizeof(flags)))
		return;
	parameter(a, "tsc", tsc, sizeof(tsc));
	if (!has_word(flags, "tsc_adjust") || has_word(flags, "tsc_reliable") ||
	    !strcmp(tsc, "reliable")) {
		found_ok(a, "no timer that checks TSC_ADJUST");
		return;
	}
	boot(info(a, "a timer checks TSC_ADJUST on each CPU in turn, one every 10 minutes"),
	     "tsc=reliable");
}

/* ---- places ---- */

static void check_locality(struct audit *a)
{
	const struct fact *x = NULL;
	struct cpus set;
	unsigned nodes = 0, caches = 0;
	char seen[64][256], line[256];

	while ((x = next_of(a, "sys/devices/system/node/node*/cpulist", x)))
		nodes += list_of(a, x->name, &set) && meets(&set, &a->targets);
	each_target(a, cpu)
	{
		unsigned i = 0;

		if (!cpu_text(a, cpu, "cache/index3/shared_cpu_list", line, sizeof(line)))
			continue;
		while (i < caches && strcmp(seen[i], line))
			i++;
		if (i == caches && caches < 64)
			snprintf(seen[caches++], sizeof(seen[0]), "%s", line);
	}
	if (nodes <= 1 && caches <= 1) {
		found_ok(a, "these CPUs are in one NUMA node and one last-level cache");
		return;
	}
	words(info(a, "%s span%s %u NUMA node%s and %u last-level cache%s", a->whose,
		   cpus_count(&a->targets) == 1 ? "s" : "", nodes ? nodes : 1, nodes > 1 ? "s" : "",
		   caches ? caches : 1, caches > 1 ? "s" : ""),
	      "keep a workload, its memory and its devices within one");
}

/* ---- firmware, errors ---- */

static void check_microcode(struct audit *a)
{
	const struct fact *x = NULL;
	char first[64] = "", line[64];

	while ((x = next_of(a, CPU_DIR "cpu*/microcode/version", x))) {
		first_line(x->text, line, sizeof(line));
		if (x->err || !line[0])
			continue;
		if (!first[0])
			snprintf(first, sizeof(first), "%s", line);
		if (!strcmp(first, line))
			continue;
		value(warn(a, "CPUs have different microcode"), "%s and %s", first, line);
		return;
	}
	if (first[0])
		value(found_ok(a, "all CPUs have the same microcode"), "%s", first);
	else
		unknown(a, "microcode versions", CPU_DIR "cpu0/microcode/version");
}

static void check_mce(struct audit *a)
{
	long long interval, ignored = 0;

	if (!number_of(a, MCE "check_interval", &interval)) {
		unknown(a, "polling for machine checks", MCE "check_interval");
		return;
	}
	number_of(a, MCE "ignore_ce", &ignored);
	if (!interval || ignored || interval >= 300) {
		value(found_ok(a, "machine checks are polled seldom or never"), "%lld s", interval);
		return;
	}
	struct finding *f = warn(a, "machine checks are polled often");

	value(f, "every %lld s", interval);
	good(f, "0, or 300 and more");
	write_fix(a, f, MCE "check_interval", "300");
}

static void check_edac(struct audit *a)
{
	const struct fact *x = NULL;
	long long errors = 0, n, poll;

	if (!next_of(a, "sys/devices/system/edac/mc/mc*/ce_count", NULL)) {
		unknown(a, "errors of the memory", "sys/devices/system/edac/mc/mc*/ce_count");
		return;
	}
	while ((x = next_of(a, "sys/devices/system/edac/mc/mc*/ce_count", x)))
		if (number_of(a, x->name, &n))
			errors += n;
	if (errors)
		words(warn(a,
			   "memory has had %lld corrected errors: each may interrupt or be polled "
			   "for",
			   errors),
		      "replace the module that ras-mc-ctl --errors names");
	if (number_of(a, "sys/module/edac_core/parameters/edac_mc_poll_msec", &poll) && poll > 0 &&
	    poll < 60000) {
		struct finding *f =
			info(a, "memory controllers may be polled for errors every %lld ms", poll);

		if (f)
			f->cause = "K16";
		good(f, "60000");
		write_fix(a, f, "sys/module/edac_core/parameters/edac_mc_poll_msec", "60000");
	} else if (!errors) {
		found_ok(a, "there were no memory errors, and nothing polls for them");
	}
}

static void check_thermal(struct audit *a)
{
	struct cpus set;
	long long n;
	char list[CPUS_LIST];

	cpus_clear(&set);
	each_target(a, cpu) if (cpu_number(a, cpu, "thermal_throttle/core_throttle_count", &n) && n)
		cpus_add(&set, cpu);
	if (!next_of(a, CPU_DIR "cpu*/thermal_throttle/core_throttle_count", NULL)) {
		unknown(a, "slowing down for heat",
			CPU_DIR "cpu0/thermal_throttle/core_throttle_count");
		return;
	}
	if (cpus_empty(&set)) {
		found_ok(a, "no CPU was slowed down for heat");
		return;
	}
	words(warn(a, "cpu %s was slowed down for heat since boot",
		   cpus_format(&set, list, sizeof(list))),
	      "better cooling, or a lower fixed frequency");
}

static void check_mitigations(struct audit *a)
{
	const struct fact *x = NULL;
	char line[LINE_MAX_TEXT];
	unsigned n = 0, told = 0;

	while ((x = next_of(a, CPU_DIR "vulnerabilities/*", x))) {
		if (x->err)
			continue;
		told++;
		first_line(x->text, line, sizeof(line));
		n += !strncmp(line, "Mitigation", 10);
	}
	if (!told) {
		unknown(a, "a report on processor flaws", CPU_DIR "vulnerabilities/meltdown");
		return;
	}
	if (!n) {
		found_ok(a, "the kernel tells of no active mitigation of processor flaws");
		return;
	}
	value(info(a, "mitigations of processor flaws lengthen each way into the kernel"),
	      "%u active", n);
}

/* ---- the hypervisor ---- */

static const char *read_fact(void *ctx, const char *path)
{
	return text_of(ctx, path);
}

/* An x86 CPU says so itself, and Xen's first domain is on that, too. */
static bool is_guest(struct audit *a)
{
	char flags[CPUINFO_LINE];

	if (cpu_flags(a, flags, sizeof(flags)))
		return has_word(flags, "hypervisor") || text_of(a, "sys/hypervisor/type");
	return hypervisor_of(read_fact, a);
}

static void check_hypervisor(struct audit *a)
{
	if (!is_guest(a)) {
		if (begin_of(a, "proc/cpuinfo"))
			found_ok(a, "no hypervisor");
		else
			unknown(a, "hypervisor", "proc/cpuinfo");
		return;
	}
	words(warn(a, "this is a guest: its host's interrupts and other guests take time that the "
		      "kernel here cannot see"),
	      "isolate CPUs on the host, too, and bind this guest's CPUs to them");
}

static void check_steal(struct audit *a)
{
	const char *text = begin_of(a, "proc/stat");
	struct cpus missing = a->targets;
	unsigned long long sum = 0, n;
	unsigned cpu;
	bool cut;

	for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (text[strcspn(text, "\n")] && /* a line without an end may be cut */
		    sscanf(text, "cpu%u %*u %*u %*u %*u %*u %*u %*u %llu", &cpu, &n) == 2 &&
		    cpus_has(&a->targets, cpu)) {
			cpus_del(&missing, cpu);
			sum += n;
		}
	cut = !text_of(a, "proc/stat") && !cpus_empty(&missing);
	if (!text || (cut && !sum)) {
		unknown(a, "stolen time", "proc/stat");
		return;
	}
	if (!sum) {
		found_ok(a, "the host has taken no time since boot");
		return;
	}
	struct finding *f = warn(a, "the host has taken time from %s since boot", a->whose);

	value(f, "%s%llu.%02llu s", cut ? "at least " : "", sum / 100, sum % 100);
	good(f, "0");
	words(f, "on the host: CPUs of its own for this guest, isolated");
}

const struct check checks_hardware[] = {
	{"tsc", "T06", check_tsc, NULL, true},
	{"clock_watchdog", "T13", check_clock_watchdog, NULL, true},
	{"tsc_sync", "T15", check_tsc_sync, NULL, true},
	{"smt", "H12", check_smt, NULL},
	{"locality", "H13", check_locality, NULL},
	{"microcode", "H16", check_microcode, NULL, true},
	{"mce", "T16", check_mce, NULL, true},
	{"edac", "I09", check_edac, NULL},
	{"thermal", "H10", check_thermal, NULL, true},
	{"mitigations", NULL, check_mitigations, NULL},
	{"hypervisor", "H15", check_hypervisor, NULL},
	{"steal", "H14", check_steal, NULL},
	{0},
};
