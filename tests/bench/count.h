/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_BENCH_COUNT_H
#define CULPRIT_BENCH_COUNT_H

/* Has the kernel count these tracepoints ("irq/softirq_entry") on the CPU as perf stat does, says
 * "ready", and keeps on until standard input ends; then prints how many came. Skips those that the
 * kernel lacks. -1: none can be counted. */
int bench_count(unsigned cpu, char **events, int n);

#endif
