/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/vcpus.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/reading.h"
#include "model/through.h"

#define LINE_MOST 8192 /* bytes of a command line in which the name is looked for */
#define ALONE     3    /* links of the task folder of a process with one thread */
#define TURNS     16   /* searches after which every process has been asked again */

int32_t vcpus_pid(const char *text)
{
	return text[strspn(text, "0123456789")] || strlen(text) > 7 ? 0 : atoi(text);
}

const char *vcpus_name(const char *text)
{
	return strncmp(text, "name=", 5) ? text : text + 5;
}

/* ---- names of machines ---- */

/* True when the text up to the next single comma is `name`: two commas stand for one in it. */
static bool is_value(const char *text, const char *name)
{
	for (; *text && (*text != ',' || text[1] == ','); text++, name++) {
		text += *text == ',';
		if (*text != *name)
			return false;
	}
	return !*name;
}

/* True when QEMU takes the name from this value of -name: "NAME", or "guest=NAME" anywhere. */
static bool is_qemu_name(const char *value, const char *name)
{
	if (value[strcspn(value, "=,")] != '=' && is_value(value, name))
		return true;
	for (const char *at = value; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (*at == ',') /* two */
			at++;
		else if (!strncmp(at, "guest=", 6) && is_value(at + 6, name))
			return true;
	}
	return false;
}

/* Words of a command line that give a machine its name. */
static bool word_names(const char *before, const char *word, const char *name)
{
	if (!strcmp(before, "-name") || !strcmp(before, "--name"))
		return is_qemu_name(word, name);
	return (!strcmp(before, "--id") && !strcmp(word, name)) ||
	       (!strncmp(word, "--id=", 5) && !strcmp(word + 5, name));
}

bool vcpus_line_names(const char *line, size_t len, const char *name)
{
	const char *before = "";

	for (const char *word = line; word < line + len; word += strlen(word) + 1) {
		if (word_names(before, word, name))
			return true;
		before = word;
	}
	return false;
}

enum called { NO, YES, NOT_KNOWN, LATE };

static enum called is_called(const char *proc, int32_t pid, const char *name, long *wait_ns)
{
	char path[PATH_MAX], line[LINE_MOST + 1];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/cmdline", proc, pid);
	n = read_in_time(AT_FDCWD, path, line, LINE_MOST, wait_ns);
	if (n < 0)
		return n == -ETIMEDOUT ? LATE : NOT_KNOWN;
	line[n] = '\0';
	if (n == LINE_MOST) /* a word that is cut is no name */
		while (n && line[n - 1])
			line[--n] = '\0';
	return vcpus_line_names(line, n, name) ? YES : n ? NO : NOT_KNOWN;
}

/* ---- threads ---- */

static int threads_of(const char *proc, int32_t pid, int32_t *tid, int max)
{
	char path[PATH_MAX], comm[32];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%d/task", proc, pid);
	d = opendir(path);
	if (!d)
		return -1;
	while (n < max && (e = readdir(d))) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%d/task/%.20s/comm", proc, pid, e->d_name);
		f = isdigit((unsigned char)e->d_name[0]) ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f)) {
			comm[strcspn(comm, "\n")] = 0;
			if (through_is_vcpu(comm))
				tid[n++] = atoi(e->d_name);
		}
		fclose(f);
	}
	closedir(d);
	return n;
}

int vcpus_threads(int32_t pid, int32_t *tid, int max)
{
	return threads_of("/proc", pid, tid, max);
}

bool vcpus_of_kvm(int32_t pid)
{
	char path[64], to[64];
	bool found = false;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);

		to[n > 0 ? n : 0] = 0;
		found = !strncmp(to, "anon_inode:kvm-vcpu", strlen("anon_inode:kvm-vcpu"));
	}
	if (d)
		closedir(d);
	return found;
}

/* ---- the search ---- */

/* A process that was looked at. */
struct vcpus_process {
	int32_t pid;
	uint64_t node;    /* inode of its task folder: another process of this number has another */
	uint64_t threads; /* links of that folder, one for each and some */
	bool settled;     /* as many as at the look before: those have their names */
	bool asked;       /* has virtual CPUs, and another name */
};

static int by_pid(const void *a, const void *b)
{
	const struct vcpus_process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The next process of a folder. False: there is none. */
static bool next_process(DIR *d, struct vcpus_process *p)
{
	struct dirent *e;

	while ((e = readdir(d))) {
		char path[32];
		struct stat st;

		snprintf(path, sizeof(path), "%.20s/task", e->d_name);
		if (!isdigit((unsigned char)e->d_name[0]) || fstatat(dirfd(d), path, &st, 0))
			continue;
		*p = (struct vcpus_process){
			.pid = atoi(e->d_name), .node = st.st_ino, .threads = st.st_nlink};
		return true;
	}
	return false;
}

/* True when the process is the machine; notes what it was asked. */
static bool look_at(struct vcpus_search *s, struct vcpus_process *p, const char *name,
		    long *wait_ns)
{
	const struct vcpus_process *old =
		s->n ? bsearch(p, s->known, s->n, sizeof(*p), by_pid) : NULL;
	enum called called;
	int32_t tid;

	if (old && old->node == p->node) {
		bool same = old->threads == p->threads;

		p->asked = old->asked;
		p->settled = same;
		if (p->asked || (same && old->settled && (p->pid + s->turn) % TURNS))
			return false;
	}
	if (threads_of(s->proc, p->pid, &tid, 1) <= 0)
		return false;
	called = is_called(s->proc, p->pid, name, wait_ns);
	if (called == LATE)
		s->late = p->pid;
	p->asked = called == NO;
	p->settled = false;
	return called == YES;
}

/* Out of memory: nobody is remembered. */
static void remember(struct vcpus_process **list, size_t *n, const struct vcpus_process *p)
{
	if (!(*n & (*n - 1))) { /* powers of two */
		void *more = reallocarray(*list, *n ? 2 * *n : 1, sizeof(*p));

		if (!more) {
			free(*list);
			*n = 0;
		}
		*list = more;
	}
	if (*list)
		(*list)[(*n)++] = *p;
}

/* The user who started a process: its files' owner is not told where it may not be dumped, and its
 * effective user a program may give it. UINT32_MAX: not known. */
static uint32_t owner_of(const char *proc, int32_t pid)
{
	char path[PATH_MAX], line[128];
	uint32_t owner = UINT32_MAX;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/status", proc, pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u", &owner) == 1)
			break;
	if (f)
		fclose(f);
	return owner;
}

void vcpus_owned(struct vcpus_search *s, int32_t pid)
{
	uint32_t owner = owner_of(s->proc, pid);

	if (owner == UINT32_MAX) /* gone */
		return;
	s->owner = owner;
	s->owned = true;
}

/* Counts one that has the name. True: its owner is right. */
static bool may_be(struct vcpus_search *s, int32_t pid)
{
	if (s->owned && owner_of(s->proc, pid) != s->owner) {
		s->stranger = pid;
		return false;
	}
	s->claims++;
	return true;
}

int32_t vcpus_machine(struct vcpus_search *s, const char *name)
{
	struct vcpus_process p, *now = NULL;
	DIR *d = opendir(s->proc);
	long wait_ns = s->wait_ns;
	int32_t least = 0;
	size_t n = 0;

	s->turn++;
	s->late = s->stranger = 0;
	s->claims = 0;
	while (d && next_process(d, &p)) {
		if (look_at(s, &p, name, &wait_ns) && may_be(s, p.pid) && (!least || p.pid < least))
			least = p.pid;
		remember(&now, &n, &p);
	}
	if (d)
		closedir(d);
	if (n)
		qsort(now, n, sizeof(*now), by_pid);
	free(s->known);
	s->known = now;
	s->n = n;
	if (least && !s->owned)
		vcpus_owned(s, least);
	return least;
}

void vcpus_search_end(struct vcpus_search *s)
{
	free(s->known);
	s->known = NULL;
	s->n = 0;
}

int32_t vcpus_nameless(const char *proc, const char *name, long wait_ns)
{
	DIR *d = opendir(proc);
	struct vcpus_process p;
	int32_t least = 0, tid;

	while (d && next_process(d, &p))
		if (p.threads != ALONE && (!least || p.pid < least) &&
		    is_called(proc, p.pid, name, &wait_ns) == YES &&
		    !threads_of(proc, p.pid, &tid, 1))
			least = p.pid;
	if (d)
		closedir(d);
	return least;
}
