/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/watch_threads.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/chosen.h"
#include "collect/mounts.h"
#include "collect/vcpus.h"

#define PIDS         4194304 /* the kernel's PID_MAX_LIMIT */
#define MACHINE_CPUS (CHOICE_THREADS / CHOICE_VCPUS)

#define FIELD(name) offsetof(struct watched, name)

/* Adds one more process or thread. */
static int set_id(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	int32_t *id = field;
	long n;

	(void)row;
	if (parse_integer(text, 1, PIDS, &n, why, whylen))
		return -EINVAL;
	for (int i = 0; i < WATCH_IDS; i++)
		if (!id[i]) {
			id[i] = n;
			return 0;
		}
	snprintf(why, whylen, "'%s' is one too many: at most %d can be watched at once", text,
		 WATCH_IDS);
	return -EINVAL;
}

int watch_threads_tid(const char *text, struct watched *w, char *why, size_t whylen)
{
	return set_id(text, w->tid, NULL, why, whylen);
}

static int add_text(const char *text, const char **field, int max, char *why, size_t whylen)
{
	int n = 0;

	while (n < max && field[n])
		n++;
	if (n == max)
		snprintf(why, whylen, "'%.40s' is one too many: at most %d can be given", text,
			 max);
	else
		field[n] = text;
	return n == max ? -EINVAL : 0;
}

static int set_comm(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	struct name_glob glob;

	(void)row;
	if (!*text || choice_glob(&glob, text)) {
		snprintf(why, whylen, "'%.40s': a name has 1 to %d bytes beside asterisks", text,
			 GLOB_TOKENS);
		return -EINVAL;
	}
	return add_text(text, field, CHOICE_GLOBS, why, whylen);
}

/* One more virtual machine. */
static int set_vcpus(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	(void)row;
	if (!*vcpus_name(text)) {
		snprintf(why, whylen, "'%s' is no PID and no name of a virtual machine", text);
		return -EINVAL;
	}
	if (!text[strspn(text, "0123456789")] && (vcpus_pid(text) < 1 || vcpus_pid(text) > PIDS)) {
		snprintf(why, whylen,
			 "'%.40s': a number is a PID, from 1 to %d; a machine of this name is "
			 "name=%.40s",
			 text, PIDS, text);
		return -EINVAL;
	}
	return add_text(text, field, CHOICE_VCPUS, why, whylen);
}

/* True for a path with a part that leads elsewhere, and is the name of no cgroup. */
static bool has_dots(const char *path)
{
	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n && n <= 2 && strspn(path, ".") >= n)
			return true;
	}
	return false;
}

/* True for what no path fits: asterisks may stand for nothing. */
static bool is_too_long(const char *path)
{
	size_t all = 0, part = 0;

	for (; *path; path++) {
		part = *path == '/' ? 0 : part + (*path != '*');
		all += *path != '*';
		if (part > NAME_MAX || all >= PATH_MAX)
			return true;
	}
	return false;
}

/* One more unit or cgroup. */
static int set_group(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	if (!*text || (*row->name == 'u' ? strchr(text, '/') != NULL : has_dots(text))) {
		snprintf(why, whylen, "'%.40s' is no name of a %s", text, row->name);
		return -EINVAL;
	}
	if (is_too_long(text)) {
		snprintf(why, whylen, "'%.40s...' is longer than what a %s can be called", text,
			 row->name);
		return -EINVAL;
	}
	return add_text(text, field, CHOICE_GROUPS / 2, why, whylen);
}

const struct opt watch_threads_opts[] = {
	{'p', "pid", "PID",
	 "watch all threads of this process, also later ones; may be given several times",
	 FIELD(tgid), set_id},
	{0, "tid", "TID", "watch this thread; may be given several times", FIELD(tid), set_id},
	{0, "comm", "GLOB",
	 "watch all threads of processes with this name, of 15 bytes at most, also those that come "
	 "later; an asterisk stands for any bytes; may be given several times",
	 FIELD(comm), set_comm},
	{0, "unit", "GLOB",
	 "watch all threads of this systemd unit (NAME or NAME.service), also when it starts later "
	 "or again; an asterisk stands for any bytes: all units that fit are watched, and those "
	 "that come later, 8 at a time; may be given several times",
	 FIELD(unit), set_group},
	{0, "cgroup", "PATH",
	 "watch all threads of this cgroup and of those in it, as with --unit; of the unified "
	 "hierarchy (v2), like /system.slice/x.service",
	 FIELD(cgroup), set_group},
	{0, "vcpus", "PID|NAME",
	 "watch the threads that are the virtual CPUs of this process, or of the machine of this "
	 "name, also when it starts later or again (name=101 where the name is a number); may be "
	 "given several times",
	 FIELD(vcpus), set_vcpus},
	{0},
};

bool watch_threads_given(const struct watched *w)
{
	return w->tgid[0] || w->tid[0] || w->vcpus[0] || watch_threads_may_come(w);
}

static void add_program(int32_t *pid, int32_t more)
{
	while (*pid && *pid != more)
		pid++;
	*pid = more; /* 0: a machine's name */
}

void watch_threads_programs(const struct watched *w, int32_t *pid)
{
	for (int i = 0; i < WATCH_IDS && w->tgid[i]; i++)
		add_program(pid, w->tgid[i]);
	for (int i = 0; w->vcpus[i]; i++)
		add_program(pid, vcpus_pid(w->vcpus[i]));
}

bool watch_threads_may_come(const struct watched *w)
{
	bool may = w->comm[0] || w->unit[0] || w->cgroup[0];

	for (int i = 0; w->vcpus[i]; i++)
		may |= !vcpus_pid(w->vcpus[i]);
	return may;
}

/* A thread's number names no process, though /proc and kill() take it for one: nothing would be
 * watched. what: "-p" or "--vcpus". */
static int check_leader(int32_t pid, const char *what)
{
	char path[64], line[256];
	int32_t leader = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Tgid:", 5))
			leader = atoi(line + 5);
	if (f)
		fclose(f);
	if (leader == pid)
		return 0;
	return complain("%d is a thread of process %d (%s): give %s %d%s", pid, leader, what, what,
			leader, strcmp(what, "-p") ? "" : " for all its threads, or --tid for one");
}

static int check_process(const char *text)
{
	int32_t pid = vcpus_pid(text), tid;
	int n = vcpus_threads(pid, &tid, 1), err = errno;

	if (check_leader(pid, "--vcpus"))
		return -1;

	if (n > 0)
		return 0;
	if (!n)
		return complain("no thread of process %d is called like a virtual CPU (--vcpus): "
				"QEMU does it with -name NAME,debug-threads=on; or watch all its "
				"threads with -p; a number is a PID, and a machine of this name is "
				"name=%s",
				pid, text);
	if (kill(pid, 0) && errno == ESRCH)
		return complain("there is no process %d (--vcpus): ps -e lists all processes; a "
				"number is a PID, and a machine of this name is name=%s",
				pid, text);
	return complain("the threads of process %d cannot be seen (--vcpus): %s; where /proc hides "
			"other users' processes (hidepid) that takes CAP_SYS_PTRACE",
			pid, strerror(err));
}

/* Says why a machine that may be there is not found. */
static void look_for_machine(const char *name)
{
	struct vcpus_search search = {.proc = "/proc", .wait_ns = VCPUS_WAIT_NS};
	int32_t found = vcpus_machine(&search, name), tid;

	vcpus_search_end(&search);
	if (found)
		return;
	found = vcpus_nameless("/proc", name, NSEC_PER_SEC);
	if (found)
		say("process %d is called %s, but no thread of it like a virtual CPU (--vcpus): "
		    "QEMU does it with -name NAME,debug-threads=on; until there is such a thread "
		    "none of it is watched",
		    found, name);
	else if (vcpus_threads(1, &tid, 1) < 0)
		say("/proc hides other users' processes (hidepid): without CAP_SYS_PTRACE no "
		    "machine of theirs is found by its name (--vcpus %s)",
		    name);
}

static int check_vcpus(const struct watched *w)
{
	for (int i = 0; w->vcpus[i]; i++)
		if (!vcpus_pid(w->vcpus[i]))
			look_for_machine(vcpus_name(w->vcpus[i]));
		else if (check_process(w->vcpus[i]))
			return -1;
	return 0;
}

int watch_threads_check(const struct watched *w)
{
	char path[64];

	if ((w->unit[0] || w->cgroup[0]) && !choice_has_cgroups())
		return complain("--unit and --cgroup need the unified hierarchy of cgroups, which "
				"is mounted nowhere: mount -t cgroup2 none /sys/fs/cgroup, or use "
				"--comm");

	for (int i = 0; i < WATCH_IDS && w->tgid[i]; i++) {
		if (kill(w->tgid[i], 0) && errno == ESRCH)
			return complain("there is no process %d (-p): ps -e lists all processes",
					w->tgid[i]);
		if (check_leader(w->tgid[i], "-p"))
			return -1;
	}
	for (int i = 0; i < WATCH_IDS && w->tid[i]; i++) {
		snprintf(path, sizeof(path), "/proc/%d", w->tid[i]);
		if (access(path, F_OK))
			return complain("there is no thread %d (--tid): ps -eL lists all threads",
					w->tid[i]);
	}
	return check_vcpus(w);
}

bool watch_threads_exits(const struct watched *w)
{
	bool exits = w->vcpus[0];

	for (int i = 0; i < WATCH_IDS && w->tgid[i] && !exits && !w->syscalls; i++)
		exits = vcpus_of_kvm(w->tgid[i]);
	return exits;
}

/* True when /proc hides other users' processes: a machine may be theirs. */
static bool are_hidden(void)
{
	char folder[PATH_MAX];

	return mounts_find(-1, "proc", "hidepid", folder, sizeof(folder));
}

uint64_t watch_threads_rights(const struct watched *w)
{
	return w->vcpus[0] && are_hidden() ? RIGHT_SYS_PTRACE : 0;
}

static void add_allowed(int pid, int tid, struct cpus *cpus)
{
	char path[64], line[CPUS_LIST + 32], why[128];
	struct cpus allowed;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Cpus_allowed_list:", 18) &&
		    !cpus_parse(line + 18, &allowed, why, sizeof(why)))
			cpus_or(cpus, &allowed);
	if (f)
		fclose(f);
}

void watch_threads_cpus(const struct watched *w, struct cpus *cpus)
{
	for (int i = 0; i < WATCH_IDS && w->tid[i]; i++)
		add_allowed(w->tid[i], w->tid[i], cpus);
	for (int i = 0; i < WATCH_IDS && w->tgid[i]; i++) {
		char path[64];
		struct dirent *e;
		DIR *d;

		snprintf(path, sizeof(path), "/proc/%d/task", w->tgid[i]);
		d = opendir(path);
		while (d && (e = readdir(d)))
			if (e->d_name[0] != '.')
				add_allowed(w->tgid[i], atoi(e->d_name), cpus);
		if (d)
			closedir(d);
	}
	for (int i = 0; w->vcpus[i]; i++) {
		int32_t pid = vcpus_pid(w->vcpus[i]), tid[MACHINE_CPUS];
		int n = vcpus_threads(pid, tid, MACHINE_CPUS);

		for (int k = 0; k < n; k++)
			add_allowed(pid, tid[k], cpus);
	}
}
