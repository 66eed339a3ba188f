/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_files DIR: the views of report.h in every format, for real readers of them, and what is
 * true of them.
 *
 * DIR/one.FORMAT, two.FORMAT (two hosts), hostile.FORMAT, quiet.FORMAT (no hiccups), truth.json;
 * strings there are hex. DIR/diff.FORMAT: web-07 against hostile. */
#include <inttypes.h>
#include <stdio.h>

#include "render/diff.h"
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
static int write_traced(const struct trace_format *f, struct trace *t, uint32_t index,
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
	struct trace *t = f->begin(&r->view, out);
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
	if (write_diff(argv[1], &a, &hostile)) {
		fprintf(stderr, "diff could not be written\n");
		return 1;
	}
	for (size_t i = 0; i < REPORTS; i++)
		report_free(all[i]);
	return 0;
}
