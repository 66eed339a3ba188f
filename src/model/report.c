/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"

#define ROWS_MAX 16
#define NAME_MAX (4 * SOURCE_NAME + 8)

char *report_unmark(char *marked)
{
	char *to = marked;

	for (const char *from = marked; *from; from++)
		if (*from != *REPORT_NAME && *from != *REPORT_END)
			*to++ = *from;
	*to = '\0';
	return marked;
}

/* ---- names ---- */

const char *report_comm(const char *comm, bool kernel_thread, char *buf, size_t len)
{
	char name[NAME_MAX];

	escape_text(comm, SOURCE_NAME, name, sizeof(name));
	if (kernel_thread)
		snprintf(buf, len, "[%s]", name);
	else if (name[0] == '[' || !strcmp(name, OTHERS_NAME))
		snprintf(buf, len, "\\x%02x%s", name[0], name + 1);
	else
		snprintf(buf, len, "%s", name);
	return buf;
}

void report_tick(const struct nohz_tick_line *l, char before[48], char after[16])
{
	char count[32];

	before[0] = after[0] = '\0';
	if (l->threads > 1)
		snprintf(before, 48, "%s%s threads of ",
			 format_count(l->threads, count, sizeof(count)), l->more ? " or more" : "");
	else if (l->row.tid)
		snprintf(after, 16, " [%u]", l->row.tid);
}

const char *report_who(const struct source *s, char *buf, size_t len)
{
	bool host = s->kind == SOURCE_HOST && !s->rest;
	enum source_kind kind = host ? s->host_kind : s->kind;
	char name[NAME_MAX], id[32];

	if (s->rest)
		snprintf(name, sizeof(name), "%s", s->name);
	else if (kind == SOURCE_THREAD)
		report_comm(s->name, s->kernel_thread, name, sizeof(name));
	else
		escape_text(s->name, sizeof(s->name), name, sizeof(name));
	if (s->by >= BY_UNIT)
		snprintf(buf, len, "%s %s", owner_by_name(s->by), name);
	else
		snprintf(buf, len, "%s%s%s", host ? "host: " : "", name,
			 kind_id(kind, s->id, !name[0], id, sizeof(id)));
	if (s->function) {
		escape_text(s->function, SIZE_MAX, name, sizeof(name));
		snprintf(buf + strlen(buf), len - strlen(buf), " > %s", name);
	}
	return buf;
}

/* owner: words behind the thread's name, escaped. */
static const char *write_asker(const struct asker *a, const char *owner, char *buf, size_t len)
{
	const char *context = asker_context(a);
	char comm[80];

	if (context)
		snprintf(buf, len, "by %s on %scpu %u", context, a->host ? "host " : "", a->cpu);
	else
		snprintf(buf, len, "by " REPORT_NAME "%s [%u]%s" REPORT_END "%s on %scpu %u",
			 escape_text(a->comm, sizeof(a->comm), comm, sizeof(comm)), a->tid, owner,
			 *owner ? "," : "", a->host ? "host " : "", a->cpu);
	return buf;
}

const char *report_asker(const struct asker *a, char buf[REPORT_ASKER])
{
	return write_asker(a, "", buf, REPORT_ASKER);
}

const char *report_owner(const char *owner, char buf[REPORT_OWNER])
{
	char text[OWNER_TEXT], safe[4 * OWNER_TEXT];

	buf[0] = 0;
	if (owner_words(owner, text))
		snprintf(buf, REPORT_OWNER, REPORT_BEHIND "%s",
			 escape_text(text, SIZE_MAX, safe, sizeof(safe)));
	return buf;
}

const char *report_owned_asker(const struct asker *a, char buf[REPORT_OWNED])
{
	char owner[REPORT_OWNER];

	return write_asker(a, report_owner(a->owner, owner), buf, REPORT_OWNED);
}

/* ---- a CPU's table ---- */

static bool same_cause(const struct source *a, const struct source *b)
{
	return a->cause && b->cause && !strcmp(a->cause, b->cause) &&
	       !strcmp(a->advice ? a->advice : "", b->advice ? b->advice : "");
}

static void add_source(struct report_rows *rows, const struct source *s)
{
	struct report_row *r = &rows->row[rows->n++];

	*r = (struct report_row){.kind = s->kind, .source = s};
	for (const struct report_row *above = rows->row; above < r; above++)
		r->as_above |= above->source && same_cause(above->source, s);
}

/* A source that may have a row. */
struct candidate {
	const struct source *source;
	const struct group_source *common;
	uint64_t ns;
};

/* Puts the edge between the candidates, which come by falling time, and the rest behind them. 0 or
 * -ENOMEM. */
static int lay_out(const struct shown *how, uint32_t most, uint64_t edge_ns,
		   const struct candidate *c, uint32_t n, struct report_rows *rows)
{
	const struct report_row edge = {.kind = TIMELINE_EDGE, .ns = edge_ns};
	struct report_row rest = {.kind = TIMELINE_KINDS};
	bool edge_left = edge_ns;
	uint32_t shown;

	rows->row = calloc(n + 2, sizeof(*rows->row));
	if (!rows->row)
		return -ENOMEM;
	most = most ? most : ROWS_MAX;
	/* A single source in the rest would tell less than its own row. */
	shown = shown_rows(how, n, n == most + 1 ? n : most);
	for (uint32_t i = 0; i < shown; i++) {
		if (edge_left && c[i].ns <= edge.ns) {
			rows->row[rows->n++] = edge;
			edge_left = false;
		}
		add_source(rows, c[i].source);
		rows->row[rows->n - 1].ns = c[i].ns;
		rows->row[rows->n - 1].common = c[i].common;
		rows->row[rows->n - 1].as_above &= !c[i].common || !c[i].common->differs;
	}
	if (edge_left)
		rows->row[rows->n++] = edge;
	if (rows->n)
		rows->longest_ns = rows->row[0].ns;
	rest.more = n - shown;
	for (uint32_t i = shown; i < n; i++)
		rest.ns += c[i].ns;
	if (rest.more)
		rows->row[rows->n++] = rest;
	return 0;
}

int report_rows(const struct view *v, uint32_t index, uint32_t most, struct report_rows *rows)
{
	const struct cpu *c = &v->cpu[index];
	uint32_t *order = calloc(c->sources.count + 1, sizeof(*order)), n;
	struct candidate *some = calloc(c->sources.count + 1, sizeof(*some));
	int err = order && some ? 0 : -ENOMEM;

	*rows = (struct report_rows){.whole_ns = c->hiccups.sum};
	n = err ? 0 : shown_rank(&v->shown, &c->sources, order);
	for (uint32_t i = 0; i < n; i++) {
		const struct source *s = c->sources.row[order[i]];

		some[i] = (struct candidate){s, NULL, s->net.sum};
	}
	if (!err)
		err = lay_out(&v->shown, most, c->edge_ns, some, n, rows);
	free(order);
	free(some);
	return err;
}

int report_group_rows(const struct view *v, const struct cpu_group *g, uint32_t most,
		      struct report_rows *rows)
{
	struct candidate *some = calloc(g->nsources + 1, sizeof(*some));
	uint32_t n = 0;
	int err = -ENOMEM;

	*rows = (struct report_rows){.whole_ns = g->total_ns};
	for (uint32_t i = 0; some && i < g->nsources; i++) {
		const struct group_source *s = &g->source[i];

		if (shown_is(&v->shown, &s->who))
			some[n++] = (struct candidate){&s->who, s, s->total_ns};
	}
	if (some)
		err = lay_out(&v->shown, most, g->edge_ns, some, n, rows);
	free(some);
	return err;
}

const char *report_row_kind(const struct report_row *r)
{
	return r->source ? source_kind_name(r->source->kind) : r->more ? "" : "edge";
}

const char *report_mark(const struct source *s, char buf[REPORT_WHO + 2])
{
	char who[REPORT_WHO];

	snprintf(buf, REPORT_WHO + 2, REPORT_NAME "%s" REPORT_END, report_who(s, who, sizeof(who)));
	return buf;
}

const char *report_row_who(const struct report_row *r, char buf[REPORT_WHO + 2])
{
	if (r->source)
		return report_mark(r->source, buf);
	if (r->more)
		snprintf(buf, REPORT_WHO, "%u more sources (all in -f json)", r->more);
	else
		strcpy(buf, "kernel entry and exit around these");
	return buf;
}

char *report_lost_share(double share, char *buf, size_t len)
{
	if (share >= 0)
		return format_percent(100 * share, buf, len);
	snprintf(buf, len, "?");
	return buf;
}

const char *report_share(uint64_t part, uint64_t whole, char *buf, size_t len)
{
	double percent = whole ? 100.0 * part / whole : 0;

	if (percent > 0 && percent < 0.005)
		snprintf(buf, len, "<0.01");
	else
		snprintf(buf, len, "%.2f", percent);
	return buf;
}

const char *report_merged(const struct sources *t, char *buf, size_t len)
{
	uint64_t ns, n = sources_merged(t, SOURCE_KINDS, &ns);
	char count[32], time[32];

	if (!n)
		return NULL;
	snprintf(buf, len, "too many sources: %s merged into " OTHERS_NAME ", %s",
		 format_count(n, count, sizeof(count)), format_ns(ns, time, sizeof(time)));
	return buf;
}

const char *report_advice(const struct report_row *r)
{
	if (r->as_above)
		return "as above";
	if (r->common && r->common->differs)
		return "what to do differs from CPU to CPU, see each with -c";
	return r->source && r->source->advice ? r->source->advice : "";
}

/* ---- notes ---- */

const char *report_stops(const struct source *s, char *buf, size_t len)
{
	char max[32], usual[32];

	if (!s->stopped.count)
		return NULL;
	format_ns(s->net.max, max, sizeof(max));
	if (s->stopped.percent)
		snprintf(buf, len, "max %s: likely stopped inside; p%u %s", max, s->stopped.percent,
			 format_ns(s->stopped.usual_ns, usual, sizeof(usual)));
	else
		snprintf(buf, len, "max %s: likely stopped inside", max);
	return buf;
}

/* ---- a worst hiccup ---- */

uint32_t report_parts(const struct view *v, const struct worst *w,
		      struct report_part part[REPORT_PARTS])
{
	const struct report_part last[] = {{.kind = TIMELINE_EDGE, .ns = w->edge_ns},
					   {.kind = SOURCE_LOST, .ns = w->lost_ns},
					   {.kind = SOURCE_OUTSIDE, .ns = w->outside_ns}};
	uint32_t shown = w->npieces > REPORT_PIECES_MAX + 1 ? REPORT_PIECES_MAX : w->npieces, n = 0;
	struct report_part rest = {.kind = TIMELINE_KINDS, .more = w->npieces - shown};

	for (uint32_t i = 0; i < shown; i++) {
		const struct piece *p = &w->pieces[i];
		const struct source *s = v->cpu[w->cpu].sources.row[p->source];

		/* An interrupt that asked is a piece of its own. */
		part[n++] = (struct report_part){.kind = s->kind,
						 .source = s,
						 .asker = p->asker.kind == ASKER_THREAD ? &p->asker
											: NULL,
						 .others = p->unseen_ns,
						 .ns = p->net_ns};
	}
	for (uint32_t i = shown; i < w->npieces; i++)
		rest.ns += w->pieces[i].net_ns;
	if (rest.more)
		part[n++] = rest;
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++)
		if (last[i].ns)
			part[n++] = last[i];
	return n;
}

const char *report_part_name(const struct view *v, const struct report_part *p,
			     char buf[REPORT_PART])
{
	char rest[4 * sizeof(v->run.rest)];

	if (p->source) {
		report_mark(p->source, buf);
		return p->others ? strcat(buf, " or others") : buf;
	}
	if (p->more)
		snprintf(buf, REPORT_WHO, "%u more", p->more);
	else if (p->kind == SOURCE_OUTSIDE && v->run.traced && v->run.rest[0])
		snprintf(buf, REPORT_WHO, REPORT_NAME "%s" REPORT_END,
			 escape_text(v->run.rest, sizeof(v->run.rest), rest, sizeof(rest)));
	else
		strcpy(buf, p->kind == TIMELINE_EDGE ? "edge"
			    : p->kind == SOURCE_LOST ? NOT_RECORDED
						     : view_rest(v));
	return buf;
}
