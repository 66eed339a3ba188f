/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "audit/book.h"
#include "audit/conclude.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "render/schemas.h"

#define WIDTH_MIN 40 /* columns that a report needs */

#define FIELD(name) offsetof(struct output, name)

static const struct format *format_of(const struct output *o)
{
	return &formats[o->format];
}

static int write_failed(struct output *o, int error)
{
	return complain("writing the %s to %s: %s%s", o->beside ? o->beside : "report",
			o->path ? o->path : "standard output", strerror(error),
			o->grown ? newfile_cut_said(newfile_cut(o->file)) : "");
}

int output_set_path(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	(void)row, (void)why, (void)whylen;
	*(const char **)field = strcmp(text, "-") ? text : NULL;
	return 0;
}

int output_set_file(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	if (strcmp(text, "-"))
		return opt_set_string(text, field, row, why, whylen);
	snprintf(why, whylen, "standard output has the report: name a file");
	return -EINVAL;
}

int output_set_percentiles(const char *text, void *field, const struct opt *row, char *why,
			   size_t whylen)
{
	struct output *o = field;

	o->series_given = true;
	return opt_set_choice(text, &o->series, row, why, whylen);
}

const struct opt_choice text_or_json[] = {
	[FORMAT_TEXT] = {"text", "for people"},
	[FORMAT_JSON] = {"json", "for scripts"},
	{0},
};

/* enum metrics_per */
static const struct opt_choice metrics_pers[] = {
	{"cpu", "each CPU"},
	{"group", "CPUs that are alike, together; for reports at the end"},
	{"host", "all CPUs together, with at most 100 series"},
	{0},
};

const struct opt output_file_opts[] = {
	{'o', "output", "FILE", "write to FILE instead of standard output; - is standard output", 0,
	 output_set_path, .writes = true},
	{0},
};

const struct opt output_opts[] = {
	{'f', "format", "FORMAT", "the format of the report", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(formats), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(path)},
	{0, "stacks", NULL,
	 "in text: print the kernel stacks from which IPIs, wakeups and work were asked for",
	 FIELD(stacks)},
	{0, "chart", NULL,
	 "in text: draw how long hiccups were, or what a workload measured: by percentile, and as "
	 "bars",
	 FIELD(chart)},
	{0, "all", NULL, "in text and Markdown: every CPU by itself, also those that are alike",
	 FIELD(all)},
	{0, "metrics-per", "WHAT", "in metrics, what has series of its own", FIELD(metrics_per),
	 opt_set_choice, .choices = OPT_CHOICES(metrics_pers), .preset = "cpu"},
	{0, "metrics-label", "WHAT",
	 "in metrics, a label for series of user threads: whose they are, also in sums over CPUs",
	 FIELD(label), opt_set_choice, .choices = OPT_CHOICES(output_labels), .preset = "none"},
	OPT_SCHEMA(schema_report),
	{0, "schema-jsonl", NULL, "print that of a line of -f jsonl, and do no more",
	 .says = schema_jsonl},
	{0},
};

/* enum owner_by */
const struct opt_choice output_bys[] = {
	{"thread", "one thread; of many with one comm, some"},
	{"comm", "all threads of one comm"},
	{"unit", "all user threads of a systemd unit; who is in none stands alone, as below"},
	{"container", "all user threads of a container"},
	{"pod", "all user threads of a Kubernetes pod"},
	{"machine", "all threads of a virtual machine"},
	{0},
};

/* enum series_style */
const struct opt_choice percentile_sets[] = {
	{"short", "up to 99.9"},
	{"wide", "p20 and p80, too"},
	{"long", "up to 99.9999"},
	{0},
};

const struct opt series_opts[] = {
	{0, "percentiles", "WHICH", "in text: which percentiles of what was measured", 0,
	 output_set_percentiles, .choices = OPT_CHOICES(percentile_sets), .preset = "short"},
	{0, "series", "NAME",
	 "in hgrm and hlog: which values: latency, transit, ..., or hiccups, which of a workload "
	 "are those above the threshold",
	 FIELD(values), opt_set_string, .preset = "hgrm: the first series; hlog: all"},
	{0},
};

static bool is_metrics(const struct output *o)
{
	const char *name = format_of(o)->choice.name;

	return !strcmp(name, "openmetrics") || !strcmp(name, "prometheus");
}

int output_open(struct output *o)
{
	int err;

	o->file = stdout;
	if ((o->stacks || o->chart || o->series_given) && o->format != FORMAT_TEXT)
		return complain("%s works only with -f text: leave it out with -f %s",
				o->stacks  ? "--stacks"
				: o->chart ? "--chart"
					   : "--percentiles",
				format_of(o)->choice.name);
	if (o->values && strcmp(format_of(o)->choice.name, "hgrm") &&
	    strcmp(format_of(o)->choice.name, "hlog"))
		return complain("--series is for -f hgrm and hlog: leave it out with -f %s, which "
				"has all series",
				format_of(o)->choice.name);
	if (o->metrics_per && !o->metrics && !is_metrics(o))
		return complain("--metrics-per is for metrics: leave it out with -f %s",
				format_of(o)->choice.name);
	if (o->label && !o->metrics && !is_metrics(o))
		return complain("--metrics-label is for metrics: leave it out with -f %s",
				format_of(o)->choice.name);
	if (o->all && !output_prose(o))
		return complain("--all is for text and Markdown: leave it out with -f %s",
				format_of(o)->choice.name);
	if (!o->path && format_of(o)->trace && isatty(STDOUT_FILENO))
		return complain("%s is binary, and this is a terminal: give it a file with -o",
				format_of(o)->choice.name);
	if (!o->path)
		return 0;
	err = newfile_open(&o->new, o->path);
	o->file = o->new.file;
	return err ? complain("cannot write to %s: %s; choose another file with %s%s", o->path,
			      newfile_error(err), o->beside ? "--" : "-",
			      o->beside ? o->beside : "o")
		   : 0;
}

bool output_prose(const struct output *o)
{
	return o->format == FORMAT_TEXT || output_markdown(o);
}

bool output_markdown(const struct output *o)
{
	return !strcmp(format_of(o)->choice.name, "markdown");
}

bool output_lines(const struct output *o)
{
	return format_of(o)->hiccup || format_of(o)->trace;
}

bool output_alone(const struct output *o)
{
	return format_of(o)->trace;
}

bool output_spans(const struct output *o)
{
	return format_of(o)->spans;
}

void output_grow(struct output *o)
{
	int err = o->path ? newfile_place(&o->new) : 0;

	if (err)
		o->error = -err;
	o->grown = !err && o->new.placed;
}

void output_begin(struct output *o)
{
	const struct format *f = format_of(o);

	if (o->begun)
		return;
	o->begun = true;
	if (f->hiccup)
		output_grow(o);
	if (f->head)
		f->head(o->file);
}

/* A line is written before advise() has all that it needs: names its cause by the names alone.
 * Unknown names are looked up again ever more seldom. */
static void name_causes(const struct view *v, uint32_t index, const struct account *a)
{
	for (uint32_t i = 0; i < a->npieces; i++) {
		struct source *s = v->cpu[index].sources.row[a->pieces[i].source];
		const struct cause *c;

		if (s->cause || (s->hiccups & (s->hiccups - 1)))
			continue;
		c = cause_of(s);
		s->cause = c ? c->id : NULL;
	}
}

/* Begins the trace with the first hiccup, which brings the view. */
static bool begin_trace(struct output *o, const struct view *v)
{
	if (!o->trace && !o->error && !(o->trace = format_of(o)->trace->begin(v, o->file)))
		o->error = ENOMEM;
	return o->trace;
}

/* A failed write (-EIO) is for output_flush(), which knows the reason. */
static void trace_failed(struct output *o, int err)
{
	if (err && err != -EIO && !o->error)
		o->error = -err;
}

bool output_shared(const struct output *o)
{
	return format_of(o)->hiccup;
}

void output_line(const struct output *o, const struct view *v, uint32_t index,
		 const struct account *a, FILE *out)
{
	name_causes(v, index, a);
	if (format_of(o)->hiccup)
		format_of(o)->hiccup(v, index, a, out);
}

void output_hiccup(struct output *o, const struct view *v, uint32_t index, const struct account *a)
{
	output_begin(o);
	if (!ferror(o->file)) /* no line behind one that lacks its end */
		output_line(o, v, index, a, o->file);
	if (format_of(o)->trace && begin_trace(o, v))
		trace_failed(o, format_of(o)->trace->hiccup(o->trace, index, a));
}

bool output_flush(struct output *o)
{
	if (output_lines(o) && !o->error && (fflush(o->file) || ferror(o->file)))
		o->error = errno ? errno : EIO;
	return !o->error;
}

void output_explain(struct view *v)
{
	if (conclude(v))
		say("out of memory: some advice is missing");
}

/* Reports about the whole run go to stderr, because lines have no place for them. */
static void say_rest(const struct output *o, const struct view *v)
{
	char a[32], b[32];

	if (v->run.incomplete[0] && !o->live)
		say("%s: incomplete: %s", v->host.hostname, v->run.incomplete);
	if (v->run.reports_lost)
		say("reports of watched programs are missing here: %s were not read",
		    format_count(v->run.reports_lost, a, sizeof(a)));
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];

		if (c->hiccups_lost)
			say("CPU %u: %s hiccups are missing here, %s in all: they came faster than "
			    "they could be read",
			    v->cpu[i].number, format_count(c->hiccups_lost, a, sizeof(a)),
			    format_ns(c->hiccups_lost_ns, b, sizeof(b)));
	}
}

/* Lines of a terminal; 0: it is none. */
static unsigned height_of(FILE *out)
{
	struct winsize size;

	return isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) ? size.ws_row : 0;
}

void output_terminal(FILE *out, unsigned most, bool *colour, unsigned *width)
{
	const char *no_colour = getenv("NO_COLOR"), *columns = getenv("COLUMNS");
	bool terminal = isatty(fileno(out));
	struct winsize size;
	char why[160];
	long wide = 0;

	*colour = terminal && !(no_colour && no_colour[0]);
	if ((!columns || parse_integer(columns, 1, INT_MAX, &wide, why, sizeof(why))) && terminal &&
	    !ioctl(fileno(out), TIOCGWINSZ, &size))
		wide = size.ws_col;
	if (wide > 0) /* a terminal that does not say has 0 */
		*width = wide < WIDTH_MIN ? WIDTH_MIN : wide < most ? wide : most;
}

void output_ready(struct output *o, struct render_options *r)
{
	*r = (struct render_options){.width = 100,
				     .stacks = o->stacks,
				     .chart = o->chart,
				     .all = o->all,
				     .metrics_per = o->metrics_per,
				     .metrics_label = output_label(o),
				     .series = o->series,
				     .values = o->values};
	r->height = height_of(o->file);
	output_terminal(o->file, 120, &r->colour, &r->width);
}

int output_done(struct output *o, int err)
{
	if (err || fflush(o->file) || ferror(o->file))
		return write_failed(o, errno);
	o->whole = true; /* even if a later step fails */
	return 0;
}

int output_end(struct output *o, const struct view *const *views, uint32_t n)
{
	struct render_options r;

	output_begin(o);
	if (!format_of(o)->write) {
		for (uint32_t i = 0; i < n; i++)
			say_rest(o, views[i]);
		if (format_of(o)->trace && begin_trace(o, views[0])) {
			trace_failed(o, format_of(o)->trace->end(o->trace));
			o->trace = NULL;
		}
		o->whole = output_flush(o);
		return o->whole ? 0 : write_failed(o, o->error);
	}
	output_ready(o, &r);
	if (o->values && !views_have(views, n, o->values))
		return complain("nothing here is called '%s': --series %s is what there is first",
				o->values, views_values(views, n));
	if (output_check_runs(o, views, n))
		return -1;
	return output_done(o, format_of(o)->write(views, n, &r, o->file));
}

int output_close(struct output *o, int code)
{
	bool failed = code == EXIT_ERROR && !o->whole && !o->grown;
	int err;

	if (!o->path || !o->file)
		return code;
	err = newfile_close(&o->new, !failed);
	if (!err || failed)
		return code;
	complain("writing %s: %s", o->path, newfile_error(err));
	return EXIT_ERROR;
}
