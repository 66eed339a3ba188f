/* Switches the kernel's osnoise tracer on for some CPUs, as events without its own threads, and puts back what it found: on every way
 * out, and at the next start after a kill. The tracer's settings are one set for the whole machine, so another user of it is left
 * alone. Documentation/trace/osnoise-tracer.rst.
 */
#ifndef CULPRIT_TRACER_H
#define CULPRIT_TRACER_H

#include "base/cpus.h"

struct tracer;

/* NULL with the reason said. */
struct tracer *tracer_start(const struct cpus *cpus);
void tracer_stop(struct tracer *t); /* NULL is fine */

#endif
