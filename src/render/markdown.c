/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report for tickets: GitHub's Markdown, readable as it is. Text from the machine stands in
 * code spans.
 *
 *   # culprit: `web-07`
 *
 *   | environment |                   |
 *   | :---------- | :---------------- |
 *   | kernel      | `6.12.1` `x86_64` |
 *
 *   ## cpu 3, isolated
 *
 *   7 hiccups took 0.0053 % of 1.00 s; the worst 33.7 us, p99 33.7 us, median 2.42 us; attributed …
 *
 *   | share % |    time | count |     max | kind   | who                  | what to do |
 *   | ------: | ------: | ----: | ------: | :----- | :------------------- | :--------- |
 *   |   58.46 | 31.0 us |     1 | 31.0 us | thread | `…`; by `…` on cpu 0 | K01: `…`   |
 *
 *   ## Worst hiccups
 *   ## How it was measured
 *   ## Not observed
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/markdown.h"
#include "base/table.h"
#include "base/units.h"
#include "model/groups.h"
#include "model/hosts.h"
#include "model/report.h"
#include "render/markdown_parts.h"
#include "render/render.h"

#define WORST_TOP      10
#define VERDICTS_SHOWN 4

static const char *percent(uint64_t part, uint64_t whole, char *buf, size_t len)
{
	return format_percent(whole ? 100.0 * part / whole : 0, buf, len);
}

/* Prints and frees a table, unless it found no memory. */
int markdown_finish(struct table *t, FILE *out)
{
	if (!t)
		return -ENOMEM;
	table_print_markdown(t, out);
	table_free(t);
	return 0;
}

struct table *markdown_begin(const char *const *headings, const char *align)
{
	struct table *t = table_new(0, 0);

	for (; t && *align; align++)
		table_column(t, *headings++, *align == 'r' ? ALIGN_RIGHT : ALIGN_LEFT,
			     *align == 'e');
	return t;
}

/* ---- environment ---- */

static void fact(struct table *t, const char *name, const char *value, bool ours)
{
	char text[CODE_MAX];

	table_cell(t, NULL, name);
	table_cell(t, NULL, ours ? value : markdown_name(value, text));
	table_end_row(t);
}

static int write_environment(const struct view *v, FILE *out)
{
	struct table *t = markdown_begin((const char *const[]){"environment", ""}, "le");
	struct report_environment e;
	char length[32];

	if (!t)
		return -ENOMEM;
	report_environment(v, &e);
	for (uint32_t i = 0; i < REPORT_FACTS; i++)
		fact(t, e.fact[i].name, e.fact[i].text, e.fact[i].ours);
	fact(t, "started", v->run.started, false);
	fact(t, "length", format_ns(v->run.duration_ns, length, sizeof(length)), false);
	fact(t, "culprit", CULPRIT_VERSION, false);
	return markdown_finish(t, out);
}

/* ---- a CPU and its sources ---- */

static void add_row(struct table *t, const struct sources *all, const struct report_rows *rows,
		    const struct report_row *r)
{
	char a[32], who[REPORT_WHO + 2];
	const struct source *s = r->source;

	report_row_who(r, who);
	table_cell(t, NULL, report_share(r->ns, rows->whole_ns, a, sizeof(a)));
	table_cell(t, NULL, format_ns(r->ns, a, sizeof(a)));
	table_cell(t, NULL, s ? format_count(s->count, a, sizeof(a)) : "");
	table_cell(t, NULL, s ? format_ns(s->net.max, a, sizeof(a)) : "");
	table_cell(t, NULL, report_row_kind(r));
	markdown_who(t, who, s ? report_notes(all, s, false) : NULL);
	if (s && s->cause)
		markdown_do(t, r);
	table_end_row(t);
}

static int write_sources(const struct view *v, uint32_t index, FILE *out)
{
	static const char *const headings[] = {"share %", "time", "count",     "max",
					       "kind",    "who",  "what to do"};
	struct table *t = markdown_begin(headings, "rrrrlee");
	struct report_rows rows;

	if (!t || report_rows(v, index, 0, &rows)) {
		table_free(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < rows.n; i++)
		add_row(t, &v->cpu[index].sources, &rows, &rows.row[i]);
	free(rows.row);
	return markdown_finish(t, out);
}

static void write_shorts(const struct cpu *r, FILE *out)
{
	const struct short_gaps *s = &r->shorts;
	char a[32], b[32], c[32], d[32];

	if (s->known)
		fprintf(out, "; %s short gap%s besides, of %s to %s, took %s %% more",
			format_count(s->count, a, sizeof(a)), plural(s->count),
			format_ns(s->from_ns, b, sizeof(b)),
			format_ns(r->threshold_ns, c, sizeof(c)),
			percent(s->total_ns, r->observed_ns, d, sizeof(d)));
}

/* Name of the time that nothing explains. */
static const char *rest_of(const struct view *v, char buf[CODE_MAX])
{
	return v->run.traced && v->run.rest[0] ? markdown_code(v->run.rest, buf, CODE_MAX)
					       : view_rest(v);
}

static int write_thread(const struct view *v, const struct cpu *c, FILE *out)
{
	char *notes = report_thread_notes(v, c), *end;

	if (!notes)
		return -ENOMEM;
	if (*notes)
		fputc('\n', out);
	for (char *line = notes; *line; line = end + 1) {
		end = strchr(line, '\n');
		fprintf(out, "* %.*s\n", (int)(end - line), line);
	}
	free(notes);
	return 0;
}

/* "; 61.3 a second; the worst 15.0 us, p99 ..., median 9.00 us" */
static void write_lengths(const struct view *v, uint32_t i, FILE *out)
{
	struct report_length length[REPORT_LENGTHS];
	uint32_t n = report_lengths(&v->cpu[i].hiccups, length);
	char a[32];

	if (v->cpu[i].hiccups.count > 1 && report_rate(v, i) >= 0)
		fprintf(out, "; %s a second", format_rate(report_rate(v, i), a, sizeof(a)));
	for (uint32_t k = 0; k < n; k++)
		fprintf(out, "%s %s %s", k ? "," : "; the", length[k].name,
			format_ns(length[k].ns, a, sizeof(a)));
}

int markdown_cpu(const struct view *v, uint32_t i, FILE *out)
{
	const struct cpu *s = &v->cpu[i];
	const struct hist *h = &s->hiccups;
	char a[32], b[32], c[32], d[32], lane[LANE_NAME], safe[4 * LANE_NAME],
		text[8 * LANE_NAME + REPORT_TEXT], rest[CODE_MAX];

	if (v->run.watch)
		fprintf(out, "\n## %s\n\n",
			markdown_code(
				escape_text(view_lane(v, i, lane), SIZE_MAX, safe, sizeof(safe)),
				text, sizeof(text)));
	else
		fprintf(out, "\n## cpu %u, %s%s\n\n", s->number,
			cpus_has(&v->host.isolated, s->number) ? "isolated" : "not isolated",
			cpus_has(&v->host.nohz_full, s->number) ? ", nohz_full" : "");
	if (markdown_series(s, out))
		return -ENOMEM;
	if (!v->run.watch && !s->observed_ns) {
		fputs("It was not observed.\n", out);
		return 0;
	}
	if (v->run.windows && !v->run.watch)
		fprintf(out, "%s window%s longer than %s took ",
			format_count(h->count, a, sizeof(a)), plural(h->count),
			series_thresholds(s->series, s->nseries) > 1
				? "their threshold"
				: format_ns(s->threshold_ns, b, sizeof(b)));
	else
		fprintf(out, "%s hiccup%s took ", format_count(h->count, a, sizeof(a)),
			plural(h->count));
	if (view_lost(v, i) < 0)
		fprintf(out, "%s", format_ns(h->sum, b, sizeof(b)));
	else
		fprintf(out, "%s %% of %s", percent(h->sum, v->cpu[i].observed_ns, b, sizeof(b)),
			format_ns(v->cpu[i].observed_ns, c, sizeof(c)));
	if (!h->count) {
		write_shorts(&v->cpu[i], out);
		fputs(".\n", out);
		return v->run.watch ? write_thread(v, s, out) : 0;
	}
	write_lengths(v, i, out);
	if (v->run.traced)
		fprintf(out, "; %s %s %%, edge %s %%",
			v->run.watch ? "seen by the kernel" : "attributed",
			percent(s->attributed_ns, h->sum, a, sizeof(a)),
			percent(s->edge_ns, h->sum, b, sizeof(b)));
	if (s->lost_ns)
		fprintf(out, ", " NOT_RECORDED " %s %%", percent(s->lost_ns, h->sum, d, sizeof(d)));
	if (s->host_ns)
		fprintf(out, ", host %s %%", percent(s->host_ns, h->sum, d, sizeof(d)));
	if (v->run.traced)
		fprintf(out, ", %s %s %%", rest_of(v, rest),
			percent(s->outside_ns, h->sum, d, sizeof(d)));
	if (report_merged(&s->sources, text, sizeof(text)))
		fprintf(out, "; %s", text);
	write_shorts(&v->cpu[i], out);
	fputs(".\n", out);
	if (v->run.watch && write_thread(v, s, out))
		return -ENOMEM;
	fputc('\n', out);
	return write_sources(v, i, out);
}

/* ---- the worst hiccups ---- */

/* The parts, marked, as one line; NULL: out of memory. */
static char *parts_of(const struct view *v, const struct worst *w)
{
	char *text = NULL, name[REPORT_PART], asker[REPORT_ASKER], a[32];
	struct report_part part[REPORT_PARTS];
	uint32_t n = report_parts(v, w, part);
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (uint32_t i = 0; f && i < n; i++) {
		fprintf(f, "%s%s %s", i ? " + " : "", report_part_name(v, &part[i], name),
			format_ns(part[i].ns, a, sizeof(a)));
		if (part[i].asker)
			fprintf(f, " (%s)", report_asker(part[i].asker, asker));
	}
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}

static int write_worst(const struct view *v, FILE *out)
{
	struct table *t = markdown_begin(
		(const char *const[]){"at", v->run.watch ? "thread" : "cpu", "length", "what"},
		"rrre");
	char a[32], lane[REPORT_CPUS], code[REPORT_CPUS + 32];

	for (uint32_t i = 0; t && i < v->nworst && i < WORST_TOP; i++) {
		const struct worst *w = &v->worst[i];
		char *parts = parts_of(v, w);

		table_cellf(t, NULL, "+%.6f s", (w->start_ns - v->run.started_ns) / 1e9);
		if (v->run.watch)
			table_cell(t, NULL,
				   markdown_code(report_lane(v, w->cpu, lane), code, sizeof(code)));
		else
			table_cellf(t, NULL, "%u", v->cpu[w->cpu].number);
		table_cell(t, NULL, format_ns(w->duration_ns, a, sizeof(a)));
		markdown_marked(t, parts);
		table_end_row(t);
		free(parts);
	}
	fputs("\n## Worst hiccups\n\n", out);
	return markdown_finish(t, out);
}

static void write_verdicts(const struct view *v, FILE *out)
{
	if (!groups_shown(v) && view_verdict(v))
		markdown_verdict(view_verdict(v), out);
	for (uint32_t k = 0, n = 0; groups_shown(v) && k < v->groups.n && n < VERDICTS_SHOWN; k++) {
		if (!group_head(v, k)[0])
			continue;
		markdown_verdict(group_head(v, k), out);
		n++;
	}
}

static int write_report(const struct view *v, bool all, FILE *out)
{
	char text[CODE_MAX];
	struct report_cautions cautions;
	uint32_t n = report_cautions(v, &cautions);
	bool fold = groups_shown(v) && !all;
	int err;

	fprintf(out, "# culprit: %s\n\n", markdown_name(v->host.hostname, text));
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "**%c%s**: %s\n\n", toupper(cautions.fact[i].name[0]),
			cautions.fact[i].name + 1,
			cautions.fact[i].ours ? cautions.fact[i].text
					      : markdown_name(cautions.fact[i].text, text));
	write_verdicts(v, out);
	err = write_environment(v, out);
	if (groups_shown(v) && !err)
		err = markdown_table(v, all, out);
	for (uint32_t i = 0; !fold && i < v->ncpus && !err; i++)
		err = markdown_cpu(v, i, out);
	if (fold && !err)
		err = markdown_groups(v, out);
	if (v->nworst && !err)
		err = write_worst(v, out);
	return err ? err : render_markdown_method(v, all, out);
}

int render_markdown(const struct view *const *views, uint32_t n,
		    const struct render_options *options, FILE *out)
{
	int err = n > 1 ? render_hosts(views, n, options, true, out) : 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		if (n > 1)
			putc('\n', out);
		err = write_report(views[i], options->all, out);
	}
	return err ? err : ferror(out) ? -EIO : 0;
}
