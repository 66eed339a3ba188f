/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JUnit's XML as Jenkins and GitLab read it (testsuite, testcase, failure); TAP version 13. A case
 * is kept as one line of fields until the number of all is known. */
#include "cmd/cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/say.h"
#include "render/html.h"

#define FIELD_END "\t" /* never in printable text */
#define FIELDS    4    /* "cpu 3 of HOST", what, seconds, why or "" */

static int open_one(struct newfile *n, const char *path)
{
	int err = path ? newfile_open(n, path) : 0;

	return err ? complain("cannot write %s: %s", path, newfile_error(err)) : 0;
}

int cases_open(struct cases *c)
{
	if (c->open || (!c->junit && !c->tap))
		return 0;
	c->list = open_memstream(&c->text, &c->len);
	if (!c->list)
		return complain("out of memory");
	c->open = !open_one(&c->junit_file, c->junit);
	if (c->open && !open_one(&c->tap_file, c->tap))
		return 0;
	if (c->open && c->junit)
		newfile_close(&c->junit_file, false);
	c->open = false;
	fclose(c->list);
	free(c->text);
	return -1;
}

void cases_add(struct cases *c, const char *host, const char *lane, const char *what,
	       double seconds, const char *why)
{
	char shown[1100];

	if (!c->open)
		return;
	fputs(escape_text(lane, SIZE_MAX, shown, sizeof(shown)), c->list);
	fprintf(c->list, " of %s", escape_text(host, SIZE_MAX, shown, sizeof(shown)));
	fprintf(c->list, FIELD_END "%s" FIELD_END "%.6f" FIELD_END, what, seconds);
	fprintf(c->list, "%s\n", escape_text(why ? why : "", SIZE_MAX, shown, sizeof(shown)));
	c->n++;
	c->failed += why != NULL;
}

/* Takes one case off *text, and splits it. */
static void take(char **text, const char *field[FIELDS])
{
	char *line = strsep(text, "\n");

	for (int i = 0; i < FIELDS; i++)
		field[i] = strsep(&line, FIELD_END);
}

/* A number sign would begin a directive: SKIP, TODO. */
static void tap_text(FILE *out, const char *text)
{
	for (; *text; text++)
		fprintf(out, *text == '#' ? "\\%c" : "%c", *text);
}

static void write_tap(const struct cases *c, char *text, FILE *out)
{
	const char *field[FIELDS];

	fprintf(out, "TAP version 13\n1..%u\n", c->n);
	for (uint32_t i = 0; i < c->n; i++) {
		take(&text, field);
		fprintf(out, "%sok %u - ", field[3][0] ? "not " : "", i + 1);
		tap_text(out, field[0]);
		fputs(": ", out);
		tap_text(out, field[1]);
		fprintf(out, "%s%s\n", field[3][0] ? "\n# " : "", field[3]);
	}
}

static void write_junit(const struct cases *c, char *text, FILE *out)
{
	const char *field[FIELDS];

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites><testsuite name=\"culprit\" tests=\"%u\" failures=\"%u\" "
		"errors=\"0\" skipped=\"0\">\n",
		c->n, c->failed);
	for (uint32_t i = 0; i < c->n; i++) {
		take(&text, field);
		fputs("<testcase classname=\"culprit.", out);
		html_text(out, field[0]);
		fputs("\" name=\"", out);
		html_text(out, field[1]);
		fprintf(out, "\" time=\"%s\"%s", field[2],
			field[3][0] ? "><failure message=\"" : "/>\n");
		if (field[3][0]) {
			html_text(out, field[3]);
			fputs("\"/></testcase>\n", out);
		}
	}
	fputs("</testsuite></testsuites>\n", out);
}

static int close_one(struct newfile *n, const char *path, bool keep)
{
	int err = path ? newfile_close(n, keep) : 0;

	return err ? complain("writing %s: %s", path, newfile_error(err)) : 0;
}

int cases_close(struct cases *c, bool keep)
{
	bool whole = c->open && !fclose(c->list);
	char *copy = whole ? strdup(c->text) : NULL;
	int bad = 0;

	if (!c->open)
		return 0;
	c->open = false;
	if (keep && !copy)
		bad = complain("out of memory");
	keep = keep && copy;
	if (keep && c->junit)
		write_junit(c, copy, c->junit_file.file);
	if (keep && c->tap)
		write_tap(c, c->text, c->tap_file.file);
	bad |= close_one(&c->junit_file, c->junit, keep);
	bad |= close_one(&c->tap_file, c->tap, keep);
	free(copy);
	free(c->text);
	return bad ? -1 : 0;
}
