/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_BENCH_SCALE_H
#define CULPRIT_BENCH_SCALE_H

#include <stdint.h>

/* Estimates the cost of so many CPUs, where the machine has only `cpu` and another: prints the
 * number, ms that a start takes for all of them, the memory of a sampler in kB, ms for reading and
 * comparing all counters, and the share of a CPU that the collector takes at 10,000 records a
 * second from each CPU, as a line of a table. 0, or -1: it could not be measured. Takes 5 MB a CPU.
 */
int bench_scale(unsigned cpu, uint32_t ncpus);

#endif
