/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes' writers beside the rings, as they are built for arm64, and a program's reports about
 * itself, for test_order_shared.c. */
#ifndef CULPRIT_ORDER_SHARED_H
#define CULPRIT_ORDER_SHARED_H

#include "state.h"

extern struct cpu_state order_state; /* state of the one target CPU */
extern struct sum order_sums[SUM_ROWS];
extern __u64 order_clock; /* the kernel's clock, ns */

void order_frequency(unsigned int khz);
void order_activate(void); /* by another CPU: a watched thread waits here from now on */
void order_interrupt_ends(int irq);
void order_add(const struct record *r, __u64 function, __u64 net_ns);

struct culprit_reports;
struct culprit_report;

/* culprit_late() of culprit.h, and what culprit watch reads there: as read_report() of
 * collect/reports.c. */
void order_late(struct culprit_reports *reports, __u64 start_ns, __u64 end_ns);
int order_read_report(__u64 place, struct culprit_report *r);

#endif
