// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts of interrupts on a made-up machine. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/irq_names.h"

#define IRQ 1045 /* no machine's own */

static char root[64];

static int begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/irqs.XXXXXX");
	assert_non_null(mkdtemp(root));
	return 0;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* Makes a file, and the directories on the way. text: NULL takes it away. */
static void file(const char *path, const char *text)
{
	char name[256];
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	if (!text) {
		assert_int_equal(unlink(name), 0);
		return;
	}
	for (char *slash = name + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(name, 0700);
		*slash = '/';
	}
	f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void check(struct irq_names *n, const char *name, unsigned actions, const char *affinity,
		  const char *device)
{
	const struct irq_facts *f = irq_names_of(n, IRQ);

	assert_non_null(f);
	assert_string_equal(f->name, name);
	assert_int_equal(f->actions, actions);
	assert_string_equal(f->affinity ? f->affinity : "none", affinity);
	assert_string_equal(f->device ? f->device : "none", device);
}

static void make_first(void)
{
	file("sys/kernel/irq/1045/actions", "eth0-rx-0\n");
	file("proc/irq/1045/smp_affinity_list", "0-3\n");
	file("proc/irq/1045/effective_affinity_list", "2\n");
	file("sys/bus/pci/devices/0000:00:03.0/msi_irqs/1045", "");
	file("sys/bus/pci/devices/0000:00:03.0/numa_node", "1\n");
}

static void make_second(void)
{
	file("sys/kernel/irq/1045/actions", "nvme0q1,other\n");
	file("proc/irq/1045/smp_affinity_list", "3\n");
	file("proc/irq/1045/effective_affinity_list", "3\n");
	file("sys/bus/pci/devices/0000:00:03.0/msi_irqs/1045", NULL);
	file("sys/bus/pci/devices/0000:00:04.0/msi_irqs/1045", "");
	file("sys/bus/pci/devices/0000:00:04.0/numa_node", "-1\n");
}

#define FIRST  "eth0-rx-0", 1, "0-3, effective 2", "0000:00:03.0 (no driver, NUMA node 1)"
#define SECOND "nvme0q1,other", 2, "3, effective 3", "0000:00:04.0 (no driver)"

/* The driver went, and another one got the number. */
static void test_given_again(void **state)
{
	const struct irq_facts *f;
	struct irq_names *n;
	const char *name;

	(void)state;
	make_first();
	n = irq_names_new(root, 0);
	assert_non_null(n);
	check(n, FIRST);
	name = irq_names_of(n, IRQ)->name;
	make_second();
	check(n, SECOND);
	assert_string_equal(name, "eth0-rx-0"); /* rows have it */
	file("sys/kernel/irq/1045/actions", NULL);
	f = irq_names_of(n, IRQ);
	assert_string_equal(f->name, "");
	irq_names_free(n);
}

static void test_not_read_each_time(void **state)
{
	struct irq_names *n;

	(void)state;
	make_first();
	n = irq_names_new(root, UINT64_MAX);
	assert_non_null(n);
	check(n, FIRST);
	make_second();
	check(n, FIRST);
	assert_null(irq_names_of(n, 16384));
	irq_names_free(n);
}

/* A list that is too long to show is cut between CPUs, never within a number. */
static void test_long_list(void **state)
{
	struct irq_names *n;

	(void)state;
	make_first();
	file("proc/irq/1045/smp_affinity_list",
	     "0,2,4,6,8,10,12,14,16,18,20,22,24,26,280,282,284,286,288\n");
	n = irq_names_new(root, 0);
	assert_non_null(n);
	check(n, "eth0-rx-0", 1, "0,2,4,6,8,10,12,14,16,18,20,22,24,..., effective 2",
	      "0000:00:03.0 (no driver, NUMA node 1)");
	irq_names_free(n);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_given_again),
		TEST(test_not_read_each_time),
		TEST(test_long_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
