/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/opt_company.h"

#include <assert.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/way.h"

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

#define LINKS_MAX 40 /* as many as the kernel follows */

/* Entry of a directory: what a rename replaces. */
struct place {
	dev_t dev;
	ino_t ino;
	char name[NAME_MAX + 1];
};

/* Splits a path, links in its directory followed. False: there is no such directory. */
static bool split(const char *path, struct place *p)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char dir[PATH_MAX];
	struct stat st;

	if (strlen(name) >= sizeof(p->name) || strlen(path) >= sizeof(dir))
		return false;
	snprintf(dir, sizeof(dir), "%.*s", (int)(name - path), path);
	if (stat(slash ? dir : ".", &st))
		return false;
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	strcpy(p->name, name);
	return true;
}

/* Finds where a file is or will be, links at the end of its path followed. */
static bool find_place(const char *path, struct place *p)
{
	char at[PATH_MAX], to[PATH_MAX];
	ssize_t n;

	if (strlen(path) >= sizeof(at))
		return false;
	strcpy(at, path);
	for (int i = 0; (n = readlink(at, to, sizeof(to))) > 0; i++) {
		char *slash = strrchr(at, '/');
		size_t keep = slash && to[0] != '/' ? (size_t)(slash + 1 - at) : 0;

		if (i == LINKS_MAX || keep + (size_t)n >= sizeof(at))
			return false;
		memcpy(at + keep, to, (size_t)n);
		at[keep + (size_t)n] = '\0';
	}
	return split(at, p);
}

/* True for one of the files PREFIX.CPU. */
static bool has_prefix(const char *prefix, const struct place *p)
{
	struct place begin;
	size_t len;

	if (!split(prefix, &begin) || begin.dev != p->dev || begin.ino != p->ino)
		return false;
	len = strlen(begin.name);
	return !strncmp(p->name, begin.name, len) && p->name[len] == '.' && p->name[len + 1] &&
	       !p->name[len + 1 + strspn(p->name + len + 1, "0123456789")];
}

/* True when it would be lost by what this row writes to `file`. */
static bool is_lost(const struct opt *row, const char *file, const char *other)
{
	struct place a, b;
	struct stat x, y;

	if (!stat(other, &y) && way_stays(&y))
		return false;
	if (!row->prefix && !strcmp(file, other))
		return true;
	if (!find_place(other, &b))
		return false;
	if (row->prefix)
		return has_prefix(file, &b);
	if (row->appends && !stat(file, &x) && !stat(other, &y)) /* by any of its names */
		return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
	return find_place(file, &a) && a.dev == b.dev && a.ino == b.ino && !strcmp(a.name, b.name);
}

/* word: of the help, for a value or for operands; NULL: none. */
static bool is_file(const char *word)
{
	return word && (strstr(word, "FILE") || strstr(word, "RECORDING"));
}

/* The path of what is given to this row, or as an operand; NULL: standard output. */
static const char *path_of(const struct opt *row, const char *text)
{
	if (strcmp(text, "-") != 0)
		return text;
	return row && row->writes ? NULL : "/proc/self/fd/0";
}

/* row: of a file that is written; other: NULL for an operand. */
static int check_two(const struct opt_command *command, const struct opt *row, const char *file,
		     const struct opt *other, const char *text)
{
	const char *path = path_of(other, text);

	if (!path_of(row, file) || !path || !is_lost(row, file, path))
		return 0;
	return complain("--%s: %s is given to %s%s, too, and would be lost: choose another file "
			"(culprit help %s)",
			row->name, row->prefix ? path : file, other ? "--" : command->name,
			other ? other->name : " itself", command->name);
}

int opt_check_written(const struct opt_command *command, const char *name, const char *file,
		      const char *other, const char *const *texts, size_t n)
{
	struct opt_rows rows;
	const struct opt *row, *from;

	opt_rows(command, &rows);
	row = opt_row_of_name(&rows, name, strlen(name));
	from = other ? opt_row_of_name(&rows, other, strlen(other)) : NULL;
	for (size_t i = 0; file && i < n; i++)
		if (check_two(command, row, file, from, texts[i]))
			return -1;
	return 0;
}

/* Looks who else has the file that this row writes. */
static int check_file(const struct company *c, size_t i, const struct opt_texts *texts,
		      char *const *operand)
{
	const struct opt *row = &c->rows->row[i];

	for (size_t k = 0; k < texts->n; k++) {
		const struct opt *other = texts->text[k].row;

		if (other != row && is_file(other->value) &&
		    check_two(c->command, row, c->given[i], other, texts->text[k].text))
			return -1;
	}
	for (; is_file(c->command->operands) && *operand; operand++)
		if (check_two(c->command, row, c->given[i], NULL, *operand))
			return -1;
	return 0;
}

int opt_check_company(const struct opt_command *command, const struct opt_rows *rows,
		      const char *const *given, const struct opt_texts *texts, char *const *operand,
		      const void *options)
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
		if (row->writes && check_file(&c, i, texts, operand))
			return -1;
	}
	return 0;
}
