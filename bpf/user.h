/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User stacks of askers, as the programs note them and the reader finds them by a record's stack
 * id. */
#ifndef CULPRIT_USER_H
#define CULPRIT_USER_H

#include <linux/types.h>

#define USER_FRAMES 24   /* a longer stack is cut */
#define USER_STACKS 8192 /* a power of two */
/* Those of one process, and of all processes of one user, at most: a program that asks by ever
 * other ways leaves the rest to others. */
#define USER_OF_PROCESS (USER_STACKS / 4)
#define USER_OF_USER    (USER_STACKS / 2)
#define USER_LOST       USER_STACKS
/* Stack ids from here on are those of a user_stack, USER_STACKS of them; those below are of a
 * kernel stack alone (STACKS_MAX of live_names.c). */
#define USER_FIRST 8192

struct user_stack {
	__u64 hash; /* made of the rest but uid: two stacks are the same when these are */
	/* Address at which the program's stack began when it was started: tells a program from the
	 * next one of the same process, and of the same number. */
	__u64 start_stack;
	/* Address to which the innermost function returns if it has put leaf_at bytes on the stack;
	 * 0: there is none. What it did, its unwinding table says. */
	__u64 leaf;
	/* Addresses by frame pointers, innermost first, and 0 behind the last: the first is where
	 * the thread entered the kernel, the others are return addresses. */
	__u64 frame[USER_FRAMES];
	__u32 tgid;
	__s32 stack; /* id of the kernel stack */
	__u32 leaf_at;
	__u32 uid; /* the user of the thread by which it was entered */
};

#endif
