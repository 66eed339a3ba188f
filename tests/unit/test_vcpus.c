// SPDX-License-Identifier: GPL-2.0-or-later
/* The search for a virtual machine among made-up processes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/reading.h"
#include "collect/vcpus.h"

#define TURNS   16            /* searches in which every process is asked again */
#define LONG_NS 100000000000L /* time by which comes what is there */

static char proc[64];
static struct vcpus_search search;

static int begin(void **state)
{
	(void)state;
	strcpy(proc, "/tmp/vcpus.XXXXXX");
	assert_non_null(mkdtemp(proc));
	search = (struct vcpus_search){.proc = proc, .wait_ns = LONG_NS};
	return 0;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	vcpus_search_end(&search);
	snprintf(command, sizeof(command), "rm -r %s", proc);
	return system(command);
}

static void file(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void thread(int pid, int tid, const char *comm)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d", proc, pid);
	mkdir(path, 0755);
	strcat(path, "/task");
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%d/task/%d", proc, pid, tid);
	mkdir(path, 0755);
	strcat(path, "/comm");
	file(path, comm, strlen(comm));
}

/* words: each ends with a semicolon */
static void command_line(int pid, const char *words)
{
	char path[PATH_MAX], line[512];
	size_t n = strlen(words);

	snprintf(path, sizeof(path), "%s/%d/cmdline", proc, pid);
	for (size_t i = 0; i < n; i++)
		line[i] = words[i] == ';' ? '\0' : words[i];
	file(path, line, n);
}

static void machine(int pid, const char *words)
{
	thread(pid, pid, "qemu-system-x86\n");
	thread(pid, pid + 1, "CPU 0/KVM\n");
	command_line(pid, words);
}

/* The number of a process is given to another one. */
static void gone(int pid)
{
	char from[PATH_MAX], to[PATH_MAX];

	snprintf(from, sizeof(from), "%s/%d", proc, pid);
	snprintf(to, sizeof(to), "%s/gone-%d", proc, pid);
	assert_int_equal(rename(from, to), 0);
}

/* Whoever opens such a command line waits for ever, as for the memory of one that hangs. */
static void hanging(int pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d/cmdline", proc, pid);
	assert_int_equal(mkfifo(path, 0644), 0);
}

static void knows_how_machines_are_named(void **state)
{
	static const struct {
		const char *words, *name;
		bool found;
	} rows[] = {
		{"qemu;-name;web;", "web", true},
		{"qemu;--name;web;", "web", true},
		{"qemu;-name;guest=web;", "web", true},
		{"qemu;-name;guest=web,debug-threads=on;", "web", true},
		{"qemu;-name;web,debug-threads=on;-m;1G;", "web", true},
		{"qemu;-m;1G;-name;debug-threads=on,guest=web;", "web", true},
		{"qemu;-name;debug-threads=on,guest=web,process=x;", "web", true},
		{"qemu;-name;a,,b;", "a,b", true},
		{"qemu;-name;process=x,guest=a,,b,debug-threads=on;", "a,b", true},
		{"firecracker;--id;web;", "web", true},
		{"firecracker;--id=web;--api-sock;x;", "web", true},
		{"firecracker;--id;a,b;", "a,b", true},
		{"qemu;-name;web2;", "web", false},
		{"qemu;-name;we;", "web", false},
		{"qemu;-name;a,,b;", "a", false},
		{"qemu;-name;a,b;", "b", false},
		{"qemu;-name;a,,guest=web;", "web", false},
		{"qemu;-name;process=web;", "web", false},
		{"qemu;-name;debug-threads=on;", "debug-threads=on", false},
		{"qemu;-m;web;", "web", false},
		{"qemu;web;-name;", "web", false},
		{"firecracker;--id;web,x;", "web", false},
		{"firecracker;--id=web2;", "web", false},
		{"", "web", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(state);
		machine(40, rows[i].words);
		if ((vcpus_machine(&search, rows[i].name) == 40) != rows[i].found)
			fail_msg("%s: %s", rows[i].words, rows[i].name);
		end(state);
	}
}

static void takes_the_least(void **state)
{
	(void)state;
	machine(300, "qemu;-name;web;");
	machine(40, "qemu;-name;web;");
	machine(5, "qemu;-name;other;");
	assert_int_equal(vcpus_machine(&search, "web"), 40);
	gone(40);
	assert_int_equal(vcpus_machine(&search, "web"), 300);
	gone(300);
	assert_int_equal(vcpus_machine(&search, "web"), 0);
}

static void owner(int pid, int user)
{
	char path[PATH_MAX], line[64];

	snprintf(path, sizeof(path), "%s/%d/status", proc, pid);
	snprintf(line, sizeof(line), "Name:\tqemu\nUid:\t%d\t0\t0\t0\n", user);
	file(path, line, strlen(line));
}

/* Whoever starts one of that name while it is away is not taken for it. */
static void takes_no_strangers(void **state)
{
	(void)state;
	machine(299, "qemu;-name;web;"); /* gone before its user is known */
	assert_int_equal(vcpus_machine(&search, "web"), 299);
	gone(299);
	machine(300, "qemu;-name;web;");
	owner(300, 64);
	assert_int_equal(vcpus_machine(&search, "web"), 300);
	assert_int_equal(search.claims, 1);
	machine(40, "qemu;-name;web;");
	owner(40, 1000);
	assert_int_equal(vcpus_machine(&search, "web"), 300);
	assert_int_equal(search.stranger, 40);
	gone(300);
	assert_int_equal(vcpus_machine(&search, "web"), 0);
	assert_int_equal(search.stranger, 40);
	gone(40);
	machine(301, "qemu;-name;web;");
	owner(301, 64);
	assert_int_equal(vcpus_machine(&search, "web"), 301);
	assert_int_equal(search.stranger, 0);
	machine(302, "qemu;-name;web;");
	owner(302, 64);
	assert_int_equal(vcpus_machine(&search, "web"), 301);
	assert_int_equal(search.claims, 2);
	owner(302, 65); /* one that gave its user up */
	vcpus_owned(&search, 302);
	assert_int_equal(vcpus_machine(&search, "web"), 302);
	gone(302);
	vcpus_owned(&search, 302); /* one that has just ended: it comes again */
	machine(303, "qemu;-name;web;");
	owner(303, 65);
	assert_int_equal(vcpus_machine(&search, "web"), 303);
}

static void waits_for_nobody(void **state)
{
	(void)state;
	thread(7, 7, "hangs\n");
	thread(7, 8, "worker\n");
	hanging(7);
	machine(9, "qemu;-name;web;");
	alarm(300);
	for (int i = 0; i <= 2 * TURNS; i++)
		assert_int_equal(vcpus_machine(&search, "web"), 9);
	alarm(0);
}

/* Two files hang, and one answers, once: it is there when it is asked for again, whoever was
 * asked before. Nobody waits for the other one again. */
static void keeps_what_came_late(void **state)
{
	char hangs[PATH_MAX], answers[PATH_MAX], buf[8];
	long none = 0, wait_ns = LONG_NS;
	ssize_t n;

	(void)state;
	snprintf(hangs, sizeof(hangs), "%s/hangs", proc);
	snprintf(answers, sizeof(answers), "%s/answers", proc);
	assert_int_equal(mkfifo(hangs, 0644) | mkfifo(answers, 0644), 0);
	alarm(300);
	assert_int_equal(read_in_time(AT_FDCWD, hangs, buf, sizeof(buf), &none), -ETIMEDOUT);
	assert_int_equal(read_in_time(AT_FDCWD, answers, buf, sizeof(buf), &none), -ETIMEDOUT);
	file(answers, "late", 4);
	do {
		usleep(10000);
		n = read_in_time(AT_FDCWD, hangs, buf, sizeof(buf), &none);
		assert_int_equal(n, -ETIMEDOUT);
		n = read_in_time(AT_FDCWD, answers, buf, sizeof(buf), &none);
	} while (n == -ETIMEDOUT);
	assert_int_equal(n, 4);
	assert_memory_equal(buf, "late", 4);
	n = read_in_time(AT_FDCWD, hangs, buf, sizeof(buf), &wait_ns);
	assert_int_equal(n, -ETIMEDOUT);
	assert_true(wait_ns > 0);
	alarm(0);
}

/* One that hangs and has a virtual CPU, too: another one is found all the same, at once, and until
 * then the search says whom it waited for. */
static void waits_for_no_machine(void **state)
{
	(void)state;
	thread(7, 7, "CPU 0/KVM\n");
	hanging(7);
	search.wait_ns = 1000000;
	alarm(300);
	for (int i = 0; i <= 2 * TURNS; i++) {
		assert_int_equal(vcpus_machine(&search, "web"), 0);
		assert_int_equal(search.late, 7);
	}
	machine(9, "qemu;-name;web;");
	search.wait_ns = LONG_NS;
	assert_int_equal(vcpus_machine(&search, "web"), 9);
	alarm(0);
}

/* As many hang as are read at a time: no other is read, and none waits. */
static void says_that_it_reads_no_more(void **state)
{
	(void)state;
	search.wait_ns = 1000000;
	alarm(300);
	for (int pid = 20; pid < 20 + 2 * READINGS_PENDING; pid++) {
		thread(pid, pid, "CPU 0/KVM\n");
		hanging(pid);
	}
	for (int i = 0; i <= 2 * TURNS; i++)
		assert_int_equal(vcpus_machine(&search, "web"), 0);
	machine(9, "qemu;-name;web;");
	assert_int_equal(vcpus_machine(&search, "web"), 0);
	assert_true(search.late);
	alarm(0);
}

static void asks_for_a_command_line_once(void **state)
{
	(void)state;
	machine(7, "qemu;-name;other;");
	assert_int_equal(vcpus_machine(&search, "web"), 0);
	command_line(7, "qemu;-name;web;");
	for (int i = 0; i <= 2 * TURNS; i++) {
		if (i == 3) /* one more CPU: it is the same machine */
			thread(7, 9, "CPU 1/KVM\n");
		assert_int_equal(vcpus_machine(&search, "web"), 0);
	}
	gone(7);
	machine(7, "qemu;-name;web;");
	assert_int_equal(vcpus_machine(&search, "web"), 7);
}

static nlink_t links(int pid)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%d/task", proc, pid);
	assert_int_equal(stat(path, &st), 0);
	return st.st_nlink;
}

static void sees_one_that_has_its_cpus_later(void **state)
{
	nlink_t one;

	(void)state;
	thread(7, 7, "firecracker\n");
	one = links(7);
	command_line(7, "firecracker;--id;web;");
	for (int i = 0; i < 5; i++)
		assert_int_equal(vcpus_machine(&search, "web"), 0);
	thread(7, 8, "firecracker\n"); /* a thread that has begun, and takes its name only then */
	if (links(7) == one) {
		print_message("this disk counts no links of folders, as /proc does\n");
		skip();
	}
	assert_int_equal(vcpus_machine(&search, "web"), 0);
	thread(7, 8, "fc_vcpu 0\n");
	assert_int_equal(vcpus_machine(&search, "web"), 7);
}

static void sees_a_late_name_in_a_few_turns(void **state)
{
	int i = 0;

	(void)state;
	thread(7, 7, "vmm\n");
	thread(7, 8, "vmm\n");
	command_line(7, "vmm;--id=web;");
	for (; i < 5; i++)
		assert_int_equal(vcpus_machine(&search, "web"), 0);
	thread(7, 8, "vcpu0\n");
	for (i = 1; vcpus_machine(&search, "web") != 7; i++)
		assert_true(i < TURNS);
}

static void asks_again_what_could_not_be_read(void **state)
{
	char path[PATH_MAX];

	(void)state;
	machine(7, "");
	assert_int_equal(vcpus_machine(&search, "web"), 0);
	snprintf(path, sizeof(path), "%s/7/cmdline", proc);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(vcpus_machine(&search, "web"), 0);
	command_line(7, "qemu;-name;web;");
	assert_int_equal(vcpus_machine(&search, "web"), 7);
}

static void finds_those_whose_cpus_have_no_names(void **state)
{
	(void)state;
	thread(7, 7, "sudo\n"); /* one that only starts a machine */
	command_line(7, "sudo;qemu;-name;web;");
	machine(8, "qemu;-name;web;");
	thread(9, 9, "qemu-system-x86\n");
	thread(9, 10, "qemu-system-x86\n");
	command_line(9, "qemu;-name;web;");
	assert_int_equal(vcpus_machine(&search, "web"), 8);
	assert_int_equal(vcpus_nameless(proc, "web", LONG_NS), 9);
	assert_int_equal(vcpus_nameless(proc, "other", LONG_NS), 0);
}

static void tells_numbers_from_names(void **state)
{
	(void)state;
	assert_int_equal(vcpus_pid("101"), 101);
	assert_int_equal(vcpus_pid("name=101"), 0);
	assert_string_equal(vcpus_name("name=101"), "101");
	assert_string_equal(vcpus_name("web"), "web");
	assert_string_equal(vcpus_name("name=name=x"), "name=x");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_how_machines_are_named),
		TEST(takes_the_least),
		TEST(takes_no_strangers),
		TEST(waits_for_nobody),
		TEST(keeps_what_came_late),
		TEST(waits_for_no_machine),
		TEST(asks_for_a_command_line_once),
		TEST(sees_one_that_has_its_cpus_later),
		TEST(sees_a_late_name_in_a_few_turns),
		TEST(asks_again_what_could_not_be_read),
		TEST(finds_those_whose_cpus_have_no_names),
		cmocka_unit_test(tells_numbers_from_names),
		TEST(says_that_it_reads_no_more), /* the last: nothing is read any more */
	};

	return cmocka_run_group_tests_name("vcpus", tests, NULL, NULL);
}
