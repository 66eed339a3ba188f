/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/line_of_file.h"
#include "model/clock.h"
#include "model/hypervisor.h"

#define TEXT_MAX  256
#define NODES_MAX 1024 /* number in the largest kernels (CONFIG_NODES_SHIFT) */

/* Copies the value behind "key<tabs>: " on the first line of /proc/cpuinfo that has it. */
static bool cpuinfo(const char *key, char *buf, size_t len)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	buf[0] = 0;
	while (f && !found && getline(&line, &room, f) > 0) {
		char *colon = strchr(line, ':');

		if (!colon || strncmp(line, key, strlen(key)) || !strchr("\t :", line[strlen(key)]))
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(buf, len, "%s", colon + (colon[1] == ' ' ? 2 : 1));
		found = true;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

#if defined(__x86_64__)
#include <cpuid.h>

static bool has_flag(const char *flag)
{
	char flags[8192], *at = flags;
	size_t len = strlen(flag);

	cpuinfo("flags", flags, sizeof(flags));
	while ((at = strstr(at, flag))) {
		if ((at == flags || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

void machine_cpu_model(char *buf, size_t len)
{
	cpuinfo("model name", buf, len);
}

/* CPUID leaf 0x40000000 holds the hypervisor's signature (Documentation/virt/kvm/x86/cpuid.rst). */
void machine_hypervisor(char *buf, size_t len)
{
	static const struct {
		const char *signature, *name;
	} known[] = {{"KVMKVMKVM", "KVM"},         {"Microsoft Hv", "Hyper-V"},
		     {"VMwareVMware", "VMware"},   {"XenVMMXenVMM", "Xen"},
		     {"TCGTCGTCGTCG", "QEMU TCG"}, {"bhyve bhyve ", "bhyve"},
		     {"ACRNACRNACRN", "ACRN"}};
	unsigned int eax, regs[3];
	char signature[13] = "";

	buf[0] = 0;
	if (!has_flag("hypervisor"))
		return;
	__cpuid(0x40000000, eax, regs[0], regs[1], regs[2]);
	memcpy(signature, regs, 12);
	snprintf(buf, len, "unknown");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(signature, known[i].signature, strlen(known[i].signature)))
			snprintf(buf, len, "%s", known[i].name);
}

bool machine_counter_stable(const char *clocksource, const char **why)
{
	char clocks[256];

	/* The kernel's own watchdog keeps "tsc" only while it agrees with the other clocks. */
	if (!strcmp(clocksource, "tsc"))
		return true;
	if (!has_flag("constant_tsc") || !has_flag("nonstop_tsc")) {
		*why = "the kernel does not use it as its clock, and the CPU has not both "
		       "constant_tsc and nonstop_tsc";
		return false;
	}
	line_of_file("/sys/devices/system/clocksource/clocksource0/available_clocksource", clocks,
		     sizeof(clocks));
	*why = "the kernel has refused it as a clock";
	return !clock_tsc_refused(clocks);
}
#else

/* arch/arm64/include/asm/cputype.h */
static const char *part_name(unsigned long implementer, unsigned long part)
{
	static const struct {
		unsigned short implementer, part;
		const char *name;
	} known[] = {
		{0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd04, "Cortex-A35"},
		{0x41, 0xd05, "Cortex-A55"},  {0x41, 0xd07, "Cortex-A57"},
		{0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd09, "Cortex-A73"},
		{0x41, 0xd0a, "Cortex-A75"},  {0x41, 0xd0b, "Cortex-A76"},
		{0x41, 0xd0c, "Neoverse-N1"}, {0x41, 0xd0d, "Cortex-A77"},
		{0x41, 0xd40, "Neoverse-V1"}, {0x41, 0xd41, "Cortex-A78"},
		{0x41, 0xd44, "Cortex-X1"},   {0x41, 0xd46, "Cortex-A510"},
		{0x41, 0xd47, "Cortex-A710"}, {0x41, 0xd48, "Cortex-X2"},
		{0x41, 0xd49, "Neoverse-N2"}, {0x41, 0xd4b, "Cortex-A78C"},
		{0x41, 0xd4d, "Cortex-A715"}, {0x41, 0xd4e, "Cortex-X3"},
		{0x41, 0xd4f, "Neoverse-V2"}, {0x41, 0xd80, "Cortex-A520"},
		{0x41, 0xd81, "Cortex-A720"}, {0x41, 0xd82, "Cortex-X4"},
		{0x41, 0xd84, "Neoverse-V3"}, {0x41, 0xd8e, "Neoverse-N3"},
		{0x43, 0x0a1, "ThunderX"},    {0x43, 0x0af, "ThunderX2"},
		{0x46, 0x001, "A64FX"},       {0x48, 0xd01, "Kunpeng 920"},
		{0x4e, 0x003, "Denver"},      {0x4e, 0x004, "Carmel"},
		{0xc0, 0xac3, "AmpereOne"},   {0xc0, 0xac4, "AmpereOne AC04"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].implementer == implementer && known[i].part == part)
			return known[i].name;
	return NULL;
}

static const char *implementer_name(unsigned long implementer)
{
	static const struct {
		unsigned short implementer;
		const char *name;
	} known[] = {{0x41, "Arm"},     {0x42, "Broadcom"},  {0x43, "Cavium"},
		     {0x46, "Fujitsu"}, {0x48, "HiSilicon"}, {0x4e, "NVIDIA"},
		     {0x50, "APM"},     {0x51, "Qualcomm"},  {0x53, "Samsung"},
		     {0x61, "Apple"},   {0x6d, "Microsoft"}, {0xc0, "Ampere"}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].implementer == implementer)
			return known[i].name;
	return NULL;
}

void machine_cpu_model(char *buf, size_t len)
{
	char implementer[32], part[32];
	const char *by, *name;

	if (cpuinfo("model name", buf, len) || !cpuinfo("CPU implementer", implementer, 32) ||
	    !cpuinfo("CPU part", part, 32))
		return;
	by = implementer_name(strtoul(implementer, NULL, 0));
	name = part_name(strtoul(implementer, NULL, 0), strtoul(part, NULL, 0));
	if (by && name)
		snprintf(buf, len, "%s %s", by, name);
	else
		snprintf(buf, len, "%s%s part %s", by ? "" : "implementer ", by ? by : implementer,
			 part);
}

static const char *read_file(void *ctx, const char *path)
{
	char full[128], *text = ctx;
	size_t n;
	FILE *f;

	snprintf(full, sizeof(full), "/%s", path);
	f = fopen(full, "re");
	if (!f)
		return NULL;
	n = fread(text, 1, TEXT_MAX - 1, f);
	fclose(f);
	text[n] = 0;
	return text;
}

void machine_hypervisor(char *buf, size_t len)
{
	char text[TEXT_MAX];
	const char *name = hypervisor_of(read_file, text);

	snprintf(buf, len, "%s", name ? name : "");
}

bool machine_counter_stable(const char *clocksource, const char **why)
{
	(void)clocksource;
	(void)why;
	return true;
}
#endif

static bool read_node(int node, struct cpus *cpus)
{
	char path[64], line[CPUS_LIST + 1], why[128];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	return line_of_file(path, line, sizeof(line)) && !cpus_parse(line, cpus, why, sizeof(why));
}

void machine_nodes(int16_t *node)
{
	int nodes = 0;

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
		node[cpu] = MACHINE_ONE_NODE;
	for (int n = 0; n < NODES_MAX; n++) {
		struct cpus here;

		/* a node without CPUs has memory alone */
		if (!read_node(n, &here) || cpus_empty(&here))
			continue;
		nodes++;
		for (int cpu = cpus_next(&here, 0); cpu >= 0; cpu = cpus_next(&here, cpu + 1))
			node[cpu] = n;
	}
	for (unsigned cpu = 0; nodes < 2 && cpu < CPUS_MAX; cpu++)
		node[cpu] = MACHINE_ONE_NODE;
}
