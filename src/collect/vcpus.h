/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a virtual machine's process that are its CPUs. Their names tell (QEMU's with
 * debug-threads=on, as libvirt has it): see through_is_vcpu(). */
#ifndef CULPRIT_COLLECT_VCPUS_H
#define CULPRIT_COLLECT_VCPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The process that --vcpus names by its number; 0: it is a machine's name. */
int32_t vcpus_pid(const char *text);
const char *vcpus_name(const char *text); /* the name without "name=" */

/* The searches of one poll together: less than the rings hold at any rate (state.h). */
#define VCPUS_WAIT_NS 50000000

struct vcpus_process;

/* A search again and again while a run goes on, which must not wait for anybody. To read a command
 * line takes the lock of that process's memory, and a process that hangs in the kernel may hold it,
 * or one that wants nobody to read it. So all are asked for the names of their threads, which takes
 * no such lock, and those that have a virtual CPU for their command line, once, and one that is
 * late again (reading.h). Whose number of threads stays the same is not asked again, but one of
 * sixteen processes each time: threads may be renamed. All zeros but `proc` and `wait_ns` at the
 * begin. */
struct vcpus_search {
	const char *proc; /* "/proc" but in a test */
	long wait_ns;     /* one search waits so long for command lines at most */
	int32_t late;     /* one whose command line the last search waited for in vain; 0: none */
	uint32_t claims;  /* processes that had the name at the last search, and a right owner */
	/* A machine was found, and its owner: another that comes is no other user's. */
	bool owned;
	uint32_t owner;
	int32_t stranger; /* another user's, at the last search; 0: none */
	struct vcpus_process *known;
	size_t n;
	uint32_t turn;
};

/* The first process with a virtual CPU that was given this name: QEMU by -name (NAME or
 * guest=NAME), Firecracker by --id. A process can claim any; but once one was found, none of
 * another user counts. 0: there is none. */
int32_t vcpus_machine(struct vcpus_search *s, const char *name);
/* From here on it is this one's user; where it is gone, that is not known and nothing changes. */
void vcpus_owned(struct vcpus_search *s, int32_t pid);
void vcpus_search_end(struct vcpus_search *s);

/* The first process of several threads that was given this name, and has no virtual CPU to be seen:
 * for before a run, as it reads the command lines of all, for which it waits so
 * long. 0: there is none, or its command line is late. */
int32_t vcpus_nameless(const char *proc, const char *name, long wait_ns);

/* True when a command line, words of which each ends with a zero byte, gives a machine this name.
 */
bool vcpus_line_names(const char *line, size_t len, const char *name);

/* True when the process has a virtual CPU of KVM's, whatever its threads are called. */
bool vcpus_of_kvm(int32_t pid);

/* Writes the virtual CPUs' threads of a process, at most `max`, and returns their number; -1: they
 * cannot be read, as when there is no such process (errno). */
int vcpus_threads(int32_t pid, int32_t *tid, int max);

#endif
