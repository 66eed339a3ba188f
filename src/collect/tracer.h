/* Switches the kernel's osnoise tracer on for some CPUs, with or without its own threads, and puts
 * back what it found: on every way out, and at the next start after a kill. The tracer's settings
 * are one set for the whole machine, so another user of it is left alone.
 * Documentation/trace/osnoise-tracer.rst.
 */
#ifndef CULPRIT_TRACER_H
#define CULPRIT_TRACER_H

#include <stdbool.h>
#include <stdio.h>
#include "base/cpus.h"

struct tracer;

/* workload: with its own threads, which spin on these CPUs and print a line each period; else only
 * its events. NULL with the reason said. */
struct tracer *tracer_start(const struct cpus *cpus, bool workload);

/* What the tracer has printed so far, to be read and closed by the caller; NULL with the reason
 * said. */
FILE *tracer_output(const struct tracer *t);

void tracer_stop(struct tracer *t); /* NULL is fine */

#endif
