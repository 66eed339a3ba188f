/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules that tell another tool's command line in culprit's words (peer.c): for each option a row,
 * which becomes a word of `culprit run` or `culprit sleep`, or is kept until all are read. */
#ifndef CULPRIT_PEER_LINE_H
#define CULPRIT_PEER_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cpus.h"

#define PEER_WORDS    64
#define PEER_WORD_MAX 4096
#define PEER_NUMBER   1000000000 /* the highest */

/* The state of reading a command line. */
struct peer_line {
	const struct peer *peer;
	char *word[PEER_WORDS + 1];
	int n;
	char text[4 * PEER_WORD_MAX]; /* words that were made here */
	size_t len;
	struct cpus cpus;
	bool cpus_given, all_threads, ends, wakes_deep, histogram;
	long threads, policy, priority;
	/* options of pingpong */
	const char *method;
	long looks;
	bool pinned[2];
	unsigned pin[2];
};

struct peer_row {
	char letter;
	const char *name;  /* without the dashes */
	const char *value; /* "SEC"; NULL: takes none */
	bool maybe;        /* the value may be left out: a word that begins with a digit is one */
	/* The word that it becomes, with %s for the value; NULL: none. */
	const char *word;
	/* Takes the value in another way, or checks it. 0, or -1 with the reason in why. */
	int (*take)(struct peer_line *line, const char *value, const struct peer_row *row,
		    char *why, size_t whylen);
	const char *refused; /* reason why it is not taken */
	const char *help;
	bool two; /* the value is two words */
};

struct peer {
	const char *name;
	const char *operand; /* operand that the tool needs; NULL: it takes none */
	const char *const *words;
	const struct peer_row *rows;
	/* Adds what follows from all options together. 0 or -1 with the reason said. */
	int (*end)(struct peer_line *line, const char *operand);
	int (*run)(int argc, char **argv);
	const char *note; /* for its help */
};

extern const struct peer_row osjitter_rows[], hiccups_rows[], sysjitter_rows[], oslat_rows[],
	cyclictest_rows[], pingpong_rows[];
extern const char *const osjitter_words[],
	*const hiccups_words[], *const sysjitter_words[], *const oslat_words[],
								  *const cyclictest_words[],
									  *const pingpong_words[];
int osjitter_end(struct peer_line *line, const char *operand);
int hiccups_end(struct peer_line *line, const char *operand);
int sysjitter_end(struct peer_line *line, const char *operand);
int oslat_end(struct peer_line *line, const char *operand);
int cyclictest_end(struct peer_line *line, const char *operand);
int pingpong_end(struct peer_line *line, const char *operand);

/* Adds a word: as it is; or with a value for its %s; or with the CPUs that were given, if any. A
 * word that does not fit is left out: peer_run() sees that. */
void peer_add(struct peer_line *line, const char *word);
__attribute__((format(printf, 2, 0))) void peer_add_value(struct peer_line *line,
							  const char *format, const char *value);
void peer_add_cpus(struct peer_line *line);

/* For the rows' `take`: a whole number, of which 0 means that it was not given; the same, which
 * ends the run; a time of rt-tests ("90", "20m", "2H"); CPUs, to those before; a policy by its
 * number in linux/sched.h; a priority. */
#define PEER_TAKE(name)                                                                            \
	int name(struct peer_line *line, const char *value, const struct peer_row *row, char *why, \
		 size_t whylen)
PEER_TAKE(peer_number);
PEER_TAKE(peer_limit);
PEER_TAKE(peer_time);
PEER_TAKE(peer_cpus);
PEER_TAKE(peer_policy);
PEER_TAKE(peer_priority);

/* A whole number from 0 to `most` to *to. 0, or -1 with the reason in why. */
int peer_long(long *to, const char *value, long most, char *why, size_t whylen);

#endif
