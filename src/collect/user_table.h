/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by user_files.c, which knows the files, and user_walk.c, which has them read. */
#ifndef CULPRIT_USER_TABLE_H
#define CULPRIT_USER_TABLE_H

#include <sys/types.h>
#include <time.h>

#include "collect/user_files.h"

#define SLOW_MOST 16 /* places; then no more files are opened */
#define SLOW_MAPS 8  /* those of maps; then no more maps are opened */
/* Those that programs of one user have brought; then none of theirs are. Others have few ways to
 * make one, but root has network file systems. */
#define SLOW_OF_USER  4
#define FILES_OF_USER (PARSE_FILES / 4 * 3) /* those that programs of one user have brought */
#define RECENT        1024 /* mappings whose file's number is kept; a power of two */

/* Place of files, and whose programs bring them. A user has ways to stall an honest device for its
 * maps: they are told apart from others' maps, and from mapped files. */
struct place {
	dev_t device; /* 0: not known */
	uint32_t uid; /* the user of the process */
	bool map;
};

struct known_file {
	struct user_file known;
	dev_t dev;
	ino_t ino;
	struct timespec changed;
	int fd; /* -1: it is bad */
	struct place place;
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
	bool full, full_said, share_said, busy_said, ended_said, debug_slow;
	struct recent recent[RECENT];
	struct place slow[SLOW_MOST];
	unsigned slows;
};

/* False for a place of which nothing more is to be opened, read or closed. */
bool user_may_ask(const struct user_files *f, const struct place *p);

/* Has nothing more of this place asked for, and tells why by the name of the first such file. */
void user_tell_slow(struct user_files *f, const struct place *p, const char *name, const char *why);

/* Closes its file, or lets it be open for ever. */
void user_close_known(struct user_files *f, struct known_file *n);

/* Tells what has no functions, if `said` is not set yet; sets it. */
void user_say_once(const struct user_files *f, bool *said, const char *what);

#endif
