/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_BENCH_SUMS_H
#define CULPRIT_BENCH_SUMS_H

/* Watches busy threads on the CPU for so many ms, and lets the probes both add up and record the
 * same intervals. Prints "same", "differ" or, where records are missing or the window cut an
 * interval, "not judged", with what was seen; before that a line for each source that differs. -1:
 * it could not run. */
int bench_sums(unsigned cpu, unsigned ms);

#endif
