/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads: what may run on the target CPUs beside the workload. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/begins.h"
#include "base/units.h"

enum { FIFO = 1, ROUND_ROBIN = 2, DEADLINE = 6 }; /* include/uapi/linux/sched.h */

/* ---- kernel threads ---- */

/* False for threads that have a check of their own, or no mask of their own: a threaded handler
 * follows its IRQ. */
static bool is_movable(const struct task *t)
{
	return !comm_begins(t, "rcu") && !comm_begins(t, "irq/") && !comm_begins(t, "napi/") &&
	       !comm_begins(t, "kworker/");
}

static void check_kthreads(struct audit *a)
{
	check_kernel_threads(a, is_movable, "movable kernel",
			     "no movable kernel thread may run on these CPUs");
}

/* ---- user threads ---- */

const struct task *init_task(const struct audit *a, struct task *t)
{
	struct task_walk w = {0};

	while (next_task(a, &w, t))
		if (t->tid == 1)
			return t;
	return NULL;
}

bool systemd_confines(const struct audit *a)
{
	struct task init;

	return init_task(a, &init) && comm_is(&init, "systemd") &&
	       text_of(a, "sys/fs/cgroup/cpuset.cpus.isolated");
}

/* Never a command: which slice a thread is in is not known, and the kernel moves the workload, too,
 * off CPUs that its slice loses; whatever asks for them there later gets an error. */
static void move_services(struct audit *a, struct finding *f)
{
	good(f, "only the workload on %s", a->whose);
	if (systemd_confines(a))
		words(f,
		      "give the workload, and culprit, a slice of their own first, then the others "
		      "AllowedCPUs=%s: culprit explain K34",
		      a->keep);
	else
		words(f, "start them with taskset -c %s, or put them into a cpuset of these CPUs",
		      a->keep);
}

static void check_tasks(struct audit *a)
{
	struct naming allowed = {0}, running = {0}, workload = {0};
	struct task_walk w = {0};
	struct finding *f;
	struct task t;

	if (!need_tasks(a))
		return;
	while (next_task(a, &w, &t)) {
		if ((t.flags & TASK_KTHREAD) || !meets(&t.allowed, &a->targets))
			continue;
		if (cpus_cover(&a->targets, &t.allowed))
			name_add(&workload, t.comm, t.comm_len);
		else if (t.state == 'R' && cpus_has(&a->targets, t.cpu))
			name_add(&running, t.comm, t.comm_len);
		else
			name_add(&allowed, t.comm, t.comm_len);
	}
	if (running.count) {
		f = fail(a, "running on %s now, though not bound to it: %s", a->whose,
			 name_list(&running));
		move_services(a, f);
	}
	if (allowed.count) {
		f = warn(a, "%u user thread%s may run on %s: %s", allowed.count,
			 plural(allowed.count), a->whose, name_list(&allowed));
		move_services(a, f);
	}
	if (workload.count)
		value(info(a, "some threads are bound to %s: the workload, it seems", a->whose),
		      "%s", name_list(&workload));
	if (!running.count && !allowed.count)
		found_ok(a, "no other user thread may run on these CPUs");
	if (text_of(a, "run/tasks/left_out")) {
		f = info(a, "not all threads were looked at");
		if (f)
			f->known = false;
		value(f, "there are too many");
	}
}

static struct finding *say_realtime(struct audit *a, struct naming *names, bool users)
{
	struct finding *f = warn(a, "real-time threads may preempt what runs on %s: %s", a->whose,
				 name_list(names));

	if (f && users)
		f->cause = "K34";
	return f;
}

static void check_realtime(struct audit *a)
{
	struct cpus rest, quiet = quiet_now(a);
	struct task_walk w = {0};
	struct naming names = {0}, others = {0};
	struct text list = {.audit = a}, back = {.audit = a};
	struct text move = {.audit = a}, moved = {.audit = a};
	bool users = false;
	struct task t;

	if (!need_tasks(a))
		return;
	while (next_task(a, &w, &t)) {
		char name[128];

		if ((t.policy != FIFO && t.policy != ROUND_ROBIN && t.policy != DEADLINE) ||
		    (t.flags & TASK_BOUND) || comm_begins(&t, "irq/") ||
		    !meets(&t.allowed, &a->targets) ||
		    (cpus_cover(&a->targets, &t.allowed) && !(t.flags & TASK_KTHREAD)))
			continue;
		snprintf(name, sizeof(name), "%.*s [%u] prio %u", (int)t.comm_len, t.comm, t.tid,
			 t.priority);
		if (has_own(&t, &a->targets, &a->online, &quiet, &rest)) {
			name_add(&others, name, strlen(name));
			thread_bind(&t, &rest, &move);
			thread_bind(&t, &t.allowed, &moved);
			continue;
		}
		name_add(&names, name, strlen(name));
		thread_fix(&t, &list, &back);
		users |= !(t.flags & TASK_KTHREAD);
	}
	if (!names.count && !others.count)
		found_ok(a, "no foreign real-time thread may run on these CPUs");
	if (names.count)
		threads_move(a, say_realtime(a, &names, users), &list, &back);
	if (others.count)
		fix_take(say_realtime(a, &others, true), &move, &moved);
}

/* Adds the CPUs of "0-2,5 7" to the set, or none where a word of it is no list: systemd ignores
 * such a line. */
static void add_cpus(struct cpus *set, char *text)
{
	struct cpus all, one;
	char *save = NULL, why[128];

	cpus_clear(&all);
	for (char *w = strtok_r(text, ", \t\r\"'", &save); w;
	     w = strtok_r(NULL, ", \t\r\"'", &save)) {
		if (cpus_parse(w, &one, why, sizeof(why)))
			return;
		cpus_or(&all, &one);
	}
	cpus_or(set, &all);
}

/* Follows a file of systemd's settings (systemd-system.conf(5)): each CPUAffinity= adds to those
 * before it, and one without a value takes them back. */
static void read_affinity(const char *text, struct cpus *set)
{
	static const char name[] = "CPUAffinity";
	char val[CPUS_LIST];

	for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *at = text + strspn(text, " \t");

		if (!begins(at, name))
			continue;
		at += strlen(name);
		at += strspn(at, " \t");
		if (*at != '=')
			continue;
		first_line(at + 1, val, sizeof(val));
		if (val[strspn(val, " \t\r")])
			add_cpus(set, val);
		else
			cpus_clear(set);
	}
}

static void check_systemd(struct audit *a)
{
	const struct fact *x = NULL;
	char list[CPUS_LIST];
	struct cpus written;
	struct finding *f;
	struct task init;

	if (!need_tasks(a))
		return;
	if (!init_task(a, &init) || !comm_is(&init, "systemd")) {
		found_ok(a, "systemd does not run here");
		return;
	}
	if (!meets(&init.allowed, &a->targets)) {
		found_ok(a, "services are kept off these CPUs");
		return;
	}
	cpus_clear(&written);
	read_affinity(text_of(a, "etc/systemd/system.conf"), &written);
	while ((x = next_of(a, "etc/systemd/system.conf.d/*.conf", x)))
		read_affinity(text_of(a, x->name), &written);
	f = info(a, "services inherit their CPUs from systemd, %s among them", a->whose);
	good(f, "CPUAffinity=%s", a->keep);
	if (cpus_empty(&written) || meets(&written, &a->targets)) {
		value(f, "cpu %s", cpus_format(&init.allowed, list, sizeof(list)));
		words(f, "CPUAffinity=%s %s, from the next boot on", a->keep,
		      cpus_empty(&written)
			      ? "in /etc/systemd/system.conf"
			      : "in place of those in /etc/systemd/system.conf and system.conf.d, "
				"which add up");
	} else {
		value(f, "CPUAffinity=%s is written, and not in force",
		      cpus_format(&written, list, sizeof(list)));
		words(f, "boot: systemd reads its CPUAffinity= then");
	}
}

/* ---- known disturbers ---- */

static const struct {
	const char *comm, *does;
	enum finding_level level;
	const char *cause;
} agents[] = {
	{"perf", "samples or counts CPUs", FINDING_WARN, "P23"},
	{"bpftrace", "attaches probes and reads perf buffers of all CPUs", FINDING_WARN, "X02"},
	{"turbostat", "visits every CPU", FINDING_WARN, "P12"},
	{"cpupower", "asks all CPUs for their frequencies", FINDING_WARN, "P12"},
	{"node_exporter", "reads sensors and counters of all CPUs", FINDING_WARN, "P12"},
	{"collectd", "reads sensors and counters of all CPUs", FINDING_WARN, "P12"},
	{"pmcd", "reads counters of all CPUs", FINDING_WARN, "P12"},
	{"falco", "attaches probes to all CPUs", FINDING_WARN, "X02"},
	{"tetragon", "attaches probes to all CPUs", FINDING_WARN, "X02"},
	{"mcelog", "polls for errors of the hardware", FINDING_WARN, "T16"},
	{"rasdaemon", "traces errors of the hardware", FINDING_INFO, "I09"},
	{"thermald", "may inject idle time and read MSRs", FINDING_WARN, "K26"},
	{"ksmtuned", "switches page merging on", FINDING_WARN, "K24"},
	{"numad", "moves processes and their memory", FINDING_WARN, "F05"},
	{"auditd", "has rules that may lengthen every system call (auditctl -l)", FINDING_INFO,
	 "F09"},
	{"dockerd", "starts and stops containers: each changes cgroups, networks and BPF programs",
	 FINDING_INFO, "P06"},
	{"containerd",
	 "starts and stops containers: each changes cgroups, networks and BPF programs",
	 FINDING_INFO, "P06"},
	{"kubelet", "starts and stops pods; its CPU manager should be static", FINDING_INFO, "P14"},
};

#define AGENTS (sizeof(agents) / sizeof(agents[0]))

static void check_agents(struct audit *a)
{
	struct task first[AGENTS], t;
	bool seen[AGENTS] = {false}, any = false;
	struct task_walk w = {0};

	if (!need_tasks(a))
		return;
	while (next_task(a, &w, &t))
		for (size_t i = 0; i < AGENTS; i++)
			if (!(t.flags & TASK_KTHREAD) && t.tid == t.tgid && !seen[i] &&
			    comm_is(&t, agents[i].comm)) {
				first[i] = t;
				seen[i] = any = true;
			}
	for (size_t i = 0; i < AGENTS; i++) {
		bool root = seen[i] && runs_as_root(a, &first[i]);
		struct finding *f;

		if (!seen[i])
			continue;
		f = root ? found(a, agents[i].level, "%s [%u] runs: it %s", agents[i].comm,
				 first[i].tid, agents[i].does)
			 : info(a,
				"a process [%u] that is not root's is called %s: if it is that "
				"program, it %s",
				first[i].tid, agents[i].comm, agents[i].does);
		if (f)
			f->cause = agents[i].cause;
		words(f, "stop it while the workload runs");
	}
	if (!any)
		found_ok(a, "no monitor or profiler runs that is known to disturb");
}

static void check_guests(struct audit *a)
{
	struct task_walk w = {0};
	struct naming names = {0};
	struct task t;

	if (!need_tasks(a))
		return;
	while (next_task(a, &w, &t))
		if (comm_begins(&t, "CPU ") && t.comm_len > 4 &&
		    !memcmp(t.comm + t.comm_len - 4, "/KVM", 4) && meets(&t.allowed, &a->targets))
			name_add(&names, t.comm, t.comm_len);
	if (names.count)
		words(info(a, "virtual CPUs of guests may run on %s: %s", a->whose,
			   name_list(&names)),
		      "bind guests to cpu %s", a->keep);
	else
		found_ok(a, "no guest's virtual CPU may run on these CPUs");
}

static void check_tuned(struct audit *a)
{
	char profile[128];

	if (!text_of(a, "etc/tuned/active_profile")) {
		unknown(a, "tuned's profile", "etc/tuned/active_profile");
		return;
	}
	first_line(text_of(a, "etc/tuned/active_profile"), profile, sizeof(profile));
	if (!strncmp(profile, "cpu-partitioning", 16) || !strncmp(profile, "realtime", 8)) {
		value(found_ok(a, "tuned has a profile for isolated CPUs"), "%s", profile);
		return;
	}
	struct finding *f = info(a, "tuned has a profile that is not for isolated CPUs");

	value(f, "%s", profile);
	good(f, "cpu-partitioning or realtime");
}

const struct check checks_tasks[] = {
	{"tasks", "K34", check_tasks, NULL},       {"kthreads", "K25", check_kthreads, NULL},
	{"realtime", "K25", check_realtime, NULL}, {"agents", NULL, check_agents, NULL},
	{"systemd", "K34", check_systemd, NULL},   {"guests", "I07", check_guests, NULL},
	{"tuned", NULL, check_tuned, NULL},        {0},
};
