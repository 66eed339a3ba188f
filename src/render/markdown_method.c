/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The method in Markdown: for each CPU the limits of its truth, then everything worth a
 * sentence. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/markdown.h"
#include "base/table.h"
#include "base/units.h"
#include "model/groups.h"
#include "model/report.h"
#include "render/render.h"

#define NAME_MAX_ESCAPED 1024

static const char *code(const char *name, char buf[NAME_MAX_ESCAPED])
{
	char text[NAME_MAX_ESCAPED - 32];

	return markdown_code(escape_text(name, SIZE_MAX, text, sizeof(text)), buf,
			     NAME_MAX_ESCAPED);
}

static void closure_cell(struct table *t, const struct run *run, const struct cpu *c)
{
	uint32_t match = 0;

	for (uint32_t i = 0; i < c->nclosure; i++)
		match += c->closure[i].kernel == c->closure[i].traced;
	if (!c->closure_known)
		table_cell(t, NULL,
			   c->ended                    ? "ended before"
			   : run->damaged || run->part ? "not of this part"
						       : "not checked");
	else
		table_cellf(t, NULL, "%u of %u counters match", match, c->nclosure);
}

/* The CPU, and how many it stands for. */
static void lane_cell(struct table *t, const struct view *v, uint32_t i)
{
	uint32_t alike = groups_shown(v) ? v->groups.row[v->groups.of[i]].n : 1;

	if (alike > 1)
		table_cellf(t, NULL, "%u, one of %u alike", v->cpu[i].number, alike);
	else
		table_cellf(t, NULL, "%u", v->cpu[i].number);
}

static void cpu_row(struct table *t, const struct view *v, uint32_t i)
{
	const struct cpu *c = &v->cpu[i];
	char a[32], b[32], lane[REPORT_CPUS], text[REPORT_CPUS + 32];

	if (v->run.watch)
		table_cell(t, NULL, markdown_code(report_lane(v, i, lane), text, sizeof(text)));
	else
		lane_cell(t, v, i);
	table_cell(t, NULL, format_ns(c->observed_ns, a, sizeof(a)));
	table_cell(t, NULL, format_ns(c->threshold_ns, a, sizeof(a)));
	if (v->run.watch) {
		table_cell(t, NULL, format_count(c->counts.seen, a, sizeof(a)));
		table_cell(t, NULL, format_count(c->counts.lost, a, sizeof(a)));
		table_end_row(t);
		return;
	}
	if (!c->loop_count)
		table_cell(t, NULL, v->run.windows ? "" : "?"); /* a workload has none */
	else if (view_tick(v) > 0)
		table_cellf(t, NULL, "%.1f ns, in ticks of %.1f ns", c->loop_mean_ns, view_tick(v));
	else
		table_cellf(t, NULL, "%.1f ns", c->loop_mean_ns);
	table_cell(t, NULL, format_count(c->counts.seen, a, sizeof(a)));
	table_cell(t, NULL, format_count(c->counts.lost, a, sizeof(a)));
	table_cell(t, NULL, format_count(c->hiccups_lost, a, sizeof(a)));
	table_cell(t, NULL, format_count(c->counts.mismatches, a, sizeof(a)));
	table_cellf(t, NULL, "%s, %s%s", format_ns(c->bounds.irq_ns, a, sizeof(a)),
		    format_ns(c->bounds.thread_ns, b, sizeof(b)),
		    c->edge_seen.samples < EDGE_SAMPLES_MIN   ? " (not calibrated)"
		    : c->edge_seen.samples < EDGE_SAMPLES_FEW ? " (from few samples)"
							      : "");
	closure_cell(t, &v->run, c);
	table_cell(t, NULL, c->steal_known ? format_ns(c->steal_ns, a, sizeof(a)) : "?");
	if (host_has_smis(&v->host)) /* the last column */
		table_cell(t, NULL, c->smi_known ? format_count(c->smi_count, a, sizeof(a)) : "?");
	table_end_row(t);
}

static int write_cpus(const struct view *v, bool all, FILE *out)
{
	static const char *const of_threads[] = {"thread", "observed", "threshold", "records",
						 "records lost"};
	static const char *const headings[] = {"cpu",          "observed",        "threshold",
					       "loop",         "records",         "records lost",
					       "hiccups lost", "join mismatches", "edge",
					       "closure",      "steal clock",     "SMIs"};
	size_t n = sizeof(headings) / sizeof(headings[0]) - !host_has_smis(&v->host);
	struct table *t = table_new(0, 0);

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; v->run.watch && i < sizeof(of_threads) / sizeof(of_threads[0]); i++)
		table_column(t, of_threads[i], i ? ALIGN_RIGHT : ALIGN_LEFT, false);
	for (size_t i = 0; !v->run.watch && i < n; i++)
		table_column(t, headings[i], i == 8 || i == 9 ? ALIGN_LEFT : ALIGN_RIGHT, false);
	for (uint32_t i = 0; i < v->ncpus; i++)
		if (all || group_detailed(v, i))
			cpu_row(t, v, i);
	table_print_markdown(t, out);
	table_free(t);
	return 0;
}

static void write_cpu_notes(const struct view *v, uint32_t i, FILE *out)
{
	const struct cpu *r = &v->cpu[i];
	unsigned cpu = v->cpu[i].number;
	char a[NAME_MAX_ESCAPED], b[NAME_MAX_ESCAPED], time[32], lane[LANE_NAME];
	struct nohz_tick_line line[NOHZ_TICK_ROWS];
	char before[48], after[16];
	char said[OFFLINE_SAID];

	if (r->ended)
		fprintf(out, "* cpu %u ended early, after %s: %s\n", cpu,
			format_ns(cpu_window_ns(r), time, sizeof(time)), code(r->ended, a));
	if (r->offline.times)
		fprintf(out, "* cpu %u %s\n", cpu, offline_say(&r->offline, said));
	if (r->counts.lost)
		fprintf(out, "* %s: records are lost: " VIEW_LATE "; %s\n",
			v->run.watch ? code(view_lane(v, i, lane), a) : view_lane(v, i, lane),
			view_relief(v));
	if (v->run.watch) /* see its own chapter */
		return;
	if (r->unpaired)
		fprintf(out, "* cpu %u: %" PRIu64 " time%s " REPORT_UNPAIRED "\n", cpu, r->unpaired,
			plural(r->unpaired));
	if (r->unread)
		fprintf(out, "* cpu %u: %" PRIu64 " run%s " REPORT_UNREAD "\n", cpu, r->unread,
			plural(r->unread));
	for (uint32_t k = 0; k < r->nclosure; k++) {
		const struct closure_row *c = &r->closure[k];

		if (c->kernel == c->traced)
			continue;
		fprintf(out, "* cpu %u: the kernel counted %" PRIu64 " of %s, traced were %" PRIu64,
			cpu, c->kernel, code(c->counter, a), c->traced);
		fprintf(out, c->why ? ": %s\n" : "\n", c->why ? code(c->why, b) : "");
	}
	for (uint32_t k = 0, n = nohz_ticks_lines(&r->ticks, line); k < n; k++) {
		const struct nohz_tick_row *row = &line[k].row;

		report_tick(&line[k], before, after);
		fprintf(out,
			"* cpu %u: the tick was kept by `%s` %" PRIu64 " time%s while %s%s%s ran\n",
			cpu, nohz_dependency_name(row->dependency), row->count, plural(row->count),
			before,
			markdown_code(report_comm(row->comm, row->kernel_thread, b, sizeof(b)), a,
				      sizeof(a)),
			after);
	}
}

static void write_not_observed(const struct view *v, FILE *out)
{
	const char *hidden = view_names_hidden(v);
	const struct run *r = &v->run;
	char text[NAME_MAX_ESCAPED];

	fputs("\n## Not observed\n\n", out);
	if (!r->traced)
		fputs("Nothing was traced (`--no-trace`): hiccups are measured, nothing is "
		      "attributed.\n",
		      out);
	else if (!r->nnot_observed && !r->symbols_hidden)
		fputs("Nothing that culprit knows of.\n", out);
	if (hidden)
		fprintf(out, "Functions have no names: %s.\n", hidden);
	for (uint32_t i = 0; i < r->nnot_observed; i++)
		fprintf(out, "%s%s",
			i                   ? ", "
			: r->symbols_hidden ? "\n"
					    : "",
			code(r->not_observed[i], text));
	if (r->nnot_observed)
		fprintf(out, ": " REPORT_NOT_OBSERVED "; what they would show counts as %s%s.\n",
			r->rest[0] ? code(r->rest, text) : "outside the kernel",
			report_unseen_faults(v));
}

int render_markdown_method(const struct view *v, bool all, FILE *out)
{
	char a[NAME_MAX_ESCAPED], b[NAME_MAX_ESCAPED];
	int err;

	fputs("\n## How it was measured\n\n", out);
	if (v->run.watch)
		fputs(VIEW_WATCH ".\n\n", out);
	else
		fprintf(out, "Sampler %s, %s; the threshold is %s.\n\n", code(v->run.sampler, a),
			code(v->run.priority, b),
			view_threshold_auto(v) ? "chosen (`-t auto`)" : "given");
	err = write_cpus(v, all, out);
	if (!v->run.watch)
		fputs("\n* edge: the longest time beside an interrupt, or a thread, that counts as "
		      "the kernel's own way in or out\n"
		      "* closure: the kernel's own counters over the same window, and what was "
		      "traced of them\n",
		      out);
	else
		fputs("\n", out);
	for (uint32_t i = 0; i < v->ncpus; i++)
		if (all || group_detailed(v, i))
			write_cpu_notes(v, i, out);
	write_not_observed(v, out);
	return err;
}
