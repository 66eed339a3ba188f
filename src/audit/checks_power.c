/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frequencies and sleep states: what the processor does to save energy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/escape.h"

#define CPU_DIR "sys/devices/system/cpu/"
#define DEEP_US 2 /* us; the exit from a deep sleep state takes longer */

/* Kinds of work that a governor does on a CPU. */
enum governor { GOVERNOR_QUIET, GOVERNOR_WORKS, GOVERNOR_SLOW, GOVERNOR_UNKNOWN };

/* intel_pstate's own "powersave" works in the scheduler, unless the hardware chooses the frequency
 * (HWP), for which the driver wants EPP, too. EPP has a file where it is in use. */
static enum governor of_intel(const struct audit *a, int cpu)
{
	const char *cmdline = text_of(a, "proc/cmdline");
	char flags[CPUINFO_LINE], line[32];

	if (cpu_text(a, cpu, "cpufreq/energy_performance_preference", line, sizeof(line)))
		return GOVERNOR_QUIET;
	if (!cpu_flags(a, flags, sizeof(flags)) || !cmdline)
		return GOVERNOR_UNKNOWN;
	return has_word(flags, "hwp_epp") && !has_word(cmdline, "intel_pstate=no_hwp")
		       ? GOVERNOR_QUIET
		       : GOVERNOR_WORKS;
}

/* Writes the governor's name. */
static enum governor governor_of(const struct audit *a, int cpu, char *name, size_t len)
{
	char driver[64];

	if (!cpu_text(a, cpu, "cpufreq/scaling_governor", name, len) ||
	    !strcmp(name, "performance") || !strcmp(name, "userspace"))
		return GOVERNOR_QUIET;
	if (strcmp(name, "powersave"))
		return GOVERNOR_WORKS;
	cpu_text(a, cpu, "cpufreq/scaling_driver", driver, sizeof(driver));
	if (!strcmp(driver, "intel_pstate"))
		return of_intel(a, cpu);
	/* The hardware chooses the frequency here, whatever the governor is called. */
	return !strcmp(driver, "amd-pstate-epp") ? GOVERNOR_QUIET : GOVERNOR_SLOW;
}

static void governor_fix(struct audit *a, struct finding *f, const struct cpus *set)
{
	struct number_words cpus = {.text.audit = a};
	struct text fix = {.audit = a}, back = {.audit = a};
	char governor[64], old[128];

	if (f)
		f->cpus = *set;
	good(f, "performance");
	for (int cpu = cpus_next(set, 0); cpu >= 0; cpu = cpus_next(set, cpu + 1)) {
		cpu_text(a, cpu, "cpufreq/scaling_governor", governor, sizeof(governor));
		if (!shell_quote(governor, old, sizeof(old)))
			continue;
		words_add(&cpus, cpu);
		text_add(&back, "%secho %s > /" CPU_DIR "cpu%d/cpufreq/scaling_governor",
			 back.len ? "; " : "", old, cpu);
	}
	words_end(&cpus);
	if (cpus.text.len)
		on_each(&fix, cpus.text.at, "performance", "cpufreq/scaling_governor");
	fix_take(f, &fix, &back);
	free(cpus.text.at);
}

static void check_governor(struct audit *a)
{
	char governor[64], odd[64] = "", list[CPUS_LIST];
	struct cpus set[GOVERNOR_UNKNOWN + 1] = {0};
	const struct cpus *works = &set[GOVERNOR_WORKS], *slow = &set[GOVERNOR_SLOW];
	bool known = false;

	each_target(a, cpu)
	{
		enum governor it = governor_of(a, cpu, governor, sizeof(governor));

		known |= governor[0] != 0;
		cpus_add(&set[it], cpu);
		if (it == GOVERNOR_WORKS)
			snprintf(odd, sizeof(odd), "%s", governor);
	}
	if (!known) {
		value(found_ok(a, "the kernel does not scale frequencies here"), "absent");
		return;
	}
	if (!cpus_empty(works))
		governor_fix(a,
			     warn(a, "the frequency governor %s works on cpu %s", odd,
				  cpus_format(works, list, sizeof(list))),
			     works);
	if (!cpus_empty(slow))
		governor_fix(a,
			     info(a,
				  "the frequency governor powersave keeps cpu %s at its lowest "
				  "frequency",
				  cpus_format(slow, list, sizeof(list))),
			     slow);
	if (!cpus_empty(&set[GOVERNOR_UNKNOWN]))
		unknown(a, "whether the governor powersave does work here",
			text_of(a, "proc/cmdline") ? "proc/cpuinfo" : "proc/cmdline");
	if (cpus_empty(works) && cpus_empty(slow) && cpus_empty(&set[GOVERNOR_UNKNOWN]))
		found_ok(a, "the frequency governor does no work on these CPUs");
}

static void check_frequency(struct audit *a)
{
	struct cpus set;
	long long lo, hi;
	char list[CPUS_LIST];
	bool known = false;

	cpus_clear(&set);
	each_target(a, cpu)
	{
		if (!cpu_number(a, cpu, "cpufreq/scaling_min_freq", &lo) ||
		    !cpu_number(a, cpu, "cpufreq/scaling_max_freq", &hi))
			continue;
		known = true;
		if (lo != hi)
			cpus_add(&set, cpu);
	}
	if (!known || cpus_empty(&set)) {
		found_ok(a, known ? "the frequency is fixed" : "no frequencies to choose from");
		return;
	}
	struct finding *f = info(a, "the frequency of cpu %s may change: a pause at each change",
				 cpus_format(&set, list, sizeof(list)));

	if (f)
		f->cpus = set;
	good(f, "scaling_min_freq equal to scaling_max_freq");
	words(f, "cpupower -c %s frequency-set -d FREQ -u FREQ", list);
}

/* Notes the CPUs on which this state is deep and in use, and its name if it is the deepest. */
static bool look_at_state(struct audit *a, int state, struct number_words *cpus, long long *most,
			  char *deepest, size_t len)
{
	long long latency, disabled;
	bool known = false;
	char path[64];

	each_target(a, cpu)
	{
		snprintf(path, sizeof(path), "cpuidle/state%d/latency", state);
		if (!cpu_number(a, cpu, path, &latency))
			continue;
		known = true;
		snprintf(path, sizeof(path), "cpuidle/state%d/disable", state);
		if (latency <= DEEP_US || (cpu_number(a, cpu, path, &disabled) && disabled))
			continue;
		words_add(cpus, cpu);
		snprintf(path, sizeof(path), "cpuidle/state%d/name", state);
		if (latency > *most) {
			*most = latency;
			cpu_text(a, cpu, path, deepest, len);
		}
	}
	words_end(cpus);
	return known;
}

static void check_idle(struct audit *a)
{
	char deepest[64] = "", path[64];
	struct text fix = {.audit = a}, back = {.audit = a};
	long long most = 0;
	bool known = false;

	for (int state = 0; state < 16; state++) {
		struct number_words cpus = {.text.audit = a};

		if (!look_at_state(a, state, &cpus, &most, deepest, sizeof(deepest)))
			break;
		known = true;
		if (!cpus.text.len)
			continue;
		snprintf(path, sizeof(path), "cpuidle/state%d/disable", state);
		on_each(&fix, cpus.text.at, "1", path);
		on_each(&back, cpus.text.at, "0", path);
		free(cpus.text.at);
	}
	if (fix.len) {
		struct finding *f =
			info(a, "some sleep states take long to leave: they matter when "
				"the workload blocks");

		value(f, "%s takes %lld us", deepest[0] ? deepest : "one of them", most);
		good(f, "%d us at most", DEEP_US);
		fix_take(f, &fix, &back);
	} else {
		found_ok(a,
			 known ? "no deep sleep state" : "the kernel chooses no sleep states here");
	}
}

static void check_pm_qos(struct audit *a)
{
	const struct fact *x = facts_find(a->facts, "dev/cpu_dma_latency");
	int32_t us;

	if (!x || x->err || x->len != sizeof(us)) {
		unknown(a, "the latency that somebody asks for", "dev/cpu_dma_latency");
		return;
	}
	memcpy(&us, x->text, sizeof(us));
	if (us >= 2000000000)
		words(info(a, "nobody asks for a low wake-up latency"),
		      "a workload that blocks can hold /dev/cpu_dma_latency open with 0 in it");
	else
		value(found_ok(a, "somebody asks for a low wake-up latency"), "%d us", us);
}

static void check_preference(struct audit *a)
{
	char text[64], odd[64] = "";
	struct cpus set;
	bool known = false;

	cpus_clear(&set);
	each_target(a, cpu)
	{
		if (!cpu_text(a, cpu, "cpufreq/energy_performance_preference", text, sizeof(text)))
			continue;
		known = true;
		if (strcmp(text, "performance") && strcmp(text, "0")) {
			cpus_add(&set, cpu);
			snprintf(odd, sizeof(odd), "%s", text);
		}
	}
	if (!known) {
		const struct fact *x =
			facts_find(a->facts, CPU_DIR "cpu*/cpufreq/energy_performance_preference");

		if (x && next_of(a, CPU_DIR "cpu*/cpufreq/scaling_driver", NULL))
			unknown(a, "the energy preference", x->name);
		else
			value(found_ok(a, "there is no energy preference here"), "absent");
		return;
	}
	if (cpus_empty(&set)) {
		found_ok(a, "the energy preference is performance");
		return;
	}
	struct finding *f = info(a, "the processor may save energy on %s", a->whose);

	if (f)
		f->cpus = set;
	value(f, "energy_performance_preference %s", odd);
	good(f, "performance");
	words(f, "echo performance > "
		 "/sys/devices/system/cpu/cpuN/cpufreq/energy_performance_preference");
}

const struct check checks_power[] = {
	{"governor", "H08", check_governor, NULL},
	{"frequency", "H08", check_frequency, NULL},
	{"idle_states", "H07", check_idle, NULL},
	{"pm_qos", "H07", check_pm_qos, NULL},
	{"energy_preference", "H08", check_preference, NULL},
	{0},
};
