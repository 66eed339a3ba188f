/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Markdown (GitHub's, https://github.github.com/gfm/) that stays intact with names of any bytes.
 * Tables: table.h. */
#ifndef CULPRIT_MARKDOWN_H
#define CULPRIT_MARKDOWN_H

#include <stddef.h>

/* Writes printable text (from escape_text) as a code span, in which nothing is markup, a link or a
 * mention: "`tick_nohz`", "`` a`b ``". Cut at a whole character when it does not fit (len >= 16);
 * an empty text stays empty. In a table a bar splits cells even inside a span: use
 * table_print_markdown, which escapes it. Returns buf. */
char *markdown_code(const char *text, char *buf, size_t len);

/* Writes the same as text in which nothing is markup, a link or a mention: what could be has a
 * backslash before it, and an at sign an empty comment behind it. The text may not begin a line; a
 * bar is left to tables, which escape it. Cut at a whole character when it does not fit. Returns
 * buf. */
char *markdown_text(const char *text, char *buf, size_t len);

#endif
