/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/opt_company.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#include "base/say.h"

#define SHOWN 128 /* bytes of options shown in a message */

struct company {
	const struct opt_command *command;
	const struct opt_rows *rows;
	const char *const *given;
	const void *options;
};

/* Index of the word that a row of opt_set_choice has. */
static int chosen(const struct company *c, const struct opt *row)
{
	return *(const int *)((const char *)c->options + row->offset);
}

/* True when it was given: "path", or "style=oslat" with this word. Writes it as it is typed,
 * without dashes. */
static bool is_given(const struct company *c, const char *name, size_t len, char *shown,
		     size_t size)
{
	const char *equals = memchr(name, '=', len);
	size_t word = equals ? (size_t)(equals - name) : len;
	const struct opt *row = opt_row_of_name(c->rows, name, word);
	const struct opt_choice *choice;

	assert(row);
	snprintf(shown, size, "%.*s", (int)len, name);
	if (equals)
		shown[word] = ' ';
	if (!c->given[row - c->rows->row] || !equals)
		return c->given[row - c->rows->row];
	assert(row->set == opt_set_choice);
	choice = opt_choice(row, chosen(c, row));
	len -= word + 1;
	return strlen(choice->name) == len && !memcmp(choice->name, equals + 1, len);
}

/* True when one of these, by comma, was given; writes that one, or else "path or --record", into
 * `shown`. */
static bool one_given(const struct company *c, const char *names, char shown[SHOWN])
{
	char one[SHOWN];
	size_t at = 0;

	for (size_t len; *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		if (is_given(c, names, len, one, sizeof(one))) {
			memcpy(shown, one, sizeof(one));
			return true;
		}
		if (at < SHOWN)
			at += (size_t)snprintf(shown + at, SHOWN - at, "%s%s", at ? " or --" : "",
					       one);
	}
	return false;
}

/* ---- files ---- */

/* True when both are, or will be, one regular file. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;
	bool there = !stat(a, &x);

	if (!strcmp(a, "-"))
		return false;
	if (there && !stat(b, &y))
		return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
	return !there && !strcmp(a, b);
}

/* word: of the help, for a value or for operands; NULL: none. */
static bool is_file(const char *word)
{
	return word && (strstr(word, "FILE") || strstr(word, "RECORDING"));
}

/* Looks who else has the file that this row writes. */
static int check_file(const struct company *c, size_t i, char *const *operand)
{
	const struct opt *row = c->rows->row;
	const char *file = c->given[i];

	for (size_t k = 0; k < c->rows->n; k++)
		if (k != i && c->given[k] && is_file(row[k].value) &&
		    is_same_file(file, c->given[k]))
			return complain("--%s: %s is given to --%s, too, and would be lost: choose "
					"another file (culprit help %s)",
					row[i].name, file, row[k].name, c->command->name);
	for (; is_file(c->command->operands) && *operand; operand++)
		if (is_same_file(file, *operand))
			return complain("--%s: %s is given to %s itself, too, and would be lost: "
					"choose another file (culprit help %s)",
					row[i].name, file, c->command->name, c->command->name);
	return 0;
}

int opt_check_company(const struct opt_command *command, const struct opt_rows *rows,
		      const char *const *given, char *const *operand, const void *options)
{
	const struct company c = {command, rows, given, options};

	for (size_t i = 0; i < rows->n; i++) {
		const struct opt *row = &rows->row[i];
		char other[SHOWN];

		if (!given[i])
			continue;
		if (row->needs && !one_given(&c, row->needs, other))
			return complain("--%s: %s: give --%s, too (culprit help %s)", row->name,
					row->why, other, command->name);
		if (row->excludes && (row->set != opt_set_choice || chosen(&c, row)) &&
		    one_given(&c, row->excludes, other))
			return complain("--%s: %s: leave out --%s (culprit help %s)", row->name,
					row->why, other, command->name);
		if (row->writes && check_file(&c, i, operand))
			return -1;
	}
	return 0;
}
