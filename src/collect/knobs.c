/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/knobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/knob_file.h"
#include "collect/knob_thread.h"

__attribute__((format(printf, 2, 3))) static int fail(char *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, KNOB_WHY, fmt, args);
	va_end(args);
	return -1;
}

/* ---- one knob ---- */

/* -ESRCH: the thread has ended, and its number may be another's. */
static int look(const struct knob *k, const char *root, char *text)
{
	struct knob_thread t;
	int err;

	if (k->kind == KNOB_THREAD) {
		err = knob_thread_read(root, k->tid, &t);
		if (!err && t.born == k->born)
			err = knob_cpus_read(root, k->tid, text);
		else if (!err)
			err = -ESRCH;
		return err == -ENOENT ? -ESRCH : err;
	}
	err = knob_read(root, k->path, text);
	if (!err && k->kind == KNOB_FEATURE)
		err = knob_feature(text, k->new);
	return err;
}

static int set(const struct knob *k, const char *root, const char *text)
{
	return k->kind == KNOB_THREAD ? knob_cpus_write(k->tid, text)
				      : knob_write(root, k->path, text);
}

/* True when two of its values mean the same, as long as CPUs that are offline stay so. */
static bool is_same(const struct knob *k, const char *root, const char *a, const char *b)
{
	return k->kind == KNOB_THREAD ? knob_cpus_same(root, a, b) : knob_same(a, b);
}

/* Takes what the kernel has made of what was written. 0 or -1. */
static int take_now(struct knob *k, const char *text)
{
	char *now = strdup(text);

	if (!now)
		return -1;
	free(k->now);
	k->now = now;
	return 0;
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH || err == -ENODEV;
}

static void say_gone(const struct knob *k, const char *name, char *why)
{
	if (k->kind == KNOB_THREAD)
		fail(why, "%s cannot be set any more: the thread has ended", name);
	else
		fail(why, "%s is no longer there", name);
}

/* Words for a call that failed on it. */
static enum knob_set not_set(const struct knob *k, const char *name, const char *what, int err,
			     char *why)
{
	if (is_gone(err)) {
		say_gone(k, name, why);
		return KNOB_LOST;
	}
	fail(why, "%s%s: %s", name, what, strerror(-err));
	return KNOB_NOT_SET;
}

enum knob_set knob_apply(struct knob *k, const char *root, char *why)
{
	char text[KNOB_VALUE], name[PATH_MAX], refuses[200];
	int err = look(k, root, text);

	knob_name(k, name, sizeof(name));
	if (err)
		return not_set(k, name, " cannot be read", err, why);
	if (!is_same(k, root, text, k->old) && !(k->now && is_same(k, root, text, k->now))) {
		fail(why, "somebody has set %s to %.100s, where %.100s was: that is left so", name,
		     text, k->old);
		return KNOB_LOST;
	}
	k->turned = true;
	err = set(k, root, k->new);
	snprintf(refuses, sizeof(refuses), ": the kernel refuses %.100s", k->new);
	if (err)
		return not_set(k, name, refuses, err, why);
	err = look(k, root, text);
	if (err)
		return not_set(k, name, " cannot be read again", err, why);
	if (knob_same(text, k->old))
		fail(why, "%s: the kernel left it as it was, %.100s, when %s was written", name,
		     k->old, k->new);
	else if (take_now(k, text))
		fail(why, "out of memory");
	else
		return KNOB_SET;
	return KNOB_NOT_SET;
}

/* True for a file of a CPU that is offline: it comes again with the CPU, set as it was left. */
static bool is_of_offline(const struct knob *k, const char *root)
{
	char path[64], online[KNOB_VALUE];
	unsigned cpu;

	if (sscanf(k->path, "/sys/devices/system/cpu/cpu%u/", &cpu) != 1)
		return false;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return !knob_read(root, path, online) && !strcmp(online, "0");
}

static bool is_number(const char *text)
{
	size_t sign = *text == '-', n = strspn(text + sign, "0123456789");

	return n && !text[sign + n];
}

/* True when the value is neither what the kernel made of the fix nor, where that is not known, can
 * be: of a list of CPUs it may take some, and a number of /proc/sys it takes as it is. */
static bool is_somebodys(const struct knob *k, const char *root, const char *text)
{
	if (k->now)
		return !is_same(k, root, text, k->now);
	if (k->kind == KNOB_THREAD)
		return !knob_cpus_within(text, k->new);
	return !strncmp(k->path, "/proc/sys/", 10) && is_number(k->old) && is_number(k->new) &&
	       is_number(text) && strcmp(text, k->new) != 0;
}

/* Before 6.2 the kernel may take what is offline out of a mask that is written, for good; since
 * then it keeps what was written. False too where the release cannot be read. */
static bool kernel_keeps_masks(const char *root)
{
	char release[KNOB_VALUE];
	unsigned major, minor;

	return !knob_read(root, "/proc/sys/kernel/osrelease", release) &&
	       sscanf(release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 2));
}

static enum knob_back is_back(const struct knob *k, const char *name, const char *text, char *why)
{
	char then[200];

	if (k->kind != KNOB_THREAD || knob_cpus_within(k->old, text))
		return KNOB_BACK;
	if ((size_t)snprintf(then, sizeof(then), ": then taskset -pc %s %u", k->old, k->tid) >=
	    sizeof(then))
		then[0] = 0; /* a list that is cut would be another one */
	fail(why,
	     "%s were %.80s, and are %.80s: what is offline this kernel may leave out when it is "
	     "online again%s",
	     name, k->old, text, then);
	return KNOB_OFFLINE;
}

/* Writes what was there, and reads it again. */
static enum knob_back put_back(struct knob *k, const char *root, const char *name, char *why)
{
	char text[KNOB_VALUE];
	int err = set(k, root, k->old);

	if (is_gone(err) && !is_of_offline(k, root)) {
		say_gone(k, name, why);
		return KNOB_GONE;
	}
	if (err == -EINVAL && k->kind == KNOB_THREAD && knob_cpus_offline(root, k->old))
		fail(why,
		     "%s: its CPUs are offline: %s can be put back when one of them is online "
		     "again",
		     name, k->old);
	else if (err)
		fail(why, "%s: %s cannot be put back: %s", name, k->old, strerror(-err));
	if (err)
		return KNOB_REFUSED;
	err = look(k, root, text);
	if (!err && is_same(k, root, text, k->old))
		return kernel_keeps_masks(root) ? KNOB_BACK : is_back(k, name, text, why);
	if (is_gone(err)) {
		say_gone(k, name, why);
		return KNOB_GONE;
	}
	if (!err)
		take_now(k, text); /* nobody else's when it is tried again */
	fail(why, "%s: %.100s was written, and the kernel made %.100s of that now", name, k->old,
	     err ? strerror(-err) : text);
	return KNOB_REFUSED;
}

enum knob_back knob_restore(struct knob *k, const char *root, char *why)
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
	if (is_gone(err)) {
		say_gone(k, name, why);
		return KNOB_GONE;
	}
	if (err) {
		fail(why, "%s: %s cannot be put back: %s", name, k->old, strerror(-err));
		return KNOB_REFUSED;
	}
	if (knob_same(text, k->old))
		return KNOB_BACK;
	if (!is_somebodys(k, root, text))
		return put_back(k, root, name, why);
	if (is_same(k, root, text, k->old))
		return is_back(k, name, text, why);
	fail(why, "somebody has set %s to %.100s since: at first there was %.100s, and %s %.100s",
	     name, text, k->old, k->now ? "culprit set" : "the fix was to set",
	     k->now ? k->now : k->new);
	return KNOB_OTHERS;
}

/* ---- plans ---- */

/* Some files show what is in force, and have another beside them for what was asked for: the mask
 * of the unbound workqueues, which isolated cpusets narrow. Where the two differ, what was asked
 * for would be lost. */
static int check_requested(const char *root, const char *path, const char *now, char *why)
{
	char name[PATH_MAX], asked[KNOB_VALUE];

	if ((size_t)snprintf(name, sizeof(name), "%s_requested", path) >= sizeof(name) ||
	    knob_read(root, name, asked) || knob_same(asked, now))
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
	fd = knob_open(root, path, O_WRONLY);
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
	struct knob_thread t;
	struct knob *row;
	int err = knob_thread_read(root, tid, &t);

	if (!err && t.bound)
		return fail(why, "%s [%u] is bound to its CPUs: the kernel lets nobody move it",
			    t.name, tid);
	if (!err)
		err = knob_cpus_read(root, tid, now);
	if (err)
		return fail(why, "thread %u: %s", tid,
			    err == -ENOENT || err == -ESRCH ? "it has ended" : strerror(-err));
	if (knob_cpus_same(root, now, value))
		return 0;
	row = knobs_add(k, KNOB_THREAD, "", now, value);
	if (!row)
		return fail(why, "out of memory");
	row->tid = tid;
	row->born = t.born;
	snprintf(row->comm, sizeof(row->comm), "%.15s", t.name); /* as probes see it */
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
		found = !knob_read(root, path, comm) && !strcmp(comm, name);
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
