/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "collect/facts_read.h"
#include "collect/host.h"

struct source_row {
	const char *glob;
	/* MANY: one for each interrupt, which may be more than there is room for: read last */
	enum { PLAIN, INTERFACES, NETWORK, DISTURBS, MANY } how;
};

#define CPU_DIR "sys/devices/system/cpu/"
#define KERNEL  "proc/sys/kernel/"
#define VM      "proc/sys/vm/"
#define MM      "sys/kernel/mm/"
#define TRACING "sys/kernel/tracing/"
#define WQ      "sys/devices/virtual/workqueue/"
#define DEBUG   "sys/kernel/debug/"
#define MCE     "sys/devices/system/machinecheck/machinecheck0/"
#define CLOCK   "sys/devices/system/clocksource/clocksource0/"

static const struct source_row rows[] = {
	/* isolation */
	{"proc/cmdline", PLAIN},
	{KERNEL "osrelease", PLAIN},
	{CPU_DIR "isolated", PLAIN},
	{CPU_DIR "nohz_full", PLAIN},
	{CPU_DIR "online", PLAIN},
	{CPU_DIR "possible", PLAIN},
	{"sys/fs/cgroup/cpuset.cpus.isolated", PLAIN},
	{"sys/fs/cgroup/unified/cpuset.cpus.isolated", PLAIN},
	{"sys/kernel/rcu_expedited", PLAIN},
	{"sys/kernel/rcu_normal", PLAIN},
	/* interrupts: /sys/kernel/irq has the names and counts of /proc/interrupts, one file
	 * each */
	{"proc/irq/default_smp_affinity", PLAIN},
	{"proc/irq/*/smp_affinity_list", MANY},
	{"proc/irq/*/effective_affinity_list", MANY},
	{"sys/kernel/irq/*/actions", MANY},
	{"sys/kernel/irq/*/chip_name", MANY},
#if !defined(__x86_64__) /* elsewhere it tells which ones each CPU has for itself */
	{"sys/kernel/irq/*/hwirq", MANY},
#endif
	{"sys/kernel/irq/*/per_cpu_count", MANY},
	{DEBUG "irq/irqs/*", MANY},
	{"etc/default/irqbalance", PLAIN},
	{"etc/sysconfig/irqbalance", PLAIN},
	{"proc/softirqs", PLAIN},
	{"sys/class/net/*/queues/*/rps_cpus", INTERFACES},
	{"sys/class/net/*/threaded", INTERFACES},
	{"sys/class/net/*/device/numa_node", INTERFACES},
	{"proc/sys/net/core/rps_default_mask", NETWORK},
	{"sys/block/*/queue/rq_affinity", PLAIN},
	/* workqueues, services */
	{WQ "cpumask", PLAIN},
	{WQ "cpumask_isolated", PLAIN},
	{WQ "cpumask_requested", PLAIN},
	{WQ "*/cpumask", PLAIN},
	{"sys/module/workqueue/parameters/power_efficient", PLAIN},
	{"etc/systemd/system.conf", PLAIN},
	{"etc/systemd/system.conf.d/*.conf", PLAIN},
	{"etc/tuned/active_profile", PLAIN},
	/* memory */
	{VM "stat_interval", PLAIN},
	{VM "swappiness", PLAIN},
	{VM "compaction_proactiveness", PLAIN},
	{VM "compact_unevictable_allowed", PLAIN},
	{VM "dirty_writeback_centisecs", PLAIN},
	{MM "transparent_hugepage/enabled", PLAIN},
	{MM "transparent_hugepage/defrag", PLAIN},
	{MM "transparent_hugepage/shmem_enabled", PLAIN},
	{MM "transparent_hugepage/hugepages-*/enabled", PLAIN},
	{MM "transparent_hugepage/hugepages-*/shmem_enabled", PLAIN},
	{MM "transparent_hugepage/khugepaged/defrag", PLAIN},
	{MM "transparent_hugepage/khugepaged/scan_sleep_millisecs", PLAIN},
	{MM "hugepages/*/nr_hugepages", PLAIN},
	{MM "ksm/run", PLAIN},
	{"proc/swaps", PLAIN},
	{"sys/module/zswap/parameters/enabled", PLAIN},
	{"sys/module/kfence/parameters/sample_interval", PLAIN},
	/* scheduler, watchdogs, clocks */
	{KERNEL "numa_balancing", PLAIN},
	{KERNEL "watchdog", PLAIN},
	{KERNEL "soft_watchdog", PLAIN},
	{KERNEL "nmi_watchdog", PLAIN},
	{KERNEL "watchdog_cpumask", PLAIN},
	{KERNEL "watchdog_thresh", PLAIN},
	{KERNEL "hung_task_all_cpu_backtrace", PLAIN},
	{KERNEL "softlockup_all_cpu_backtrace", PLAIN},
	{KERNEL "hardlockup_all_cpu_backtrace", PLAIN},
	{KERNEL "oops_all_cpu_backtrace", PLAIN},
	{KERNEL "sched_rt_runtime_us", PLAIN},
	{KERNEL "sched_rt_period_us", PLAIN},
	{KERNEL "timer_migration", PLAIN},
	{KERNEL "split_lock_mitigate", PLAIN},
	{DEBUG "sched/fair_server/*/runtime", PLAIN},
	{DEBUG "sched/features", PLAIN},
	{DEBUG "sched_features", PLAIN},
	{CLOCK "current_clocksource", PLAIN},
	{CLOCK "available_clocksource", PLAIN},
	{"proc/stat", PLAIN},
	{"proc/loadavg", PLAIN},
	{"proc/pressure/cpu", PLAIN},
	/* hardware */
	{"proc/cpuinfo", PLAIN},
	{"sys/hypervisor/type", PLAIN},
	{"proc/device-tree/compatible", PLAIN},
	{"proc/device-tree/hypervisor/compatible", PLAIN},
	{"sys/class/dmi/id/product_name", PLAIN},
	{"sys/class/dmi/id/sys_vendor", PLAIN},
	{CPU_DIR "smt/active", PLAIN},
	{CPU_DIR "smt/control", PLAIN},
	{CPU_DIR "cpu*/topology/thread_siblings_list", PLAIN},
	{CPU_DIR "cpu*/topology/physical_package_id", PLAIN},
	{CPU_DIR "cpu*/cache/index3/shared_cpu_list", PLAIN},
	{"sys/devices/system/node/node*/cpulist", PLAIN},
	{CPU_DIR "vulnerabilities/*", PLAIN},
	{CPU_DIR "cpu*/cpufreq/scaling_driver", PLAIN},
	{CPU_DIR "cpu*/cpufreq/scaling_governor", PLAIN},
	{CPU_DIR "cpu*/cpufreq/scaling_min_freq", PLAIN},
	{CPU_DIR "cpu*/cpufreq/scaling_max_freq", PLAIN},
	{CPU_DIR "intel_pstate/status", PLAIN},
	{CPU_DIR "intel_pstate/no_turbo", PLAIN},
	{CPU_DIR "cpufreq/boost", PLAIN},
	{CPU_DIR "cpuidle/current_driver", PLAIN},
	{CPU_DIR "cpuidle/current_governor_ro", PLAIN},
	{CPU_DIR "cpu*/cpuidle/state*/name", PLAIN},
	{CPU_DIR "cpu*/cpuidle/state*/latency", PLAIN},
	{CPU_DIR "cpu*/cpuidle/state*/disable", PLAIN},
	{CPU_DIR "cpu*/power/pm_qos_resume_latency_us", PLAIN},
	{"dev/cpu_dma_latency", PLAIN},
	{CPU_DIR "cpu*/microcode/version", PLAIN},
	{CPU_DIR "cpu*/thermal_throttle/core_throttle_count", PLAIN},
	{MCE "check_interval", PLAIN},
	{MCE "ignore_ce", PLAIN},
	{MCE "cmci_disabled", PLAIN},
	{"sys/module/edac_core/parameters/edac_mc_poll_msec", PLAIN},
	{"sys/devices/system/edac/mc/mc*/ce_count", PLAIN},
	{"sys/module/block/parameters/events_dfl_poll_msecs", PLAIN},
	{"sys/kernel/iommu_groups/*/type", PLAIN},
	/* tracing, access */
	{"proc/mounts", PLAIN},
	{"sys/kernel/livepatch/*/transition", PLAIN},
	{TRACING "current_tracer", PLAIN},
	{TRACING "set_event", PLAIN},
	{TRACING "kprobe_events", PLAIN},
	{TRACING "uprobe_events", PLAIN},
	{TRACING "tracing_on", PLAIN},
	{TRACING "instances/*/current_tracer", PLAIN},
	{TRACING "instances/*/set_event", PLAIN},
	{KERNEL "bpf_stats_enabled", PLAIN},
	{KERNEL "perf_event_paranoid", PLAIN},
	{KERNEL "kptr_restrict", PLAIN},
	{KERNEL "unprivileged_bpf_disabled", PLAIN},
	{"sys/kernel/security/lockdown", PLAIN},
	/* The driver asks the CPU itself (rdmsr_on_cpu: intel_pstate.c, amd-pstate.c, intel_epb.c).
	 */
	{CPU_DIR "cpu*/cpufreq/energy_performance_preference", DISTURBS},
	{CPU_DIR "cpu*/power/energy_perf_bias", DISTURBS},
};

/* Files whose reading runs work on all CPUs, sends them IPIs, or worse (mm/vmstat.c:
 * vmstat_refresh; fs/drop_caches.c). No glob above names one; this list keeps it so. */
static const char *const never[] = {
	VM "stat_refresh",
	VM "compact_memory",
	VM "drop_caches",
	"proc/sysrq-trigger",
	CPU_DIR "cpu*/cpufreq/cpuinfo_cur_freq",
	"sys/class/hwmon/*",
	"sys/class/powercap/*",
	"dev/cpu/*",
	"sys/kernel/debug/tracing/*",
};

bool facts_never(const char *path)
{
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (!fnmatch(never[i], path, 0))
			return true;
	return false;
}

/* ---- walking a glob ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Entries of a directory that match one part of a glob, sorted. Returns how many, or -errno. */
static int entries(const struct facts_in *in, const char *path, const char *part, char ***names)
{
	int fd = openat(in->root, path[0] ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0,
	    room = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	*names = NULL;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || fnmatch(part, entry->d_name, 0))
			continue;
		if (n == room) {
			char **more =
				realloc(*names, (room = room ? 2 * room : 32) * sizeof(*more));

			if (!more)
				break;
			*names = more;
		}
		if (!((*names)[n] = strdup(entry->d_name)))
			break;
		n++;
	}
	closedir(dir);
	if (n)
		qsort(*names, n, sizeof(**names), by_name);
	return n;
}

/* Walks a glob. `path`: the part that is resolved; `glob`: the rest, without a slash in front. A
 * directory that may not be entered is a fact of its own. */
static int walk(struct facts_in *in, const char *path, const char *glob)
{
	size_t plain = strcspn(glob, "*"), len;
	char here[FACT_NAME_MAX], part[NAME_MAX + 1], **names;
	int n, err = 0;

	if (!glob[plain]) {
		snprintf(here, sizeof(here), "%s%s", path, glob);
		return facts_read(in, here, !path[0]);
	}
	while (plain && glob[plain - 1] != '/')
		plain--;
	snprintf(here, sizeof(here), "%s%.*s", path, (int)plain, glob);
	len = strcspn(glob + plain, "/");
	snprintf(part, sizeof(part), "%.*s", (int)len, glob + plain);
	n = entries(in, here, part, &names);
	if (n == -ENOENT || n == -ENOTDIR)
		return 0;
	if (n < 0)
		return facts_put(in, here, n, NULL, 0);
	for (int i = 0; i < n; i++) {
		char *below = NULL;

		if (!err && asprintf(&below, "%s%s", here, names[i]) < 0)
			err = -ENOMEM;
		else if (!err && !glob[plain + len])
			err = facts_read(in, below, false);
		else if (!err)
			err = walk(in, below, glob + plain + len);
		free(below);
		free(names[i]);
	}
	free(names);
	return err;
}

/* Reads these rows; with an error as why, notes that instead. */
static int take_rows(struct facts_in *in, int how, int why)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++)
		if ((int)rows[i].how == how)
			err = facts_left_out(in, rows[i].glob,
					     why ? facts_add(in->facts, rows[i].glob, why, NULL, 0)
						 : walk(in, "", rows[i].glob));
	return err;
}

#define ISOLATED "cpuset.cpus.isolated"

/* Searches cgroups for partitions where the kernel has no list of them. */
static int take_isolation(struct facts_in *in)
{
	static const char *const lists[] = {"sys/fs/cgroup/" ISOLATED,
					    "sys/fs/cgroup/unified/" ISOLATED};
	int err = facts_read(in, CPU_DIR "isolated", true);
	bool listed = false;

	for (size_t i = 0; i < 2 && !err; i++) {
		err = facts_read(in, lists[i], true);
		listed |= facts_text(in->facts, lists[i]) != NULL;
	}
	return err || listed ? err : facts_partitions(in);
}

static int take_layout(struct facts_in *in)
{
	int err = take_isolation(in);

	if (!err)
		err = walk(in, "", CPU_DIR "cpu*/topology/thread_siblings_list");
	return err ? err : walk(in, "", "sys/devices/system/node/node*/cpulist");
}

static int take_built(struct facts_in *in)
{
	int err = facts_read(in, KERNEL "osrelease", true);

	if (!err)
		err = facts_read(in, CPU_DIR "nohz_full", true);
	return err ? err : facts_config(in);
}

static int take_below(struct facts *facts, const char *root, int (*take)(struct facts_in *in))
{
	struct facts_in in = {.facts = facts, .live = !root || !strcmp(root, "/")};
	int err;

	in.root = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (in.root < 0)
		return -errno;
	err = take(&in);
	close(in.root);
	return err;
}

int facts_isolation(struct facts *facts, const char *root)
{
	return take_below(facts, root, take_isolation);
}

int facts_cpusets(struct facts *facts, const char *root)
{
	return take_below(facts, root, facts_partitions);
}

int facts_layout(struct facts *facts, const char *root)
{
	return take_below(facts, root, take_layout);
}

int facts_built(struct facts *facts, const char *root)
{
	return take_below(facts, root, take_built);
}

int facts_take(struct facts *facts, const struct facts_options *o)
{
	struct facts_in in = {.facts = facts, .live = !o->root || !strcmp(o->root, "/")};
	uint64_t lent = in.live ? confine_raise(RIGHTS_TO_READ) : 0;
	int err;

	if (o->from && !cpus_empty(o->from))
		cpus_run_on(o->from);
	in.root = open(o->root ? o->root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = in.root < 0 ? -errno : take_rows(&in, PLAIN, 0);
	if (!err)
		err = take_rows(&in, INTERFACES,
				!in.live || host_network_interfaces() ? 0 : FACT_FOREIGN);
	if (!err)
		err = take_rows(&in, NETWORK,
				!in.live || host_network_settings() ? 0 : FACT_FOREIGN);
	if (!err)
		err = facts_derive(&in);
	if (!err)
		err = take_rows(&in, DISTURBS, o->deep ? 0 : FACT_NOT_TAKEN);
	if (!err)
		err = take_rows(&in, MANY, 0);
	if (in.root >= 0)
		close(in.root);
	confine_lower(lent);
	return err ? err : in.left_out ? -ENOSPC : 0;
}

const char *facts_error(int err)
{
	return err == -ENOSPC ? "they are too many" : strerror(-err);
}
