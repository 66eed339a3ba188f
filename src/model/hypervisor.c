/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/hypervisor.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool says(hypervisor_file *file, void *ctx, const char *path, const char *word)
{
	const char *text = file(ctx, path);

	return text && strstr(text, word);
}

/* A machine of Amazon's is a guest unless its type ends with .metal. */
static bool is_nitro_guest(hypervisor_file *file, void *ctx)
{
	const char *type = file(ctx, "sys/class/dmi/id/product_name");

	return type && !strstr(type, ".metal") &&
	       says(file, ctx, "sys/class/dmi/id/sys_vendor", "Amazon EC2");
}

/* Signs that systemd-detect-virt uses, too: Xen, the device tree, DMI. A virtual machine that
 * models no real hardware calls itself linux,dummy-virt, whatever its hypervisor is. */
const char *hypervisor_of(hypervisor_file *file, void *ctx)
{
	static const struct {
		const char *path, *word, *name;
	} rows[] = {
		{"sys/hypervisor/type", "xen", "Xen"},
		{"proc/device-tree/hypervisor/compatible", "xen", "Xen"},
		{"proc/device-tree/hypervisor/compatible", "kvm", "KVM"},
		{"proc/device-tree/hypervisor/compatible", "vmware", "VMware"},
		{"proc/device-tree/hypervisor/compatible", "", "unknown"},
		{"sys/class/dmi/id/product_name", "KVM", "KVM"},
		{"sys/class/dmi/id/product_name", "VMware", "VMware"},
		{"sys/class/dmi/id/product_name", "Parallels", "Parallels"},
		{"sys/class/dmi/id/product_name", "Apple Virtualization", "Apple Virtualization"},
		{"sys/class/dmi/id/sys_vendor", "QEMU", "QEMU"},
		{"sys/class/dmi/id/product_name", "Virtual Machine", "Hyper-V"},
		{"sys/class/dmi/id/sys_vendor", "VMware", "VMware"},
		{"sys/class/dmi/id/sys_vendor", "Xen", "Xen"},
		{"sys/class/dmi/id/sys_vendor", "Parallels", "Parallels"},
		{"proc/device-tree/compatible", "linux,dummy-virt", "unknown"},
		{"sys/hypervisor/type", "", "unknown"},
	};

	if (is_nitro_guest(file, ctx))
		return "KVM";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (says(file, ctx, rows[i].path, rows[i].word))
			return rows[i].name;
	return NULL;
}
