/* SPDX-License-Identifier: GPL-2.0-or-later */
/* At 80 columns; the cursor is on the first source:
 *
 *   culprit top · linux 6.12.1 · 42 s · by the last second · 1-11 of 96
 *   cpu 3     0.41 % lost  longest  9.80 us  ▁▁▂▁▁▇▁▁▁▁▁▁▁▂
 *   41 more CPUs: Tab lists them
 *     1s %  10s %  all %   count      max  cpu  cause  who
 *   > 0.21   0.20   0.20  12,400  9.80 us    3  T01    local_timer > tick_nohz_handler
 *   cpu 3: local_timer > tick_nohz_handler
 *   nobody is known to have asked for it
 *   [T01] boot with nohz_full=3
 *   q quit  p pause  s sort  arrows move  Enter details  Tab CPUs  h help
 */
#include "render/top_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "model/report.h"

#define TEXT_MAX 1024

static const char *const sort_names[TOP_SORTS] = {"the last second", "the last ten seconds",
						  "all the time", "the longest", "count"};

static void end_line(struct screen *s)
{
	s->left--;
	fputs(s->state->last ? "\n" : s->left ? "\r\n" : "", s->out);
}

void top_put(struct screen *s, const char *sgr, const char *text)
{
	unsigned width = s->state->width, columns = text_columns(text);
	bool cut = columns > width && width > 8;
	size_t len = text_fit(text, cut ? width - 3 : width);
	char start[24] = "";

	if (!s->left)
		return;
	if (s->state->colour && sgr)
		snprintf(start, sizeof(start), "\033[%sm", sgr);
	/* Cleared first: at the end of a full line that would clear its last column. */
	fprintf(s->out, "%s%s%.*s%s%s", s->state->last ? "" : "\033[K", start, (int)len, text,
		cut ? "..." : "", start[0] ? "\033[0m" : "");
	end_line(s);
}

static void write_head(struct screen *s)
{
	const struct top_state *t = s->state;
	char kernel[300], time[32], text[TEXT_MAX], rows[64] = "";

	format_ns(s->view->run.duration_ns, time, sizeof(time));
	escape_text(s->view->host.kernel, sizeof(s->view->host.kernel), kernel, sizeof(kernel));
	if (t->shown && t->shown < t->nrows && !t->detail && !t->help)
		snprintf(rows, sizeof(rows), " · %u-%u of %u", t->first + 1, t->first + t->shown,
			 t->nrows);
	if (t->width < TOP_NARROW)
		snprintf(text, sizeof(text), "culprit top · %s%s", time,
			 t->paused ? " · paused" : "");
	else
		snprintf(text, sizeof(text), "culprit top · linux %s · %s · by %s%s%s", kernel,
			 time, sort_names[t->sort], t->paused ? " · paused" : "", rows);
	top_put(s, "1", text);
}

/* A block for each second, the newest on the right; its height is the lost share, on a scale of
 * orders of magnitude: 0.001 % to 100 %. */
static void sparkline(const struct recent *r, uint32_t cpu, unsigned columns, char *buf, size_t len)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t at = 0;

	buf[0] = 0;
	for (unsigned i = columns; i-- > 0;) {
		double share = recent_share(r, cpu, i);
		unsigned height = 0;

		if (share < 0)
			continue;
		for (double limit = 1e-5; height < 7 && share > limit;
		     limit *= 5.18) /* 7 steps to 1 */
			height++;
		if (at + 4 < len)
			at += snprintf(buf + at, len - at, "%s", blocks[height]);
	}
}

/* Digits of the largest CPU's number. */
static int number_width(const struct view *v)
{
	return v->ncpus ? snprintf(NULL, 0, "%u", v->cpu[v->ncpus - 1].number) : 1;
}

static void write_lane(struct screen *s, uint32_t i)
{
	char start[128], line[4 * RECENT_LINE], text[TEXT_MAX + 256], share[32], longest[32];
	const struct top_state *t = s->state;
	const struct cpu *c = &s->view->cpu[i];
	uint64_t observed = recent_observed(s->recent, i, 1);
	unsigned used;

	format_percent(observed ? 100.0 * recent_lost(s->recent, i, 1) / observed : 0, share,
		       sizeof(share));
	used = snprintf(
		start, sizeof(start), "cpu %*u%s  %6s %% lost  ", number_width(s->view), c->number,
		t->width >= TOP_WIDE && cpus_has(&s->view->host.isolated, c->number) ? " (isolated)"
										     : "",
		share);
	if (t->width >= TOP_NARROW)
		used += snprintf(start + used, sizeof(start) - used, "longest %8s  ",
				 format_ns(c->hiccups.max, longest, sizeof(longest)));
	used = text_columns(start);
	if (c->ended)
		snprintf(line, sizeof(line), "ended early: %s", c->ended);
	else
		sparkline(s->recent, i, t->width > used ? t->width - used : 0, line, sizeof(line));
	snprintf(text, sizeof(text), "%s%s", start, line);
	top_put(s, NULL, text);
}

/* Draws what is known of one CPU alone, since the start. */
static void write_cpu(struct screen *s, const struct cpu *c)
{
	char text[TEXT_MAX], parts[160] = "not traced", count[32], a[32], b[32];
	uint64_t all = c->hiccups.sum ? c->hiccups.sum : 1;

	if (s->view->run.traced) {
		format_percent(100.0 * c->attributed_ns / all, a, sizeof(a));
		format_percent(100.0 * c->outside_ns / all, b, sizeof(b));
		snprintf(parts, sizeof(parts), "attributed %s %% · outside %s %%", a, b);
	}
	snprintf(text, sizeof(text), "%s hiccups · median %s · p99 %s · %s",
		 format_count(c->hiccups.count, count, sizeof(count)),
		 format_ns(hist_percentile(&c->hiccups, 50), a, sizeof(a)),
		 format_ns(hist_percentile(&c->hiccups, 99), b, sizeof(b)), parts);
	top_put(s, "2", text);
}

static void write_lanes(struct screen *s)
{
	const struct top_state *t = s->state;
	struct top_layout l = top_layout(t, s->view->ncpus);
	char text[64];

	if (t->alone && l.lanes)
		write_lane(s, t->only);
	for (uint32_t i = 0; !t->alone && i < l.lanes && i < t->nlanes; i++)
		write_lane(s, t->lane[i]);
	if (!l.more)
		return;
	if (t->alone) {
		write_cpu(s, &s->view->cpu[t->only]);
		return;
	}
	snprintf(text, sizeof(text), "%u more CPU%s%s", s->view->ncpus - l.lanes,
		 plural(s->view->ncpus - l.lanes), t->last ? "" : ": Tab lists them");
	top_put(s, "2", text);
}

/* ---- the table ---- */

static void share_cell(struct table *t, double share)
{
	if (share > 0 && share < 0.005)
		table_cell(t, NULL, "<0.01");
	else
		table_cellf(t, NULL, "%.2f", share);
}

static void declare(struct table *t, const struct screen *s)
{
	const struct top_state *state = s->state;
	bool sources = state->page == TOP_SOURCES;

	if (!sources)
		table_column(t, "cpu", ALIGN_RIGHT, false);
	table_column(t, "1s %", ALIGN_RIGHT, false);
	if (state->width >= TOP_NARROW) {
		table_column(t, "10s %", ALIGN_RIGHT, false);
		table_column(t, "all %", ALIGN_RIGHT, false);
		table_column(t, sources ? "count" : "hiccups", ALIGN_RIGHT, false);
	}
	table_column(t, sources ? "max" : "longest", ALIGN_RIGHT, false);
	if (sources && s->view->ncpus > 1 && !state->alone)
		table_column(t, "cpu", ALIGN_RIGHT, false);
	if (state->width >= TOP_WIDE && sources)
		table_column(t, "kind", ALIGN_LEFT, false);
	if (state->width >= TOP_NARROW)
		table_column(t, "cause", ALIGN_LEFT, false);
	table_column(t, sources ? "who" : "who most", ALIGN_LEFT, true);
	table_cut(t);
}

static void row(struct table *t, const struct screen *s, const struct top_row *x, bool plain)
{
	const struct top_state *state = s->state;
	const struct cpu *c = &s->view->cpu[x->cpu];
	const struct source *source = x->source == TOP_NO_SOURCE ? NULL : c->sources.row[x->source];
	bool sources = state->page == TOP_SOURCES;
	char text[REPORT_WHO];

	if (!sources)
		table_cellf(t, NULL, "%u", c->number);
	share_cell(t, x->second);
	if (state->width >= TOP_NARROW) {
		share_cell(t, x->ten);
		share_cell(t, x->all);
		table_cell(t, NULL, format_count(x->count, text, sizeof(text)));
	}
	table_cell(t, NULL, format_ns(x->max_ns, text, sizeof(text)));
	if (sources && s->view->ncpus > 1 && !state->alone)
		table_cellf(t, NULL, "%u", c->number);
	if (state->width >= TOP_WIDE && sources)
		table_cell(t, plain ? NULL : "2", source_kind_name(source->kind));
	if (state->width >= TOP_NARROW)
		table_cell(t, NULL, source && source->cause ? source->cause : "");
	table_cell(t, plain ? NULL : "1", source ? report_who(source, text, sizeof(text)) : "");
	table_end_row(t);
}

/* Prints the table's lines. `mark`: the row with the cursor. */
static int print_table(struct screen *s, const struct table *t, uint32_t mark)
{
	char *text = NULL, *line, *next;
	uint32_t at = 0;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	bool last = s->state->last, colour = s->state->colour;

	if (!f)
		return -ENOMEM;
	table_print(t, f, colour);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	for (line = text; *line && s->left > !last; line = next, at++) {
		bool here = at == mark + 1 && !last; /* below the head */

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		if (here)
			line[0] = '>';
		fprintf(s->out, "%s%s%s%s", here && colour ? "\033[7m" : "", last ? "" : "\033[K",
			line, here && colour ? "\033[0m" : "");
		end_line(s);
	}
	free(text);
	return 0;
}

static int write_table(struct screen *s)
{
	const struct top_state *state = s->state;
	struct table *t = table_new(state->width, 1);
	int err;

	if (!t)
		return -ENOMEM;
	declare(t, s);
	for (uint32_t i = state->first; i < state->first + state->shown; i++)
		row(t, s, &state->row[i], i == state->cursor);
	err = print_table(s, t, state->cursor - state->first);
	table_free(t);
	return err;
}

/* ---- the source under the cursor ---- */

/* Draws who asked for it, else the first other thing that is known of it. */
static void write_asker(struct screen *s, const struct sources *t, const struct source *x)
{
	char *notes = report_notes(t, x, false), *by = notes;

	while (by && *by && strncmp(by, "by ", 3))
		by = *(by + strcspn(by, "\n")) ? by + strcspn(by, "\n") + 1 : NULL;
	by = by && *by ? by : x->askers ? notes : NULL;
	if (by)
		by[strcspn(by, "\n")] = 0;
	top_put(s, NULL, by ? report_unmark(by) : "nobody is known to have asked for it");
	free(notes);
}

static void write_footer(struct screen *s, unsigned lines)
{
	const struct top_state *state = s->state;
	const struct source *x = state->nrows ? top_source(s->view, state) : NULL;
	char text[4096], who[REPORT_WHO], safe[2048];
	const struct cpu *c;

	while (s->left > lines + 1)
		top_put(s, NULL, "");
	if (!x)
		return;
	c = &s->view->cpu[state->at_cpu];
	if (lines > 2) {
		snprintf(text, sizeof(text), "cpu %u: %s", c->number,
			 report_who(x, who, sizeof(who)));
		top_put(s, "1", text);
	}
	write_asker(s, &c->sources, x);
	if (x->advice)
		snprintf(text, sizeof(text), "[%s] %s", x->cause ? x->cause : "?",
			 escape_text(x->advice, SIZE_MAX, safe, sizeof(safe)));
	else if (x->cause)
		snprintf(text, sizeof(text), "[%s] culprit explain %s", x->cause, x->cause);
	else
		snprintf(text, sizeof(text), "the cause book has nothing on it");
	top_put(s, NULL, text);
}

/* ---- the whole ---- */

static void write_help(struct screen *s)
{
	static const char *const lines[] = {
		"",
		"arrows, j k     move the cursor; PgUp, PgDn and g, G further",
		"Enter           the source in detail, or the CPU's sources alone; Esc goes back",
		"Tab             all CPUs, ranked; again: the sources",
		"1, 0, a         sort by the last second, the last ten, all the time",
		"m, c            sort by the longest, by count",
		"s               the next of these",
		"p, space        pause the screen; measuring goes on",
		"q               quit; so does Ctrl-C. The last screen stays",
		"h               back",
		"",
		"1s %, 10s %, all %: how much of its time the CPU lost to a source.",
		"Lanes: the CPUs that lost most, and those with the longest hiccups, in turn.",
		"lost: in the last second. longest: since the start.",
		"The blocks: time lost in each second, 0.001 % to 100 %.",
		"cause: culprit explain ID says what it is and how to end it.",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && s->left > 1; i++)
		top_put(s, NULL, lines[i]);
}

static const char *keys_of(const struct top_state *s)
{
	if (s->width < TOP_NARROW)
		return s->help || s->detail || s->alone ? "q quit Esc back"
							: "q quit s sort h help";
	if (s->help)
		return "q quit  h back";
	if (s->detail)
		return "q quit  p pause  arrows scroll  Esc back";
	if (s->alone)
		return "q quit  p pause  s sort  arrows move  Enter details  Esc all CPUs  h help";
	if (s->page == TOP_CPUS)
		return "q quit  p pause  s sort  arrows move  Enter one CPU  Tab sources  h help";
	return "q quit  p pause  s sort  arrows move  Enter details  Tab CPUs  h help";
}

static int write_page(struct screen *s)
{
	struct top_layout l = top_layout(s->state, s->view->ncpus);
	int err;

	if (s->state->page == TOP_SOURCES)
		write_lanes(s);
	err = write_table(s);
	if (l.footer)
		write_footer(s, l.footer);
	return err;
}

int render_top(const struct view *v, const struct recent *r, struct top_state *state, FILE *out)
{
	struct screen s = {state, v, r, out, state->height};
	int err = 0;

	if (!state->last)
		fputs("\033[H", out);
	write_head(&s);
	if (state->help && !state->last)
		write_help(&s);
	else if (state->detail)
		err = top_detail(&s);
	else
		err = write_page(&s);
	if (!state->last) {
		while (s.left > 1)
			top_put(&s, NULL, "");
		top_put(&s, "2", keys_of(state));
	}
	return err ? err : ferror(out) ? -EIO : 0;
}
