/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks, tracing, and other parts of the system that reach every CPU; CPUs of one core. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/units.h"
#include "model/place.h"

#define KERNEL  "proc/sys/kernel/"
#define CPU_DIR "sys/devices/system/cpu/"

#define KNOB(...) check_knob, &(const struct knob_check)__VA_ARGS__

/* ---- clocks ---- */

/* True for the counter of a CPU of x86, arm64 or RISC-V, which programs can read. */
static bool read_by_programs(const char *clock)
{
	return !strcmp(clock, "tsc") || !strcmp(clock, "arch_sys_counter") ||
	       !strcmp(clock, "riscv_clocksource");
}

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
	if (read_by_programs(now)) {
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
	if (!a->x86) {
		words(f, "see the kernel's messages for why the CPU's own counter was refused");
		return;
	}
	good(f, "tsc");
	words(f, "see the kernel's messages for why the TSC was refused; tsc=reliable where it is "
		 "known to be good");
}

static void check_split_lock(struct audit *a)
{
	const char *text = text_of(a, "run/dmesg"), *log = text;
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
	found_ok(a, log_has_boot(log)
			    ? "the kernel's messages tell of no split lock"
			    : "the kernel's messages that are left tell of no split lock");
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
	char line[LINE_MAX_TEXT], first[LINE_MAX_TEXT] = "", name[FACT_NAME_MAX + 1];
	struct finding_items active = {0};
	struct finding *f;

	if (!text_of(a, names[0])) {
		unknown(a, "the kernel's tracers", names[0]);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (const struct fact *x = next_of(a, names[i], NULL); x;
		     x = next_of(a, names[i], x)) {
			first_line(x->text, line, sizeof(line));
			if (x->err || !line[0] || !strcmp(line, "nop"))
				continue;
			if (!active.count)
				snprintf(first, sizeof(first), "%s", line);
			snprintf(name, sizeof(name), "/%s", x->name);
			if (!finding_items_add(&active, name, 0))
				a->short_of_memory = true;
		}
	if (!active.count) {
		found_ok(a, "the kernel is not being traced");
		return;
	}
	f = active.count == 1 ? warn(a, "the kernel is being traced: %s", active.row[0].name)
			      : warn(a, "the kernel is being traced in %u ways", active.count);
	if (!f) {
		finding_items_free(&active);
		return;
	}
	f->list = active;
	value(f, active.count == 1 ? "%s" : "the first: %s", first);
	words(f, "end it before the workload runs: switching it on or off patches the kernel's "
		 "text");
}

static void check_livepatch(struct audit *a)
{
	const struct fact *x = NULL;
	long long n;

	while ((x = next_of(a, "sys/kernel/livepatch/*/transition", x)))
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
	const struct cpus others = without(&a->online, &a->targets);
	unsigned cpus = cpus_count(&others), targets = cpus_count(&a->targets);
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

	value(f, "load %.2f on %u CPU%s and %s", load, cpus, plural(cpus), a->whose);
	words(f, "give housekeeping more CPUs, or less to do");
}

/* Before 5.15 the type of a group does not tell: "DMA" is either mode (drivers/iommu/iommu.c:
 * iommu_group_show_type). Then Intel's and AMD's drivers are lazy unless told otherwise, or unless
 * a hypervisor tells them; arm64's are strict. */
static bool may_be_lazy(const struct audit *a)
{
	char intel[64], amd[64], strict[8];

	if (kernel_from(a, 5, 15))
		return false;
	parameter(a, "intel_iommu", intel, sizeof(intel));
	parameter(a, "amd_iommu", amd, sizeof(amd));
	parameter(a, "iommu.strict", strict, sizeof(strict));
	if (!a->x86)
		return !strcmp(strict, "0");
	return !strstr(intel, "strict") && !strstr(amd, "fullflush");
}

static void check_iommu(struct audit *a)
{
	const struct fact *x = NULL;
	unsigned lazy = 0, either = 0;
	struct finding *f;

	while ((x = next_of(a, "sys/kernel/iommu_groups/*/type", x))) {
		lazy += !x->err && !strncmp(x->text, "DMA-FQ", 6);
		either += !x->err && !strncmp(x->text, "DMA", 3);
	}
	if (!lazy && either && may_be_lazy(a)) {
		f = info(a, "whether the IOMMU flushes lazily: not known");
		if (f)
			f->known = false;
		value(f, "before Linux 5.15 the type DMA is either");
		return;
	}
	if (!lazy) {
		found_ok(a, "the IOMMU does not flush lazily");
		return;
	}
	f = info(a, "the IOMMU flushes lazily, by a timer on the CPU that used the device");
	value(f, "%u group%s of type DMA-FQ", lazy, plural(lazy));
	good(f, "passthrough or strict");
	boot(f, "iommu.passthrough=1");
}

/* ---- siblings ---- */

/* Two targets on one core. */
static void check_pairs(struct audit *a)
{
	char list[CPUS_LIST];
	struct cpus second;
	struct finding *f;

	place_siblings(a->facts, &a->targets, &second);
	if (cpus_empty(&second))
		return;
	f = info(a,
		 "cpu %s shares its core with another CPU of these: what runs on one slows the "
		 "other",
		 cpus_format(&second, list, sizeof(list)));
	if (f)
		f->cpus = second;
	good(f, "one thread of each core in use");
}

/* Siblings of targets that are to be quiet for another workload. */
static void say_quiet(struct audit *a, const struct cpus *set)
{
	char list[CPUS_LIST];

	if (!cpus_empty(set))
		good(info(a,
			  "cpu %s, isolated or nohz_full, shares its core with %s: what runs on "
			  "one slows the other",
			  cpus_format(set, list, sizeof(list)), a->whose),
		     "one thread of each core in use");
}

/* The kernel lets a thread that may run nowhere else run anywhere, for good, and takes the CPU out
 * of the cpusets of cgroup v1. */
#define NOT_BACK " # not affinities that had no other CPU, nor cpusets of cgroup v1"

static void take_offline(struct audit *a, struct finding *f, const struct cpus *set)
{
	struct text fix = {.audit = a}, back = {.audit = a};
	struct number_words n = {.text.audit = a};

	for (int cpu = cpus_next(set, 0); cpu >= 0; cpu = cpus_next(set, cpu + 1))
		words_add(&n, cpu);
	words_end(&n);
	if (n.text.len) {
		on_each(&fix, n.text.at, "0", "online");
		on_each(&back, n.text.at, "1", "online");
		text_add(&back, NOT_BACK);
	}
	fix_take(f, &fix, &back);
	free(n.text.at);
}

/* False where the kernel has no control of SMT, as on arm64 before 6.15: nosmt does nothing there.
 * A kernel that nobody has asked has it if it is x86's. */
static bool has_nosmt(const struct audit *a)
{
	const char *control = text_of(a, CPU_DIR "smt/control");

	return control ? strncmp(control, "not", 3) != 0 : a->x86;
}

/* nosmt leaves the first thread of each core: it would take away a target that is another. The
 * list of a core has no threads that are offline, so one that is alone in it may be another; and
 * any that is to be quiet for another workload. cpu 0 cannot go offline, on x86. */
void check_smt(struct audit *a)
{
	struct cpus shared, siblings, others, left; /* others: to be quiet, too */
	char name[128], list[CPUS_LIST];
	bool known = false, first = true;

	cpus_clear(&shared);
	each_target(a, cpu)
	{
		snprintf(name, sizeof(name), CPU_DIR "cpu%d/topology/thread_siblings_list", cpu);
		if (!list_of(a, name, &siblings))
			continue;
		known = true;
		first &= cpus_next(&siblings, 0) == cpu && cpus_count(&siblings) > 1;
		siblings = without(&siblings, &a->targets);
		cpus_and(&siblings, &a->online);
		cpus_or(&shared, &siblings);
	}
	if (!known) {
		unknown(a, "who shares a core", CPU_DIR "cpu0/topology/thread_siblings_list");
		return;
	}
	check_pairs(a);
	others = quiet_now(a);
	cpus_sub(&others, &a->targets);
	left = without(&a->housekeeping, &others);
	siblings = shared;
	cpus_sub(&shared, &others);
	cpus_and(&siblings, &others);
	say_quiet(a, &siblings);
	if (cpus_empty(&shared)) {
		if (cpus_empty(&siblings))
			found_ok(a, "no CPU beside these shares a core with them");
		return;
	}
	cpus_format(&shared, list, sizeof(list));
	struct finding *f =
		warn(a, "cpu %s may do other work on the same core as %s", list, a->whose);

	good(f, "siblings idle, isolated too, or offline");
	if (cpus_has(&shared, 0) || cpus_cover(&shared, &left)) {
		words(f, "leave a whole core to housekeeping, and isolate the first thread of each "
			 "of the others");
	} else if (first && cpus_count(&shared) > 1 && cpus_empty(&others) && has_nosmt(a)) {
		boot(f, "nosmt");
	} else {
		take_offline(a, f, &shared);
	}
}

const struct check checks_system[] = {
	{"clocksource", "F08", check_clocksource, NULL},
	{"split_lock", "H11", check_split_lock, NULL, true},
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
	       .fine = "BPF statistics are off",
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
	       .title = "the kernel hides its addresses from everybody: functions have no names "
			"in a report",
	       .fine = "root may see the kernel's addresses",
	       .set = "1"})},
	{0},
};
