/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/host.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/line_of_file.h"
#include "base/units.h"
#include "collect/facts.h"
#include "collect/machine.h"
#include "model/isolation.h"

#define CPU_DIR "/sys/devices/system/cpu/"

static void read_cpus(const char *path, struct cpus *set)
{
	char line[CPUS_LIST + 1], why[128];

	cpus_clear(set);
	line_of_file(path, line, sizeof(line));
	cpus_parse(line, set, why, sizeof(why)); /* nohz_full may say "(null)": the empty set */
}

void host_isolated(struct cpus *set)
{
	struct facts f = {0};
	struct isolation now;

	facts_isolation(&f, NULL); /* CPUs without a readable list are not known to be isolated */
	isolation_of(&f, &now);
	facts_free(&f);
	*set = now.all;
}

/* Leaves it unknown where neither can be read. */
static void read_built(struct host *host)
{
	struct facts f = {0};
	const struct fact *nohz;
	const char *lines;

	facts_built(&f, NULL);
	nohz = facts_find(&f, "sys/devices/system/cpu/nohz_full");
	lines = facts_text(&f, "run/kconfig");
	host->no_nohz_full = nohz && nohz->err == -ENOENT && !cpus_empty(&host->online);
	if (lines && strlen(lines) < sizeof(host->kconfig))
		strcpy(host->kconfig, lines);
	facts_free(&f);
}

void host_read(struct host *host)
{
	struct utsname u;

	memset(host, 0, sizeof(*host));
	if (!uname(&u)) {
		snprintf(host->hostname, sizeof(host->hostname), "%s", u.nodename);
		snprintf(host->kernel, sizeof(host->kernel), "%s", u.release);
		snprintf(host->arch, sizeof(host->arch), "%s", u.machine);
	}
	machine_cpu_model(host->cpu_model, sizeof(host->cpu_model));
	machine_hypervisor(host->hypervisor, sizeof(host->hypervisor));
	line_of_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		     host->clocksource, sizeof(host->clocksource));
	line_of_file("/proc/cmdline", host->cmdline, sizeof(host->cmdline));
	host_isolated(&host->isolated);
	read_cpus(CPU_DIR "nohz_full", &host->nohz_full);
	read_cpus(CPU_DIR "online", &host->online);
	read_built(host);
}

void host_reachable(struct cpus *set)
{
	struct cpus before;

	cpus_allowed(&before);
	if (cpus_run_on(set))
		cpus_clear(set);
	else
		cpus_allowed(set);
	cpus_run_on(&before);
}

void host_measurable(struct cpus *set)
{
	struct cpus allowed;

	host_isolated(set);
	host_reachable(set);
	cpus_allowed(&allowed);
	cpus_or(set, &allowed);
}

void host_online(struct cpus *online)
{
	read_cpus(CPU_DIR "online", online);
	if (cpus_empty(online))
		memset(online, 0xff, sizeof(*online));
}

void host_possible(struct cpus *possible)
{
	read_cpus(CPU_DIR "possible", possible);
	if (cpus_empty(possible))
		host_online(possible);
}

void host_gone(const struct cpus *wanted, uint64_t after_ns, char *text, size_t len)
{
	struct cpus gone = *wanted, online;
	char list[64], after[32];

	host_online(&online);
	cpus_sub(&gone, &online);
	if (!cpus_empty(&gone) && !text[0])
		snprintf(text, len, "cpu%s %s went offline, after %s", plural(cpus_count(&gone)),
			 cpus_format(&gone, list, sizeof(list)),
			 format_ns(after_ns, after, sizeof(after)));
}

/* The step that a CPU's hotplug is ("state") or is to go ("target"): the same numbers for all CPUs
 * that are whole and stay so. */
static void read_hotplug(unsigned cpu, const char *what, char *step, size_t len)
{
	char path[64];

	snprintf(path, sizeof(path), CPU_DIR "cpu%u/hotplug/%s", cpu, what);
	line_of_file(path, step, len);
}

/* True when a CPU is whole, as this one is, and no step is due. Before Linux 6.2 the CPU that has
 * booted has a target of 0 for ever. */
static bool is_whole(unsigned cpu)
{
	char state[16], target[16], here[16];

	read_hotplug(cpu, "state", state, sizeof(state));
	read_hotplug(cpu, "target", target, sizeof(target));
	read_hotplug(sched_getcpu(), "state", here, sizeof(here));
	return !strcmp(state, here) && (!strcmp(target, state) || (!cpu && !strcmp(target, "0")));
}

bool host_is_online(unsigned cpu)
{
	struct cpus online;

	host_online(&online);
	/* One that comes up is in the mask before threads may be moved there (kernel/cpu.c:
	 * CPUHP_AP_ONLINE, CPUHP_AP_ACTIVE), one that goes down stays there for a while. */
	return cpus_has(&online, cpu) && is_whole(cpu);
}

/* True when the process is in the machine's own namespace of this kind, or the kernel has none of
 * this kind. The numbers of the first namespaces are fixed (include/uapi/linux/nsfs.h). */
static bool is_initial(const char *who, const char *kind, unsigned inode)
{
	char path[64], target[64], want[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", who, kind);
	snprintf(want, sizeof(want), "%s:[%u]", kind, inode);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return true;
	target[n] = 0;
	return !strcmp(target, want);
}

#define TIME_NAMESPACE 4026531834U
#define PID_NAMESPACE  4026531836U

int64_t host_clock_shift(const char *who, const char *clock)
{
	long long s, ns, shift = 0;
	char path[64], line[128], name[16];
	FILE *f;

	if (is_initial(who, "time", TIME_NAMESPACE))
		return 0;
	snprintf(path, sizeof(path), "/proc/%s/timens_offsets", who);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%15s %lld %lld", name, &s, &ns) == 3 && !strcmp(name, clock))
			shift = s * 1000000000 + ns;
	if (f)
		fclose(f);
	return shift;
}

bool host_network_settings(void)
{
	/* only the first namespace has those that hold for all (net/core/sysctl_net_core.c) */
	return !access("/proc/sys/net/core/netdev_budget", F_OK);
}

bool host_network_interfaces(void)
{
	struct stat here, first;

	/* Each namespace that /sys was mounted in has a file system of its own. */
	if (is_initial("self", "pid", PID_NAMESPACE) && !stat("/proc/1/root/sys", &first) &&
	    !stat("/sys", &here))
		return here.st_dev == first.st_dev;
	return host_network_settings();
}

const char *host_foreign(void)
{
	if (access("/proc/self", F_OK))
		return "/proc is of another PID namespace: run culprit in the machine's own";
	if (!is_initial("self", "pid", PID_NAMESPACE))
		return "this is the PID namespace of a container: run culprit in the machine's own "
		       "(docker run --pid=host)";
	if (!is_initial("self", "user", 4026531837U))
		return "capabilities in this user namespace are not enough: run culprit in the "
		       "machine's own";
	if (host_clock_shift("self", "monotonic"))
		return "CLOCK_MONOTONIC is shifted in this time namespace: run culprit in the "
		       "machine's own";
	return NULL;
}

bool host_locked_down(void)
{
	char line[128];

	line_of_file("/sys/kernel/security/lockdown", line, sizeof(line));
	return strstr(line, "[confidentiality]");
}

enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

unsigned long long host_own_caps(void)
{
	char line[256];
	unsigned long long caps = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "CapEff: %llx", &caps);
	if (f)
		fclose(f);
	return caps;
}

bool host_preempted(pid_t pid, uint64_t *times)
{
	char path[64], line[256];
	unsigned long long n;
	bool known = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = pid > 0 ? fopen(path, "re") : NULL;
	while (f && !known && fgets(line, sizeof(line), f))
		known = sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1;
	if (f)
		fclose(f);
	if (known)
		*times = n;
	return known;
}

bool host_is_admin(void)
{
	return host_own_caps() >> SYS_ADMIN & 1;
}

/* Rights are asked before the map. */
bool host_maps_are_free(void)
{
	uint64_t value;

	return bpf_map_lookup_elem(-1, &(uint32_t){0}, &value) && errno == EBADF;
}

void host_missing_caps(char *buf, size_t len)
{
	unsigned long long caps = host_own_caps();

	buf[0] = 0;
	if (caps >> SYS_ADMIN & 1)
		return;
	snprintf(buf, len, "%s%s%s", caps >> BPF & 1 ? "" : "CAP_BPF",
		 (caps >> BPF | caps >> PERFMON) & 1 ? "" : ", ",
		 caps >> PERFMON & 1 ? "" : "CAP_PERFMON");
}
