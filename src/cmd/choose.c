/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the CPUs to measure, and the CPUs on which culprit itself runs. */
#include <sched.h>
#include <stdio.h>

#include "base/policy.h"
#include "base/say.h"
#include "cmd/measure.h"
#include "collect/facts.h"
#include "collect/host.h"
#include "collect/machine.h"
#include "model/place.h"

#define MEASURE_SHARED_PRIORITY 98 /* one more is left */

/* ---- what is measured ---- */

/* All that are online but those that culprit needs itself: one while it traces, unless -H says
 * which. */
static int choose_all(struct measure *m, const struct host *host)
{
	struct cpus rest;
	int left_out;

	m->cpus = host->online;
	cpus_sub(&m->cpus, &m->housekeeping);
	if (!cpus_empty(&m->housekeeping) || m->no_trace)
		return cpus_empty(&m->cpus) ? complain("-H leaves no CPU to measure") : 0;
	rest = host->online;
	host_reachable(&rest);
	cpus_sub(&rest, &host->isolated);
	left_out = cpus_next(cpus_empty(&rest) ? &host->online : &rest, 0);
	if (left_out >= 0)
		cpus_del(&m->cpus, left_out);
	if (cpus_empty(&m->cpus))
		return complain("there is only one CPU, and tracing needs it for culprit itself%s",
				m->must_trace ? "" : ": measure it with --no-trace");
	say("-c all: cpu %d is left out, for culprit itself%s", left_out,
	    m->must_trace ? "" : "; --no-trace measures it, too");
	return 0;
}

/* Chooses without -c: the isolated ones, or else the allowed ones but the lowest. */
static int choose_default(struct measure *m, const struct host *host)
{
	m->cpus = host->isolated;
	cpus_and(&m->cpus, &host->online);
	cpus_sub(&m->cpus, &m->housekeeping);
	if (!cpus_empty(&m->cpus))
		return 0;
	cpus_allowed(&m->cpus);
	cpus_sub(&m->cpus, &m->housekeeping);
	if (cpus_count(&m->cpus) > 1 && cpus_empty(&m->housekeeping))
		cpus_del(&m->cpus, cpus_next(&m->cpus, 0));
	else if (cpus_empty(&m->housekeeping) && !m->no_trace)
		cpus_clear(&m->cpus);
	if (cpus_empty(&m->cpus))
		return complain("only one CPU can be used, and it must stay free for housekeeping: "
				"culprit needs two");
	return 0;
}

int measure_online(const struct cpus *given, const struct cpus *online)
{
	struct cpus absent = *given;
	char list[256], all[256];

	if (cpus_empty(online))
		return complain("cannot read from /sys/devices/system/cpu/online which CPUs are "
				"online: is /sys mounted?");
	cpus_sub(&absent, online);
	if (cpus_empty(&absent))
		return 0;
	return complain("CPU %s does not exist or is offline: give CPUs of %s (-c)",
			cpus_format(&absent, list, sizeof(list)),
			cpus_format(online, all, sizeof(all)));
}

static int choose_targets(struct measure *m, const struct host *host)
{
	const bool all = cpus_count(&m->cpus) == CPUS_MAX;

	if (measure_online(all ? &host->online : &m->cpus, &host->online))
		return -1;
	if (all)
		return choose_all(m, host);
	return cpus_empty(&m->cpus) ? choose_default(m, host) : 0;
}

int measure_choose(const struct measure *m, const struct host *host, unsigned *cpu, uint32_t need,
		   uint32_t want)
{
	struct cpus from = m->cpus, allowed;
	uint32_t n = 0;

	if (cpus_empty(&from)) {
		from = host->isolated;
		cpus_and(&from, &host->online);
		/* The kernel does not allow the isolated ones to who did not ask for them. */
		cpus_allowed(&allowed);
		cpus_sub(&from, &m->housekeeping);
		cpus_sub(&allowed, &m->housekeeping);
		if (cpus_count(&from) < need)
			cpus_or(&from, &allowed);
		if (cpus_count(&from) > need && cpus_empty(&host->isolated) &&
		    cpus_empty(&m->housekeeping))
			cpus_del(&from, cpus_next(&from, 0));
	}
	for (int next = cpus_next(&from, 0); next >= 0 && n < want;
	     next = cpus_next(&from, next + 1))
		cpu[n++] = next;
	return n >= need ? (int)n
			 : complain("this needs %u CPUs, but only %u can be used: give more with "
				    "-c%s",
				    need, n,
				    cpus_empty(&m->housekeeping) ? "" : ", or fewer with -H");
}

/* ---- where culprit runs ---- */

/* Lets housekeeping run on the measured CPUs: above the samplers, and never without the time that
 * the kernel keeps for all others. */
static int share(struct measure *m, const struct host *host)
{
	FILE *f = fopen("/proc/sys/kernel/sched_rt_runtime_us", "re");
	long runtime = 0;

	if (f && fscanf(f, "%ld", &runtime) != 1)
		runtime = 0;
	if (f)
		fclose(f);
	m->housekeeping = host->online;
	m->shared = true;
	if (!policy_is_real_time(m->sched.policy))
		return 0;
	if (runtime < 0)
		return complain(
			"with -P on all online CPUs and sched_rt_runtime_us -1 nothing else could "
			"run, and the machine could hang: leave out -P, or set "
			"kernel.sched_rt_runtime_us to 950000");
	if (m->sched.priority > MEASURE_SHARED_PRIORITY)
		return complain("to measure all online CPUs, culprit needs a higher priority than "
				"its samplers: give -P a priority of at most %d",
				MEASURE_SHARED_PRIORITY);
	return 0;
}

/* Warns where the choice costs what is measured, or somebody else. */
static void warn_of(enum place place, const struct measure *m)
{
	char list[256];

	cpus_format(&m->housekeeping, list, sizeof(list));
	if (place == PLACE_SIBLING)
		say("culprit itself runs on cpu %s, which shares a core with a measured CPU and "
		    "slows it: all others are measured or isolated; -H chooses",
		    list);
	else if (place == PLACE_ISOLATED || place == PLACE_BOTH)
		say("culprit itself runs on the isolated cpu %s%s: no other is left; -H chooses",
		    list,
		    place == PLACE_BOTH ? ", which shares a core with a measured CPU and slows it"
					: "");
}

/* Samplers on one core slow each other. */
static void warn_of_siblings(const struct facts *layout, const struct cpus *targets)
{
	struct cpus second;
	char list[256];

	place_siblings(layout, targets, &second);
	if (!cpus_empty(&second))
		say("cpu %s shares its core with another measured CPU: their samplers slow each "
		    "other",
		    cpus_format(&second, list, sizeof(list)));
}

static int choose_place(struct measure *m, const struct host *host)
{
	struct cpus usable = host->online;
	struct facts layout = {0};
	char targets[256];
	enum place place;

	host_reachable(&usable);
	facts_layout(&layout, NULL); /* a file that cannot be read does not count */
	place = place_choose(&layout, &usable, &m->cpus, &m->housekeeping);
	if (place != PLACE_NONE) {
		warn_of(place, m);
		warn_of_siblings(&layout, &m->cpus);
	}
	facts_free(&layout);
	if (place != PLACE_NONE)
		return 0;
	if (m->may_share || m->no_trace)
		return share(m, host);
	return complain("-c names all CPUs that culprit may use (%s), and the machine could hang "
			"without one for housekeeping: leave one out of -c%s",
			cpus_format(&m->cpus, targets, sizeof(targets)),
			m->must_trace ? "" : ", or give --no-trace");
}

static int choose_housekeeping(struct measure *m, const struct host *host)
{
	struct cpus both = m->housekeeping, absent = m->housekeeping;
	char list[256];

	cpus_and(&both, &m->cpus);
	cpus_sub(&absent, &host->online);
	if (!cpus_empty(&both) && !m->shared)
		return complain("CPU %s cannot be measured and do housekeeping at once: give -c "
				"and -H different CPUs",
				cpus_format(&both, list, sizeof(list)));
	if (!cpus_empty(&absent))
		return complain("CPU %s does not exist or is offline: give others with -H",
				cpus_format(&absent, list, sizeof(list)));
	return cpus_empty(&m->housekeeping) ? choose_place(m, host) : 0;
}

/* ---- whether it can be measured here ---- */

int measure_may_trace(const char *otherwise)
{
	const char *where = host_foreign();
	char caps[64];

	if (where)
		return complain("tracing is not possible here: %s%s", where, otherwise);
	host_missing_caps(caps, sizeof(caps));
	if (caps[0])
		return complain("tracing needs %s: run with sudo%s", caps, otherwise);
	if (host_locked_down())
		return complain("the kernel is locked down (confidentiality), and refuses BPF to "
				"read it: boot with lockdown=integrity or without it%s",
				otherwise);
	return 0;
}

static int check_place(const struct measure *m, const struct host *host)
{
	const char *why = "";

	if (!m->no_trace &&
	    measure_may_trace(m->must_trace ? "" : ", or with --no-trace to measure without names"))
		return -1;
	if (!m->clock && !machine_counter_stable(host->clocksource, &why))
		return complain("the time-stamp counter is not stable here (%s): use --clock", why);
	return 0;
}

/* A thread with SCHED_DEADLINE that spins is throttled when its runtime is used up. */
static int check_policy(const struct measure *m)
{
	if (m->sched.policy != SCHED_DEADLINE || m->sleeps)
		return 0;
	return complain("-P d:RUNTIME:PERIOD is for samplers that sleep, as the kernel stops those "
			"that spin when RUNTIME is over: culprit sleep, or pingpong of two "
			"processes by a method that sleeps (-m futex, say)");
}

int measure_check(struct measure *m, const struct host *host)
{
	if (check_policy(m))
		return -1;
	return choose_targets(m, host) || choose_housekeeping(m, host) || check_place(m, host) ? -1
											       : 0;
}
