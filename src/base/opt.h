/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Option tables: one row for each option, one typed struct for each command. The same table parses
 * the command line and prints the help, so the two cannot differ. Short options may be joined
 * (-qc1) and take their value joined or apart; long ones take =value or the next word; "--" ends
 * options; the answer to an unknown option names the nearest known one. */
#ifndef CULPRIT_OPT_H
#define CULPRIT_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct opt_choices;

struct opt {
	char letter;       /* 0: none */
	const char *name;  /* without the dashes; NULL: none */
	const char *value; /* name of the value in the help, "CPUS"; NULL: a flag that takes none */
	/* One sentence; may hold newlines, printed indented; NULL: left out of the help. */
	const char *help;
	size_t offset; /* place of the field in the options struct */
	/* Stores the value into the field. Returns 0, or nonzero with the reason in why: "'x' is
	 * not a CPU list: ...". NULL for a flag: stores true into a bool field; a flag with its own
	 * set gets text NULL. */
	int (*set)(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
	const void *arg;
	const struct opt_choices *choices; /* the words that it takes; NULL: any */
	const char *preset;                /* default, for the help: "10s" */
	/* Pieces of a text, the last NULL: a flag that prints it on stdout and ends the reading, as
	 * --help does. */
	const char *const *says;
	/* Old spelling of the option with this name: parsed like it, left out of the help. */
	const char *alias;
	/* Names of other options, by comma: it is an error to give this one without one of
	 * `needs`, or with one of `excludes` (not for the first of opt_set_choice's words, its
	 * default); "style=oslat" is that option with this of its choices. why: the reason, for
	 * the message. */
	const char *needs, *excludes, *why;
	/* The value is a file that is written: it is an error to give its name to another option,
	 * or as an operand of a command whose operands are files. appends: to what is there;
	 * others replace it. prefix: the files are VALUE.0, VALUE.1, ... */
	bool writes, appends, prefix;
	/* All rows of this table in place of this row: their struct is the field at offset, and
	 * their context is this row's arg. */
	const struct opt *include;
	const void *context; /* set by opt_rows; a command's own rows have none */
};
/* A table ends with a row of zeros. A row hides those of the same name further down, so a command
 * that includes a table can tell about one of its options in its own words. */

/* A word that an option takes, and what it stands for (NULL: the option's help says it). */
struct opt_choice {
	const char *name, *what;
};

/* The words of an option: an array of struct opt_choice, or of larger structs that begin with one;
 * the last has no name. */
struct opt_choices {
	const void *rows;
	size_t size; /* bytes of one choice */
};
#define OPT_CHOICES(rows) (&(const struct opt_choices){rows, sizeof((rows)[0])})

/* The i-th word that the option takes; NULL: there are not so many, or it takes any. */
const struct opt_choice *opt_choice(const struct opt *row, size_t i);

struct opt_example {
	const char *line; /* for a shell: "sudo culprit run -c 3" */
	const char *what; /* purpose of the line, one sentence */
};

struct opt_command {
	const char *name;     /* "run" */
	const char *operands; /* "FILE..." for the usage line; NULL: none are taken */
	const char *summary;  /* one line for `culprit help` */
	const char *about;    /* paragraphs for `culprit help run`; may be NULL */
	const struct opt *opts;
	const struct opt_example *examples;   /* the last has no line; NULL: none */
	const struct opt_choice *environment; /* the variables that it honours, the last nameless */
};

#define OPT_ROWS 64

/* A command's options, with those of the tables that its table includes; offsets are from the
 * options struct of the command. */
struct opt_rows {
	struct opt row[OPT_ROWS];
	size_t n;
};
void opt_rows(const struct opt_command *command, struct opt_rows *rows);

/* The help text of an option, with what holds where it is not given. Returns buf. */
#define OPT_HELP_MAX 1024
const char *opt_help_text(const struct opt *row, char *buf, size_t len);

/* Parses argv[1..argc-1] into `options`. Operands are left in argv[1..*noperands] in their order,
 * with a NULL after them. Returns 0; 1 after help (-h, --help), or what an option says, was asked
 * for and printed on stdout; -1 after an error, with one line on stderr (what, why, and which help
 * to read). Operands are an error when command->operands is NULL. -h and --help belong to every
 * command: a table does not list them. */
int opt_parse(const struct opt_command *command, int argc, char **argv, void *options,
	      int *noperands);

/* Looks for the file that the option `name` writes among n others that are given to the option
 * `other` (NULL: operands), for a command that parses its words in parts. file: NULL: none. 0, or
 * -1 after an error, with one line on stderr. */
int opt_check_written(const struct opt_command *command, const char *name, const char *file,
		      const char *other, const char *const *texts, size_t n);

/* The whole help page of a command, at most 80 columns. */
void opt_help(const struct opt_command *command, FILE *out);

/* The word of `words` (NULL-terminated) with the least edit distance to `word` (two swapped letters
 * count as one edit), the first of equals; NULL when none is near (more than a third of the longer
 * one differs). */
const char *opt_nearest(const char *word, const char *const *words);

/* Setters for table rows: for a const char * (not copied), a struct cpus (nonempty), a uint64_t of
 * nanoseconds (duration: a bare number is seconds; offset: the same, or 0; time: a unit must be
 * given), a double, and an int (the index of the word among the choices). The field is untouched on
 * error. */
int opt_set_string(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
int opt_set_cpus(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
int opt_set_duration(const char *text, void *field, const struct opt *row, char *why,
		     size_t whylen);
int opt_set_offset(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
int opt_set_time(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
int opt_set_percent(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
int opt_set_choice(const char *text, void *field, const struct opt *row, char *why, size_t whylen);

#endif
