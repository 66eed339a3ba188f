/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by user_files.c, which knows the files, and user_walk.c, which has them read. */
#ifndef CULPRIT_USER_TABLE_H
#define CULPRIT_USER_TABLE_H

#include <sys/types.h>
#include <time.h>

#include "collect/user_files.h"

#define SLOW_MOST 16 /* devices; then no more files are opened */
/* Those that programs of one user have brought; then none of theirs are. Others have few ways to
 * make one, but root has network file systems. */
#define SLOW_OF_USER  4
#define FILES_OF_USER (PARSE_FILES / 4 * 3) /* those that programs of one user have brought */
#define RECENT        1024 /* mappings whose file's number is kept; a power of two */

struct known_file {
	struct user_file known;
	dev_t dev;
	ino_t ino;
	struct timespec changed;
	int fd;       /* -1: it is bad */
	uint32_t uid; /* the user of the process that brought it */
	bool sent, bad, debug_bad, lines_bad;
	/* A map: whose, and how much of it was sent. */
	uint32_t tgid;
	uint64_t start_stack;
	off_t size;
	bool anew;            /* another file is there than before */
	bool full, full_said; /* no room was left for it beside the others */
	bool free;            /* the number is nobody's */
};

/* A mapping of a program. */
struct recent {
	uint64_t start_stack, begin, end, inside;
	uint32_t tgid, number; /* tgid 0: none */
};

struct user_files {
	const char *debug;
	void (*lost)(void *ctx, const char *why);
	void *ctx;
	struct parser parser;
	unsigned starts;
	struct known_file file[PARSE_FILES];
	uint32_t files;
	bool full, full_said, share_said, busy_said, ended_said;
	struct recent recent[RECENT];
	struct {
		char device[20];
		uint32_t uid; /* as above */
	} slow[SLOW_MOST];
	unsigned slows;
};

/* Tells what has no functions, if `said` is not set yet; sets it. */
void user_say_once(const struct user_files *f, bool *said, const char *what);

#endif
