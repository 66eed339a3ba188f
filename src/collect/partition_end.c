/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes partitions away: by a process of its own, which waits for the owner's end. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/partition_state.h"

#define LEAVE_NS (10 * NSEC_PER_SEC) /* for processes in a partition to end */
#define STEP_NS  (10 * NSEC_PER_MSEC)

void partition_read(int dir, const char *name, char text[PARTITION_TEXT])
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, PARTITION_TEXT - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

int partition_write(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	int err = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

/* True when a cgroup below the root was given CPUs: somebody else needs the controller by now. */
static bool others_use_it(const struct partitions *p)
{
	char path[NAME_MAX + 32], text[PARTITION_TEXT] = "";
	DIR *dir = opendir(p->root);
	struct dirent *e;

	while (dir && !text[0] && (e = readdir(dir))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/cpuset.cpus", e->d_name);
		partition_read(p->dir, path, text);
	}
	if (dir)
		closedir(dir);
	return text[0];
}

/* Removes one; the processes in it may take a while to end. */
static void remove_one(const struct partitions *p, const char *name)
{
	uint64_t until = now_ns() + LEAVE_NS;
	struct timespec step = {0, STEP_NS};

	while (unlinkat(p->dir, name, AT_REMOVEDIR)) {
		if (errno == ENOENT)
			return;
		if (errno != EBUSY || now_ns() > until) {
			say("cannot remove the cpuset partition %s/%s: %s", p->root, name,
			    strerror(errno));
			return;
		}
		nanosleep(&step, NULL);
	}
}

/* The owner in a name; 0: it is none of ours. */
static pid_t owner_of(const char *name)
{
	if (strncmp(name, PARTITION_PREFIX, strlen(PARTITION_PREFIX)))
		return 0;
	return atoi(name + strlen(PARTITION_PREFIX));
}

/* Removes those of one owner; 0: of all that have ended without removing them. True: one was the
 * cpuset of the other CPUs. */
static bool remove_of(const struct partitions *p, pid_t owner)
{
	DIR *dir = opendir(p->root);
	bool stopped = false;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		pid_t of = owner_of(e->d_name);
		const char *end = strrchr(e->d_name, '.');

		if (!of || (owner ? of != owner : !kill(of, 0) || errno != ESRCH))
			continue;
		stopped |= end && !strcmp(end + 1, PARTITION_REST);
		remove_one(p, e->d_name);
	}
	if (dir)
		closedir(dir);
	return stopped;
}

bool partitions_sweep(const struct partitions *p)
{
	return remove_of(p, 0);
}

static void take_away(const struct partitions *p)
{
	if (p->first && p->balance)
		partition_write(p->dir, "cpuset.sched_load_balance", "1");
	remove_of(p, p->owner);
	if (p->controller && !others_use_it(p))
		partition_write(p->dir, "cgroup.subtree_control", "-cpuset");
}

static void __attribute__((noreturn)) guard(const struct partitions *p, int pipe)
{
	static const int deaf[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
	char byte;

	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		signal(deaf[i], SIG_IGN);
	setsid();
	if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout))
		_exit(1); /* a reader of the output would wait for this process, too */
	prctl(PR_SET_NAME, "culprit-guard");
	confine_rights(RIGHT_DAC_OVERRIDE);
	while (read(pipe, &byte, 1) < 0 && errno == EINTR)
		;
	take_away(p);
	_exit(0);
}

int partitions_guard(struct partitions *p)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return complain("cannot create a pipe: %s", strerror(errno));
	p->guard = fork();
	if (!p->guard) {
		close(ends[1]);
		guard(p, ends[0]);
	}
	close(ends[0]);
	p->pipe = ends[1];
	if (p->guard > 0)
		return 0;
	p->guard = 0;
	return complain("no process can be started that removes the cpuset partitions: %s",
			strerror(errno));
}

void partitions_end(struct partitions *p)
{
	int status = 0;

	if (!p)
		return;
	if (p->guard) {
		close(p->pipe);
		while (waitpid(p->guard, &status, 0) < 0 && errno == EINTR)
			;
		if (!WIFEXITED(status) || WEXITSTATUS(status)) /* killed itself */
			take_away(p);
	}
	if (p->dir >= 0)
		close(p->dir);
	free(p);
}
