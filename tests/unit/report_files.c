/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_files DIR: the views of report.h in every format, for real readers of them, and what is
 * true of them.
 *
 * DIR/one.FORMAT, two.FORMAT (two hosts), hostile.FORMAT, quiet.FORMAT (no hiccups), truth.json;
 * strings there are hex. DIR/diff.FORMAT: web-07 against hostile. DIR/table.parquet, empty.parquet:
 * values for the encodings; crowd.rollup.parquet: more threads than a minute has cells. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "render/diff.h"
#include "render/parquet.h"
#include "render/render.h"
#include "../world/made.h"

#define REPORTS 4

static FILE *create(const char *dir, const char *set, const char *format)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.%s", dir, set, format);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

/* The hiccup's pieces one after the other, as if each had run once. */
static int write_traced(const struct trace_format *f, void *t, uint32_t index,
			const struct account *hiccup)
{
	struct span spans[REPORT_PIECES];
	struct account a = *hiccup;
	uint64_t at = a.start_ns;

	for (uint32_t i = 0; i < a.npieces; i++) {
		spans[i] = (struct span){.start_ns = at,
					 .end_ns = at + a.pieces[i].net_ns,
					 .source = a.pieces[i].source,
					 .asker = a.pieces[i].asker};
		at = spans[i].end_ns;
	}
	a.spans = spans;
	a.nspans = a.npieces;
	return f->hiccup(t, index, &a);
}

static int write_trace(const struct trace_format *f, const struct report *r, FILE *out)
{
	void *t = f->begin(&r->view, out);
	int err = t ? 0 : -1;

	for (uint32_t k = 0; k < r->hiccups && !err; k++)
		err = write_traced(f, t, r->index[k], &r->hiccup[k]);
	return t && !f->end(t) ? err : -1;
}

static int write_format(const struct format *f, struct report *const *reports, uint32_t n,
			FILE *out)
{
	const struct render_options options = {.width = 100};
	const struct view *views[4];
	int err = 0;

	for (uint32_t i = 0; i < n; i++)
		views[i] = &reports[i]->view;
	if (f->trace)
		/* the recording has no more than one */
		return write_trace(f->trace, reports[0], out);
	if (f->write)
		return f->write(views, n, &options, out);
	if (f->head)
		f->head(out);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < reports[i]->hiccups && !err; k++)
			err = f->hiccup(views[i], reports[i]->index[k], &reports[i]->hiccup[k],
					out);
	return err;
}

static void write_hex(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\": ", key);
	if (!text) {
		fputs("null", out);
		return;
	}
	putc('"', out);
	for (; *text; text++)
		fprintf(out, "%02x", (unsigned char)*text);
	putc('"', out);
}

static void write_piece(FILE *out, const struct source *s, const struct piece *p)
{
	fprintf(out, "{\"kind\": \"%s\", \"id\": %u, \"net_ns\": %" PRIu64 ", ",
		source_kind_name(s->kind), s->id, p->net_ns);
	write_hex(out, "name", s->name);
	fputs(", ", out);
	write_hex(out, "function", s->function);
	fprintf(out, ", \"kernel_thread\": %s",
		s->kind != SOURCE_THREAD ? "null"
		: s->kernel_thread       ? "true"
					 : "false");
	fprintf(out, s->cause ? ", \"cause\": \"%s\"" : ", \"cause\": null", s->cause);
	if (p->asker.kind) {
		fprintf(out, ", \"by_cpu\": %u, \"by_pid\": %u, ", p->asker.cpu, p->asker.tid);
		write_hex(out, "by_comm", p->asker.comm);
		fputs(", ", out);
		write_hex(out, "by_function", p->asker.function);
	}
	putc('}', out);
}

static void write_truth(FILE *out, const struct report *r)
{
	fputs("{", out);
	write_hex(out, "host", r->view.host.hostname);
	fputs(", ", out);
	write_hex(out, "kernel", r->view.host.kernel);
	fprintf(out, ", \"hiccups\": [");
	for (uint32_t i = 0; i < r->hiccups; i++) {
		const struct account *a = &r->hiccup[i];
		const struct cpu *s = &r->view.cpu[r->index[i]];

		fprintf(out,
			"%s{\"cpu\": %u, \"isolated\": %s, \"start_ns\": %" PRIu64
			", \"duration_ns\": %" PRIu64 ", \"attributed_ns\": %" PRIu64
			", \"edge_ns\": %" PRIu64 ", \"outside_ns\": %" PRIu64
			", \"not_recorded_ns\": %" PRIu64 ", \"records_lost\": %" PRIu64
			", \"pieces\": [",
			i ? ",\n" : "", s->number,
			cpus_has(&r->view.host.isolated, s->number) ? "true" : "false", a->start_ns,
			a->duration_ns, a->attributed_ns, a->edge_ns, a->outside_ns, a->lost_ns,
			a->lost);
		for (uint32_t k = 0; k < a->npieces; k++) {
			fputs(k ? ", " : "", out);
			write_piece(out, s->sources.row[a->pieces[k].source], &a->pieces[k]);
		}
		fputs("]}", out);
	}
	fputs("]}", out);
}

static int write_diff(const char *dir, const struct report *a, const struct report *b)
{
	static const char *const names[] = {"a|`b`<i>\n.rec", "b.rec"}, *const suffix[] = {
										"text", "markdown",
										"json"};
	const struct render_options options = {.width = 100};
	const struct view *views[] = {&a->view, &b->view};
	struct diff d;
	const struct diff_side side[] = {{&views[0], 1}, {&views[1], 1}};
	int err = diff_make(&d, side, 2, DIFF_BETWEEN);

	for (unsigned i = 0; i < 3 && !err; i++) {
		FILE *out = create(dir, "diff", suffix[i]);

		err = render_diff(&d, names, (enum diff_format)i, &options, out);
		err |= fclose(out);
	}
	diff_free(&d);
	return err;
}

/* A table of Parquet with the values that its encodings may stumble over, in two groups of rows.
 * tests/cli/78-parquet.t knows the same. */
#define TABLE_ROWS 120000

static const struct parquet_field table_fields[] = {
	{"n", PARQUET_INT, false, 0},       {"wild", PARQUET_INT, false, 0},
	{"third", PARQUET_INT, true, 0},    {"flag", PARQUET_BOOL, true, 0},
	{"many", PARQUET_TEXT, false, 0},   {"few", PARQUET_TEXT, true, 0},
	{"none", PARQUET_TEXT, true, 0},    {"list", PARQUET_LIST, false, 1},
	{"element", PARQUET_INT, false, 0},
};
enum {
	TABLE_N,
	TABLE_WILD,
	TABLE_THIRD,
	TABLE_FLAG,
	TABLE_MANY,
	TABLE_FEW,
	TABLE_NONE,
	TABLE_LIST
};

static int64_t wild(uint64_t i)
{
	uint64_t bits = i * 0x9e3779b97f4a7c15ULL;

	return (int64_t)(i % 7 ? bits >> (i % 64) : bits | 1ULL << 63);
}

static int table_row(struct parquet *p, uint64_t i)
{
	char word[32];

	parquet_number(p, TABLE_N, false, (int64_t)i);
	parquet_number(p, TABLE_WILD, false, wild(i));
	if (i % 3)
		parquet_null(p, TABLE_THIRD, false, 0);
	else
		parquet_number(p, TABLE_THIRD, false, -(int64_t)i);
	if (i / 1000 % 2)
		parquet_null(p, TABLE_FLAG, false, 0);
	else
		parquet_number(p, TABLE_FLAG, false, i % 5 < 2);
	snprintf(word, sizeof(word), "a long word %" PRIu64, i % 70001);
	parquet_text(p, TABLE_MANY, false, word);
	if (i % 1000 < 500)
		parquet_text(p, TABLE_FEW, false, i % 2 ? "" : "\xc2\xb7");
	else
		parquet_null(p, TABLE_FEW, false, 0);
	parquet_null(p, TABLE_NONE, false, 0);
	for (uint64_t k = 0; k < i % 5; k++)
		parquet_number(p, TABLE_LIST, k > 0, (int64_t)(i + k));
	if (i % 5 == 0)
		parquet_null(p, TABLE_LIST, false, 0);
	return parquet_row(p);
}

static int write_table(const char *dir, const char *name, uint64_t rows)
{
	struct parquet *p;
	char path[PATH_MAX];
	FILE *out;
	int err = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "w");
	p = out ? parquet_begin(table_fields, sizeof(table_fields) / sizeof(table_fields[0]), out)
		: NULL;
	if (!p)
		return 1;
	for (uint64_t i = 0; i < rows && !err; i++)
		err = table_row(p, i);
	err |= parquet_end(p);
	return err || fclose(out);
}

/* More threads in a minute than the rollup keeps cells: 3,000 hiccups of 100 ns. */
static int write_crowd(const char *dir)
{
	const unsigned cpu = 3;
	struct report r;
	FILE *out = create(dir, "crowd", "rollup.parquet");
	void *state;
	int err = 0;

	report_init(&r, "crowd", &cpu, 1);
	r.view.cpu[0].observed_ns = 1000000000;
	state = render_rollup.begin(&r.view, out);
	for (uint32_t i = 0; i < 3000 && state && !err; i++) {
		char name[16];
		struct source_key key = {.kind = SOURCE_THREAD, .id = 1 + i, .name = name};
		struct piece piece = {.count = 1, .net_ns = 100};
		struct account a = {.start_ns = r.view.run.started_ns + 300000 * i,
				    .duration_ns = 100,
				    .attributed_ns = 100,
				    .pieces = &piece,
				    .npieces = 1};

		snprintf(name, sizeof(name), "t%c%c%c", 'a' + i % 26, 'a' + i / 26 % 26,
			 'a' + i / 676);
		piece.source = sources_find_key(&r.view.cpu[0].sources, &key);
		err = render_rollup.hiccup(state, 0, &a);
	}
	err |= !state || render_rollup.end(state);
	report_free(&r);
	return err || fclose(out);
}

int main(int argc, char **argv)
{
	static struct report a, b, hostile, quiet;
	struct report *const all[] = {&a, &b, &hostile, &quiet};
	static const struct {
		const char *name;
		uint32_t first, n;
	} sets[] = {{"one", 0, 1}, {"two", 0, 2}, {"hostile", 2, 1}, {"quiet", 3, 1}};
	const unsigned cpu = 5;
	FILE *out;

	if (argc != 2)
		return 1;
	report_plain(&a, "web-07");
	report_plain(&b, "db-1");
	report_hostile(&hostile);
	report_init(&quiet, "quiet", &cpu, 1);
	out = create(argv[1], "truth", "json");
	for (size_t i = 0; i < REPORTS; i++) {
		fprintf(out, i ? ",\n\"%s\": " : "{\"%s\": ",
			(const char *[]){"web-07", "db-1", "hostile", "quiet"}[i]);
		write_truth(out, all[i]);
	}
	fputs("}\n", out);
	fclose(out);
	for (const struct format *f = formats; f->choice.name; f++)
		for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
			out = create(argv[1], sets[i].name, f->choice.name);
			if (write_format(f, all + sets[i].first, sets[i].n, out) || fclose(out)) {
				fprintf(stderr, "%s of %s could not be written\n", f->choice.name,
					sets[i].name);
				return 1;
			}
		}
	if (write_table(argv[1], "table.parquet", TABLE_ROWS) ||
	    write_table(argv[1], "empty.parquet", 0) || write_crowd(argv[1])) {
		fprintf(stderr, "a table could not be written\n");
		return 1;
	}
	if (write_diff(argv[1], &a, &hostile)) {
		fprintf(stderr, "diff could not be written\n");
		return 1;
	}
	for (size_t i = 0; i < REPORTS; i++)
		report_free(all[i]);
	return 0;
}
