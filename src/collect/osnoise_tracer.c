/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/osnoise_tracer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/lock.h"
#include "base/reap.h"
#include "base/say.h"
#include "collect/aftermath.h"

#define LOCK_TRIES 50
#define INSTANCE   "culprit-osnoise"
/* Knobs to put back: the guard reads them should this process be killed, or the next start if both
 * are. */
#define STATE     "/run/culprit-osnoise.state"
#define VALUE_MAX 4096
#define LIST_MAX  256 /* bound of what is written to osnoise/cpus, up to 6.15 */

struct osnoise_tracer {
	char root[64]; /* folder of tracefs */
	int state;     /* locked while this process or its guard lives */
	pid_t guard;   /* 0: none */
	char cpus[VALUE_MAX + 8];
	char set[VALUE_MAX + 8]; /* shown in their place; "": not known */
	bool workload;           /* the option OSNOISE_WORKLOAD was set */
	bool left;               /* a killed predecessor's changes are not put back yet */
	bool changed;
	bool mounted; /* by us */
};

static int read_value(const struct osnoise_tracer *t, const char *name, char *value, size_t len)
{
	char path[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", t->root, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, value, len - 1);
	close(fd);
	if (n < 0)
		return -errno;
	value[n] = 0;
	value[strcspn(value, "\n")] = 0;
	return 0;
}

/* Ends it with a newline: up to 6.17 the kernel reads on behind a list of CPUs that has no end. */
static int write_value(const struct osnoise_tracer *t, const char *name, const char *value)
{
	char path[256], line[VALUE_MAX + 16];
	int fd, err = 0, len = snprintf(line, sizeof(line), "%s\n", value);

	snprintf(path, sizeof(path), "%s/%s", t->root, name);
	fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
	if (fd < 0)
		return -errno;
	if (write(fd, line, len) < 0)
		err = -errno;
	close(fd);
	return err;
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/* Finds tracefs; where nobody has mounted it, mounts it for the time. */
static int find_root(struct osnoise_tracer *t)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
					    "/sys/kernel/tracing"};
	char tracers[VALUE_MAX];

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(t->root, sizeof(t->root), "%s", roots[i]);
		if (i == 2)
			t->mounted = !mount("tracefs", roots[i], "tracefs",
					    MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
		if (read_value(t, "available_tracers", tracers, sizeof(tracers)))
			continue;
		if (has_word(tracers, "osnoise"))
			return 0;
		return complain("this kernel has no osnoise tracer (CONFIG_OSNOISE_TRACER; "
				"Debian's -rt kernels have it): read output of another machine "
				"with --input FILE");
	}
	return complain("this kernel has no tracefs and therefore no osnoise tracer: read output "
			"of another machine with --input FILE");
}

/* ---- other users ---- */

static bool is_busy(const struct osnoise_tracer *t, const char *directory)
{
	char name[320], tracer[64];

	snprintf(name, sizeof(name), "%s%scurrent_tracer", directory, directory[0] ? "/" : "");
	return !read_value(t, name, tracer, sizeof(tracer)) &&
	       (!strcmp(tracer, "osnoise") || !strcmp(tracer, "timerlat"));
}

static int check_others(const struct osnoise_tracer *t)
{
	char path[128], name[300];
	struct dirent *entry;
	DIR *dir;
	int err = 0;

	if (is_busy(t, ""))
		return complain("the osnoise or timerlat tracer is in use already "
				"(%s/current_tracer): end that first",
				t->root);
	snprintf(path, sizeof(path), "%s/instances", t->root);
	dir = opendir(path);
	while (dir && !err && (entry = readdir(dir))) {
		snprintf(name, sizeof(name), "instances/%s", entry->d_name);
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, INSTANCE) && is_busy(t, name))
			err = complain("the osnoise or timerlat tracer is in use already (%s/%s): "
				       "end that first",
				       t->root, name);
	}
	if (dir)
		closedir(dir);
	return err;
}

/* ---- restoring ---- */

/* Says why our instance could not be ended. Returns -1. */
static int keeps(const struct osnoise_tracer *t, const char *cannot, int err)
{
	return complain("cannot %s %s/instances/" INSTANCE ": %s: end who has a file of it open, "
			"and the next run of culprit osnoise tries again (%s)",
			cannot, t->root, strerror(err), STATE);
}

/* True where somebody else has set them meanwhile, which stays so. */
static bool set_by_others(const struct osnoise_tracer *t)
{
	char now[VALUE_MAX + 8];

	if (!t->set[0] || read_value(t, "osnoise/cpus", now, sizeof(now)) || !strcmp(now, t->set))
		return false;
	if (strcmp(now, t->cpus))
		say("%s/osnoise/cpus stays '%s', as somebody else has set it meanwhile; it was "
		    "'%s' before",
		    t->root, now, t->cpus);
	return true;
}

/* 0, or -1 with the reason said. */
static int put_back(const struct osnoise_tracer *t)
{
	const struct {
		const char *name, *value;
	} was[] = {{"osnoise/cpus", t->cpus},
		   {"osnoise/options", t->workload ? "OSNOISE_WORKLOAD" : "NO_OSNOISE_WORKLOAD"}};
	char path[128];
	int failed = write_value(t, "instances/" INSTANCE "/current_tracer", "nop");

	/* One that is on begins anew with each setting, which may be all CPUs with its threads. */
	if (failed && failed != -ENOENT)
		return keeps(t, "switch off the osnoise tracer of", -failed);
	snprintf(path, sizeof(path), "%s/instances/" INSTANCE, t->root);
	failed = rmdir(path) && errno != ENOENT ? keeps(t, "remove", errno) : 0;
	for (size_t i = set_by_others(t); i < sizeof(was) / sizeof(was[0]); i++) {
		int err = write_value(t, was[i].name, was[i].value);

		if (err)
			failed = complain(
				"cannot set %s/%s back to '%s': %s: set it by hand and "
				"remove %s, or the next run of culprit osnoise tries again",
				t->root, was[i].name, was[i].value, strerror(-err), STATE);
	}
	return failed;
}

/* Restores what a killed predecessor left behind. */
static int restore_left(struct osnoise_tracer *t)
{
	if (t->left && put_back(t))
		return -1;
	t->left = false;
	return 0;
}

/* For the next run, should this one be killed: what was there, and what was set. 0, or -1 with the
 * reason said. */
static int write_state(const struct osnoise_tracer *t)
{
	char state[sizeof(t->cpus) + sizeof(t->set) + 8];
	ssize_t n = snprintf(state, sizeof(state), "%d %s\n%s\n", t->workload, t->cpus, t->set);

	/* a shorter text ends at its second newline, until the rest is cut off */
	if (pwrite(t->state, state, n, 0) != n || ftruncate(t->state, n))
		return complain("cannot write %s: %s", STATE, strerror(errno));
	return 0;
}

/* Nothing is changed that could not be put back: the kernel may show a longer list of CPUs than it
 * takes. */
static int save(struct osnoise_tracer *t)
{
	char options[VALUE_MAX];
	int err;

	if (read_value(t, "osnoise/cpus", t->cpus, sizeof(t->cpus)) ||
	    read_value(t, "osnoise/options", options, sizeof(options)))
		return complain("the osnoise tracer of this kernel has no option to run without "
				"its own threads: it is too old");
	err = write_value(t, "osnoise/cpus", t->cpus);
	if (err)
		return complain("%s/osnoise/cpus is '%s', and the kernel does not take that again: "
				"%s: it could not be put back, and is left so",
				t->root, t->cpus, strerror(-err));
	t->workload = has_word(options, "OSNOISE_WORKLOAD");
	t->set[0] = 0;
	return write_state(t);
}

/* Takes over the state that was written last. False: nothing. */
static bool read_state(struct osnoise_tracer *t)
{
	char state[sizeof(t->cpus) + sizeof(t->set) + 8] = "", *set = state, *was;

	if (pread(t->state, state, sizeof(state) - 1, 0) <= 2)
		return false;
	was = strsep(&set, "\n");
	t->workload = was[0] == '1';
	snprintf(t->cpus, sizeof(t->cpus), "%s", was[0] && was[1] ? was + 2 : "");
	snprintf(t->set, sizeof(t->set), "%.*s", set ? (int)strcspn(set, "\n") : 0, set ? set : "");
	return true;
}

/* The descriptor, -1 with the reason said, or -2: another one has the lock, or had. */
static int try_lock(void)
{
	int fd = open(STATE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return complain("cannot open %s: %s", STATE, strerror(errno));
	if (lock_named(fd, STATE))
		return fd;
	close(fd);
	return -2;
}

/* Takes the lock, and reads what a killed predecessor left behind. */
static int lock_state(struct osnoise_tracer *t)
{
	struct timespec nap = {0, 100000000};

	mkdir("/run", 0755); /* a minimal system may have none */
	t->state = try_lock();
	/* A killed process releases its lock only when the kernel has detached its programs. */
	for (int i = 0; t->state == -2 && i < LOCK_TRIES; i++) {
		nanosleep(&nap, NULL);
		t->state = try_lock();
	}
	if (t->state < 0)
		return t->state == -1 ? -1
				      : complain("another culprit is comparing with the osnoise "
						 "tracer: wait for it to end");
	t->left = read_state(t);
	return 0;
}

/* This process alone is left of the run. */
static void put_back_alone(void *ctx)
{
	struct osnoise_tracer *t = ctx;
	struct timespec nap = {0, 50000000};
	char path[128];

	if (!read_state(t))
		return;
	snprintf(path, sizeof(path), "%s/instances/" INSTANCE, t->root);
	write_value(t, "instances/" INSTANCE "/current_tracer", "nop");
	for (int i = 0; i < LOCK_TRIES && rmdir(path) && errno == EBUSY; i++)
		nanosleep(&nap, NULL); /* others of the run end, too, and close its files */
	if (put_back(t))
		return;
	unlink(STATE);
	if (t->mounted)
		umount2(t->root, MNT_DETACH);
	say("osnoise was killed: the settings of the kernel's tracer are as they were");
}

/* From here on the settings are put back, also when this process is killed. 0 or -1. */
static int be_guarded(struct osnoise_tracer *t, const struct cpus *cpus)
{
	t->guard = aftermath_start(put_back_alone, t, t->state, cpus,
				   RIGHT_DAC_OVERRIDE | (t->mounted ? RIGHT_SYS_ADMIN : 0));
	if (t->guard > 0)
		return 0;
	t->guard = 0;
	return -1;
}

static int switch_on(struct osnoise_tracer *t, const struct cpus *cpus, bool workload)
{
	char list[VALUE_MAX], path[128];
	int err;

	cpus_format(cpus, list, sizeof(list));
	snprintf(path, sizeof(path), "%s/instances/" INSTANCE, t->root);
	t->changed = true;
	err = write_value(t, "osnoise/options",
			  workload ? "OSNOISE_WORKLOAD"
				   : "NO_OSNOISE_WORKLOAD"); /* set before the tracer starts */
	if (!err)
		err = write_value(t, "osnoise/cpus", list);
	if (!err && !read_value(t, "osnoise/cpus", t->set, sizeof(t->set)) && write_state(t))
		return -1;
	if (!err && mkdir(path, 0700) && errno != EEXIST)
		err = -errno;
	if (!err)
		err = write_value(t, "instances/" INSTANCE "/current_tracer", "osnoise");
	if (err == -EINVAL && strlen(list) + 1 >= LIST_MAX)
		return complain("this kernel's osnoise tracer takes lists of CPUs of less than %d "
				"characters, and '%s' has %zu: name CPUs in fewer ranges",
				LIST_MAX - 1, list, strlen(list));
	return err ? complain("cannot switch on the osnoise tracer: %s", strerror(-err)) : 0;
}

struct osnoise_tracer *osnoise_tracer_start(const struct cpus *cpus, bool workload)
{
	struct osnoise_tracer *t = calloc(1, sizeof(*t));
	uint64_t lent;

	if (!t) {
		complain("out of memory");
		return NULL;
	}
	t->state = -1;
	lent = confine_raise(RIGHTS_TO_READ);
	if (find_root(t) || lock_state(t) || check_others(t) || restore_left(t) || save(t) ||
	    be_guarded(t, cpus) || switch_on(t, cpus, workload)) {
		osnoise_tracer_stop(t);
		t = NULL;
	}
	confine_lower(lent);
	return t;
}

FILE *osnoise_tracer_output(const struct osnoise_tracer *t)
{
	char path[128];
	uint64_t lent;
	FILE *f;

	snprintf(path, sizeof(path), "%s/instances/" INSTANCE "/trace", t->root);
	lent = confine_raise(RIGHTS_TO_READ);
	f = fopen(path, "re");
	if (!f)
		complain("cannot read %s: %s", path, strerror(errno));
	confine_lower(lent);
	return f;
}

int osnoise_tracer_stop(struct osnoise_tracer *t)
{
	uint64_t lent;
	int err;

	if (!t)
		return 0;
	lent = confine_raise(RIGHTS_TO_READ);
	err = t->changed ? put_back(t) : 0;
	reap_killed(t->guard);
	if (t->state >= 0) {
		if (!err && !t->left)
			unlink(STATE); /* ours, as the lock is */
		close(t->state);
	}
	if (t->mounted)
		umount2(t->root, MNT_DETACH);
	free(t);
	confine_lower(lent);
	return err;
}
