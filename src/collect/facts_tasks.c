/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts from a walk over many files: the threads of /proc, irqbalance's environment, and the
 * cgroups that differ from the default. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "collect/facts.h"
#include "collect/facts_read.h"
#include "collect/reading.h"
#include "collect/thread_stat.h"

#define CHUNKS_MAX    32   /* pieces of FACT_MAX bytes: some 30,000 threads */
#define CGROUPS_MAX   4096 /* directories */
#define CGROUPS_DEPTH 8
#define ENVIRON_NS    1000000000L /* a process may keep its environment for so long */

/* ---- threads ---- */

struct chunk {
	char text[FACT_MAX];
	size_t len;
	unsigned number, left_out;
	char root[FACT_MAX]; /* run/root */
	size_t root_len;
};

static int flush(struct facts_in *in, struct chunk *c)
{
	char name[32];
	int err;

	if (!c->len)
		return 0;
	snprintf(name, sizeof(name), "run/tasks/%04u", c->number++);
	err = facts_put(in, name, 0, c->text, c->len);
	c->len = 0;
	return err;
}

static DIR *open_dir(const struct facts_in *in, const char *path)
{
	int fd = openat(in->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Copies the list behind "Cpus_allowed_list:<tab>" in a status file. */
static bool allowed_list(const char *status, char *list, size_t len)
{
	static const char key[] = "\nCpus_allowed_list:";
	const char *at = strstr(status, key);
	size_t n;

	if (!at)
		return false;
	at += sizeof(key) - 1;
	at += strspn(at, "\t ");
	n = strcspn(at, "\n");
	if (!n || n >= len)
		return false;
	memcpy(list, at, n);
	list[n] = 0;
	return true;
}

/* True when all four user ids are root's, as this process sees them: the root of another user
 * namespace is not root here. */
static bool is_root(const char *status)
{
	const char *at = strstr(status, "\nUid:");
	unsigned id[4];

	return at && sscanf(at, "\nUid: %u %u %u %u", &id[0], &id[1], &id[2], &id[3]) == 4 &&
	       !(id[0] | id[1] | id[2] | id[3]);
}

/* Writes the line of one thread; false when the thread is gone or its files are malformed. */
static bool describe(const struct facts_in *in, const char *tgid, const char *tid, char *line,
		     size_t len, bool *root)
{
	char path[600], stat[2048], status[CPUS_LIST + 8192], affinity[CPUS_LIST], comm[80];
	struct thread_stat s;
	ssize_t n;

	snprintf(path, sizeof(path), "proc/%s/task/%s/stat", tgid, tid);
	n = facts_bytes(in, path, stat, sizeof(stat) - 1);
	if (n <= 0)
		return false;
	stat[n] = 0;
	if (!thread_stat_read(stat, &s))
		return false;
	snprintf(path, sizeof(path), "proc/%s/task/%s/status", tgid, tid);
	n = facts_bytes(in, path, status, sizeof(status) - 1);
	if (n <= 0)
		return false;
	status[n] = 0;
	if (!allowed_list(status, affinity, sizeof(affinity)))
		return false;
	*root = is_root(status);
	escape_text(s.comm, strlen(s.comm), comm, sizeof(comm));
	return snprintf(line, len, "%s %s %c %x %u %u %u %s %s\n", tid, tgid, s.state, s.flags,
			s.cpu, s.policy, s.priority, affinity, comm) < (int)len;
}

/* Reads the settings in the daemon's own environment, from systemd, a file or a shell. No other
 * variable leaves the process. */
static int take_irqbalance(struct facts_in *in, const char *pid)
{
	char path[64], *env = malloc(FACT_MAX + 1), *out = calloc(1, FACT_MAX + 1);
	long wait_ns = ENVIRON_NS;
	size_t have = 0;
	ssize_t n = -ENOMEM;
	int err = -ENOMEM;

	snprintf(path, sizeof(path), "proc/%s/environ", pid);
	if (env && out) {
		n = read_in_time(in->root, path, env, FACT_MAX, &wait_ns);
		env[n > 0 ? n : 0] = 0;
		for (char *at = env; n > 0 && at < env + n; at += strlen(at) + 1)
			if (!strncmp(at, "IRQBALANCE_", 11) && have < FACT_MAX)
				have += snprintf(out + have, FACT_MAX - have, "%s\n", at);
		err = facts_put(in, "run/irqbalance", n < 0 ? n : 0, out,
				have < FACT_MAX ? have : FACT_MAX);
	}
	free(env);
	free(out);
	return err;
}

static int take_process(struct facts_in *in, struct chunk *c, const char *tgid)
{
	char path[64], line[CPUS_LIST + 256];
	struct dirent *entry;
	bool root = false;
	DIR *dir;
	int err = 0;

	snprintf(path, sizeof(path), "proc/%s/task", tgid);
	dir = open_dir(in, path);
	while (dir && !err && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !describe(in, tgid, entry->d_name, line, sizeof(line), &root))
			continue;
		if (c->len + strlen(line) > sizeof(c->text))
			err = flush(in, c);
		if (c->number >= CHUNKS_MAX) {
			c->left_out++;
			continue;
		}
		memcpy(c->text + c->len, line, strlen(line));
		c->len += strlen(line);
		if (!root || strcmp(entry->d_name, tgid))
			continue;
		if (c->root_len + strlen(tgid) + 1 < sizeof(c->root))
			c->root_len += snprintf(c->root + c->root_len,
						sizeof(c->root) - c->root_len, "%s\n", tgid);
		if (!err && strstr(line, " irqbalance\n"))
			err = take_irqbalance(in, tgid);
	}
	if (dir)
		closedir(dir);
	return err;
}

int facts_tasks(struct facts_in *in)
{
	struct chunk *c = calloc(1, sizeof(*c));
	DIR *proc = open_dir(in, "proc");
	struct dirent *entry;
	char count[16];
	int err = c ? 0 : -ENOMEM;

	while (!err && proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) && strlen(entry->d_name) < 16)
			err = take_process(in, c, entry->d_name);
	if (!err)
		err = flush(in, c);
	if (!err)
		err = facts_put(in, "run/root", 0, c->root, c->root_len);
	if (!err && c->left_out) {
		snprintf(count, sizeof(count), "%u\n", c->left_out);
		err = facts_put(in, "run/tasks/left_out", 0, count, strlen(count));
	}
	if (proc)
		closedir(proc);
	free(c);
	return err;
}

/* ---- cgroups ---- */

/* Files of a cgroup, and their text when nothing is set. */
static const struct {
	const char *name, *usual;
} cgroup_files[] = {
	{"cpuset.cpus.partition", "member"},
	{"cpu.max", "max "},
	{"cpu.cfs_quota_us", "-1"},
	{"cpuset.sched_load_balance", "1"},
};

/* throttled: a group above this one has a quota. */
static int take_cgroup(struct facts_in *in, const char *path, unsigned *seen, int depth,
		       bool throttled)
{
	char below[1024], text[256];
	struct dirent *entry;
	DIR *dir;
	size_t nfiles = in->partitions ? 1 : sizeof(cgroup_files) / sizeof(cgroup_files[0]);
	int err = 0;

	for (size_t i = 0; i < nfiles && !err; i++) {
		ssize_t n;

		snprintf(below, sizeof(below), "%s/%s", path, cgroup_files[i].name);
		n = facts_bytes(in, below, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = 0;
		if (n == -ENOENT ||
		    !strncmp(text, cgroup_files[i].usual, strlen(cgroup_files[i].usual)))
			continue;
		err = facts_put(in, below, n < 0 ? n : 0, text, n < 0 ? 0 : n);
		throttled |= i == 1 || i == 2;
		if (i || err)
			continue;
		snprintf(below, sizeof(below), "%s/cpuset.cpus.effective", path);
		err = facts_read(in, below, false);
	}
	/* A quota throttles the threads of all groups below it, too. */
	snprintf(below, sizeof(below), "%s/cgroup.procs", path);
	if (throttled && !err)
		err = facts_read(in, below, false);
	if (depth >= CGROUPS_DEPTH || ++*seen >= CGROUPS_MAX)
		return err;
	dir = open_dir(in, path);
	while (dir && !err && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) <
			    (int)sizeof(below))
			err = take_cgroup(in, below, seen, depth + 1, throttled);
	if (dir)
		closedir(dir);
	return err;
}

int facts_partitions(struct facts_in *in)
{
	int err;

	in->partitions = true;
	err = facts_cgroups(in);
	in->partitions = false;
	return err;
}

int facts_cgroups(struct facts_in *in)
{
	unsigned seen = 0;

	return take_cgroup(in, "sys/fs/cgroup", &seen, 0, false);
}

/* ---- the threads of a report ---- */

static void add_ended(uint32_t tid, FILE *out)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, tid);
	/* /proc may hide the threads of other users (hidepid). */
	if (access(path, F_OK) && errno == ENOENT && kill(tid, 0) && errno == ESRCH)
		fprintf(out, "%" PRIu32 " ", tid);
}

int facts_ended(struct view *v)
{
	char *list = NULL;
	size_t len;
	FILE *out = open_memstream(&list, &len);
	int err;

	if (!out)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct sources *t = &v->cpu[i].sources;

		if (v->cpu[i].tid)
			add_ended(v->cpu[i].tid, out);
		for (uint32_t k = 0; k < t->count; k++)
			if (t->row[k]->kind == SOURCE_THREAD && t->row[k]->id)
				add_ended(t->row[k]->id, out);
	}
	err = fclose(out) ? -ENOMEM : facts_add(&v->facts, FACT_ENDED, 0, list, len);
	free(list);
	return err;
}
