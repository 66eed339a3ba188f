/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches the kernel's osnoise tracer on for some CPUs, with or without its own threads. Restores
 * the settings it found: on every way out, also when it is killed, and at the next start if its
 * guard was killed, too. The whole machine has one set of the tracer's settings, so it refuses to
 * disturb another user: also what a kill has left stays until that one has ended.
 * Documentation/trace/osnoise-tracer.rst.
 */
#ifndef CULPRIT_OSNOISE_TRACER_H
#define CULPRIT_OSNOISE_TRACER_H

#include <stdbool.h>
#include <stdio.h>
#include "base/cpus.h"

struct osnoise_tracer;

/* workload: with its own threads, which spin on these CPUs and print a line for each period; else
 * only its events. NULL with the reason said. */
struct osnoise_tracer *osnoise_tracer_start(const struct cpus *cpus, bool workload);

/* Output of the tracer so far; the caller reads and closes it; NULL with the reason said. */
FILE *osnoise_tracer_output(const struct osnoise_tracer *t);

/* 0, or -1 with the reason said: something could not be put back. NULL is fine. */
int osnoise_tracer_stop(struct osnoise_tracer *t);

#endif
