/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit plot: recordings on top of each other, as a picture and a table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/converter.h"
#include "cmd/guard.h"
#include "cmd/memory.h"
#include "cmd/newfile.h"
#include "cmd/output.h"
#include "model/redact.h"
#include "recording/read.h"
#include "render/plot.h"
#include "render/schemas.h"

#define HICCUPS SERIES_HICCUPS
#define STDOUT  "/dev/stdout" /* -o -: the picture alone goes there */

enum plot_format { BY_NAME, SVG, HTML, PNG, GNUPLOT, JSON };
static const struct opt_choice plot_formats[] = {
	{"by-name", "by the ending of FILE's name"},
	{"svg", "a picture that is sharp at any size"},
	{"html", "a page with both pictures, and a box for each file to hide it by"},
	{"png", "a picture of pixels; needs rsvg-convert"},
	{"gnuplot", "a script with the data in it"},
	{"json", "the data alone"},
	{0},
};
static const char *const endings[] = {"", ".svg", ".html", ".png", ".gp", ".json"};

struct options {
	int format;
	const char *path, *series;
	int log;
	/* mixed: windows of several series, which a recording does not tell apart */
	bool surface, percentiles, mixed, redact;
	struct cpus cpus;
	struct redact *names; /* with redact */
	uint64_t memory;
	/* With `path`: where the picture goes. */
	struct newfile new;
	struct converter converter; /* for a PNG */
	bool drawn;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt_choice axes[] = {
	{"auto", "those on which values spread over two decades or more"},
	{"x", ""},
	{"y", ""},
	{"xy", ""},
	{"none", ""},
	{0}};

static const struct opt plot_opts[] = {
	{'o', "output", "FILE",
	 "write the picture to FILE; the ending of its name gives the format: .svg, .html, .png, "
	 ".gp or .json. - is standard output, without the table; it needs -f",
	 FIELD(path), opt_set_string, .writes = true},
	{'f', "format", "FORMAT", "the format of the picture, whatever its name is", FIELD(format),
	 opt_set_choice, .choices = OPT_CHOICES(plot_formats), .preset = "by-name"},
	{0, "series", "NAME", "which measurement to draw: latency, delta, ...", FIELD(series),
	 opt_set_string,
	 .preset = "the first series of the first file; if it has none, its hiccups"},
	{0, "log", "AXES", "which axes are logarithmic", FIELD(log), opt_set_choice,
	 .choices = OPT_CHOICES(axes), .preset = "auto", .needs = "output",
	 .why = "belongs to the picture"},
	{0, "percentiles", NULL,
	 "draw the values by percentile: the axis of the tail, 90 %, 99 %, 99.9 %, ... as far as "
	 "there are values; without -o, in the terminal",
	 FIELD(percentiles)},
	{0, "surface", NULL,
	 "draw how the values spread over time, as a heat map for each file (gnuplot: a surface): "
	 "values of a series that were longer than the recording's threshold; if several series "
	 "have a threshold, all of them together",
	 FIELD(surface), .needs = "output", .why = "belongs to the picture"},
	{'c', "cpus", "CPUS", "only these CPUs", FIELD(cpus), opt_set_cpus},
	{0, "cpu", "CPUS", .alias = "cpus"},
	OPT_REDACT(FIELD(redact)),
	OPT_SCHEMA(schema_plot),
	{.include = memory_opts, .offset = FIELD(memory)},
	{0},
};

static const struct opt_example plot_examples[] = {
	{"culprit plot before.rec after.rec", "their percentiles, and their histograms as bars"},
	{"culprit plot before.rec after.rec -o both.svg", "their histograms in one picture"},
	{"culprit plot before.rec after.rec --percentiles", "and their tails, in the terminal"},
	{"culprit plot before.rec after.rec --percentiles -o tail.html",
	 "their tails: what 99 % or 99.99 % of the values do not exceed"},
	{"culprit plot before.rec --surface -o when.html", "which lengths came at what time"},
	{0},
};

const struct opt_command plot_usage = {
	.name = "plot",
	.operands = "FILE...",
	.summary = "draw the histograms of several recordings in one picture",
	.about = "Draws the histograms or percentiles of recordings, of a series that sleep, "
		 "pingpong and the like measured, or of hiccups, and prints a table of their "
		 "figures and their histograms as bars. Without -o it only prints these. - is "
		 "standard input.",
	.opts = plot_opts,
	.examples = plot_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR,
						   ENV_COLUMNS,
						   {"PATH", "the directories to search for "
							    "rsvg-convert, for PNG"},
						   {0}},
};

/* ---- reading ---- */

static const struct series *find_series(const struct cpu *c, const char *name)
{
	for (uint32_t i = 0; i < c->nseries; i++)
		if (!strncmp(c->series[i].name, name, SERIES_NAME))
			return &c->series[i];
	return NULL;
}

static int merge(struct plot_file *f, const struct hist *from)
{
	if (!f->hist.nbuckets && hist_init(&f->hist, from->bits))
		return complain("out of memory");
	hist_merge(&f->hist, from);
	return 0;
}

/* Merges the values of all CPUs. */
static int take_values(struct plot_file *f, const struct view *v, const char *series)
{
	bool found = false;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct series *s = find_series(&v->cpu[i], series);

		if (s) {
			f->fine = s->fine;
			f->threshold_ns = s->threshold_ns;
		}
		if (!s && !strcmp(series, HICCUPS))
			f->threshold_ns = v->cpu[i].threshold_ns;
		if (!s && strcmp(series, HICCUPS))
			continue;
		found = true;
		if (merge(f, s ? &s->hist : &v->cpu[i].hiccups))
			return -1;
	}
	if (found)
		return 0;
	if (!v->ncpus)
		return complain("%s holds nothing to draw: nobody was observed", f->path);
	if (!v->cpu[0].nseries)
		return complain("%s holds no %s: it has " HICCUPS " only (--series)", f->path,
				series);
	return complain("%s holds no %s: its first series is %s (--series)", f->path, series,
			v->cpu[0].series[0].name);
}

static int read_file(struct options *o, struct plot_file *f, char first[SERIES_NAME])
{
	struct view *v = calloc(1, sizeof(*v));
	struct part part = {.cpus = o->cpus, .redact = o->names};
	const struct account *a;
	struct recording *r;
	uint32_t index;
	int err;

	f->surface = o->surface ? malloc(sizeof(*f->surface)) : NULL;
	if (!v || (o->surface && !f->surface)) {
		free(v);
		return complain("out of memory");
	}
	if (f->surface)
		surface_init(f->surface);
	r = recording_open(f->path, &part, v);
	while (r && f->surface && (a = recording_next(r, &index)))
		if (a->start_ns >= v->run.started_ns)
			surface_add(f->surface, a->start_ns - v->run.started_ns, a->duration_ns);
	if (r) {
		recording_finish(r);
		if (v->run.incomplete[0])
			say("%s: %s", f->path, v->run.incomplete);
		if (!o->series) {
			bool some = v->ncpus && v->cpu[0].nseries;

			memcpy(first, some ? v->cpu[0].series[0].name : HICCUPS,
			       some ? SERIES_NAME : sizeof(HICCUPS));
			o->series = first;
		}
		f->duration_ns = v->run.duration_ns;
		f->redacted = v->run.redacted;
		snprintf(f->label, sizeof(f->label), "%.*s", (int)sizeof(v->run.label),
			 v->run.label);
		o->mixed |= v->ncpus && series_thresholds(v->cpu[0].series, v->cpu[0].nseries) > 1;
	}
	err = r ? take_values(f, v, o->series) : -1;
	view_free(v);
	recording_close(r);
	free(v);
	return err;
}

/* ---- writing ---- */

static void write_svg(const struct plot *p, int format, FILE *out)
{
	if (format == GNUPLOT)
		plot_gnuplot(p, out);
	else if (format == JSON)
		plot_json(p, out);
	else if (format == HTML)
		plot_html(p, out);
	else
		plot_svg(p, out);
}

/* The file for the picture, and who converts it; both before anything is read. */
static int open_plot(struct options *o)
{
	int err = newfile_open(&o->new, o->path);

	if (err)
		return complain("cannot write to %s: %s; choose another file with -o", o->path,
				newfile_error(err));
	if (o->format != PNG || !converter_start(&o->converter, o->new.file))
		return 0;
	newfile_close(&o->new, false);
	return -1;
}

static int write_plot(struct options *o, const struct plot *p)
{
	FILE *out = o->format == PNG ? o->converter.svg : o->new.file;

	write_svg(p, o->format, out);
	if (o->format != PNG && (fflush(out) || ferror(out)))
		return complain("writing %s: %s", o->path, strerror(errno));
	return 0;
}

/* bad: there is no picture, for a reason that has been said. */
static int close_plot(struct options *o, int bad)
{
	int err;

	if (o->format == PNG)
		bad = converter_end(&o->converter, o->path, bad);
	err = newfile_close(&o->new, !bad);
	return err && !bad ? complain("writing %s: %s", o->path, newfile_error(err)) : bad;
}

/* Chooses the logarithmic axes that nobody has chosen. */
static void settle_axes(const struct options *o, struct plot *p)
{
	bool spreads = !o->log && plot_spreads(p);

	p->log_x = o->log & 1 || (spreads && !p->percentiles);
	p->log_y = o->log & 2 || (spreads && p->percentiles);
}

static int write_all(struct options *o, struct plot *p)
{
	struct output table = {0};
	struct render_options r;
	int err = 0;

	settle_axes(o, p);
	p->what = o->surface && o->mixed ? "all windows above their thresholds" : o->series;
	if (o->path)
		err = close_plot(o, write_plot(o, p));
	o->drawn = true;
	p->what = o->series;
	if (!err && !(o->path && !strcmp(o->path, STDOUT)) && !output_open(&table)) {
		output_ready(&table, &r);
		plot_table(p, r.width, r.colour, table.file);
		err = output_close(&table, output_done(&table, 0) ? EXIT_ERROR : EXIT_OK);
	}
	return err;
}

/* A recording is shown by its label, unless another one has the same, or by its file: the names of
 * both are the user's, and without these it has a number. */
static void name_files(const struct plot *p)
{
	bool redacted = false;

	for (uint32_t i = 0; i < p->nfiles; i++) {
		struct plot_file *f = &p->file[i];
		bool own = f->label[0];

		if (f->redacted) {
			snprintf(f->number, sizeof(f->number), "#%u", i + 1);
			f->path = f->number;
		}
		for (uint32_t k = 0; k < p->nfiles; k++)
			own &= k == i || strcmp(p->file[k].label, f->label) != 0;
		f->name = own ? f->label : f->path;
		redacted |= f->redacted;
	}
	if (redacted)
		say("left out: %s", VIEW_REDACTED);
}

static int plot(struct options *o, char **path, uint32_t n)
{
	struct plot p = {.file = calloc(n, sizeof(*p.file)),
			 .surface = o->surface,
			 .percentiles = o->percentiles};
	char first[SERIES_NAME] = "";
	int err = p.file ? 0 : complain("out of memory");

	for (; p.nfiles < n && !err; p.nfiles++) {
		p.file[p.nfiles].path = path[p.nfiles];
		err = read_file(o, &p.file[p.nfiles], first);
	}
	name_files(&p);
	if (!err)
		err = write_all(o, &p);
	if (o->path && !o->drawn)
		close_plot(o, -1);
	for (uint32_t i = 0; i < p.nfiles; i++) {
		if (p.file[i].hist.nbuckets)
			hist_free(&p.file[i].hist);
		free(p.file[i].surface);
	}
	free(p.file);
	return err ? EXIT_ERROR : EXIT_OK;
}

/* Chooses the picture's format by its name. */
static int settle_format(struct options *o)
{
	size_t len = o->path ? strlen(o->path) : 0;

	if (!o->path)
		return o->format ? complain("-f needs the name of a file to write to: give -o FILE")
				 : 0;
	for (int k = SVG; !o->format && k <= JSON; k++)
		if (len > strlen(endings[k]) &&
		    !strcmp(o->path + len - strlen(endings[k]), endings[k]))
			o->format = k;
	return o->format ? 0
			 : complain("%s: its name does not tell the format: name it .svg, .html, "
				    ".png, .gp or .json, or give -f",
				    o->path);
}

int cmd_plot(int argc, char **argv)
{
	struct options o = {0};
	int operands, code;

	code = opt_parse(&plot_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	if (!operands) {
		complain("which recordings? culprit plot FILE...");
		return EXIT_ERROR;
	}
	if (o.surface && o.percentiles) {
		complain("--surface and --percentiles are two pictures: give one of them");
		return EXIT_ERROR;
	}
	if (settle_format(&o))
		return EXIT_ERROR;
	if (o.surface && o.format == JSON) {
		complain("--surface is a picture: .json has the histograms only");
		return EXIT_ERROR;
	}
	if (o.redact && !(o.names = redact_new(0))) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	guard_reader(o.memory, o.path);
	if (o.path && !strcmp(o.path, "-"))
		o.path = STDOUT;
	if (o.path && open_plot(&o))
		return EXIT_ERROR;
	guard_alone(o.path);
	code = plot(&o, argv + 1, operands);
	redact_free(o.names);
	return code;
}
