/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit selftest: known noise on this machine, and what culprit says of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/conclude.h"
#include "base/confine.h"
#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/live.h"
#include "cmd/noise.h"
#include "collect/host.h"
#include "render/schemas.h"
#include "render/selftest.h"

#define MOST_NS (25 * NSEC_PER_SEC)   /* longest window of the two */
#define TAIL_NS (300 * NSEC_PER_MSEC) /* behind the last noise */

/* The two noises whose gaps are compared with and without tracing. */
#define COSTS_RUN                                                                                  \
	{                                                                                          \
		.classes = "timerfd,futex", .count = "100", .gap = "2ms-4ms"                       \
	}

struct options {
	struct measure measure;
	struct output output;
	int format;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt selftest_opts[] = {
	{'c', "cpus", "CPU", "the CPU to make noise on", FIELD(measure.cpus), opt_set_cpus,
	 .preset = "the lowest isolated CPU that is online; if there is none, the second lowest "
		   "of the allowed ones"},
	{'t', "threshold", "TIME", "the shortest gap that counts as a hiccup, like 1us, or auto",
	 FIELD(measure.threshold_ns), measure_set_threshold, .preset = "auto"},
	{'H', "housekeeping", "CPUS",
	 "the CPUs on which all else runs; noise is made from the lowest of them",
	 FIELD(measure.housekeeping), opt_set_cpus, .preset = "as with culprit run"},
	{'q', "quiet", NULL, "print no progress line", FIELD(measure.quiet)},
	{'f', "format", "FORMAT", "the format of the report", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(text_or_json), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(output.path)},
	OPT_SCHEMA(schema_selftest),
	{0},
};

static const struct opt_example selftest_examples[] = {
	{"sudo culprit selftest -c 3", "half a minute on CPU 3"},
	{"sudo culprit selftest -f json -o selftest.json", "the same, to be sent to somebody"},
	{0},
};

const struct opt_command selftest_usage = {
	.name = "selftest",
	.summary = "make known noise here, and see whether it is found and named",
	.about =
		"Makes known noise on one CPU for some seconds: threads, timers, function-call "
		"IPIs, TLB shootdowns, work items, softirqs, storms of them, 25 of each class and "
		"125 of two. It tells which of them culprit finds, whether it names the right "
		"source, function and asker, what it cannot see on this machine, and what tracing "
		"adds to a gap. A class is named when at least 80 of 100 are right in each "
		"respect. The CPU is "
		"disturbed meanwhile, up to 6 ms at a time by real-time threads; what has to work "
		"without that must not run there. Nothing is left changed, also when it is "
		"killed; but if what makes the noise is killed at the same time (the whole process "
		"group), kernel.timer_migration stays 0 if the CPU is nohz_full.\n\nExit status: 0 "
		"all noise that was made is named, 1 error, 2 some class "
		"is missed, 3 it was cut short.",
	.opts = selftest_opts,
	.examples = selftest_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};

/* ---- a window ---- */

struct noisy_window {
	struct noisy *noisy;
	struct noise_heard heard;
	struct view *view;
	uint64_t since_ns, done_ns; /* begin; end of the noise, or 0 */
};

static int begin(void *ctx)
{
	struct noisy_window *w = ctx;

	w->since_ns = now_ns();
	noisy_go(w->noisy);
	return 0;
}

static void take_hiccup(void *ctx, uint32_t index, const struct account *a)
{
	struct noisy_window *w = ctx;

	noise_hear(&w->heard, w->view, index, a);
}

static bool step(void *ctx)
{
	struct noisy_window *w = ctx;
	uint64_t now = now_ns();

	if (!w->done_ns && noisy_done(w->noisy))
		w->done_ns = now;
	if (now - w->since_ns > MOST_NS)
		return false;
	return !w->done_ns || now - w->done_ns < TAIL_NS;
}

static int end(void *ctx)
{
	(void)ctx;
	return EXIT_OK;
}

/* Measures while these noises are made. Returns the exit code. */
static int measure_noise(struct noisy_window *w, const struct options *o, bool trace,
			 const struct noise_run runs[NOISE_RUNS])
{
	struct measure m = o->measure;
	struct collect_options co;
	struct live live = {.measure = &m,
			    .engine = &collect_engine,
			    .engine_options = &co,
			    .view = w->view,
			    .keeps = !trace           ? RIGHTS_ALL /* another measurement follows */
				     : o->output.path ? RIGHTS_OF_FILES
						      : 0,
			    .too_early = EXIT_INCOMPLETE,
			    .ctx = w,
			    .begin = begin,
			    .hiccup = take_hiccup,
			    .step = step,
			    .end = end};
	int code;

	m.duration_ns = UINT64_MAX;
	m.no_trace = !trace;
	m.no_audit = !trace;
	co = measure_collect(&m);
	w->noisy = noisy_start(runs, cpus_next(&m.cpus, 0), cpus_next(&m.housekeeping, 0));
	if (!w->noisy)
		return EXIT_ERROR;
	code = live_run(&live);
	return noisy_stop(w->noisy) ? EXIT_ERROR : code;
}

/* The classes that are to be made, by comma. */
static void list_classes(char *text, size_t len)
{
	size_t at = 0;

	text[0] = '\0';
	for (const struct noise_class *c = noise_classes; c->name && at < len; c++)
		if (!c->left_out)
			at += snprintf(text + at, len - at, "%s%s", at ? "," : "", c->name);
}

/* ---- the result ---- */

static int count_gaps(const struct noisy_window *w, const struct noise *n, uint32_t count,
		      const char *class, uint32_t *gaps, uint64_t *p10_ns)
{
	int is = noise_class_of(class);
	struct hist h;

	if (hist_init(&h, HICCUP_BITS))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t ns = n[i].class == (uint32_t)is ? noise_length(&w->heard, &n[i]) : 0;

		if (ns)
			hist_add(&h, ns);
	}
	*gaps = h.count;
	*p10_ns = hist_percentile(&h, 10);
	hist_free(&h);
	return 0;
}

/* Reads what was made in the window without tracing (0) or with it (1). 0, or -1 with the reason
 * said. */
static int take_window(struct selftest *t, struct noisy_window *w, bool traced)
{
	struct noise_sum unused[NOISE_CLASSES] = {0};
	const struct noise *made;
	uint32_t count;

	/* a terminal interrupts who makes the noise, too, and a CPU that goes offline ends it */
	if (!w->done_ns || measure_stop || w->view->run.incomplete[0]) {
		t->whole = false;
		return 0;
	}
	if (noisy_read(w->noisy, traced ? t->sum : unused, &made, &count))
		return -1;
	for (int i = 0; i < SELFTEST_COSTS; i++) {
		struct selftest_cost *c = &t->cost[i];

		if (count_gaps(w, made, count, c->class, traced ? &c->with : &c->without,
			       traced ? &c->with_ns : &c->without_ns))
			return complain("out of memory");
	}
	for (uint32_t i = 0; traced && i < count; i++)
		noise_judge(&w->heard, w->view, &made[i], &t->sum[made[i].class]);
	t->full |= w->heard.full;
	return 0;
}

static int write_report(struct options *o, const struct selftest *t)
{
	struct render_options r;

	output_ready(&o->output, &r);
	return output_done(&o->output, o->format ? render_selftest_json(t, o->output.file)
						 : render_selftest_text(t, &r, o->output.file));
}

static int judge(struct options *o, struct selftest *t, struct noisy_window *w)
{
	uint32_t missed, made;

	if (take_window(t, &w[0], false) || take_window(t, &w[1], true))
		return EXIT_ERROR;
	if (conclude(w[1].view)) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	if (write_report(o, t))
		return EXIT_ERROR;
	made = selftest_made(t, &missed);
	return !t->whole ? EXIT_INCOMPLETE : missed || !made ? EXIT_CROSSED : EXIT_OK;
}

static int selftest(struct options *o, const struct host *host)
{
	char classes[512];
	const struct noise_run costs[NOISE_RUNS] = {COSTS_RUN};
	const struct noise_run all[NOISE_RUNS] = {
		{.classes = classes, .count = "25", .gap = "4ms-12ms"}, COSTS_RUN};
	struct noisy_window w[2] = {0};
	struct selftest t = {
		.whole = true,
		.cost = {{.class = "timerfd", .what = "an interrupt (timerfd)"},
			 {.class = "futex", .what = "a thread that is woken (futex)"}}};
	int code = EXIT_ERROR;

	list_classes(classes, sizeof(classes));
	for (int i = 0; i < 2; i++) {
		w[i].view = calloc(1, sizeof(*w[i].view));
		if (w[i].view)
			w[i].view->host = *host;
	}
	t.view = w[1].view;
	if (!w[0].view || !w[1].view)
		complain("out of memory");
	else
		code = measure_noise(&w[0], o, false, costs);
	if (code == EXIT_OK && measure_stop) {
		complain("%s before the second of two windows: nothing is known",
			 measure_end_name());
		code = EXIT_INCOMPLETE;
	} else if (code == EXIT_OK) {
		code = measure_noise(&w[1], o, true, all);
	}
	if (code == EXIT_OK || (code == EXIT_INCOMPLETE && w[1].view->run.started_ns))
		code = judge(o, &t, w);
	for (int i = 0; i < 2; i++) {
		noisy_end(w[i].noisy);
		noise_forget(&w[i].heard);
		if (w[i].view)
			view_free(w[i].view);
		free(w[i].view);
	}
	return code;
}

/* One CPU: the given one, or the lowest that can be chosen. 0, or -1 with the reason said. */
static int choose(struct measure *m, const struct host *host)
{
	unsigned cpu;

	if (cpus_count(&m->cpus) > 1)
		return complain("-c: noise is made on one CPU at a time: give one");
	if (measure_choose(m, host, &cpu, 1, 1) < 0)
		return -1;
	cpus_clear(&m->cpus);
	cpus_add(&m->cpus, cpu);
	return 0;
}

int cmd_selftest(int argc, char **argv)
{
	struct host host = {0};
	struct options o = {0};
	int operands, code;

	measure_init(&o.measure);
	o.measure.must_trace = true;
	code = opt_parse(&selftest_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	host_read(&host);
	code = EXIT_ERROR;
	if (!choose(&o.measure, &host) && !measure_check(&o.measure, &host) &&
	    !output_open(&o.output))
		code = output_close(&o.output, selftest(&o, &host));
	return code;
}
