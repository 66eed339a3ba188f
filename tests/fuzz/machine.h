/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up machine on which a journal's knobs were turned: all that collect/knobs.c opens, reads,
 * writes and sets comes here, because the linker is told so, and nothing but what a fix may touch,
 * and what was there before, may come. Nothing of this machine changes. */
#ifndef CULPRIT_FUZZ_MACHINE_H
#define CULPRIT_FUZZ_MACHINE_H

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cpus.h"
#include "model/knob.h"

#define ONLINE "/sys/devices/system/cpu/online"
#define BOOT   "00000000-1111-2222-3333-444444444444"

/* The fate of a knob since it was turned. */
enum fate { IN_FORCE, BACK, OTHERS, GONE, READ_ONLY, STUBBORN, FATES };

static struct machine {
	/* A directory where files are real. */
	char own[PATH_MAX - 64];
	/* The knobs that the journal names; a value that is NULL is no longer there. */
	struct knobs was;
	enum fate *fate;
	char **value;
	/* Each file is opened as this one: then the text is read, from `at` on, or the row is
	 * written. */
	int file;
	char text[KNOB_VALUE + 256];
	size_t len, at;
	int row;
	unsigned writes;
} machine;

/* The first row of a file or a thread; -1: none. */
static int row_of(const char *path, unsigned tid)
{
	for (uint32_t i = 0; i < machine.was.count; i++) {
		const struct knob *k = &machine.was.row[i];

		if (path ? k->kind != KNOB_THREAD && !strcmp(k->path, path)
			 : k->kind == KNOB_THREAD && k->tid == tid)
			return (int)i;
	}
	return -1;
}

/* A value that was there before, by a row of the same file or thread. */
static bool was_there(int row, const char *value)
{
	const struct knob *at = &machine.was.row[row];

	for (uint32_t i = 0; i < machine.was.count; i++) {
		const struct knob *k = &machine.was.row[i];

		if ((at->kind == KNOB_THREAD) == (k->kind == KNOB_THREAD) && k->tid == at->tid &&
		    !strcmp(k->path, at->path) && !strcmp(k->old, value))
			return true;
	}
	return false;
}

static void set_value(int row, const char *value)
{
	machine.writes++;
	if (machine.fate[row] == STUBBORN)
		return;
	free(machine.value[row]);
	machine.value[row] = strdup(value);
	assert(machine.value[row]);
}

static bool is_kernels(const char *path)
{
	return (!strncmp(path, "/sys/", 5) || !strncmp(path, "/proc/sys/", 10) ||
		!strncmp(path, "/proc/irq/", 10)) &&
	       !strstr(path, "/../");
}

/* ---- instead of libc's ---- */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_read(int fd, void *to, size_t len);
ssize_t __wrap_write(int fd, const void *from, size_t len);
int __wrap_fsync(int fd);
int __wrap_sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set);

static int no(int error)
{
	errno = error;
	return -1;
}

/* Opens the file with this text in it, for read() as above and for stdio, which reads by itself. */
static int give(const char *text)
{
	int fd = fcntl(machine.file, F_DUPFD_CLOEXEC, 0);

	machine.len = snprintf(machine.text, sizeof(machine.text), "%s", text);
	machine.at = 0;
	machine.row = -1;
	assert(fd >= 0 && machine.len < sizeof(machine.text) && !ftruncate(fd, 0) &&
	       pwrite(fd, text, machine.len, 0) == (ssize_t)machine.len && !lseek(fd, 0, SEEK_SET));
	return fd;
}

int __wrap_open(const char *path, int flags, ...)
{
	bool reads = (flags & O_ACCMODE) == O_RDONLY, status = false;
	unsigned tid;
	char text[sizeof(machine.text)];
	va_list args;
	int row, fd;

	va_start(args, flags);
	fd = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (!strncmp(path, machine.own, strlen(machine.own)))
		return __real_open(path, flags, fd);
	assert(!(flags & O_CREAT) && flags & O_NOFOLLOW);
	if (!strcmp(path, ONLINE) && reads && row_of(path, 0) < 0)
		return give("0-7\n");
	if (sscanf(path, "/proc/%u/stat", &tid) == 1) {
		row = row_of(NULL, tid);
		status = strstr(path, "/status") != NULL;
		assert(reads);
	} else {
		row = row_of(path, 0);
		assert(is_kernels(path));
	}
	if (row < 0 || !machine.value[row])
		return no(ENOENT);
	if (!reads && machine.fate[row] == READ_ONLY)
		return no(EACCES);
	/* another has the number of a thread that is another's */
	if (status)
		snprintf(text, sizeof(text), "Name:\tx\nCpus_allowed_list:\t%s\nMems_allowed:\t1\n",
			 machine.value[row]);
	else if (machine.was.row[row].kind == KNOB_THREAD)
		snprintf(text, sizeof(text),
			 "%u (%s) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %llu 0\n", tid,
			 machine.was.row[row].comm,
			 machine.was.row[row].born + (machine.fate[row] == OTHERS));
	else
		snprintf(text, sizeof(text), "%s\n", machine.value[row]);
	fd = give(text);
	machine.row = reads ? -1 : row;
	return fd;
}

ssize_t __wrap_read(int fd, void *to, size_t len)
{
	(void)fd;
	assert(machine.row < 0);
	len = len < machine.len - machine.at ? len : machine.len - machine.at;
	memcpy(to, machine.text + machine.at, len);
	machine.at += len;
	return (ssize_t)len;
}

ssize_t __wrap_write(int fd, const void *from, size_t len)
{
	(void)fd;
	assert(machine.row >= 0 && len && len < sizeof(machine.text));
	memcpy(machine.text, from, len);
	assert(machine.text[len - 1] == '\n');
	machine.text[len - 1] = 0;
	assert(strlen(machine.text) == len - 1 && was_there(machine.row, machine.text));
	set_value(machine.row, machine.text);
	return (ssize_t)len;
}

/* The disk would take all the time. */
int __wrap_fsync(int fd)
{
	(void)fd;
	return 0;
}

int __wrap_sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set)
{
	int row = row_of(NULL, tid);
	struct cpus cpus, old;
	char why[256];
	bool was = false;

	assert(tid > 0 && row >= 0 && machine.value[row] && machine.fate[row] != OTHERS);
	cpus_clear(&cpus);
	for (unsigned i = 0; i < CPUS_MAX; i++)
		if (CPU_ISSET_S(i, size, set))
			cpus_add(&cpus, i);
	for (uint32_t i = 0; i < machine.was.count && !was; i++) {
		const struct knob *k = &machine.was.row[i];

		was = k->kind == KNOB_THREAD && k->tid == (unsigned)tid &&
		      !cpus_parse(k->old, &old, why, sizeof(why)) &&
		      !memcmp(&old, &cpus, sizeof(cpus));
	}
	assert(was);
	if (machine.fate[row] == READ_ONLY)
		return no(EPERM);
	set_value(row, cpus_format(&cpus, machine.text, KNOB_VALUE));
	return 0;
}

/* ---- for the test ---- */

/* Makes the machine on which these knobs were turned; takes the knobs. */
static void machine_make(struct knobs *k, const uint8_t *fates)
{
	machine.was = *k;
	machine.writes = 0;
	machine.fate = calloc(k->count + 1, sizeof(*machine.fate));
	machine.value = calloc(k->count + 1, sizeof(*machine.value));
	assert(machine.fate && machine.value);
	for (uint32_t i = 0; i < k->count; i++) {
		const struct knob *one = &k->row[i];
		const char *value = !one->turned ? one->old : one->now ? one->now : one->new;

		machine.fate[i] = fates[i % 8] % FATES;
		if (machine.fate[i] == BACK)
			value = one->old;
		if (machine.fate[i] == OTHERS)
			value = "7";
		machine.value[i] = machine.fate[i] == GONE ? NULL : strdup(value);
	}
	*k = (struct knobs){0};
}

/* Nothing that was in force is left so, but where a value is read as another than was set: without
 * the newlines at its end. */
static void machine_check(void)
{
	for (uint32_t i = 0; i < machine.was.count; i++) {
		const struct knob *k = &machine.was.row[i];
		const char *now = k->now ? k->now : k->new;
		size_t len = strlen(now);

		if (k->kind == KNOB_FILE && (uint32_t)row_of(k->path, 0) == i &&
		    machine.fate[i] == IN_FORCE && (!len || now[len - 1] != '\n'))
			assert(knob_same(machine.value[i], k->old) ||
			       was_there((int)i, machine.value[i]));
	}
}

static void machine_free(void)
{
	for (uint32_t i = 0; i < machine.was.count; i++)
		free(machine.value[i]);
	free(machine.value);
	free(machine.fate);
	knobs_free(&machine.was);
}

#endif
