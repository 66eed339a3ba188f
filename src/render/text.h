/* What the files of the text report share. */
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
};

/* Escape sequences, or nothing where the page has no colour. */
const char *text_style(const struct page *p, const char *sgr);
const char *text_plain(const struct page *p);

/* Texts that may come from a file, whoever made that, escaped. Returns buf. */
#define TEXT_SAFE 512
const char *text_safe(const char *text, char buf[TEXT_SAFE]);

/* A CPU with its table. index: the CPU's in the view. */
void text_cpu(const struct page *p, uint32_t index);

/* The table of a CPU's sources. index: the CPU's in the view. */
void text_sources(const struct page *p, uint32_t index);

/* One sentence a CPU, the worst first. */
void text_verdict(const struct page *p);

/* What the audit found that this run confirms, by what it cost; the rest in one line. */
void text_audit(const struct page *p);

/* The sources of all CPUs that the cause book does not have. */
void text_not_in_book(const struct page *p);

/* What a workload measured of its windows: a row for each series. */
void text_series(const struct page *p, const struct cpu *c);

#endif
