/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that finds what user stacks are: it looks up the addresses in the mappings of their
 * process as soon as it hears of them, then opens the files, and lets another process read these
 * (user_parse.h). It runs beside culprit's process, on the same CPUs, because all of it may take
 * long: culprit has rings to read. */
#ifndef CULPRIT_USER_READER_H
#define CULPRIT_USER_READER_H

#include <sys/types.h>

#include "model/calls.h"
#include "user.h"

struct user_ask {
	uint32_t number; /* as culprit counts them, from 1 on */
	struct user_stack stack;
};

struct user_answer {
	uint32_t number; /* 0: to no ask. The text says which file has no functions, and why */
	char calls[CALLS_TEXT]; /* "": the process is gone, or cannot be looked at */
};

/* The life of this process: says that it is ready by an int, 0, or by -errno that it cannot be;
 * takes asks from the socket and answers until it is closed, or the process `culprit` has ended;
 * does not return. debug: where files with debug information are, by build id; NULL: in the usual
 * place alone. */
void user_reader(int socket, const char *debug, pid_t culprit) __attribute__((noreturn));

#endif
