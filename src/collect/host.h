/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the machine that a reader of the report elsewhere needs. Read once, without
 * disturbing any CPU. */
#ifndef CULPRIT_HOST_H
#define CULPRIT_HOST_H

#include <stdbool.h>
#include <sys/types.h>
#include "model/view.h"

/* Fills all but tsc_khz. Facts that cannot be read stay empty. */
void host_read(struct host *host);

/* The CPUs that are isolated now, by isolcpus= or a cpuset partition. */
void host_isolated(struct cpus *set);

/* Leaves of these the CPUs that this thread could move to now: not those of other cpusets, nor
 * those that are offline. */
void host_reachable(struct cpus *set);

/* The CPUs of this process, and the isolated ones: these are in no process's mask by default, but
 * are the most interesting ones. */
void host_measurable(struct cpus *set);

/* The CPUs that are online now; all where nobody knows. */
void host_online(struct cpus *online);
/* The CPUs that may ever be online; where nobody knows, those that are. */
void host_possible(struct cpus *possible);
/* False also for a CPU that is on its way: threads leave one that goes offline first, and may be
 * moved to one that comes back last. */
bool host_is_online(unsigned cpu);
/* Writes to text, unless it says something already, which of these CPUs are offline now, after so
 * long. */
void host_gone(const struct cpus *wanted, uint64_t after_ns, char *text, size_t len);

/* True when /proc/sys/net, and when /sys/class/net, is that of the machine's own network namespace;
 * false also where nobody knows. */
bool host_network_settings(void);
bool host_network_interfaces(void);

/* Says why tracing is not possible in the namespaces of this process and where it is; NULL: it is
 * possible. Only in the machine's own do thread ids, capabilities and times mean the same to this
 * process and to the kernel. */
const char *host_foreign(void);

/* Shift of a clock, "monotonic" or "boottime", in the time namespace of this process ("self",
 * "812"), ns. */
int64_t host_clock_shift(const char *who, const char *clock);

/* True when the kernel's lockdown keeps BPF from reading its memory, as far as it says so. */
bool host_locked_down(void);

/* Writes the capabilities that are missing for tracing, as "CAP_BPF, CAP_PERFMON"; "" when none is
 * missing. */
void host_missing_caps(char *buf, size_t len);

/* Counts how often the kernel took the CPU from this process so far. False: not known. */
bool host_preempted(pid_t pid, uint64_t *times);

unsigned long long host_own_caps(void); /* in force: a mask of base/confine.h */
bool host_is_admin(void);               /* true with CAP_SYS_ADMIN */

/* True when this process may read maps of BPF that are open with the rights that are in force. */
bool host_maps_are_free(void);

#endif
