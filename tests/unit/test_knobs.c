/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Knobs of a made-up machine are set and put back to the byte, whatever their files hold; a journal
 * that was cut anywhere, or that somebody else wrote, never puts back anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "collect/journal.h"
#include "collect/knobs.h"

static char root[64];
static char why[KNOB_WHY];

static char *at(const char *path)
{
	static char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return full;
}

/* Makes the directories of a path, and the file with these bytes. */
static void put(const char *path, const char *bytes, size_t len)
{
	char full[PATH_MAX];
	FILE *f;

	strcpy(full, at(path));
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static const char *get(const char *path)
{
	static char text[8192];
	FILE *f = fopen(at(path), "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = 0;
	if (f)
		fclose(f);
	return text;
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "%s/knobs.XXXXXX",
		 getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 40 ? getenv("TMPDIR") : "/tmp");
	return !mkdtemp(root);
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

/* Plans, sets and puts back one knob of a file, which the kernel takes as it is. */
static void there_and_back(enum knob_kind kind, const char *path, const char *before,
			   const char *value, const char *written, const char *back)
{
	struct knobs k = {0};

	put_text(path, before);
	assert_int_equal(knobs_plan(&k, root, kind, path, value, 0, why), 0);
	assert_int_equal(k.count, 1);
	assert_string_equal(get(path), before);
	assert_int_equal(knob_apply(&k.row[0], root, why), KNOB_SET);
	assert_string_equal(get(path), written);
	if (kind != KNOB_FILE) /* the kernel shows its choice, and this root does not */
		put_text(path, "always madvise [never]\nA NO_X\n");
	assert_int_equal(knob_restore(&k.row[0], root, why), KNOB_BACK);
	assert_string_equal(get(path), back);
	knobs_free(&k);
}

static void sets_and_puts_back(void **state)
{
	(void)state;
	there_and_back(KNOB_FILE, "/sys/a/cpumask", "ff,00000003\n", "1", "1\n", "ff,00000003\n");
	there_and_back(KNOB_FILE, "/proc/sys/a b/\x1b[31m", "\x1b]0;x\a$(id)\n", "1", "1\n",
		       "\x1b]0;x\a$(id)\n");
	there_and_back(KNOB_FEATURE, "/sys/features", "A NO_B X_2 X NO_AX\n", "NO_X", "NO_X\n",
		       "X\n");
}

/* Several features: set are those that are not set so already; one that is missing ends it. */
static void sets_several_features(void **state)
{
	struct knobs k = {0};

	(void)state;
	put_text("/sys/features", "A NO_B C\n");
	assert_int_equal(
		knobs_plan(&k, root, KNOB_FEATURE, "/sys/features", "NO_A NO_B NO_C", 0, why), 0);
	assert_int_equal(k.count, 2);
	assert_string_equal(k.row[0].old, "A");
	assert_string_equal(k.row[0].new, "NO_A");
	assert_string_equal(k.row[1].old, "C");
	assert_string_equal(k.row[1].new, "NO_C");
	knobs_free(&k);
	assert_int_equal(knobs_plan(&k, root, KNOB_FEATURE, "/sys/features", "NO_A NO_D", 0, why),
			 -1);
	assert_int_equal(k.count, 0);
	knobs_free(&k);
}

static void globs_take_all_and_only_what_differs(void **state)
{
	struct knobs k = {0};

	(void)state;
	put_text("/sys/class/net/eth0/queues/rx-0/rps_cpus", "3\n");
	put_text("/sys/class/net/eth0/queues/rx-1/rps_cpus", "1\n");
	put_text("/sys/class/net/$(id);`id`/queues/rx-0/rps_cpus", "2\n");
	put_text("/sys/class/net/eth0/queues/tx-0/rps_cpus", "2\n");
	assert_int_equal(knobs_plan(&k, root, KNOB_FILES, "/sys/class/net/*/queues/rx-*/rps_cpus",
				    "1", 0, why),
			 0);
	assert_int_equal(k.count, 2);
	for (uint32_t i = 0; i < k.count; i++)
		assert_int_equal(knob_apply(&k.row[i], root, why), KNOB_SET);
	assert_string_equal(get("/sys/class/net/$(id);`id`/queues/rx-0/rps_cpus"), "1\n");
	for (uint32_t i = k.count; i-- > 0;)
		assert_int_equal(knob_restore(&k.row[i], root, why), KNOB_BACK);
	assert_string_equal(get("/sys/class/net/$(id);`id`/queues/rx-0/rps_cpus"), "2\n");
	assert_string_equal(get("/sys/class/net/eth0/queues/rx-0/rps_cpus"), "3\n");
	knobs_free(&k);
}

static void others_changes_are_left_alone(void **state)
{
	struct knobs k = {0};

	(void)state;
	put_text("/sys/x", "1\n");
	assert_int_equal(knobs_plan(&k, root, KNOB_FILE, "/sys/x", "2", 0, why), 0);
	assert_int_equal(knob_apply(&k.row[0], root, why), KNOB_SET);
	put_text("/sys/x", "7\n");
	assert_int_equal(knob_restore(&k.row[0], root, why), KNOB_OTHERS);
	assert_string_equal(get("/sys/x"), "7\n");
	assert_string_equal(
		why, "somebody has set /sys/x to 7 since: at first there was 1, and culprit set 2");
	/* Nor is it set again: neither what was there nor what the fix made of it is there. */
	assert_int_equal(knob_apply(&k.row[0], root, why), KNOB_LOST);
	assert_string_equal(get("/sys/x"), "7\n");
	assert_string_equal(why, "somebody has set /sys/x to 7, where 1 was: that is left so");
	unlink(at("/sys/x"));
	assert_int_equal(knob_restore(&k.row[0], root, why), KNOB_GONE);
	assert_string_equal(why, "/sys/x is no longer there");
	assert_int_equal(knob_apply(&k.row[0], root, why), KNOB_LOST);
	assert_string_equal(why, "/sys/x is no longer there");
	knobs_free(&k);

	/* A CPU's file comes again with the CPU. */
	put_text("/sys/devices/system/cpu/cpu7/cpuidle/state1/disable", "0\n");
	assert_int_equal(knobs_plan(&k, root, KNOB_FILE,
				    "/sys/devices/system/cpu/cpu7/cpuidle/state1/disable", "1", 0,
				    why),
			 0);
	assert_int_equal(knob_apply(&k.row[0], root, why), KNOB_SET);
	unlink(at("/sys/devices/system/cpu/cpu7/cpuidle/state1/disable"));
	put_text("/sys/devices/system/cpu/cpu7/online", "0\n");
	assert_int_equal(knob_restore(&k.row[0], root, why), KNOB_REFUSED);
	assert_non_null(strstr(why, "its CPU is offline: 0 can be put back when it is online"));
	put_text("/sys/devices/system/cpu/cpu7/online", "1\n");
	assert_int_equal(knob_restore(&k.row[0], root, why), KNOB_GONE);
	knobs_free(&k);

	/* One that was never turned is not put back, whatever it is now. */
	put_text("/sys/x", "1\n");
	assert_int_equal(knobs_plan(&k, root, KNOB_FILE, "/sys/x", "2", 0, why), 0);
	put_text("/sys/x", "7\n");
	assert_int_equal(knob_apply(&k.row[0], root, why), KNOB_LOST);
	assert_int_equal(knob_restore(&k.row[0], root, why), KNOB_BACK);
	assert_string_equal(get("/sys/x"), "7\n");
	knobs_free(&k);
}

/* Masks are the same whatever zeros and commas the kernel writes; lists of CPUs are no masks. */
static void masks_are_compared_as_masks(void **state)
{
	static const struct {
		const char *now, *value;
		int rc;
	} rows[] = {
		{"03\n", "3", -1},
		{"00000000,0000000f\n", "f", -1},
		{"1,00000003\n", "100000003", -1},
		{"0\n", "00000000,00000000", -1},
		{"1,00000003\n", "3", 0},
		{"0,3\n", "3", 0},
		{"03\n", "30", 0},
	};
	struct knobs k = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_text("/sys/mask", rows[i].now);
		assert_int_equal(
			knobs_plan(&k, root, KNOB_FILE, "/sys/mask", rows[i].value, 0, why),
			rows[i].rc);
		if (rows[i].rc)
			assert_string_equal(why, "it is set so already: /sys/mask");
		knobs_free(&k);
	}

	/* The mask in force is not the one that was asked for, which could not be put back. */
	put_text("/sys/workqueue/cpumask", "03\n");
	put_text("/sys/workqueue/cpumask_requested", "0f\n");
	assert_int_equal(knobs_plan(&k, root, KNOB_FILE, "/sys/workqueue/cpumask", "1", 0, why),
			 -1);
	assert_string_equal(why, "/sys/workqueue/cpumask_requested is 0f, and 03 is in force: it "
				 "could not be put back");
	put_text("/sys/workqueue/cpumask_requested", "3\n");
	assert_int_equal(knobs_plan(&k, root, KNOB_FILE, "/sys/workqueue/cpumask", "1", 0, why), 0);

	/* The kernel takes the write, and leaves what was there. */
	free(k.row[0].new);
	k.row[0].new = strdup("3");
	assert_int_equal(knob_apply(&k.row[0], root, why), KNOB_NOT_SET);
	assert_string_equal(why, "/sys/workqueue/cpumask: the kernel left it as it was, 03, when 3 "
				 "was written");
	knobs_free(&k);
}

/* A path that is no file of one value is refused, at once, and nothing is planned. */
static void refuses(void **state)
{
	static char large[20000];
	struct knobs k = {0};

	(void)state;
	memset(large, 'x', sizeof(large));
	put("/sys/large", large, sizeof(large));
	put("/sys/nul", "1\0002\n", 4);
	put_text("/sys/same", "2\n");
	put_text("/sys/features", "A B\n");
	assert_int_equal(mkfifo(at("/sys/fifo"), 0600), 0);
	assert_int_equal(symlink("/etc/passwd", at("/sys/link")), 0);
	for (size_t i = 0; i < 7; i++) {
		static const char *const files[] = {"/sys/large", "/sys/nul",  "/sys/same",
						    "/sys/fifo",  "/sys/link", "/sys/none",
						    "/sys"};

		why[0] = 0;
		assert_int_equal(knobs_plan(&k, root, KNOB_FILE, files[i], "2", 0, why), -1);
		assert_true(why[0]);
	}
	assert_int_equal(knobs_plan(&k, root, KNOB_FEATURE, "/sys/features", "NO_C", 0, why), -1);
	assert_int_equal(knobs_plan(&k, root, KNOB_FILES, "/sys/none*", "1", 0, why), -1);
	assert_int_equal(k.count, 0);
	knobs_free(&k);
}

/* A real thread of its own, which is moved and moved back. */
static void moves_threads(void **state)
{
	struct knobs k = {0};
	cpu_set_t before, now;
	char first[16];
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_int_equal(sched_getaffinity(pid, sizeof(before), &before), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &before)) {
			snprintf(first, sizeof(first), "%d", cpu);
			break;
		}
	if (CPU_COUNT(&before) > 1) {
		assert_int_equal(knobs_plan(&k, "", KNOB_THREAD, "", first, pid, why), 0);
		assert_int_equal(knob_apply(&k.row[0], "", why), KNOB_SET);
		sched_getaffinity(pid, sizeof(now), &now);
		assert_int_equal(CPU_COUNT(&now), 1);
		assert_int_equal(knob_restore(&k.row[0], "", why), KNOB_BACK);
		sched_getaffinity(pid, sizeof(now), &now);
		assert_true(CPU_EQUAL(&now, &before));
		knob_apply(&k.row[0], "", why);
		k.row[0].born++; /* another thread has the number now */
		assert_int_equal(knob_restore(&k.row[0], "", why), KNOB_GONE);
		assert_int_equal(knob_apply(&k.row[0], "", why), KNOB_LOST);
		assert_non_null(strstr(why, "] cannot be set any more: the thread has ended"));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(knobs_plan(&k, "", KNOB_THREAD, "", first, pid, why), -1);
	assert_string_equal(strchr(why, ':'), ": it has ended");
	knobs_free(&k);
}

/* ---- threads of the made-up machine ---- */

/* A thread's files: its whole name, and where it may run. */
static void put_thread(pid_t tid, const char *name, unsigned flags, const char *cpus)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	snprintf(text, sizeof(text), "%d (%s) S 2 0 0 0 -1 %u 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n",
		 (int)tid, name, flags);
	put_text(path, text);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	snprintf(text, sizeof(text),
		 "Name:\t%s\nGroups:\t0 1 2 \nCpus_allowed:\tf\nCpus_allowed_list:\t%s\n"
		 "Mems_allowed:\t1\n",
		 name, cpus);
	put_text(path, text);
}

static void put_online(const char *cpus)
{
	put_text("/sys/devices/system/cpu/online", cpus);
}

static void end_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A process that is moved to CPU 0 for real, which its files here do not show. */
static pid_t sleeper(void)
{
	cpu_set_t first;
	pid_t pid;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* after a red assertion */
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	if (!sched_setaffinity(pid, sizeof(first), &first))
		return pid;
	end_sleeper(pid); /* CPU 0 is not for this test */
	skip();
	return -1;
}

/* A row as a journal has it. now: NULL: not known. */
static void thread_row(struct knobs *k, pid_t tid, const char *old, const char *new,
		       const char *now)
{
	struct knob *row = knobs_add(k, KNOB_THREAD, "", old, new);

	assert_non_null(row);
	row->tid = tid;
	row->born = 4711;
	row->turned = true;
	row->now = now ? strdup(now) : NULL;
	strcpy(row->comm, "sh");
}

/* A kernel that keeps what is written has all of it back; not what somebody else wrote. */
static void kernels_keep_masks(void **state)
{
	struct knobs k = {0};
	pid_t pid = sleeper();

	(void)state;
	put_thread(pid, "sh", 0, "0");
	put_online("0");
	for (size_t i = 0; i < 3; i++) {
		put_text("/proc/sys/kernel/osrelease", i ? "6.2.0-1" : "6.1.9");
		thread_row(&k, pid, "0-1", "2-3", i < 2 ? "0,3" : "3");
		assert_int_equal(knob_restore(&k.row[0], root, why),
				 i == 1 ? KNOB_BACK : KNOB_OFFLINE);
		knobs_free(&k);
	}
	unlink(at("/proc/sys/kernel/osrelease"));
	end_sleeper(pid);
}

/* A CPU that is offline stays in the mask of a thread, and nobody has taken it out. */
static void offline_cpus_stay_in_masks(void **state)
{
	static const struct {
		const char *old, *now, *is, *online;
		enum knob_back back;
		const char *why; /* NULL: any */
	} rows[] = {
		/* back already */
		{"0-3", "2", "0-3", "0-2", KNOB_BACK, NULL},
		{"0-2", "2", "0-3", "0-2", KNOB_BACK, NULL},
		/* The kernel, or a cpuset, has left it out: before, or when it is put back. */
		{"0-3", "2", "0-2", "0-2", KNOB_OFFLINE,
		 " were 0-3, and are 0-2: what is offline this kernel may leave out when it is "
		 "online again: then taskset -pc 0-3 "},
		{"0,3", "0-2", "0", "0-2", KNOB_OFFLINE, " were 0,3, and are 0: what is offline"},
		/* To be put back; these files go on to say what they said, and the CPU went offline
		 * after the kernel had made `now` of it. */
		{"0", "0,2-3", "0,2-3", "0-2", KNOB_REFUSED, "and the kernel made 0,2-3 of"},
		{"0", "0,2-3", "0,2", "0-2", KNOB_REFUSED, "and the kernel made 0,2 of"},
		{"0", "0,2", "0,2-3", "0-2", KNOB_REFUSED, "and the kernel made 0,2-3 of"},
		{"0-1", "0,3", "0", "0", KNOB_OFFLINE, " were 0-1, and are 0: what is offline"},
		/* somebody else's */
		{"0", "2-3", "2", "0-3", KNOB_OTHERS,
		 " to 2 since: at first there was 0, and culprit"},
		{"0", "2-3", "1", "0-2", KNOB_OTHERS,
		 " to 1 since: at first there was 0, and culprit"},
		{"0", "2-3", "2", "", KNOB_OTHERS,
		 " to 2 since: at first there was 0, and culprit"},
		/* `now` is not known: some of these CPUs at the most */
		{"0", NULL, "1-3", "0-3", KNOB_OTHERS,
		 " to 1-3 since: at first there was 0, and the fix was to set 2-3"},
		{"0", NULL, "3", "0-3", KNOB_REFUSED, "and the kernel made 3 of"},
		/* The CPUs of before are all offline. */
		{"8000", "2-3", "2-3", "0-3", KNOB_REFUSED,
		 "its CPUs are offline: 8000 can be put back when one of them is online again"},
	};
	struct knobs k = {0};
	pid_t pid = sleeper();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_thread(pid, "sh", 0, rows[i].is);
		put_online(rows[i].online);
		thread_row(&k, pid, rows[i].old, "2-3", rows[i].now);
		why[0] = 0;
		assert_int_equal(knob_restore(&k.row[0], root, why), rows[i].back);
		if (rows[i].why && !strstr(why, rows[i].why))
			fail_msg("row %zu: %s", i, why);
		knobs_free(&k);
	}

	/* Planned: all of them are to be put back, and those online make a difference. */
	put_online("0-2");
	put_thread(pid, "sh", 0, "0-3");
	assert_int_equal(knobs_plan(&k, root, KNOB_THREAD, "", "2", pid, why), 0);
	assert_string_equal(k.row[0].old, "0-3");
	knobs_free(&k);
	put_thread(pid, "sh", 0, "2-3");
	assert_int_equal(knobs_plan(&k, root, KNOB_THREAD, "", "2", pid, why), -1);
	assert_string_equal(why, "it is set so already: 2");
	end_sleeper(pid);
	unlink(at("/sys/devices/system/cpu/online"));
}

/* A value that the kernel made of the old one is known for the next attempt: it is nobody else's.
 */
static void refused_is_nobody_elses(void **state)
{
	struct knobs k = {0};
	pid_t pid = sleeper();

	(void)state;
	put_online("0-3");
	put_thread(pid, "sh", 0, "3");
	thread_row(&k, pid, "0", "2-3", NULL);
	assert_int_equal(knob_restore(&k.row[0], root, why), KNOB_REFUSED);
	assert_non_null(k.row[0].now);
	assert_string_equal(k.row[0].now, "3");
	assert_int_equal(knob_restore(&k.row[0], root, why), KNOB_REFUSED);
	end_sleeper(pid);
	knobs_free(&k);
	unlink(at("/sys/devices/system/cpu/online"));
}

/* Kernel threads have longer names in these files than in their probes. */
static void threads_have_long_names(void **state)
{
	static const struct {
		const char *name;
		unsigned flags;
		const char *comm, *why;
	} rows[] = {
		{"kswapd0", 0x200040, "kswapd0", NULL},
		{"jbd2/nvme0n1p2-8", 0x200040, "jbd2/nvme0n1p2-", NULL}, /* 16 */
		{"rcu_tasks_kthread", 0x200040, "rcu_tasks_kthre", NULL},
		{"rcu_exp_par_gp_kthread_worker/0", 0x200040, "rcu_exp_par_gp_", NULL},
		{"a) S 1 (b", 0, "a) S 1 (b", NULL},
		{"kworker/1:2-events", 0x4208060, NULL,
		 "kworker/1:2-events [812] is bound to its CPUs: the kernel lets nobody move it"},
		{"kworker/R-mm_percpu_wq", 0x4208060, NULL,
		 "kworker/R-mm_percpu_wq [812] is bound to its CPUs: the kernel lets nobody move "
		 "it"},
	};
	struct knobs k = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_thread(812, rows[i].name, rows[i].flags, "0-3");
		assert_int_equal(knobs_plan(&k, root, KNOB_THREAD, "", "0", 812, why),
				 rows[i].why ? -1 : 0);
		if (rows[i].why)
			assert_string_equal(why, rows[i].why);
		else
			assert_string_equal(k.row[0].comm, rows[i].comm);
		knobs_free(&k);
	}
}

/* A number that is neither what was there nor what was to be written is somebody else's, also where
 * what the kernel made of that is not known. */
static void numbers_are_not_made_others(void **state)
{
	static const struct {
		const char *path, *old, *new, *is;
		enum knob_back back;
	} rows[] = {
		{"/proc/sys/vm/x", "1", "120", "77", KNOB_OTHERS},
		{"/proc/sys/vm/x", "1", "-1", "77", KNOB_OTHERS},
		{"/proc/sys/vm/x", "1", "120", "120", KNOB_BACK},
		{"/proc/sys/vm/x", "1", "120", "1", KNOB_BACK},
		{"/proc/sys/vm/x", "0-3", "2", "0", KNOB_BACK}, /* CPUs */
		{"/sys/mask", "03", "1", "00000001", KNOB_BACK},
		{"/sys/mm/enabled", "always", "never", "always madvise [never]", KNOB_BACK},
	};
	struct knobs k = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_text(rows[i].path, rows[i].is);
		assert_non_null(knobs_add(&k, KNOB_FILE, rows[i].path, rows[i].old, rows[i].new));
		k.row[0].turned = true;
		assert_int_equal(knob_restore(&k.row[0], root, why), rows[i].back);
		if (rows[i].back == KNOB_OTHERS)
			assert_string_equal(get(rows[i].path), rows[i].is);
		knobs_free(&k);
	}
}

/* ---- the journal ---- */

#define BOOT "11111111-2222-3333-4444-555555555555"

static void fill(struct knobs *k)
{
	struct knob *one;

	assert_non_null(knobs_add(k, KNOB_FILE, "/sys/a b\n%\x1b\xff", "old =%\n", ""));
	k->row[0].now = strdup("- =");
	k->row[0].turned = true;
	one = knobs_add(k, KNOB_THREAD, "", "0-3", "0");
	assert_non_null(one);
	one->tid = 7;
	one->born = 18446744073709551615ULL;
	one->kept = true;
	strcpy(one->comm, "a) (b\n\x1b");
	assert_non_null(
		knobs_add(k, KNOB_FEATURE, "/sys/kernel/debug/sched/features", "X", "NO_X"));
	assert_non_null(knobs_add(k, KNOB_FILE, "/sys/a", "unturned", "unturned"));
	k->row[3].turned = true; /* into what is not known */
}

static void same_knobs(const struct knobs *a, const struct knobs *b)
{
	for (uint32_t i = 0; i < a->count; i++) {
		assert_int_equal(a->row[i].kind, b->row[i].kind);
		assert_string_equal(a->row[i].path, b->row[i].path);
		assert_string_equal(a->row[i].old, b->row[i].old);
		assert_string_equal(a->row[i].new, b->row[i].new);
		assert_string_equal(a->row[i].comm, b->row[i].comm);
		assert_int_equal(a->row[i].tid, b->row[i].tid);
		assert_true(a->row[i].born == b->row[i].born);
		assert_int_equal(a->row[i].kept, b->row[i].kept);
		assert_int_equal(a->row[i].turned, b->row[i].turned);
		assert_int_equal(!a->row[i].now, !b->row[i].now);
		if (a->row[i].now)
			assert_string_equal(a->row[i].now, b->row[i].now);
	}
}

static void journal_comes_back(void **state)
{
	struct knobs k = {0}, r = {0};
	char boot[BOOT_ID];
	struct stat s;
	int lock;

	(void)state;
	fill(&k);
	lock = journal_lock(at("/state"), false);
	assert_true(lock >= 0);
	assert_int_equal(journal_read(at("/state"), boot, &r), JOURNAL_NONE);
	assert_int_equal(journal_write(at("/state"), BOOT, &k), 0);
	assert_int_equal(stat(at("/state/try.journal"), &s), 0);
	assert_int_equal(s.st_mode & 0777, 0600);
	assert_int_equal(stat(at("/state"), &s), 0);
	assert_int_equal(s.st_mode & 0777, 0700);
	assert_int_equal(journal_read(at("/state"), boot, &r), JOURNAL_WHOLE);
	assert_string_equal(boot, BOOT);
	assert_int_equal(r.count, k.count);
	same_knobs(&r, &k);
	knobs_free(&r);

	/* Cut anywhere, it gives what was in whole lines, and says that it is cut. */
	char text[4096];
	size_t len = strlen(strcpy(text, get("/state/try.journal")));
	size_t begin = strstr(text, "knob ") - text; /* behind the boot's id */

	assert_non_null(freopen("/dev/null", "w", stderr)); /* the messages are tested elsewhere */
	for (size_t cut = 0; cut < len; cut++) {
		put("/state/try.journal", text, cut);
		assert_int_equal(journal_read(at("/state"), boot, &r),
				 cut < begin ? JOURNAL_BAD : JOURNAL_CUT);
		assert_true(r.count <= k.count);
		same_knobs(&r, &k);
		knobs_free(&r);
	}
	assert_int_equal(journal_remove(at("/state")), 0);
	close(lock);
	knobs_free(&k);
}

/* A journal that this machine's root alone did not write is not believed. */
static void journal_is_roots_alone(void **state)
{
	static const char *const lines[] = {
		"knob file 0 =/etc/passwd =x =y -\n",
		"knob file 0 =/sys/../etc/passwd =x =y -\n",
		"knob file 0 =/proc/1/root/etc/passwd =x =y -\n",
		"knob file 0 =/proc/1/cwd/x =x =y -\n",
		"knob file 0 =/proc/self/oom_score_adj =x =y -\n",
		"knob file 0 =/sys/a =x =y\n",
		"knob file 0 =/sys/a =x%00 =y -\n",
		"knob file 0 =/sys/a =x%4 =y -\n",
		"knob files 0 =/sys/* =x =y -\n",
		"knob none 0 =/sys/a =x =y -\n",
		"knob thread 0 -1 1 =a =x =y -\n",
		"knob thread 0 1 1 =01234567890123456 =x =y -\n",
		"knob thread 0 4294967303 1 =a =x =y -\n", /* 2^32 + 7 */
		"knob thread 0 0 1 =a =x =y -\n",
		"knob file 0 =/sys/a =x =y - more\n",
		"knob file 0 =/sys/a =x =y --\n",
		"knob file 0 =/sys/a =x =y unturned more\n",
		"rm -rf /\n",
		/* not as a try writes it */
		"knob file 2 =/sys/a =x =y -\n",
		"knob file 00 =/sys/a =x =y -\n",
		"knob file 0  =/sys/a =x =y -\n",
		"knob file 0 =/sys/a =x =y - \n",
		" knob file 0 =/sys/a =x =y -\n",
		"knob file 0 =/sys/%61 =x =y -\n",
		"knob file 0 =/sys/a =x;y =y -\n",
		"knob file 0 =/sys/a =\xff =y -\n",
		"end\n",
	};
	struct knobs r = {0};
	char boot[BOOT_ID], text[256];

	(void)state;
	mkdir(at("/state"), 0700);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "culprit try 1\nboot " BOOT "\n%send\n", lines[i]);
		put_text("/state/try.journal", text);
		assert_int_equal(chmod(at("/state/try.journal"), 0600), 0);
		assert_int_equal(journal_read(at("/state"), boot, &r), JOURNAL_CUT);
		assert_int_equal(r.count, 0);
	}
	put_text("/state/try.journal", "culprit try 1\nboot " BOOT "\nend\n");
	assert_int_equal(journal_read(at("/state"), boot, &r), JOURNAL_WHOLE);
	assert_int_equal(chmod(at("/state/try.journal"), 0640), 0);
	assert_int_equal(journal_read(at("/state"), boot, &r), JOURNAL_BAD);
	assert_int_equal(chmod(at("/state"), 0777), 0);
	assert_int_equal(journal_lock(at("/state"), false), -1);
	chmod(at("/state"), 0700);
	unlink(at("/state/try.journal"));
	knobs_free(&r);
}

/* One that does not say since which boot it holds is not believed at all. */
static void journal_begins_with_a_boot(void **state)
{
	static const char *const heads[] = {
		"culprit try 2\nboot " BOOT "\nend\n",
		"culprit try 1\nend\n",
		"culprit try 1\nboot\nend\n",
		"culprit try 1\nboot \nend\n",
		"culprit try 1\nboot not known\nend\n",
		"culprit try 1\nboot\t" BOOT "\nend\n",
		"culprit try 1\nboot " BOOT BOOT "\nend\n",
	};
	struct knobs r = {0};
	char boot[BOOT_ID];

	(void)state;
	mkdir(at("/state"), 0700);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		put_text("/state/try.journal", heads[i]);
		assert_int_equal(chmod(at("/state/try.journal"), 0600), 0);
		assert_int_equal(journal_read(at("/state"), boot, &r), JOURNAL_BAD);
	}
	assert_int_equal(journal_remove(at("/state")), 0);
}

/* The longest value comes back; one that is longer would not fit where values are compared. */
static void journal_holds_values_alone(void **state)
{
	static char value[KNOB_VALUE + 1], path[PATH_MAX + 1];
	struct knobs k = {0}, r = {0};
	char boot[BOOT_ID];

	(void)state;
	mkdir(at("/state"), 0700);
	memset(value, 'f', KNOB_VALUE - 1);
	memset(path, 'a', PATH_MAX - 1);
	memcpy(path, "/sys/", 5);
	assert_non_null(knobs_add(&k, KNOB_FILE, path, value, value));
	k.row[0].now = strdup("");
	k.row[0].turned = true;
	assert_int_equal(journal_write(at("/state"), BOOT, &k), 0);
	assert_int_equal(journal_read(at("/state"), boot, &r), JOURNAL_WHOLE);
	assert_int_equal(r.count, 1);
	same_knobs(&r, &k); /* "" is a value, too */
	knobs_free(&r);
	knobs_free(&k);
	for (int i = 0; i < 4; i++) {
		value[KNOB_VALUE - 1] = i < 3 ? 'f' : 0;
		path[PATH_MAX - 1] = i < 3 ? 0 : 'a';
		assert_non_null(knobs_add(&k, KNOB_FILE, i < 3 ? "/sys/a" : path, i ? "1" : value,
					  i == 1 ? value : "1"));
		k.row[0].now = strdup(i == 2 ? value : "1");
		assert_int_equal(journal_write(at("/state"), BOOT, &k), 0);
		assert_int_equal(journal_read(at("/state"), boot, &r), JOURNAL_CUT);
		assert_int_equal(r.count, 0);
		knobs_free(&k);
	}
	assert_int_equal(journal_remove(at("/state")), 0);
}

/* A lock for which somebody waited until its holder removed the name is not the one that others
 * would come to. */
static void lock_is_of_the_name(void **state)
{
	int holder, waiter, next;

	(void)state;
	put_text("/lock", "");
	holder = open(at("/lock"), O_RDWR);
	waiter = open(at("/lock"), O_RDWR);
	assert_true(lock_named(holder, at("/lock")));
	assert_false(lock_named(waiter, at("/lock")));
	assert_int_equal(unlink(at("/lock")), 0);
	close(holder);
	assert_false(lock_named(waiter, at("/lock")));
	put_text("/lock", "");
	assert_false(lock_named(waiter, at("/lock")));
	next = open(at("/lock"), O_RDWR);
	assert_true(lock_named(next, at("/lock")));
	close(waiter);
	close(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock_is_of_the_name),
		cmocka_unit_test(sets_and_puts_back),
		cmocka_unit_test(sets_several_features),
		cmocka_unit_test(globs_take_all_and_only_what_differs),
		cmocka_unit_test(others_changes_are_left_alone),
		cmocka_unit_test(masks_are_compared_as_masks),
		cmocka_unit_test(refuses),
		cmocka_unit_test(moves_threads),
		cmocka_unit_test(kernels_keep_masks),
		cmocka_unit_test(offline_cpus_stay_in_masks),
		cmocka_unit_test(refused_is_nobody_elses),
		cmocka_unit_test(threads_have_long_names),
		cmocka_unit_test(numbers_are_not_made_others),
		cmocka_unit_test(journal_comes_back),
		cmocka_unit_test(journal_is_roots_alone),
		cmocka_unit_test(journal_begins_with_a_boot),
		cmocka_unit_test(journal_holds_values_alone),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
