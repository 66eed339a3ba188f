/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of an interrupt by its number, as the machine tells them. */
#ifndef CULPRIT_IRQ_NAMES_H
#define CULPRIT_IRQ_NAMES_H

#include <stdint.h>

struct irq_names;

struct irq_facts {
	const char *name;     /* handlers, by comma; "": none. Any bytes */
	const char *affinity; /* "0-3, effective 1"; NULL: it cannot be moved */
	const char *device; /* "0000:00:03.0 (virtio-pci, NUMA node 0)"; NULL: not known, or none */
	unsigned actions;   /* handlers that share the line */
};

#define IRQ_REREAD_NS 10000000000ULL

/* root: "", or a directory that stands for /. A number is given again when a driver goes or sets up
 * its queues anew: what is older than reread_ns is read again when somebody asks. NULL: out of
 * memory. */
struct irq_names *irq_names_new(const char *root, uint64_t reread_ns);
void irq_names_free(struct irq_names *n);

/* NULL: no such number, or out of memory. Valid until the next call, its strings until
 * irq_names_free. */
const struct irq_facts *irq_names_of(struct irq_names *n, uint32_t irq);

#endif
