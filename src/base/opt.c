/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a command line by a table of options. Words are read in
 * order, options and operands mixed; operands move to the front of argv, which never overtakes the
 * word being read. Each error ends the reading with one line that names the option as it was typed
 * and says where the help is. */
#include "base/opt.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/escape.h"
#include "base/opt_company.h"
#include "base/say.h"
#include "base/units.h"

#define SHOWN 64 /* bytes of an option shown in a message */

struct reading {
	const struct opt_command *command;
	struct opt_rows rows;
	const char *given[OPT_ROWS]; /* see opt_check_company */
	struct opt_texts texts;
	int argc, at; /* at: the word being read */
	char **argv;
	void *options;
};

/* ---- rows ---- */

static bool row_ends(const struct opt *row)
{
	return !row->letter && !row->name && !row->include;
}

const struct opt *opt_row_of_name(const struct opt_rows *rows, const char *name, size_t len)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->row[i].name && strlen(rows->row[i].name) == len &&
		    !memcmp(rows->row[i].name, name, len))
			return &rows->row[i];
	return NULL;
}

static const struct opt *row_of_letter(const struct opt_rows *rows, char letter)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->row[i].letter == letter)
			return &rows->row[i];
	return NULL;
}

static void add_rows(const struct opt *row, size_t offset, const void *context,
		     struct opt_rows *rows)
{
	for (; row && !row_ends(row); row++) {
		if (row->include) {
			add_rows(row->include, offset + row->offset, row->arg, rows);
			continue;
		}
		if (row->name && opt_row_of_name(rows, row->name, strlen(row->name)))
			continue;
		assert(rows->n < OPT_ROWS);
		rows->row[rows->n] = *row;
		rows->row[rows->n].context = context;
		rows->row[rows->n++].offset += offset;
	}
}

void opt_rows(const struct opt_command *command, struct opt_rows *rows)
{
	rows->n = 0;
	add_rows(command->opts, 0, NULL, rows);
}

const struct opt_choice *opt_choice(const struct opt *row, size_t i)
{
	const struct opt_choice *choice = NULL;

	for (size_t k = 0; row->choices && k <= i; k++) {
		choice = (const void *)((const char *)row->choices->rows + k * row->choices->size);
		if (!choice->name)
			return NULL;
	}
	return choice;
}

/* ---- a command line ---- */

/* The row itself, or of an old spelling the one of the new. */
static const struct opt *row_meant(const struct reading *r, const struct opt *row)
{
	return row->alias ? opt_row_of_name(&r->rows, row->alias, strlen(row->alias)) : row;
}

static int help_wanted(const struct reading *r)
{
	opt_help(r->command, stdout);
	return 1;
}

static int say_text(const struct opt *row, const char *shown)
{
	for (const char *const *piece = row->says; *piece; piece++)
		fputs(*piece, stdout);
	if (fflush(stdout) || ferror(stdout))
		return complain("%s: writing to standard output: %s", shown, strerror(errno));
	return 1;
}

static int store(struct reading *r, const struct opt *row, const char *shown, const char *text)
{
	void *field;
	char why[512] = "not taken";

	r->given[row - r->rows.row] = text ? text : "";
	if (text) /* a word holds one at most */
		r->texts.text[r->texts.n++] = (struct opt_text){row, text};
	field = (char *)r->options + row->offset;
	if (row->says)
		return say_text(row, shown);
	if (!row->set) {
		assert(!row->value);
		*(bool *)field = true;
		return 0;
	}
	if (!row->set(text, field, row, why, sizeof(why)))
		return 0;
	return complain("%s: %s (culprit help %s)", shown, why, r->command->name);
}

/* Stores the word after the option as its value. */
static int store_next(struct reading *r, const struct opt *row, const char *shown)
{
	if (r->at + 1 >= r->argc)
		return complain("%s: needs a value: %s %s (culprit help %s)", shown, shown,
				row->value, r->command->name);
	return store(r, row, shown, r->argv[++r->at]);
}

static int unknown_name(const struct reading *r, const char *name, int len)
{
	const char *words[OPT_ROWS + 2], *near;
	char typed[SHOWN];
	size_t n = 0;

	snprintf(typed, sizeof(typed), "%.*s", len, name);
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->rows.row[i].name && r->rows.row[i].help)
			words[n++] = r->rows.row[i].name;
	words[n++] = "help";
	words[n] = NULL;
	near = opt_nearest(typed, words);
	return complain("--%s: unknown option%s%s%s (culprit help %s)", typed,
			near ? ": did you mean --" : "", near ? near : "", near ? "?" : "",
			r->command->name);
}

static int take_long(struct reading *r, const char *word)
{
	const char *name = word + 2;
	size_t len = strcspn(name, "=");
	const struct opt *row = opt_row_of_name(&r->rows, name, len);
	bool help = len == 4 && !memcmp(name, "help", 4);
	char shown[SHOWN];

	if (!row && !help)
		return unknown_name(r, name, len < SHOWN ? (int)len : SHOWN);
	snprintf(shown, sizeof(shown), "--%s", help ? "help" : row->name);
	row = help ? NULL : row_meant(r, row);
	if (name[len] && (help || !row->value))
		return complain("%s: takes no value, but '%.60s' was given: write %s alone "
				"(culprit help %s)",
				shown, name + len + 1, shown, r->command->name);
	if (help)
		return help_wanted(r);
	if (name[len])
		return store(r, row, shown, name + len + 1);
	return row->value ? store_next(r, row, shown) : store(r, row, shown, NULL);
}

static int unknown_letter(const struct reading *r, const char *letter, const char *word)
{
	const char *name = r->command->name;

	/* One dash too few shows up as an unknown letter somewhere in the word. */
	if (opt_row_of_name(&r->rows, word + 1, strcspn(word + 1, "=")))
		return complain("%s: unknown option: did you mean -%s? (culprit help %s)", word,
				word, name);
	return complain("-%.*s: unknown option (culprit help %s)", (int)text_fit(letter, 1), letter,
			name);
}

static int take_short(struct reading *r, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct opt *row = row_of_letter(&r->rows, *letter);
		char shown[] = {'-', *letter, '\0'};
		int err;

		if (*letter == 'h')
			return help_wanted(r);
		if (!row)
			return unknown_letter(r, letter, word);
		row = row_meant(r, row);
		if (row->value)
			return letter[1] ? store(r, row, shown, letter + 1)
					 : store_next(r, row, shown);
		err = store(r, row, shown, NULL);
		if (err)
			return err;
	}
	return 0;
}

/* Reads all words. Returns as opt_parse does. */
static int read_words(struct reading *r, int *noperands)
{
	const struct opt_command *command = r->command;
	bool ended = false;
	int count = 0, err;

	for (; r->at < r->argc; r->at++) {
		char *word = r->argv[r->at];

		if (!ended && !strcmp(word, "--")) {
			ended = true;
		} else if (!ended && word[0] == '-' && word[1]) {
			err = word[1] == '-' ? take_long(r, word) : take_short(r, word);
			if (err)
				return err;
		} else if (command->operands) {
			r->argv[++count] = word;
		} else {
			return complain("'%.60s': %s takes only options, which begin with - "
					"(culprit help %s)",
					word, command->name, command->name);
		}
	}
	if (count + 1 < r->argc)
		r->argv[count + 1] = NULL;
	*noperands = count;
	return opt_check_company(command, &r->rows, r->given, &r->texts, r->argv + 1, r->options);
}

int opt_parse(const struct opt_command *command, int argc, char **argv, void *options,
	      int *noperands)
{
	struct reading r = {
		.command = command, .argc = argc, .at = 1, .argv = argv, .options = options};
	int code;

	r.texts.text = calloc((size_t)argc + 1, sizeof(*r.texts.text));
	if (!r.texts.text)
		return complain("out of memory");
	opt_rows(command, &r.rows);
	code = read_words(&r, noperands);
	free(r.texts.text);
	return code;
}

/* Number of edits that turn a into b: letters changed, dropped or added, and neighbours swapped,
 * each once (optimal string alignment). Keeps only three rows of the usual table. */
static size_t edit_distance(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t rows[3][SHOWN], *before = rows[0], *above = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= blen; j++)
		row[j] = j;
	for (size_t i = 1; i <= alen; i++) {
		spare = before;
		before = above;
		above = row;
		row = spare;
		row[0] = i;
		for (size_t j = 1; j <= blen; j++) {
			size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return row[blen];
}

const char *opt_nearest(const char *word, const char *const *words)
{
	size_t len = strlen(word), least = SIZE_MAX;
	const char *nearest = NULL;

	if (len >= SHOWN)
		return NULL;
	for (; *words; words++) {
		size_t wlen = strlen(*words), longer = len > wlen ? len : wlen;
		size_t distance = longer - (len > wlen ? wlen : len); /* no less than that */

		if (wlen >= SHOWN || distance >= least || 3 * distance > longer)
			continue;
		distance = edit_distance(word, len, *words, wlen);
		if (distance < least && 3 * distance <= longer) {
			least = distance;
			nearest = *words;
		}
	}
	return nearest;
}

int opt_set_string(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	(void)row, (void)why, (void)whylen;
	*(const char **)field = text;
	return 0;
}

int opt_set_cpus(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	struct cpus set;
	char reason[160];

	(void)row;
	cpus_clear(&set); /* stays empty when the text is refused */
	if (cpus_parse(text, &set, reason, sizeof(reason)))
		snprintf(why, whylen, "'%.60s' is not a CPU list: %s", text, reason);
	else if (cpus_empty(&set))
		snprintf(why, whylen, "'%.60s' names no CPU: write a list like 0-3,8", text);
	else
		*(struct cpus *)field = set;
	return cpus_empty(&set) ? -1 : 0;
}

int opt_set_duration(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	(void)row;
	return parse_duration(text, NSEC_PER_SEC, field, why, whylen);
}

int opt_set_offset(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	int err = opt_set_duration(text, field, row, why, whylen);
	char first = text[strspn(text, "0.")];

	if (err != -ERANGE || (first >= '1' && first <= '9'))
		return err;
	*(uint64_t *)field = 0;
	return 0;
}

int opt_set_time(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	(void)row;
	return parse_duration(text, 0, field, why, whylen);
}

int opt_set_percent(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	(void)row;
	return parse_percent(text, field, why, whylen);
}

int opt_set_choice(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	const struct opt_choice *choice;
	size_t at;

	for (size_t i = 0; (choice = opt_choice(row, i)); i++)
		if (!strcmp(choice->name, text)) {
			*(int *)field = (int)i;
			return 0;
		}
	at = (size_t)snprintf(why, whylen, "'%.40s' is not known: use ", text);
	for (size_t i = 0; (choice = opt_choice(row, i)) && at < whylen; i++) {
		const char *joint = !i ? "" : opt_choice(row, i + 1) ? ", " : " or ";

		at += (size_t)snprintf(why + at, whylen - at, "%s%s", joint, choice->name);
	}
	return -1;
}
