/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording of any length, from an invented machine with all kinds of noise: ticks with their
 * softirqs, wakeups and work with who asked and from where, a network card, page faults, and gaps
 * that nothing explains. */
#ifndef CULPRIT_BENCH_RECORDING_H
#define CULPRIT_BENCH_RECORDING_H

#include <stdint.h>

#define RECORDING_CPUS    256
#define RECORDING_THREADS 300

/* Writes at least that many records of so many CPUs and threads to a file through the recorder, and
 * prints their cost as rows of the table. 0 or -1, said. */
int bench_recording(const char *path, uint64_t records, uint32_t cpus, uint32_t threads);

/* Keeps the last 10 s of as many made records as a flight recorder does, and prints how much memory
 * this process has when there have been a hundredth of them, and all. 0 or -1. */
int bench_memory(uint64_t records);

#endif
