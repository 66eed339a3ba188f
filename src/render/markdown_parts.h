/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the Markdown report. */
#ifndef CULPRIT_MARKDOWN_PARTS_H
#define CULPRIT_MARKDOWN_PARTS_H

#include <stdbool.h>
#include <stdio.h>
#include "base/table.h"
#include "model/report.h"

#define CODE_MAX (4 * 4096 + 64) /* room for any name of a view, as code */

/* A name from the machine, as code. Returns buf. */
const char *markdown_name(const char *name, char buf[CODE_MAX]);

/* A table with a column for each letter: r to the right, l to the left, e elastic. NULL: out of
 * memory. */
struct table *markdown_begin(const char *const *headings, const char *align);
/* Prints and frees a table, unless it found no memory (NULL): then -ENOMEM. */
int markdown_finish(struct table *t, FILE *out);
/* A cell of marked lines (model/report.h), joined by semicolons; changes them. */
void markdown_marked(struct table *t, char *lines);

/* A cell with a source, marked, and its notes (NULL: none), which it frees. */
void markdown_who(struct table *t, const char *who, char *notes);

/* A cell with the cause of a source and what to do: prose as text, commands as code. */
void markdown_do(struct table *t, const struct report_row *r);

/* Writes a verdict as a paragraph. */
void markdown_verdict(const char *verdict, FILE *out);

/* Writes what a workload measured on a CPU. 0 or -ENOMEM, as the next two. */
int markdown_series(const struct cpu *c, FILE *out);
/* The same of CPUs that are alike: the range of each figure, behind an empty line. */
int markdown_group_series(const struct view *v, const struct cpu_group *g, FILE *out);
/* Writes a CPU and its sources. */
int markdown_cpu(const struct view *v, uint32_t index, FILE *out);
/* Writes the table of all CPUs; all: with as many rows as there are. */
int markdown_table(const struct view *v, bool all, FILE *out);
/* Writes each CPU that stands alone, and once those that are alike. */
int markdown_groups(const struct view *v, FILE *out);

#endif
