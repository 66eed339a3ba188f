/* culprit run: measure, join, report. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "audit/advise.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/measure.h"
#include "collect/collect.h"
#include "collect/host.h"
#include "render/render.h"

#define PROGRESS_NS (250 * NSEC_PER_MSEC)

struct options {
	struct measure measure;
	int format;
	const char *output, *hiccups;
	bool stacks;
	uint64_t max_hiccup_ns;
	double max_lost;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt run_opts[] = {
	MEASURE_OPTS(struct options, measure),
	{'f', "format", "FORMAT", "text (default), json; csv, jsonl: each hiccup as it comes, a line each",
	 FIELD(format), opt_set_choice, format_names},
	{'o', "output", "FILE", "write the report to FILE instead of standard output", FIELD(output), opt_set_string,
	 NULL},
	{0, "hiccups", "FILE",
	 "also write each hiccup, with its pieces and who asked for them, to FILE: the lines of -f jsonl",
	 FIELD(hiccups), opt_set_string, NULL},
	{0, "max-hiccup", "TIME", "exit with 2 when a hiccup is longer", FIELD(max_hiccup_ns), opt_set_time, NULL},
	{0, "max-lost", "PERCENT", "exit with 2 when a CPU loses more of its time", FIELD(max_lost), opt_set_percent,
	 NULL},
	{0, "stacks", NULL, "in text: the kernel stacks of who asked for IPIs, wakeups and work", FIELD(stacks), NULL,
	 NULL},
	{0, "no-trace", NULL, "measure only, without BPF: needs no privileges, names nothing", FIELD(measure.no_trace),
	 NULL, NULL},
	{0},
};

const struct opt_command run_usage = {
	.name = "run",
	.summary = "measure CPUs and say who interrupted them",
	.about =
		"Spins on each CPU, notices every time it was away, and joins each gap with what the kernel ran there. "
		"Ctrl-C ends the run early with the full report.\n\n"
		"Exit status: 0 done, 1 error, 2 a threshold given by --max-hiccup or --max-lost was crossed.",
	.opts = run_opts,
};

/* ---- running ---- */

static void show_progress(const struct view *v, uint64_t elapsed_ns, uint64_t duration_ns)
{
	uint64_t hiccups = 0, worst = v->summary.nworst ? v->summary.worst[0].duration_ns : 0;
	char line[160], a[32], b[32], c[32], d[32];

	for (uint32_t i = 0; i < v->summary.ncpus; i++)
		hiccups += v->summary.cpu[i].hiccups.count;
	snprintf(line, sizeof(line), "%s of %s · %s hiccups · worst %s", format_ns(elapsed_ns, a, sizeof(a)),
		 format_ns(duration_ns, b, sizeof(b)), format_count(hiccups, c, sizeof(c)),
		 format_ns(worst, d, sizeof(d)));
	say_progress(line);
}

/* Each hiccup goes where it is wanted: `out` takes them if its format is one of lines, `lines` is --hiccups. */
struct sink {
	const struct format *format;
	FILE *out;
	FILE *lines; /* NULL: not wanted */
	int error;   /* errno when `out` took no more lines */
};

static void write_hiccups(struct collect *c, const struct view *v, struct sink *sink)
{
	const struct account *a;
	uint32_t index;

	while ((sink->lines || sink->format->hiccup) && (a = collect_next(c, &index))) {
		if (sink->format->hiccup)
			sink->format->hiccup(v, index, a, sink->out);
		if (sink->lines)
			render_jsonl(v, index, a, sink->lines);
	}
	if (sink->format->hiccup && (fflush(sink->out) || ferror(sink->out)) && !sink->error)
		sink->error = errno ? errno : EIO;
}

static void measure(struct collect *c, const struct options *o, const struct view *v, struct sink *sink)
{
	bool progress = !o->measure.quiet && isatty(STDERR_FILENO);
	uint64_t begin = v->run.started_ns, shown = begin, now;

	while (measure_wait(&o->measure, begin)) {
		if (!collect_poll(c))
			break;
		write_hiccups(c, v, sink);
		if (sink->error)
			break;
		now = measure_now();
		if (progress && now - shown >= PROGRESS_NS) {
			show_progress(v, now - begin, o->measure.duration_ns);
			shown = now;
		}
	}
	if (progress)
		say_progress("");
}

static int crossed(const struct options *o, const struct view *v)
{
	int code = EXIT_OK;

	for (uint32_t i = 0; i < v->summary.ncpus; i++) {
		const struct hist *h = &v->summary.cpu[i].hiccups;
		uint64_t away = h->sum + v->cpu[i].hiccups_lost_ns;
		double lost = v->cpu[i].observed_ns ? 100.0 * away / v->cpu[i].observed_ns : 0;
		char a[32], b[32];

		if (o->max_hiccup_ns && h->max > o->max_hiccup_ns) {
			say("CPU %u: a hiccup of %s is longer than --max-hiccup %s", v->summary.cpu[i].cpu,
			    format_ns(h->max, a, sizeof(a)), format_ns(o->max_hiccup_ns, b, sizeof(b)));
			code = EXIT_CROSSED;
		}
		if (o->max_hiccup_ns && v->cpu[i].hiccups_lost) {
			say("CPU %u: %s hiccups were lost, and any may have been longer than --max-hiccup",
			    v->summary.cpu[i].cpu, format_count(v->cpu[i].hiccups_lost, a, sizeof(a)));
			code = EXIT_CROSSED;
		}
		if (o->max_lost > 0 && lost > o->max_lost) {
			say("CPU %u: %s %% of its time lost is more than --max-lost %s", v->summary.cpu[i].cpu,
			    format_percent(lost, a, sizeof(a)), format_percent(o->max_lost, b, sizeof(b)));
			code = EXIT_CROSSED;
		}
	}
	return code;
}

/* What the file held goes when there is something to write. */
static void cut_output(const struct options *o, FILE *out)
{
	if (o->output && ftruncate(fileno(out), 0)) {
		/* a pipe or a device: nothing to cut */
	}
}

static int write_failed(const struct options *o, int error)
{
	return complain("writing the report to %s: %s", o->output ? o->output : "standard output", strerror(error));
}

static int report(const struct options *o, const struct view *v, FILE *out)
{
	struct render_options r = {.width = 100, .stacks = o->stacks};
	struct winsize size;

	cut_output(o, out);
	if (isatty(fileno(out))) {
		const char *no_colour = getenv("NO_COLOR");

		r.colour = !(no_colour && no_colour[0]);
		if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col >= 40)
			r.width = size.ws_col < 120 ? size.ws_col : 120;
	}
	if (formats[o->format].write(&v, 1, &r, out) || fflush(out) || ferror(out))
		return write_failed(o, errno);
	return 0;
}

/* Lines have no place for what a report would say of the run as a whole. */
static int end_lines(const struct options *o, const struct view *v, const struct sink *sink)
{
	char a[32], b[32];

	for (uint32_t i = 0; i < v->summary.ncpus; i++) {
		const struct cpu_run *r = &v->cpu[i];

		if (r->hiccups_lost)
			say("CPU %u: %s hiccups have no line, %s in all: they came faster than they could be read",
			    v->summary.cpu[i].cpu, format_count(r->hiccups_lost, a, sizeof(a)),
			    format_ns(r->hiccups_lost_ns, b, sizeof(b)));
		if (r->ended)
			say("CPU %u: ended early, after %s: %s", v->summary.cpu[i].cpu,
			    format_ns(r->observed_ns, a, sizeof(a)), r->ended);
	}
	return sink->error ? write_failed(o, sink->error) : 0;
}

/* Opened before the run, so that an hour is not measured for nothing; what the file held is kept until there is a report. */
static FILE *open_output(const char *path)
{
	int fd;

	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		complain("cannot write to %s: %s; choose another file with -o", path, strerror(errno));
		return NULL;
	}
	return fdopen(fd, "w");
}

static int run(const struct options *o, struct view *v, struct sink *sink)
{
	struct collect_options co = measure_collect(&o->measure);
	const struct format *f = sink->format;
	struct collect *c;
	int code = EXIT_ERROR;

	measure_catch_signals();
	c = collect_open(&co, v, &measure_stop);
	if (!c) {
		if (measure_stop)
			complain("ended before the window opened: nothing was measured");
		return EXIT_ERROR;
	}
	if (!collect_begin(c)) {
		measure_announce(&o->measure);
		if (!f->write)
			cut_output(o, sink->out);
		if (f->head)
			f->head(sink->out);
		measure(c, o, v, sink);
		collect_stop(c);
		write_hiccups(c, v, sink);
		collect_end(c);
		if (advise(v))
			say("out of memory: some sources have no advice");
		if (f->write ? report(o, v, sink->out) : end_lines(o, v, sink))
			code = EXIT_ERROR;
		else
			code = crossed(o, v);
	}
	collect_close(c);
	return code;
}

static FILE *open_lines(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		complain("cannot write to %s: %s; choose another file with --hiccups", path, strerror(errno));
	return f;
}

/* Ends a file of ours; a run that failed has said why, and takes a file along that it made in vain. */
static int close_output(FILE *out, const char *path, bool made, int code)
{
	bool bad = ferror(out);

	bad |= fclose(out) != 0;
	if (code == EXIT_ERROR && made)
		unlink(path);
	if (!bad || code == EXIT_ERROR)
		return code;
	complain("writing %s: %s", path, strerror(errno));
	return EXIT_ERROR;
}

int cmd_run(int argc, char **argv)
{
	struct options o = {0};
	struct view *v = calloc(1, sizeof(*v));
	FILE *out = stdout, *lines = NULL;
	int operands, code;
	bool made;

	measure_init(&o.measure);
	code = opt_parse(&run_usage, argc, argv, &o, &operands);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	host_read(&v->host);
	if (measure_check(&o.measure, &v->host)) {
		free(v);
		return EXIT_ERROR;
	}
	made = o.output && access(o.output, F_OK);
	if ((o.output && !(out = open_output(o.output))) || (o.hiccups && !(lines = open_lines(o.hiccups)))) {
		free(v);
		return EXIT_ERROR;
	}
	code = run(&o, v, &(struct sink){&formats[o.format], out, lines, 0});
	view_free(v);
	free(v);
	if (o.output)
		code = close_output(out, o.output, made, code);
	if (lines)
		code = close_output(lines, o.hiccups, false, code);
	return code;
}
