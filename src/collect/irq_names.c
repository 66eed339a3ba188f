/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/irq_names.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/line_of_file.h"
#include "base/now.h"
#include "base/texts.h"
#include "collect/irq_vectors.h"

#define IRQS_MAX 16384
#define TEXTS    (4 << 20) /* bytes of all names, old ones too */
#define PCI      "/sys/bus/pci/devices"

struct irq {
	struct irq_facts facts;
	uint64_t read_ns; /* 0: never */
};

struct irq_names {
	char root[PATH_MAX - 400];
	uint64_t reread_ns, devices_ns; /* devices_ns: when they were read */
	struct texts *texts;
	struct irq irq[IRQS_MAX];
};

static const char *keep(struct irq_names *n, const char *text)
{
	return texts_keep(n->texts, text, strlen(text));
}

/* Writes a list that is longer than this with dots at its end. */
static void read_list(const struct irq_names *n, uint32_t irq, const char *which, char *list,
		      size_t len)
{
	char path[PATH_MAX], line[CPUS_LIST + 1], why[128];
	struct cpus cpus;

	list[0] = 0;
	snprintf(path, sizeof(path), "%s/proc/irq/%u/%s_affinity_list", n->root, irq, which);
	if (line_of_file(path, line, sizeof(line)) && !cpus_parse(line, &cpus, why, sizeof(why)))
		cpus_format(&cpus, list, len);
}

static const char *read_affinity(struct irq_names *n, uint32_t irq)
{
	char allowed[40], effective[40], both[96];

	read_list(n, irq, "smp", allowed, sizeof(allowed));
	read_list(n, irq, "effective", effective, sizeof(effective));
	snprintf(both, sizeof(both), "%s%s%s", allowed, effective[0] ? ", effective " : "",
		 effective);
	return both[0] ? keep(n, both) : NULL;
}

/* Words for a PCI device by its address. */
static const char *describe_device(struct irq_names *n, const char *address)
{
	char path[PATH_MAX], driver[300], node[16], text[600];
	const char *name;
	ssize_t len;

	snprintf(path, sizeof(path), "%s" PCI "/%s/driver", n->root, address);
	len = readlink(path, driver, sizeof(driver) - 1);
	driver[len > 0 ? len : 0] = 0;
	name = strrchr(driver, '/');
	snprintf(path, sizeof(path), "%s" PCI "/%s/numa_node", n->root, address);
	line_of_file(path, node, sizeof(node));
	snprintf(text, sizeof(text), "%s (%s%s%s)", address, name ? name + 1 : "no driver",
		 node[0] && node[0] != '-' ? ", NUMA node " : "", node[0] != '-' ? node : "");
	return keep(n, text);
}

/* Keeps, for each IRQ that a device sends as a message, its device. Lines that several may share
 * tell none. */
static void read_device(struct irq_names *n, const char *address)
{
	const char *text = NULL;
	const struct dirent *d;
	char path[PATH_MAX];
	DIR *irqs;

	snprintf(path, sizeof(path), "%s" PCI "/%.200s/msi_irqs", n->root, address);
	irqs = opendir(path);
	while (irqs && (d = readdir(irqs))) {
		unsigned long irq = strtoul(d->d_name, NULL, 10);

		if (d->d_name[0] == '.' || irq >= IRQS_MAX)
			continue;
		if (!text)
			text = describe_device(n, address);
		n->irq[irq].facts.device = text;
	}
	if (irqs)
		closedir(irqs);
}

static void read_devices(struct irq_names *n)
{
	char path[PATH_MAX];
	const struct dirent *d;
	DIR *devices;

	for (uint32_t i = 0; i < IRQS_MAX; i++)
		n->irq[i].facts.device = NULL;
	snprintf(path, sizeof(path), "%s" PCI, n->root);
	devices = opendir(path);
	while (devices && (d = readdir(devices)))
		if (d->d_name[0] != '.')
			read_device(n, d->d_name);
	if (devices)
		closedir(devices);
	n->devices_ns = now_ns();
}

static void read_irq(struct irq_names *n, uint32_t irq)
{
	const struct irq_vectors *vectors = irq_vectors();
	struct irq_facts *f = &n->irq[irq].facts;
	const char *ipi = irq_vectors_ipi(irq);
	char path[PATH_MAX], line[256];

	snprintf(path, sizeof(path), "%s/sys/kernel/irq/%u/actions", n->root, irq);
	line_of_file(path, line, sizeof(line));
	f->actions = 1;
	for (const char *comma = line; (comma = strchr(comma, ',')); comma++)
		f->actions++;
	f->name = keep(n, ipi ? ipi : line);
	f->affinity = NULL;
	/* "may go to cpu 0-3" is no use of one that cannot be moved. */
	if (irq < VECTOR_IRQS && vectors->per_cpu[irq])
		return;
	f->affinity = read_affinity(n, irq);
	/* A device may have come, or gone, after the table was read. */
	if (now_ns() - n->devices_ns >= n->reread_ns)
		read_devices(n);
}

const struct irq_facts *irq_names_of(struct irq_names *n, uint32_t irq)
{
	uint64_t now = now_ns();

	if (irq >= IRQS_MAX)
		return NULL;
	if (!n->irq[irq].read_ns || now - n->irq[irq].read_ns >= n->reread_ns) {
		n->irq[irq].read_ns = now;
		read_irq(n, irq);
	}
	return n->irq[irq].facts.name ? &n->irq[irq].facts : NULL;
}

struct irq_names *irq_names_new(const char *root, uint64_t reread_ns)
{
	struct irq_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->texts = texts_new(TEXTS);
	if (!n->texts || strlen(root) >= sizeof(n->root)) {
		irq_names_free(n);
		return NULL;
	}
	strcpy(n->root, root);
	n->reread_ns = reread_ns;
	read_devices(n);
	return n;
}

void irq_names_free(struct irq_names *n)
{
	if (!n)
		return;
	texts_free(n->texts);
	free(n);
}
