/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of watched threads that are not known by number. The probes, which look at each
 * process that begins or is renamed, share it with the code that tells them what to look for. */
#ifndef CULPRIT_CHOICE_H
#define CULPRIT_CHOICE_H

#include <linux/types.h>

#define CHOICE_GLOBS   4
#define CHOICE_GROUPS  8  /* cgroups, units among them */
#define CHOICE_DEPTH   64 /* as many, from a thread's own upwards, are compared with these */
#define CHOICE_DEEP    (-1)
#define CHOICE_VCPUS   4     /* virtual machines */
#define CHOICE_THREADS 4096  /* their CPUs */
#define CHOICE_LIVE    16384 /* processes of chosen names at a time */
#define GLOB_TOKENS    31    /* bytes of a glob, without its asterisks */

/* A glob as an automaton: after each byte, bit i of its state says that the first i tokens match
 * what has come. */
struct name_glob {
	__u32 accept[256]; /* by byte: which tokens it is */
	__u32 loop;        /* states with an asterisk: they stay */
	__u32 end;         /* the state in which all of it has come; 0: no glob */
};

/* Takes a name of `size` bytes, NUL-terminated where shorter. */
static inline __attribute__((always_inline)) int glob_takes(const volatile struct name_glob *g,
							    const char *name, int size)
{
	__u64 at = 1;

	for (int i = 0; i < size; i++) {
		__u8 byte = name[i];

		if (!byte)
			break;
		at = (at & g->accept[byte]) << 1 | (at & g->loop);
	}
	return (at & g->end) != 0;
}

/* Tells the probes which cgroups to look for; 0: none. `epoch` is raised after all of them have
 * changed: so a thread that is looked at under the new one is looked for among the new ones. */
static inline void groups_publish(volatile __u64 to[CHOICE_GROUPS], volatile __u32 *epoch,
				  const void *id)
{
	__builtin_memcpy((void *)to, id, CHOICE_GROUPS * sizeof(*to));
	__atomic_store_n(epoch, *epoch + 1, __ATOMIC_RELEASE);
}

#endif
