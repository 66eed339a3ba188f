/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison for people and for tickets:
 *
 *   culprit 0.1 · 2 sides, compared with A
 *
 *     file  path        host    kernel  cpu  observed  started
 *     A     before.rec  web-07  6.12.1  3      60.0 s  2026-01-02T03:04:05Z
 *     B     after.rec   web-07  6.12.1  3      60.0 s  2026-01-02T03:14:05Z
 *
 *   all hiccups, each second of a CPU
 *                      A        B  ratio  95 % interval  verdict
 *     time lost  58.8 ms  12.1 ms  0.206  0.195 - 0.218  better
 *
 *   sources, time each second of a CPU
 *     verdict        A   B  ratio  95 % interval  kind    who
 *     gone     2.27 us   0      0      0 - 0.081  thread  kworker/3:* > vmstat_update
 *
 * With more than two sides each has a column, with its verdict beside the number; those that do not
 * fit beside each other are in further tables, with A again.
 */
#include "render/diff_page.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/markdown.h"
#include "base/table.h"
#include "base/units.h"

#define ROWS_MAX    16 /* fewer when fewer have changed */
#define CHANGED_MAX 40 /* all that changed, up to this many */

/* ---- parts ---- */

#define LEAST_WIDTH (2 + 12 + 2 + 9 + 2 + 8)            /* indent, A, kind and a short name */
#define SIDE_WIDTH  (2 + sizeof("unclear 99.9 us") - 1) /* the gap before it, too */

void diff_blocks(const struct page *p, void (*write)(const struct page *p))
{
	uint32_t n = p->d->n, most = 1;
	struct page part = *p;

	if (p->markdown)
		most = n;
	else if (p->width > LEAST_WIDTH + SIDE_WIDTH)
		most = (p->width - LEAST_WIDTH) / SIDE_WIDTH;
	for (uint32_t k = 1; k < n;) {
		for (part.sides = 1; part.sides <= most && k < n; k++)
			part.side[part.sides++] = k;
		write(&part);
	}
}

/* A table that does not have all sides says which: "sources (A, D, E)". */
void diff_heading(const struct page *p, const char *text)
{
	bool part = p->d && p->sides < p->d->n; /* a page of groups has no sides */

	if (p->markdown) {
		fprintf(p->out, "\n## %c%s\n\n", text[0] & ~0x20, text + 1);
		return;
	}
	fprintf(p->out, "\n%s%s", p->colour ? "\033[1m" : "", text);
	for (uint32_t i = 0; part && i < p->sides; i++)
		fprintf(p->out, "%s%s", i ? ", " : " (", diff_letter(p->side[i]));
	fprintf(p->out, "%s%s\n", part ? ")" : "", p->colour ? "\033[0m" : "");
}

void diff_print(const struct page *p, struct table *t)
{
	if (!t)
		return;
	if (p->markdown)
		table_print_markdown(t, p->out);
	else
		table_print(t, p->out, p->colour);
	table_free(t);
}

void diff_name_cell(const struct page *p, struct table *t, const char *name)
{
	char text[TEXT_LEN], span[TEXT_LEN + 32];

	escape_text(name, SIZE_MAX, text, sizeof(text));
	table_cell(t, NULL, p->markdown ? markdown_code(text, span, sizeof(span)) : text);
}

void diff_ratio_cells(struct table *t, const struct ratio *r)
{
	char a[32], b[32];

	table_cell(t, NULL, render_diff_number(r->value, a, sizeof(a)));
	table_cellf(t, NULL, "%s - %s", render_diff_number(r->low, a, sizeof(a)),
		    render_diff_number(r->high, b, sizeof(b)));
}

const char *diff_style(enum diff_verdict v)
{
	return v == DIFF_SAME || v == DIFF_UNCLEAR ? "2"
	       : v == DIFF_NEW || v == DIFF_WORSE  ? "1;31"
						   : "1;32";
}

void diff_verdict_cell(struct table *t, enum diff_verdict v)
{
	table_cell(t, diff_style(v), diff_verdict_name(v));
}

void diff_side_columns(const struct page *p, struct table *t, enum table_align align, bool elastic)
{
	for (uint32_t i = 0; i < p->sides; i++)
		table_column(t, diff_letter(p->side[i]), align, elastic);
}

/* ---- all hiccups ---- */

void diff_total_columns(const struct page *p, struct table *t)
{
	table_column(t, "", ALIGN_LEFT, false);
	diff_side_columns(p, t, ALIGN_RIGHT, false);
	if (p->d->n > 2)
		return;
	table_column(t, "ratio", ALIGN_RIGHT, false);
	table_column(t, "95 % interval", ALIGN_RIGHT, false);
	table_column(t, "verdict", ALIGN_LEFT, false);
}

static void total_row(const struct page *p, struct table *t, bool time)
{
	const struct diff_cell *c = p->d->total;
	char a[32];

	table_cell(t, "1", time ? "time lost" : "hiccups");
	for (uint32_t i = 0; i < p->sides; i++) {
		uint32_t k = p->side[i];
		const char *text = time ? format_mean_ns(c[k].ns_per_s, a, sizeof(a))
					: render_diff_number(c[k].per_s, a, sizeof(a));

		if (k && p->d->n > 2 && time)
			table_cellf(t, diff_style(c[k].verdict), "%s %s",
				    diff_verdict_name(c[k].verdict), text);
		else
			table_cell(t, NULL, text);
	}
	if (p->d->n == 2) {
		diff_ratio_cells(t, time ? &c[1].time_ratio : &c[1].count_ratio);
		if (time)
			diff_verdict_cell(t, c[1].verdict);
	}
	table_end_row(t);
}

static void share_row(const struct page *p, struct table *t, const char *what, const uint64_t *ns)
{
	char a[32];

	table_cell(t, NULL, what);
	for (uint32_t i = 0; i < p->sides; i++) {
		uint32_t k = p->side[i];

		table_cell(t, NULL, format_mean_ns(ns[k] / p->d->seconds[k], a, sizeof(a)));
	}
	table_end_row(t);
}

/* The same where a side has any. */
static void some_share_row(const struct page *p, struct table *t, const char *name,
			   const uint64_t *ns)
{
	bool some = false;

	for (uint32_t k = 0; k < p->d->n; k++)
		some |= ns[k] != 0;
	if (some)
		share_row(p, t, name, ns);
}

static void length_row(const struct page *p, struct table *t, const char *what, size_t offset)
{
	char a[32];

	table_cell(t, NULL, what);
	for (uint32_t i = 0; i < p->sides; i++) {
		const char *cell = (const char *)&p->d->total[p->side[i]];

		table_cell(t, NULL, format_ns(*(const uint64_t *)(cell + offset), a, sizeof(a)));
	}
	table_end_row(t);
}

static void write_total(const struct page *p)
{
	struct table *t = table_new(p->width, 2);

	if (!t)
		return;
	diff_heading(p, p->d->view[0]->run.watch ? "all hiccups, each second of a thread"
			: p->d->nseries ? "all windows above their thresholds, each second of a CPU"
					: "all hiccups, each second of a CPU");
	diff_total_columns(p, t);
	total_row(p, t, true);
	total_row(p, t, false);
	if (p->d->traced) {
		share_row(p, t, "attributed", p->d->attributed_ns);
		share_row(p, t, "edge", p->d->edge_ns);
		some_share_row(p, t, NOT_RECORDED, p->d->lost_ns);
		some_share_row(p, t, "host", p->d->host_ns);
		share_row(p, t, "outside", p->d->outside_ns);
	}
	if (p->d->shorts_known)
		share_row(p, t, "short gaps, besides", p->d->short_ns);
	length_row(p, t, "median length", offsetof(struct diff_cell, p50_ns));
	length_row(p, t, "p99 length", offsetof(struct diff_cell, p99_ns));
	length_row(p, t, "p99.9 length", offsetof(struct diff_cell, p999_ns));
	length_row(p, t, "longest", offsetof(struct diff_cell, max_ns));
	diff_print(p, t);
}

/* ---- sources ---- */

/* The count decides when one of two lacks the source. */
static const struct ratio *deciding(const struct diff_cell *before, const struct diff_cell *after)
{
	return before->total_ns && after->total_ns ? &after->time_ratio : &after->count_ratio;
}

static void source_row(const struct page *p, struct table *t, const struct diff_row *r)
{
	const struct diff_cell *c = r->cell;
	char a[32], text[DIFF_WHO], span[DIFF_WHO + 32];

	if (p->d->n == 2)
		diff_verdict_cell(t, c[1].verdict);
	for (uint32_t i = 0; i < p->sides; i++) {
		uint32_t k = p->side[i];
		const char *ns = c[k].total_ns ? format_mean_ns(c[k].ns_per_s, a, sizeof(a)) : "0";

		if (k && p->d->n > 2)
			table_cellf(t, diff_style(c[k].verdict), "%s %s",
				    diff_verdict_name(c[k].verdict), ns);
		else
			table_cell(t, NULL, ns);
	}
	if (p->d->n == 2)
		diff_ratio_cells(t, deciding(&c[0], &c[1]));
	table_cell(t, "2", source_kind_name(r->kind));
	render_diff_who(r, text, sizeof(text));
	table_cell(t, r->changed ? "1" : NULL,
		   p->markdown ? markdown_code(text, span, sizeof(span)) : text);
	table_end_row(t);
}

static uint32_t count_changed(const struct diff *d)
{
	uint32_t n = 0;

	while (n < d->rows && d->row[n].changed)
		n++;
	return n;
}

/* True when some row from this one on has changed. */
static bool any(const struct diff *d, uint32_t from)
{
	bool some = false;

	for (uint32_t i = from; i < d->rows; i++)
		some |= d->row[i].changed || d->row[i].unclear;
	return some;
}

/* Number of sources in the table. */
static uint32_t rows_shown(const struct diff *d)
{
	uint32_t changed = count_changed(d), most = changed > ROWS_MAX ? changed : ROWS_MAX;

	most = most > CHANGED_MAX ? CHANGED_MAX : most;
	return d->rows < most ? d->rows : most;
}

static void source_table(const struct page *p)
{
	struct table *t = table_new(p->width, 2);
	uint32_t shown = rows_shown(p->d);
	const struct diff *d = p->d;

	if (!t)
		return;
	diff_heading(p, p->d->view[0]->run.watch ? "sources, time each second of a thread"
						 : "sources, time each second of a CPU");
	if (d->n == 2)
		table_column(t, "verdict", ALIGN_LEFT, false);
	diff_side_columns(p, t, ALIGN_RIGHT, false);
	if (d->n == 2) {
		table_column(t, "ratio", ALIGN_RIGHT, false);
		table_column(t, "95 % interval", ALIGN_RIGHT, false);
	}
	table_column(t, "kind", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
	for (uint32_t i = 0; i < shown; i++)
		source_row(p, t, &d->row[i]);
	diff_print(p, t);
}

static void write_sources(const struct page *p)
{
	uint32_t shown = rows_shown(p->d), more = p->d->rows - shown;
	const struct diff *d = p->d;

	if (!d->traced) {
		fprintf(p->out, "\nnot all were traced: their sources cannot be compared\n");
		return;
	}
	diff_blocks(p, source_table);
	if (more)
		fprintf(p->out, "%s%u more%s %s in -f json\n", p->markdown ? "\n" : "  ", more,
			any(d, shown) ? ""
			: more == 1   ? ", the same,"
				      : ", all the same,",
			more == 1 ? "is" : "are");
	diff_legend(p);
}

static void write_page(const struct page *p)
{
	if (p->markdown)
		fprintf(p->out, "# culprit: %u sides compared\n\n", p->d->n);
	else
		fprintf(p->out, "%sculprit " CULPRIT_VERSION "%s · %u sides, compared with A\n\n",
			p->colour ? "\033[1m" : "", p->colour ? "\033[0m" : "", p->d->n);
	diff_files(p);
	diff_losses(p);
	diff_unlike(p);
	diff_thresholds(p);
	diff_between(p);
	diff_facts(p);
	diff_blocks(p, diff_series);
	diff_blocks(p, write_total);
	write_sources(p);
	diff_unclear(p);
	diff_heading(p, "lengths, by how often they came");
	if (p->markdown)
		fprintf(p->out, "```\n");
	render_diff_lengths(p->d, p->width, p->out);
	if (p->markdown)
		fprintf(p->out, "```\n");
}

int render_diff(const struct diff *d, const char *const *names, enum diff_format format,
		const struct render_options *options, FILE *out)
{
	struct page p = {out,
			 d,
			 names,
			 format == DIFF_MARKDOWN,
			 options->colour,
			 options->width ? options->width : 100,
			 {0},
			 d->n};

	for (uint32_t k = 0; k < d->n; k++)
		p.side[k] = k;
	if (format == DIFF_JSON)
		return render_diff_json(d, names, out);
	write_page(&p);
	return ferror(out) ? -EIO : 0;
}
