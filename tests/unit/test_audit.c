/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit's checks over invented facts: a machine where cpu 3 of four is as quiet as possible,
 * which satisfies every check; one step off the right way for each check; then facts that are
 * hostile, unreadable or missing. */
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

#include "audit/audit.h"
#include "audit/conclude.h"
#include "audit/book.h"

#define CPU          "sys/devices/system/cpu/"
#define KERNEL       "proc/sys/kernel/"
#define VM           "proc/sys/vm/"
#define MM           "sys/kernel/mm/"
#define WQ           "sys/devices/virtual/workqueue/"
#define TASKS        "run/tasks/0000"
#define CLOCK        "sys/devices/system/clocksource/clocksource0/"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define KTHREAD "200040"  /* PF_KTHREAD and something else */
#define BOUND   "4200040" /* with PF_NO_SETAFFINITY */
#define GOOD_TASKS                                                                                 \
	"1 1 S 400100 0 0 0 0-2 systemd\n2 2 S " KTHREAD " 1 0 0 0-2 kthreadd\n"                   \
	"17 17 S " KTHREAD " 1 0 0 0-2 rcu_preempt\n30 30 S " BOUND " 3 1 99 3 migration/3\n"      \
	"31 31 S " KTHREAD " 0 0 0 0-2 rcuop/3\n812 812 R 400000 3 1 50 3 workload\n"

struct named {
	const char *name, *text;
};

static const struct named good_world[] = {
	{"proc/cmdline",
	 "quiet isolcpus=managed_irq,domain,3 nohz_full=3 irqaffinity=0-2 -- isolcpus=7\n"},
	{"run/dmesg", "[    0.000000] NO_HZ: Full dynticks CPUs: 3.\n"},
	{"run/kconfig",
	 "CONFIG_NO_HZ_FULL=y\nCONFIG_HZ=250\nCONFIG_CPU_ISOLATION=y\nCONFIG_RCU_NOCB_CPU=y\n"
	 "# CONFIG_KFENCE_STATIC_KEYS is not set\n"},
	{CPU "online", "0-3\n"},
	{CPU "possible", "0-3\n"},
	{CPU "isolated", "3\n"},
	{CPU "nohz_full", "3\n"},
	{"sys/fs/cgroup/cpuset.cpus.isolated", "\n"},
	{"sys/kernel/rcu_expedited", "0\n"},
	{"sys/kernel/rcu_normal", "1\n"},
	{"proc/mounts",
	 "none /sys/kernel/debug debugfs rw 0 0\nnone /sys/kernel/tracing tracefs rw 0 0\n"
	 "none /sys/kernel/security securityfs rw 0 0\n"},
	{"proc/irq/default_smp_affinity", "7\n"},
	{"proc/irq/36/smp_affinity_list", "0-2\n"},
	{"proc/irq/36/effective_affinity_list", "1\n"},
	{"sys/kernel/irq/36/actions", "virtio1-req.0\n"},
	{"sys/kernel/irq/36/per_cpu_count", "5,123,0,0\n"},
	{"sys/kernel/debug/irq/irqs/36", "dstate: 0x1400200\n            IRQD_ACTIVATED\n"},
	{"proc/softirqs", "                    CPU0       CPU1       CPU2       CPU3\n"
			  "          HI:          1          0          0          0\n"
			  "       TIMER:      17404      12345          1          2\n"},
	{"sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"},
	{"proc/sys/net/core/rps_default_mask", "0\n"},
	{"sys/block/sda/queue/rq_affinity", "1\n"},
	{WQ "cpumask", "7\n"},
	{WQ "cpumask_isolated", "0\n"},
	{WQ "writeback/cpumask", "7\n"},
	{"sys/module/workqueue/parameters/power_efficient", "Y\n"},
	{"etc/tuned/active_profile", "cpu-partitioning\n"},
	{VM "stat_interval", "120\n"},
	{VM "compaction_proactiveness", "0\n"},
	{VM "compact_unevictable_allowed", "0\n"},
	{VM "dirty_writeback_centisecs", "500\n"},
	{MM "transparent_hugepage/enabled", "always madvise [never]\n"},
	{MM "transparent_hugepage/shmem_enabled", "always within_size advise [never] deny force\n"},
	{MM "transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n"},
	{MM "transparent_hugepage/khugepaged/scan_sleep_millisecs", "10000\n"},
	{MM "hugepages/hugepages-2048kB/nr_hugepages", "64\n"},
	{MM "ksm/run", "0\n"},
	{"proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"},
	{"sys/module/zswap/parameters/enabled", "N\n"},
	{"sys/module/kfence/parameters/sample_interval", "100\n"},
	{KERNEL "numa_balancing", "0\n"},
	{KERNEL "watchdog", "1\n"},
	{KERNEL "soft_watchdog", "1\n"},
	{KERNEL "nmi_watchdog", "0\n"},
	{KERNEL "watchdog_cpumask", "0-2\n"},
	{KERNEL "hung_task_all_cpu_backtrace", "0\n"},
	{KERNEL "sched_rt_runtime_us", "950000\n"},
	{KERNEL "sched_rt_period_us", "1000000\n"},
	{KERNEL "timer_migration", "1\n"},
	{KERNEL "bpf_stats_enabled", "0\n"},
	{KERNEL "kptr_restrict", "1\n"},
	{"sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n"},
	{"sys/kernel/debug/sched/fair_server/cpu3/runtime", "0\n"},
	{"sys/kernel/debug/sched/features", "PLACE_LAG NO_HRTICK NO_HRTICK_DL\n"},
	{"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
	{"sys/devices/system/clocksource/clocksource0/available_clocksource",
	 "tsc hpet acpi_pm \n"},
	{"proc/stat",
	 "cpu  1 2 3 4 5 6 7 80 9 10\ncpu0 1 2 3 4 5 6 7 80 9 10\ncpu3 1 2 3 4 5 6 7 0 9 10\n"},
	{"proc/loadavg", "1.02 0.9 0.8 1/200 4242\n"},
	{"proc/cpuinfo",
	 "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc tsc_adjust tsc_reliable\n\n"},
	{CPU "cpu3/topology/thread_siblings_list", "3\n"},
	{CPU "cpu3/topology/physical_package_id", "0\n"},
	{CPU "cpu3/cache/index3/shared_cpu_list", "0-3\n"},
	{"sys/devices/system/node/node0/cpulist", "0-3\n"},
	{CPU "cpu3/cpufreq/scaling_driver", "intel_pstate\n"},
	{CPU "intel_pstate/status", "active\n"},
	{CPU "cpu3/cpufreq/scaling_governor", "powersave\n"}, /* the hardware chooses there */
	{CPU "cpu3/cpufreq/scaling_min_freq", "3000000\n"},
	{CPU "cpu3/cpufreq/scaling_max_freq", "3000000\n"},
	{CPU "cpu3/cpufreq/energy_performance_preference", "performance\n"},
	{CPU "cpu3/cpuidle/state0/name", "POLL\n"},
	{CPU "cpu3/cpuidle/state0/latency", "0\n"},
	{CPU "cpu3/cpuidle/state1/name", "C6\n"},
	{CPU "cpu3/cpuidle/state1/latency", "133\n"},
	{CPU "cpu3/cpuidle/state1/disable", "1\n"},
	{CPU "cpu0/microcode/version", "0x2b0005c0\n"},
	{CPU "cpu3/microcode/version", "0x2b0005c0\n"},
	{CPU "cpu3/thermal_throttle/core_throttle_count", "0\n"},
	{CPU "vulnerabilities/meltdown", "Not affected\n"},
	{"sys/devices/system/machinecheck/machinecheck0/check_interval", "300\n"},
	{"sys/module/block/parameters/events_dfl_poll_msecs", "0\n"},
	{"sys/devices/system/edac/mc/mc0/ce_count", "0\n"},
	{"sys/module/edac_core/parameters/edac_mc_poll_msec", "60000\n"},
	{"sys/kernel/iommu_groups/1/type", "identity\n"},
	{"sys/kernel/tracing/current_tracer", "nop\n"},
	{"sys/kernel/tracing/set_event", "\n"},
	{"sys/kernel/security/lockdown", "[none] integrity confidentiality\n"},
	{TASKS, GOOD_TASKS},
};

static void put(struct facts *f, const char *name, const char *text)
{
	assert_int_equal(text ? facts_add(f, name, 0, text, strlen(text))
			      : facts_add(f, name, -ENOENT, NULL, 0),
			 0);
}

static void good(struct facts *f)
{
	for (size_t i = 0; i < COUNT(good_world); i++)
		put(f, good_world[i].name, good_world[i].text);
}

static struct findings check(const struct facts *f, unsigned cpu)
{
	struct audit_options o = {0};
	struct findings out = {0};

	cpus_add(&o.targets, cpu);
	assert_int_equal(audit(f, &o, &out), 0);
	for (uint32_t i = 0; i < out.count; i++)
		assert_non_null(out.row[i].title);
	return out;
}

/* NULL: none. */
static void assert_text(const char *text, const char *want)
{
	assert_int_equal(!text, !want);
	if (text)
		assert_string_equal(text, want);
}

/* The row of highest level with this id. */
static const struct finding *find(const struct findings *f, const char *id)
{
	const struct finding *best = NULL;

	for (uint32_t i = 0; i < f->count; i++)
		if (!strcmp(f->row[i].id, id) && (!best || f->row[i].level > best->level))
			best = &f->row[i];
	return best;
}

static void test_quiet(void **state)
{
	struct facts f = {0};
	struct findings out;

	(void)state;
	good(&f);
	out = check(&f, 3);
	for (uint32_t i = 0; i < out.count; i++)
		if (out.row[i].level >= FINDING_WARN || !out.row[i].known)
			fail_msg("%s: %s", out.row[i].id, out.row[i].title);
	assert_int_equal(findings_count(&out, FINDING_FAIL), 0);
	findings_free(&out);
	facts_free(&f);
}

struct step {
	const char *id;
	struct named change[5]; /* text NULL: the file is absent */
	enum finding_level level;
	const char *title, *fix, *undo; /* parts of them; NULL: any; fix "": none */
};

static const struct step steps[] = {
	/* isolation, and its traps */
	{"isolated",
	 {{CPU "isolated", "\n"}, {"proc/cmdline", "isolcpus=managed_irq,3 nohz_full=3\n"}},
	 FINDING_FAIL,
	 "isolcpus=managed_irq,3 has flags but no 'domain'",
	 "isolcpus=managed_irq,domain,3",
	 NULL},
	{"isolated",
	 {{CPU "isolated", "\n"}, {"proc/cmdline", "nohz_full=3\n"}},
	 FINDING_FAIL,
	 "nohz_full without isolcpus",
	 "isolcpus=managed_irq,domain,3",
	 NULL},
	{"isolated",
	 {{CPU "isolated", "1\n"}, {CPU "nohz_full", "1\n"}},
	 FINDING_FAIL,
	 "cpu 3 is not isolated",
	 NULL,
	 NULL},
	{"isolated",
	 {{CPU "isolated", "\n"}, {"sys/fs/cgroup/cpuset.cpus.isolated", "2-3\n"}},
	 FINDING_OK,
	 "isolated",
	 NULL,
	 NULL},
	{"cpuset_isolated",
	 {{"sys/fs/cgroup/cpuset.cpus.isolated", "2-3\n"}},
	 FINDING_INFO,
	 "cpuset",
	 NULL,
	 NULL},
	{"cpuset_partition",
	 {{"sys/fs/cgroup/rt.slice/cpuset.cpus.partition",
	   "isolated invalid (Cpu list in cpuset.cpus not exclusive)\n"}},
	 FINDING_FAIL,
	 "/sys/fs/cgroup/rt.slice is not in force",
	 "exclusive",
	 NULL},
	{"cpuset_partition",
	 {{"sys/fs/cgroup/a/cpuset.cpus.partition", "isolated invalid (x)\n"},
	  {"sys/fs/cgroup/a/b/cpuset.cpus.partition", "root invalid (y)\n"},
	  {"sys/fs/cgroup/c/cpuset.cpus.partition", "isolated invalid (z)\n"}},
	 FINDING_FAIL,
	 "3 cpuset partitions are not in force",
	 "exclusive",
	 NULL},
	{"cpuset_partition",
	 {{"sys/fs/cgroup/a/b/cpuset.cpus.partition", "isolated\n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"nohz_full",
	 {{CPU "nohz_full", "(null)\n"}},
	 FINDING_FAIL,
	 "250 times a second",
	 "nohz_full=3",
	 NULL},
	{"nohz_full",
	 {{CPU "nohz_full", NULL},
	  {"run/kconfig", "CONFIG_HZ=1000\n# CONFIG_NO_HZ_FULL is not set\n"}},
	 FINDING_FAIL,
	 "1000 times a second",
	 "CONFIG_NO_HZ_FULL=y",
	 NULL},
	{"lists_equal",
	 {{CPU "nohz_full", "2-3\n"}},
	 FINDING_WARN,
	 "cpu 2 is in only one",
	 NULL,
	 NULL},
	{"lists_equal",
	 {{CPU "isolated", "0,3\n"}},
	 FINDING_OK,
	 "but for the boot CPU, which cannot be nohz_full",
	 NULL,
	 NULL},
	{"lists_equal",
	 {{CPU "isolated", "0,2-3\n"}, {KERNEL "osrelease", "6.12.9\n"}},
	 FINDING_WARN,
	 "cpu 2 is in only one",
	 "isolcpus=managed_irq,domain,0,2-3 nohz_full=2-3",
	 NULL},
	{"boot_cpu", {{CPU "online", "3\n"}}, FINDING_WARN, "boot CPU", NULL, NULL},
	{"dmesg",
	 {{"run/dmesg", "[    0.0] Housekeeping: nohz_full= must match isolcpus=\n"}},
	 FINDING_FAIL,
	 "nohz_full= must match isolcpus=",
	 NULL,
	 NULL},
	{"kconfig",
	 {{"run/kconfig",
	   "CONFIG_HZ=250\nCONFIG_CPU_ISOLATION=y\n# CONFIG_RCU_NOCB_CPU is not set\n"}},
	 FINDING_WARN,
	 "RCU_NOCB_CPU",
	 NULL,
	 NULL},
	{"rcu_nocb",
	 {{CPU "nohz_full", "\n"},
	  {"proc/cmdline", "quiet rcu_nocbs=2\n"},
	  {TASKS, "2 2 S " KTHREAD " 1 0 0 0-2 kthreadd\n"}},
	 FINDING_WARN,
	 "cpu 3",
	 "rcu_nocbs=2-3",
	 NULL},
	{"rcu_nocb",
	 {{CPU "nohz_full", "\n"}, {"proc/cmdline", "rcu_nocbs=all\n"}, {TASKS, "\n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"rcu_nocb",
	 {{CPU "nohz_full", "\n"},
	  {"proc/cmdline", "quiet\n"},
	  {TASKS, "2 2 S " KTHREAD " 1 0 0 0-2 kthreadd\n"}},
	 FINDING_WARN,
	 "cpu 3",
	 "rcu_nocbs=3",
	 NULL},
	/* with either parameter each CPU has a thread, which sleeps where nothing is offloaded */
	{"rcu_nocb",
	 {{CPU "nohz_full", "2\n"},
	  {"proc/cmdline", "nohz_full=2\n"},
	  {TASKS, "31 31 S " KTHREAD " 0 0 0 0-2 rcuop/3\n"}},
	 FINDING_WARN,
	 "cpu 3",
	 "rcu_nocbs=3",
	 NULL},
	{"rcu_nocb",
	 {{CPU "nohz_full", "\n"},
	  {"proc/cmdline", "rcu_nocbs quiet\n"},
	  {TASKS, "31 31 S " KTHREAD " 0 0 0 0-2 rcuop/3\n"}},
	 FINDING_WARN,
	 "cpu 3",
	 "rcu_nocbs=3",
	 NULL},
	{"rcu_nocb",
	 {{CPU "nohz_full", "\n"},
	  {"proc/cmdline", "quiet\n"},
	  {TASKS, "31 31 S " KTHREAD " 0 0 0 0-2 rcuop/3\n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"rcu_threads",
	 {{TASKS, "17 17 S " KTHREAD " 1 0 0 0-3 rcu_preempt\n18 18 S " BOUND " 3 0 0 3 rcuc/3\n"}},
	 FINDING_WARN,
	 "1 RCU thread may run on cpu 3: rcu_preempt",
	 "for t in 17; do taskset -pc 0-2 $t; done",
	 "taskset -pc 0-3 17"},
	{"rcu_expedited",
	 {{"sys/kernel/rcu_expedited", "1\n"}},
	 FINDING_WARN,
	 "expedited",
	 "echo 0 > /sys/kernel/rcu_expedited",
	 "echo 1 > "},
	{"rcu_expedited",
	 {{"sys/kernel/rcu_normal", "0\n"}},
	 FINDING_INFO,
	 "expedited",
	 "echo 1 > /sys/kernel/rcu_normal",
	 NULL},
	{"cpu_quota",
	 {{"sys/fs/cgroup/a/cpu.max", "50000 100000\n"}},
	 FINDING_INFO,
	 "quotas",
	 NULL,
	 NULL},
	{"cpu_quota",
	 {{"sys/fs/cgroup/it's/cpu.max", "50000 100000\n"},
	  {"sys/fs/cgroup/it's/cgroup.procs", "7\n812\n"}},
	 FINDING_FAIL,
	 "workload [812] on cpu 3 is under a CPU quota",
	 "echo max > '/sys/fs/cgroup/it'\\''s/cpu.max'",
	 "echo '50000 100000' > "},
	/* the list of an outer group is empty */
	{"cpu_quota",
	 {{"sys/fs/cgroup/t.slice/cpu.max", "50000 100000\n"},
	  {"sys/fs/cgroup/t.slice/cgroup.procs", "\n"},
	  {"sys/fs/cgroup/t.slice/a.service/sub/cgroup.procs", "7\n812\n"}},
	 FINDING_FAIL,
	 "workload [812] on cpu 3 is under a CPU quota",
	 "echo max > /sys/fs/cgroup/t.slice/cpu.max",
	 "echo '50000 100000' > /sys/fs/cgroup/t.slice/cpu.max"},
	{"cpu_quota",
	 {{"sys/fs/cgroup/t/cpu.max", "50000 100000\n"},
	  {"sys/fs/cgroup/t/a/cgroup.procs", "7\n"},
	  {"sys/fs/cgroup/t.slice/cgroup.procs", "812\n"}},
	 FINDING_INFO,
	 "on none of the threads that are bound to cpu 3",
	 NULL,
	 NULL},
	/* interrupts */
	{"irq",
	 {{"proc/irq/36/smp_affinity_list", "0-3\n"},
	  {"proc/irq/36/effective_affinity_list", "3\n"},
	  {"sys/kernel/irq/36/per_cpu_count", "0,0,0,77\n"}},
	 FINDING_WARN,
	 "IRQ 36 (virtio1-req.0) is delivered to cpu 3",
	 "echo 0-2 > /proc/irq/36/smp_affinity_list",
	 "echo 0-3 > /proc/irq/36/smp_affinity_list"},
	{"irq",
	 {{"proc/irq/36/effective_affinity_list", "3\n"}},
	 FINDING_INFO,
	 "IRQ 36 (virtio1-req.0) would be delivered to cpu 3, and was not since boot",
	 NULL,
	 NULL},
	{"irq",
	 {{"proc/irq/36/smp_affinity_list", "0-3\n"}},
	 FINDING_INFO,
	 "IRQ 36 (virtio1-req.0) may be moved to cpu 3",
	 "echo 0-2 > /proc/irq/36/smp_affinity_list",
	 "echo 0-3 > /proc/irq/36/smp_affinity_list"},
	/* each CPU has one of its own on arm64: nobody can move it */
	{"irq",
	 {{"proc/irq/36/effective_affinity_list", "3\n"},
	  {"sys/kernel/irq/36/chip_name", "GICv3\n"},
	  {"sys/kernel/irq/36/hwirq", "27\n"}},
	 FINDING_OK,
	 "no IRQ may go to these CPUs",
	 NULL,
	 NULL},
	{"irq",
	 {{"proc/irq/36/effective_affinity_list", "3\n"},
	  {"sys/kernel/irq/36/chip_name", "GICv3\n"},
	  {"sys/kernel/irq/36/hwirq", "33\n"}},
	 FINDING_INFO,
	 "IRQ 36 (virtio1-req.0) would be delivered to cpu 3",
	 NULL,
	 NULL},
	{"irq_managed",
	 {{"proc/irq/36/smp_affinity_list", "3\n"},
	  {"sys/kernel/debug/irq/irqs/36", "IRQD_AFFINITY_MANAGED\n"}},
	 FINDING_WARN,
	 "managed_irq cannot move it",
	 NULL,
	 NULL},
	{"irq_default",
	 {{"proc/irq/default_smp_affinity", "f\n"}},
	 FINDING_WARN,
	 "new IRQs",
	 "echo 7 > /proc/irq/default_smp_affinity",
	 "echo f > "},
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"},
	  {"run/irqbalance", "IRQBALANCE_BANNED_CPULIST=1-2\n"}},
	 FINDING_WARN,
	 "IRQBALANCE_BANNED_CPULIST replaces irqbalance's own ban of isolated CPUs and leaves out "
	 "cpu 3",
	 "IRQBALANCE_BANNED_CPULIST=1-3 (before 1.8 IRQBALANCE_BANNED_CPUS=e) in",
	 NULL},
	/* the mask comes first */
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"},
	  {"run/irqbalance", "IRQBALANCE_BANNED_CPULIST=3\nIRQBALANCE_BANNED_CPUS=1\n"}},
	 FINDING_WARN,
	 "IRQBALANCE_BANNED_CPUS replaces irqbalance's own ban of isolated CPUs and leaves out "
	 "cpu 3",
	 "IRQBALANCE_BANNED_CPULIST=0,3 in place of IRQBALANCE_BANNED_CPUS (before 1.8 "
	 "IRQBALANCE_BANNED_CPUS=9) in",
	 NULL},
	/* a file that was changed since it began */
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"},
	  {"run/irqbalance", ""},
	  {"etc/default/irqbalance", "IRQBALANCE_BANNED_CPULIST=1\n"}},
	 FINDING_OK,
	 "leaves these CPUs alone",
	 NULL,
	 NULL},
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"},
	  {"run/irqbalance", "IRQBALANCE_BANNED_CPUS=00000001\n"},
	  {"etc/sysconfig/irqbalance", "IRQBALANCE_BANNED_CPUS=00000001\n"}},
	 FINDING_WARN,
	 "leaves out cpu 3",
	 "=9) in /etc/sysconfig/irqbalance, and restart it",
	 NULL},
	/* nobody would be left */
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"},
	  {"run/irqbalance", "IRQBALANCE_BANNED_CPULIST=0-2\n"}},
	 FINDING_WARN,
	 "leaves out cpu 3",
	 "systemctl disable --now irqbalance",
	 NULL},
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"},
	  {"etc/default/irqbalance", "#x\nIRQBALANCE_BANNED_CPUS=\"6\"\n"}},
	 FINDING_WARN,
	 "leaves out cpu 3",
	 NULL,
	 NULL},
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"}},
	 FINDING_OK,
	 "leaves these CPUs alone",
	 NULL,
	 NULL},
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"},
	  {"run/irqbalance", "IRQBALANCE_BANNED_CPUS=00000008\n"}},
	 FINDING_OK,
	 "leaves these CPUs alone",
	 NULL,
	 NULL},
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"},
	  {CPU "isolated", "\n"},
	  {CPU "nohz_full", "\n"}},
	 FINDING_WARN,
	 "may move IRQs to cpu 3",
	 NULL,
	 NULL},
	{"rps",
	 {{"sys/class/net/e th/queues/rx-0/rps_cpus", "0000000c\n"}},
	 FINDING_WARN,
	 "cpu 3: e th",
	 "echo 4 > '/sys/class/net/e th/queues/rx-0/rps_cpus'",
	 "echo 0000000c > "},
	{"rps_default",
	 {{"proc/sys/net/core/rps_default_mask", "f\n"}},
	 FINDING_WARN,
	 "new network queues",
	 "sysctl -w net.core.rps_default_mask=7",
	 "=f"},
	{"napi_threads",
	 {{TASKS, "9 9 S " KTHREAD " 0 0 0 0-3 napi/eth0-12\n"}},
	 FINDING_WARN,
	 "napi/eth0-12",
	 NULL,
	 NULL},
	{"block_affinity",
	 {{"sys/block/sda/queue/rq_affinity", "2\n"}, {"sys/block/sdb/queue/rq_affinity", "1\n"}},
	 FINDING_INFO,
	 "that asked for it: sda",
	 "echo 0 > /sys/block/sda/queue/rq_affinity",
	 "echo 2 > /sys/block/sda/queue/rq_affinity"},
	/* 1 sends it to another cache, and a CPU of an isolated partition counts as one with its
	 * own */
	{"block_affinity",
	 {{"sys/block/sda/queue/rq_affinity", "1\n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"block_affinity",
	 {{"sys/block/sda/queue/rq_affinity", "2\n"},
	  {"sys/block/sdb/queue/rq_affinity", "1\n"},
	  {CPU "cpu3/cache/index3/shared_cpu_list", "2-3\n"}},
	 FINDING_INFO,
	 "that asked for it: sda, sdb",
	 "echo 0 > /sys/block/sda/queue/rq_affinity; echo 0 > /sys/block/sdb/queue/rq_affinity",
	 "echo 2 > /sys/block/sda/queue/rq_affinity; echo 1 > /sys/block/sdb/queue/rq_affinity"},
	{"block_affinity",
	 {{"sys/block/sda/queue/rq_affinity", "1\n"},
	  {CPU "isolated", "\n"},
	  {"sys/fs/cgroup/cpuset.cpus.isolated", "3\n"}},
	 FINDING_INFO,
	 "sda",
	 NULL,
	 NULL},
	{"block_affinity",
	 {{"sys/block/sda/queue/rq_affinity", "1\n"}, {CPU "isolated", "0,3\n"}},
	 FINDING_INFO,
	 "sda",
	 NULL,
	 NULL},
	/* nothing is sent where all interrupts are threads */
	{"block_affinity",
	 {{"sys/block/sda/queue/rq_affinity", "2\n"},
	  {"run/kconfig", "CONFIG_HZ=250\nCONFIG_PREEMPT_RT=y\n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"block_affinity",
	 {{"sys/block/sda/queue/rq_affinity", "2\n"},
	  {"proc/cmdline", "threadirqs\n"},
	  {KERNEL "osrelease", "5.12.0\n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"block_affinity",
	 {{"sys/block/sda/queue/rq_affinity", "2\n"},
	  {"proc/cmdline", "threadirqs\n"},
	  {KERNEL "osrelease", "5.10.0-30-amd64\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	/* threads and work */
	{"tasks",
	 {{TASKS, GOOD_TASKS "99 99 S 400000 1 0 0 0-3 cron\n"}},
	 FINDING_WARN,
	 "1 user thread may run on cpu 3: cron",
	 "give the workload, and culprit, a slice of their own first",
	 NULL},
	{"tasks",
	 {{TASKS, GOOD_TASKS "99 99 R 400000 3 0 0 0-3 cc1\n"}},
	 FINDING_FAIL,
	 "running on cpu 3 now",
	 NULL,
	 NULL},
	{"kthreads",
	 {{TASKS, "40 40 S " KTHREAD " 1 0 0 0-3 kswapd0\n"}},
	 FINDING_WARN,
	 "kswapd0",
	 "taskset -pc 0-2 $t",
	 NULL},
	{"kthreads",
	 {{TASKS, "40 40 S " BOUND " 3 0 0 3 ksoftirqd/3\n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"realtime",
	 {{TASKS, "40 40 S 400000 1 1 80 0-3 jackd\n"}},
	 FINDING_WARN,
	 "jackd [40] prio 80",
	 NULL,
	 NULL},
	{"unbound_work",
	 {{WQ "cpumask", "f\n"}},
	 FINDING_WARN,
	 "unbound",
	 "echo 7 > /sys/devices/virtual/workqueue/cpumask",
	 "echo f > "},
	/* the file shows what a partition leaves of the mask that was asked for */
	{"unbound_work",
	 {{WQ "cpumask", "b\n"}, {WQ "cpumask_requested", "f\n"}, {WQ "cpumask_isolated", "4\n"}},
	 FINDING_WARN,
	 "unbound",
	 "echo 7 > /sys/devices/virtual/workqueue/cpumask",
	 "echo f > /sys/devices/virtual/workqueue/cpumask"},
	{"workqueues",
	 {{WQ "writeback/cpumask", "f\n"}, {WQ "cpumask", "f\n"}},
	 FINDING_WARN,
	 "writeback",
	 "echo 7 > ",
	 "echo f > "},
	/* the mask for all has the last word */
	{"workqueues", {{WQ "writeback/cpumask", "f\n"}}, FINDING_OK, NULL, NULL, NULL},
	{"workqueues", {{WQ "writeback/cpumask", "8\n"}}, FINDING_OK, NULL, NULL, NULL},
	{"workqueues",
	 {{WQ "writeback/cpumask", "3\n"}, {WQ "cpumask", "c\n"}},
	 FINDING_WARN,
	 "writeback",
	 "echo 7 > ",
	 "echo 3 > "},
	{"workqueues",
	 {{WQ "writeback/cpumask", "f\n"}, {WQ "cpumask", NULL}},
	 FINDING_WARN,
	 "writeback",
	 NULL,
	 NULL},
	{"wq_isolated", {{WQ "cpumask_isolated", "8\n"}}, FINDING_INFO, "some CPUs", NULL, NULL},
	{"power_efficient",
	 {{"sys/module/workqueue/parameters/power_efficient", "N\n"}},
	 FINDING_INFO,
	 NULL,
	 "workqueue.power_efficient=1",
	 NULL},
	{"agents",
	 {{TASKS, "7 7 S 400000 0 0 0 0-2 turbostat\n"}},
	 FINDING_WARN,
	 "turbostat [7] runs",
	 NULL,
	 NULL},
	{"agents",
	 {{TASKS, "7 7 S 400000 0 0 0 0-2 turbostat\n"}, {"run/root", "1\n77\n"}},
	 FINDING_INFO,
	 "a process [7] that is not root's is called turbostat: if it is that program, it visits "
	 "every CPU",
	 NULL,
	 NULL},
	{"agents",
	 {{TASKS, "7 7 S 400000 0 0 0 0-2 turbostat\n"}, {"run/root", "1\n7\n"}},
	 FINDING_WARN,
	 "turbostat [7] runs",
	 NULL,
	 NULL},
	{"irqbalance",
	 {{TASKS, "9 9 S 400000 0 0 0 0-2 irqbalance\n"}, {"run/root", "1\n90\n"}},
	 FINDING_OK,
	 "irqbalance does not run",
	 NULL,
	 NULL},
	{"systemd",
	 {{TASKS, "1 1 S 400000 0 0 0 0-3 systemd\n"}},
	 FINDING_INFO,
	 NULL,
	 "CPUAffinity=0-2",
	 NULL},
	{"systemd",
	 {{TASKS, "1 1 S 400000 0 0 0 0-2 systemd\n"},
	  {"etc/systemd/system.conf", "[Manager]\nCPUAffinity=0-2\n"}},
	 FINDING_OK,
	 "kept off these CPUs",
	 NULL,
	 NULL},
	/* files that are written, and not in force */
	{"systemd",
	 {{TASKS, "1 1 S 400000 0 0 0 0-3 systemd\n"},
	  {"etc/systemd/system.conf", "[Manager]\nCPUAffinity=0 1\n"},
	  {"etc/systemd/system.conf.d/9.conf", "[Manager]\n CPUAffinity = \"2\", 1\n"}},
	 FINDING_INFO,
	 NULL,
	 "boot: systemd reads",
	 NULL},
	/* lines that keep nobody off */
	{"systemd",
	 {{TASKS, "1 1 S 400000 0 0 0 0-3 systemd\n"},
	  {"etc/systemd/system.conf.d/10.conf", "[Manager]\n#CPUAffinity=1 2\n"}},
	 FINDING_INFO,
	 "cpu 3 among them",
	 "CPUAffinity=0-2 in",
	 NULL},
	{"systemd",
	 {{TASKS, "1 1 S 400000 0 0 0 0-3 systemd\n"},
	  {"etc/systemd/system.conf", "[Manager]\nCPUAffinity=0-3\n"}},
	 FINDING_INFO,
	 NULL,
	 "CPUAffinity=0-2 in place of those in /etc/systemd/system.conf and system.conf.d",
	 NULL},
	{"systemd",
	 {{TASKS, "1 1 S 400000 0 0 0 0-3 systemd\n"},
	  {"etc/systemd/system.conf", "[Manager]\nCPUAffinity=0-2\nCPUAffinity=\n"}},
	 FINDING_INFO,
	 NULL,
	 "CPUAffinity=0-2 in",
	 NULL},
	{"systemd",
	 {{TASKS, "1 1 S 400000 0 0 0 0-3 systemd\n"},
	  {"etc/systemd/system.conf", "[Manager]\nCPUAffinity=0-2\nCPUAffinity=numa\n"}},
	 FINDING_INFO,
	 NULL,
	 "boot: systemd reads",
	 NULL},
	{"guests",
	 {{TASKS, "5 4 S 400000 0 0 0 0-3 CPU 1/KVM\n"}},
	 FINDING_INFO,
	 "CPU 1/KVM",
	 NULL,
	 NULL},
	{"tuned", {{"etc/tuned/active_profile", "balanced\n"}}, FINDING_INFO, NULL, NULL, NULL},
	/* memory */
	{"vmstat",
	 {{VM "stat_interval", "1\n"}},
	 FINDING_INFO,
	 NULL,
	 "sysctl -w vm.stat_interval=120",
	 "sysctl -w vm.stat_interval=1"},
	{"vmstat",
	 {{VM "stat_interval", "1\n"}, {KERNEL "osrelease", "6.12.9\n"}},
	 FINDING_OK,
	 "not added up on these CPUs regularly",
	 "",
	 NULL},
	{"vmstat",
	 {{VM "stat_interval", "1\n"}, {KERNEL "osrelease", "6.5.0\n"}, {CPU "isolated", "\n"}},
	 FINDING_OK,
	 NULL,
	 "",
	 NULL},
	{"vmstat",
	 {{VM "stat_interval", "1\n"}, {KERNEL "osrelease", "6.4.9\n"}},
	 FINDING_INFO,
	 NULL,
	 "sysctl -w vm.stat_interval=120",
	 NULL},
	{"vmstat",
	 {{VM "stat_interval", "1\n"},
	  {KERNEL "osrelease", "6.12.9\n"},
	  {CPU "isolated", "\n"},
	  {CPU "nohz_full", "\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	/* partitions count from 6.8 on */
	{"vmstat",
	 {{VM "stat_interval", "1\n"},
	  {KERNEL "osrelease", "6.8.0\n"},
	  {CPU "isolated", "\n"},
	  {CPU "nohz_full", "\n"},
	  {"sys/fs/cgroup/cpuset.cpus.isolated", "3\n"}},
	 FINDING_OK,
	 NULL,
	 "",
	 NULL},
	{"vmstat",
	 {{VM "stat_interval", "1\n"},
	  {KERNEL "osrelease", "6.7.0\n"},
	  {CPU "isolated", "\n"},
	  {CPU "nohz_full", "\n"},
	  {"sys/fs/cgroup/cpuset.cpus.isolated", "3\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"thp",
	 {{MM "transparent_hugepage/enabled", "[always] madvise never\n"}},
	 FINDING_WARN,
	 NULL,
	 "echo never > /sys/kernel/mm/transparent_hugepage/enabled",
	 "echo always > /sys/kernel/mm/transparent_hugepage/enabled # a new khugepaged"},
	{"thp_defrag",
	 {{MM "transparent_hugepage/defrag", "[always] madvise never\n"},
	  {MM "transparent_hugepage/enabled", "always [madvise] never\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"thp_defrag",
	 {{MM "transparent_hugepage/defrag", "[always] madvise never\n"}},
	 FINDING_OK,
	 "huge pages are off",
	 "",
	 NULL},
	{"thp_defrag",
	 {{MM "transparent_hugepage/defrag", "[always] madvise never\n"},
	  {MM "transparent_hugepage/hugepages-2048kB/enabled", "always [inherit] madvise never\n"},
	  {MM "transparent_hugepage/hugepages-64kB/enabled", "[always] inherit madvise never\n"}},
	 FINDING_INFO,
	 NULL,
	 "echo never > ",
	 NULL},
	{"thp_defrag",
	 {{MM "transparent_hugepage/defrag", "[always] madvise never\n"},
	  {MM "transparent_hugepage/shmem_enabled",
	   "always within_size [advise] never deny force\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"khugepaged", /* a recording of before that was noted */
	 {{MM "transparent_hugepage/khugepaged/scan_sleep_millisecs", "100\n"},
	  {MM "transparent_hugepage/shmem_enabled", NULL}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"khugepaged",
	 {{MM "transparent_hugepage/khugepaged/scan_sleep_millisecs", "100\n"},
	  {MM "transparent_hugepage/enabled", "[always] madvise never\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"khugepaged",
	 {{MM "transparent_hugepage/khugepaged/scan_sleep_millisecs", "100\n"}},
	 FINDING_OK,
	 "khugepaged does not run",
	 "",
	 NULL},
	{"khugepaged",
	 {{MM "transparent_hugepage/khugepaged/scan_sleep_millisecs", "100\n"},
	  {MM "transparent_hugepage/hugepages-2048kB/enabled", "always inherit [madvise] never\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"ksm", {{MM "ksm/run", "1\n"}}, FINDING_WARN, NULL, "echo 2 > ", "echo 1 > "},
	{"numa_balancing",
	 {{KERNEL "numa_balancing", "1\n"}},
	 FINDING_WARN,
	 NULL,
	 "sysctl -w kernel.numa_balancing=0",
	 "=1"},
	{"swap",
	 {{"proc/swaps", "Filename Type\n/dev/sda2 partition 1 0 -2\n"}},
	 FINDING_WARN,
	 NULL,
	 "swapoff -a",
	 "swapon /dev/sda2"},
	{"zswap", {{"sys/module/zswap/parameters/enabled", "Y\n"}}, FINDING_INFO, NULL, NULL, NULL},
	{"compaction", {{VM "compaction_proactiveness", "20\n"}}, FINDING_INFO, NULL, NULL, NULL},
	{"compact_locked",
	 {{VM "compact_unevictable_allowed", "1\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"writeback",
	 {{VM "dirty_writeback_centisecs", "100\n"}},
	 FINDING_INFO,
	 NULL,
	 "sysctl -w vm.dirty_writeback_centisecs=1500",
	 "=100"},
	{"writeback", /* none */
	 {{VM "dirty_writeback_centisecs", "0\n"}},
	 FINDING_OK,
	 "dirty pages are not written back periodically",
	 NULL,
	 NULL},
	{"kfence",
	 {{"run/kconfig", "CONFIG_HZ=250\nCONFIG_KFENCE_STATIC_KEYS=y\n"}},
	 FINDING_WARN,
	 "every 100 ms",
	 "echo 0 > /sys/module/kfence/parameters/sample_interval",
	 "echo 100 > /sys/module/kfence/parameters/sample_interval # 5.12 to 5.17 refuse it"},
	/* the system */
	{"softlockup",
	 {{KERNEL "watchdog_cpumask", "0-3\n"}},
	 FINDING_WARN,
	 NULL,
	 "sysctl -w kernel.watchdog_cpumask=0-2",
	 "=0-3"},
	{"softlockup",
	 {{KERNEL "watchdog_cpumask", "0-3\n"}, {KERNEL "soft_watchdog", "0\n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"nmi_watchdog",
	 {{KERNEL "nmi_watchdog", "1\n"}},
	 FINDING_OK,
	 "the NMI watchdog leaves these CPUs alone",
	 NULL,
	 NULL},
	{"nmi_watchdog",
	 {{KERNEL "nmi_watchdog", "1\n"}, {KERNEL "watchdog_cpumask", "0-3\n"}},
	 FINDING_WARN,
	 "the NMI watchdog interrupts cpu 3 about every 10 s",
	 "sysctl -w kernel.watchdog_cpumask=0-2",
	 "sysctl -w kernel.watchdog_cpumask=0-3"},
	{"softlockup",
	 {{KERNEL "watchdog_cpumask", "0-3\n"}, {KERNEL "watchdog_thresh", "10\n"}},
	 FINDING_WARN,
	 "every 4 s a timer",
	 NULL,
	 NULL},
	{"softlockup",
	 {{KERNEL "watchdog_cpumask", "0-3\n"}, {KERNEL "watchdog_thresh", "31\n"}},
	 FINDING_WARN,
	 "every 12.4 s a timer",
	 NULL,
	 NULL},
	{"softlockup",
	 {{KERNEL "watchdog_cpumask", "0-3\n"}, {KERNEL "watchdog_thresh", "0\n"}},
	 FINDING_OK,
	 "no soft-lockup watchdog",
	 NULL,
	 NULL},
	{"nmi_watchdog",
	 {{KERNEL "nmi_watchdog", "1\n"},
	  {KERNEL "watchdog_cpumask", "0-3\n"},
	  {KERNEL "watchdog_thresh", "30\n"}},
	 FINDING_WARN,
	 "about every 30 s",
	 NULL,
	 NULL},
	{"nmi_watchdog",
	 {{KERNEL "nmi_watchdog", "1\n"},
	  {KERNEL "watchdog_cpumask", NULL},
	  {KERNEL "watchdog_thresh", "0\n"}},
	 FINDING_OK,
	 "no NMI watchdog",
	 NULL,
	 NULL},
	{"nmi_watchdog",
	 {{KERNEL "nmi_watchdog", "1\n"}, {KERNEL "watchdog_cpumask", NULL}},
	 FINDING_WARN,
	 "each CPU of its mask",
	 "sysctl -w kernel.nmi_watchdog=0",
	 NULL},
	{"nmi_watchdog",
	 {{KERNEL "nmi_watchdog", "1\n"},
	  {KERNEL "watchdog_cpumask", "3\n"},
	  {CPU "online", "3\n"}},
	 FINDING_WARN,
	 NULL,
	 "sysctl -w kernel.nmi_watchdog=0",
	 NULL},
	{"backtraces",
	 {{KERNEL "hung_task_all_cpu_backtrace", "1\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	/* the workload of the good world is FIFO */
	{"rt_throttle",
	 {{"run/kconfig", "CONFIG_HZ=250\nCONFIG_RT_GROUP_SCHED=y\n"}},
	 FINDING_WARN,
	 "50 ms in every 1000 ms",
	 "sysctl -w kernel.sched_rt_runtime_us=-1",
	 "=950000"},
	{"rt_throttle",
	 {{"run/kconfig", "CONFIG_HZ=250\nCONFIG_RT_GROUP_SCHED=y\n"},
	  {TASKS, "812 812 R 400000 3 0 0 3 workload\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"fair_server",
	 {{"sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n"}},
	 FINDING_WARN,
	 "the fair server takes up to 50.0 ms of each period",
	 "sysctl -w kernel.sched_rt_runtime_us=-1; "
	 "echo 0 > /sys/kernel/debug/sched/fair_server/cpu3/runtime",
	 "echo 50000000 > /sys/kernel/debug/sched/fair_server/cpu3/runtime; "
	 "sysctl -w kernel.sched_rt_runtime_us=950000"},
	{"timer_migration",
	 {{KERNEL "timer_migration", "0\n"}},
	 FINDING_INFO,
	 "though it is nohz_full",
	 "sysctl -w kernel.timer_migration=1",
	 NULL},
	{"timer_migration",
	 {{KERNEL "timer_migration", "0\n"}, {CPU "nohz_full", "\n"}},
	 FINDING_OK,
	 "timer migration is off",
	 "",
	 NULL},
	{"sched_features",
	 {{"sys/kernel/debug/sched/features", "HRTICK NO_HRTICK_DL\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"sched_features",
	 {{"sys/kernel/debug/sched/features", "NO_HRTICK HRTICK_DL\n"}},
	 FINDING_INFO,
	 "(HRTICK_DL)",
	 "echo NO_HRTICK_DL > /sys/kernel/debug/sched/features",
	 "echo HRTICK_DL > /sys/kernel/debug/sched/features"},
	{"sched_features",
	 {{"sys/kernel/debug/sched/features", "HRTICK HRTICK_DL\n"}},
	 FINDING_INFO,
	 "(HRTICK, HRTICK_DL)",
	 "echo NO_HRTICK > /sys/kernel/debug/sched/features; "
	 "echo NO_HRTICK_DL > /sys/kernel/debug/sched/features",
	 "echo HRTICK > /sys/kernel/debug/sched/features; "
	 "echo HRTICK_DL > /sys/kernel/debug/sched/features"},
	{"psi", {{"proc/pressure/cpu", "some avg10=0.00\n"}}, FINDING_INFO, NULL, "psi=0", NULL},
	{"clocksource",
	 {{"sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"}},
	 FINDING_FAIL,
	 "the clock is hpet",
	 NULL,
	 NULL},
	{"clocksource",
	 {{"sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"clocksource",
	 {{"sys/devices/system/clocksource/clocksource0/current_clocksource",
	   "riscv_clocksource\n"},
	  {"proc/cpuinfo", "processor\t: 0\nhart\t: 1\nisa\t: rv64imafdc\n"}},
	 FINDING_OK,
	 "without a system call",
	 NULL,
	 NULL},
	/* elsewhere no TSC is named */
	{"clocksource",
	 {{"sys/devices/system/clocksource/clocksource0/current_clocksource", "jiffies\n"},
	  {"proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n"}},
	 FINDING_FAIL,
	 "the clock is jiffies",
	 "why the CPU's own counter was refused",
	 NULL},
	{"split_lock",
	 {{"run/dmesg",
	   "x86/split lock detection: #AC: a.out/9 took a split_lock trap at address: 0x1\n"}},
	 FINDING_WARN,
	 NULL,
	 NULL,
	 NULL},
	{"media_polling",
	 {{"sys/module/block/parameters/events_dfl_poll_msecs", "2000\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"tracing",
	 {{"sys/kernel/tracing/instances/a/current_tracer", "osnoise\n"},
	  {"sys/kernel/tracing/instances/b/set_event", "sched:sched_switch\n"}},
	 FINDING_WARN,
	 "the kernel is being traced in 2 ways",
	 "before the workload runs",
	 NULL},
	{"tracing",
	 {{"sys/kernel/tracing/instances/mine/current_tracer", "osnoise\n"}},
	 FINDING_WARN,
	 "mine",
	 NULL,
	 NULL},
	{"bpf_stats", {{KERNEL "bpf_stats_enabled", "1\n"}}, FINDING_INFO, NULL, NULL, NULL},
	{"livepatch",
	 {{"sys/kernel/livepatch/fix/transition", "1\n"}},
	 FINDING_WARN,
	 NULL,
	 NULL,
	 NULL},
	{"resctrl",
	 {{"proc/mounts", "resctrl /sys/fs/resctrl resctrl rw 0 0\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"iommu",
	 {{"sys/kernel/iommu_groups/1/type", "DMA-FQ\n"}},
	 FINDING_INFO,
	 "the IOMMU flushes lazily",
	 "iommu.passthrough=1",
	 NULL},
	{"load", {{"proc/loadavg", "17.5 1 1 1/1 1\n"}}, FINDING_WARN, NULL, NULL, NULL},
	{"lockdown",
	 {{"sys/kernel/security/lockdown", "none integrity [confidentiality]\n"}},
	 FINDING_FAIL,
	 NULL,
	 NULL,
	 NULL},
	{"kptr_restrict", {{KERNEL "kptr_restrict", "2\n"}}, FINDING_INFO, NULL, NULL, NULL},
	/* hardware */
	{"tsc",
	 {{"proc/cpuinfo", "x\nflags\t: tsc constant_tsc\n"}},
	 FINDING_WARN,
	 "though it is the kernel's clock",
	 NULL,
	 NULL},
	{"kconfig", {{"run/kconfig", "CONFIG_HZ=250\n"}}, FINDING_WARN, NULL, NULL, NULL},
	{"cpuset_isolated",
	 {{"sys/fs/cgroup/cpuset.cpus.isolated", "3\n"}},
	 FINDING_OK,
	 "alone",
	 NULL,
	 NULL},
	{"tsc",
	 {{"proc/cpuinfo", "x\nflags\t: tsc constant_tsc\n"},
	  {"sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n"}},
	 FINDING_FAIL,
	 NULL,
	 NULL,
	 NULL},
	/* the CPU says that it is steady, and the kernel found that it is not */
	{"tsc",
	 {{CLOCK "current_clocksource", "hpet\n"},
	  {CLOCK "available_clocksource", "hpet acpi_pm \n"}},
	 FINDING_FAIL,
	 "the kernel has refused the time-stamp counter",
	 NULL,
	 NULL},
	{"tsc",
	 {{CLOCK "current_clocksource", "kvm-clock\n"},
	  {CLOCK "available_clocksource", "kvm-clock \n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"clock_watchdog",
	 {{"proc/cpuinfo", "x\nflags\t: tsc constant_tsc nonstop_tsc\n"}},
	 FINDING_WARN,
	 NULL,
	 "tsc=nowatchdog",
	 NULL},
	/* in guests, by the hypervisor's clock, which may be the current one */
	{"clock_watchdog",
	 {{"proc/cpuinfo", "x\nflags\t: tsc constant_tsc hypervisor\n"},
	  {CLOCK "current_clocksource", "kvm-clock\n"},
	  {CLOCK "available_clocksource", "kvm-clock tsc acpi_pm \n"}},
	 FINDING_WARN,
	 NULL,
	 "tsc=nowatchdog",
	 NULL},
	{"clock_watchdog",
	 {{"proc/cpuinfo", "x\nflags\t: tsc constant_tsc nonstop_tsc hypervisor\n"},
	  {CLOCK "available_clocksource", "tsc kvm-clock \n"}},
	 FINDING_WARN,
	 NULL,
	 "tsc=nowatchdog",
	 NULL},
	{"clock_watchdog", /* a counter that was found unstable is not watched */
	 {{"proc/cpuinfo", "x\nflags\t: tsc constant_tsc nonstop_tsc\n"},
	  {CLOCK "current_clocksource", "hpet\n"},
	  {CLOCK "available_clocksource", "hpet acpi_pm \n"}},
	 FINDING_OK,
	 "no clocksource watchdog",
	 NULL,
	 NULL},
	/* a hypervisor's word, as tsc=reliable is a user's */
	{"clock_watchdog",
	 {{"proc/cpuinfo", "x\nflags\t: tsc constant_tsc nonstop_tsc tsc_reliable hypervisor\n"}},
	 FINDING_OK,
	 "no clocksource watchdog",
	 NULL,
	 NULL},
	{"clock_watchdog",
	 {{"proc/cpuinfo", "x\nflags\t: tsc constant_tsc nonstop_tsc\n"},
	  {"proc/cmdline", "tsc=nowatchdog\n"}},
	 FINDING_OK,
	 NULL,
	 NULL,
	 NULL},
	{"tsc_sync",
	 {{"proc/cpuinfo", "x\nflags\t: constant_tsc nonstop_tsc tsc_adjust\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"smt",
	 {{CPU "cpu3/topology/thread_siblings_list", "1,3\n"}},
	 FINDING_WARN,
	 "cpu 1 may do other work",
	 "echo 0 > /sys/devices/system/cpu/cpu1/online",
	 "echo 1 > /sys/devices/system/cpu/cpu1/online # not affinities that had no other CPU"},
	/* no command takes an isolated one away */
	{"smt",
	 {{CPU "cpu3/topology/thread_siblings_list", "1,3\n"}, {CPU "isolated", "1,3\n"}},
	 FINDING_INFO,
	 "cpu 1, isolated or nohz_full, shares its core with cpu 3: what runs on one slows",
	 NULL,
	 NULL},
	{"smt",
	 {{CPU "cpu3/topology/thread_siblings_list", "1,3\n"}, {CPU "nohz_full", "1,3\n"}},
	 FINDING_INFO,
	 "cpu 1, isolated or nohz_full, shares its core with cpu 3: what runs on one slows",
	 NULL,
	 NULL},
	{"smt",
	 {{CPU "cpu3/topology/thread_siblings_list", "1-3\n"}, {CPU "isolated", "1,3\n"}},
	 FINDING_WARN,
	 "cpu 2 may do other work",
	 "echo 0 > /sys/devices/system/cpu/cpu2/online",
	 "echo 1 > /sys/devices/system/cpu/cpu2/online"},
	/* cpu 0 cannot go offline */
	{"smt",
	 {{CPU "cpu3/topology/thread_siblings_list", "0,3\n"}},
	 FINDING_WARN,
	 "cpu 0 may do other work",
	 "isolate the first thread of each of the others",
	 NULL},
	{"smt",
	 {{CPU "cpu3/topology/thread_siblings_list", "1-3\n"}},
	 FINDING_WARN,
	 "cpu 1-2 may do other work",
	 "for i in 1 2; do echo 0 > /sys/devices/system/cpu/cpu$i/online; done",
	 "for i in 1 2; do echo 1 > /sys/devices/system/cpu/cpu$i/online; done # not affinities "},
	/* arm64 has no nosmt before 6.15 */
	{"smt",
	 {{CPU "cpu3/topology/thread_siblings_list", "3-5\n"},
	  {CPU "online", "0-5\n"},
	  {CPU "smt/control", "notimplemented\n"}},
	 FINDING_WARN,
	 "cpu 4-5 may do other work",
	 "for i in 4 5; do echo 0 > /sys/devices/system/cpu/cpu$i/online; done",
	 NULL},
	{"smt",
	 {{CPU "cpu3/topology/thread_siblings_list", "3-5\n"},
	  {CPU "online", "0-5\n"},
	  {CPU "smt/control", "on\n"}},
	 FINDING_WARN,
	 "cpu 4-5 may do other work",
	 "nosmt",
	 NULL},
	{"smt",
	 {{CPU "cpu3/topology/thread_siblings_list", "3-5\n"},
	  {CPU "online", "0-5\n"},
	  {"proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x43\n"}},
	 FINDING_WARN,
	 "cpu 4-5 may do other work",
	 "for i in 4 5; do echo 0 > /sys/devices/system/cpu/cpu$i/online; done",
	 NULL},
	{"governor",
	 {{CPU "cpu3/cpufreq/scaling_governor", "schedutil\n"}},
	 FINDING_WARN,
	 "schedutil",
	 "echo performance > /sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
	 "scaling_governor # without the tunables of ondemand"},
	/* the driver's own, which is no governor of the kernel's, works where HWP is not used */
	{"governor",
	 {{CPU "cpu3/cpufreq/energy_performance_preference", NULL}},
	 FINDING_WARN,
	 "the frequency governor powersave works on cpu 3",
	 "echo performance > /sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
	 "echo powersave > /sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"},
	{"governor",
	 {{CPU "cpu3/cpufreq/energy_performance_preference", NULL},
	  {"proc/cpuinfo", "x\nflags\t\t: tsc hwp hwp_epp\n"}},
	 FINDING_OK,
	 "does no work",
	 "",
	 NULL},
	{"governor",
	 {{CPU "cpu3/cpufreq/energy_performance_preference", NULL},
	  {"proc/cpuinfo", "x\nflags\t\t: tsc hwp hwp_epp\n"},
	  {"proc/cmdline", "intel_pstate=no_hwp nohz_full=3\n"}},
	 FINDING_WARN,
	 "powersave works",
	 NULL,
	 NULL},
	/* those that do nothing by themselves */
	{"governor",
	 {{CPU "cpu3/cpufreq/scaling_driver", "acpi-cpufreq\n"}},
	 FINDING_INFO,
	 "the frequency governor powersave keeps cpu 3 at its lowest frequency",
	 "echo performance > /sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
	 "echo powersave > "},
	{"governor",
	 {{CPU "cpu3/cpufreq/scaling_driver", "cppc_cpufreq\n"},
	  {CPU "cpu3/cpufreq/scaling_governor", "userspace\n"}},
	 FINDING_OK,
	 "does no work",
	 "",
	 NULL},
	{"frequency",
	 {{CPU "cpu3/cpufreq/scaling_min_freq", "800000\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"idle_states",
	 {{CPU "cpu3/cpuidle/state1/disable", "0\n"}},
	 FINDING_INFO,
	 NULL,
	 "echo 1 > /sys/devices/system/cpu/cpu3/cpuidle/state1/disable",
	 "echo 0 > "},
	{"energy_preference",
	 {{CPU "cpu3/cpufreq/energy_performance_preference", "balance_power\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"microcode", {{CPU "cpu0/microcode/version", "0x1\n"}}, FINDING_WARN, NULL, NULL, NULL},
	{"mce",
	 {{"sys/devices/system/machinecheck/machinecheck0/check_interval", "10\n"}},
	 FINDING_WARN,
	 NULL,
	 NULL,
	 NULL},
	{"edac",
	 {{"sys/devices/system/edac/mc/mc0/ce_count", "17\n"}},
	 FINDING_WARN,
	 "17 corrected",
	 NULL,
	 NULL},
	{"edac",
	 {{"sys/module/edac_core/parameters/edac_mc_poll_msec", "1000\n"}},
	 FINDING_INFO,
	 NULL,
	 NULL,
	 NULL},
	{"thermal",
	 {{CPU "cpu3/thermal_throttle/core_throttle_count", "4\n"}},
	 FINDING_WARN,
	 NULL,
	 NULL,
	 NULL},
	{"mitigations",
	 {{CPU "vulnerabilities/mds", "Vulnerable\n"}},
	 FINDING_OK,
	 "no active mitigation",
	 "",
	 NULL},
	{"mitigations",
	 {{CPU "vulnerabilities/mds", "Mitigation: Clear CPU buffers\n"}},
	 FINDING_INFO,
	 "lengthen each way into the kernel",
	 "",
	 NULL},
	{"mitigations",
	 {{CPU "vulnerabilities/meltdown", NULL}},
	 FINDING_OK,
	 "not in this kernel",
	 "",
	 NULL},
	{"hypervisor",
	 {{"proc/cpuinfo", "x\nflags\t: constant_tsc nonstop_tsc hypervisor\n"}},
	 FINDING_WARN,
	 NULL,
	 NULL,
	 NULL},
	{"steal",
	 {{"proc/stat", "cpu 0\ncpu3 1 2 3 4 5 6 7 250 0 0\n"}},
	 FINDING_WARN,
	 NULL,
	 NULL,
	 NULL},
};

static void test_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++) {
		const struct step *s = &steps[i];
		const struct finding *x;
		struct facts f = {0};
		struct findings out;

		good(&f);
		for (size_t k = 0; k < COUNT(s->change) && s->change[k].name; k++)
			put(&f, s->change[k].name, s->change[k].text);
		out = check(&f, 3);
		x = find(&out, s->id);
		if (!x)
			fail_msg("step %zu: no finding %s", i, s->id);
		if (x->level != s->level || !x->known)
			fail_msg("step %zu: %s is %s: %s (%s)", i, s->id,
				 finding_level_name(x->level), x->title, x->value ? x->value : "");
		if (s->title && !strstr(x->title, s->title))
			fail_msg("step %zu: %s says \"%s\", not \"%s\"", i, s->id, x->title,
				 s->title);
		if (s->fix && (!x->fix ? *s->fix : !*s->fix || !strstr(x->fix, s->fix)))
			fail_msg("step %zu: %s: fix \"%s\", not \"%s\"", i, s->id,
				 x->fix ? x->fix : "", s->fix);
		if (s->undo && (!x->undo || !strstr(x->undo, s->undo)))
			fail_msg("step %zu: %s: undo \"%s\", not \"%s\"", i, s->id,
				 x->undo ? x->undo : "", s->undo);
		findings_free(&out);
		facts_free(&f);
	}
}

/* A setting in a form that is not read here is not known; the list is read from 1.8 on. */
static void test_irqbalance(void **state)
{
	static const struct {
		const char *own, *isolated, *value;
		bool known;
	} rows[] = {
		{"IRQBALANCE_BANNED_CPUS=$MASK\n", "3\n",
		 "IRQBALANCE_BANNED_CPUS is in a form that is not read here", false},
		{"IRQBALANCE_BANNED_CPULIST=3-N\n", "3\n",
		 "IRQBALANCE_BANNED_CPULIST is in a form that is not read here", false},
		{"IRQBALANCE_BANNED_CPULIST=3\n", "\n",
		 "by IRQBALANCE_BANNED_CPULIST, which it reads from 1.8 on", true},
		{"IRQBALANCE_BANNED_CPULIST=3\n", "3\n", NULL, true},
		{"IRQBALANCE_BANNED_CPUS=8\n", "\n", NULL, true},
	};
	struct facts f = {0};

	(void)state;
	good(&f);
	put(&f, TASKS, GOOD_TASKS "9 9 S 400000 0 0 0 0-2 irqbalance\n");
	put(&f, CPU "nohz_full", "\n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct findings out;

		put(&f, "run/irqbalance", rows[i].own);
		put(&f, CPU "isolated", rows[i].isolated);
		out = check(&f, 3);
		assert_int_equal(find(&out, "irqbalance")->level,
				 rows[i].known ? FINDING_OK : FINDING_INFO);
		assert_int_equal(find(&out, "irqbalance")->known, rows[i].known);
		assert_text(find(&out, "irqbalance")->value, rows[i].value);
		findings_free(&out);
	}
	facts_free(&f);
}

/* Before 5.15 a group of type DMA is lazy or strict: drivers of x86 are lazy unless told otherwise.
 */
static void test_iommu(void **state)
{
	static const struct {
		const char *release, *cmdline;
		bool arm64, known;
	} rows[] = {
		{"5.10.0-30-amd64\n", "quiet\n", false, false},
		{NULL, "quiet\n", false, false},
		{"5.10.0-30-amd64\n", "intel_iommu=on,strict\n", false, true},
		{"5.10.0-30-amd64\n", "amd_iommu=fullflush\n", false, true},
		{"5.10.0-30-amd64\n", "iommu.strict=1\n", false, false},
		{"5.14.0-427.el9.x86_64\n", "quiet\n", false, false},
		{"5.15.0\n", "quiet\n", false, true},
		{"6.12.9\n", "quiet\n", false, true},
		{"5.10.0-30-arm64\n", "quiet\n", true, true},
		{"5.10.0-30-arm64\n", "iommu.strict=0\n", true, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct facts f = {0};
		struct findings out;

		good(&f);
		put(&f, "sys/kernel/iommu_groups/1/type", "DMA\n");
		put(&f, KERNEL "osrelease", rows[i].release);
		put(&f, "proc/cmdline", rows[i].cmdline);
		if (rows[i].arm64)
			put(&f, "proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n\n");
		out = check(&f, 3);
		assert_int_equal(find(&out, "iommu")->known, rows[i].known);
		assert_int_equal(find(&out, "iommu")->level,
				 rows[i].known ? FINDING_OK : FINDING_INFO);
		assert_null(find(&out, "iommu")->fix);
		findings_free(&out);
		facts_free(&f);
	}
}

/* The limit on deadline tasks is left alone where it stands in no server's way. */
static void test_fair_server(void **state)
{
	static const struct {
		const char *limit, *fix, *undo;
	} rows[] = {
		{"-1\n", "echo 0 > /sys/kernel/debug/sched/fair_server/cpu3/runtime",
		 "echo 20000000 > /sys/kernel/debug/sched/fair_server/cpu3/runtime"},
		{"950000\n",
		 "sysctl -w kernel.sched_rt_runtime_us=-1; "
		 "echo 0 > /sys/kernel/debug/sched/fair_server/cpu3/runtime",
		 "echo 20000000 > /sys/kernel/debug/sched/fair_server/cpu3/runtime; "
		 "sysctl -w kernel.sched_rt_runtime_us=950000"},
	};
	struct facts f = {0};
	struct findings out;

	(void)state;
	good(&f);
	for (size_t i = 0; i < COUNT(rows); i++) {
		put(&f, KERNEL "sched_rt_runtime_us", rows[i].limit);
		put(&f, "sys/kernel/debug/sched/fair_server/cpu3/runtime", "20000000\n");
		out = check(&f, 3);
		assert_string_equal(find(&out, "fair_server")->fix, rows[i].fix);
		assert_string_equal(find(&out, "fair_server")->undo, rows[i].undo);
		findings_free(&out);
	}
	put(&f, "sys/kernel/debug/sched/fair_server/cpu3/runtime", "0\n");
	out = check(&f, 3);
	assert_string_equal(find(&out, "fair_server")->title, "the fair server is off");
	assert_null(find(&out, "fair_server")->fix);
	findings_free(&out);
	facts_free(&f);
}

/* Each check of the good world has a bad step, or only reports. */
static void test_all_have_steps(void **state)
{
	static const char *const neutral[] = {"softirqs", "hugepages", "pm_qos", "mitigations",
					      "locality"};
	struct facts f = {0};
	struct findings out;

	(void)state;
	good(&f);
	out = check(&f, 3);
	for (uint32_t i = 0; i < out.count; i++) {
		bool has = false;

		for (size_t k = 0; k < COUNT(steps); k++)
			has |= !strcmp(steps[k].id, out.row[i].id) && steps[k].level > FINDING_OK;
		for (size_t k = 0; k < COUNT(neutral); k++)
			has |= !strcmp(neutral[k], out.row[i].id);
		if (!has)
			fail_msg("no step off the way for %s", out.row[i].id);
	}
	findings_free(&out);
	facts_free(&f);
}

/* Some of RHEL 9's kernels leave isolated CPUs out, as 6.5 does: their number does not tell. */
static void test_backported(void **state)
{
	static const char *const releases[] = {"5.14.0-362.8.1.el9_3.x86_64\n", "5.14.0-1-amd64\n"};
	struct facts f = {0};

	(void)state;
	good(&f);
	put(&f, VM "stat_interval", "1\n");
	for (int i = 0; i < 2; i++) {
		struct findings out;

		put(&f, KERNEL "osrelease", releases[i]);
		out = check(&f, 3);
		assert_int_equal(find(&out, "vmstat")->level, FINDING_INFO);
		assert_int_equal(find(&out, "vmstat")->known, i);
		assert_non_null(find(&out, "vmstat")->fix);
		findings_free(&out);
	}
	facts_free(&f);
}

/* Without any fact, or without permission: nothing is guessed. */
static void test_unknown(void **state)
{
	static const int errors[] = {-EACCES, -EIO, -EISDIR, FACT_NOT_TAKEN};
	struct facts f = {0};
	struct findings out;

	(void)state;
	for (size_t e = 0; e < COUNT(errors); e++) {
		for (size_t i = 0; i < COUNT(good_world); i++)
			assert_int_equal(facts_add(&f, good_world[i].name, errors[e], NULL, 0), 0);
		out = check(&f, 3);
		for (uint32_t i = 0; i < out.count; i++) {
			if (out.row[i].level > FINDING_INFO)
				fail_msg("%s is %s: %s", out.row[i].id,
					 finding_level_name(out.row[i].level), out.row[i].title);
		}
		assert_false(find(&out, "isolated")->known);
		assert_false(find(&out, "nohz_full")->known);
		assert_false(find(&out, "tasks")->known);
		assert_false(find(&out, "kconfig")->known);
		assert_false(find(&out, "thp")->known);
		findings_free(&out);
	}
	facts_free(&f);
	good(&f);
	put(&f, "run/kconfig", NULL); /* every kernel has one, but it was not read */
	out = check(&f, 3);
	assert_false(find(&out, "kconfig")->known);
	findings_free(&out);
	put(&f, TASKS, GOOD_TASKS "9 9 S 400000 0 0 0 0-2 irqbalance\n");
	assert_int_equal(facts_add(&f, "run/irqbalance", -ETIMEDOUT, NULL, 0), 0);
	out = check(&f, 3);
	assert_false(find(&out, "irqbalance")->known);
	findings_free(&out);
	facts_free(&f);
	out = check(&f, 3);
	assert_int_equal(findings_count(&out, FINDING_WARN), 0);
	findings_free(&out);
}

/* Texts that are no lists, no numbers, too long, or try to be commands. */
/* Elsewhere nothing that x86 alone has is looked for, nor named as a cause. */
static void test_arm64(void **state)
{
	static const char *const of_x86[] = {
		"tsc", "clock_watchdog", "tsc_sync", "microcode", "split_lock", "mce", "thermal"};
	struct facts x86 = {0}, arm64 = {0};
	struct findings a, b;

	(void)state;
	good(&x86);
	good(&arm64);
	for (int i = 0; i < 2; i++)
		put(i ? &arm64 : &x86, TASKS, GOOD_TASKS "7 7 S 400000 0 0 0 0-2 node_exporter\n");
	put(&arm64, "proc/cpuinfo",
	    "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n\n");
	a = check(&x86, 3);
	b = check(&arm64, 3);
	for (size_t i = 0; i < COUNT(of_x86); i++) {
		assert_non_null(find(&a, of_x86[i]));
		assert_null(find(&b, of_x86[i]));
	}
	assert_string_equal(find(&a, "agents")->cause, "P12");
	assert_int_equal(find(&b, "agents")->level, FINDING_WARN);
	assert_null(find(&b, "agents")->cause);
	for (uint32_t i = 0; i < b.count; i++)
		assert_true(!b.row[i].cause || !cause_is_x86(cause_by_id(b.row[i].cause)));
	findings_free(&a);
	findings_free(&b);
	facts_free(&x86);
	facts_free(&arm64);
}

/* Replaces the fact by one whose text goes on for longer than a fact may. */
static void put_long(struct facts *f, const char *name, const char *text)
{
	char *big = malloc(FACT_MAX + 1);

	memset(big, '\n', FACT_MAX + 1);
	memcpy(big, text, strlen(text));
	assert_int_equal(facts_add(f, name, 0, big, FACT_MAX + 1), 0);
	assert_int_equal(facts_find(f, name)->err, FACT_TOO_LONG);
	free(big);
}

/* Lines of the first CPU tell the same on a machine of many. */
static void test_long_files(void **state)
{
	struct facts f = {0};
	struct findings out;

	(void)state;
	good(&f);
	put(&f, KERNEL "nmi_watchdog", "1\n");
	put(&f, KERNEL "watchdog_cpumask", "0-3\n");
	put_long(&f, "proc/cpuinfo",
		 "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n\n");
	out = check(&f, 3);
	assert_int_equal(find(&out, "nmi_watchdog")->level, FINDING_OK);
	assert_true(find(&out, "hypervisor")->known);
	findings_free(&out);

	put_long(&f, "proc/cpuinfo", "processor\t: 0\nflags\t\t: tsc constant_tsc nonstop_tsc\n\n");
	out = check(&f, 3);
	assert_string_equal(find(&out, "hypervisor")->title, "no hypervisor");
	findings_free(&out);

	put_long(&f, "proc/stat", "cpu  1 2 3 4 5 6 7 80 9 10\ncpu3 1 2 3 4 5 6 7 250 9 10\n");
	out = check(&f, 3);
	assert_int_equal(find(&out, "steal")->level, FINDING_WARN);
	assert_string_equal(find(&out, "steal")->value, "2.50 s");
	findings_free(&out);

	put_long(&f, "proc/stat", "cpu  1 2 3 4 5 6 7 80 9 10\ncpu0 1 2 3 4 5 6 7 80 9 10\n");
	out = check(&f, 3);
	assert_false(find(&out, "steal")->known);
	findings_free(&out);
	facts_free(&f);
}

/* Files that were too many to keep are not known: neither absent nor fine. */
static void test_not_kept(void **state)
{
	static const struct {
		const char *id, *glob, *file;
	} cases[] = {
		{"thp", MM "transparent_hugepage/enabled", MM "transparent_hugepage/enabled"},
		{"irq", "proc/irq/*/smp_affinity_list", NULL},
		{"irq", "sys/kernel/irq/*/per_cpu_count", "sys/kernel/irq/36/per_cpu_count"},
		{"irq", "sys/kernel/irq/*/actions", "sys/kernel/irq/36/actions"},
		{"irq_managed", "sys/kernel/debug/irq/irqs/*", "sys/kernel/debug/irq/irqs/36"},
		{"irq_managed", "sys/kernel/debug/irq/irqs/*", NULL},
		{"rps", "sys/class/net/*/queues/*/rps_cpus", NULL},
		{"workqueues", WQ "*/cpumask", NULL},
		{"tasks", "run/tasks/0*", NULL},
		{"cpuset_partition", "sys/fs/cgroup/", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct facts f = {0};
		struct findings out;
		bool said = false;

		for (size_t k = 0; k < COUNT(good_world); k++)
			if (!cases[i].file || strcmp(good_world[k].name, cases[i].file))
				put(&f, good_world[k].name, good_world[k].text);
		put(&f, "proc/irq/36/effective_affinity_list", "3\n");
		assert_int_equal(facts_add(&f, cases[i].glob, FACT_NOT_KEPT, NULL, 0), 0);
		out = check(&f, 3);
		for (uint32_t k = 0; k < out.count; k++) {
			const struct finding *x = &out.row[k];

			if (strcmp(x->id, cases[i].id))
				continue;
			if (x->level == FINDING_OK)
				fail_msg("%s: %s", x->id, x->title);
			assert_true(!cases[i].file || !strstr(x->title, "not since boot"));
			said |= !x->known && strstr(x->value, "too much to keep");
		}
		if (!said)
			fail_msg("%s: nothing is said of %s", cases[i].id, cases[i].glob);
		findings_free(&out);
		facts_free(&f);
	}
}

static void test_hostile(void **state)
{
	static const char binary[] = "\xff\x00\x1b[2J;rm -rf /\n$(reboot)`reboot`";
	char *big = malloc(FACT_MAX);
	struct findings out;

	(void)state;
	memset(big, '9', FACT_MAX);
	for (int what = 0; what < 4; what++) {
		struct facts f = {0};

		for (size_t i = 0; i < COUNT(good_world); i++) {
			const char *text = what == 0   ? ""
					   : what == 1 ? binary
					   : what == 2 ? big
						       : "\n\n\n,,,:::---";
			size_t len = what == 0   ? 0
				     : what == 1 ? sizeof(binary) - 1
				     : what == 2 ? FACT_MAX
						 : strlen(text);

			assert_int_equal(facts_add(&f, good_world[i].name, 0, text, len), 0);
		}
		put(&f, CPU "online", "0-3\n");
		put(&f, "proc/irq/5;reboot/smp_affinity_list", "3\n");
		put(&f, "sys/class/net/$(reboot)\n/queues/rx-0/rps_cpus", "8\n");
		put(&f, "sys/class/net/`x`/queues/rx-0/rps_cpus", "8\n");
		put(&f, WQ "a'b/cpumask", "8\n");
		put(&f, "sys/kernel/debug/sched/fair_server/cpu3;reboot/runtime", "1\n");
		out = check(&f, 3);
		for (uint32_t i = 0; i < out.count; i++) {
			const struct finding *x = &out.row[i];

			if (x->fix_kind != FIX_COMMAND || !x->fix)
				continue;
			/* Outside of quotes no name of the machine is in the command. */
			assert_null(strchr(x->fix, '\n'));
			assert_null(strstr(x->fix, "$("));
			assert_null(strchr(x->fix, '\033'));
			if (strchr(x->fix, '`'))
				assert_non_null(strstr(x->fix, "'/sys/class/net/`x`/"));
			assert_null(strstr(x->fix, "reboot"));
		}
		assert_non_null(strstr(find(&out, "workqueues")->fix,
				       "'/sys/devices/virtual/workqueue/a'\\''b/cpumask'"));
		findings_free(&out);
		facts_free(&f);
	}
	free(big);
}

static void test_targets(void **state)
{
	struct facts f = {0};
	struct cpus set;
	char list[64];

	(void)state;
	audit_default_targets(&f, &set);
	assert_true(cpus_empty(&set));
	put(&f, CPU "online", "1-3\n");
	audit_default_targets(&f, &set);
	assert_string_equal(cpus_format(&set, list, sizeof(list)), "2-3");
	put(&f, CPU "isolated", "3-7\n");
	audit_default_targets(&f, &set);
	assert_string_equal(cpus_format(&set, list, sizeof(list)), "3");
	facts_free(&f);
}

/* 128 CPUs, of which the odd ones of the upper half are quiet: the longest lists and masks. */
static void test_many(void **state)
{
	struct audit_options o = {0};
	struct findings out = {0};
	struct facts f = {0};

	(void)state;
	put(&f, CPU "online", "0-127\n");
	put(&f, WQ "cpumask", "ffffffff,ffffffff,ffffffff,ffffffff\n");
	for (unsigned cpu = 65; cpu < 128; cpu += 2)
		cpus_add(&o.targets, cpu);
	assert_int_equal(audit(&f, &o, &out), 0);
	assert_string_equal(find(&out, "unbound_work")->fix,
			    "echo 55555555,55555555,ffffffff,ffffffff > "
			    "/sys/devices/virtual/workqueue/cpumask");
	assert_int_equal(cpus_count(&find(&out, "unbound_work")->cpus), 32);
	findings_free(&out);
	facts_free(&f);
}

/* The text of a file goes into the undo whole, or there is none: of a list that is cut the kernel
 * takes the rest, of a mask that is cut it takes other CPUs. */
static void test_whole_undo(void **state)
{
	char list[4096] = "0", mask[1024] = "", want[8192], *longest;
	struct audit_options o = {0};
	struct findings out = {0};
	struct facts f = {0};

	(void)state;
	put(&f, CPU "online", "0-2047\n");
	put(&f, CPU "possible", "0-2047\n");
	for (unsigned cpu = 2; cpu < 1024; cpu += 2)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), ",%u", cpu);
	for (unsigned word = 0; word < 64; word++)
		snprintf(mask + strlen(mask), sizeof(mask) - strlen(mask), "%s%08x",
			 word ? "," : "", 0xf0000000 + word);
	put(&f, "proc/irq/36/smp_affinity_list", list);
	put(&f, "sys/kernel/irq/36/actions", "ahci\n");
	put(&f, "sys/kernel/irq/36/per_cpu_count", "0,0,9\n");
	put(&f, WQ "cpumask", mask);
	put(&f, WQ "writeback/cpumask", mask);
	put(&f, "sys/class/net/eth0/queues/rx-0/rps_cpus", mask);
	cpus_add(&o.targets, 2);
	for (unsigned word = 0; word < 64; word++)
		cpus_add(&o.targets, word * 32 + 31);
	assert_int_equal(audit(&f, &o, &out), 0);
	snprintf(want, sizeof(want), "echo %s > /proc/irq/36/smp_affinity_list", list);
	assert_string_equal(find(&out, "irq")->undo, want);
	snprintf(want, sizeof(want), "echo %s > /sys/devices/virtual/workqueue/cpumask", mask);
	assert_string_equal(find(&out, "unbound_work")->undo, want);
	snprintf(want, sizeof(want), "echo %s > /sys/devices/virtual/workqueue/writeback/cpumask",
		 mask);
	assert_string_equal(find(&out, "workqueues")->undo, want);
	assert_null(strstr(find(&out, "workqueues")->value, "..."));
	snprintf(want, sizeof(want), "echo %s > /sys/class/net/eth0/queues/rx-0/rps_cpus", mask);
	assert_string_equal(find(&out, "rps")->undo, want);
	findings_free(&out);
	longest = malloc(FACT_MAX);
	assert_non_null(longest);
	memset(longest, '0', FACT_MAX);
	longest[FACT_MAX - 2] = '4'; /* a mask with CPU 2 */
	longest[FACT_MAX - 1] = 0;
	put(&f, WQ "cpumask", longest);
	free(longest);
	assert_int_equal(audit(&f, &o, &out), 0);
	assert_int_equal(find(&out, "unbound_work")->level, FINDING_WARN);
	assert_null(find(&out, "unbound_work")->undo);
	findings_free(&out);
	facts_free(&f);
}

static void add_queue(struct facts *f, unsigned irq, unsigned cpu, unsigned cpus, bool managed,
		      unsigned long long count)
{
	char name[64], text[4096];
	size_t at = 0;

	snprintf(name, sizeof(name), "proc/irq/%u/smp_affinity_list", irq);
	snprintf(text, sizeof(text), "%u\n", cpu);
	put(f, name, text);
	snprintf(name, sizeof(name), "proc/irq/%u/effective_affinity_list", irq);
	put(f, name, text);
	snprintf(name, sizeof(name), "sys/kernel/irq/%u/actions", irq);
	snprintf(text, sizeof(text), managed ? "nvme0q%u\n" : "eth0-TxRx-%u\n", irq);
	put(f, name, text);
	for (unsigned i = 0; i < cpus; i++)
		at += snprintf(text + at, sizeof(text) - at, i ? ",%llu" : "%llu",
			       i == cpu ? count : 0);
	snprintf(name, sizeof(name), "sys/kernel/irq/%u/per_cpu_count", irq);
	put(f, name, text);
}

/* 256 CPUs, all but four of them quiet, with 613 network queues and 64 of a disk on these: one
 * finding of each kind, the busiest first, with one command. */
static void test_many_irqs(void **state)
{
	struct audit_options o = {0};
	struct findings out = {0};
	char title[FINDING_TITLE];
	struct facts f = {0};
	const struct finding *x;

	(void)state;
	put(&f, CPU "online", "0-255\n");
	put(&f, CPU "possible", "0-255\n");
	for (unsigned i = 0; i < 613; i++)
		add_queue(&f, 100 + i, 4 + i % 252, 256, false, i == 500 ? 1000000 : 1 + i);
	for (unsigned i = 0; i < 64; i++)
		add_queue(&f, 1000 + i, 4 + i, 256, true, 7);
	add_queue(&f, 30, 2, 256, false, 99); /* stays on a CPU that may have it */
	for (unsigned cpu = 4; cpu < 256; cpu++)
		cpus_add(&o.targets, cpu);
	assert_int_equal(audit(&f, &o, &out), 0);
	assert_int_equal(findings_count(&out, FINDING_WARN), 2);
	for (x = out.row; strcmp(x->id, "irq"); x++)
		;
	assert_string_equal(finding_title(x, title, sizeof(title)),
			    "613 IRQs are delivered to cpus 4-255: the busiest eth0-TxRx-600 (irq "
			    "600), eth0-TxRx-712 (irq 712), eth0-TxRx-711 (irq 711)");
	assert_string_equal(x->value, "1,187,690 interrupts on cpus 4-255 since boot");
	assert_string_equal(
		x->fix, "for i in $(seq 100 712); do echo 0-3 > /proc/irq/$i/smp_affinity_list; "
			"done");
	assert_int_equal(x->list.count, 613);
	assert_string_equal(x->list.row[0].fix, "echo 0-3 > /proc/irq/600/smp_affinity_list");
	assert_non_null(strstr(x->undo, "echo 252 > /proc/irq/600/smp_affinity_list"));
	x++;
	assert_string_equal(x->title, "64 managed IRQs are delivered to cpus 4-67");
	assert_string_equal(x->fix,
			    "do no I/O on cpus 4-67: the kernel spreads these interrupts itself");
	assert_string_equal(x->cause, "I02");
	findings_free(&out);
	facts_free(&f);
}

/* A managed IRQ leaves a CPU where isolcpus=managed_irq is new, and its mask has a CPU that is not
 * isolated then: else nothing but less I/O helps. */
static void test_managed(void **state)
{
	static const struct {
		const char *cmdline, *isolated, *mask, *fix;
	} rows[] = {
		{"quiet", "", "2-3", "isolcpus=managed_irq,domain,3"},
		{"isolcpus=3", "3", "2-3", "isolcpus=managed_irq,domain,3"},
		{"isolcpus=managed_irq,domain,1", "1", "2-3", "isolcpus=managed_irq,domain,1,3"},
		{"isolcpus=managed_irq,domain,3", "3", "3",
		 "do no I/O on cpu 3: the kernel spreads these interrupts itself"},
		{"isolcpus=managed_irq,3", "", "3",
		 "do no I/O on cpu 3: the kernel spreads these interrupts itself"},
		{"isolcpus=managed_irq,domain,1,3", "1,3", "1,3",
		 "do no I/O on cpus 1,3: the kernel spreads these interrupts itself"},
		{"isolcpus=managed_irq,domain,3", "3", "2-3", /* as of cpu 2, which was offline */
		 "do no I/O on cpu 3: the kernel spreads these interrupts itself"},
		{"quiet", "", "3",
		 "do no I/O on cpu 3: the kernel spreads these interrupts itself"},
		{"isolcpus=1", "1", "1,3",
		 "do no I/O on cpus 1,3: the kernel spreads these interrupts itself"},
		{"quiet", "", "3,7", /* cpu 7 is offline */
		 "do no I/O on cpu 3: the kernel spreads these interrupts itself"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct finding *x;
		struct facts f = {0};
		struct findings out;

		good(&f);
		put(&f, CPU "possible", "0-7\n");
		put(&f, CPU "nohz_full", "\n");
		put(&f, "proc/cmdline", rows[i].cmdline);
		put(&f, CPU "isolated", rows[i].isolated);
		put(&f, "proc/irq/36/smp_affinity_list", rows[i].mask);
		put(&f, "proc/irq/36/effective_affinity_list", "3\n");
		put(&f, "sys/kernel/irq/36/per_cpu_count", "0,0,0,77,0,0,0,0\n");
		put(&f, "sys/kernel/debug/irq/irqs/36", "IRQD_AFFINITY_MANAGED\n");
		out = check(&f, 3);
		x = find(&out, "irq");
		assert_string_equal(x->title, "IRQ 36 (virtio1-req.0) is delivered to cpu 3");
		assert_string_equal(x->fix, rows[i].fix);
		assert_int_equal(x->fix_kind, rows[i].fix[0] == 'i' ? FIX_BOOT : FIX_WORDS);
		assert_string_equal(x->cause, "I02");
		findings_free(&out);
		facts_free(&f);
	}
}

/* Nobody can move a managed IRQ that did not come yet, or that may come: no command tries to. */
static void test_managed_silent(void **state)
{
	struct facts f = {0};
	struct findings out;

	(void)state;
	put(&f, CPU "online", "0-3\n");
	put(&f, CPU "possible", "0-3\n");
	for (unsigned irq = 40; irq < 43; irq++) {
		add_queue(&f, irq, 3, 4, irq == 40, 0);
		out = check(&f, 3);
		assert_int_equal(find(&out, "irq")->level, FINDING_INFO);
		assert_text(find(&out, "irq")->fix,
			    irq == 40   ? NULL
			    : irq == 41 ? "for i in 41; do echo 0-2 > "
					  "/proc/irq/$i/smp_affinity_list; done"
					: "for i in 41 42; do echo 0-2 > "
					  "/proc/irq/$i/smp_affinity_list; done");
		findings_free(&out);
	}
	facts_free(&f);
}

/* A list in a form that is not read here is not known; one that is in force is known. */
static void test_rcu_list(void **state)
{
	struct facts f = {0};
	struct findings out;

	(void)state;
	good(&f);
	put(&f, "proc/cmdline", "rcu_nocbs=1-N\n");
	for (int full = 0; full < 2; full++) {
		put(&f, CPU "nohz_full", full ? "3\n" : "\n");
		out = check(&f, 3);
		assert_int_equal(find(&out, "rcu_nocb")->level, full ? FINDING_OK : FINDING_INFO);
		assert_int_equal(find(&out, "rcu_nocb")->known, full);
		findings_free(&out);
	}
	facts_free(&f);
}

static const struct {
	const char *features, *text, *runtime, *mounts;
	enum finding_level throttle, server, hrtick;
	bool known[3];
} schedulers[] = {
	{"sched/features",
	 "HRTICK",
	 "950000",
	 "debugfs",
	 FINDING_WARN,
	 FINDING_OK,
	 FINDING_INFO,
	 {true, true, true}},
	{"sched_features",
	 "HRTICK",
	 "950000",
	 "debugfs",
	 FINDING_WARN,
	 FINDING_OK,
	 FINDING_INFO,
	 {true, true, true}},
	{"sched_features",
	 "NO_HRTICK",
	 "950000",
	 "debugfs",
	 FINDING_WARN,
	 FINDING_OK,
	 FINDING_OK,
	 {true, true, true}},
	{"sched/features",
	 NULL,
	 "950000",
	 "debugfs",
	 FINDING_INFO,
	 FINDING_INFO,
	 FINDING_OK,
	 {false, false, true}},
	{"sched/features",
	 NULL,
	 "-1",
	 "debugfs",
	 FINDING_OK,
	 FINDING_INFO,
	 FINDING_OK,
	 {true, false, true}},
	{"sched/features",
	 NULL,
	 "950000",
	 "sysfs",
	 FINDING_INFO,
	 FINDING_INFO,
	 FINDING_INFO,
	 {false, false, false}},
};

/* Kernels before 5.13 have the scheduler's features elsewhere; those without SCHED_DEBUG show none,
 * and may throttle or have the fair server all the same. */
static void test_scheduler_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(schedulers); i++) {
		const struct finding *x[3];
		struct facts f = {0};
		struct findings out;
		char name[64];

		for (size_t k = 0; k < COUNT(good_world); k++)
			if (!strstr(good_world[k].name, "debug/sched/"))
				put(&f, good_world[k].name, good_world[k].text);
		snprintf(name, sizeof(name), "sys/kernel/debug/%s", schedulers[i].features);
		put(&f, name, schedulers[i].text);
		put(&f, KERNEL "sched_rt_runtime_us", schedulers[i].runtime);
		put(&f, "proc/mounts", schedulers[i].mounts);
		out = check(&f, 3);
		x[0] = find(&out, "rt_throttle");
		x[1] = find(&out, "fair_server");
		x[2] = find(&out, "sched_features");
		assert_int_equal(x[0]->level, schedulers[i].throttle);
		assert_int_equal(x[1]->level, schedulers[i].server);
		assert_int_equal(x[2]->level, schedulers[i].hrtick);
		for (int k = 0; k < 3; k++)
			assert_int_equal(x[k]->known, schedulers[i].known[k]);
		if (schedulers[i].text && !strcmp(schedulers[i].text, "HRTICK")) {
			snprintf(name, sizeof(name), "echo NO_HRTICK > /sys/kernel/debug/%s",
				 schedulers[i].features);
			assert_string_equal(x[2]->fix, name);
			snprintf(name, sizeof(name), "echo HRTICK > /sys/kernel/debug/%s",
				 schedulers[i].features);
			assert_string_equal(x[2]->undo, name);
		}
		findings_free(&out);
		facts_free(&f);
	}
}

/* In the one command runs of four and more numbers become one word. */
static void test_numbers(void **state)
{
	static const unsigned irqs[] = {1, 3, 4, 5, 7, 8, 9, 10, 12, 120, 121, 122, 123, 124};
	struct facts f = {0};
	struct findings out;

	(void)state;
	put(&f, CPU "online", "0-3\n");
	put(&f, CPU "possible", "0-3\n");
	for (size_t i = 0; i < COUNT(irqs); i++)
		add_queue(&f, irqs[i], 3, 4, false, 1);
	out = check(&f, 3);
	assert_string_equal(find(&out, "irq")->fix,
			    "for i in 1 3 4 5 $(seq 7 10) 12 $(seq 120 124); do echo 0-2 > "
			    "/proc/irq/$i/smp_affinity_list; done");
	findings_free(&out);
	facts_free(&f);
}

/* Lists that differ the kernel takes one of: so both name the targets and all that are isolated
 * already, in place of what the command line has. */
static void test_lists(void **state)
{
	static const struct {
		const char *cmdline, *isolated, *nohz_full, *fix, *replaced;
	} rows[] = {
		{"quiet\n", "\n", "\n", "nohz_full=7", NULL},
		{"quiet nohz_full=2-5\n", "\n", "2-5\n", "nohz_full=2-5,7", "nohz_full=2-5"},
		{"isolcpus=managed_irq,domain,2-5 nohz_full=2-5\n", "2-5\n", "2-5\n",
		 "isolcpus=managed_irq,domain,2-5,7 nohz_full=2-5,7",
		 "isolcpus=managed_irq,domain,2-5 nohz_full=2-5"},
		{"isolcpus=nohz,domain,2-5,7 x\n", "2-5,7\n", "\n", "nohz_full=2-5,7", NULL},
		{"isolcpus=nohz,domain,2-5\n", "2-5\n", "\n",
		 "isolcpus=managed_irq,domain,nohz,2-5,7 nohz_full=2-5,7",
		 "isolcpus=nohz,domain,2-5"},
		/* lists that the kernel has refused: the second, and one with a CPU that is none */
		{"isolcpus=2-3 nohz_full=5\n", "2-3\n", "\n",
		 "isolcpus=managed_irq,domain,2-3,5,7 nohz_full=2-3,5,7",
		 "isolcpus=2-3 nohz_full=5"},
		{"isolcpus=5,99\n", "\n", "\n", "isolcpus=managed_irq,domain,5,7 nohz_full=5,7",
		 "isolcpus=5,99"},
		/* in a form that is not read here: what is in force counts */
		{"nohz_full=4-N\n", "\n", "4-6\n", "nohz_full=4-7", "nohz_full=4-N"},
		{"quiet nohz_full=0-6\n", "\n", "0-6\n",
		 "with those that are isolated already no CPU would be left to housekeeping: "
		 "isolate fewer",
		 NULL},
	};
	const struct finding *x;
	struct facts f = {0};
	struct findings out;

	(void)state;
	good(&f);
	put(&f, CPU "online", "0-7\n");
	put(&f, CPU "possible", "0-7\n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		put(&f, "proc/cmdline", rows[i].cmdline);
		put(&f, CPU "isolated", rows[i].isolated);
		put(&f, CPU "nohz_full", rows[i].nohz_full);
		out = check(&f, 7);
		x = find(&out, "nohz_full");
		assert_string_equal(x->fix, rows[i].fix);
		assert_text(x->replaced, rows[i].replaced);
		findings_free(&out);
	}
	facts_free(&f);
}

/* A real-time thread that has CPUs of its own besides, isolated or nohz_full, stays on those; what
 * may run on others, too, and the kernel's threads are moved off all of them. */
static void test_realtime_elsewhere(void **state)
{
	static const struct {
		const char *allowed, *fix, *undo;
	} rows[] = {
		{"2-3", "taskset -pc 2 40; taskset -pc 2 41",
		 "taskset -pc 2-3 40; taskset -pc 2-3 41"},
		{"1,3", "taskset -pc 1 40; taskset -pc 1 41",
		 "taskset -pc 1,3 40; taskset -pc 1,3 41"},
		{"1-3,7", "taskset -pc 1-2 40; taskset -pc 1-2 41", /* 7 is offline */
		 "taskset -pc 1-3,7 40; taskset -pc 1-3,7 41"},
		{"0,2-3", "for t in 40 41 42; do taskset -pc 0 $t; done",
		 "taskset -pc 0,2-3 40; taskset -pc 0,2-3 41; taskset -pc 2-3 42"},
		{"3,7", "for t in 40 41 42; do taskset -pc 0 $t; done",
		 "taskset -pc 3,7 40; taskset -pc 3,7 41; taskset -pc 2-3 42"},
	};
	char tasks[256];
	struct facts f = {0};
	struct findings out;

	(void)state;
	good(&f);
	put(&f, CPU "isolated", "1,3\n");
	put(&f, CPU "nohz_full", "2-3,7\n");
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool own = i < 3;
		unsigned n = 0;

		snprintf(tasks, sizeof(tasks),
			 "40 40 S 400000 1 1 80 %s app\n41 40 S 400000 1 2 70 %s app\n"
			 "42 42 S " KTHREAD " 1 1 1 2-3 kthread\n",
			 rows[i].allowed, rows[i].allowed);
		put(&f, TASKS, tasks);
		out = check(&f, 3);
		for (uint32_t k = 0; k < out.count; k++) {
			const struct finding *x = &out.row[k];

			if (strcmp(x->id, "realtime"))
				continue;
			n++;
			assert_int_equal(x->level, FINDING_WARN);
			if (own && strstr(x->title, "kthread")) {
				assert_string_equal(x->fix, "for t in 42; do taskset -pc 0 $t; "
							    "done");
				assert_null(strstr(x->title, "app"));
				continue;
			}
			assert_non_null(strstr(x->title, "app [40] prio 80, app [41] prio 70"));
			assert_string_equal(x->cause, "K34");
			assert_string_equal(x->fix, rows[i].fix);
			assert_string_equal(x->undo, rows[i].undo);
		}
		assert_int_equal(n, own ? 2 : 1);
		findings_free(&out);
	}
	facts_free(&f);
}

static const struct {
	unsigned apart; /* from one thread of a core to the next */
	const char *isolated, *targets, *fix;
	enum fix_kind kind;
	const char *nohz_full; /* NULL: none */
} cores[] = {
	{4, "", "2-3", "nosmt", FIX_BOOT},
	{4, "", "6-7", "for i in 2 3; do echo 0 > /sys/devices/system/cpu/cpu$i/online; done",
	 FIX_COMMAND},
	{4, "", "2,7", /* 6 is a second thread, 3 a first */
	 "for i in 3 6; do echo 0 > /sys/devices/system/cpu/cpu$i/online; done", FIX_COMMAND},
	{4, "", "4-7",
	 "leave a whole core to housekeeping, and isolate the first thread of each of the "
	 "others",
	 FIX_WORDS},
	{4, "", "0-3",
	 "leave a whole core to housekeeping, and isolate the first thread of each of the "
	 "others",
	 FIX_WORDS},
	{1, "", "3,5", "for i in 2 4; do echo 0 > /sys/devices/system/cpu/cpu$i/online; done",
	 FIX_COMMAND},
	{1, "", "2,4", "nosmt", FIX_BOOT},
	{4, "2-3", "2-3", "nosmt", FIX_BOOT},
	/* nosmt would take these away, too */
	{4, "2-3,5", "2-3", "for i in 6 7; do echo 0 > /sys/devices/system/cpu/cpu$i/online; done",
	 FIX_COMMAND},
	{4, "2-3,6", "2-3", "echo 0 > /sys/devices/system/cpu/cpu7/online", FIX_COMMAND},
	{4, "1-3,5", "2-3,6", "echo 0 > /sys/devices/system/cpu/cpu7/online", FIX_COMMAND},
	{4, "2-3,5-6", "1-3", /* only cpus 0, 4 and 7 are left */
	 "echo 0 > /sys/devices/system/cpu/cpu7/online", FIX_COMMAND},
	{4, "1,3,5-6", "0,2-3",
	 "leave a whole core to housekeeping, and isolate the first thread of each of the "
	 "others",
	 FIX_WORDS},
	/* one that is nohz_full alone is as much another workload's */
	{4, "", "1,3", "echo 0 > /sys/devices/system/cpu/cpu5/online", FIX_COMMAND, "2-3,6-7"},
	{4, "2", "1,3", "echo 0 > /sys/devices/system/cpu/cpu5/online", FIX_COMMAND, "7"},
};

/* Without SMT the first thread of each core is left: that is advised only where it is the quiet
 * one, and other threads keep house. */
static void test_threads_of_cores(void **state)
{
	char name[64], list[8];
	struct facts f = {0};

	(void)state;
	put(&f, CPU "online", "0-7\n");
	for (size_t i = 0; i < COUNT(cores); i++) {
		struct audit_options o = {0};
		struct findings out = {0};
		const struct finding *x;

		for (unsigned cpu = 0; cpu < 8; cpu++) {
			unsigned first = cores[i].apart == 1 ? cpu & ~1u : cpu % 4;

			snprintf(name, sizeof(name), CPU "cpu%u/topology/thread_siblings_list",
				 cpu);
			snprintf(list, sizeof(list), "%u,%u\n", first, first + cores[i].apart);
			put(&f, name, list);
		}
		put(&f, CPU "isolated", cores[i].isolated);
		put(&f, CPU "nohz_full", cores[i].nohz_full ? cores[i].nohz_full : "\n");
		assert_int_equal(cpus_parse(cores[i].targets, &o.targets, NULL, 0), 0);
		assert_int_equal(audit(&f, &o, &out), 0);
		x = find(&out, "smt");
		assert_string_equal(x->fix, cores[i].fix);
		assert_int_equal(x->fix_kind, cores[i].kind);
		findings_free(&out);
	}
	facts_free(&f);
}

/* A kernel's own rule decides on machines of three or four packages or memory nodes, and on those
 * that list no other clock. */
static void test_clock_watchdog(void **state)
{
	static const struct {
		unsigned packages, nodes;
		const char *clocks;
		enum finding_level level;
		bool known;
	} rows[] = {
		{1, 1, "tsc hpet", FINDING_OK, true},    {2, 2, "tsc hpet", FINDING_OK, true},
		{2, 4, "tsc hpet", FINDING_INFO, false}, {4, 2, "tsc hpet", FINDING_INFO, false},
		{5, 1, "tsc hpet", FINDING_WARN, true},  {5, 1, "tsc \n", FINDING_INFO, false},
		{1, 1, "tsc \n", FINDING_OK, true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct facts f = {0};
		struct findings out;
		const struct finding *x;
		char name[64], text[8];

		good(&f);
		put(&f, "proc/cpuinfo", "x\nflags\t: tsc constant_tsc nonstop_tsc tsc_adjust\n");
		for (unsigned n = 0; n < rows[i].nodes; n++) {
			snprintf(name, sizeof(name), "sys/devices/system/node/node%u/cpulist", n);
			put(&f, name, n ? "\n" : "0-3\n");
		}
		snprintf(text, sizeof(text), "%u\n", rows[i].packages - 1);
		put(&f, CPU "cpu3/topology/physical_package_id", text);
		put(&f, CLOCK "available_clocksource", rows[i].clocks);
		out = check(&f, 3);
		x = find(&out, "clock_watchdog");
		assert_int_equal(x->level, rows[i].level);
		assert_int_equal(x->known, rows[i].known);
		findings_free(&out);
		facts_free(&f);
	}
}

/* A target that is alone on its core may be a second thread, the first of which is offline. */
static void test_offline_threads(void **state)
{
	struct audit_options o = {0};
	struct findings out = {0};
	const struct finding *x;
	struct facts f = {0};

	(void)state;
	put(&f, CPU "online", "0-1,3-7\n");
	put(&f, CPU "cpu1/topology/thread_siblings_list", "1,5\n");
	put(&f, CPU "cpu3/topology/thread_siblings_list", "3,7\n");
	put(&f, CPU "cpu6/topology/thread_siblings_list", "6\n");
	assert_int_equal(cpus_parse("1,3,6", &o.targets, NULL, 0), 0);
	assert_int_equal(audit(&f, &o, &out), 0);
	x = find(&out, "smt");
	assert_string_equal(x->fix,
			    "for i in 5 7; do echo 0 > /sys/devices/system/cpu/cpu$i/online; done");
	findings_free(&out);
	facts_free(&f);
}

/* Swap areas are brought back, also those that /etc/fstab does not have. */
static void test_swap(void **state)
{
	static const struct {
		const char *areas, *undo;
	} rows[] = {
		{"/dev/zram0 partition\t8388604\t0\t100\n", "swapon -p 100 /dev/zram0"},
		{"/dev/sda2 partition 1 0 -2\n/my\\040swap\\134it's file 1 0 0\n",
		 "swapon /dev/sda2; swapon -p 0 '/my swap\\it'\\''s'"},
		{"/dev/sda2 partition 1 0 -2\n/x\\040(deleted) file 1 0 -3\n", NULL},
		{"/a\\012reboot file 1 0 -2\n", NULL},
		{"/dev/sda2 partition\n", NULL},
	};
	struct facts f = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct finding *x;
		struct findings out;
		char text[256];

		snprintf(text, sizeof(text), "Filename Type Size Used Priority\n%s", rows[i].areas);
		put(&f, "proc/swaps", text);
		out = check(&f, 3);
		x = find(&out, "swap");
		assert_string_equal(x->fix, "swapoff -a");
		assert_text(x->undo, rows[i].undo);
		findings_free(&out);
	}
	facts_free(&f);
}

/* Others that are isolated or nohz_full get no work, unless there is no other CPU. */
static void test_others(void **state)
{
	static const struct {
		const char *id, *fix, *otherwise; /* NULL: none */
	} rows[] = {
		{"irq", "echo 0 > /proc/irq/36/smp_affinity_list"},
		{"irq_default", "echo 1 > /proc/irq/default_smp_affinity"},
		{"unbound_work", "echo 1 > /sys/devices/virtual/workqueue/cpumask"},
		{"softlockup", "sysctl -w kernel.watchdog_cpumask=0"},
		{"rcu_threads", "for t in 17; do taskset -pc 0 $t; done"},
		{"irqbalance",
		 "IRQBALANCE_BANNED_CPULIST=1-3 (before 1.8 IRQBALANCE_BANNED_CPUS=e) in "
		 "/etc/default/irqbalance or /etc/sysconfig/irqbalance, and restart it; or "
		 "systemctl disable --now irqbalance",
		 "systemctl disable --now irqbalance: with those that are banned no CPU would be "
		 "left to it"},
	};
	/* The fix where the only other CPU is isolated. */
	static const char none[] =
		"no other CPU is left for it: all others are isolated or nohz_full";

	(void)state;
	for (int last = 0; last < 2; last++) {
		struct facts f = {0};
		struct findings out;

		good(&f);
		put(&f, CPU "online", last ? "2-3\n" : "0-3\n");
		put(&f, CPU "isolated", "2\n");
		put(&f, CPU "nohz_full", "1-2\n");
		put(&f, "proc/cmdline", "isolcpus=2 nohz_full=1-2\n");
		put(&f, "proc/irq/36/smp_affinity_list", "0-3\n");
		put(&f, "proc/irq/default_smp_affinity", "9\n");
		put(&f, WQ "cpumask", "b\n");
		put(&f, KERNEL "watchdog_cpumask", "0-1,3\n");
		put(&f, TASKS,
		    "17 17 S " KTHREAD " 1 0 0 0-3 rcu_preempt\n"
		    "9 9 S 400000 0 0 0 0-2 irqbalance\n");
		out = check(&f, 3);
		for (size_t i = 0; i < COUNT(rows); i++)
			assert_text(find(&out, rows[i].id)->fix, !last ? rows[i].fix
								 : rows[i].otherwise
									 ? rows[i].otherwise
									 : none);
		findings_free(&out);
		facts_free(&f);
	}
}

/* Slices that lose the CPU would take it from a workload in them: no command does that unasked. On
 * cgroup v1 it is not even said. */
static void test_slices(void **state)
{
	const struct finding *x;
	struct facts f = {0};
	struct findings out;

	(void)state;
	good(&f);
	put(&f, TASKS, GOOD_TASKS "99 99 R 400000 3 0 0 0-3 cc1\n98 98 S 400000 1 0 0 0-3 cron\n");
	for (int v1 = 0; v1 < 2; v1++) {
		int seen = 0;

		if (v1)
			put(&f, "sys/fs/cgroup/cpuset.cpus.isolated", NULL);
		out = check(&f, 3);
		for (x = out.row; x < out.row + out.count; x++) {
			if (strcmp(x->id, "tasks") || x->level < FINDING_WARN)
				continue;
			assert_int_equal(x->fix_kind, FIX_WORDS);
			assert_null(x->undo);
			assert_int_equal(!strstr(x->fix, "AllowedCPUs=0-2: culprit explain K34"),
					 v1);
			assert_true(strlen(x->fix) <= FIX_MAX);
			assert_true(!v1 || strstr(x->fix, "taskset -c 0-2"));
			seen++;
		}
		assert_int_equal(seen, 2);
		findings_free(&out);
	}
	facts_free(&f);
}

/* Several workqueues and several throttled threads are one finding each, too. */
static void test_alike(void **state)
{
	static const char tasks[] = "812 810 S 400000 3 0 0 3 one\n813 810 S 400000 3 0 0 3 two\n";
	struct facts f = {0};
	struct findings out;
	char title[FINDING_TITLE];

	(void)state;
	good(&f);
	put(&f, WQ "cpumask", "f\n");
	put(&f, WQ "a/cpumask", "f\n");
	put(&f, WQ "b c/cpumask", "8\n");
	put(&f, TASKS, tasks);
	put(&f, "sys/fs/cgroup/a/cpu.max", "50000 100000\n");
	put(&f, "sys/fs/cgroup/a/cgroup.procs", "810\n");
	out = check(&f, 3);
	assert_string_equal(finding_title(find(&out, "workqueues"), title, sizeof(title)),
			    "work items of 2 workqueues may run on cpu 3: a, b c");
	assert_string_equal(find(&out, "workqueues")->fix,
			    "echo 7 > /sys/devices/virtual/workqueue/a/cpumask; "
			    "echo 7 > '/sys/devices/virtual/workqueue/b c/cpumask'");
	assert_string_equal(find(&out, "workqueues")->undo,
			    "echo f > /sys/devices/virtual/workqueue/a/cpumask; "
			    "echo 8 > '/sys/devices/virtual/workqueue/b c/cpumask'");
	assert_string_equal(finding_title(find(&out, "cpu_quota"), title, sizeof(title)),
			    "2 threads on cpu 3 are under CPU quotas, which throttle them and keep "
			    "their tick: one [812], two [813]");
	assert_string_equal(find(&out, "cpu_quota")->fix, "echo max > /sys/fs/cgroup/a/cpu.max");
	findings_free(&out);
	/* A quota above it stays in force when one below is taken away, also on cgroup v1. */
	put(&f, "sys/fs/cgroup/a/b/cpu.max", "9 100\n");
	put(&f, "sys/fs/cgroup/a/b/c/cgroup.procs", "810\n");
	put(&f, "sys/fs/cgroup/a/other/cpu.max", "1 100\n");
	put(&f, "sys/fs/cgroup/a/other/cgroup.procs", "81\n");
	put(&f, "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "5000\n");
	put(&f, "sys/fs/cgroup/cpu,cpuacct/x/y/cgroup.procs", "810\n");
	put(&f, "sys/fs/cgroup/a/cgroup.procs", "\n");
	out = check(&f, 3);
	assert_string_equal(finding_title(find(&out, "cpu_quota"), title, sizeof(title)),
			    "2 threads on cpu 3 are under CPU quotas, which throttle them and keep "
			    "their tick: one [812], two [813]");
	assert_string_equal(find(&out, "cpu_quota")->fix,
			    "echo max > /sys/fs/cgroup/a/cpu.max; "
			    "echo max > /sys/fs/cgroup/a/b/cpu.max; "
			    "echo -1 > /sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us");
	assert_string_equal(find(&out, "cpu_quota")->undo,
			    "echo '50000 100000' > /sys/fs/cgroup/a/cpu.max; "
			    "echo '9 100' > /sys/fs/cgroup/a/b/cpu.max; "
			    "echo 5000 > /sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us");
	findings_free(&out);
	facts_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_fair_server),
		cmocka_unit_test(test_irqbalance),
		cmocka_unit_test(test_iommu),
		cmocka_unit_test(test_all_have_steps),
		cmocka_unit_test(test_backported),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_long_files),
		cmocka_unit_test(test_not_kept),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_many_irqs),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_managed),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_threads_of_cores),
		cmocka_unit_test(test_realtime_elsewhere),
		cmocka_unit_test(test_clock_watchdog),
		cmocka_unit_test(test_offline_threads),
		cmocka_unit_test(test_swap),
		cmocka_unit_test(test_whole_undo),
		cmocka_unit_test(test_rcu_list),
		cmocka_unit_test(test_scheduler_files),
		cmocka_unit_test(test_managed_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
