/* Option tables: one row for each option, one typed struct for each command. The same table parses
 * the command line and prints the help, so the two cannot differ. Short options may be joined
 * (-qc1) and take their value joined or apart; long ones take =value or the next word; "--" ends
 * options; the answer to an unknown option names the nearest known one. */
#ifndef CULPRIT_OPT_H
#define CULPRIT_OPT_H

#include <stddef.h>
#include <stdio.h>

struct opt {
	char letter;       /* 0: none */
	const char *name;  /* without the dashes; NULL: none */
	const char *value; /* what the help calls the value, "CPUS"; NULL: a flag that takes none */
	/* One sentence; may hold newlines, printed indented; NULL: left out of the help. */
	const char *help;
	size_t offset; /* of the field in the options struct */
	/* Stores the value into the field. Returns 0, or nonzero with the reason in why: "'x' is
	 * not a CPU list: ...". NULL for a flag: stores true into a bool field; a flag with its own
	 * set gets text NULL. */
	int (*set)(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
	const void *arg;
};
/* A table ends with a row of zeros. */

struct opt_command {
	const char *name;     /* "run" */
	const char *operands; /* "FILE..." for the usage line; NULL: none are taken */
	const char *summary;  /* one line for `culprit help` */
	const char *about;    /* paragraphs for `culprit help run`; may be NULL */
	const struct opt *opts;
};

/* Parses argv[1..argc-1] into `options`. Operands are left in argv[1..*noperands] in their order,
 * with a NULL after them. Returns 0; 1 after help was asked for (-h, --help) and printed on stdout;
 * -1 after an error, with one line on stderr (what, why, and which help to read). Operands are an
 * error when command->operands is NULL. -h and --help belong to every command: a table does not
 * list them. */
int opt_parse(const struct opt_command *command, int argc, char **argv, void *options,
	      int *noperands);

/* The whole help page of a command, at most 80 columns. */
void opt_help(const struct opt_command *command, FILE *out);

/* The word of `words` (NULL-terminated) with the least edit distance to `word` (two swapped letters
 * count as one edit), the first of equals; NULL when none is near (more than a third of the longer
 * one differs). */
const char *opt_nearest(const char *word, const char *const *words);

/* Setters for table rows: for a const char * (not copied), a struct cpus (nonempty), a uint64_t of
 * nanoseconds (duration: a bare number is seconds; time: a unit must be given), a double, and an
 * int (the index into arg, a NULL-terminated const char *const []). The field is untouched on
 * error. */
int opt_set_string(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
int opt_set_cpus(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
int opt_set_duration(const char *text, void *field, const struct opt *row, char *why,
		     size_t whylen);
int opt_set_time(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
int opt_set_percent(const char *text, void *field, const struct opt *row, char *why, size_t whylen);
int opt_set_choice(const char *text, void *field, const struct opt *row, char *why, size_t whylen);

#endif
