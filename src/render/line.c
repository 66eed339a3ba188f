/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of csv, jsonl and Parquet, one line for each hiccup, made for DuckDB, ClickHouse or
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
 *                        larger, "not traced" of a run with --no-trace; `lost`, "not recorded",
 *                        where not_recorded_ns is
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
 *   first_by_owner       the same of the thread that asked
 *   piece_count pieces   all pieces, in order of appearance: in csv one cell with the array of
 *                        jsonl, [{"kind","id","name","function","kernel_thread","cause","net_ns",
 *                        "unseen_ns","owner","origin":{"cpu","pid","comm","function","owner"}}];
 *                        unseen_ns: of net_ns, where threads left the CPU unseen, so that part of
 *                        it is theirs; owner: as first_owner
 *
 * Unknown values are null in jsonl and empty in csv, where an empty name is "". csv is UTF-8,
 * quoted by RFC 4180; its lines end in a newline alone. A text that a spreadsheet would take for a
 * formula begins with \xNN instead.
 */
#include "render/line.h"

#define LEAD(name) "\"" name "\": "
#define COLUMN(type, name, field)                                                                  \
	{                                                                                          \
		name, type, offsetof(struct line, field), sizeof(LEAD(name)) - 1, LEAD(name)       \
	}

const struct line_column line_columns[] = {
	COLUMN(LINE_TEXT, "host", host),
	COLUMN(LINE_TEXT, "kernel", kernel),
	COLUMN(LINE_NUMBER, "cpu", cpu),
	COLUMN(LINE_FLAG, "isolated", isolated),
	COLUMN(LINE_FLAG, "nohz_full", nohz_full),
	COLUMN(LINE_TIME, "started", started),
	COLUMN(LINE_TIME, "time", time),
	COLUMN(LINE_NUMBER, "at_ns", at_ns),
	COLUMN(LINE_NUMBER, "start_ns", start_ns),
	COLUMN(LINE_NUMBER, "duration_ns", duration_ns),
	COLUMN(LINE_NUMBER, "threshold_ns", threshold_ns),
	COLUMN(LINE_NUMBER, "attributed_ns", attributed_ns),
	COLUMN(LINE_NUMBER, "edge_ns", edge_ns),
	COLUMN(LINE_NUMBER, "outside_ns", outside_ns),
	COLUMN(LINE_NUMBER, "records_lost", lost),
	COLUMN(LINE_TEXT, "first_kind", kind),
	COLUMN(LINE_NUMBER, "first_id", id),
	COLUMN(LINE_TEXT, "first_name", name),
	COLUMN(LINE_TEXT, "first_function", function),
	COLUMN(LINE_TEXT, "first_cause", cause),
	COLUMN(LINE_NUMBER, "first_net_ns", net_ns),
	COLUMN(LINE_TEXT, "first_by_comm", by_comm),
	COLUMN(LINE_NUMBER, "first_by_pid", by_pid),
	COLUMN(LINE_NUMBER, "first_by_cpu", by_cpu),
	COLUMN(LINE_TEXT, "first_by_function", by_function),
	COLUMN(LINE_NUMBER, "piece_count", piece_count),
	COLUMN(LINE_PIECES, "pieces", account),
	COLUMN(LINE_FLAG, "first_kernel_thread", kernel_thread),
	COLUMN(LINE_NUMBER, "not_recorded_ns", lost_ns),
	COLUMN(LINE_NUMBER, "tid", tid),
	COLUMN(LINE_TEXT, "comm", comm),
	COLUMN(LINE_FLAG, "kernel_thread", own_kernel_thread),
	COLUMN(LINE_TEXT, "what", what),
	COLUMN(LINE_TEXT, "series", series),
	COLUMN(LINE_TEXT, "first_owner", owner),
	COLUMN(LINE_NUMBER, "host_ns", host_ns),
	COLUMN(LINE_TEXT, "first_by_owner", by_owner),
};
const size_t line_columns_n = sizeof(line_columns) / sizeof(line_columns[0]);

struct line_who line_who(const struct source *s)
{
	bool host = s->kind == SOURCE_HOST && !s->rest;
	struct line_who who = {.kind = source_kind_name(s->kind),
			       .id = s->id == KIND_IDS ? LINE_UNKNOWN : s->id,
			       .kernel_thread = LINE_UNKNOWN,
			       .host_cpu = LINE_UNKNOWN};

	if ((s->kind == SOURCE_THREAD || s->host_kind == SOURCE_THREAD) && !s->rest)
		who.kernel_thread = s->kernel_thread;
	if (host)
		who.host_kind =
			s->host_kind == SOURCE_HOST ? "edge" : source_kind_name(s->host_kind);
	if (host && s->host_cpu && s->host_cpu != SOURCE_CPUS)
		who.host_cpu = s->host_cpu - 1;
	return who;
}

static void find_first(const struct view *v, struct line *l, struct line_texts *texts)
{
	const struct account *a = l->account;
	const struct piece *first = NULL;
	const struct source *s;
	struct line_who who;

	l->id = l->by_pid = l->by_cpu = l->kernel_thread = LINE_UNKNOWN;
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
		l->name = v->run.traced ? NULL : word_text(WORD_NOT_TRACED);
		l->net_ns = a->outside_ns;
		return;
	}
	s = l->summary->sources.row[first->source];
	who = line_who(s);
	l->kind = who.kind;
	l->id = s->id;
	l->kernel_thread = who.kernel_thread;
	l->name = s->name;
	l->function = s->function;
	l->cause = s->cause;
	l->owner = owner_words(s->owner, texts->owner);
	l->net_ns = first->net_ns;
	if (first->asker.kind) {
		l->by_comm = first->asker.comm;
		l->by_pid = first->asker.tid;
		l->by_cpu = first->asker.cpu;
		l->by_function = first->asker.function;
		l->by_owner = owner_words(first->asker.owner, texts->by_owner);
	}
}

struct line line_of(const struct view *v, uint32_t index, const struct account *a,
		    struct line_texts *texts)
{
	const struct series *series = cpu_series(&v->cpu[index], &a->spot);
	struct line l = {.host = v->host.hostname,
			 .kernel = v->host.kernel,
			 .started = v->run.started,
			 .cpu = a->spot.cpu == SPOT_UNKNOWN ? LINE_UNKNOWN : a->spot.cpu,
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
			 .tid = a->spot.tid ? a->spot.tid : LINE_UNKNOWN,
			 .comm = a->spot.comm[0] ? a->spot.comm : NULL,
			 .what = v->run.watch     ? "thread"
				 : v->run.windows ? "outlier"
						  : "gap",
			 .series = series ? series->name : NULL,
			 .summary = &v->cpu[index],
			 .account = a};
	uint64_t started;

	l.isolated = l.nohz_full = l.own_kernel_thread = LINE_UNKNOWN;
	if (l.cpu != LINE_UNKNOWN) {
		l.isolated = cpus_has(&v->host.isolated, a->spot.cpu);
		l.nohz_full = cpus_has(&v->host.nohz_full, a->spot.cpu);
	}
	if (a->spot.thread)
		l.own_kernel_thread = a->spot.thread == SPOT_THREAD_KERNEL;
	if (!parse_iso_time(v->run.started, &started))
		l.time = format_iso_time(started + l.at_ns, texts->time);
	find_first(v, &l, texts);
	return l;
}
