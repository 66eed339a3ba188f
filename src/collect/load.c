/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/load.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/reap.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/counter.h"
#include "collect/affinity.h"

#define TOOL      "stress-ng"
#define LOOK_NS   (10 * NSEC_PER_MSEC)
#define SETTLE_NS (300 * NSEC_PER_MSEC) /* after its first worker has started */
#define END_NS    (5 * NSEC_PER_SEC)    /* for the end of what was killed */
#define PATH_MAX_ 256

const char *const load_names[] = {"cpu", "disk", "net", NULL};
static const char *const stressors[LOAD_KINDS] = {"--cpu", "--hdd", "--sock"};

struct load {
	struct load_options options;
	struct load_state *state;
	char place[PATH_MAX_]; /* directory for the files of the workers */
	pid_t keeper;
	sigset_t unblocked; /* signals that were blocked before the fork */
};

/* ---- the keeper ---- */

static volatile sig_atomic_t over;

static void on_end(int sig)
{
	(void)sig;
	over = 1;
}

static void look_again(void)
{
	struct timespec nap = {0, LOOK_NS};

	nanosleep(&nap, NULL);
}

/* Writes the children of a process to pid[]; returns how many. */
static int children(pid_t of, pid_t *pid, int max)
{
	char path[64];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", of, of);
	f = fopen(path, "re");
	while (f && n < max && fscanf(f, "%d", &pid[n]) == 1)
		n++;
	if (f)
		fclose(f);
	return n;
}

/* Ends all descendants. Orphans become our children (PR_SET_CHILD_SUBREAPER), so repeat until none
 * is left. */
static void end_all(void)
{
	pid_t pid[256];
	int n;

	do {
		n = children(getpid(), pid, 256);
		for (int i = 0; i < n; i++)
			kill(pid[i], SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (n)
			look_again();
	} while (n || waitpid(-1, NULL, WNOHANG) >= 0);
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
	(void)st;
	(void)what;
	(void)ftw;
	remove(path);
	return 0;
}

static void become_tool(const struct load *l)
{
	char count[LOAD_KINDS][16];
	const char *argv[16] = {TOOL, "--quiet", "--timeout", "0", "--temp-path", l->place};
	int n = 6;

	for (int kind = 0; kind < LOAD_KINDS; kind++) {
		if (!l->options.workers[kind])
			continue;
		snprintf(count[kind], sizeof(count[kind]), "%u", l->options.workers[kind]);
		argv[n++] = stressors[kind];
		argv[n++] = count[kind];
	}
	setpgid(0, 0);
	reset_signals();
	sigprocmask(SIG_SETMASK, &l->unblocked, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (stay_on(&l->options.cpus))
		_exit(127);
	/* as others', without our own better priority, or memory policy */
	setpriority(PRIO_PROCESS, 0, 0);
	pages_stay(false);
	execvp(TOOL, (char *const *)argv);
	_exit(127);
}

/* Starts the tool. True once its workers are at work. */
static bool start_tool(const struct load *l, pid_t *tool)
{
	uint64_t deadline = now_ns() + 10 * NSEC_PER_SEC, ready = 0;
	pid_t some[4];

	*tool = fork();
	if (!*tool)
		become_tool(l);
	while (*tool > 0 && !over && now_ns() < deadline) {
		if (waitpid(*tool, NULL, WNOHANG) == *tool)
			return false;
		if (!ready && children(*tool, some, 4))
			ready = now_ns() + SETTLE_NS;
		if (ready && now_ns() > ready)
			return true;
		look_again();
	}
	return false;
}

static bool is_due(const struct load *l)
{
	uint64_t begun = atomic_load(&l->state->begun);

	return atomic_load(&l->state->phase) == LOAD_WANTED ||
	       (l->options.before_ns && begun && now_ns() >= begun + l->options.before_ns);
}

static void keep(struct load *l, pid_t culprit)
{
	struct sigaction end = {.sa_handler = on_end};
	int null = open("/dev/null", O_RDWR);
	sigset_t others;
	pid_t tool;

	confine_rights(0);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null,
		     /* a reader that waits for the end of culprit's output does not wait for us */
		     fd);
	setpgid(0, 0);
	sigaction(SIGTERM, &end, NULL);
	sigfillset(&others);
	sigdelset(&others, SIGTERM);
	/* Orphans of the load tool send SIGALRM to the process that they take for their parent. */
	sigprocmask(SIG_SETMASK, &others, &l->unblocked);
	prctl(PR_SET_NAME, "culprit-load");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	while (!over && getppid() == culprit && !is_due(l))
		look_again();
	if (!over && getppid() == culprit) {
		atomic_store(&l->state->phase, LOAD_WANTED);
		if (start_tool(l, &tool)) {
			atomic_store(&l->state->phase, LOAD_ON);
			while (!over && getppid() == culprit &&
			       waitpid(tool, NULL, WNOHANG) != tool)
				look_again();
		}
		if (!over)
			atomic_store(&l->state->phase, LOAD_ENDED);
	}
	end_all();
	nftw(l->place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

/* ---- culprit ---- */

static bool has_tool(void)
{
	char paths[4096], file[4200], *next = paths;

	snprintf(paths, sizeof(paths), "%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	for (char *dir; (dir = strsep(&next, ":"));) {
		snprintf(file, sizeof(file), "%s/" TOOL, dir);
		if (!access(file, X_OK))
			return true;
	}
	return false;
}

struct load *load_open(const struct load_options *options)
{
	const char *tmp = getenv("TMPDIR");
	struct load *l = calloc(1, sizeof(*l));
	pid_t culprit = getpid();

	if (!l) {
		complain("out of memory");
		return NULL;
	}
	l->options = *options;
	if (!has_tool()) {
		complain("a load is made by " TOOL ", which is not here: apt-get install " TOOL);
		goto fail;
	}
	l->state = mmap(NULL, sizeof(*l->state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	snprintf(l->place, sizeof(l->place), "%s/culprit-load-XXXXXX",
		 tmp && *tmp && strlen(tmp) < 200 ? tmp : "/tmp");
	if (l->state == MAP_FAILED || !mkdtemp(l->place)) {
		complain("cannot create %s: %s; set TMPDIR to another directory", l->place,
			 strerror(errno));
		goto fail;
	}
	l->keeper = fork();
	if (!l->keeper)
		keep(l, culprit);
	if (l->keeper > 0)
		return l;
	complain("cannot start a process for the load: %s", strerror(errno));
	rmdir(l->place);
fail:
	if (l->state && l->state != MAP_FAILED)
		munmap(l->state, sizeof(*l->state));
	free(l);
	return NULL;
}

struct load_state *load_state(struct load *l)
{
	return l->state;
}

/* A killed process that is in the kernel ends when that lets it: a disk may keep its writer for
 * minutes. The keeper waits for those, and removes their files, also when culprit has ended. */
static void end_keeper(const struct load *l)
{
	uint64_t deadline = now_ns() + END_NS;
	int status = 0;

	kill(l->keeper, SIGTERM);
	while (!waitpid(l->keeper, &status, WNOHANG)) {
		if (now_ns() >= deadline) {
			say("processes of " TOOL
			    " were killed and have not ended: the kernel keeps "
			    "them. Process %d waits for them and then removes %s",
			    l->keeper, l->place);
			return;
		}
		look_again();
	}
	if (WIFSIGNALED(status)) { /* somebody killed it, and the load has ended with it */
		atomic_store(&l->state->phase, LOAD_ENDED);
		nftw(l->place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
		if (!access(l->place, F_OK)) /* not everywhere may files be changed by now */
			say("the process that kept " TOOL " was killed: remove %s", l->place);
	}
}

void load_close(struct load *l)
{
	if (!l)
		return;
	end_keeper(l);
	if (atomic_load(&l->state->phase) == LOAD_ENDED)
		say(TOOL " did not run to the end: what is called under load was measured without");
	munmap(l->state, sizeof(*l->state));
	free(l);
}
