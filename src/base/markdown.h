/* Markdown (GitHub's, https://github.github.com/gfm/) in which names of any bytes do no harm.
 * Tables: table.h. */
#ifndef CULPRIT_MARKDOWN_H
#define CULPRIT_MARKDOWN_H

#include <stddef.h>

/* Printable text (escape_text makes it) as a code span, in which nothing is markup, a link or a
 * mention: "`tick_nohz`", "`` a`b ``". Cut at a whole character when it does not fit (len >= 16);
 * an empty text stays empty. Not for a table by itself: a bar splits cells even in a span, and
 * table_print_markdown sees to that. Returns buf. */
char *markdown_code(const char *text, char *buf, size_t len);

#endif
