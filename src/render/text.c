/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report for people. At 100 columns:
 *
 *   culprit 0.1 · linux 6.12.1 · Intel Xeon Gold 6338 · 60.0 s · sampler tsc
 *
 *   cpu 3 (isolated, nohz_full)  412 hiccups · 0.0061 % of its time lost to them · worst 38.2 us …
 *     attributed 97.4 % · edge 2.1 % · outside the kernel 0.5 % · threshold 200 ns (auto) · …
 *      share      time  count      max      p99  kind     who
 *       62.1   2.27 ms    300  9.80 us  9.10 us  thread   kworker/3:1 [812]
 *     worst:
 *     +12.345678 s  38.2 us = kworker/3:2 31.0 us + local_timer 2.10 us + edge 5.10 us
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/table.h"
#include "base/units.h"
#include "model/groups.h"
#include "model/hosts.h"
#include "model/report.h"
#include "render/render.h"
#include "render/text.h"

#define WORST_LEAD "        " /* before the further lines of a worst hiccup */
#define WORST_HANG WORST_LEAD "  "
#define WORST_TOP  5
/* Fewer where CPUs are folded: */
#define WORST_FOLDED 3
#define ROWS_FOLDED  3

const char *text_style(const struct page *p, const char *sgr)
{
	return !p->colour ? "" : !strcmp(sgr, BOLD) ? "\033[1m" : "\033[2m";
}

const char *text_plain(const struct page *p)
{
	return p->colour ? "\033[0m" : "";
}

const char *text_safe(const char *text, char buf[TEXT_SAFE])
{
	return escape_text(text, SIZE_MAX, buf, TEXT_SAFE);
}

void text_line(const struct page *p, const char *fmt, ...)
{
	static const char blanks[] = "          ";
	char text[4 * TEXT_SAFE];
	size_t indent;
	struct flow f;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	indent = strspn(fmt, " ");
	flow_start(&f, p->out, p->width, blanks + sizeof(blanks) - 1 - indent, " ",
		   blanks + sizeof(blanks) - 3 - indent);
	flow_advice(&f, text);
	flow_end(&f);
}

void text_head(const struct page *p, struct flow *f, const char *title)
{
	char word[REPORT_MACHINE][REPORT_WORD];
	uint32_t n = report_machine(p->view, word);

	fputs(text_style(p, BOLD), p->out);
	flow_start(f, p->out, p->width, title, " · ", "  ");
	fputs(text_plain(p), p->out);
	f->some = true;
	for (uint32_t i = 0; i < n; i++)
		flow_add(f, "%s", word[i]);
}

static void write_caution(const struct page *p, const struct report_fact *c)
{
	char text[4 * sizeof(p->view->run.incomplete)], name[32];
	struct flow f;

	snprintf(name, sizeof(name), "%s:", c->name);
	fputs(text_style(p, BOLD), p->out);
	flow_start(&f, p->out, p->width, name, " ", "  ");
	f.hang = "  ";
	flow_add(&f, "%s", escape_text(c->text, SIZE_MAX, text, sizeof(text)));
	fputs(text_plain(p), p->out);
	flow_end(&f);
}

static void write_head(const struct page *p)
{
	const struct run *r = &p->view->run;
	struct report_cautions cautions;
	uint32_t n = report_cautions(p->view, &cautions);
	char text[256];
	struct flow f;

	text_head(p, &f, "culprit " CULPRIT_VERSION);
	flow_add(&f, "%s", format_ns(r->duration_ns, text, sizeof(text)));
	if (r->label[0])
		flow_add(&f, "%s", escape_text(r->label, sizeof(r->label), text, sizeof(text)));
	flow_end(&f);
	for (uint32_t i = 0; i < n; i++)
		write_caution(p, &cautions.fact[i]);
}

/* "(by poke [812] on cpu 0)" behind the piece that it asked for. */
static void add_asker(struct flow *f, const struct asker *a)
{
	const char *separator = f->separator, *lead = f->lead;
	char text[REPORT_ASKER];

	report_asker(a, text);
	f->separator = " ";
	f->lead = WORST_HANG;
	flow_add(f, "(%s)", report_unmark(text));
	f->separator = separator;
	f->lead = lead;
}

static void write_worst(const struct page *p, const struct worst *w)
{
	char name[REPORT_PART], time[32], lane[LANE_NAME], safe_lane[4 * LANE_NAME], start[64];
	struct report_part part[REPORT_PARTS];
	uint32_t n = report_parts(p->view, w, part);
	struct flow f;

	snprintf(start, sizeof(start), "  +%.6f s", (w->start_ns - p->view->run.started_ns) / 1e9);
	flow_start(&f, p->out, p->width, start, "  ", WORST_HANG);
	f.hang = WORST_HANG;
	f.some = true;
	flow_add(&f, "%s",
		 escape_text(view_lane(p->view, w->cpu, lane), SIZE_MAX, safe_lane,
			     sizeof(safe_lane)));
	flow_add(&f, "%8s =", format_ns(w->duration_ns, time, sizeof(time)));
	f.some = false; /* the first piece follows the "=" */
	f.separator = " + ";
	f.lead = WORST_LEAD "+ ";
	for (uint32_t i = 0; i < n; i++) {
		report_part_name(p->view, &part[i], name);
		flow_add(&f, "%s %s", report_unmark(name),
			 format_ns(part[i].ns, time, sizeof(time)));
		if (part[i].asker)
			add_asker(&f, part[i].asker);
	}
	flow_end(&f);
}

static void write_tail(const struct page *p)
{
	const struct run *r = &p->view->run;
	char text[TEXT_SAFE];
	struct flow f;

	if (view_names_hidden(p->view)) {
		fputc('\n', p->out);
		text_line(p, "functions have no names: %s", view_names_hidden(p->view));
	}
	if (!r->traced) {
		fputc('\n', p->out);
		text_line(p,
			  "not traced (--no-trace): hiccups are measured, nothing is attributed");
	}
	if (r->watch) {
		fputc('\n', p->out);
		if (r->sums)
			text_line(p, "%s", VIEW_SUMS);
		text_line(p, "%s", VIEW_WATCH);
	}
	if (!r->nnot_observed)
		return;
	fputc('\n', p->out);
	flow_start(&f, p->out, p->width, "not observed: ", " ", "  ");
	for (uint32_t i = 0; i < r->nnot_observed; i++)
		flow_add(&f, "%s", text_safe(r->not_observed[i], text));
	flow_end(&f);
	text_line(p, "  (" REPORT_NOT_OBSERVED ": what they would show counts as %s%s)",
		  text_safe(view_rest(p->view), text), report_unseen_faults(p->view));
}

static void write_worst_hiccups(const struct page *p, uint32_t most)
{
	uint32_t worst = p->view->nworst < most ? p->view->nworst : most;

	if (worst)
		fprintf(p->out, "\n%sworst hiccups%s\n", text_style(p, BOLD), text_plain(p));
	for (uint32_t i = 0; i < worst; i++)
		write_worst(p, &p->view->worst[i]);
}

static void write_frequencies(const struct page *p)
{
	char text[REPORT_FREQUENCY];
	struct flow f;

	if (!*report_frequencies(p->view, text))
		return;
	fputc('\n', p->out);
	flow_start(&f, p->out, p->width, "changes of frequency: ", " ", "  ");
	flow_words(&f, text);
	flow_end(&f);
}

static void write_begin(const struct page *p, const void *of)
{
	(void)of;
	write_head(p);
	text_verdict(p, false);
	text_table(p);
}

static void write_end(const struct page *p, const void *of)
{
	(void)of;
	text_chart(p);
	write_worst_hiccups(p, p->fold ? WORST_FOLDED : WORST_TOP);
	write_frequencies(p);
	text_audit(p);
	text_not_in_book(p);
	write_tail(p);
}

static unsigned lines_of(const char *text)
{
	unsigned lines = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		lines++;
	}
	return lines;
}

char *text_part(const struct page *p, void (*write)(const struct page *p, const void *of),
		const void *of)
{
	struct page inner = *p;
	char *text = NULL;
	size_t len;

	inner.out = open_memstream(&text, &len);
	if (!inner.out)
		return NULL;
	write(&inner, of);
	if (!fclose(inner.out))
		return text;
	free(text);
	return NULL;
}

/* The details get the lines that the rest leaves. */
static int write_folded(const struct page *p)
{
	char *begin = text_part(p, write_begin, NULL), *end = text_part(p, write_end, NULL);

	if (begin && end) {
		fputs(begin, p->out);
		text_groups(p, lines_of(begin) + lines_of(end));
		fputs(end, p->out);
	}
	free(begin);
	free(end);
	return begin && end ? 0 : -ENOMEM;
}

static int write_report(const struct view *view, const struct render_options *options, FILE *out)
{
	bool fold = groups_shown(view) && !options->all;
	struct page p = {.out = out,
			 .view = view,
			 .colour = options->colour,
			 .stacks = options->stacks,
			 .chart = options->chart,
			 .width = options->width ? options->width : 100,
			 .series = options->series,
			 .fold = fold,
			 .rows = fold ? ROWS_FOLDED : 0};

	if (fold)
		return write_folded(&p);
	write_begin(&p, NULL);
	text_cpus(&p);
	write_end(&p, NULL);
	return 0;
}

/* The first lines of a text that is longer than the terminal are out of sight. */
static int write_one(const struct view *view, const struct render_options *options, FILE *out)
{
	struct page p = {.out = out,
			 .view = view,
			 .colour = options->colour,
			 .width = options->width ? options->width : 100};
	char *text = NULL;
	size_t len;
	FILE *f;
	int err;

	if (!options->height)
		return write_report(view, options, out);
	f = open_memstream(&text, &len);
	if (!f)
		return -ENOMEM;
	err = write_report(view, options, f);
	if (fclose(f))
		err = -ENOMEM;
	if (!err) {
		fputs(text, out);
		if (lines_of(text) >= options->height) /* the shell's prompt is below */
			text_verdict(&p, true);
	}
	free(text);
	return err;
}

/* A file's path may be long. */
static void write_heading(const char *label, const char *started, unsigned width, FILE *out)
{
	struct flow f;

	fputc('\n', out);
	flow_start(&f, out, width, "====", " ", "     ");
	f.hang = "     ";
	flow_add(&f, "%s,", label);
	flow_add(&f, "%s ====", started);
	flow_end(&f);
}

int render_text(const struct view *const *views, uint32_t n, const struct render_options *options,
		FILE *out)
{
	int err = n > 1 ? render_hosts(views, n, options, false, out) : 0;
	char label[HOST_LABEL], started[160];

	for (uint32_t i = 0; i < n && !err; i++) {
		if (n > 1)
			write_heading(host_label(views, n, i, label, sizeof(label)),
				      escape_text(views[i]->run.started,
						  sizeof(views[i]->run.started), started,
						  sizeof(started)),
				      options->width, out);
		err = write_one(views[i], options, out);
	}
	return err ? err : ferror(out) ? -EIO : 0;
}
