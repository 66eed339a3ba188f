/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that keeps a sampler from its CPU, in a made /proc, and what is said of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/policy.h"
#include "collect/holder.h"

#define OWN 100

static char proc[] = "/tmp/culprit-holder-XXXXXX";

static void thread(int pid, int tid, const char *comm, char state, int parent, unsigned flags,
		   int cpu, int priority, int policy)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/task", proc, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%d/task/%d", proc, pid, tid);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/stat");
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%d (%s) %c %d 1 1 0 -1 %u ", tid, comm, state, parent, flags);
	for (int i = 10; i < 39; i++)
		fprintf(f, "0 ");
	fprintf(f, "%d %d %d 0 0\n", cpu, priority, policy);
	fclose(f);
}

static int make(void **state)
{
	(void)state;
	return mkdtemp(proc) ? 0 : -1;
}

static int clear(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", proc);
	return system(command);
}

static void test_find(void **state)
{
	struct holder h;

	(void)state;
	assert_false(holder_find(proc, 1, OWN, &h));
	assert_false(holder_find("/nonexistent", 1, OWN, &h));
	thread(OWN, OWN, "culprit", 'R', 1, 0, 1, 0, SCHED_OTHER);
	thread(101, 101, "culprit-sampler", 'R', OWN, 0, 1, 10, SCHED_FIFO);
	thread(200, 200, "sleeps", 'S', 1, 0, 1, 60, SCHED_FIFO);
	thread(201, 201, "elsewhere", 'R', 1, 0, 0, 70, SCHED_FIFO);
	assert_false(holder_find(proc, 1, OWN, &h));
	thread(202, 202, "normal", 'R', 1, 0, 1, 0, SCHED_OTHER);
	assert_true(holder_find(proc, 1, OWN, &h));
	assert_string_equal(h.comm, "normal");
	thread(203, 203, "main", 'S', 1, 0, 1, 0, SCHED_OTHER);
	thread(203, 204, "a) R (b", 'R', 1, 0, 1, 50, SCHED_FIFO);
	thread(205, 205, "lower", 'R', 1, 0, 1, 20, SCHED_RR);
	assert_true(holder_find(proc, 1, OWN, &h));
	assert_string_equal(h.comm, "a) R (b");
	assert_int_equal(h.tid, 204);
	assert_int_equal(h.policy, SCHED_FIFO);
	assert_int_equal(h.priority, 50);
	assert_false(h.kernel_thread);
	thread(206, 206, "deadline", 'R', 2, 0x00200000, 1, 0, SCHED_DEADLINE);
	assert_true(holder_find(proc, 1, OWN, &h));
	assert_string_equal(h.comm, "deadline");
	assert_true(h.kernel_thread);
}

static void expect(const struct holder *h, const char *own, const char *want)
{
	struct cpus rest = {0};
	char buf[HOLDER_TEXT];

	cpus_add(&rest, 0);
	cpus_add(&rest, 1);
	assert_string_equal(holder_text(h, 1, own, &rest, buf), want);
}

/* A priority that the samplers have already, or that is not above the thread's, is never advised.
 */
static void test_text(void **state)
{
	struct holder h = {"spin", 812, false, SCHED_FIFO, 50};

	(void)state;
	expect(NULL, "SCHED_OTHER",
	       "end those, or give the samplers a higher priority with -P f:10");
	expect(NULL, "SCHED_FIFO 10",
	       "end those, or give the samplers a higher priority than theirs with -P");
	expect(&h, "SCHED_FIFO 10",
	       "spin [812] with SCHED_FIFO 50 is on cpu 1 now; end it, or move it with taskset -pc "
	       "0 812, or give the samplers a higher priority with -P f:51");
	expect(&h, "SCHED_FIFO 50",
	       "spin [812] with SCHED_FIFO 50 is on cpu 1 now; end it, or move it with taskset -pc "
	       "0 812, or give the samplers a higher priority with -P f:51");
	/* A thread behind the samplers keeps them from nothing. */
	expect(&h, "SCHED_FIFO 60",
	       "end those, or give the samplers a higher priority than theirs with -P");
	expect(&h, "SCHED_DEADLINE 200:1000 us", "end those");
	expect(NULL, "SCHED_DEADLINE 200:1000 us", "end those");
	h.priority = 99;
	expect(&h, "SCHED_OTHER",
	       "spin [812] with SCHED_FIFO 99 is on cpu 1 now; end it, or move it with taskset -pc "
	       "0 812");
	h = (struct holder){"spin", 812, false, SCHED_OTHER, 0};
	expect(&h, "SCHED_OTHER",
	       "spin [812] with SCHED_OTHER is on cpu 1 now; end it, or move it with taskset -pc 0 "
	       "812, or give the samplers a higher priority with -P f:10");
	h.policy = SCHED_DEADLINE;
	expect(&h, "SCHED_FIFO 10", "spin [812] with SCHED_DEADLINE is on cpu 1 now; end it");
	h = (struct holder){"irq/9-acpi", 80, true, SCHED_FIFO, 50};
	expect(&h, "SCHED_FIFO 10",
	       "[irq/9-acpi] [80] with SCHED_FIFO 50 is on cpu 1 now; give the samplers a higher "
	       "priority with -P f:51");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_find, make, clear),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
