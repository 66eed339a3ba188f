/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of system management interrupts of a CPU, by the kernel's event msr/smi/
 * (arch/x86/events/msr.c).
 *
 * To read MSR_SMI_COUNT of another CPU would send an IPI there, so the sampler reads its own CPU's.
 * An event of a process has the kernel read it at each switch to and from that process, which takes
 * microseconds in a guest, within the latency of who sleeps: so it is the CPU's event where that is
 * allowed, and a workload has none else.
 */
#ifndef CULPRIT_SMI_H
#define CULPRIT_SMI_H

#include <stdbool.h>
#include <stdint.h>

/* roams: this process may run on other CPUs, too. workload: it does not only spin. A descriptor; -1
 * where there is none, or the CPU has no such counter. */
int smi_open(unsigned cpu, bool roams, bool workload);

/* The count; call it on that CPU. Sets *known to false where it cannot be read. */
uint64_t smi_read(int event, bool *known);

#endif
