/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit report: recordings, as the run would have reported them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/guard.h"
#include "cmd/joined.h"
#include "cmd/limits.h"
#include "cmd/memory.h"
#include "cmd/output.h"
#include "recording/read.h"
#include "render/fleet.h"

struct options {
	struct output output;
	struct part part;
	bool redact, rank;
	int by; /* enum owner_by */
	struct shown shown;
	struct limits limits;
	uint64_t memory;
	struct hosts_given hosts;
};

#define FIELD(name) offsetof(struct options, name)

static int set_kind(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	size_t at;

	(void)row;
	for (unsigned kind = 0; kind < SOURCE_KINDS; kind++)
		if (!strcmp(text, source_kind_name(kind))) {
			*(unsigned *)field |= 1u << kind;
			return 0;
		}
	at = snprintf(why, whylen, "'%.40s' is not a kind: use one of", text);
	for (unsigned kind = 0; kind < SOURCE_KINDS && at < whylen; kind++)
		at += snprintf(why + at, whylen - at, " %s", source_kind_name(kind));
	return -EINVAL;
}

static int set_top(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	long n;

	(void)row;
	if (parse_integer(text, 1, SOURCES_MAX, &n, why, whylen))
		return -EINVAL;
	*(uint32_t *)field = n;
	return 0;
}

static const struct opt report_opts[] = {
	{.include = output_opts, .offset = FIELD(output)},
	{.include = series_opts, .offset = FIELD(output)},
	{'c', "cpus", "CPUS", "only these CPUs", FIELD(part.cpus), opt_set_cpus},
	{0, "cpu", "CPUS", .alias = "cpus"},
	{0, "from", "TIME",
	 "only hiccups that begin this long after the start of the window, or later",
	 FIELD(part.from_ns), opt_set_offset},
	{0, "to", "TIME", "only hiccups that begin earlier than this", FIELD(part.to_ns),
	 opt_set_duration},
	{'t', "threshold", "TIME",
	 "hiccups from this length on, like 10us; shorter ones become short gaps, which are "
	 "counted and added up. A recording has none below the threshold of its run",
	 FIELD(part.threshold_ns), opt_set_time},
	{0, "kind", "KIND",
	 "show only sources of this kind, like irq or thread; may be given several times",
	 FIELD(shown.kinds), set_kind},
	{0, "source", "GLOB", "show only sources whose name or function matches, like 'kworker/*'",
	 FIELD(shown.source), opt_set_string},
	OUTPUT_BY(FIELD(by), "format=hgrm,format=hlog"),
	{0, "top", "N", "how many sources of each CPU to show", FIELD(shown.top), set_top,
	 .preset = "as many as the format has room for"},
	{0, "rank", NULL,
	 "any number of recordings in one screen, in text or Markdown: which hosts lose most, and "
	 "what costs most on how many of them",
	 FIELD(rank),
	 .excludes = "kind,source,top,host,max-hiccup,max-lost,junit,tap,stacks,chart,percentiles,"
		     "all",
	 .why = "prints a screen of its own"},
	OPT_HOST(FIELD(hosts)),
	OPT_REDACT(FIELD(redact)),
	{.include = limits_opts, .offset = FIELD(limits)},
	{.include = memory_opts, .offset = FIELD(memory)},
	{0},
};

static const struct opt_example report_examples[] = {
	{"culprit report before.rec", "what culprit run would have printed"},
	{"culprit report before.rec --from 200ms --to 700ms --kind irq",
	 "a part of its time and of its sources"},
	{"culprit report before.rec -f folded -o stacks.folded", "stacks for a flame graph of who "
								 "asked"},
	{"culprit report web-*.rec -f markdown", "several hosts in one report"},
	{"culprit report --rank web-*.rec", "which of many hosts lose most, and to what"},
	{"culprit report guest.rec --host host.rec",
	 "what a guest lost to its host, with the host's names"},
	{0},
};

const struct opt_command report_usage = {
	.name = "report",
	.operands = "FILE...",
	.summary = "print the report of a recording, or of several in one",
	.about = "Prints what the run that made the recording would have printed, in any format. "
		 "Several recordings give one report with a column for the host. It needs no "
		 "privileges, and runs on any machine. - is standard input. With a limit, --junit "
		 "or "
		 "--tap it ends with 3 where a run was cut short, as that did.",
	.opts = report_opts,
	.examples = report_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};

/* A hiccup has a line when a shown source had a part in it. */
static bool is_shown(const struct view *v, uint32_t index, const struct account *a)
{
	const struct sources *t = &v->cpu[index].sources;
	const struct source outside = {.kind = SOURCE_OUTSIDE},
			    lost = {.kind = SOURCE_LOST, .name = NOT_RECORDED};

	if (!shown_some(&v->shown) ||
	    (a->outside_ns && !v->shown.source && shown_is(&v->shown, &outside)) ||
	    (a->lost_ns && shown_is(&v->shown, &lost)))
		return true;
	for (uint32_t i = 0; i < a->npieces; i++)
		if (shown_is(&v->shown, t->row[a->pieces[i].source]))
			return true;
	return false;
}

/* One file on its way to the output. */
struct read_on {
	struct options *o;
	const struct view *view;
};

static void begin_lines(void *ctx)
{
	const struct read_on *r = ctx;

	output_begin(&r->o->output);
}

static void write_line(void *ctx, uint32_t index, const struct account *a, FILE *out)
{
	const struct read_on *r = ctx;

	if (is_shown(r->view, index, a))
		output_line(&r->o->output, r->view, index, a, out);
}

/* Gives the hiccups to the output, for formats that show each. */
static void read_hiccups(struct options *o, struct recording *r, const struct view *v)
{
	struct read_on on = {o, v};
	const struct account *a;
	uint32_t index;
	int err;

	if (o->output.error)
		return; /* writing failed in an earlier file */
	if (output_shared(&o->output) && !o->part.divider) {
		err = recording_lines(r, &(struct line_writer){&on, begin_lines, write_line},
				      o->output.file);
		if (err && !o->output.error)
			o->output.error = -err;
	} else if (output_lines(&o->output) || o->part.divider) {
		while (!o->output.error && (a = recording_next(r, &index)))
			if (is_shown(v, index, a))
				output_hiccup(&o->output, v, index, a);
	}
}

/* One file of the report. */
struct file {
	struct view view;
	struct recording *recording;
	struct joined *joined; /* with --host */
};

static struct recording *open_file(struct options *o, const char *path, struct file *f)
{
	o->part.divider = NULL;
	o->part.threads = 0;
	o->part.by = o->by;
	o->part.spans = output_spans(&o->output);
	if (o->hosts.path[0] && !(f->joined = joined_open(path, &o->hosts, &o->part)))
		return NULL;
	if (f->joined && joined_begin(f->joined, &o->part, &f->view))
		return NULL;
	return recording_open(path, &o->part, &f->view);
}

/* Says where --threshold could not do what it was to do. */
static void say_threshold(const struct options *o, const char *path, const struct view *v)
{
	uint64_t highest = 0, lowest = UINT64_MAX;
	char a[32];

	if (!o->part.threshold_ns)
		return;
	for (const struct cpu *c = v->cpu; c < v->cpu + v->ncpus; c++) {
		highest = c->threshold_ns > highest ? c->threshold_ns : highest;
		lowest = c->threshold_ns < lowest ? c->threshold_ns : lowest;
	}
	if (v->run.windows)
		say("%s: %s: --threshold leaves them as they are", path,
		    v->run.watch ? "hiccups of watched threads" : "values of a workload");
	else if (highest > o->part.threshold_ns)
		say("%s: %s measured from %s on: a lower --threshold shows no more%s", path,
		    lowest < highest ? "some CPUs were" : "it was",
		    format_ns(highest, a, sizeof(a)), lowest < highest ? " there" : "");
}

/* Reads one file into its view, and gives its hiccups to the output on the way. */
static struct recording *read_file(struct options *o, const char *path, struct file *f)
{
	struct recording *r = open_file(o, path, f);
	struct view *v = &f->view;
	char whole[32];

	if (!r)
		return NULL;
	v->shown = o->shown;
	read_hiccups(o, r, v);
	recording_finish(r);
	say_threshold(o, path, v);
	if (f->joined)
		joined_finish(f->joined, v);
	if (o->part.from_ns >= recording_whole_ns(r) && o->part.from_ns) {
		complain("%s: it ends after %s, and --from is later: give an earlier --from", path,
			 format_ns(recording_whole_ns(r), whole, sizeof(whole)));
		recording_close(r);
		return NULL;
	}
	output_explain(v);
	return r;
}

/* False when --kind and --source match nothing in any of them. */
static bool some_shown(const struct options *o, const struct view *const *views, uint32_t n)
{
	if (!shown_some(&o->shown))
		return true;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < views[k]->ncpus; i++)
			for (uint32_t s = 0; s < views[k]->cpu[i].sources.count; s++)
				if (shown_is(&o->shown, views[k]->cpu[i].sources.row[s]))
					return true;
	return false;
}

/* The exit code as that of the run itself, where somebody asks for a verdict. code: that so far. */
static int judged(struct limits *l, const struct view *v, int code)
{
	int of_this = limits_crossed(l, v);

	return of_this == EXIT_INCOMPLETE || code == EXIT_OK ? of_this : code;
}

static int report(struct options *o, char **path, uint32_t n)
{
	struct file *file = calloc(n, sizeof(*file));
	const struct view **views = calloc(n, sizeof(*views));
	int code = EXIT_ERROR;
	uint32_t i = 0;

	if (!file || !views) {
		complain("out of memory");
		goto out;
	}
	for (; i < n; i++) {
		views[i] = &file[i].view;
		file[i].recording = read_file(o, path[i], &file[i]);
		if (!file[i].recording || limits_check(&o->limits, views[i], path[i]))
			goto out;
		if (strcmp(path[i], "-") && !file[i].view.run.redacted) /* a name of the user's */
			file[i].view.file = path[i];
	}
	if (!some_shown(o, views, n)) {
		complain("no source has this --kind and --source: the report without them lists "
			 "all");
		goto out;
	}
	code = limits_open(&o->limits) || output_end(&o->output, views, n) ? EXIT_ERROR : EXIT_OK;
	for (i = 0; i < n && code != EXIT_ERROR; i++)
		code = judged(&o->limits, views[i], code);
	if (code != EXIT_ERROR && limits_write(&o->limits))
		code = EXIT_ERROR;
out:
	limits_end(&o->limits);
	for (uint32_t k = 0; file && k < n; k++) {
		view_free(&file[k].view);
		recording_close(file[k].recording);
		joined_close(file[k].joined);
	}
	free(file);
	free(views);
	return code;
}

/* ---- many recordings, ranked ---- */

/* One that cannot be read is said, and counted; so is it when memory is out. */
static int rank_file(struct options *o, const char *path, struct fleet *f)
{
	struct file file = {0};
	int err = -EIO;

	file.recording = read_file(o, path, &file);
	if (file.recording)
		err = fleet_add(f, &file.view);
	if (err == -ENOMEM)
		complain("out of memory");
	view_free(&file.view);
	recording_close(file.recording);
	joined_close(file.joined);
	return err;
}

static int write_fleet(struct output *o, const struct fleet *f, uint32_t unread)
{
	struct render_options r;

	output_begin(o);
	output_ready(o, &r);
	return output_done(o, render_fleet(f, unread, &r, output_markdown(o), o->file));
}

static int rank(struct options *o, char **path, uint32_t n)
{
	struct fleet f;
	uint32_t unread = 0;
	int err = fleet_init(&f);

	if (err)
		return complain("out of memory"), EXIT_ERROR;
	for (uint32_t i = 0; i < n && err != -ENOMEM; i++) {
		err = rank_file(o, path[i], &f);
		unread += err != 0;
	}
	fleet_rank(&f);
	if (err != -ENOMEM && f.recordings)
		err = write_fleet(&o->output, &f, unread);
	fleet_free(&f);
	return err || unread ? EXIT_ERROR : EXIT_OK;
}

int cmd_report(int argc, char **argv)
{
	struct options o = {0};
	int operands, code;

	code = opt_parse(&report_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	if (!operands) {
		complain("which recording? culprit report FILE...; culprit record makes one");
		return EXIT_ERROR;
	}
	if (o.part.to_ns && o.part.to_ns <= o.part.from_ns) {
		complain("--to must be later than --from");
		return EXIT_ERROR;
	}
	if (operands > 1 && output_alone(&o.output)) {
		complain("this format shows one run: give it one recording");
		return EXIT_ERROR;
	}
	if (o.hosts.path[0] && o.part.threshold_ns) {
		complain("--host needs all gaps of the guest: give it without --threshold");
		return EXIT_ERROR;
	}
	if (o.rank && !output_prose(&o.output)) {
		complain("--rank writes text or Markdown: for programs there is -f parquet-rollup, "
			 "a file each (culprit help fleet)");
		return EXIT_ERROR;
	}
	if (output_check_shown(&o.output, &o.shown))
		return EXIT_ERROR;
	guard_reader(o.memory, o.output.path || limits_rights(&o.limits));
	guard_alone(o.output.path || limits_rights(&o.limits));
	if (o.redact && !(o.part.redact = redact_new(0))) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	code = EXIT_ERROR;
	if (!output_open(&o.output))
		code = output_close(&o.output, (o.rank ? rank : report)(&o, argv + 1, operands));
	redact_free(o.part.redact);
	return code;
}
