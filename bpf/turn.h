/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads that run on the CPUs that are no targets: their switches, and which system call a
 * timer's interrupt met there. The newest of each CPU, in a ring that nobody empties: it is read
 * where all targets stopped at once (collect/turns.h), and else overwritten. A CPU writes its own
 * alone, with interrupts off, and no NMI does.
 *
 * Order of publication: the entry, then `head` with release semantics. The writer begins an entry
 * after the head that precedes it is published; so who reads entries between two loads of the head
 * has those whole that the second load does not say to be under work or written over. */
#ifndef CULPRIT_TURN_H
#define CULPRIT_TURN_H

#include <linux/types.h>

#define TURNS     4096 /* each CPU has so many; a power of two */
#define TURN_CPUS 256  /* those with a higher number have none: 32 MB in all */

enum turn_kind {
	TURN_BEGINS, /* the thread has the CPU from here on; tid 0: nobody has */
	TURN_CALL,   /* the thread that has it is in this system call, `call` - 1; 0: in none */
};

struct turn {
	__u64 at_ns; /* CLOCK_MONOTONIC */
	__u32 tid;
	__u16 call;
	__u8 kind;
	__u8 kernel_thread;
	char comm[16]; /* any bytes, NUL-terminated only when shorter */
};

struct turns {
	__u64 head; /* entries written since the programs were loaded */
	__u64 unused[3];
	struct turn turn[TURNS];
};

_Static_assert(sizeof(struct turn) == 32, "no padding");

#endif
