/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_NMI_PROBES_H
#define CULPRIT_NMI_PROBES_H

#include <stdbool.h>

#include "state.h"

extern struct cpu_state nmi_state; /* state of the one target CPU */
extern int nmi_context;            /* enum context, as the kernel counts it */
extern unsigned long long nmi_clock;

/* Events as the kernel makes them at an interrupt, and at a softirq with two timers' functions. */
void nmi_interrupt(int irq, void *handler);
void nmi_pseudo(int irq, void *handler); /* one that nothing masks */
void nmi_softirq(unsigned int vec, void *function);
/* Functions of an interrupt that has no tracepoint of its own. soft: one of a softirq */
void nmi_hrtimer(void *function, bool soft);
void nmi_irq_work(void *function);

#endif
