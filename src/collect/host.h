/* Facts about the machine that a report needs to be understood elsewhere. Read once, without
 * disturbing any CPU. */
#ifndef CULPRIT_HOST_H
#define CULPRIT_HOST_H

#include <stdbool.h>
#include "model/view.h"

/* Fills all but tsc_khz. What cannot be read is left empty. */
void host_read(struct host *host);

/* The counter runs at one rate on all CPUs and in all sleep states, as far as the kernel knows;
 * else *why says what is missing. */
bool host_counter_stable(const struct host *host, const char **why);

/* Where this process would have to run for tracing, and does not; NULL: it does. Only in the
 * machine's own namespaces do a thread id, a capability and a time mean the same to it and to the
 * kernel. */
const char *host_foreign(void);

/* By how much CLOCK_MONOTONIC is shifted in the time namespace of this process ("self", "812"), ns.
 */
int64_t host_clock_shift(const char *who);

/* The capabilities that are missing for tracing, as "CAP_BPF, CAP_PERFMON"; "" when none is. */
void host_missing_caps(char *buf, size_t len);

#endif
