/* The table of a CPU's sources: who took the time, who asked for it, and what to do about it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/table.h"
#include "base/units.h"
#include "render/render.h"
#include "render/text.h"

#define ROWS_MAX      16
#define ADVICE_INDENT 11
#define STRANGERS_MAX 12

/* In a column: the points stand under each other. */
static const char *share_of(uint64_t part, uint64_t whole, char *buf, size_t len)
{
	double percent = whole ? 100.0 * part / whole : 0;

	if (percent > 0 && percent < 0.005)
		snprintf(buf, len, "<0.01");
	else
		snprintf(buf, len, "%.2f", percent);
	return buf;
}

const char *render_comm(const char *comm, bool kernel_thread, char *buf, size_t len)
{
	char name[NAME_MAX_ESCAPED];

	escape_text(comm, SOURCE_NAME, name, sizeof(name));
	if (kernel_thread)
		snprintf(buf, len, "[%s]", name);
	else if (name[0] == '[' || !strcmp(name, "(others)"))
		snprintf(buf, len, "\\x%02x%s", name[0], name + 1);
	else
		snprintf(buf, len, "%s", name);
	return buf;
}

const char *render_runs(const struct source *s, char *buf, size_t len)
{
	char runs[32], count[32];

	if (s->count == s->net.count || s->kind == SOURCE_OUTSIDE)
		return NULL;
	snprintf(buf, len, "%s run%s; %s interruption%s began with it",
		 format_count(s->net.count, runs, sizeof(runs)), s->net.count == 1 ? "" : "s",
		 s->count ? format_count(s->count, count, sizeof(count)) : "no",
		 s->count > 1 ? "s" : "");
	return buf;
}

const char *render_stops(const struct source *s, char *buf, size_t len)
{
	char max[32], usual[32];

	if (!s->stopped.count)
		return NULL;
	snprintf(buf, len, "max %s: likely stopped inside; p99 %s",
		 format_ns(s->net.max, max, sizeof(max)),
		 format_ns(s->stopped.usual_ns, usual, sizeof(usual)));
	return buf;
}

const char *render_merged(const struct sources *t, char *buf, size_t len)
{
	uint64_t ns, n = sources_merged(t, SOURCE_KINDS, &ns);
	char count[32], time[32];

	if (!n)
		return NULL;
	snprintf(buf, len, "too many sources: %s merged into (others), %s",
		 format_count(n, count, sizeof(count)), format_ns(ns, time, sizeof(time)));
	return buf;
}

const char *render_who(const struct source *s, char *buf, size_t len)
{
	char name[NAME_MAX_ESCAPED], id[32];

	if (s->rest)
		snprintf(name, sizeof(name), "%s", s->name);
	else if (s->kind == SOURCE_THREAD)
		render_comm(s->name, s->kernel_thread, name, sizeof(name));
	else
		escape_text(s->name, sizeof(s->name), name, sizeof(name));
	snprintf(buf, len, "%s%s", name, kind_id(s->kind, s->id, !name[0], id, sizeof(id)));
	if (s->function) {
		escape_text(s->function, SIZE_MAX, name, sizeof(name));
		snprintf(buf + strlen(buf), len - strlen(buf), " > %s", name);
	}
	return buf;
}

const char *render_requests(const struct origins *o, const struct origin *row, char *buf,
			    size_t len)
{
	char count[32];

	snprintf(buf, len, " (%s%s of %" PRIu64 ")", format_count(row->count, count, sizeof(count)),
		 row->missed ? "+" : "", o->known);
	return buf;
}

const char *render_lost(const struct sources *sources, const struct source *s, char *buf,
			size_t len)
{
	const struct source *near = sources_near_lost(sources);
	char count[32], who[WHO_MAX];

	snprintf(buf, len, "%s record%s missing%s%s",
		 format_count(s->missing, count, sizeof(count)), s->missing == 1 ? "" : "s",
		 near ? "; most seen: " : "", near ? render_who(near, who, sizeof(who)) : "");
	return buf;
}

static void note_row(struct table *t, const char *text)
{
	for (int i = 0; i < 5; i++)
		table_cell(t, NULL, "");
	table_cell(t, DIM, text);
	table_end_row(t);
}

/* Below those that were shown: how many requests more there were. With a "+" above, some of them
 * may be theirs. */
static void others_row(struct table *t, const struct origins *o, const uint32_t *shown, uint32_t n)
{
	uint64_t rest = o->known - o->unnamed;
	char count[32], unknown[32], text[96];

	for (uint32_t i = 0; i < n; i++)
		rest -= o->row[shown[i]].count;
	if (!rest && !o->unnamed)
		return;
	snprintf(text, sizeof(text), "  %s more%s, %s unknown",
		 format_count(rest, count, sizeof(count)), o->count > n ? " by others" : "",
		 format_count(o->unnamed, unknown, sizeof(unknown)));
	note_row(t, text);
}

/* The asker that came most often; all three and their stacks with --stacks. */
static void origin_rows(struct table *t, const struct origins *o, bool stacks)
{
	char comm[80], function[256], text[640], requests[REQUESTS_MAX];
	uint32_t order[3], n = origins_top(o, order, stacks ? 3 : 1);

	for (uint32_t i = 0; i < n; i++) {
		const struct origin *r = &o->row[order[i]];

		const char *context = asker_context(&r->who);

		escape_text(r->who.comm, sizeof(r->who.comm), comm, sizeof(comm));
		escape_text(r->who.function ? r->who.function : "?", SIZE_MAX, function,
			    sizeof(function));
		render_requests(o, r, requests, sizeof(requests));
		if (context)
			snprintf(text, sizeof(text), "  by %s on cpu %u: %s%s", context, r->who.cpu,
				 function, requests);
		else
			snprintf(text, sizeof(text), "  by %s [%u] on cpu %u: %s%s", comm,
				 r->who.tid, r->who.cpu, function, requests);
		note_row(t, text);
		for (int k = 0; stacks && k < r->nframes; k++) {
			snprintf(text, sizeof(text), "      %s",
				 escape_text(r->frame[k], SIZE_MAX, function, sizeof(function)));
			note_row(t, text);
		}
	}
	if (stacks)
		others_row(t, o, order, n);
}

/* Below a source, from the table's left edge on, so that a command fits in one line. What a row
 * above says already is not said again. */
static void advice_row(struct table *t, const struct sources *sources, const uint32_t *order,
		       uint32_t k)
{
	const struct source *s = sources->row[order[k]];
	const char *advice = s->advice ? s->advice : "";
	char text[640];

	if (!s->cause)
		return;
	for (uint32_t i = 0; i < k; i++) {
		const struct source *above = sources->row[order[i]];

		if (above->cause && !strcmp(above->cause, s->cause) &&
		    !strcmp(above->advice ? above->advice : "", advice))
			advice = "as above";
	}
	snprintf(text, sizeof(text), "[%s] %s", s->cause, advice);
	table_line(t, s->advice ? NULL : DIM, ADVICE_INDENT, strlen("[T01] "), text);
}

static void source_row(struct table *t, const struct source *s, uint64_t whole, bool stacks)
{
	char a[RUNS_MAX], stops[STOPS_MAX], name[2 * NAME_MAX_ESCAPED];

	table_cell(t, NULL, share_of(s->net.sum, whole, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->net.sum, a, sizeof(a)));
	table_cell(t, NULL, format_count(s->count, a, sizeof(a)));
	table_cell(t, NULL, format_ns(s->net.max, a, sizeof(a)));
	table_cell(t, DIM, source_kind_name(s->kind));
	table_cell(t, kind_is_interval(s->kind) ? BOLD : NULL, render_who(s, name, sizeof(name)));
	table_end_row(t);
	if (render_runs(s, a, sizeof(a))) {
		snprintf(name, sizeof(name), "  %s", a);
		note_row(t, name);
	}
	if (render_stops(s, stops, sizeof(stops))) {
		snprintf(name, sizeof(name), "  %s", stops);
		note_row(t, name);
	}
	if (s->affinity) {
		char cpus[NAME_MAX_ESCAPED];

		snprintf(name, sizeof(name), "  may go to cpu %s",
			 escape_text(s->affinity, SIZE_MAX, cpus, sizeof(cpus)));
		note_row(t, name);
	}
	if (s->memory_of[0]) {
		char comm[80];

		snprintf(name, sizeof(name), "  memory of %s",
			 escape_text(s->memory_of, sizeof(s->memory_of), comm, sizeof(comm)));
		note_row(t, name);
	}
	if (s->origins)
		origin_rows(t, s->origins, stacks);
}

/* A row for time without statistics of its own. */
static void sum_row(struct table *t, uint64_t ns, uint64_t whole, const char *kind,
		    const char *text)
{
	char a[32];

	table_cell(t, NULL, share_of(ns, whole, a, sizeof(a)));
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

void text_sources(const struct page *p, uint32_t i)
{
	const struct cpu *c = &p->view->cpu[i];
	uint32_t *order = calloc(c->sources.count + 1, sizeof(*order)), n, shown;
	struct table *t = table_new(p->width, 2);
	bool edge = !c->edge_ns;
	uint64_t rest = 0;
	char lost[WHO_MAX + 80], text[WHO_MAX + 96];

	if (!order || !t)
		goto out;
	declare_columns(t);
	n = shown_rank(&p->view->shown, &c->sources, order);
	shown = shown_rows(&p->view->shown, n, ROWS_MAX);
	for (uint32_t k = 0; k < shown; k++) {
		const struct source *row = c->sources.row[order[k]];

		if (!edge && row->net.sum <= c->edge_ns) {
			sum_row(t, c->edge_ns, c->hiccups.sum, "edge",
				"kernel entry and exit around these");
			edge = true;
		}
		source_row(t, row, c->hiccups.sum, p->stacks);
		if (row->kind == SOURCE_LOST) {
			snprintf(text, sizeof(text), "  %s",
				 render_lost(&c->sources, row, lost, sizeof(lost)));
			note_row(t, text);
		}
		advice_row(t, &c->sources, order, k);
	}
	if (!edge)
		sum_row(t, c->edge_ns, c->hiccups.sum, "edge",
			"kernel entry and exit around these");
	for (uint32_t k = shown; k < n; k++)
		rest += c->sources.row[order[k]]->net.sum;
	if (n > shown) {
		snprintf(text, sizeof(text), "%u more sources (all in -f json)", n - shown);
		sum_row(t, rest, c->hiccups.sum, "", text);
	}
	table_print(t, p->out, p->colour);
out:
	table_free(t);
	free(order);
}

/* ---- what the cause book does not have ---- */

static bool is_stranger(const struct source *s)
{
	bool idle = s->kernel_thread && !s->id && !strncmp(s->name, "swapper/", 8);

	return !s->cause && s->net.count && kind_is_interval(s->kind) && !idle && !s->rest &&
	       !(s->function && s->function[0] == '[');
}

/* What there is to look up: the function, else the name. */
static const char *stranger_name(const struct source *s)
{
	return s->function ? s->function : s->name;
}

static bool listed(const struct source *const *some, uint32_t n, const struct source *s)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(stranger_name(some[i]), stranger_name(s)))
			return true;
	return false;
}

void text_not_in_book(const struct page *p)
{
	const struct source *some[STRANGERS_MAX];
	char name[NAME_MAX_ESCAPED];
	uint32_t n = 0, more = 0;
	struct flow f;

	for (uint32_t i = 0; p->view->advised && i < p->view->ncpus; i++) {
		const struct sources *t = &p->view->cpu[i].sources;

		for (uint32_t k = 0; k < t->count; k++) {
			if (!is_stranger(t->row[k]) || listed(some, n, t->row[k]))
				continue;
			if (n < STRANGERS_MAX)
				some[n++] = t->row[k];
			else
				more++;
		}
	}
	if (!n)
		return;
	fputc('\n', p->out);
	flow_start(&f, p->out, p->width, "not in the book: ", ", ", "  ");
	for (uint32_t i = 0; i < n; i++)
		flow_add(&f, "%s",
			 escape_text(stranger_name(some[i]), SIZE_MAX, name, sizeof(name)));
	if (more)
		flow_add(&f, "%u more", more);
	flow_add(&f, "worth adding");
	flow_end(&f);
}
