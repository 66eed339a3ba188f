/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a whole view to causes and advice: the neighbours of a source, the tick's table and the
 * evidence decide; the commands have this machine's numbers, and no name chosen by a stranger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "audit/advise.h"
#include "audit/placeholders.h"

static struct view v;

static int begin(void **state)
{
	static const unsigned cpus[] = {3};

	(void)state;
	world_view(&v, "advised", cpus, 1);
	world_lasts(&v, 60000000000);
	cpus_parse("0-2", &v.run.housekeeping, NULL, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	view_free(&v);
	return 0;
}

static void set(const char *list, struct cpus *cpus)
{
	assert_int_equal(cpus_parse(list, cpus, NULL, 0), 0);
}

static struct source *add(enum source_kind kind, uint32_t id, const char *name,
			  const char *function, unsigned count)
{
	return world_runs(&v, 0, kind, id, name, function, count, 1000);
}

static void kept(uint32_t dependency, unsigned count)
{
	struct record r = {.kind = RECORD_TICK, .id = dependency, .arg = 812, .name = "app"};

	while (count--)
		nohz_ticks_add(&v.cpu[0].ticks, &r);
}

static void assert_cause(const struct source *s, const char *id)
{
	assert_int_equal(advise(&v), 0);
	if (!s->cause || strcmp(s->cause, id))
		fail_msg("%s > %s is %s, not %s", s->name, s->function,
			 s->cause ? s->cause : "none", id);
}

static struct source *tick(void)
{
	return add(SOURCE_VECTOR, 236, "local_timer", "tick_nohz_handler", 100);
}

static void test_the_tick_of_a_plain_cpu(void **state)
{
	struct source *s = tick();

	(void)state;
	kept(4, 10); /* says nothing here */
	assert_cause(s, "T01");
	assert_string_equal(s->advice, "boot with nohz_full=3");
}

/* Those that are isolated already stay so where nobody read facts, too. */
static void test_lists_without_facts(void **state)
{
	static const struct {
		const char *kernel, *flags;
		bool both;
	} two[] = {{"6.12.9", "", true},
		   {"5.18.0", "managed_irq,domain,", true},
		   {"5.17.9", "", false},
		   {"5.10.0-46-amd64", "domain,", false},
		   {"6.12.9", "nohz,", false}};
	struct source *s = tick();

	(void)state;
	cpus_parse("0-7", &v.host.online, NULL, 0);
	cpus_parse("4-5", &v.host.nohz_full, NULL, 0);
	strcpy(v.host.cmdline, "quiet nohz_full=4-5");
	assert_cause(s, "T01");
	assert_string_equal(s->advice, "boot with nohz_full=3-5");
	v.run.watch = true;
	assert_cause(s, "T01");
	assert_string_equal(s->advice, "boot with nohz_full=3-5");
	v.run.watch = false;
	/* Two lists that differ, which not all kernels take. */
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++) {
		strcpy(v.host.kernel, two[i].kernel);
		snprintf(v.host.cmdline, sizeof(v.host.cmdline), "isolcpus=%s6 nohz_full=4-5",
			 two[i].flags);
		assert_cause(s, "T01");
		assert_string_equal(s->advice,
				    two[i].both ? "boot with nohz_full=3-6"
						: "isolcpus= and nohz_full= should name the same "
						  "CPUs: culprit audit says how; culprit explain "
						  "T01");
	}
	cpus_parse("0-2,4-7", &v.host.nohz_full, NULL, 0);
	strcpy(v.host.cmdline, "nohz_full=0-2,4-7");
	assert_cause(s, "T01");
	assert_non_null(strstr(s->advice, "no CPU would be left to housekeeping"));
}

static void test_the_tick_of_a_nohz_full_cpu(void **state)
{
	static const struct {
		uint32_t dependency;
		const char *id;
	} is[] = {{1, "T04"}, {2, "T05"}, {4, "T02"}, {8, "T06"}, {16, "T07"}, {32, "T08"}};
	struct source *s = tick();
	struct source *cppc = add(SOURCE_VECTOR, 5, "irq_work", "cppc_irq_work", 100);

	(void)state;
	cpus_parse("3", &v.host.nohz_full, NULL, 0);
	assert_cause(s, "T01");
	assert_non_null(strstr(s->advice, "nothing was seen that kept"));
	assert_string_equal(cppc->advice, s->advice);
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		kept(is[i].dependency, 10 + i);
		assert_cause(s, is[i].id);
		assert_cause(cppc, is[i].id);
	}
}

static void fact(const char *name, const char *text)
{
	world_fact(&v, name, text);
}

static void test_who_keeps_the_tick_for_the_scheduler(void **state)
{
	struct source *s = tick(), *timer;

	(void)state;
	cpus_parse("3", &v.host.nohz_full, NULL, 0);
	kept(4, 10);
	assert_cause(s, "T02");
	add(SOURCE_HOST, 0, "local_timer", "dl_task_timer", 5); /* the host's keeps no tick here */
	assert_cause(s, "T02");
	add(SOURCE_VECTOR, 236, "local_timer", "sched_cfs_period_timer", 5);
	assert_cause(s, "T09");
	timer = add(SOURCE_VECTOR, 236, "local_timer", "dl_task_timer", 5);
	assert_cause(s, "T31"); /* an owner that is not known */
	assert_cause(timer, "T31");
	fact("sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n");
	assert_cause(timer, "T03");
	assert_cause(s, "T03");
	assert_string_equal(s->advice, "sysctl kernel.sched_rt_runtime_us=-1; echo 0 > "
				       "/sys/kernel/debug/sched/fair_server/cpu3/runtime");
	fact("run/tasks/0000", "20 20 S 208040 3 6 0 3 sugov:3\n"); /* a kernel thread */
	assert_cause(timer, "T03");
	fact("run/tasks/0000", "900 900 R 400000 3 6 0 0-3 control\n");
	assert_cause(timer, "T31");
	assert_cause(s, "T31");
	fact("run/tasks/0000", "1 1 S 0 0 0 0 0-3 init\n");
	assert_cause(timer, "T03");
	strcpy(v.run.priority, "SCHED_DEADLINE 200:1000 us"); /* the sampler's own */
	v.run.windows = true;
	assert_cause(timer, "T31");
	assert_non_null(strstr(timer->advice, "the workload's own wake-up"));
}

/* A quota's timer keeps no tick where the kernel does not look at quotas for it, nor a tick for
 * each of hundreds, unless it ran in each of the longest periods. */
static void test_a_quota_that_keeps_no_tick(void **state)
{
	struct source *s = tick();

	(void)state;
	cpus_parse("3", &v.host.nohz_full, NULL, 0);
	kept(4, 2400);
	add(SOURCE_VECTOR, 236, "local_timer", "sched_cfs_period_timer", 3);
	assert_cause(s, "T02");
	add(SOURCE_VECTOR, 236, "local_timer", "sched_cfs_slack_timer", 21);
	assert_cause(s, "T09");
	kept(4, 57600); /* at each interrupt's end */
	assert_cause(s, "T02");
	add(SOURCE_VECTOR, 236, "local_timer", "sched_cfs_period_timer", 35);
	assert_cause(s, "T02");
	add(SOURCE_VECTOR, 236, "local_timer", "sched_cfs_period_timer", 1); /* one a second */
	assert_cause(s, "T09");
	strcpy(v.host.kernel, "6.1.0-25-amd64");
	assert_cause(s, "T02");
	fact("sys/kernel/debug/sched/features", "PLACE_LAG HZ_BW\n"); /* brought there */
	assert_cause(s, "T09");
	fact("sys/kernel/debug/sched/features", "PLACE_LAG NO_HZ_BW\n");
	assert_cause(s, "T02");
	strcpy(v.host.kernel, "6.12.9");
	assert_cause(s, "T02");
}

static void test_watched_threads_that_run_everywhere(void **state)
{
	struct source *s = add(SOURCE_THREAD, 7, "bash", NULL, 3);

	(void)state;
	v.run.watch = true;
	v.run.housekeeping = v.host.online = v.run.cpus;
	assert_cause(s, "K34");
	assert_string_equal(s->advice,
			    "what is watched has all CPUs together: leave one to the others "
			    "(taskset); culprit explain K34");
}

/* culprit's own place, which may be one CPU of many, is for a single thread or interrupt alone. */
static void test_others(void **state)
{
	struct source *timer = add(SOURCE_VECTOR, 236, "local_timer", "watchdog_timer_fn", 3);
	struct source *work = add(SOURCE_THREAD, 7, "kworker/u8:1", "wb_workfn", 1);
	struct source *some = add(SOURCE_THREAD, 812, "bash", NULL, 1);
	struct source *irq = add(SOURCE_IRQ, 36, "eth0", NULL, 1);

	(void)state;
	work->kernel_thread = true;
	set("0", &v.run.housekeeping);
	set("0-7", &v.host.online);
	set("2-3", &v.host.isolated);
	set("1-3", &v.host.nohz_full);
	assert_cause(timer, "T17");
	assert_string_equal(timer->advice, "echo 0,4-7 > /proc/sys/kernel/watchdog_cpumask");
	assert_cause(work, "K10");
	assert_string_equal(work->advice,
			    "echo f1 > /sys/devices/virtual/workqueue/writeback/cpumask");
	assert_string_equal(some->advice, "taskset -pc 0 812");
	assert_string_equal(irq->advice, "echo 0 > /proc/irq/36/smp_affinity_list");
	set("2-3", &v.host.online); /* no other is left that is not isolated */
	assert_cause(timer, "T17");
	assert_string_equal(timer->advice, "sysctl kernel.soft_watchdog=0");
}

static void test_throttling(void **state)
{
	struct source *s = add(SOURCE_THREAD, 7, "bash", "[throttled]", 3);

	(void)state;
	assert_cause(s, "T18");
	add(SOURCE_VECTOR, 236, "local_timer", "dl_task_timer", 1);
	assert_cause(s, "T03");
}

static void test_outside_by_evidence(void **state)
{
	struct source *alone = add(SOURCE_OUTSIDE, 0, "hardware or hypervisor", NULL, 5);
	struct source *together = add(SOURCE_OUTSIDE, 0, "simultaneous", NULL, 5);
	struct source *steal = add(SOURCE_OUTSIDE, 0, "steal", NULL, 5);
	struct source *untraced = add(SOURCE_OUTSIDE, 0, "not traced", NULL, 5);

	(void)state;
	assert_cause(alone, "H18"); /* firmware, or hardware */
	assert_cause(together, "H18");
	assert_cause(steal, "H14");
	assert_null(untraced->cause);
	v.cpu[0].smi_known = true;
	assert_cause(alone, "H18");
	assert_cause(together, "H18");
	v.cpu[0].smi_count = 2; /* an SMI stops the CPU once */
	assert_cause(alone, "H18");
	assert_cause(together, "H18");
	v.cpu[0].smi_count = 5;
	assert_cause(alone, "H01");
	assert_cause(together, "H01");
	add(SOURCE_OUTSIDE, 0, "hardware or hypervisor", NULL, 29990);
	assert_cause(alone, "H18");
	hist_add(&together->net, 40000000); /* long ones are theirs if any are */
	assert_cause(alone, "H01");
	hist_add_n(&together->net, 40000000, 10);
	assert_cause(alone, "H18");
	v.cpu[0].smi_count = UINT64_MAX;
	assert_cause(alone, "H01");
	v.cpu[0].smi_known = false;
	strcpy(v.host.hypervisor, "KVM");
	assert_cause(alone, "H15");
	assert_cause(together, "H15"); /* without evidence from the steal clock */
	assert_cause(steal, "H14");
	strcpy(v.host.hypervisor, "QEMU TCG"); /* an emulator */
	assert_cause(alone, "H15");
	assert_null(strstr(alone->advice, "kvm"));
}

/* No SMIs and no IPIs for the TLB exist on arm64. */
static void test_arm64(void **state)
{
	struct source *outside = add(SOURCE_OUTSIDE, 0, "hardware or hypervisor", NULL, 5);
	struct source *call = add(SOURCE_VECTOR, VECTOR_CALL_FUNCTION, "call_function", NULL, 5);
	struct source *nmi = add(SOURCE_NMI, 0, "NMI", "perf_ibs_nmi_handler", 5);

	(void)state;
	assert_cause(outside, "H18");
	assert_cause(nmi, "H03");
	assert_cause(call, "G05");
	assert_non_null(strstr(call->advice, "nothing tells which function"));
	strcpy(v.host.arch, "aarch64");
	assert_cause(outside, "H19");
	assert_cause(call, "G05");
	assert_null(nmi->cause); /* a profiler's of x86 */
	strcpy(v.host.hypervisor, "KVM");
	assert_cause(outside, "H15");
}

static void test_what_runs_beside(void **state)
{
	struct source *stopper = add(SOURCE_THREAD, 20, "migration/3", NULL, 5);
	struct source *nmi = add(SOURCE_NMI, 0, "NMI", "perf_event_nmi_handler", 5);

	(void)state;
	stopper->kernel_thread = true;
	assert_cause(stopper, "K20");
	add(SOURCE_VECTOR, 236, "local_timer", "watchdog_timer_fn", 5);
	assert_cause(stopper, "T17");
	assert_string_equal(stopper->advice, "echo 0-2 > /proc/sys/kernel/watchdog_cpumask");
	stopper->kernel_thread = false; /* a thread that only bears the name */
	assert_cause(stopper, "K34");
	stopper->kernel_thread = true;
	assert_cause(nmi, "H02");
	add(SOURCE_NMI, 0, "NMI", "perf_event_nmi_handler", 6000); /* a hundred a second */
	assert_cause(nmi, "H03");
}

static void ask(struct source *s, const char *function, const char *frame)
{
	const char **frames = calloc(2, sizeof(*frames));

	if (!s->askers)
		s->askers = calloc(1, sizeof(*s->askers));
	assert_non_null(s->askers);
	askers_clear(s->askers);
	s->askers->row = calloc(1, sizeof(*s->askers->row));
	s->askers->count = s->askers->room = s->askers->known = 1;
	frames[0] = "try";
	frames[1] = frame;
	s->askers->row[0] =
		(struct asker_row){.who = {.kind = ASKER_THREAD, .tid = 9, .function = function},
				   .count = 1,
				   .nframes = frame ? 2 : 0,
				   .frame = frames};
}

static void test_who_asked(void **state)
{
	static const struct {
		enum source_kind kind;
		const char *name, *function;
		const char *asker, *frame;
		const char *id, *before; /* before: nobody is known */
	} is[] = {
		{SOURCE_VECTOR, "call_function", "do_sync_core", "static_key_enable",
		 "tracepoint_add_func", "P09", "P09"},
		{SOURCE_VECTOR, "call_function", "do_sync_core", "static_key_enable",
		 "toggle_allocation_gate", "P10", "P09"},
		{SOURCE_VECTOR, "call_function", "do_nothing", "bpf_int_jit_compile",
		 "kick_all_cpus_sync", "P09", "P09"},
		{SOURCE_VECTOR, "call_function", "do_nothing", "x", "toggle_allocation_gate", "P10",
		 "P09"},
		{SOURCE_VECTOR, "call_function", "do_flush_tlb_all", "x",
		 "change_page_attr_set_clr", "P07", "P06"},
		{SOURCE_VECTOR, "call_function", "do_flush_tlb_all", "__purge_vmap_area_lazy",
		 "vfree", "P06", "P06"},
		{SOURCE_VECTOR, "reschedule", NULL, "futex_wake", "do_futex", "P01", "P01"},
		{SOURCE_VECTOR, "reschedule", NULL, "x", "kick_process", "P02", "P01"},
		{SOURCE_VECTOR, "reschedule", NULL, "force_qs_rnp", "rcu_gp_kthread", "P03", "P01"},
		{SOURCE_VECTOR, "reschedule", NULL, "x", "kvm_vcpu_kick [kvm]", "P22", "P01"},
		{SOURCE_VECTOR, "call_function_single", "nohz_full_kick_func",
		 "tick_nohz_dep_set_cpu", "try_to_wake_up", "T02", "T23"},
		{SOURCE_VECTOR, "call_function_single", "nohz_full_kick_func",
		 "tick_nohz_dep_set_cpu", "rcu_gp_fqs_loop", "T07", "T23"},
		{SOURCE_VECTOR, "call_function_single", "nohz_full_kick_func",
		 "tick_nohz_dep_set_cpu", "rcu_exp_wait_wake", "T08", "T23"},
		{SOURCE_VECTOR, "call_function_single", "nohz_full_kick_func",
		 "tick_nohz_dep_set_cpu", "dl_task_timer", "T31", "T23"},
		{SOURCE_VECTOR, "reschedule", NULL, "dl_task_timer", NULL, "T31", "P01"},
		{SOURCE_VECTOR, "call_function", "flush_tlb_func", "zap_page_range_single",
		 "do_madvise", "P05", "P05"},
		{SOURCE_VECTOR, "call_function", "flush_tlb_func", "clear_refs_write", "vfs_write",
		 "P27", "P05"},
		{SOURCE_THREAD, "migration/3", NULL, "x", "stop_machine_cpuslocked", "K20", "K20"},
		{SOURCE_THREAD, "migration/3", NULL, "affine_move_task", "__set_cpus_allowed_ptr",
		 "K21", "K20"},
		{SOURCE_THREAD, "migration/3", NULL, NULL, NULL, "K21", "K20"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct source *s = add(is[i].kind, 100 + i, is[i].name, is[i].function, 1);

		s->kernel_thread = is[i].kind == SOURCE_THREAD;
		assert_cause(s, is[i].before);
		ask(s, is[i].asker, is[i].frame);
		assert_cause(s, is[i].id);
	}
}

/* The server for normal tasks, whose timer runs on another CPU: it asks this one to reschedule, and
 * to keep its tick. Not where threads took turns more often. */
static void test_server_of_another_cpu(void **state)
{
	struct source *s = tick(), *thread;
	struct source *resched = add(SOURCE_VECTOR, VECTOR_RESCHEDULE, "reschedule", NULL, 10);

	(void)state;
	fact("sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n");
	cpus_parse("3", &v.host.nohz_full, NULL, 0);
	kept(4, 10);
	assert_cause(s, "T02");
	ask(resched, "dl_task_timer", NULL);
	assert_cause(resched, "T03");
	assert_cause(s, "T03");
	thread = add(SOURCE_THREAD, 29, "ksoftirqd/3", NULL, 80);
	assert_cause(s, "T03");
	thread->net.count++;
	assert_cause(s, "T02");
	assert_cause(resched, "T03");
}

/* Work that another CPU queued for this one comes from no system call here. */
static void test_work_from_elsewhere(void **state)
{
	struct source *s = add(SOURCE_THREAD, 20, "kworker/3:1", "some_work", 5);

	(void)state;
	s->kernel_thread = true;
	assert_cause(s, "K07");
	ask(s, "some_function", NULL); /* on CPU 0 */
	assert_cause(s, "K37");
	s->askers->row[0].who.cpu = 3;
	assert_cause(s, "K07");
	v.run.watch = v.run.windows = true;
	assert_cause(s, "K07"); /* not known where it ran */
	cpus_parse("2-3", &v.cpu[0].ran_on, NULL, 0);
	assert_cause(s, "K07");
	cpus_parse("2", &v.cpu[0].ran_on, NULL, 0);
	assert_cause(s, "K37");
}

/* Noise never goes to a CPU that is isolated, where culprit itself had to run there, too. */
static void test_isolated_others(void **state)
{
	struct source *thread = add(SOURCE_THREAD, 812, "bash", NULL, 1);
	struct source *sleeper = add(SOURCE_VECTOR, 236, "local_timer", "hrtimer_wakeup", 1);

	(void)state;
	cpus_parse("0-4", &v.host.online, NULL, 0);
	cpus_parse("1-2", &v.host.isolated, NULL, 0);
	cpus_parse("2", &v.host.nohz_full, NULL, 0);
	cpus_parse("1-2,4", &v.run.housekeeping, NULL, 0);
	assert_cause(thread, "K34");
	assert_string_equal(thread->advice, "taskset -pc 4 812");
	cpus_parse("1-2", &v.run.housekeeping, NULL, 0);
	assert_cause(thread, "K34");
	assert_string_equal(thread->advice, "taskset -pc 0,4 812");
	cpus_parse("0-3", &v.host.online, NULL, 0);
	cpus_parse("0,3", &v.run.cpus, NULL, 0);
	assert_cause(thread, "K34");
	assert_string_equal(thread->advice,
			    "no other CPU is left for it: all others are isolated or "
			    "nohz_full; culprit explain K34");
	assert_cause(sleeper, "T10");
	assert_string_equal(sleeper->advice, "let no thread sleep or wait with a timeout on cpu 3");
	v.run.watch = v.run.windows = true;
	v.cpu[0].tid = 700;
	assert_cause(thread, "K34");
	assert_string_equal(thread->advice, "run it on the isolated cpus 1-2: taskset -pc 1-2 700");
	cpus_parse("2", &v.host.isolated, NULL, 0);
	cpus_parse("1-2", &v.host.nohz_full, NULL, 0);
	fact(FACT_ENDED, "700 ");
	assert_cause(thread, "K34");
	assert_string_equal(thread->advice,
			    "run it on the nohz_full cpus 1-2: taskset -pc 1-2 TID");
}

/* Offloaded callbacks are no reason to boot with what offloads them. */
static void test_offloaded_callbacks(void **state)
{
	struct source *s = add(SOURCE_SOFTIRQ, 9, "RCU", NULL, 5);
	static const char *const given[] = {"rcu_nocbs=2-3", "rcu_nocbs=all", "nohz_full=3"};

	(void)state;
	fact("sys/devices/system/cpu/possible", "0-3\n");
	fact("run/kconfig", "CONFIG_NO_HZ_FULL=y\nCONFIG_CPU_ISOLATION=y\n");
	fact("proc/cmdline", "rcu_nocbs=3\n");
	assert_cause(s, "S07");
	assert_non_null(strstr(s->advice, "built without RCU_NOCB_CPU"));
	fact("run/kconfig", "CONFIG_NO_HZ_FULL=y\nCONFIG_CPU_ISOLATION=y\nCONFIG_RCU_NOCB_CPU=y\n");
	fact("proc/cmdline", "quiet rcu_nocbs=2\n");
	assert_cause(s, "S07");
	assert_non_null(strstr(s->advice, "boot with"));
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		if (*given[i] == 'n')
			fact("sys/devices/system/cpu/nohz_full", "3\n");
		fact("proc/cmdline", given[i]);
		assert_cause(s, "S07");
		assert_string_equal(s->advice,
				    "its callbacks are offloaded: its tick runs this while RCU "
				    "waits for the CPU; end the tick (T02 to T08)");
	}
}

/* A watched thread that ran on nohz_full CPUs alone. */
static void test_watched_on_nohz_full(void **state)
{
	struct source *s = tick();

	(void)state;
	v.run.watch = v.run.windows = true;
	cpus_parse("3-5", &v.host.nohz_full, NULL, 0);
	fact("sys/devices/system/cpu/nohz_full", "3-5\n");
	kept(4, 10);
	assert_cause(s, "T01"); /* not known where */
	cpus_parse("3", &v.cpu[0].ran_on, NULL, 0);
	assert_cause(s, "T02");
	assert_non_null(strstr(s->advice, "keep one runnable task on cpu 3"));
	cpus_parse("3-4", &v.cpu[0].ran_on, NULL, 0);
	assert_cause(s, "T02");
	add(SOURCE_VECTOR, 236, "local_timer", "dl_task_timer", 1);
	assert_cause(s, "T31");
	fact("sys/kernel/debug/sched/fair_server/cpu4/runtime", "50000000\n");
	assert_cause(s, "T03");
	cpus_parse("2-3", &v.cpu[0].ran_on, NULL, 0);
	assert_cause(s, "T01");
}

static void test_numbers_are_filled_in(void **state)
{
	struct source *irq = add(SOURCE_IRQ, 36, "eth0-TxRx-3", "e1000_intr [e1000]", 1);
	struct source *thread = add(SOURCE_THREAD, 812, "bash", NULL, 1);
	struct source *several = add(SOURCE_THREAD, 0, "make", NULL, 1);

	(void)state;
	assert_cause(irq, "I01");
	assert_string_equal(irq->advice, "echo 0-2 > /proc/irq/36/smp_affinity_list");
	assert_cause(thread, "K34");
	assert_string_equal(thread->advice, "taskset -pc 0-2 812");
	assert_cause(several, "K34");
	assert_string_equal(several->advice, "bind its threads to cpu 0-2");
}

static char long_unit[] = "/system.slice/0123456789012345678901234567890123456789012345678901234567"
			  "8901234567890123456789012345678901234567890123456789012345678901234567"
			  "89.service";

static struct source *add_owner(enum owner_by by, const char *name, const char *owner)
{
	struct source *s = add(SOURCE_THREAD, 0, name, NULL, 1);

	s->by = by;
	s->owner = owner;
	return s;
}

/* systemctl is advised only for what this machine's systemd confines, by a name that means nothing
 * to a shell. */
static void test_owners(void **state)
{
	struct source *unit = add_owner(BY_UNIT, "a.service", "/system.slice/a.service");
	struct source *inner =
		add_owner(BY_UNIT, "c.service in web", "/lxc.payload.web/system.slice/c.service");
	struct source *hostile = add_owner(BY_UNIT, "$(a).service", "/system.slice/$(a).service");
	struct source *several = add_owner(BY_UNIT, "b.service", NULL);
	struct source *of_user = add_owner(BY_UNIT, "init.scope of user 7",
					   "/user.slice/user-7.slice/user@7.service/init.scope");
	struct source *login = add_owner(BY_UNIT, "session 3 of user 7",
					 "/user.slice/user-7.slice/session-3.scope");
	struct source *cut = add_owner(BY_UNIT, "x", long_unit);
	struct source *pod = add_owner(BY_POD, "shop/api", "/kubepods/pod/x");

	(void)state;
	assert_cause(unit, "K34");
	assert_string_equal(unit->advice, "bind its threads to cpu 0-2");
	fact("run/tasks/0000", "1 1 S 400100 3 0 0 0-3 systemd\n");
	fact("sys/fs/cgroup/cpuset.cpus.isolated", "3\n");
	assert_cause(unit, "K34");
	assert_string_equal(unit->advice,
			    "systemctl set-property --runtime a.service AllowedCPUs=0-2");
	assert_cause(inner, "K34");
	assert_string_equal(inner->advice, "bind its threads to cpu 0-2");
	assert_cause(hostile, "K34");
	assert_string_equal(hostile->advice, "bind its threads to cpu 0-2");
	assert_cause(several, "K34");
	assert_string_equal(several->advice, "bind its threads to cpu 0-2");
	assert_cause(pod, "K34");
	assert_string_equal(pod->advice, "bind its threads to cpu 0-2");
	assert_cause(of_user, "K34");
	assert_string_equal(of_user->advice, "bind its threads to cpu 0-2");
	assert_cause(login, "K34");
	assert_string_equal(login->advice, "bind its threads to cpu 0-2");
	assert_cause(cut, "K34");
	assert_string_equal(cut->advice, "bind its threads to cpu 0-2");
	facts_free(&v.facts);
}

/* A thread that has ended can neither be moved nor asked. */
static void test_threads_that_have_ended(void **state)
{
	struct source *gone = add(SOURCE_THREAD, 812, "bash", NULL, 1);
	struct source *hostile = add(SOURCE_THREAD, 813, "a;b", NULL, 1);
	struct source *kernel = add(SOURCE_THREAD, 77, "kswapd0", NULL, 1);
	struct source *there = add(SOURCE_THREAD, 81, "sshd", NULL, 1);
	struct source *sampler = add(SOURCE_THREAD, 814, "culprit-sampler", NULL, 1);
	struct cpus others = v.run.housekeeping;

	(void)state;
	kernel->kernel_thread = true;
	assert_int_equal(facts_add(&v.facts, FACT_ENDED, 0, "812 813 77 814 ", 15), 0);
	assert_false(facts_taken(&v.facts));
	assert_cause(gone, "K34");
	assert_string_equal(gone->advice, "it has ended: start bash with taskset -c 0-2");
	assert_cause(hostile, "K34");
	assert_string_equal(hostile->advice, "it has ended: start its like with taskset -c 0-2");
	assert_cause(kernel, "K24");
	assert_string_equal(kernel->advice, "it has ended; culprit explain K24");
	assert_cause(there, "K34");
	assert_string_equal(there->advice, "taskset -pc 0-2 81");
	fact("run/tasks/0000", "81 81 S 400000 3 0 0 2-3 sshd\n");
	assert_cause(there, "K34");
	assert_string_equal(there->advice, "taskset -pc 0-2 81");
	fact("sys/devices/system/cpu/online", "0-3\n"); /* CPU 2 is its own workload's */
	fact("sys/devices/system/cpu/nohz_full", "2-3\n");
	fact("proc/cmdline", "nohz_full=2-3\n");
	assert_cause(there, "K34");
	assert_string_equal(there->advice, "taskset -pc 2 81");
	assert_cause(sampler, "K34");
	assert_string_equal(
		sampler->advice,
		"another run of culprit measured here, too: let one end before the other "
		"begins");
	v.run.housekeeping = v.host.online = v.run.cpus; /* no other CPU is left */
	assert_cause(gone, "K34");
	assert_string_equal(gone->advice, "it has ended; culprit explain K34");
	v.run.housekeeping = others;
	facts_free(&v.facts);
}

/* A process chooses its thread's name, a driver its interrupt's. */
static void test_hostile_names_stay_out(void **state)
{
	static const char *const names[] = {"$(reboot)", "a;reboot", "`x`",  "a b",     "-rf",
					    "x\ny",      "a'b",      "a\"b", "\x1b[2J", "a|b",
					    "a&b",       "*",        "~"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct placeholders f = PLACEHOLDERS_NONE;
		struct source *s = add(SOURCE_THREAD, 900 + i, names[i], NULL, 1);
		char *text;

		f.comm = f.interface = names[i];
		text = placeholders_fill("pkill '{comm}' {interface}", &f);
		assert_string_equal(text, "pkill 'COMM' INTERFACE");
		free(text);
		assert_int_equal(advise(&v), 0);
		assert_null(strstr(s->advice, names[i]));
	}
	for (const struct cause *c = causes; c->id; c++) {
		const char *const texts[] = {c->advice, c->undo, c->fix, c->confirm};

		for (size_t i = 0; i < 4; i++) {
			struct placeholders f = {.cpu = 1,
						 .irq = 2,
						 .pid = 3,
						 .comm = "\x1b;reboot\x1b",
						 .interface = "\x1b"};
			char *text = texts[i] ? placeholders_fill(texts[i], &f) : NULL;

			if (text && strchr(text, '\x1b'))
				fail_msg("%s takes a hostile name: %s", c->id, text);
			free(text);
		}
	}
}

static void test_text_is_filled(void **state)
{
	struct cpus cpus, many;
	struct placeholders nothing = PLACEHOLDERS_NONE, f = PLACEHOLDERS_NONE;
	char *text;

	(void)state;
	cpus_parse("4-7", &cpus, NULL, 0);
	cpus_parse("0-3,40", &many, NULL, 0);
	f = (struct placeholders){.cpu = 5,
				  .cpus = &cpus,
				  .housekeeping = &many,
				  .irq = 0,
				  .pid = 9,
				  .comm = "kworker/3:1-x",
				  .interface = "eth0.7"};
	text = placeholders_fill(
		"{cpu} {cpus} {housekeeping} {hkmask} {irq} {pid} {comm} {interface} ${x} "
		"{print} {cpu",
		&f);
	assert_string_equal(text,
			    "5 4-7 0-3,40 100,0000000f 0 9 kworker/3:1-x eth0.7 ${x} {print} {cpu");
	free(text);
	text = placeholders_fill(
		"{cpu} {cpus} {housekeeping} {hkmask} {irq} {pid} {comm} {interface}", &nothing);
	assert_string_equal(text, "CPU CPUS HOUSEKEEPING HKMASK IRQ PID COMM INTERFACE");
	free(text);
	assert_string_equal(text = placeholders_fill("isolcpus={isolate} nohz_full={nohz}", &f),
			    "isolcpus=4-7 nohz_full=4-7");
	free(text);
	f.isolate = many;
	cpus_parse("4,6", &f.nohz, NULL, 0);
	assert_string_equal(text = placeholders_fill("isolcpus={isolate} nohz_full={nohz}", &f),
			    "isolcpus=0-3,40 nohz_full=4,6");
	free(text);
	assert_string_equal(text = placeholders_fill("{isolate} {nohz}", &nothing), "CPUS CPUS");
	free(text);
	assert_int_equal(placeholders_missing("{isolate} {nohz}", &nothing),
			 placeholders_missing("{cpus}", &nothing));
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu += 2)
		cpus_add(&many, cpu);
	text = placeholders_fill("{housekeeping}", &f);
	assert_int_equal(cpus_parse(text, &cpus, NULL, 0), 0);
	assert_memory_equal(&cpus, &many, sizeof(many));
	free(text);
	f.interface = "virtio1"; /* a device, whose interface has another name */
	assert_string_equal(text = placeholders_fill("ethtool {interface}", &f),
			    "ethtool INTERFACE");
	free(text);
	f.interface = "nvme0";
	assert_string_equal(text = placeholders_fill("ethtool {interface}", &f),
			    "ethtool INTERFACE");
	free(text);
}

static void test_devices_by_name(void **state)
{
	static const char *const is[][2] = {
		{"eth0-TxRx-3", "eth0"},
		{"i40e-eth1-TxRx-0", "eth1"},
		{"enp1s0f0-rx-1", "enp1s0f0"},
		{"nvme0q5", "nvme0"},
		{"virtio1-req.0", "virtio1"},
		{"virtio0-input.0", "virtio0"},
		{"napi/eth0-12", "eth0"},
		{"irq/24-eth0-TxRx", "eth0"},
		{"timer", ""},
		{"", ""},
		{"-TxRx-", ""},
		{"mlx5_comp3@pci:0000:01:00.0", ""},
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++)
		assert_string_equal(device_of(is[i][0], buf, sizeof(buf)), is[i][1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_tick_of_a_plain_cpu),
		TEST(test_lists_without_facts),
		TEST(test_the_tick_of_a_nohz_full_cpu),
		TEST(test_who_keeps_the_tick_for_the_scheduler),
		TEST(test_a_quota_that_keeps_no_tick),
		TEST(test_watched_threads_that_run_everywhere),
		TEST(test_throttling),
		TEST(test_others),
		TEST(test_outside_by_evidence),
		TEST(test_arm64),
		TEST(test_what_runs_beside),
		TEST(test_who_asked),
		TEST(test_server_of_another_cpu),
		TEST(test_work_from_elsewhere),
		TEST(test_isolated_others),
		TEST(test_offloaded_callbacks),
		TEST(test_watched_on_nohz_full),
		TEST(test_numbers_are_filled_in),
		TEST(test_owners),
		TEST(test_threads_that_have_ended),
		TEST(test_hostile_names_stay_out),
		TEST(test_text_is_filled),
		TEST(test_devices_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
