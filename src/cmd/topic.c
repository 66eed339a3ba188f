/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints help topics. For roff each line is taken by how far it stands in, as tools/topics.awk
 * allows:
 *
 *   Heading                    .SH
 *     a paragraph, filled      .PP
 *     * an item, filled        .IP
 *       a line of an item
 *
 *       a line as it stands    .EX ... .EE
 */
#include "cmd/topic.h"

#include <stdbool.h>
#include <string.h>

#include "cmd/manual.h"

enum block { NOTHING, PARAGRAPH, ITEM, KEPT };

const struct topic *topic_find(const char *name)
{
	for (const struct topic *t = topics; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

void topic_print(const struct topic *topic, FILE *out)
{
	fprintf(out, "culprit %s: %s\n\n%s", topic->name, topic->summary, topic->text);
}

/* The block of the line, whose first `in` bytes are blanks; `blank`: the line above is empty. */
static enum block block_of(const char *line, size_t in, enum block above, bool blank)
{
	if (!in)
		return NOTHING;
	if (in < 4)
		return line[in] == '*' ? ITEM : PARAGRAPH;
	return above == ITEM && !blank ? ITEM : KEPT;
}

static void print_line(const char *line, size_t len, FILE *out)
{
	char text[512];

	snprintf(text, sizeof(text), "%.*s", (int)len, line);
	roff(text, out);
	putc('\n', out);
}

void topic_manual(const struct topic *topic, FILE *out)
{
	enum block above = NOTHING, now;
	bool blank = true;

	roff_heading(topic->name, topic->section, out);
	/* Names of fields and functions are not hyphenated. */
	fprintf(out, ".nh\n.SH NAME\nculprit\\-%s \\- ", topic->name);
	print_line(topic->summary, strlen(topic->summary), out);
	for (const char *line = topic->text; *line; line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "\n"), in = strspn(line, " ");

		if (!len) {
			blank = true;
			continue;
		}
		now = block_of(line, in, above, blank);
		if (above == KEPT && now != KEPT)
			fputs(".EE\n", out);
		if (now == NOTHING)
			fputs(".SH ", out);
		else if (now == PARAGRAPH && (blank || above != PARAGRAPH))
			fputs(".PP\n", out);
		else if (now == ITEM && in < 4)
			fputs(".IP \\(bu 2\n", out);
		else if (now == KEPT && above != KEPT)
			fputs(".PP\n.EX\n", out);
		else if (now == KEPT && blank)
			putc('\n', out);
		in = now == KEPT ? 4 : now == ITEM && in < 4 ? in + 2 : in;
		print_line(line + in, len - in, out);
		above = now;
		blank = false;
	}
	fputs(above == KEPT ? ".EE\n.SH SEE ALSO\n.BR culprit (1)\n"
			    : ".SH SEE ALSO\n.BR culprit (1)\n",
	      out);
}
