/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/programs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/line_of_file.h"
#include "base/say.h"
#include "collect/hook.h"
#include "collect/preemption.h"

#define MAX_STACK "/proc/sys/kernel/perf_event_max_stack"

/* Programs that tell who asked, or of a single event: sums have no room for either. */
static bool is_for_records(const char *name)
{
	static const char *const names[] = {
		"csd_queue_cpu",    "ipi_send_cpu", "workqueue_queue_work", "sched_waking",
		"watch_waking",     "watch_timer",  "watch_timer_end",      "sched_migrate_task",
		"tick_stop",        "tlb_flush",    "cpu_frequency",        "watch_throttle",
		"watch_unthrottle", "watch_look"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Programs of which there is another, ..._held (bpf/held.bpf.c). */
static const struct preemptible {
	const char *name;
	bool realtime; /* by threads on PREEMPT_RT alone: elsewhere nothing comes in between */
} preemptible[] = {
	{"workqueue_execute_start"},    {"watch_fault_end"},          {"watch_sys_exit"},
	{"watch_vcpu_wakeup"},          {"irq_work_single", true},    {"softirq_entry", true},
	{"softirq_exit", true},         {"timer_expire_entry", true}, {"tasklet_entry", true},
	{"hrtimer_expire_entry", true},
};

/* The row of a program, or of its other one; NULL: it has none. */
static const struct preemptible *row_of(const char *name)
{
	const char *held = strstr(name, "_held");
	size_t len = held ? (size_t)(held - name) : strlen(name);

	for (size_t i = 0; i < sizeof(preemptible) / sizeof(preemptible[0]); i++)
		if (strlen(preemptible[i].name) == len && !strncmp(preemptible[i].name, name, len))
			return &preemptible[i];
	return NULL;
}

/* True for one of the two where there are two, and for all others. */
static bool is_the_one(const char *name, const struct kernel *k)
{
	const struct preemptible *row = row_of(name);

	if (!row)
		return true;
	return ((!row->realtime || kernel_is_realtime()) && kernel_lets_hold(k)) ==
	       !!strstr(name, "_held");
}

bool program_may_run(const struct bpf_program *prog, const struct kernel *k)
{
	const char *name = bpf_program__name(prog);
	const struct preemptible *row = strstr(name, "_held") ? NULL : row_of(name);

	/* A tracepoint keeps others out by itself in kernels that do not let programs do it. In
	 * those that lack but the JIT it may, or not. */
	if (row && (row->realtime ? kernel_is_realtime() : kernel_preempts()) &&
	    (hook_is_function(prog) || kernel_has_hold(k)))
		return false;
	return hook_exists(prog, k);
}

static char *complaint; /* libbpf's listener gets no context */

static int keep_first_warning(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level != LIBBPF_WARN || !complaint || complaint[0])
		return 0;
	vsnprintf(complaint, PROGRAMS_WHY, fmt, args);
	complaint[strcspn(complaint, "\n")] = 0;
	return 0;
}

void programs_listen(char why[PROGRAMS_WHY])
{
	if (why)
		why[0] = 0;
	complaint = why;
	libbpf_set_print(keep_first_warning);
}

int programs_fit_stacks(struct bpf_map *stacks)
{
	uint32_t most = bpf_map__value_size(stacks) / sizeof(uint64_t);
	char line[32];
	long n;

	if (!line_of_file(MAX_STACK, line, sizeof(line)))
		return 0;
	n = strtol(line, NULL, 10);
	if (n < 1) {
		if (complaint)
			snprintf(complaint, PROGRAMS_WHY,
				 "no stack may be noted: write 127 to " MAX_STACK);
		errno = EINVAL;
		return -1;
	}
	return n < most ? bpf_map__set_value_size(stacks, n * sizeof(uint64_t)) : 0;
}

bool program_is_wanted(const struct bpf_program *prog, const struct wanted *p,
		       const struct kernel *k)
{
	const char *name = bpf_program__name(prog);
	bool watch = !strncmp(name, "watch_", strlen("watch_"));

	if (!is_the_one(name, k))
		return false;
	if (strstr(hook_place(prog), "_noise"))
		return p->osnoise;
	if (!strncmp(name, "sleeper_", strlen("sleeper_")))
		return p->sleeper == SLEEPER_THREAD;
	if (!strcmp(name, "ticker_start"))
		return p->sleeper == SLEEPER_KERNEL;
	if (!strncmp(name, "symbol_", strlen("symbol_"))) /* 5.16 and 5.13 */
		return kernel_has_helper(k, "kallsyms_lookup_name") &&
		       kernel_has_helper(k, "snprintf");
	if (!p->watched)
		return !watch;
	if (p->watched->sums && is_for_records(name))
		return false;
	if (hook_is_kvm(prog))
		return p->watched->exits && !p->watched->sums;
	if (!strncmp(name, "watch_fault", strlen("watch_fault")))
		return p->watched->faults;
	if (!strncmp(name, "watch_comm_", strlen("watch_comm_")))
		return p->watched->comm[0] != NULL;
	if (!strncmp(name, "watch_sys_", strlen("watch_sys_")))
		return p->watched->syscalls;
	if (strstr(name, "throttle"))
		return !kernel_has_member(k, "cfs_rq", "throttled_clock_self_time");
	return watch || (strcmp(name, "sched_switch") && strcmp(name, "page_fault_user"));
}

static const bool is_x86 =
#if defined(__x86_64__)
	true;
#else
	false;
#endif

bool programs_tell_exits(const struct bpf_program *exit, const struct bpf_program *entry,
			 const struct wanted *p, int at[EXIT_FIELDS])
{
	bool wanted = p->watched && p->watched->exits && !p->watched->sums;
	bool told = wanted && bpf_program__autoload(exit) && bpf_program__autoload(entry) &&
		    !hook_exit_fields(at);

	if (wanted && !is_x86) /* others' kvm_exit has other fields */
		say("exits are read on x86 only: why virtual CPUs leave their guests, and when "
		    "these have halted, is not observed");
	else if (wanted && !told)
		say("this kernel has no tracepoints of kvm (its module is not loaded, or tracefs "
		    "cannot be read): why virtual CPUs leave their guests, and when these have "
		    "halted, is not observed");
	return told;
}

uint64_t programs_misses(const struct bpf_object *object)
{
	struct bpf_program *prog;
	uint64_t misses = 0;

	bpf_object__for_each_program(prog, object)
	{
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);

		if (bpf_program__autoload(prog) &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			misses += info.recursion_misses;
	}
	return misses;
}

int program_run(const struct bpf_program *prog, const void *argument, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = argument, .ctx_size_in = size);
	int err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);

	return err ? err : (int)opts.retval;
}

int program_tick(const struct bpf_program *prog, uint32_t slot, unsigned cpu)
{
	int err = cpus_run_on_one(cpu) ?: program_run(prog, &slot, sizeof(slot));

	if (!err)
		return 0;
	return complain("--kernel: the kernel's timer on CPU %u cannot be started: %s; it takes a "
			"kernel from 6.7 on, which keeps a timer on its CPU",
			cpu, strerror(-err));
}

void program_run_on(const struct bpf_program *prog, const struct cpus *cpus)
{
	for (int cpu = cpus_next(cpus, 0); cpu >= 0; cpu = cpus_next(cpus, cpu + 1)) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .cpu = cpu, .flags = BPF_F_TEST_RUN_ON_CPU);
		bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
	}
}

int program_lacks(const struct wanted *p, const struct kernel *k)
{
	return p->user && !kernel_has_helper(k, "task_pt_regs") ? -ENOSYS : 0;
}

int program_complain_of_types(int err)
{
	return complain("tracing needs the kernel's type information, and %s cannot be read (%s): "
			"%s--no-trace measures without",
			KERNEL_TYPES, strerror(-err),
			err == -ENOENT   ? "use a kernel with CONFIG_DEBUG_INFO_BTF=y; "
			: err == -EMFILE ? "let culprit have more files open (ulimit -n); "
			: err == -ENOMEM ? "let culprit have more memory (ulimit -v); "
					 : "");
}

/* True when BPF's memory counts as locked, as before Linux 5.11, and may not be much. */
static bool memory_is_limited(void)
{
	struct rlimit limit;
	struct utsname u;
	unsigned major, minor;

	return !uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major < 5 || (major == 5 && minor < 11)) && !getrlimit(RLIMIT_MEMLOCK, &limit) &&
	       limit.rlim_cur != RLIM_INFINITY;
}

int program_complain(int err, const struct wanted *p, const char *why)
{
	if (err != -EPERM && !is_x86 && !kernel_has_exchange())
		return complain("this kernel's BPF cannot exchange a value in memory, which "
				"handing over records needs on this architecture: Linux 5.18 or "
				"later can on arm64; --no-trace measures without");
	if (p->user && err == -ENOSYS)
		return complain("--user-stacks: this kernel does not let programs read the "
				"registers of a thread: it takes Linux 5.15 or later; leave it "
				"out");
	if (p->sleeper == SLEEPER_KERNEL)
		return complain("--kernel: this kernel does not load a BPF timer (%s): it takes "
				"Linux 6.7 or later; leave out --kernel",
				strerror(-err));
	if (err == -EPERM && memory_is_limited())
		return complain("cannot load the BPF programs: %s (%s); before Linux 5.11 their "
				"memory counts as locked: give culprit no limit (ulimit -l "
				"unlimited); --no-trace measures without them",
				strerror(-err), why);
	return complain("cannot load the BPF programs: %s (%s); --no-trace measures without them",
			strerror(-err), why);
}
