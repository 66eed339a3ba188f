/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that reads other people's programs, to find the functions of user stacks in them. It
 * has no rights and makes few system calls: files come to it open. Who asks waits for the answer.
 */
#ifndef CULPRIT_USER_PARSE_H
#define CULPRIT_USER_PARSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/calls.h"
#include "user.h"

#define PARSE_FILES 256 /* numbers of files are below */

enum parse_what {
	PARSE_FILE,  /* a program, with its open file */
	PARSE_DEBUG, /* likewise, the debug information of one */
	PARSE_MAP,   /* likewise, functions that are made (user_made.h); it may have grown */
	PARSE_WALK,  /* find the callers, and their names */
};

#define PARSE_LEAF USER_FRAMES /* the number of the leaf, behind the frames */

/* An address as a place in a file. */
struct parse_place {
	uint32_t file;   /* PARSE_FILES: in none that is known */
	uint64_t offset; /* in a map: the address */
};

struct parse_ask {
	enum parse_what what;
	uint32_t file; /* number of the file, for all but PARSE_WALK */
	uint32_t n;    /* frames of a struct user_stack; PARSE_MAP: 1: another file; PARSE_FILE: 1:
			  its lines are not to be looked for */
	struct parse_place place[PARSE_LEAF + 1]; /* those that are not there are in no file */
	uint32_t leaf_at;                         /* as in struct user_stack */
};

/* A frame that is certain: its table says how it was called. */
struct parse_frame {
	bool gap;              /* callers that are not known; the last */
	uint32_t number;       /* in parse_ask */
	char name[CALLS_NAME]; /* "": not known; so is the line */
	char line[CALLS_LINE];
};

struct parse_answer {
	bool ok, whole; /* file can be read, to its end; PARSE_FILE: has all symbols */
	bool full;      /* PARSE_MAP: those of others leave no room */
	char build[CALLS_BUILD];
	uint32_t n;
	struct parse_frame frame[CALLS_MOST];
};

struct parser {
	pid_t pid; /* 0: none */
	int apart; /* a file that the process does not have; -1: none */
	int socket;
	bool left;                  /* the one before has not ended, though it was killed */
	bool stuck;                 /* likewise, and it had waited for a file */
	volatile uint32_t *reading; /* shared with the process: see parser_reading() */
};

#define PARSE_FILE_MS 2000 /* two million symbols in disorder took 500 ms */

/* The life of the process, for parser_start(): says that it is confined by a byte, and takes asks
 * until the socket is closed, or `parent` ends. */
void parser_process(int socket, volatile uint32_t *reading, pid_t parent) __attribute__((noreturn));

/* Starts it, and waits until it is confined: see base/confine.h. 0 or -errno. */
int parser_start(struct parser *p);
void parser_stop(struct parser *p);

/* Kills a child, and waits for its end a second at most. False: it hangs in a file system of
 * somebody else, and is left to init. */
bool parser_reap(pid_t pid);

/* fd: the file, which stays open here; -1: none. 0; without an answer the process was ended:
 * -ETIME: it read in one file for PARSE_FILE_MS, not counting when it waited for a CPU; -EBUSY: it
 * had no answer in ten seconds, for which no file is to blame; -EPIPE: for another reason. */
int parser_ask(struct parser *p, const struct parse_ask *ask, int fd, struct parse_answer *answer);

/* The number of the file that it was reading last for parser_ask(), PARSE_FILES more for the debug
 * information of one, twice as many more for its lines, or another number: none. It says so itself,
 * and may say anything. */
uint32_t parser_reading(const struct parser *p);

#endif
