/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the text report. */
#ifndef CULPRIT_TEXT_H
#define CULPRIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "model/view.h"
#include "render/render.h"

#define NAME_MAX_ESCAPED (4 * SOURCE_NAME + 8)

#define BOLD "1"
#define DIM  "2"

struct page {
	FILE *out;
	const struct view *view;
	bool colour, stacks;
	unsigned width;
	enum series_style series;
	bool fold;     /* CPUs that are alike stand once, and all is shorter */
	uint32_t rows; /* most sources of a CPU; 0: as many as report_rows() gives */
	bool chart;    /* distributions as a picture */
};

/* Escape sequences, or nothing where the page has no colour. */
const char *text_style(const struct page *p, const char *sgr);
const char *text_plain(const struct page *p);

/* Escapes texts that may come from a file that anybody may have written. Returns buf. */
#define TEXT_SAFE 512
const char *text_safe(const char *text, char buf[TEXT_SAFE]);

/* Begins the first line of a report, "culprit 0.1 · linux 6.12.9 · ...", with what to call it, and
 * the machine. */
struct flow;
void text_head(const struct page *p, struct flow *f, const char *title);

/* Returns what `write` writes to a page like this one. The caller frees it; NULL: out of memory. */
char *text_part(const struct page *p, void (*write)(const struct page *p, const void *of),
		const void *of);

/* Writes a line of words, which goes on two columns deeper where it is too long for the page; it
 * begins with as many blanks as fmt. */
__attribute__((format(printf, 2, 3))) void text_line(const struct page *p, const char *fmt, ...);

/* Writes a CPU with its table. index: the CPU's in the view. */
void text_cpu(const struct page *p, uint32_t index);

/* Writes the kernel's counters beside what was traced: those that differ one by one. */
void text_closure(const struct page *p, const struct cpu *c);

/* Begins a paragraph; what follows on its first line is added to the flow. */
void text_heading(const struct page *p, const char *text, struct flow *f);

/* Writes the table of all CPUs, where reports show groups. */
void text_table(const struct page *p);
/* Writes each CPU that stands alone, and once those that are alike. others: lines of the rest of
 * the report. */
void text_groups(const struct page *p, unsigned others);
void text_cpus(const struct page *p); /* each CPU by itself */

/* Adds the notes of a source, which it frees, and what to do, below its row. */
struct table;
struct report_row;
void text_notes(struct table *t, char *notes);
void text_advice(struct table *t, const struct report_row *r);

/* Says how many hiccups were not recorded; nothing where all were. */
void text_not_recorded(const struct page *p, const struct cpu *c);
/* Says how many windows of a workload nobody could read; nothing where it is none. */
void text_unread(const struct page *p, uint64_t runs);

/* Writes how long hiccups were, or a workload's values, as a picture, where the page has one. */
void text_chart(const struct page *p);

/* Says how often a begin or an end was not traced. */
void text_unpaired(const struct page *p, uint64_t times);

/* Writes the table of a CPU's sources. index: the CPU's in the view. */
void text_sources(const struct page *p, uint32_t index);

/* Writes one sentence for each CPU, or for those that are alike, the worst first. again: it
 * stands above, too. */
void text_verdict(const struct page *p, bool again);

/* Writes a command that works as pasted: a line that goes on ends with a backslash. */
void text_command(const struct page *p, const char *start, const char *command, const char *lead);

/* Writes the findings of the audit that this run confirms, by their cost; the rest in one line. */
void text_audit(const struct page *p);

/* Writes the sources of all CPUs that the cause book does not know. */
void text_not_in_book(const struct page *p);

/* Writes a workload's values: a row for each series. */
void text_series(const struct page *p, const struct cpu *c);
/* The same of CPUs that are alike: the range of each figure. Nothing where there are none. */
void text_group_series(const struct page *p, const struct cpu_group *g);

/* Explains a watched thread's figures, a sentence a line, each behind lead. */
void text_thread(const struct page *p, const struct cpu *c, const char *lead);

#endif
