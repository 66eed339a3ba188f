/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on runs that are made up here, and what the audit and the run know together: costs,
 * and commands that are the machine's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "audit/advise.h"
#include "audit/conclude.h"

static struct view v;

static int begin(void **state)
{
	static const unsigned cpus[] = {3};

	(void)state;
	world_view(&v, "judged", cpus, 1);
	world_lasts(&v, 10000000000);
	cpus_parse("0-2", &v.run.housekeeping, NULL, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	view_free(&v);
	return 0;
}

static void fact(const char *name, const char *text)
{
	world_fact(&v, name, text);
}

/* count intervals of ns each, each a hiccup of its own. */
static struct source *add(enum source_kind kind, uint32_t id, const char *name,
			  const char *function, unsigned count, uint64_t ns)
{
	struct source *s = world_runs(&v, 0, kind, id, name, function, count, ns);

	if (kind == SOURCE_OUTSIDE && !strcmp(name, v.run.rest))
		s->word = WORD_REST;
	return s;
}

static void expect(const char *want)
{
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(v.cpu[0].verdict, want);
	assert_string_equal(view_verdict(&v), want);
}

static void machine(void)
{
	fact("sys/devices/system/cpu/online", "0-3\n");
	fact("sys/devices/system/cpu/possible", "0-3\n");
	fact("proc/cmdline", "quiet\n");
}

static void test_quiet(void **state)
{
	(void)state;
	add(SOURCE_IRQ, 36, "eth0", "eth_intr", 10, 3100);
	expect("cpu 3 is quiet: it lost 0.0003 % of its time to hiccups, at most 3.10 us at once");
	machine();
	fact("sys/devices/system/cpu/isolated", "3\n");
	fact("sys/devices/system/cpu/nohz_full", "3\n");
	expect("cpu 3 is quiet: it lost 0.0003 % of its time to hiccups, at most 3.10 us at once");
	fact("sys/devices/system/cpu/nohz_full", "\n");
	expect("cpu 3 is quiet: it lost 0.0003 % of its time to hiccups, at most 3.10 us at once; "
	       "the audit still finds 1 thing not in order (culprit audit)");
}

/* One of three hiccups that took 900 us and that nobody read took 300 us: no CPU is quiet with
 * them, and how much it lost at once is not known. */
static void test_not_all_was_read(void **state)
{
	static const unsigned cpus[] = {0, 3};

	(void)state;
	add(SOURCE_IRQ, 36, "eth0", "eth_intr", 10, 3100);
	v.cpu[0].hiccups_lost = 3;
	v.cpu[0].hiccups_lost_ns = 900000;
	expect("cpu 3 loses little, 0.0093 % (3 hiccups, 900 us in all, were not recorded), and "
	       "how much at once is not known");
	v.cpu[0].hiccups_lost = 1;
	expect("cpu 3 loses little, 0.0093 % (1 hiccup, 900 us, was not recorded), and how much at "
	       "once is not known");
	v.cpu[0].hiccups_lost_ns = 0; /* not known, as in a watch */
	expect("cpu 3 loses little, 0.0003 % (1 hiccup was not recorded), and how much at once is "
	       "not known");
	v.cpu[0].hiccups_lost_ns = 900000;
	add(SOURCE_THREAD, 77, "kworker/3:2", "vmstat_update", 1, 38200)->kernel_thread = true;
	expect("cpu 3 loses little, 0.0097 % (1 hiccup, 900 us, was not recorded), but up to "
	       "38.2 us at once to the kernel thread kworker/3:2 [77] > vmstat_update: sysctl "
	       "vm.stat_interval=120");
	view_free(&v);
	world_view(&v, "judged", cpus, 2);
	world_lasts(&v, 10000000000);
	for (int i = 0; i < 2; i++) {
		v.cpu[i].hiccups_lost = 3;
		v.cpu[i].hiccups_lost_ns = 900000;
	}
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(v.groups.row[0].verdict,
			    "cpus 0,3 lose little, at most 0.009 % each (6 hiccups, 1.80 ms in "
			    "all, were not recorded), and how much at once is not known");
	for (int i = 0; i < 2; i++)
		v.cpu[i].hiccups_lost_ns = 900000000;
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(v.cpu[0].verdict,
			    "cpu 0 loses 9 % of its time (3 hiccups, 900 ms in all, were not "
			    "recorded), and nobody can be named");
	assert_string_equal(v.groups.row[0].verdict,
			    "cpus 0,3 lose 9 % of their time each (6 hiccups, 1.80 s in all, were "
			    "not recorded), and nobody can be named");
	v.run.windows = true;
	snprintf(v.run.sampler, sizeof(v.run.sampler), "sleep");
	v.cpu[0].threshold_ns = v.cpu[1].threshold_ns = 50000;
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(v.groups.row[0].verdict,
			    "sleep on cpus 0,3: none that was recorded was slow: none took longer "
			    "than 50.0 us (6 hiccups, 1.80 s in all, were not recorded)");
	for (int i = 0; i < 2; i++) {
		v.cpu[i].hiccups_lost = v.cpu[i].hiccups_lost_ns = 0;
		v.cpu[i].unread = 5;
	}
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(v.groups.row[0].verdict,
			    "sleep on cpus 0,3: none that was read was slow: none took longer than "
			    "50.0 us");
}

static void test_more_was_not_read_than_read(void **state)
{
	(void)state;
	v.cpu[0].hiccups_lost = 1;
	v.cpu[0].hiccups_lost_ns = 900000;
	add(SOURCE_THREAD, 77, "kworker/3:2", "vmstat_update", 1, 20000000)->kernel_thread = true;
	expect("cpu 3 loses 0.209 % of its time (1 hiccup, 900 us, was not recorded), 0.2 % to the "
	       "kernel thread kworker/3:2 [77] > vmstat_update: sysctl vm.stat_interval=120");
	v.cpu[0].hiccups_lost = 100000;
	v.cpu[0].hiccups_lost_ns = 5000000000;
	expect("cpu 3 loses 50.2 % of its time (100,000 hiccups, 5.00 s in all, were not "
	       "recorded), and who took most of it is not known; 0.2 % went to the kernel thread "
	       "kworker/3:2 [77] > vmstat_update: sysctl vm.stat_interval=120");
	v.cpu[0].hiccups_lost_ns = 0;
	expect("cpu 3 loses 0.2 % of its time (100,000 hiccups were not recorded), and who took "
	       "most of it is not known; 0.2 % went to the kernel thread kworker/3:2 [77] > "
	       "vmstat_update: sysctl vm.stat_interval=120");
}

static void test_not_all_of_alike_cpus_was_read(void **state)
{
	static const unsigned cpus[] = {0, 3};

	(void)state;
	view_free(&v);
	world_view(&v, "judged", cpus, 2);
	world_lasts(&v, 10000000000);
	for (uint32_t i = 0; i < 2; i++) {
		v.cpu[i].hiccups_lost = 3;
		v.cpu[i].hiccups_lost_ns = 900000;
		world_runs(&v, i, SOURCE_VECTOR, 99, "frobnicator", NULL, 2500, 16400);
	}
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(v.groups.row[0].verdict,
			    "cpus 0,3 lose 0.419 % of their time each (6 hiccups, 1.80 ms in all, "
			    "were not recorded), 0.41 % each to frobnicator: the cause book has "
			    "nothing on it");
	v.cpu[0].hiccups_lost_ns = v.cpu[1].hiccups_lost_ns = 900000000;
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(v.groups.row[0].verdict,
			    "cpus 0,3 lose 9.41 % of their time each (6 hiccups, 1.80 s in all, "
			    "were not recorded), and who took most of it is not known; 0.41 % each "
			    "went to frobnicator: the cause book has nothing on it");
}

static void test_nothing_at_all(void **state)
{
	(void)state;
	expect("cpu 3 is quiet: it lost 0 % of its time to hiccups");
	v.cpu[0].threshold_ns = 500;
	v.cpu[0].shorts =
		(struct short_gaps){true, 100, 900, 90000}; /* 0.01 % of the time is 1 ms */
	expect("cpu 3 is quiet: it lost 0 % of its time to hiccups");
	v.cpu[0].shorts.total_ns = 6000000;
	expect("cpu 3 is quiet but for gaps under 500 ns, which take 0.06 %: it lost 0 % of its "
	       "time to longer ones");
	v.cpu[0].observed_ns = 0;
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(v.cpu[0].verdict, "");
	assert_null(view_verdict(&v));
}

static void test_not_in_the_book(void **state)
{
	struct source *s = add(SOURCE_VECTOR, 99, "frobnicator", NULL, 2500, 16400);

	(void)state;
	expect("cpu 3 loses 0.41 % to frobnicator: the cause book has nothing on it");
	s->net.sum = 0;
	s = add(SOURCE_THREAD, 0, "swapper/3", NULL, 2500, 16400);
	s->kernel_thread = true;
	expect("cpu 3 loses 0.41 % to the kernel thread swapper/3: culprit explain swapper");
}

static void test_tick(void **state)
{
	struct source *tick =
		add(SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 2500, 16400);

	(void)state;
	add(SOURCE_IRQ, 36, "eth0", "eth_intr", 10, 3100);
	expect("cpu 3 loses 0.41 % to the tick: it is not nohz_full; boot with nohz_full=3");
	machine();
	fact("sys/devices/system/cpu/isolated", "3\n");
	fact("sys/devices/system/cpu/nohz_full", "\n");
	expect("cpu 3 loses 0.41 % to the tick: it is not nohz_full; add nohz_full=3 to the "
	       "command line");
	fact("proc/cmdline", "quiet isolcpus=2-3 nohz_full=2\n");
	fact("sys/devices/system/cpu/nohz_full", "2\n");
	expect("cpu 3 loses 0.41 % to the tick: it is not nohz_full; replace nohz_full=2 by "
	       "nohz_full=2-3 on the command line");
	assert_string_equal(tick->advice, "boot with nohz_full=2-3 in place of nohz_full=2");
	fact("proc/cmdline", "quiet\n");
	fact("sys/devices/system/cpu/nohz_full", "\n");
	fact("run/kconfig", "# CONFIG_NO_HZ_FULL is not set\nCONFIG_HZ=250\n");
	expect("cpu 3 loses 0.41 % to the tick: it is not nohz_full, and this kernel cannot be; "
	       "boot a kernel that is built with CONFIG_NO_HZ_FULL=y, with nohz_full=3");
}

/* The boot CPU cannot be nohz_full, with others or alone: no list names it, and its kernel can. */
static void test_tick_of_the_boot_cpu(void **state)
{
	static const unsigned both[] = {0, 3}, one[] = {0};

	(void)state;
	for (int alone = 0; alone < 2; alone++) {
		view_free(&v);
		world_view(&v, "judged", alone ? one : both, alone ? 1 : 2);
		world_lasts(&v, 10000000000);
		cpus_parse("1-2", &v.run.housekeeping, NULL, 0);
		for (uint32_t i = 0; i < v.ncpus; i++)
			world_runs(&v, i, SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler",
				   2500, 16400);
		machine();
		fact("proc/sys/kernel/osrelease", "6.12.9\n");
		fact("sys/devices/system/cpu/isolated", alone ? "0\n" : "0,3\n");
		fact("sys/devices/system/cpu/nohz_full", "\n");
		fact("run/kconfig", "CONFIG_NO_HZ_FULL=y\nCONFIG_HZ=250\n");
		assert_int_equal(conclude(&v), 0);
		assert_string_equal(v.cpu[0].verdict,
				    "cpu 0 loses 0.41 % to the tick: it is not nohz_full; the boot "
				    "CPU cannot be nohz_full: isolate other CPUs");
		if (alone)
			continue;
		assert_string_equal(v.cpu[1].verdict,
				    "cpu 3 loses 0.41 % to the tick: it is not nohz_full; add "
				    "nohz_full=3 to the command line");
		assert_int_equal(v.groups.n, 1);
		assert_string_equal(
			v.groups.row[0].verdict,
			"cpus 0,3 lose 0.41 % each to the tick: what to do differs from "
			"CPU to CPU, see each with -c");
		/* takes but one list for both parameters, and takes cpu 0 out of this one itself */
		fact("proc/sys/kernel/osrelease", "5.17.9\n");
		assert_int_equal(conclude(&v), 0);
		assert_non_null(strstr(v.cpu[1].verdict, "; add nohz_full=0,3 to the command"));
		assert_non_null(strstr(v.cpu[0].verdict, "; the boot CPU cannot be nohz_full: "));
	}
}

static void kept(uint32_t dependency, uint32_t tid, const char *comm, unsigned count)
{
	struct record r = {.kind = RECORD_TICK, .id = dependency, .arg = tid};

	memcpy(r.name, comm, strlen(comm));
	while (count--)
		nohz_ticks_add(&v.cpu[0].ticks, &r);
}

static void test_tick_that_is_kept(void **state)
{

	(void)state;
	cpus_add(&v.host.nohz_full, 3);
	add(SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 2500, 16400);
	kept(4, 812, "app", 100);
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(v.cpu[0].verdict,
			       "cpu 3 loses 0.41 % to the tick: kept by SCHED while app ran; "));
	/* two rows of one reason, which kept it more often than the largest row's */
	kept(1, 900, "prof-a", 61);
	kept(1, 901, "prof-b", 60);
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(v.cpu[0].verdict, "kept by POSIX_TIMER while prof-a ran; "));
	assert_non_null(strstr(v.cpu[0].verdict, "[900]"));
}

/* The tick is the tick, whatever it is kept for. */
static void test_tick_that_a_quota_keeps(void **state)
{
	struct source *tick =
		add(SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 2500, 16400);

	(void)state;
	cpus_add(&v.host.nohz_full, 3);
	add(SOURCE_VECTOR, 236, "local_timer", "sched_cfs_period_timer", 100, 1000);
	kept(4, 812, "app", 2400);
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(tick->cause, "T09");
	assert_non_null(strstr(v.cpu[0].verdict,
			       "to the tick: kept by SCHED while app ran; no CPU quota (cpu.max)"));
}

static void busy_irq(void)
{
	machine();
	fact("sys/devices/system/cpu/isolated", "3\n");
	fact("sys/devices/system/cpu/nohz_full", "3\n");
	fact("proc/irq/36/smp_affinity_list", "0-3\n");
	fact("proc/irq/36/effective_affinity_list", "3\n");
	fact("sys/kernel/irq/36/actions", "ahci[0000:00:1f.2]\n");
	fact("sys/kernel/irq/36/per_cpu_count", "0,0,0,900\n");
}

static void test_irq(void **state)
{
	struct source *s = add(SOURCE_IRQ, 36, "ahci[0000:00:1f.2]", "ahci_intr", 1000, 12000);

	(void)state;
	add(SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 10, 2000);
	busy_irq();
	expect("cpu 3 loses 0.12 % to IRQ 36 (ahci[0000:00:1f.2]): echo 0-2 > "
	       "/proc/irq/36/smp_affinity_list");
	assert_string_equal(s->advice, "echo 0-2 > /proc/irq/36/smp_affinity_list");
	for (uint32_t i = 0; i < v.findings.count; i++) {
		const struct finding *f = &v.findings.row[i];

		assert_int_equal(f->cost_ns,
				 f->about && f->list.row[0].number == 36 ? 12000000 : 0);
	}
	/* The audit knows things that a name does not tell: nobody can move this one. */
	fact("sys/kernel/debug/irq/irqs/36", "IRQD_AFFINITY_MANAGED\n");
	expect("cpu 3 loses 0.12 % to IRQ 36 (ahci[0000:00:1f.2]): add "
	       "isolcpus=managed_irq,domain,3 to the command line");
	assert_string_equal(s->advice, "boot with isolcpus=managed_irq,domain,3");
	assert_string_equal(s->cause, "I02");
}

/* One cause has several threads, and the setting of one explains no other. */
static void test_only(void **state)
{
	uint64_t cost = 0;

	(void)state;
	add(SOURCE_THREAD, 50, "kswapd0", NULL, 100, 20000)->kernel_thread = true;
	machine();
	fact("proc/sys/vm/compaction_proactiveness", "20\n");
	for (int round = 0; round < 2; round++) {
		assert_int_equal(conclude(&v), 0);
		for (uint32_t i = 0; i < v.findings.count; i++)
			cost += !strcmp(v.findings.row[i].id, "compaction")
					? v.findings.row[i].cost_ns
					: 0;
		assert_int_equal(cost, round ? 5000000 : 0);
		add(SOURCE_THREAD, 51, "kcompactd0", NULL, 100, 50000)->kernel_thread = true;
	}
}

static const struct finding *finding(const char *id)
{
	for (uint32_t i = 0; i < v.findings.count; i++)
		if (!strcmp(v.findings.row[i].id, id))
			return &v.findings.row[i];
	fail_msg("no finding %s", id);
	return NULL;
}

/* No cost is known without a trace, nor of what is in no source. */
static void test_costed(void **state)
{
	(void)state;
	add(SOURCE_IRQ, 36, "ahci", "ahci_intr", 1000, 12000);
	busy_irq();
	fact("sys/kernel/mm/transparent_hugepage/enabled", "[always]\n");
	fact("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "schedutil\n");
	fact("proc/loadavg", "9.00 9.00 9.00 9/99 999\n");
	assert_int_equal(conclude(&v), 0);
	assert_true(finding("irq")->costed && finding("thp")->costed && !finding("thp")->cost_ns);
	assert_false(finding("governor")->costed || finding("load")->costed);
	assert_false(finding("tasks")->costed);
	v.run.symbols_hidden = true;
	fact("sys/kernel/mm/ksm/run", "1\n");
	assert_int_equal(conclude(&v), 0);
	assert_true(finding("irq")->costed && finding("ksm")->costed && !finding("ksm")->cost_ns);
	assert_false(finding("thp")->costed); /* only a function tells its calls */
	v.run.traced = false;
	assert_int_equal(conclude(&v), 0);
	assert_false(finding("irq")->costed || finding("thp")->costed);
}

static void test_other_irq(void **state)
{
	(void)state;
	add(SOURCE_IRQ, 37, "other", "other_intr", 1000, 12000);
	busy_irq();
	assert_int_equal(conclude(&v), 0);
	for (uint32_t i = 0; i < v.findings.count; i++)
		assert_int_equal(v.findings.row[i].cost_ns, 0);
	assert_non_null(strstr(v.cpu[0].verdict, "cpu 3 loses 0.12 % to IRQ 37 (other): "));
}

/* The unit stands behind a thread where it is known; a row of all of a unit's threads is its own.
 */
static void test_owned(void **state)
{
	struct source *s = add(SOURCE_THREAD, 812, "backup", NULL, 100, 1200000);

	(void)state;
	source_owned(s, 7, "/system.slice/backup.service");
	expect("cpu 3 loses 1.2 % to the thread backup [812] (backup.service): taskset -pc 0-2 "
	       "812");
	s->owner = "/";
	expect("cpu 3 loses 1.2 % to the thread backup [812]: taskset -pc 0-2 812");
}

static void test_thread(void **state)
{
	(void)state;
	add(SOURCE_THREAD, 812, "backup", NULL, 100, 1200000);
	expect("cpu 3 loses 1.2 % to the thread backup [812]: taskset -pc 0-2 812");
	machine();
	fact("sys/devices/system/cpu/isolated", "\n");
	fact("sys/devices/system/cpu/nohz_full", "\n");
	/* isolcpus= does not move a bound thread. */
	expect("cpu 3 loses 1.2 % to the thread backup [812]: taskset -pc 0-2 812");
	fact("run/tasks/0000", "812 812 S 400000 3 0 0 3 backup\n");
	expect("cpu 3 loses 1.2 % to the thread backup [812]: taskset -pc 0-2 812");
	fact("run/tasks/0000", "812 812 S 400000 3 0 0 0-3 backup\n");
	expect("cpu 3 loses 1.2 % to the thread backup [812]: cpu 3 is not isolated: the scheduler "
	       "balances other tasks onto it; add isolcpus=managed_irq,domain,3 to the command "
	       "line");
}

static void test_hypervisor(void **state)
{
	(void)state;
	snprintf(v.host.hypervisor, sizeof(v.host.hypervisor), "KVM");
	add(SOURCE_OUTSIDE, 0, "hardware or hypervisor", NULL, 3000, 10000);
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(v.cpu[0].verdict,
			       "cpu 3 loses 0.3 % to what the kernel does not see: this "
			       "is a guest, most likely its host takes the time; "));
	add(SOURCE_OUTSIDE, 0, "steal", NULL, 100, 1000000);
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(v.cpu[0].verdict, "cpu 3 loses 1.3 % to what the kernel does not "
						 "see: the host gave the CPU to others; "));
}

static void test_firmware(void **state)
{
	(void)state;
	v.cpu[0].smi_known = true;
	v.cpu[0].smi_count = 7;
	add(SOURCE_OUTSIDE, 0, "hardware or hypervisor", NULL, 7, 400000);
	assert_int_equal(conclude(&v), 0);
	assert_non_null(
		strstr(v.cpu[0].verdict,
		       "cpu 3 loses 0.028 % to what the kernel does not see: firmware (7 SMIs); "));
	add(SOURCE_OUTSIDE, 0, "hardware or hypervisor", NULL, 29993, 2000);
	expect("cpu 3 loses 0.628 % to what the kernel does not see: firmware or hardware (7 SMIs, "
	       "for at most 7 of 30,000 gaps); find out which: SMIs (H01), frequency (H08), bus "
	       "locks (H11): culprit explain H18");
	v.cpu[0].counts.lost = 12345; /* 7 SMIs say nothing of the rest */
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(v.cpu[0].verdict, "who took 0.628 % of its time is not known"));
	v.cpu[0].smi_count = 30000;
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(v.cpu[0].verdict, "firmware (30,000 SMIs); "));
}

/* Words that are too long for a sentence are no commands. */
static void test_long_words(void **state)
{
	struct source *s = add(SOURCE_THREAD, 99, "cc1", NULL, 1000, 12000);
	char text[1400] = "0,3";

	(void)state;
	for (unsigned cpu = 5; cpu < 200; cpu += 2)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%u", cpu);
	fact("sys/devices/system/cpu/online", text);
	fact("run/tasks/0000", "1 1 S 400100 0 0 0 0 systemd\n"
			       "99 99 R 400000 3 0 0 0-3 cc1\n");
	fact("sys/fs/cgroup/cpuset.cpus.isolated", "\n");
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(s->cause, "K34");
	assert_string_equal(s->advice, "culprit audit --script says how");
	assert_non_null(strstr(v.cpu[0].verdict, "; culprit audit --script says how"));
}

static void test_throttled(void **state)
{
	(void)state;
	v.run.real_time = true;
	add(SOURCE_THREAD, 812, "stress", "[throttled]", 10, 50000000);
	add(SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 10, 2000);
	machine();
	fact("sys/devices/system/cpu/isolated", "3\n");
	fact("sys/devices/system/cpu/nohz_full", "3\n");
	fact("sys/kernel/debug/sched/features", "NO_HRTICK\n");
	fact("proc/sys/kernel/sched_rt_runtime_us", "950000\n");
	fact("proc/sys/kernel/sched_rt_period_us", "1000000\n");
	expect("cpu 3 loses 5 % to real-time throttling, which takes the sampler off for threads "
	       "without a real-time priority: sysctl -w kernel.sched_rt_runtime_us=-1");
	fact("sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n");
	add(SOURCE_VECTOR, 236, "local_timer", "dl_task_timer", 10, 2000);
	expect("cpu 3 loses 5 % to real-time throttling, which takes the sampler off for threads "
	       "without a real-time priority: sysctl -w kernel.sched_rt_runtime_us=-1; echo 0 > "
	       "/sys/kernel/debug/sched/fair_server/cpu3/runtime");
}

/* Little in all, but long at once. */
static void test_one_long(void **state)
{
	(void)state;
	add(SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 200, 2000);
	add(SOURCE_THREAD, 77, "kworker/3:2", "vmstat_update", 1, 38200)->kernel_thread = true;
	expect("cpu 3 loses little, 0.0044 %, but up to 38.2 us at once to the kernel thread "
	       "kworker/3:2 [77] > vmstat_update: sysctl vm.stat_interval=120");
}

static void test_not_traced(void **state)
{
	(void)state;
	v.run.traced = false;
	add(SOURCE_OUTSIDE, 0, "not traced", NULL, 3000, 10000);
	expect("cpu 3 loses 0.3 % of its time, up to 10.0 us at once, and nobody can be named: it "
	       "was not traced");
}

/* Names of any length and content cannot break the sentence, and commands hold none of them. */
static void test_hostile(void **state)
{
	char name[SOURCE_NAME];

	(void)state;
	memset(name, '\'', sizeof(name));
	name[sizeof(name) - 1] = 0;
	add(SOURCE_THREAD, 812, name, name, 100, 1200000);
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(v.cpu[0].verdict, "taskset -pc 0-2 812"));
	assert_true(strlen(v.cpu[0].verdict) < sizeof(v.cpu[0].verdict));
}

/* Nobody is blamed where records were lost, whether that time has a row of its own or lies in what
 * is outside the kernel. */
static void test_lost_records(void **state)
{
	char why[64];

	(void)state;
	snprintf(v.host.hypervisor, sizeof(v.host.hypervisor), "KVM");
	add(SOURCE_OUTSIDE, 0, "hardware or hypervisor", NULL, 100, 31000000);
	add(SOURCE_THREAD, 812, "backup", NULL, 100, 12000000);
	v.cpu[0].counts.lost = 12345;
	expect("cpu 3: 12,345 records were lost here: who took 31 % of its time is not known; the "
	       "most seen was the thread backup [812] (12 %); give culprit a CPU of its own with "
	       "-H");
	v.cpu[0].counts.lost = 1;
	v.cpu[0].counts.seen = 0;
	expect("cpu 3: 1 record was lost here: who took 31 % of its time is not known; the most "
	       "seen was the thread backup [812] (12 %); give culprit a CPU of its own with -H");
	v.cpu[0].counts.lost = 12345;
	add(SOURCE_LOST, 0, NOT_RECORDED, NULL, 100, 40000000);
	expect("cpu 3: 12,345 records were lost here: who took 40 % of its time is not known; the "
	       "most seen was the thread backup [812] (12 %); give culprit a CPU of its own with "
	       "-H");
	v.run.housekeeping = v.run.cpus; /* no CPU is left that could be culprit's own */
	expect("cpu 3: 12,345 records were lost here: who took 40 % of its time is not known; the "
	       "most seen was the thread backup [812] (12 %); let less else run where culprit "
	       "itself does");
	v.ncpus = 2;
	assert_string_equal(view_relief(&v), "measure fewer CPUs at once with -c");
	v.run.windows = true; /* a workload has the CPUs that it needs */
	assert_string_equal(view_relief(&v), "let less else run where culprit itself does");
	v.run.watch = true;
	assert_string_equal(view_relief(&v),
			    "watch fewer threads, or let less else run where culprit itself does");
	v.ncpus = 1;
	v.run.windows = v.run.watch = false;
	assert_int_equal(cpus_parse("0-2", &v.run.housekeeping, why, sizeof(why)), 0);
	add(SOURCE_THREAD, 812, "backup", NULL, 100, 32000000); /* recorded sources may be named */
	expect("cpu 3 loses 44 % to the thread backup [812]: taskset -pc 0-2 812");
}

/* A watched thread that was stopped for longer than all that it lost. */
static void test_stopped_thread(void **state)
{
	struct cpu *c = &v.cpu[0];

	(void)state;
	v.run.watch = v.run.windows = true;
	c->tid = 700;
	strcpy(c->comm, "app");
	add(SOURCE_THREAD, 812, "backup", NULL, 100, 32000000);
	c->stops = 34;
	c->stopped_ns = c->hiccups.sum;
	expect("app [700] loses 32 % to the thread backup [812]: taskset -pc 0-2 812");
	c->stopped_ns++;
	expect("app [700] loses 32 % to the thread backup [812]: taskset -pc 0-2 812; a signal or "
	       "a debugger stopped it 34 times, 3.20 s in all");
	memset(c->comm, 0, sizeof(c->comm));
	c->tid = 0;
	v.run.watch = v.run.windows = false;
}

/* A stop of the host's inside the tick is no reason to do something about the tick. */
static void test_stopped_tick(void **state)
{
	struct source *tick;

	(void)state;
	add(SOURCE_IRQ, 36, "eth0", "eth_intr", 1000, 3000);
	tick = add(SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 500, 2000);
	add(SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 3, 4400000);
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(v.cpu[0].verdict,
			       "to the tick: ")); /* on bare metal nothing speaks for a stop */
	assert_int_equal(tick->stopped.count, 0);
	snprintf(v.host.hypervisor, sizeof(v.host.hypervisor), "KVM");
	assert_int_equal(conclude(&v), 0);
	assert_int_equal(tick->stopped.count, 3);
	assert_non_null(strstr(v.cpu[0].verdict, "cpu 3 loses 0.03 % to IRQ 36 (eth0): "));
}

/* A real-time thread takes as much where it goes. */
static void test_a_real_time_thread_is_moved(void **state)
{
	struct source *spin = add(SOURCE_THREAD, 812, "spin", NULL, 10, 950000000);

	(void)state;
	fact("run/tasks/0000", "812 812 R 400000 3 1 50 3 spin\n");
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(spin->advice, "SCHED_FIFO 50 at 95 % holds up what shares its CPU, "
					  "there too: taskset -pc 0-2 812");
	expect("cpu 3 loses 95 % to the thread spin [812]: SCHED_FIFO 50 at 95 % holds up what "
	       "shares its CPU, there too: taskset -pc 0-2 812");
}

static void test_a_normal_thread_is_moved(void **state)
{
	struct source *spin = add(SOURCE_THREAD, 812, "spin", NULL, 10, 950000000);

	(void)state;
	fact("run/tasks/0000", "812 812 R 400000 3 0 0 3 spin\n");
	assert_int_equal(conclude(&v), 0);
	assert_string_equal(spin->advice, "taskset -pc 0-2 812");
}

/* ---- workloads ---- */

static void slow(uint64_t ns)
{
	hist_add(&v.cpu[0].hiccups, ns);
}

static struct source *part(enum source_kind kind, uint32_t id, const char *name,
			   const char *function, uint64_t ns)
{
	struct sources *t = &v.cpu[0].sources;
	struct source *s = t->row[sources_find(t, kind, id, name, function)];

	s->word = kind == SOURCE_OUTSIDE && !strcmp(name, v.run.rest)
			  ? WORD_REST
			  : word_of(function ? function : name);
	hist_add(&s->net, ns);
	return s;
}

static void workload(void)
{
	v.run.windows = true;
	snprintf(v.run.sampler, sizeof(v.run.sampler), "sleep");
	snprintf(v.run.rest, sizeof(v.run.rest), "timer late, or exit from idle");
	v.cpu[0].threshold_ns = 50000;
}

/* A thread that leaves unseen is charged to the next one that is seen to leave: where that may be
 * all that one has, the verdict does not send anybody after it. */
static void test_left_unseen(void **state)
{
	struct source *s, *backup = add(SOURCE_THREAD, 812, "backup", NULL, 3, 500000000);

	(void)state;
	v.cpu[0].unpaired = 2;
	expect("cpu 3 loses 15 % to the thread backup [812]: taskset -pc 0-2 812");
	v.cpu[0].unpaired = 3;
	expect("cpu 3 loses 15 % to the thread backup [812], or to threads that left unseen before "
	       "it, 3 times at most: who they were is not known");
	s = add(SOURCE_THREAD, 900, "cron", NULL, 1, 100); /* the records tell in which */
	s->unseen.count = s->unseen.ns = 1;
	expect("cpu 3 loses 15 % to the thread backup [812]: taskset -pc 0-2 812");
	backup->unseen.count = 2;
	backup->unseen.ns = backup->net.sum / 2 + 1;
	expect("cpu 3 loses 15 % to the thread backup [812], or to threads that left unseen before "
	       "it, 2 times at most: who they were is not known");
	add(SOURCE_IRQ, 36, "eth0", "eth_intr", 3, 900000000);
	assert_int_equal(conclude(&v), 0);
	assert_null(strstr(v.cpu[0].verdict, "unseen"));
}

static void watched(void)
{
	v.run.watch = v.run.windows = true;
	strcpy(v.run.rest, "not seen");
	strcpy(v.cpu[0].comm, "engine");
	v.cpu[0].tid = 7;
}

/* The kernel does not show all of a watched thread: it is never called quiet without that. And
 * where records are missing in what took most, nobody is blamed and nothing is looked up. */
static void test_watched(void **state)
{
	(void)state;
	watched();
	add(SOURCE_IRQ, 36, "eth0", "eth_intr", 10, 3100);
	expect("engine [7] is quiet as far as the kernel shows: it lost 0.0003 % of its time to "
	       "hiccups, at most 3.10 us at once");
	v.run.reports_lost = 3; /* any may be long */
	expect("engine [7] is quiet but for reports that were not read: it lost 0.0003 % of its "
	       "time to hiccups, at most 3.10 us at once");
	v.cpu[0].waits_lost = 1;
	expect("engine [7] is quiet but for waits that were not added up and reports that were not "
	       "read: it lost 0.0003 % of its time to hiccups, at most 3.10 us at once");
	v.cpu[0].waits_lost = 0;
	v.cpu[0].reported = 12;
	expect("engine [7] was late by at least 31.0 us in all, at least 3.10 us at once; 100 % of "
	       "that went to IRQ 36 (eth0): echo 0-2 > /proc/irq/36/smp_affinity_list");
	v.run.reports_lost = 0;
	add(SOURCE_OUTSIDE, 0, "not seen", NULL, 1, 69000);
	expect("engine [7] was late by 100 us in all, up to 69.0 us at once; 69 % of that went to "
	       "what the kernel does not show");
	add(SOURCE_LOST, 0, NOT_RECORDED, NULL, 1, 100000);
	expect("engine [7] was late by 200 us in all, up to 100 us at once; who took 50 % of that "
	       "is not known: records are missing there");
	v.cpu[0].reported = 0;
	v.run.part = true;
	expect("engine [7] lost 200 us, up to 100 us at once, and not all of its time was seen; "
	       "who took 50 % of that is not known: records are missing there");
}

static void test_slow_windows_with_losses(void **state)
{
	(void)state;
	v.run.windows = true;
	strcpy(v.run.rest, "the call");
	strcpy(v.run.sampler, "syscall");
	v.cpu[0].threshold_ns = 1000;
	add(SOURCE_OUTSIDE, 0, "the call", NULL, 2, 20000);
	add(SOURCE_LOST, 0, NOT_RECORDED, NULL, 1, 60000);
	expect("syscall on cpu 3: 3 took longer than 1.00 us, up to 60.0 us; who took 60 % of "
	       "their time is not known: records are missing there");
}

static void test_windows_without_slow_ones(void **state)
{
	(void)state;
	workload();
	expect("sleep on cpu 3: none was slow: none took longer than 50.0 us");
	v.cpu[0].unread = 5; /* nobody knows how long these were */
	expect("sleep on cpu 3: none that was read was slow: none took longer than 50.0 us");
	v.cpu[0].hiccups_lost = 3;
	v.cpu[0].hiccups_lost_ns = 900000;
	expect("sleep on cpu 3: 3 took longer than 50.0 us (3 hiccups, 900 us in all, were not "
	       "recorded)");
}

static void test_slow_windows(void **state)
{
	(void)state;
	workload();
	slow(840000);
	slow(160000);
	part(SOURCE_THREAD, 77, "kworker/3:2", "vmstat_update", 610000)->kernel_thread = true;
	part(SOURCE_VECTOR, 236, "local_timer", "hrtimer_wakeup",
	     300000); /* perhaps the workload's */
	part(SOURCE_OUTSIDE, 0, "timer late, or exit from idle", NULL, 90000);
	expect("sleep on cpu 3: 2 took longer than 50.0 us, up to 840 us; 61 % of their time went "
	       "to the kernel thread kworker/3:2 [77] > vmstat_update: sysctl "
	       "vm.stat_interval=120");
	v.run.traced = false;
	expect("sleep on cpu 3: 2 took longer than 50.0 us, up to 840 us; why is not known: it was "
	       "not traced");
}

/* Most of their time is the operation's own: what did interrupt is said, but not made the reason.
 */
static void test_slow_by_themselves(void **state)
{
	(void)state;
	workload();
	slow(1000000);
	part(SOURCE_OUTSIDE, 0, "timer late, or exit from idle", NULL, 900000);
	expect("sleep on cpu 3: 1 took longer than 50.0 us, up to 1.00 ms; nothing that is surely "
	       "foreign took much of their time, 90 % of it is timer late, or exit from idle");
	part(SOURCE_THREAD, 812, "backup", NULL, 40000);
	expect("sleep on cpu 3: 1 took longer than 50.0 us, up to 1.00 ms; nothing that is surely "
	       "foreign took much of their time, 90 % of it is timer late, or exit from idle; the "
	       "largest foreign part, 4 %, went to the thread backup [812]: taskset -pc 0-2 812");
}

/* Says who made the longest one, though all of them together lost little to it; an idle CPU takes
 * nobody's time. */
static void test_slow_once(void **state)
{
	struct source *s;

	(void)state;
	workload();
	for (int i = 0; i < 8; i++)
		slow(100000000);
	slow(180000000);
	part(SOURCE_OUTSIDE, 0, "timer late, or exit from idle", NULL, 580000000);
	part(SOURCE_THREAD, 0, "swapper/3", NULL, 191000000)->kernel_thread = true;
	s = part(SOURCE_THREAD, 18, "kworker/3:0", "vmstat_update", 179000000);
	s->kernel_thread = true;
	expect("sleep on cpu 3: 9 took longer than 50.0 us, up to 180 ms; 59.2 % of their time is "
	       "timer late, or exit from idle; up to 179 ms of one went to the kernel thread "
	       "kworker/3:0 [18] > vmstat_update: sysctl vm.stat_interval=120");
	for (int i = 0; i < 40; i++) /* often, and shorter */
		part(SOURCE_THREAD, 812, "backup", NULL, 10000000);
	expect("sleep on cpu 3: 9 took longer than 50.0 us, up to 180 ms; 40.8 % of their time "
	       "went "
	       "to the thread backup [812]: taskset -pc 0-2 812; and up to 179 ms at once to the "
	       "kernel thread kworker/3:0 [18] > vmstat_update: sysctl vm.stat_interval=120");
}

static void test_slow_series(void **state)
{
	(void)state;
	workload();
	snprintf(v.run.sampler, sizeof(v.run.sampler), "pingpong");
	v.cpu[0].nseries = 2;
	v.cpu[0].series = calloc(2, sizeof(*v.cpu[0].series));
	for (int i = 0; i < 2; i++) {
		snprintf(v.cpu[0].series[i].name, sizeof(v.cpu[0].series[i].name),
			 i ? "futex" : "spin");
		assert_int_equal(hist_init(&v.cpu[0].series[i].hist, SERIES_BITS), 0);
		v.cpu[0].series[i].threshold_ns = 1000 + i;
	}
	expect("pingpong on cpu 3: none was slow: none took longer than its series' threshold");
	v.cpu[0].series[1].longer = 1;
	slow(8000);
	assert_int_equal(conclude(&v), 0);
	assert_non_null(strstr(v.cpu[0].verdict, " (most often futex, 1 time)"));
	v.cpu[0].series[1].longer = 3;
	slow(8000);
	slow(8000);
	part(SOURCE_THREAD, 812, "backup", NULL, 12000);
	expect("pingpong on cpu 3: 3 took longer than their series' thresholds (most often futex, "
	       "3 times), up to 8.00 us; 50 % of their time went to the thread backup [812]: "
	       "taskset -pc 0-2 812");
}

/* Called again, as a view that changes is: nothing is added twice. */
static void test_again(void **state)
{
	uint32_t count;

	(void)state;
	add(SOURCE_IRQ, 36, "ahci", "ahci_intr", 1000, 12000);
	busy_irq();
	assert_int_equal(conclude(&v), 0);
	count = v.findings.count;
	assert_int_equal(conclude(&v), 0);
	assert_int_equal(v.findings.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_true(v.findings.row[i].cost_ns <= 12000000);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_quiet),
		TEST(test_not_all_was_read),
		TEST(test_more_was_not_read_than_read),
		TEST(test_not_all_of_alike_cpus_was_read),
		TEST(test_nothing_at_all),
		TEST(test_not_in_the_book),
		TEST(test_tick),
		TEST(test_tick_of_the_boot_cpu),
		TEST(test_tick_that_is_kept),
		TEST(test_tick_that_a_quota_keeps),
		TEST(test_irq),
		TEST(test_only),
		TEST(test_other_irq),
		TEST(test_costed),
		TEST(test_thread),
		TEST(test_owned),
		TEST(test_hypervisor),
		TEST(test_firmware),
		TEST(test_long_words),
		TEST(test_throttled),
		TEST(test_one_long),
		TEST(test_not_traced),
		TEST(test_hostile),
		TEST(test_again),
		TEST(test_lost_records),
		TEST(test_stopped_thread),
		TEST(test_stopped_tick),
		TEST(test_left_unseen),
		TEST(test_watched),
		TEST(test_a_real_time_thread_is_moved),
		TEST(test_a_normal_thread_is_moved),
		TEST(test_slow_windows_with_losses),
		TEST(test_windows_without_slow_ones),
		TEST(test_slow_windows),
		TEST(test_slow_by_themselves),
		TEST(test_slow_once),
		TEST(test_slow_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
