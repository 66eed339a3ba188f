/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rights that a process gives away, for good, when it has all that they were needed for: what it
 * could still do if somebody led it astray. Nothing depends on it: where the kernel or a container
 * refuses, the process goes on with what it has.
 *
 * After capabilities(7), landlock(7) and Documentation/userspace-api/seccomp_filter.rst.
 */
#ifndef CULPRIT_CONFINE_H
#define CULPRIT_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of a mask of capabilities, by their numbers in linux/capability.h. */
#define RIGHT_CHOWN           (1ULL << 0)
#define RIGHT_DAC_OVERRIDE    (1ULL << 1)
#define RIGHT_DAC_READ_SEARCH (1ULL << 2)
#define RIGHT_FOWNER          (1ULL << 3)
#define RIGHT_KILL            (1ULL << 5)
#define RIGHT_NET_ADMIN       (1ULL << 12)
#define RIGHT_SYS_PTRACE      (1ULL << 19)
#define RIGHT_SYS_ADMIN       (1ULL << 21)
#define RIGHT_SYS_NICE        (1ULL << 23)
#define RIGHT_BPF             (1ULL << 39)
#define RIGHT_CHECKPOINT      (1ULL << 40) /* CAP_CHECKPOINT_RESTORE */
#define RIGHTS_TO_READ        (RIGHT_DAC_OVERRIDE | RIGHT_DAC_READ_SEARCH)
#define RIGHTS_OF_FILES       (RIGHT_DAC_OVERRIDE | RIGHT_FOWNER) /* made in others' directories */
/* To set what fixes set. */
#define RIGHTS_OF_KNOBS (RIGHT_DAC_OVERRIDE | RIGHT_NET_ADMIN | RIGHT_SYS_ADMIN | RIGHT_SYS_NICE)
#define RIGHTS_ALL      (~0ULL)

/* Keeps only these capabilities of this thread, and bounds the programs that it starts to them.
 * Before it may lose CAP_IPC_LOCK, raise RLIMIT_MEMLOCK: memory that it has locked counts from then
 * on. 0, or -errno of the first step that was refused; the other steps hold. */
int confine_rights(uint64_t keep);

/* Takes away, but not for good, the rights that pass over those of files, where the program file
 * has them and its user has not (setcap; not a service): what that user names is to be opened with
 * the user's own rights. */
void confine_files(void);

/* Gives this thread back which of these it took, for what culprit itself names; returns them, for
 * confine_lower(). */
uint64_t confine_raise(uint64_t rights);
void confine_lower(uint64_t rights);

/* Returns what `works` says while this thread lacks these capabilities; it gets them back. */
bool confine_try(uint64_t rights, bool (*works)(void));

/* From here on this thread and those that it starts open no file to write to it, and make, rename
 * and remove none, whoever owns it; files below the folder `removes` (NULL: none) they may remove.
 * What is open stays so. In turn they see of other processes only what /proc shows to anybody.
 * After confine_rights(). For kernels with Landlock, from 5.13 on. 0, or -errno: some of it is
 * still possible. */
int confine_writes(const char *removes);

/* From here on this thread and those that it starts change no file's mode, owner, times, size or
 * attributes, whoever owns it: Landlock does not know of these. ioctl(2) may do what chattr does.
 * 0, or -errno: there is no filter. */
int confine_changes(void);

/* Filters of system calls. The kernel compiles each when it begins, for which arm64 interrupts all
 * CPUs (arch/arm64/include/asm/cacheflush.h): not in a window.
 *
 * From here on this thread makes only these system calls: their numbers, with -1 at the end, at
 * most CONFINE_CALLS. Any other is not made, but ends the process with status 1, after it has told
 * the number to `tell`: it runs in a signal handler, and may only make calls from the list. Not an
 * error code, which the C library might take for something else and go on; and not a kill by the
 * kernel, of which nobody learns which call it was. In a build with a sanitizer, whose own calls
 * nobody knows, it does nothing. 0 or -errno: there is no filter. One in the list with
 * CONFINE_FAILS is not made either, and fails with EPERM: for what a library tries and can do
 * without. */
#define CONFINE_CALLS 64
#define CONFINE_FAILS (1 << 30)
int confine_calls(const int *calls, void (*tell)(int number));

/* The other way round: from here on this process makes all system calls but these. Where clone(2)
 * is among them it may still begin threads, but no processes; clone3(2), whose flags no filter
 * sees, says that it is not there, and the C library goes back to clone(2). Threads that run
 * already are not held: call it before they begin. Otherwise as confine_calls(), but that a call
 * made with SIGSYS blocked, as glibc 2.41's fork() makes it, ends the process by SIGSYS, untold. */
int confine_without(const int *calls, void (*tell)(int number));

/* From here on these calls fail with EACCES, for a library whose attempts are no sign of anything.
 * Threads and filters that stand already: as confine_without(). */
int confine_refuse(const int *calls);

#endif
