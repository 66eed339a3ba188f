/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text report of many CPUs: below the table of all (text_ranked.c) each that stands alone, and
 * once those that are alike (model/groups.h), as far as LINES have room for them:
 *
 *   cpus 4-33,35-63 (59 alike: isolated)
 *              least   median     most
 *     lost %   0.464    0.466    0.467  cpu 51
 *     ...
 *     attributed 98.3 % · edge 1.73 % · outside the kernel 0 %
 *     share %     each  longest  kind    who
 *       93.97  18.6 ms  48.9 us  vector  local_timer > tick_nohz_handler
 */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/table.h"
#include "base/units.h"
#include "model/groups.h"
#include "model/report.h"
#include "render/text.h"

#define LINES       100 /* lines of a report in which CPUs are folded */
#define LINES_LEAST 24  /* lines for details, at least */
#define LEFT_LINES  4   /* lines that name the CPUs without details */
#define BLOCKS_MOST 64  /* more than ever fit */
#define LEFT_BYTES  80  /* room for the list of these */

/* ---- those that are alike ---- */

static void figure_row(const struct page *p, struct table *t, const char *name,
		       const struct spread *s, char *(*format)(uint64_t, char *, size_t))
{
	const double figure[] = {s->least, s->median, s->most};
	char a[32], lane[REPORT_CPUS];

	table_cell(t, DIM, name);
	for (size_t i = 0; i < 3; i++)
		table_cell(t, NULL,
			   format ? format(figure[i], a, sizeof(a))
				  : report_lost_share(figure[i], a, sizeof(a)));
	table_cell(t, DIM, report_lane(p->view, s->lane, lane));
	table_end_row(t);
}

/* True where hiccups are a workload's slow operations. */
static bool workload(const struct page *p)
{
	return p->view->run.windows && !p->view->run.watch;
}

static void write_figures(const struct page *p, const struct cpu_group *g)
{
	static const char *const headings[] = {"of each", "least", "median", "most"};
	struct table *t = table_new(p->width, 2);

	if (!t)
		return;
	for (size_t i = 0; i < 4; i++)
		table_column(t, headings[i], i ? ALIGN_RIGHT : ALIGN_LEFT, false);
	table_column(t, "at", ALIGN_LEFT, false);
	if (view_threads(p->view))
		figure_row(p, t, "lost", &g->lost_each_ns, format_ns);
	else if (!p->view->run.windows)
		figure_row(p, t, "lost %", &g->lost, NULL);
	figure_row(p, t,
		   workload(p)         ? "slow"
		   : p->view->run.sums ? "runs"
				       : "hiccups",
		   &g->hiccups, format_count);
	if (g->hiccups.most > 0 && workload(p)) {
		figure_row(p, t, "longest", &g->longest_ns, format_ns);
	} else if (g->hiccups.most > 0) {
		figure_row(p, t, "worst", &g->longest_ns, format_ns);
		figure_row(p, t, "p99", &g->p99_ns, format_ns);
		figure_row(p, t, "median", &g->median_ns, format_ns);
	}
	table_print(t, p->out, p->colour);
	table_free(t);
}

static void source_row(const struct page *p, struct table *t, const struct cpu_group *g,
		       const struct report_rows *rows, const struct report_row *r)
{
	const struct group_source *s = r->common;
	char a[32], who[REPORT_WHO + 2];

	report_row_who(r, who);
	table_cell(t, NULL, report_share(r->ns, rows->whole_ns, a, sizeof(a)));
	table_cell(t, NULL, s ? format_ns(s->ns.median, a, sizeof(a)) : "");
	table_cell(t, NULL, s ? format_ns(s->max_ns, a, sizeof(a)) : "");
	table_cell(t, DIM, report_row_kind(r));
	table_cell(t, !s ? DIM : kind_is_interval(r->kind) ? BOLD : NULL, report_unmark(who));
	table_end_row(t);
	if (!s)
		return;
	text_notes(t, report_group_notes(p->view, g, s));
	text_advice(t, r);
}

static void write_sources(const struct page *p, const struct cpu_group *g)
{
	static const char *const headings[] = {"share %", "each", "longest"};
	struct table *t = table_new(p->width, 2);
	struct report_rows rows;

	if (!t || report_group_rows(p->view, g, p->rows, &rows)) {
		table_free(t);
		return;
	}
	for (size_t i = 0; i < 3; i++)
		table_column(t, headings[i], ALIGN_RIGHT, false);
	table_column(t, "kind", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
	for (uint32_t i = 0; i < rows.n; i++)
		source_row(p, t, g, &rows, &rows.row[i]);
	table_print(t, p->out, p->colour);
	table_free(t);
	free(rows.row);
}

static void add_part(struct flow *f, const char *name, uint64_t ns, uint64_t whole)
{
	char a[32];

	flow_add(f, "%s %s %%", name, format_percent(whole ? 100.0 * ns / whole : 0, a, sizeof(a)));
}

/* Explains threads' figures by those of one of them. */
static void write_thread(const struct page *p, const struct cpu_group *g)
{
	char lane[REPORT_CPUS];

	text_line(p, "  of %s, which stands for the others (--all shows each):",
		  report_lane(p->view, g->first, lane));
	text_thread(p, &p->view->cpu[g->first], "    ");
}

/* Writes how the lost time of all of them divides, and what their measurement lacks. */
static void write_numbers(const struct page *p, const struct cpu_group *g)
{
	bool traced = p->view->run.traced && !p->view->run.sums; /* sums know none of it */
	struct cpu sum = {0};
	char a[32], b[32], text[TEXT_SAFE];
	struct flow f;

	for (uint32_t i = 0; i < g->n; i++) {
		const struct cpu *c = &p->view->cpu[g->lane[i]];

		sum.counts.seen += c->counts.seen;
		sum.counts.lost += c->counts.lost;
		sum.counts.mismatches += c->counts.mismatches;
		sum.hiccups_lost += c->hiccups_lost;
		sum.hiccups_lost_ns += c->hiccups_lost_ns;
		sum.unpaired += c->unpaired;
		sum.unread += c->unread;
		sum.closure_known |= c->closure_known;
		sum.ended = c->ended;
		if (c->offline.times && c->offline.total_ns >= sum.offline.total_ns)
			sum.offline = c->offline;
	}
	flow_start(&f, p->out, p->width,
		   workload(p) && traced && g->total_ns ? "  of their time: " : "  ", " · ", "  ");
	if (traced && g->total_ns) {
		add_part(&f, p->view->run.watch ? "seen by the kernel" : "attributed",
			 g->attributed_ns, g->total_ns);
		if (!p->view->run.watch)
			add_part(&f, "edge", g->edge_ns, g->total_ns);
		if (g->lost_ns)
			add_part(&f, NOT_RECORDED, g->lost_ns, g->total_ns);
		if (g->host_ns)
			add_part(&f, "host", g->host_ns, g->total_ns);
		add_part(&f, text_safe(view_rest(p->view), text), g->outside_ns, g->total_ns);
	}
	if (traced)
		flow_add(&f, "records %s, lost %s", format_count(sum.counts.seen, a, sizeof(a)),
			 format_count(sum.counts.lost, b, sizeof(b)));
	if (traced || sum.counts.mismatches)
		flow_add(&f, "join mismatches %s",
			 format_count(sum.counts.mismatches, a, sizeof(a)));
	if (f.some)
		flow_end(&f);
	if (sum.counts.lost)
		text_line(p, "  lost: " VIEW_LATE "; %s", view_relief(p->view));
	text_not_recorded(p, &sum);
	text_unread(p, sum.unread);
	if (view_threads(p->view))
		write_thread(p, g);
	else if (sum.unpaired)
		text_unpaired(p, sum.unpaired);
	if (sum.ended)
		text_line(p, "  all of them ended early: %s", text_safe(sum.ended, text));
	if (sum.offline.times)
		text_line(p, "  all of them %s", offline_say_all(&sum.offline, text));
}

/* The kernel's counters of all of them; how many counters, and on how many CPUs one differs. */
static void write_closure(const struct page *p, const struct cpu_group *g)
{
	uint32_t counters = 0, differ = 0, cpus = 0;
	const struct cpu *c = &p->view->cpu[g->first];
	char those[64] = "";

	if (!p->view->run.traced || p->view->run.watch || !c->closure_known)
		return;
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t before = differ;

		c = &p->view->cpu[g->lane[i]];
		counters += c->nclosure;
		for (uint32_t k = 0; k < c->nclosure; k++)
			differ += c->closure[k].kernel != c->closure[k].traced;
		cpus += differ > before;
	}
	if (differ)
		snprintf(those, sizeof(those), "; those of %u CPU%s differ (-f json)", cpus,
			 plural(cpus));
	text_line(p, "  closure: %u of the kernel's %u counters match what was traced%s",
		  counters - differ, counters, those);
}

static void write_group(const struct page *p, const struct cpu_group *g)
{
	unsigned number = p->view->cpu[g->first].number;
	char list[REPORT_CPUS];
	struct flow f;

	text_heading(p, report_cpus(p->view, g, list), &f);
	f.some = true;
	if (view_threads(p->view))
		flow_add(&f, "alike");
	else
		flow_add(&f, "(%u alike: %s%s)", g->n,
			 cpus_has(&p->view->host.isolated, number) ? "isolated" : "not isolated",
			 cpus_has(&p->view->host.nohz_full, number) ? ", nohz_full" : "");
	flow_end(&f);
	text_group_series(p, g);
	write_figures(p, g);
	write_numbers(p, g);
	if (g->total_ns)
		write_sources(p, g);
	write_closure(p, g);
}

/* ---- as much as there is room for ---- */

static unsigned count_lines(const char *text)
{
	unsigned n = 0;

	for (; text && (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* `of` is the group. */
static void write_block(const struct page *p, const void *of)
{
	const struct cpu_group *g = of;

	if (g->n > 1)
		write_group(p, g);
	else
		text_cpu(p, g->first);
}

static void name_left(const struct page *p, const struct cpus *left, uint32_t n)
{
	char list[LEFT_BYTES];
	struct flow f;

	if (!n)
		return;
	fputc('\n', p->out);
	flow_start(&f, p->out, p->width, "", " ", "  ");
	if (view_threads(p->view)) {
		flow_add(&f, "without details here: %u thread%s;", n, plural(n));
		flow_words(&f, "--all shows all of them");
		flow_end(&f);
		return;
	}
	flow_add(&f, "without details here: cpus %s;", cpus_format(left, list, sizeof(list)));
	flow_words(&f, "--all shows all of them, and of a recording culprit report -c N any");
	flow_end(&f);
}

/* Takes the block; false: there is no room for it. */
static bool take(char **text, const char **chosen, uint32_t k, unsigned *room)
{
	unsigned lines = count_lines(text[k]);

	if (chosen[k])
		return true;
	if (lines > *room)
		return false;
	chosen[k] = text[k];
	*room -= lines;
	return true;
}

/* The first block has its place anyway; then come those that stand for many CPUs, then the others,
 * by rank. */
static void choose(const struct cpu_groups *all, char **text, const char **chosen, unsigned room)
{
	unsigned first = count_lines(text[0]);

	chosen[0] = text[0];
	room = room > first ? room - first : 0;
	for (uint32_t k = 0; k < all->n; k++)
		if (all->row[k].n > 1)
			take(text, chosen, k, &room);
	for (uint32_t k = 0; k < all->n && take(text, chosen, k, &room); k++)
		;
}

void text_groups(const struct page *p, unsigned others)
{
	const struct cpu_groups *all = &p->view->groups;
	unsigned room = others + LINES_LEAST < LINES ? LINES - others : LINES_LEAST;
	char **text = calloc(all->n, sizeof(*text));
	const char **chosen = calloc(all->n, sizeof(*chosen));
	struct cpus left;
	uint32_t nleft = 0;

	cpus_clear(&left);
	for (uint32_t k = 0; text && k < all->n && k < BLOCKS_MOST; k++)
		text[k] = text_part(p, write_block, &all->row[k]);
	if (text && chosen)
		choose(all, text, chosen, room - LEFT_LINES);
	for (uint32_t k = 0; k < all->n; k++) {
		if (chosen && chosen[k]) {
			fputs(chosen[k], p->out);
		} else {
			cpus_or(&left, &all->row[k].cpus);
			nleft += all->row[k].n;
		}
		if (text)
			free(text[k]);
	}
	free(text);
	free(chosen);
	name_left(p, &left, nleft);
}
