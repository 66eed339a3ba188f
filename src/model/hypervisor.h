/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out whether a hypervisor runs this machine, where the CPU itself does not tell (on x86 it
 * does). */
#ifndef CULPRIT_HYPERVISOR_H
#define CULPRIT_HYPERVISOR_H

/* Text of one of the machine's files, "proc/device-tree/compatible"; NULL: there is none. */
typedef const char *hypervisor_file(void *ctx, const char *path);

/* The name of the hypervisor, "unknown" where only that there is one is known; NULL: nothing shows
 * one, but it may hide itself. Static. */
const char *hypervisor_of(hypervisor_file *file, void *ctx);

#endif
