/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes partitions away: by processes of their own, which wait for the owner's end. The owner has
 * no right left to do it when its window has opened, so there are two: if one is killed, the other
 * is there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/descriptors.h"
#include "base/now.h"
#include "base/reap.h"
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

unsigned long long partition_start(pid_t pid)
{
	char path[32], text[PARTITION_TEXT], state = 'X';
	unsigned long long start = 0;
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	partition_read(AT_FDCWD, path, text);
	end = strrchr(text, ')'); /* the name before it may hold anything */
	if (!end || sscanf(end + 1,
			   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			   "%*s %*s %llu",
			   &state, &start) != 2)
		return 0;
	return state == 'Z' || state == 'X' ? 0 : start;
}

const char *partition_next(DIR *dir, struct partition_name *name)
{
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (sscanf(e->d_name, PARTITION_PREFIX "%d.%llu.%15s", &name->owner, &name->start,
			   name->part) == 3)
			return e->d_name;
	return NULL;
}

/* True when a cgroup below the root was given CPUs, or another run has begun: somebody else needs
 * the controller by now. */
static bool others_use_it(const struct partitions *p)
{
	char path[NAME_MAX + 32], text[PARTITION_TEXT] = "";
	DIR *dir = opendir(p->root);
	bool ours = false;
	struct dirent *e;

	while (dir && !ours && !text[0] && (e = readdir(dir))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		ours = !strncmp(e->d_name, PARTITION_PREFIX, strlen(PARTITION_PREFIX));
		snprintf(path, sizeof(path), "%s/cpuset.cpus", e->d_name);
		partition_read(p->dir, path, text);
	}
	if (dir)
		closedir(dir);
	return ours || text[0];
}

/* Removes one; the processes in it may take a while to end. 0 or -errno. */
static int remove_one(const struct partitions *p, const char *name)
{
	uint64_t until = now_ns() + LEAVE_NS;
	struct timespec step = {0, STEP_NS};

	while (unlinkat(p->dir, name, AT_REMOVEDIR)) {
		if (errno == ENOENT)
			break;
		if (errno != EBUSY || now_ns() > until)
			return -errno;
		nanosleep(&step, NULL);
	}
	return 0;
}

/* Puts back what a name stands for, and removes it. */
static int put_back(const struct partitions *p, const char *name, bool rest)
{
	int err = rest ? partition_write(p->dir, "cpuset.sched_load_balance", "1") : 0;

	err = err ? err : remove_one(p, name);
	if (!err && !rest && !others_use_it(p)) /* the last of all runs has no name left there */
		partition_write(p->dir, "cgroup.subtree_control", "-cpuset");
	return err;
}

/* Removes either the partitions (facts: false) or what stands for facts, of the owner or of all
 * runs that have ended. The last error, 0 without one. */
static int remove_those(const struct partitions *p, bool ended, bool facts)
{
	DIR *dir = opendir(p->root);
	struct partition_name n;
	const char *name;
	int err = 0;

	while ((name = partition_next(dir, &n))) {
		bool rest = !strcmp(n.part, PARTITION_REST);
		bool fact = rest || !strcmp(n.part, PARTITION_CONTROL);
		bool own = n.owner == p->owner && n.start == p->start;
		int failed;

		if (fact != facts || (ended ? partition_start(n.owner) == n.start : !own))
			continue;
		failed = fact ? put_back(p, name, rest) : remove_one(p, name);
		if (failed && !ended)
			say("cannot remove the cpuset partition %s/%s: %s; the next run with -P d "
			    "tries it again",
			    p->root, name, strerror(-failed));
		err = failed ? failed : err;
	}
	if (dir)
		closedir(dir);
	return err;
}

void partitions_sweep(const struct partitions *p)
{
	if (!remove_those(p, true, false))
		remove_those(p, true, true);
}

static int take_away(const struct partitions *p)
{
	return remove_those(p, false, false) || remove_those(p, false, true) ? -1 : 0;
}

static void __attribute__((noreturn)) guard(const struct partitions *p, int owner)
{
	static const int deaf[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
	int status;
	pid_t other;
	char byte;

	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		signal(deaf[i], SIG_IGN);
	setsid();
	descriptors_close_but(owner, p->dir);
	if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout))
		_exit(1); /* a reader of the output would wait for this process, too */
	prctl(PR_SET_NAME, "culprit-guard");
	confine_rights(RIGHT_DAC_OVERRIDE);
	other = fork();
	if (other > 0) {
		reap(other, &status);
		if (WIFEXITED(status))
			_exit(WEXITSTATUS(status));
	}
	while (read(owner, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(take_away(p) ? 1 : 0);
}

int partitions_guard(struct partitions *p)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return complain("cannot create a pair of sockets: %s", strerror(errno));
	p->guard = fork();
	if (!p->guard) {
		close(ends[1]);
		guard(p, ends[0]);
	}
	close(ends[0]);
	p->guards = ends[1];
	if (p->guard > 0)
		return 0;
	p->guard = 0;
	return complain("no process can be started that removes the cpuset partitions: %s",
			strerror(errno));
}

/* Tells the guards to begin, and waits for the end of both. 0, or -1 with the reason said. */
static int end_guards(const struct partitions *p)
{
	int status = 0;
	char byte;

	shutdown(p->guards, SHUT_WR);
	while (read(p->guards, &byte, 1) < 0 && errno == EINTR)
		;
	close(p->guards);
	reap(p->guard, &status);
	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? -1 : 0;
	return take_away(p); /* if anything is left */
}

int partitions_end(struct partitions *p)
{
	int err;

	if (!p)
		return 0;
	err = p->guard ? end_guards(p) : 0;
	if (p->dir >= 0)
		close(p->dir);
	free(p);
	return err;
}
