/* Reads a command line by a table of options, and prints the same table as help. Words are read in
 * order, options and operands mixed; operands move to the front of argv, which never overtakes the
 * word being read. Each error ends the reading with one line that names the option as it was typed
 * and says where the help is. */
#include "base/opt.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cpus.h"
#include "base/escape.h"
#include "base/say.h"
#include "base/units.h"

#define HELP_COLUMNS 80
#define HELP_LEFT    28 /* longer options have their help on the next line */
#define SHOWN        64 /* bytes of an option shown in a message */
#define WORDS        64 /* most options searched for a suggestion */

struct reading {
	const struct opt_command *command;
	int argc, at; /* at: the word being read */
	char **argv;
	void *options;
};

static bool row_ends(const struct opt *row)
{
	return !row->letter && !row->name;
}

static const struct opt *row_of_letter(const struct opt_command *command, char letter)
{
	for (const struct opt *row = command->opts; row && !row_ends(row); row++)
		if (row->letter == letter)
			return row;
	return NULL;
}

static const struct opt *row_of_name(const struct opt_command *command, const char *name,
				     size_t len)
{
	for (const struct opt *row = command->opts; row && !row_ends(row); row++)
		if (row->name && strlen(row->name) == len && !memcmp(row->name, name, len))
			return row;
	return NULL;
}

static int help_wanted(const struct reading *r)
{
	opt_help(r->command, stdout);
	return 1;
}

static int store(const struct reading *r, const struct opt *row, const char *shown,
		 const char *text)
{
	void *field = (char *)r->options + row->offset;
	char why[512] = "not taken";

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
	const char *words[WORDS + 2], *near;
	char typed[SHOWN];
	size_t n = 0;

	snprintf(typed, sizeof(typed), "%.*s", len, name);
	for (const struct opt *row = r->command->opts; row && !row_ends(row) && n < WORDS; row++)
		if (row->name)
			words[n++] = row->name;
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
	const struct opt *row = row_of_name(r->command, name, len);
	bool help = len == 4 && !memcmp(name, "help", 4);
	char shown[SHOWN];

	if (!row && !help)
		return unknown_name(r, name, len < SHOWN ? (int)len : SHOWN);
	snprintf(shown, sizeof(shown), "--%s", help ? "help" : row->name);
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
	if (row_of_name(r->command, word + 1, strcspn(word + 1, "=")))
		return complain("%s: unknown option: did you mean -%s? (culprit help %s)", word,
				word, name);
	return complain("-%.*s: unknown option (culprit help %s)", (int)text_fit(letter, 1), letter,
			name);
}

static int take_short(struct reading *r, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct opt *row = row_of_letter(r->command, *letter);
		char shown[] = {'-', *letter, '\0'};
		int err;

		if (*letter == 'h')
			return help_wanted(r);
		if (!row)
			return unknown_letter(r, letter, word);
		if (row->value)
			return letter[1] ? store(r, row, shown, letter + 1)
					 : store_next(r, row, shown);
		err = store(r, row, shown, NULL);
		if (err)
			return err;
	}
	return 0;
}

int opt_parse(const struct opt_command *command, int argc, char **argv, void *options,
	      int *noperands)
{
	struct reading r = {
		.command = command, .argc = argc, .at = 1, .argv = argv, .options = options};
	bool ended = false;
	int count = 0, err;

	for (; r.at < argc; r.at++) {
		char *word = argv[r.at];

		if (!ended && !strcmp(word, "--")) {
			ended = true;
		} else if (!ended && word[0] == '-' && word[1]) {
			err = word[1] == '-' ? take_long(&r, word) : take_short(&r, word);
			if (err)
				return err;
		} else if (command->operands) {
			argv[++count] = word;
		} else {
			return complain("'%.60s': %s takes only options, which begin with - "
					"(culprit help %s)",
					word, command->name, command->name);
		}
	}
	if (count + 1 < argc)
		argv[count + 1] = NULL;
	*noperands = count;
	return 0;
}

/* Number of bytes of text[len] for a line of `room` columns: all, else whole words, else a part of
 * a long word. */
static size_t line_fit(const char *text, size_t len, size_t room)
{
	size_t fit = text_fit(text, room), n = fit;

	if (fit >= len)
		return len;
	while (n && text[n] != ' ')
		n--;
	while (n && text[n - 1] == ' ')
		n--;
	return n ? n : fit;
}

/* Prints text[len] from column `at`, its further lines indented like the first. A line that fits
 * keeps its inner blanks: examples stay in shape. */
static void print_line(FILE *out, const char *text, size_t len, size_t indent, size_t at)
{
	size_t blanks = strspn(text, " ");

	text += blanks;
	len -= blanks;
	indent += blanks < HELP_COLUMNS / 4 ? blanks : HELP_COLUMNS / 4;
	if (!len)
		putc('\n', out);
	while (len) {
		size_t n = line_fit(text, len, HELP_COLUMNS - indent);

		fprintf(out, "%*s%.*s\n", (int)(indent - at), "", (int)n, text);
		while (n < len && text[n] == ' ')
			n++;
		text += n;
		len -= n;
		at = 0;
	}
}

/* Prints text of any number of lines, indented, the first from column `at`. */
static void print_text(FILE *out, const char *text, size_t indent, size_t at)
{
	for (;; at = 0) {
		size_t len = strcspn(text, "\n");

		print_line(out, text, len, indent, at);
		if (!text[len] || !text[len + 1])
			return;
		text += len + 1;
	}
}

/* Writes "  -c, --cpus=CPUS"; returns its columns. */
static size_t left_text(const struct opt *row, char *buf, size_t len)
{
	char letter[] = {row->letter ? '-' : ' ', row->letter ? row->letter : ' ', '\0'};
	const char *dashes = row->letter ? ", --" : "  --", *equals = row->name ? "=" : " ";

	snprintf(buf, len, "  %s%s%s%s%s", letter, row->name ? dashes : "",
		 row->name ? row->name : "", row->value ? equals : "",
		 row->value ? row->value : "");
	return text_columns(buf);
}

static void print_row(FILE *out, const struct opt *row, size_t left)
{
	char text[128];
	size_t columns = left_text(row, text, sizeof(text));

	if (!row->help)
		return; /* for the project's own tests */
	if (columns > left) {
		print_text(out, text, 0, 0);
		columns = 0;
	} else {
		fputs(text, out);
	}
	print_text(out, row->help, left + 2, columns);
}

void opt_help(const struct opt_command *command, FILE *out)
{
	static const struct opt help = {.letter = 'h', .name = "help", .help = "Print this help."};
	char text[512];
	size_t left = left_text(&help, text, sizeof(text));

	snprintf(text, sizeof(text), "usage: culprit %s [OPTIONS]%s%s", command->name,
		 command->operands ? " " : "", command->operands ? command->operands : "");
	print_text(out, text, 0, 0);
	putc('\n', out);
	print_text(out, command->summary, 0, 0);
	if (command->about) {
		putc('\n', out);
		print_text(out, command->about, 0, 0);
	}
	fputs("\noptions:\n", out);
	for (const struct opt *row = command->opts; row && !row_ends(row); row++) {
		size_t columns = left_text(row, text, sizeof(text));

		if (columns > left && columns <= HELP_LEFT)
			left = columns;
	}
	for (const struct opt *row = command->opts; row && !row_ends(row); row++)
		print_row(out, row, left);
	print_row(out, &help, left);
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
		size_t wlen = strlen(*words), distance;

		if (wlen >= SHOWN)
			continue;
		distance = edit_distance(word, len, *words, wlen);
		if (distance < least && 3 * distance <= (len > wlen ? len : wlen)) {
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
	const char *const *words = row->arg;
	size_t at;

	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text)) {
			*(int *)field = i;
			return 0;
		}
	at = (size_t)snprintf(why, whylen, "'%.40s' is not known: use ", text);
	for (; *words && at < whylen; words++) {
		const char *joint = words[1] && words[2] ? ", " : " or ";

		at += (size_t)snprintf(why + at, whylen - at, "%s%s", *words,
				       words[1] ? joint : "");
	}
	return -1;
}
