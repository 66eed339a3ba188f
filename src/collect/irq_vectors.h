/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts that are system vectors on x86 and interrupts with a number elsewhere: the timer and
 * the IPIs. The kernel's tracepoint for them is irq_handler_entry. */
#ifndef CULPRIT_IRQ_VECTORS_H
#define CULPRIT_IRQ_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

#define IPIS_MAX 32

struct irq_vectors {
	uint8_t vector[VECTOR_IRQS]; /* enum vector_id; 0: none */
	bool per_cpu[VECTOR_IRQS];   /* every CPU has its own of it: it cannot be moved */
	bool any;                    /* this architecture has some */
	int ipi_base, ipis;          /* the interrupt of row IPI0, -1: not known; rows IPIn */
	char ipi_name[IPIS_MAX][40]; /* "IPI6 CPU backtrace interrupts" */
};

/* Those of this machine: read from /proc/interrupts and /sys/kernel/irq at the first call, and kept
 * as long as the process lives. An interrupt that cannot be read is no vector. On x86 there are
 * none, and nothing is read. Not for several threads. */
const struct irq_vectors *irq_vectors(void);

/* The IPI that this interrupt is, by the kernel's words; NULL: it is none. */
const char *irq_vectors_ipi(uint32_t irq);

/* True for a hook on x86's vectors, NMIs or TLB flushes on another architecture: nothing is missed
 * without it, because irq_handler_entry shows what it would, or there is no such thing. */
bool irq_vectors_replace(const char *hook);

#endif
