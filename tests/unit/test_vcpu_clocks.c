// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM's debugfs, made up: which thread is which virtual CPU, and its counter's rule. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../world/world.h"
#include "collect/vcpu_clocks.h"

static char root[64];

static int begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/clocks.XXXXXX");
	return !mkdtemp(root);
}

static int end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* Makes a file and the folders that it is in. */
static void file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = 0;
		mkdir(path, 0755);
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct vcpu_clocks read_all(void)
{
	struct vcpu_clocks c = {0};

	vcpu_clocks_read(&c, root);
	return c;
}

static void make_kvm(void)
{
	file("700-11/vcpu0/tsc-offset", "-987654321\n");
	file("700-11/vcpu0/tsc-scaling-ratio", "281474976710656\n");
	file("700-11/vcpu0/tsc-scaling-ratio-frac-bits", "48\n");
	file("700-11/vcpu0/pid", "711\n");
	/* before 6.0 KVM does not tell the thread; this one cannot scale */
	file("700-11/vcpu1/tsc-offset", "18446744072721897295\n");
	/* an offset that changes meanwhile */
	file("700-11/vcpu2/tsc-offset", "5\n");
	file("700-11/vcpu2/pid", "713\n");
	/* has not run so far; its thread ends later, and so does a whole machine */
	file("600-11/vcpu0/tsc-offset", "7\n");
	file("600-11/vcpu0/pid", "0\n");
	file("500-11/vcpu3/tsc-offset", "8\n");
	file("500-11/vcpu3/pid", "511\n");
	/* not numbers, and no virtual CPUs */
	file("900-3/vcpu0/tsc-offset", "x\n");
	file("900-3/vcpu0/pid", "-\n");
	file("900-3/vcpux/tsc-offset", "5\n");
	file("900/vcpu0/tsc-offset", "5\n");
	file("exits", "5\n");
	file("proc/711/status", "Name:\tx\nTgid:\t700\n");
	file("proc/712/status", "Name:\tx\nTgid:\t700\n");
	file("proc/713/status", "Name:\tx\nTgid:\t700\n");
	file("proc/812/status", "Name:\tx\nTgid:\t800\n");
}

static void reads_and_fills(void **state)
{
	static const unsigned lane[] = {0, 1, 2, 3, 4, 5, 6};
	struct vcpu_clocks before, after;
	char command[128];
	struct view v;

	(void)state;
	make_kvm();
	before = read_all();
	file("700-11/vcpu2/tsc-offset", "6\n");
	file("600-11/vcpu0/pid", "611\n");
	snprintf(command, sizeof(command), "rm -r %s/500-11", root);
	assert_int_equal(system(command), 0);
	after = read_all();
	assert_int_equal(before.n, 6);
	world_view(&v, "metal", lane, 7);
	for (int i = 0; i < 3; i++)
		v.cpu[i].tid = 711 + i;
	strcpy(v.cpu[1].comm, "CPU 1/KVM");
	v.cpu[3].tid = 812;
	strcpy(v.cpu[3].comm, "CPU 7/TCG");
	v.cpu[4].tid = 813;
	strcpy(v.cpu[4].comm, "worker");
	v.cpu[5].tid = 611;
	v.cpu[6].tid = 511;
	strcat(root, "/proc");
	vcpu_clocks_fill(&before, &after, root, &v);
	root[strlen(root) - 5] = 0;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(v.cpu[i].machine, 700);
		assert_int_equal(v.cpu[i].vcpu, 1 + i);
	}
	assert_true(counter_rule_same(
		&v.cpu[0].counter,
		&(struct counter_rule){281474976710656, -(uint64_t)987654321, 48}));
	assert_true(counter_rule_same(&v.cpu[1].counter,
				      &(struct counter_rule){1, 18446744072721897295U, 0}));
	assert_int_equal(v.cpu[2].counter.ratio, 0);
	assert_int_equal(v.cpu[3].machine, 800);
	assert_int_equal(v.cpu[3].vcpu, 0);
	assert_int_equal(v.cpu[4].machine, 0);
	assert_int_equal(v.cpu[5].machine, 600);
	assert_int_equal(v.cpu[5].counter.offset, 7);
	assert_int_equal(v.cpu[6].vcpu, 4);
	assert_int_equal(v.cpu[6].counter.offset, 8);
	vcpu_clocks_free(&before);
	vcpu_clocks_free(&after);
	view_free(&v);
}

/* No KVM here: nothing is known, and nothing fails. */
static void bears_its_absence(void **state)
{
	struct vcpu_clocks c = {0};

	(void)state;
	vcpu_clocks_read(&c, "/nowhere");
	assert_int_equal(c.n, 0);
	vcpu_clocks_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_and_fills, begin, end),
		cmocka_unit_test(bears_its_absence),
	};

	return cmocka_run_group_tests_name("vcpu_clocks", tests, NULL, NULL);
}
