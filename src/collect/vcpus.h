/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a virtual machine's process that are its CPUs. Their names tell (QEMU's with
 * debug-threads=on, as libvirt has it): see through_vcpu(). */
#ifndef CULPRIT_COLLECT_VCPUS_H
#define CULPRIT_COLLECT_VCPUS_H

#include <stdbool.h>
#include <stdint.h>

/* The process that --vcpus names by its number; 0: it is a machine's name. */
int32_t vcpus_pid(const char *text);

/* The first process that was given this name: QEMU by -name (NAME or guest=NAME), Firecracker by
 * --id. A process can claim any. 0: there is none. */
int32_t vcpus_machine(const char *name);

/* Writes the virtual CPUs' threads of a process, at most `max`, and returns their number; -1: there
 * is no such process. */
int vcpus_threads(int32_t pid, int32_t *tid, int max);

#endif
