#include "cmd/live.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "collect/facts.h"
#include "collect/host.h"

#define PROGRESS_NS (250 * NSEC_PER_MSEC)

static void show_progress(const struct view *v, uint64_t elapsed_ns, uint64_t duration_ns)
{
	uint64_t hiccups = 0, worst = v->nworst ? v->worst[0].duration_ns : 0;
	char line[160], of[40] = "", a[32], b[32], c[32], d[32];

	for (uint32_t i = 0; i < v->ncpus; i++)
		hiccups += v->cpu[i].hiccups.count;
	if (duration_ns != UINT64_MAX)
		snprintf(of, sizeof(of), " of %s", format_ns(duration_ns, b, sizeof(b)));
	snprintf(line, sizeof(line), "%s%s · %s hiccups · worst %s",
		 format_ns(elapsed_ns, a, sizeof(a)), of, format_count(hiccups, c, sizeof(c)),
		 format_ns(worst, d, sizeof(d)));
	say_progress(line);
}

/* False: whoever takes the hiccups takes no more. */
static bool flush(const struct live *l)
{
	return !l->hiccup || l->flush(l->ctx);
}

static void snapshot(struct live *l, struct collect *c, uint64_t now, uint64_t *due_ns)
{
	if (!l->snapshot || now < *due_ns)
		return;
	*due_ns = now + l->every_ns;
	collect_snapshot(c);
	l->snapshot(l->ctx);
}

static void measure(struct live *l, struct collect *c, struct recorder *recorder)
{
	const struct measure *m = l->measure;
	bool progress = !m->quiet && isatty(STDERR_FILENO);
	uint64_t begin = l->view->run.started_ns, shown = begin, due = begin, now;
	bool recording = recorder;

	while (measure_wait(m, begin)) {
		if (!collect_poll(c) || !flush(l))
			break;
		if (recording)
			recording = recorder_poll(recorder);
		now = now_ns();
		snapshot(l, c, now, &due);
		if (progress && now - shown >= PROGRESS_NS) {
			show_progress(l->view, now - begin, m->duration_ns);
			shown = now;
		}
	}
	if (progress)
		say_progress("");
}

/* From the window's begin to its end. */
static int run_window(struct live *l, struct collect *c, struct recorder *recorder)
{
	int code, bad = 0;

	if (recorder && recorder_head(recorder, l->view))
		return EXIT_ERROR;
	if (collect_begin(c))
		return EXIT_ERROR;
	if (recorder)
		recorder_begun(recorder, l->view);
	measure_announce(l->measure);
	if (l->begin)
		l->begin(l->ctx);
	measure(l, c, recorder);
	collect_end(c);
	flush(l);
	measure_over();
	if (recorder) {
		bad = recorder_end(recorder, l->view);
		l->stats = recorder_stats(recorder);
	}
	code = l->end(l->ctx);
	return bad ? EXIT_ERROR : code;
}

/* Before anything of ours is attached or runs, and long before the window. */
static void take_facts(const struct live *l)
{
	struct facts_options o = {.from = &l->measure->housekeeping};
	int err = l->measure->no_audit ? 0 : facts_take(&l->view->facts, &o);

	if (err)
		say("not all facts of the machine could be read: %s", strerror(-err));
}

int live_run(struct live *l)
{
	struct collect_options co = measure_collect(l->measure);
	struct recorder *recorder = NULL;
	struct collect *c;
	int code = EXIT_ERROR;

	co.spans = l->spans;
	co.hear = l->hiccup;
	co.hear_ctx = l->ctx;
	co.workload = l->workload;
	co.workload_options = l->workload_options;
	measure_catch_signals();
	if (l->record_to) {
		recorder = recorder_open(l->record_to, l->force, &l->measure->housekeeping);
		if (!recorder)
			return EXIT_ERROR;
		co.tap = recorder_tap(recorder);
	}
	take_facts(l);
	c = collect_open(&co, l->view, &measure_stop);
	if (c)
		code = run_window(l, c, recorder);
	else if (measure_stop)
		complain("ended before the window opened: nothing was measured");
	if (c)
		collect_close(c);
	recorder_close(recorder);
	return code;
}

/* ---- workloads ---- */

#define FIELD(name) offsetof(struct bench, name)

const struct opt bench_record_opts[] = {
	{'r', "record", "FILE", "also record it to FILE, for culprit report, diff and plot",
	 FIELD(record), opt_set_string},
	{0, "force", NULL, "overwrite a recording that is there", FIELD(force), .needs = "record",
	 .why = "overwrites a recording, and none is made"},
	{0},
};

const struct opt bench_opts[] = {
	{'t', "threshold", "TIME",
	 "what takes longer is explained, as 50us, or auto: ten times the median of a warm-up",
	 FIELD(measure.threshold_ns), measure_set_threshold, .preset = "auto"},
	{.include = measure_report_opts, .offset = FIELD(measure)},
	{.include = output_opts, .offset = FIELD(output)},
	{.include = series_opts, .offset = FIELD(output)},
	{.include = bench_record_opts},
	{0, "max-hiccup", "TIME", "exit with 2 when an operation takes longer",
	 FIELD(limits.max_hiccup_ns), opt_set_time},
	{0, "label", "TEXT", "what this run is called in the report", FIELD(label), opt_set_string},
	{0},
};

struct bench_state {
	struct bench *bench;
	struct view *view;
};

static void bench_begin(void *ctx)
{
	const struct bench_state *s = ctx;

	output_begin(&s->bench->output);
}

static void bench_hiccup(void *ctx, uint32_t index, const struct account *a)
{
	const struct bench_state *s = ctx;

	output_hiccup(&s->bench->output, s->view, index, a);
}

static bool bench_flush(void *ctx)
{
	const struct bench_state *s = ctx;

	return output_flush(&s->bench->output);
}

int bench_report(struct bench *b, struct view *v)
{
	const struct view *view = v;

	output_explain(v);
	return output_end(&b->output, &view, 1) ? EXIT_ERROR : limits_crossed(&b->limits, v);
}

static int bench_end(void *ctx)
{
	const struct bench_state *s = ctx;

	return s->bench->report ? s->bench->report(s->bench, s->view)
				: bench_report(s->bench, s->view);
}

int bench_run(struct bench *b, const struct workload *workload, const void *workload_options)
{
	struct view *v = calloc(1, sizeof(*v));
	struct bench_state state = {b, v};
	struct live live = {.measure = &b->measure,
			    .view = v,
			    .workload = workload,
			    .workload_options = workload_options,
			    .record_to = b->record,
			    .force = b->force,
			    .ctx = &state,
			    .begin = bench_begin,
			    .hiccup = output_lines(&b->output) ? bench_hiccup : NULL,
			    .spans = output_spans(&b->output),
			    .flush = bench_flush,
			    .end = bench_end};
	int code = EXIT_ERROR;

	if (!v) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	host_read(&v->host);
	if (b->label)
		snprintf(v->run.label, sizeof(v->run.label), "%s", b->label);
	if (!measure_check(&b->measure, &v->host) && !output_open(&b->output))
		code = output_close(&b->output, live_run(&live));
	view_free(v);
	free(v);
	return code;
}
