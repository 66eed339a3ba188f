/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv and jsonl: one line for each hiccup, with the same columns, made for DuckDB, ClickHouse or
 * Spark over the files of many hosts. Columns are added, never renamed. Times are integer ns.
 *
 *   host kernel cpu isolated nohz_full   where; the last three may be not known of a watched thread
 *   started              wall clock, UTC, ISO 8601 to the ns, at the start of the run: with host it
 *                        names the run
 *   time                 the same at the start of the hiccup: started + at_ns
 *   at_ns start_ns       start of the hiccup: since the start of the run, and of CLOCK_MONOTONIC
 *   duration_ns          = attributed_ns + edge_ns + not_recorded_ns + host_ns + outside_ns
 *   not_recorded_ns      time in which records are missing, so nobody knows what ran
 *   host_ns              what the recording of its host explains (report --host): pieces of kind
 *                        `host`, with their kind and CPU there
 *   threshold_ns         shorter gaps of this CPU have no line: to compare hosts, take the hiccups
 *                        longer than the largest threshold
 *   records_lost         records missing in the hiccup or just before it: unless 0, names may lack
 *   first_kind _id _name _function _cause _net_ns
 *                        the largest piece. Kind `outside`, without a name, where outside_ns is
 *                        larger; `lost`, "not recorded", where not_recorded_ns is
 *   cause                entry in the cause book, found by the names alone: the report, which sees
 *                        the whole run, may know better
 *   first_by_comm _pid _cpu _function
 *                        who asked for it; pid 0: an interrupt; empty: not known
 *   first_kernel_thread  of a thread: whether it is the kernel's, which its name does not tell
 *   tid comm kernel_thread
 *                        the watched thread that lost the time, and whether it is the kernel's;
 *                        empty without a watch, and the last two also where they are not known
 *   what                 gap: the CPU was away from the spin loop; thread: a watched thread lost
 *                        the time; outlier: an operation of a workload took longer than
 *                        threshold_ns. The others of its series have no line: -f json has all
 *   series               of an outlier: latency, transit, futex...; empty: not known
 *   first_owner          of a user thread: whose it is, "pod shop/api-7f9 · container app",
 *                        "nginx.service"; empty: not known, or threads of several
 *   piece_count pieces   all pieces, in order of appearance: in csv one cell with the array of
 *                        jsonl, [{"kind","id","name","function","kernel_thread","cause","net_ns",
 *                        "unseen_ns","origin":{"cpu","pid","comm","function"}}]; unseen_ns: of
 *                        net_ns, where threads left the CPU unseen, so that part of it is theirs
 *
 * Unknown values are null in jsonl and empty in csv, where an empty name is "". csv is UTF-8,
 * quoted by RFC 4180; its lines end in a newline alone. A text that a spreadsheet would take for a
 * formula begins with \xNN instead.
 */
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/units.h"
#include "model/owner.h"
#include "render/render.h"

#define UNKNOWN INT64_MIN

struct line {
	const char *host, *kernel, *started, *time;
	int64_t cpu, at_ns, start_ns, duration_ns, threshold_ns, attributed_ns, edge_ns, outside_ns,
		lost, lost_ns, host_ns;
	int64_t isolated, nohz_full; /* state of a CPU that is known */
	/* Fields of the largest piece; NULL: not known. */
	const char *kind, *name, *function, *cause, *by_comm, *by_function, *owner;
	int64_t id, net_ns, by_pid, by_cpu, kernel_thread;
	int64_t piece_count;
	int64_t tid, own_kernel_thread; /* numbers of a watched thread */
	const char *comm;
	const char *what, *series;
	const struct cpu *summary;
	const struct account *account;
};

enum column_type { TEXT, NUMBER, FLAG, PIECES };

#define COLUMN(type, name, field)                                                                  \
	{                                                                                          \
		name, type, offsetof(struct line, field)                                           \
	}

static const struct column {
	const char *name;
	enum column_type type;
	size_t offset;
} columns[] = {
	COLUMN(TEXT, "host", host),
	COLUMN(TEXT, "kernel", kernel),
	COLUMN(NUMBER, "cpu", cpu),
	COLUMN(FLAG, "isolated", isolated),
	COLUMN(FLAG, "nohz_full", nohz_full),
	COLUMN(TEXT, "started", started),
	COLUMN(TEXT, "time", time),
	COLUMN(NUMBER, "at_ns", at_ns),
	COLUMN(NUMBER, "start_ns", start_ns),
	COLUMN(NUMBER, "duration_ns", duration_ns),
	COLUMN(NUMBER, "threshold_ns", threshold_ns),
	COLUMN(NUMBER, "attributed_ns", attributed_ns),
	COLUMN(NUMBER, "edge_ns", edge_ns),
	COLUMN(NUMBER, "outside_ns", outside_ns),
	COLUMN(NUMBER, "records_lost", lost),
	COLUMN(TEXT, "first_kind", kind),
	COLUMN(NUMBER, "first_id", id),
	COLUMN(TEXT, "first_name", name),
	COLUMN(TEXT, "first_function", function),
	COLUMN(TEXT, "first_cause", cause),
	COLUMN(NUMBER, "first_net_ns", net_ns),
	COLUMN(TEXT, "first_by_comm", by_comm),
	COLUMN(NUMBER, "first_by_pid", by_pid),
	COLUMN(NUMBER, "first_by_cpu", by_cpu),
	COLUMN(TEXT, "first_by_function", by_function),
	COLUMN(NUMBER, "piece_count", piece_count),
	COLUMN(PIECES, "pieces", account),
	COLUMN(FLAG, "first_kernel_thread", kernel_thread),
	COLUMN(NUMBER, "not_recorded_ns", lost_ns),
	COLUMN(NUMBER, "tid", tid),
	COLUMN(TEXT, "comm", comm),
	COLUMN(FLAG, "kernel_thread", own_kernel_thread),
	COLUMN(TEXT, "what", what),
	COLUMN(TEXT, "series", series),
	COLUMN(TEXT, "first_owner", owner),
	COLUMN(NUMBER, "host_ns", host_ns),
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const char *text_of(const struct line *l, const struct column *c)
{
	return *(const char *const *)((const char *)l + c->offset);
}

static int64_t number_of(const struct line *l, const struct column *c)
{
	return *(const int64_t *)((const char *)l + c->offset);
}

/* ---- what a line says ---- */

/* Texts that a line points to and nobody else keeps. */
struct line_texts {
	char time[ISO_TIME], owner[OWNER_TEXT];
};

static void find_first(struct line *l, char owner[OWNER_TEXT])
{
	const struct account *a = l->account;
	const struct piece *first = NULL;
	const struct source *s;

	l->id = l->by_pid = l->by_cpu = l->kernel_thread = UNKNOWN;
	for (uint32_t i = 0; i < a->npieces; i++)
		if (!first || a->pieces[i].net_ns > first->net_ns)
			first = &a->pieces[i];
	if (a->lost_ns > a->outside_ns && (!first || a->lost_ns > first->net_ns)) {
		l->kind = source_kind_name(SOURCE_LOST);
		l->name = NOT_RECORDED;
		l->net_ns = a->lost_ns;
		return;
	}
	if (!first || a->outside_ns > first->net_ns) {
		l->kind = source_kind_name(SOURCE_OUTSIDE);
		l->net_ns = a->outside_ns;
		return;
	}
	s = l->summary->sources.row[first->source];
	l->kind = source_kind_name(s->kind);
	l->id = s->id;
	if ((s->kind == SOURCE_THREAD || s->host_kind == SOURCE_THREAD) && !s->rest)
		l->kernel_thread = s->kernel_thread;
	l->name = s->name;
	l->function = s->function;
	l->cause = s->cause;
	if (s->owner && *owner_text_of(s->owner, owner))
		l->owner = owner;
	l->net_ns = first->net_ns;
	if (first->asker.kind) {
		l->by_comm = first->asker.comm;
		l->by_pid = first->asker.tid;
		l->by_cpu = first->asker.cpu;
		l->by_function = first->asker.function;
	}
}

static struct line line_of(const struct view *v, uint32_t index, const struct account *a,
			   struct line_texts *texts)
{
	const struct series *series = cpu_series(&v->cpu[index], &a->spot);
	struct line l = {.host = v->host.hostname,
			 .kernel = v->host.kernel,
			 .started = v->run.started,
			 .cpu = a->spot.cpu == SPOT_UNKNOWN ? UNKNOWN : a->spot.cpu,
			 .at_ns = a->start_ns - v->run.started_ns,
			 .start_ns = a->start_ns,
			 .duration_ns = a->duration_ns,
			 .threshold_ns = series ? series->threshold_ns : v->cpu[index].threshold_ns,
			 .attributed_ns = a->attributed_ns,
			 .edge_ns = a->edge_ns,
			 .outside_ns = a->outside_ns,
			 .lost = a->lost,
			 .lost_ns = a->lost_ns,
			 .host_ns = a->host_ns,
			 .piece_count = a->npieces,
			 .tid = a->spot.tid ? a->spot.tid : UNKNOWN,
			 .comm = a->spot.comm[0] ? a->spot.comm : NULL,
			 .what = v->run.watch     ? "thread"
				 : v->run.windows ? "outlier"
						  : "gap",
			 .series = series ? series->name : NULL,
			 .summary = &v->cpu[index],
			 .account = a};
	uint64_t started;

	l.isolated = l.nohz_full = l.own_kernel_thread = UNKNOWN;
	if (l.cpu != UNKNOWN) {
		l.isolated = cpus_has(&v->host.isolated, a->spot.cpu);
		l.nohz_full = cpus_has(&v->host.nohz_full, a->spot.cpu);
	}
	if (a->spot.thread)
		l.own_kernel_thread = a->spot.thread == SPOT_THREAD_KERNEL;
	if (!parse_iso_time(v->run.started, &started))
		l.time = format_iso_time(started + l.at_ns, texts->time);
	find_first(&l, texts->owner);
	return l;
}

static void write_pieces(struct json *j, const char *key, const struct line *l)
{
	json_array_flat(j, key);
	render_pieces(j, l->summary, l->account->pieces, l->account->npieces);
	json_end(j);
}

/* ---- csv ---- */

static void csv_name(const char *name, struct buffer *to)
{
	char piece[ESCAPE_CHAR];
	size_t used;

	buffer_char(to, '"');
	if (*name && strchr("=+-@", *name)) {
		snprintf(piece, sizeof(piece), "\\x%02x", *name++);
		buffer_text(to, piece);
	}
	while (*name) {
		used = escape_plain(name, SIZE_MAX);
		buffer_put(to, name, used);
		name += used;
		used = escape_char(name, SIZE_MAX, piece);
		if (*piece == '"')
			buffer_char(to, '"');
		buffer_text(to, piece);
		name += used;
	}
	buffer_char(to, '"');
}

static void csv_pieces(const struct line *l, struct buffer *to)
{
	struct json j;

	buffer_char(to, '"');
	json_init_cell(&j, to);
	write_pieces(&j, NULL, l);
	buffer_char(to, '"');
}

static void csv_cell(const struct line *l, const struct column *c, struct buffer *to)
{
	switch (c->type) {
	case TEXT:
		if (text_of(l, c))
			csv_name(text_of(l, c), to);
		break;
	case NUMBER:
		if (number_of(l, c) != UNKNOWN)
			buffer_i64(to, number_of(l, c));
		break;
	case FLAG:
		if (number_of(l, c) != UNKNOWN)
			buffer_text(to, number_of(l, c) ? "true" : "false");
		break;
	case PIECES:
		csv_pieces(l, to);
	}
}

void render_csv_head(FILE *out)
{
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(out, "%s%s", i ? "," : "", columns[i].name);
	putc('\n', out);
}

int render_csv(const struct view *view, uint32_t index, const struct account *account, FILE *out)
{
	struct line_texts texts;
	struct line l = line_of(view, index, account, &texts);
	struct buffer to;

	buffer_init(&to, out);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (i)
			buffer_char(&to, ',');
		csv_cell(&l, &columns[i], &to);
	}
	buffer_char(&to, '\n');
	buffer_flush(&to);
	return ferror(out) ? -EIO : 0;
}

/* ---- jsonl ---- */

int render_jsonl(const struct view *view, uint32_t index, const struct account *account, FILE *out)
{
	struct line_texts texts;
	struct line l = line_of(view, index, account, &texts);
	struct json j;

	json_init(&j, out);
	json_object_flat(&j, NULL);
	for (const struct column *c = columns; c < columns + COLUMNS; c++)
		if (c->type == TEXT)
			json_string(&j, c->name, text_of(&l, c));
		else if (c->type == PIECES)
			write_pieces(&j, c->name, &l);
		else if (number_of(&l, c) == UNKNOWN)
			json_null(&j, c->name);
		else if (c->type == FLAG)
			json_bool(&j, c->name, number_of(&l, c));
		else
			json_i64(&j, c->name, number_of(&l, c));
	json_end(&j);
	return ferror(out) ? -EIO : 0;
}
