/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out whether a hypervisor runs a machine whose CPU does not say so. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "model/hypervisor.h"

#define TREE    "proc/device-tree/compatible"
#define PRODUCT "sys/class/dmi/id/product_name"
#define VENDOR  "sys/class/dmi/id/sys_vendor"

struct file {
	const char *path, *text;
};

static const struct {
	struct file files[3];
	const char *name;
} cases[] = {
	{{{NULL}}, NULL},
	{{{TREE, "raspberrypi,4-model-b"}}, NULL},
	{{{VENDOR, "HPE\n"}, {PRODUCT, "ProLiant RL300 Gen11\n"}}, NULL},
	/* QEMU's machine, and that of others, without firmware */
	{{{TREE, "linux,dummy-virt"}}, "unknown"},
	{{{VENDOR, "QEMU\n"}, {PRODUCT, "QEMU Virtual Machine\n"}}, "QEMU"},
	{{{VENDOR, "QEMU\n"}, {PRODUCT, "KVM Virtual Machine\n"}}, "KVM"},
	{{{VENDOR, "Microsoft Corporation\n"}, {PRODUCT, "Virtual Machine\n"}}, "Hyper-V"},
	/* machines that are sold as metal are no guests */
	{{{VENDOR, "Amazon EC2\n"}, {PRODUCT, "c7g.large\n"}}, "KVM"},
	{{{VENDOR, "Amazon EC2\n"}, {PRODUCT, "c7g.metal\n"}}, NULL},
	{{{"sys/hypervisor/type", "xen\n"}}, "Xen"},
	{{{"proc/device-tree/hypervisor/compatible", "xen,xen-4.17"}}, "Xen"},
	{{{"proc/device-tree/hypervisor/compatible", "acme,visor"}}, "unknown"},
};

static const char *find(void *ctx, const char *path)
{
	const struct file *f = ctx;

	for (int i = 0; i < 3 && f[i].path; i++)
		if (!strcmp(f[i].path, path))
			return f[i].text;
	return NULL;
}

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name = hypervisor_of(find, (void *)cases[i].files);

		if (!name != !cases[i].name || (name && strcmp(name, cases[i].name)))
			fail_msg("case %zu: %s", i, name ? name : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
