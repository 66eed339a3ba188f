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
 *   | share % |    time | count |     max |     p99 | kind   | who | what to do | notes |
 *   | ------: | ------: | ----: | ------: | ------: | :----- | :-- | :--------- | :---- |
 *   |   58.46 | 31.0 us |     1 | 31.0 us | 31.0 us | thread | `…` | K01: `…`   | by `…` on cpu 0 |
 *
 *   ## Worst hiccups
 *   ## How it was measured
 *   ## Not observed
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/markdown.h"
#include "base/table.h"
#include "base/units.h"
#include "model/hosts.h"
#include "render/render.h"

#define ROWS_MAX   16
#define WORST_TOP  10
#define PIECES_TOP 24              /* of a worst hiccup */
#define CODE_MAX   (4 * 4096 + 64) /* any name of a view, as code */

/* A name from the machine, as code. */
static const char *code(const char *name, char buf[CODE_MAX])
{
	char text[CODE_MAX - 32];

	return markdown_code(escape_text(name, SIZE_MAX, text, sizeof(text)), buf, CODE_MAX);
}

static const char *percent(uint64_t part, uint64_t whole, char *buf, size_t len)
{
	return format_percent(whole ? 100.0 * part / whole : 0, buf, len);
}

/* Prints and frees a table, unless there was no memory for it. */
static int finish(struct table *t, FILE *out)
{
	if (!t)
		return -ENOMEM;
	table_print_markdown(t, out);
	table_free(t);
	return 0;
}

static struct table *begin(const char *const *headings, const char *align)
{
	struct table *t = table_new(0, 0);

	for (; t && *align; align++)
		table_column(t, *headings++, *align == 'r' ? ALIGN_RIGHT : ALIGN_LEFT,
			     *align == 'e');
	return t;
}

/* ---- environment ---- */

static void fact(struct table *t, const char *name, const char *value)
{
	char text[CODE_MAX];

	table_cell(t, NULL, name);
	table_cell(t, NULL, value[0] ? code(value, text) : "none");
	table_end_row(t);
}

static int write_environment(const struct view *v, FILE *out)
{
	struct table *t = begin((const char *const[]){"environment", ""}, "le");
	const struct host *h = &v->host;
	char cpus[512], a[32];

	if (!t)
		return -ENOMEM;
	fact(t, "kernel", h->kernel);
	fact(t, "architecture", h->arch);
	fact(t, "CPU", h->cpu_model);
	fact(t, "hypervisor", h->hypervisor);
	fact(t, "clock source", h->clocksource);
	fact(t, "command line", h->cmdline);
	fact(t, "isolated CPUs", cpus_format(&h->isolated, cpus, sizeof(cpus)));
	fact(t, "nohz_full CPUs", cpus_format(&h->nohz_full, cpus, sizeof(cpus)));
	fact(t, "measured CPUs", cpus_format(&v->run.cpus, cpus, sizeof(cpus)));
	fact(t, "housekeeping CPUs", cpus_format(&v->run.housekeeping, cpus, sizeof(cpus)));
	fact(t, "started", v->run.started);
	fact(t, "length", format_ns(v->run.duration_ns, a, sizeof(a)));
	fact(t, "culprit", CULPRIT_VERSION);
	return finish(t, out);
}

/* ---- a CPU and its sources ---- */

/* "`poke [4414]`" */
static const char *asker(const struct asker *a, char text[WHO_MAX + 16])
{
	char comm[WHO_MAX];

	if (asker_context(a))
		return asker_context(a);
	escape_text(a->comm, sizeof(a->comm), comm, sizeof(comm));
	snprintf(comm + strlen(comm), sizeof(comm) - strlen(comm), " [%u]", a->tid);
	return markdown_code(comm, text, WHO_MAX + 16);
}

/* Who asked for it, and what else is known of it, joined by semicolons. */
static char *notes_of(const struct sources *t, const struct source *s)
{
	char name[WHO_MAX], text[WHO_MAX + 16], requests[REQUESTS_MAX], *notes = NULL;
	uint32_t order, asked = s->origins ? origins_top(s->origins, &order, 1) : 0;
	size_t len;
	FILE *f = open_memstream(&notes, &len);

	if (!f)
		return NULL;
	if (asked) {
		const struct origin *o = &s->origins->row[order];

		fprintf(f, "by %s on cpu %u: ", asker(&o->who, text), o->who.cpu);
		escape_text(o->who.function ? o->who.function : "?", SIZE_MAX, name, sizeof(name));
		fprintf(f, "%s%s", markdown_code(name, text, sizeof(text)),
			render_requests(s->origins, o, requests, sizeof(requests)));
	}
	if (s->affinity) {
		escape_text(s->affinity, SIZE_MAX, name, sizeof(name));
		fprintf(f, "%smay go to cpu %s", ftell(f) ? "; " : "",
			markdown_code(name, text, sizeof(text)));
	}
	if (s->memory_of[0]) {
		escape_text(s->memory_of, sizeof(s->memory_of), name, sizeof(name));
		fprintf(f, "%smemory of %s", ftell(f) ? "; " : "",
			markdown_code(name, text, sizeof(text)));
	}
	if (render_runs(s, name, sizeof(name)))
		fprintf(f, "%s%s", ftell(f) ? "; " : "", name);
	if (render_stops(s, name, sizeof(name)))
		fprintf(f, "%s%s", ftell(f) ? "; " : "", name);
	if (s->kind == SOURCE_LOST)
		fprintf(f, "%s%s", ftell(f) ? "; " : "", render_lost(t, s, name, sizeof(name)));
	if (!fclose(f))
		return notes;
	free(notes);
	return NULL;
}

static void source_row(struct table *t, const struct sources *all, const struct source *s,
		       uint64_t whole)
{
	char a[32], who[WHO_MAX], text[WHO_MAX + 16], advice[CODE_MAX], *notes = notes_of(all, s);

	table_cellf(t, NULL, "%.2f", whole ? 100.0 * s->net.sum / whole : 0);
	table_cell(t, NULL, format_ns(s->net.sum, a, sizeof(a)));
	table_cell(t, NULL, format_count(s->count, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->net.max, a, sizeof(a)));
	table_cell(t, NULL, format_ns(hist_percentile(&s->net, 99), a, sizeof(a)));
	table_cell(t, NULL, source_kind_name(s->kind));
	table_cell(t, NULL, markdown_code(render_who(s, who, sizeof(who)), text, sizeof(text)));
	if (s->cause)
		table_cellf(t, NULL, "%s%s%s", s->cause, s->advice ? ": " : "",
			    s->advice ? code(s->advice, advice) : "");
	else
		table_cell(t, NULL, "");
	table_cell(t, NULL, notes ? notes : "?");
	free(notes);
	table_end_row(t);
}

/* A row for time without statistics of its own. */
static void sum_row(struct table *t, uint64_t ns, uint64_t whole, const char *kind,
		    const char *text)
{
	char a[32];

	table_cellf(t, NULL, "%.2f", whole ? 100.0 * ns / whole : 0);
	table_cell(t, NULL, format_ns(ns, a, sizeof(a)));
	for (int i = 0; i < 3; i++)
		table_cell(t, NULL, "");
	table_cell(t, NULL, kind);
	table_cell(t, NULL, text);
	table_end_row(t);
}

static int write_sources(const struct view *v, const struct cpu *c, FILE *out)
{
	static const char *const headings[] = {"share %", "time", "count",      "max",  "p99",
					       "kind",    "who",  "what to do", "notes"};
	uint32_t *order = calloc(c->sources.count + 1, sizeof(*order)), n, shown;
	struct table *t = begin(headings, "rrrrrleee");
	uint64_t rest = 0;
	char text[64];

	if (!order || !t) {
		table_free(t);
		free(order);
		return -ENOMEM;
	}
	n = shown_rank(&v->shown, &c->sources, order);
	shown = shown_rows(&v->shown, n, ROWS_MAX);
	for (uint32_t i = 0; i < n; i++)
		if (i < shown)
			source_row(t, &c->sources, c->sources.row[order[i]], c->hiccups.sum);
		else
			rest += c->sources.row[order[i]]->net.sum;
	snprintf(text, sizeof(text), "%u more sources", n - shown);
	if (n > shown)
		sum_row(t, rest, c->hiccups.sum, "", text);
	if (c->edge_ns)
		sum_row(t, c->edge_ns, c->hiccups.sum, "edge",
			"kernel entry and exit around these");
	free(order);
	return finish(t, out);
}

static void write_shorts(const struct cpu *r, FILE *out)
{
	const struct short_gaps *s = &r->shorts;
	char a[32], b[32], c[32], d[32];

	if (s->known)
		fprintf(out, "; %s short gap%s besides, of %s to %s, took %s %% more",
			format_count(s->count, a, sizeof(a)), s->count == 1 ? "" : "s",
			format_ns(s->from_ns, b, sizeof(b)),
			format_ns(r->threshold_ns, c, sizeof(c)),
			percent(s->total_ns, r->observed_ns, d, sizeof(d)));
}

/* What the time is called that nothing explains. */
static const char *rest_of(const struct view *v, char buf[CODE_MAX])
{
	return v->run.rest[0] ? markdown_code(v->run.rest, buf, CODE_MAX) : view_rest(v);
}

static int write_cpu(const struct view *v, uint32_t i, FILE *out)
{
	const struct cpu *s = &v->cpu[i];
	const struct hist *h = &s->hiccups;
	char a[32], b[32], c[32], d[32], lane[LANE_NAME], safe[4 * LANE_NAME],
		text[8 * LANE_NAME + RUNS_MAX], rest[CODE_MAX];

	if (v->run.watch)
		fprintf(out, "\n## %s\n\n",
			markdown_code(
				escape_text(view_lane(v, i, lane), SIZE_MAX, safe, sizeof(safe)),
				text, sizeof(text)));
	else
		fprintf(out, "\n## cpu %u, %s%s\n\n", s->number,
			cpus_has(&v->host.isolated, s->number) ? "isolated" : "not isolated",
			cpus_has(&v->host.nohz_full, s->number) ? ", nohz_full" : "");
	fprintf(out, "%s hiccup%s took ", format_count(h->count, a, sizeof(a)),
		h->count == 1 ? "" : "s");
	if (view_lost(v, i) < 0)
		fprintf(out, "%s", format_ns(h->sum, b, sizeof(b)));
	else
		fprintf(out, "%s %% of %s", percent(h->sum, v->cpu[i].observed_ns, b, sizeof(b)),
			format_ns(v->cpu[i].observed_ns, c, sizeof(c)));
	if (!h->count) {
		write_shorts(&v->cpu[i], out);
		fputs(".\n", out);
		return 0;
	}
	fprintf(out, "; the worst %s, p99 %s, median %s", format_ns(h->max, a, sizeof(a)),
		format_ns(hist_percentile(h, 99), b, sizeof(b)),
		format_ns(hist_percentile(h, 50), c, sizeof(c)));
	if (v->run.traced)
		fprintf(out, "; %s %s %%, edge %s %%",
			v->run.watch ? "seen by the kernel" : "attributed",
			percent(s->attributed_ns, h->sum, a, sizeof(a)),
			percent(s->edge_ns, h->sum, b, sizeof(b)));
	if (s->lost_ns)
		fprintf(out, ", " NOT_RECORDED " %s %%", percent(s->lost_ns, h->sum, d, sizeof(d)));
	if (v->run.traced)
		fprintf(out, ", %s %s %%", rest_of(v, rest),
			percent(s->outside_ns, h->sum, d, sizeof(d)));
	if (render_merged(&s->sources, text, sizeof(text)))
		fprintf(out, "; %s", text);
	write_shorts(&v->cpu[i], out);
	fputs(".\n\n", out);
	return write_sources(v, s, out);
}

/* ---- the worst hiccups ---- */

static void add_piece(FILE *out, const char *joint, const struct source *s, const struct piece *p)
{
	char who[WHO_MAX], text[WHO_MAX + 16], a[32];

	fprintf(out, "%s%s %s", joint,
		markdown_code(render_who(s, who, sizeof(who)), text, sizeof(text)),
		format_ns(p->net_ns, a, sizeof(a)));
	if (p->asker.kind == ASKER_THREAD)
		fprintf(out, " (by %s on cpu %u)", asker(&p->asker, text), p->asker.cpu);
}

static char *pieces_of(const struct view *v, const struct worst *w)
{
	const struct cpu *c = &v->cpu[w->cpu];
	uint32_t shown = w->npieces > PIECES_TOP + 1 ? PIECES_TOP : w->npieces;
	char *text = NULL, a[32], rest[CODE_MAX];
	const char *joint = "";
	uint64_t more = 0;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (uint32_t i = 0; i < shown; i++, joint = " + ")
		add_piece(f, joint, c->sources.row[w->pieces[i].source], &w->pieces[i]);
	for (uint32_t i = shown; i < w->npieces; i++)
		more += w->pieces[i].net_ns;
	if (more)
		fprintf(f, "%s%u more %s", joint, w->npieces - shown,
			format_ns(more, a, sizeof(a)));
	if (w->edge_ns)
		fprintf(f, "%sedge %s", joint, format_ns(w->edge_ns, a, sizeof(a)));
	if (w->lost_ns)
		fprintf(f, "%s" NOT_RECORDED " %s", w->npieces || w->edge_ns ? " + " : "",
			format_ns(w->lost_ns, a, sizeof(a)));
	if (w->outside_ns)
		fprintf(f, "%s%s %s", w->npieces || w->edge_ns || w->lost_ns ? " + " : "",
			rest_of(v, rest), format_ns(w->outside_ns, a, sizeof(a)));
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static int write_worst(const struct view *v, FILE *out)
{
	struct table *t = begin(
		(const char *const[]){"at", v->run.watch ? "thread" : "cpu", "length", "what"},
		"rrre");
	char a[32], lane[LANE_NAME], code[8 * LANE_NAME];

	for (uint32_t i = 0; t && i < v->nworst && i < WORST_TOP; i++) {
		const struct worst *w = &v->worst[i];
		char *pieces = pieces_of(v, w);

		table_cellf(t, NULL, "+%.6f s", (w->start_ns - v->run.started_ns) / 1e9);
		if (v->run.watch)
			table_cell(t, NULL,
				   markdown_code(view_lane(v, w->cpu, lane), code, sizeof(code)));
		else
			table_cellf(t, NULL, "%u", v->cpu[w->cpu].number);
		table_cell(t, NULL, format_ns(w->duration_ns, a, sizeof(a)));
		table_cell(t, NULL, pieces ? pieces : "?");
		table_end_row(t);
		free(pieces);
	}
	fputs("\n## Worst hiccups\n\n", out);
	return finish(t, out);
}

static int write_report(const struct view *v, FILE *out)
{
	char text[CODE_MAX];
	int err;

	fprintf(out, "# culprit: %s\n\n", code(v->host.hostname, text));
	if (v->run.incomplete[0])
		fprintf(out, "**Incomplete**: %s\n\n", code(v->run.incomplete, text));
	if (view_shared(v))
		fprintf(out, "**Shared**: " VIEW_SHARED "\n\n");
	if (view_verdict(v))
		fprintf(out, "**Verdict**: %s\n\n", code(view_verdict(v), text));
	err = write_environment(v, out);
	for (uint32_t i = 0; i < v->ncpus && !err; i++)
		err = write_cpu(v, i, out);
	if (v->nworst && !err)
		err = write_worst(v, out);
	return err ? err : render_markdown_method(v, out);
}

int render_markdown(const struct view *const *views, uint32_t n,
		    const struct render_options *options, FILE *out)
{
	int err = n > 1 ? render_hosts(views, n, options, true, out) : 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		if (n > 1)
			putc('\n', out);
		err = write_report(views[i], out);
	}
	return err ? err : ferror(out) ? -EIO : 0;
}
