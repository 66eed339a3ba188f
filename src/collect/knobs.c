/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns knobs. A file is opened by its name each time, for no longer than one read or write, and
 * only if it is a regular one: all of sysfs and procfs are. */
#include "collect/knobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PF_NO_SETAFFINITY 0x04000000u /* include/linux/sched.h */

__attribute__((format(printf, 2, 3))) static int fail(char *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, KNOB_WHY, fmt, args);
	va_end(args);
	return -1;
}

/* ---- files ---- */

static int open_file(const char *root, const char *path, int flags)
{
	char name[PATH_MAX];
	struct stat s;
	int fd;

	if ((size_t)snprintf(name, sizeof(name), "%s%s", root, path) >= sizeof(name))
		return -ENAMETOOLONG;
	fd = open(name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &s) && S_ISREG(s.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* Reads all of it, without a newline at its end. 0 or -errno. */
static int read_file(const char *root, const char *path, char *text)
{
	int fd = open_file(root, path, O_RDONLY);
	ssize_t n = 0;
	size_t len = 0;

	if (fd < 0)
		return fd;
	while (len < KNOB_VALUE && (n = read(fd, text + len, KNOB_VALUE - len)) > 0)
		len += n;
	n = n < 0 ? -errno : len == KNOB_VALUE ? -EFBIG : 0;
	close(fd);
	if (len == KNOB_VALUE)
		len--;
	while (len && text[len - 1] == '\n')
		len--;
	text[len] = 0;
	return !n && memchr(text, 0, len) ? -EINVAL : n;
}

/* With one write, as the kernel wants it. 0 or -errno. */
static int write_file(const char *root, const char *path, const char *text)
{
	char line[KNOB_VALUE + 2];
	int fd = open_file(root, path, O_WRONLY | O_TRUNC), err = 0;
	int len = snprintf(line, sizeof(line), "%s\n", text);

	if (fd < 0)
		return fd;
	if (write(fd, line, len) != len)
		err = errno ? -errno : -EIO;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* ---- threads ---- */

struct thread {
	unsigned flags;
	unsigned long long born;
	char comm[17];
};

static int read_thread(const char *root, unsigned tid, struct thread *t)
{
	char path[64], text[KNOB_VALUE], *end, *begin;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/stat", tid);
	err = read_file(root, path, text);
	if (err)
		return err;
	begin = strchr(text, '(');
	end = strrchr(text, ')'); /* a thread may have any in its name */
	if (!begin || !end || end - begin > (ptrdiff_t)sizeof(t->comm) ||
	    sscanf(end + 1,
		   " %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%llu",
		   &t->flags, &t->born) != 2)
		return -EINVAL;
	snprintf(t->comm, sizeof(t->comm), "%.*s", (int)(end - begin - 1), begin + 1);
	return 0;
}

static int read_affinity(unsigned tid, char *text)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	struct cpus cpus;
	int err = 0;

	if (!set)
		return -ENOMEM;
	cpus_clear(&cpus);
	if (sched_getaffinity((pid_t)tid, size, set))
		err = -errno;
	for (unsigned i = 0; !err && i < CPUS_MAX; i++)
		if (CPU_ISSET_S(i, size, set))
			cpus_add(&cpus, i);
	CPU_FREE(set);
	cpus_format(&cpus, text, KNOB_VALUE);
	return err;
}

static int write_affinity(unsigned tid, const char *list)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	struct cpus cpus;
	char why[256];
	int err = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	if (cpus_parse(list, &cpus, why, sizeof(why)))
		err = -EINVAL;
	for (int i = cpus_next(&cpus, 0); !err && i >= 0; i = cpus_next(&cpus, i + 1))
		CPU_SET_S(i, size, set);
	if (!err && sched_setaffinity((pid_t)tid, size, set))
		err = -errno;
	CPU_FREE(set);
	return err;
}

/* ---- one knob ---- */

/* -ESRCH: the thread has ended, and its number may be another's. */
static int look(const struct knob *k, const char *root, char *text)
{
	struct thread t;
	int err;

	if (k->kind == KNOB_THREAD) {
		err = read_thread(root, k->tid, &t);
		if (err || t.born != k->born)
			return err && err != -ENOENT ? err : -ESRCH;
		return read_affinity(k->tid, text);
	}
	err = read_file(root, k->path, text);
	if (!err && k->kind == KNOB_FEATURE)
		err = knob_feature(text, k->new);
	return err;
}

static int set(const struct knob *k, const char *root, const char *text)
{
	return k->kind == KNOB_THREAD ? write_affinity(k->tid, text)
				      : write_file(root, k->path, text);
}

int knob_apply(struct knob *k, const char *root, char *why)
{
	char text[KNOB_VALUE], name[PATH_MAX];
	int err = look(k, root, text);

	knob_name(k, name, sizeof(name));
	if (err)
		return fail(why, "%s cannot be read: %s", name,
			    err == -ESRCH ? "the thread has ended" : strerror(-err));
	if (!knob_same(text, k->old) && !(k->now && knob_same(text, k->now)))
		return fail(why, "%s was %s, and somebody has made it %.100s since: it is left so",
			    name, k->old, text);
	k->turned = true;
	err = set(k, root, k->new);
	if (err)
		return fail(why, "%s: the kernel refuses %s: %s", name, k->new, strerror(-err));
	err = look(k, root, text);
	if (err)
		return fail(why, "%s cannot be read again: %s", name, strerror(-err));
	if (knob_same(text, k->old))
		return fail(why, "%s: the kernel left it as it was, %.100s, when %s was written",
			    name, k->old, k->new);
	free(k->now);
	k->now = strdup(text);
	return k->now ? 0 : fail(why, "out of memory");
}

/* True for a file of a CPU that is offline: it comes again with the CPU, set as it was left. */
static bool is_of_offline(const struct knob *k, const char *root)
{
	char path[64], online[KNOB_VALUE];
	unsigned cpu;

	if (sscanf(k->path, "/sys/devices/system/cpu/cpu%u/", &cpu) != 1)
		return false;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return !read_file(root, path, online) && !strcmp(online, "0");
}

enum knob_back knob_restore(const struct knob *k, const char *root, char *why)
{
	char text[KNOB_VALUE], name[PATH_MAX];
	int err;

	if (!k->turned)
		return KNOB_BACK;
	err = look(k, root, text);
	knob_name(k, name, sizeof(name));
	if (err == -ENOENT && is_of_offline(k, root)) {
		fail(why, "%s: its CPU is offline: %s can be put back when it is online again",
		     name, k->old);
		return KNOB_REFUSED;
	}
	if (err == -ENOENT || err == -ESRCH)
		return KNOB_GONE;
	if (!err && knob_same(text, k->old))
		return KNOB_BACK;
	if (!err && k->now && !knob_same(text, k->now)) {
		fail(why, "%s was %s, the fix made it %s, and somebody has made it %.100s since",
		     name, k->old, k->now, text);
		return KNOB_OTHERS;
	}
	err = err ? err : set(k, root, k->old);
	if (err) {
		fail(why, "%s: %s cannot be put back: %s", name, k->old, strerror(-err));
		return KNOB_REFUSED;
	}
	err = look(k, root, text);
	if (!err && knob_same(text, k->old))
		return KNOB_BACK;
	fail(why, "%s was %s, and the kernel made %.100s of that now", name, k->old,
	     err ? strerror(-err) : text);
	return KNOB_REFUSED;
}

/* ---- plans ---- */

/* Some files show what is in force, and have another beside them for what was asked for: the mask
 * of the unbound workqueues, which isolated cpusets narrow. Where the two differ, what was asked
 * for would be lost. */
static int check_requested(const char *root, const char *path, const char *now, char *why)
{
	char name[PATH_MAX], asked[KNOB_VALUE];

	if ((size_t)snprintf(name, sizeof(name), "%s_requested", path) >= sizeof(name) ||
	    read_file(root, name, asked) || knob_same(asked, now))
		return 0;
	return fail(why, "%s is %.100s, and %.100s is in force: it could not be put back", name,
		    asked, now);
}

static int plan_file(struct knobs *k, const char *root, enum knob_kind kind, const char *path,
		     const char *value, char *why)
{
	struct knob probe = {.kind = kind, .path = (char *)path, .new = (char *)value};
	char text[KNOB_VALUE];
	int err = look(&probe, root, text), fd;

	if (err == -ENOENT)
		return fail(why, "%s: this kernel, or this machine, has no such %s%s", path,
			    kind == KNOB_FEATURE ? "feature" : "file",
			    strncmp(path, "/sys/kernel/debug/", 18)
				    ? ""
				    : " (or debugfs is not mounted)");
	if (err)
		return fail(why, "%s: %s", path, strerror(-err));
	if (knob_same(text, value))
		return 0;
	if (check_requested(root, path, text, why))
		return -1;
	fd = open_file(root, path, O_WRONLY);
	if (fd < 0)
		return fail(why, "%s cannot be written: %s", path, strerror(-fd));
	close(fd);
	return knobs_add(k, kind, path, text, value)
		       ? 0
		       : fail(why, "out of memory, or more than %d files", KNOBS_MAX);
}

static int plan_files(struct knobs *k, const char *root, const char *pattern, const char *value,
		      char *why)
{
	char full[PATH_MAX];
	glob_t found = {0};
	int err = 0;

	snprintf(full, sizeof(full), "%s%s", root, pattern);
	if (glob(full, GLOB_NOESCAPE, NULL, &found) || !found.gl_pathc)
		err = fail(why, "%s: this machine has none", pattern);
	for (size_t i = 0; !err && i < found.gl_pathc; i++)
		err = plan_file(k, root, KNOB_FILE, found.gl_pathv[i] + strlen(root), value, why);
	globfree(&found);
	return err;
}

static int plan_thread(struct knobs *k, const char *root, unsigned tid, const char *value,
		       char *why)
{
	char now[KNOB_VALUE];
	struct knob *row;
	struct thread t;
	int err = read_thread(root, tid, &t);

	if (err)
		return fail(why, "thread %u: %s", tid,
			    err == -ENOENT || err == -ESRCH ? "it has ended" : strerror(-err));
	if (t.flags & PF_NO_SETAFFINITY)
		return fail(why, "%s [%u] is bound to its CPUs: the kernel lets nobody move it",
			    t.comm, tid);
	err = read_affinity(tid, now);
	if (err)
		return fail(why, "thread %u: %s", tid, strerror(-err));
	if (!strcmp(now, value))
		return 0;
	row = knobs_add(k, KNOB_THREAD, "", now, value);
	if (!row)
		return fail(why, "out of memory");
	row->tid = tid;
	row->born = t.born;
	memcpy(row->comm, t.comm, sizeof(row->comm));
	return 0;
}

int knobs_plan(struct knobs *k, const char *root, enum knob_kind kind, const char *path,
	       const char *value, unsigned tid, char *why)
{
	uint32_t before = k->count;
	char word[64];
	int err = 0;

	if (kind == KNOB_THREAD)
		err = plan_thread(k, root, tid, value, why);
	else if (kind == KNOB_FILES)
		err = plan_files(k, root, path, value, why);
	else if (kind == KNOB_FEATURE)
		for (int n; !err && sscanf(value, "%63s%n", word, &n) == 1; value += n)
			err = plan_file(k, root, kind, path, word, why);
	else
		err = plan_file(k, root, kind, path, value, why);
	while (err && k->count > before)
		knobs_remove(k, k->count - 1);
	if (!err && k->count == before)
		err = fail(why, "it is set so already: %s", kind == KNOB_THREAD ? value : path);
	return err;
}

/* ---- others who turn knobs ---- */

/* True when root runs a process of this name. */
static bool root_runs(const char *root, const char *name)
{
	char path[PATH_MAX], comm[KNOB_VALUE];
	bool found = false;
	struct dirent *e;
	struct stat s;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc", root);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir))) {
		if (e->d_name[strspn(e->d_name, "0123456789")])
			continue;
		snprintf(path, sizeof(path), "/proc/%.32s/comm", e->d_name);
		found = !read_file(root, path, comm) && !strcmp(comm, name);
		snprintf(path, sizeof(path), "%s/proc/%.32s", root, e->d_name);
		found = found && !stat(path, &s) && (s.st_uid == 0 || *root);
	}
	if (dir)
		closedir(dir);
	return found;
}

const char *knob_rival(const struct knob *k, const char *root)
{
	if (!strncmp(k->path, "/proc/irq/", 10) && root_runs(root, "irqbalance"))
		return "irqbalance";
	return root_runs(root, "tuned") ? "tuned" : NULL;
}
