/* The report for people. At 100 columns:
 *
 *   culprit 0.1 · linux 6.12.1 · Intel Xeon Gold 6338 · 60.0 s · sampler tsc
 *
 *   cpu 3 (isolated, nohz_full)  412 hiccups · 0.0061 % of the CPU lost · worst 38.2 us · p99 6.10 us · median 1.90 us
 *     attributed 97.4 % · edge 2.1 % · outside the kernel 0.5 % · threshold 200 ns (auto) · records 1,021, lost 0
 *      share      time  count      max      p99  kind     who
 *       62.1   2.27 ms    300  9.80 us  9.10 us  thread   kworker/3:1 [812]
 *     worst:
 *     +12.345678 s  38.2 us = kworker/3:2 31.0 us + local_timer 2.10 us + edge 5.10 us
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "render/render.h"

#define ROWS_MAX         16
#define WORST_TOP        5
#define NAME_MAX_ESCAPED (4 * SOURCE_NAME + 8)

#define BOLD "1"
#define DIM  "2"

struct page {
	FILE *out;
	const struct view *view;
	bool colour, stacks;
	unsigned width;
};

static const char *open_style(const struct page *p, const char *sgr)
{
	return !p->colour ? "" : !strcmp(sgr, BOLD) ? "\033[1m" : "\033[2m";
}

static const char *close_style(const struct page *p)
{
	return p->colour ? "\033[0m" : "";
}

static const char *percent_of(uint64_t part, uint64_t whole, char *buf, size_t len)
{
	return format_percent(whole ? 100.0 * part / whole : 0, buf, len);
}

/* "kworker/3:1 [812]", "virtio1-req.0 (irq 36)", "local_timer > tick_nohz_handler" */
static const char *who(const struct source *s, char *buf, size_t len)
{
	char name[NAME_MAX_ESCAPED], id[32] = "";

	escape_text(s->name, sizeof(s->name), name, sizeof(name));
	if (s->kind == SOURCE_IRQ)
		snprintf(id, sizeof(id), name[0] ? " (irq %u)" : "irq %u", s->id);
	else if (s->kind == SOURCE_THREAD && s->id)
		snprintf(id, sizeof(id), " [%u]", s->id);
	snprintf(buf, len, "%s%s", name, id);
	if (s->function) {
		escape_text(s->function, SIZE_MAX, name, sizeof(name));
		snprintf(buf + strlen(buf), len - strlen(buf), " > %s", name);
	}
	return buf;
}

static void write_head(const struct page *p)
{
	const struct host *h = &p->view->host;
	const struct run *r = &p->view->run;
	char time[32], model[256], hypervisor[128];

	fprintf(p->out, "%sculprit %s%s · linux %s · %s", open_style(p, BOLD), CULPRIT_VERSION, close_style(p),
		h->kernel, escape_text(h->cpu_model, sizeof(h->cpu_model), model, sizeof(model)));
	if (h->hypervisor[0])
		fprintf(p->out, " · %s guest",
			escape_text(h->hypervisor, sizeof(h->hypervisor), hypervisor, sizeof(hypervisor)));
	fprintf(p->out, " · %s\n", format_ns(r->duration_ns, time, sizeof(time)));
}

static void write_cpu_head(const struct page *p, uint32_t i)
{
	const struct cpu_summary *s = &p->view->summary.cpu[i];
	const struct cpu_run *r = &p->view->cpu[i];
	const struct host *h = &p->view->host;
	const struct hist *hiccups = &s->hiccups;
	char a[32], b[32], c[32], d[32], e[32];

	fprintf(p->out, "\n%scpu %u%s (%s%s)  %s hiccup%s · %s %% of the CPU lost", open_style(p, BOLD), s->cpu,
		close_style(p), cpus_has(&h->isolated, s->cpu) ? "isolated" : "not isolated",
		cpus_has(&h->nohz_full, s->cpu) ? ", nohz_full" : "", format_count(hiccups->count, a, sizeof(a)),
		hiccups->count == 1 ? "" : "s", percent_of(hiccups->sum, r->observed_ns, b, sizeof(b)));
	if (hiccups->count)
		fprintf(p->out, " · worst %s · p99 %s · median %s", format_ns(hiccups->max, c, sizeof(c)),
			format_ns(hist_percentile(hiccups, 99), d, sizeof(d)),
			format_ns(hist_percentile(hiccups, 50), e, sizeof(e)));
	fprintf(p->out, "\n  ");
	if (p->view->run.traced)
		fprintf(p->out, "attributed %s %% · edge %s %% · outside the kernel %s %%\n  ",
			percent_of(s->attributed_ns, hiccups->sum, a, sizeof(a)),
			percent_of(s->edge_ns, hiccups->sum, b, sizeof(b)),
			percent_of(s->outside_ns, hiccups->sum, c, sizeof(c)));
	fprintf(p->out, "threshold %s%s · loop %.1f ns", format_ns(r->threshold_ns, a, sizeof(a)),
		p->view->run.threshold_auto ? " (auto)" : "", r->loop_mean_ns);
	if (p->view->run.traced)
		fprintf(p->out, " · records %s, lost %s · join mismatches %s",
			format_count(r->counts.seen, b, sizeof(b)), format_count(r->counts.lost, c, sizeof(c)),
			format_count(r->counts.mismatches, d, sizeof(d)));
	fprintf(p->out, "\n");
	if (r->hiccups_lost)
		fprintf(p->out, "  %s hiccups were not recorded: the reader came too late\n",
			format_count(r->hiccups_lost, a, sizeof(a)));
	if (r->ended)
		fprintf(p->out, "  ended early, after %s: %s\n", format_ns(r->observed_ns, a, sizeof(a)), r->ended);
}

static void note_row(struct table *t, const char *text)
{
	for (int i = 0; i < 5; i++)
		table_cell(t, NULL, "");
	table_cell(t, DIM, text);
	table_end_row(t);
}

/* The asker that came most often; all three and their stacks with --stacks. */
static void origin_rows(struct table *t, const struct origins *o, bool stacks)
{
	char comm[80], function[256], count[32], text[512];
	uint32_t order[3], n = origins_top(o, order, stacks ? 3 : 1);

	for (uint32_t i = 0; i < n; i++) {
		const struct origin *r = &o->row[order[i]];

		escape_text(r->comm, sizeof(r->comm), comm, sizeof(comm));
		escape_text(r->function ? r->function : "?", SIZE_MAX, function, sizeof(function));
		format_count(r->count, count, sizeof(count));
		if (r->tid)
			snprintf(text, sizeof(text), "  by %s [%u] on cpu %u: %s (%s of %" PRIu64 ")", comm, r->tid,
				 r->cpu, function, count, o->known);
		else
			snprintf(text, sizeof(text), "  by an interrupt on cpu %u: %s (%s of %" PRIu64 ")", r->cpu,
				 function, count, o->known);
		note_row(t, text);
		for (int k = 0; stacks && k < r->nframes; k++) {
			snprintf(text, sizeof(text), "      %s",
				 escape_text(r->frame[k], SIZE_MAX, function, sizeof(function)));
			note_row(t, text);
		}
	}
}

static void source_row(struct table *t, const struct source *s, uint64_t whole, bool stacks)
{
	char a[32], name[2 * NAME_MAX_ESCAPED];

	table_cell(t, NULL, percent_of(s->net.sum, whole, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->net.sum, a, sizeof(a)));
	table_cell(t, NULL, format_count(s->net.count, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->net.max, a, sizeof(a)));
	table_cell(t, DIM, source_kind_name(s->kind));
	table_cell(t, s->kind == SOURCE_OUTSIDE ? NULL : BOLD, who(s, name, sizeof(name)));
	table_end_row(t);
	if (s->origins)
		origin_rows(t, s->origins, stacks);
}

/* A row for time without statistics of its own. */
static void sum_row(struct table *t, uint64_t ns, uint64_t whole, const char *kind, const char *text)
{
	char a[32];

	table_cell(t, NULL, percent_of(ns, whole, a, sizeof(a)));
	table_cell(t, NULL, format_ns(ns, a, sizeof(a)));
	for (int i = 0; i < 2; i++)
		table_cell(t, NULL, "");
	table_cell(t, DIM, kind);
	table_cell(t, DIM, text);
	table_end_row(t);
}

static void declare_columns(struct table *t)
{
	static const char *const headings[] = {"share %", "time", "count", "max"};

	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		table_column(t, headings[i], ALIGN_RIGHT, false);
	table_column(t, "kind", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
}

static void write_sources(const struct page *p, uint32_t i)
{
	const struct cpu_summary *s = &p->view->summary.cpu[i];
	uint32_t *order = calloc(s->sources.count + 1, sizeof(*order)), n, shown;
	struct table *t = table_new(p->width, 2);
	bool edge = !s->edge_ns;
	uint64_t rest = 0;
	char text[64];

	if (!order || !t)
		goto out;
	declare_columns(t);
	n = sources_rank(&s->sources, order);
	shown = n > ROWS_MAX ? ROWS_MAX : n;
	for (uint32_t k = 0; k < shown; k++) {
		const struct source *row = s->sources.row[order[k]];

		if (!edge && row->net.sum <= s->edge_ns) {
			sum_row(t, s->edge_ns, s->hiccups.sum, "edge", "kernel entry and exit around these");
			edge = true;
		}
		source_row(t, row, s->hiccups.sum, p->stacks);
	}
	if (!edge)
		sum_row(t, s->edge_ns, s->hiccups.sum, "edge", "kernel entry and exit around these");
	for (uint32_t k = shown; k < n; k++)
		rest += s->sources.row[order[k]]->net.sum;
	if (n > shown) {
		snprintf(text, sizeof(text), "%u more sources (all in -f json)", n - shown);
		sum_row(t, rest, s->hiccups.sum, "", text);
	}
	table_print(t, p->out, p->colour);
out:
	table_free(t);
	free(order);
}

/* The kernel's counters: one line when all agree, else those that do not. */
static void write_evidence(const struct page *p, const struct cpu_run *r, uint64_t outside_ns)
{
	char steal[32];

	if (!p->view->run.traced || !outside_ns)
		return;
	fprintf(p->out, "  outside the kernel: ");
	if (p->view->host.hypervisor[0])
		fprintf(p->out, "a guest's host takes time unseen; ");
	if (r->steal_known)
		fprintf(p->out, "steal clock %s", format_ns(r->steal_ns, steal, sizeof(steal)));
	else
		fprintf(p->out, "steal clock not readable");
	if (r->smi_known)
		fprintf(p->out, ", %" PRIu64 " SMIs\n", r->smi_count);
	else
		fprintf(p->out, ", SMIs not counted here\n");
}

static void write_closure(const struct page *p, const struct cpu_run *r)
{
	uint32_t differ = 0;

	if (!p->view->run.traced)
		return;
	if (!r->closure_known) {
		fprintf(p->out,
			"  closure: not checked, the CPU was too busy to read its counters between two interrupts\n");
		return;
	}
	for (uint32_t i = 0; i < r->nclosure; i++)
		differ += r->closure[i].kernel != r->closure[i].traced;
	fprintf(p->out, "  closure: %u of the kernel's %u counters match what was traced\n", r->nclosure - differ,
		r->nclosure);
	for (uint32_t i = 0; i < r->nclosure; i++) {
		const struct closure_row *c = &r->closure[i];

		if (c->kernel != c->traced)
			fprintf(p->out, "    %s: kernel %" PRIu64 ", traced %" PRIu64 "%s%s\n", c->counter, c->kernel,
				c->traced, c->why ? ": " : "", c->why ? c->why : "");
	}
}

static void write_ticks(const struct page *p, const struct ticks *t)
{
	char comm[80];

	for (uint32_t i = 0; i < t->count; i++) {
		const struct tick_row *r = &t->row[i];

		fprintf(p->out, "  %s %s x %" PRIu64 " while %s", i ? "                    " : "the tick was kept by",
			tick_dependency_name(r->dependency), r->count,
			escape_text(r->comm, sizeof(r->comm), comm, sizeof(comm)));
		fprintf(p->out, r->tid ? " [%u] ran\n" : " ran\n", r->tid);
	}
}

/* Prints words joined by " + ", broken before the width, continued under the first. */
struct flow {
	const struct page *page;
	size_t column, indent;
	bool first;
};

static void flow_add(struct flow *f, const char *text)
{
	size_t columns = text_columns(text) + (f->first ? 0 : 3);

	if (!f->first && f->column + columns > f->page->width) {
		fprintf(f->page->out, "\n%*s+ ", (int)f->indent - 2, "");
		f->column = f->indent;
		columns -= 3;
	} else if (!f->first) {
		fputs(" + ", f->page->out);
	}
	fputs(text, f->page->out);
	f->column += columns;
	f->first = false;
}

static void add_asker(char *text, size_t len, const struct origin *o)
{
	char comm[80];
	size_t used = strlen(text);

	if (!o->tid)
		return; /* the interrupt is a piece of its own */
	snprintf(text + used, len - used, " (by %s [%u] on cpu %u)",
		 escape_text(o->comm, sizeof(o->comm), comm, sizeof(comm)), o->tid, o->cpu);
}

static void write_worst(const struct page *p, const struct worst *w)
{
	const struct cpu_summary *s = &p->view->summary.cpu[w->cpu];
	char text[2 * NAME_MAX_ESCAPED + 64], time[32], name[2 * NAME_MAX_ESCAPED], left[96];
	struct flow f = {.page = p, .first = true};

	snprintf(left, sizeof(left), "  +%.6f s  cpu %u  %8s = ", (w->start_ns - p->view->run.started_ns) / 1e9, s->cpu,
		 format_ns(w->duration_ns, time, sizeof(time)));
	fputs(left, p->out);
	f.column = f.indent = strlen(left);
	for (uint32_t i = 0; i < w->npieces; i++) {
		const struct source *source = s->sources.row[w->pieces[i].source];

		snprintf(text, sizeof(text), "%s %s", who(source, name, sizeof(name)),
			 format_ns(w->pieces[i].net_ns, time, sizeof(time)));
		if (w->pieces[i].asker)
			add_asker(text, sizeof(text), &source->origins->row[w->pieces[i].asker - 1]);
		flow_add(&f, text);
	}
	if (w->edge_ns) {
		snprintf(text, sizeof(text), "edge %s", format_ns(w->edge_ns, time, sizeof(time)));
		flow_add(&f, text);
	}
	if (w->outside_ns) {
		snprintf(text, sizeof(text), "outside the kernel %s", format_ns(w->outside_ns, time, sizeof(time)));
		flow_add(&f, text);
	}
	fputc('\n', p->out);
}

static void write_tail(const struct page *p)
{
	const struct run *r = &p->view->run;
	size_t column = strlen("not observed:");

	if (r->symbols_hidden && r->traced)
		fprintf(p->out,
			"\nfunctions have no names: the kernel hides its addresses (sysctl kernel.kptr_restrict)\n");
	if (!r->traced)
		fprintf(p->out, "\nnot traced (--no-trace): hiccups are measured, nothing is attributed\n");
	if (!r->nnot_observed)
		return;
	fprintf(p->out, "\nnot observed:");
	for (uint32_t i = 0; i < r->nnot_observed; i++) {
		size_t len = strlen(r->not_observed[i]) + 1;

		if (column + len > p->width) {
			fprintf(p->out, "\n ");
			column = 1;
		}
		fprintf(p->out, " %s", r->not_observed[i]);
		column += len;
	}
	fprintf(p->out,
		"\n  (this kernel has no such tracepoints: their time, if any, counts as outside the kernel)\n");
}

int render_text(const struct view *view, const struct render_options *options, FILE *out)
{
	struct page p = {out, view, options->colour, options->stacks, options->width ? options->width : 100};
	uint32_t worst = view->summary.nworst < WORST_TOP ? view->summary.nworst : WORST_TOP;

	write_head(&p);
	for (uint32_t i = 0; i < view->summary.ncpus; i++) {
		write_cpu_head(&p, i);
		if (view->summary.cpu[i].hiccups.count)
			write_sources(&p, i);
		write_evidence(&p, &view->cpu[i], view->summary.cpu[i].outside_ns);
		write_closure(&p, &view->cpu[i]);
		write_ticks(&p, &view->summary.cpu[i].ticks);
	}
	if (worst)
		fprintf(out, "\n%sworst hiccups%s\n", open_style(&p, BOLD), close_style(&p));
	for (uint32_t i = 0; i < worst; i++)
		write_worst(&p, &view->summary.worst[i]);
	write_tail(&p);
	return ferror(out) ? -1 : 0;
}
