/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of the machine: its CPU's model, its hypervisor, if one runs it, and whether its
 * counter can be trusted. */
#ifndef CULPRIT_MACHINE_H
#define CULPRIT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cpus.h"

/* Writes the CPU's model: what the kernel calls it, else implementer and part by name, as far as
 * they are known; "" when the kernel says neither. */
void machine_cpu_model(char *buf, size_t len);

/* Writes the name of the hypervisor under which this machine runs; "" when nothing shows one. A
 * hypervisor may hide itself. */
void machine_hypervisor(char *buf, size_t len);

/* True when the counter runs at one rate on all CPUs and in all sleep states, as far as the kernel
 * knows; else *why says what is missing. clocksource: the kernel's clock. */
bool machine_counter_stable(const char *clocksource, const char **why);

#define MACHINE_ONE_NODE (-1)

/* Writes the NUMA node of each CPU to node[0..CPUS_MAX-1]: MACHINE_ONE_NODE of all where the
 * machine has only one, and of those that the kernel shows on none. */
void machine_nodes(int16_t *node);

#endif
