/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons for which a virtual CPU left its guest (EXIT_ID in record.h), as KVM's tracepoint calls
 * it: the reasons of Intel's and of AMD's manual. */
#ifndef CULPRIT_EXIT_H
#define CULPRIT_EXIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXIT_NAME 48

/* Writes "exit MSR_WRITE 0x6e0 TSC_DEADLINE", "exit IO 0x70", or "exit VMX 0x46" where the reason
 * has no name here. Returns buf. */
char *exit_name(uint32_t id, char *buf, size_t len);

/* True when the guest may wait for something inside this exit, which nobody tells: in a call of the
 * hypervisor, or where the hypervisor cannot see why a guest with encrypted memory left. */
bool exit_may_halt(uint32_t id);

/* True when nothing in the guest made it leave: an interrupt or an NMI of the host's. */
bool exit_is_hosts(uint32_t id);

#endif
