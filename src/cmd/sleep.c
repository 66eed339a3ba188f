/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit sleep: the periodic scheduling test, and who made a thread wake late. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/rt_file.h"
#include "cmd/cmd.h"
#include "cmd/workload_command.h"
#include "collect/host.h"
#include "collect/sleep.h"
#include "render/styles.h"

#define DMA_LATENCY "/dev/cpu_dma_latency" /* Documentation/admin-guide/pm/cpuidle.rst */

#define BEFORE_NS   (10 * NSEC_PER_SEC) /* time without load in a window without end */
#define WORKERS_MAX 4096

/* --load: the workers of each kind; WORKERS_MAX + 1: as many as CPUs. */
struct wish {
	uint32_t workers[LOAD_KINDS];
};

struct options {
	struct workload_command command;
	struct sleep_options sleep;
	bool dma_latency, load_here, kernel;
	struct wish load;
	int style;
	uint32_t histogram;
	bool nanoseconds, total;
	struct rt_file json;
};

enum sleep_style { STYLE_OWN, STYLE_CYCLICTEST };
static const struct opt_choice sleep_styles[] = {
	{"culprit", "its own report"},
	{"cyclictest", "a line a CPU, as with cyclictest -q"},
	{0},
};

#define FIELD(name) offsetof(struct options, name)

static int add_load(struct wish *wish, char *word, char *why, size_t whylen)
{
	char *colon = strchr(word, ':');
	long n = WORKERS_MAX + 1;
	int kind = 0;

	if (colon)
		*colon++ = '\0';
	while (kind < LOAD_KINDS && strcmp(word, load_names[kind]))
		kind++;
	if (kind == LOAD_KINDS) {
		snprintf(why, whylen,
			 "'%.40s' is not a load: give cpu, disk or net, with :N for N workers",
			 word);
		return -EINVAL;
	}
	if (colon && parse_integer(colon, 1, WORKERS_MAX, &n, why, whylen))
		return -EINVAL;
	wish->workers[kind] = n;
	return 0;
}

/* Reads "cpu,disk:2"; may be given again. */
static int set_load(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	char words[256], *next = words;

	(void)row;
	if (snprintf(words, sizeof(words), "%s", text) >= (int)sizeof(words)) {
		snprintf(why, whylen, "that is too long");
		return -EINVAL;
	}
	for (char *word; (word = strsep(&next, ","));)
		if (add_load(field, word, why, whylen))
			return -EINVAL;
	return 0;
}

#define HISTOGRAM_MAX 1000000 /* as many bins as cyclictest may have */

static int set_histogram(const char *text, void *field, const struct opt *row, char *why,
			 size_t whylen)
{
	long n;

	(void)row;
	if (parse_integer(text, 1, HISTOGRAM_MAX, &n, why, whylen))
		return -EINVAL;
	*(uint32_t *)field = n;
	return 0;
}

static int write_json(struct options *o, const struct view *v, const struct cyclictest_style *style)
{
	FILE *json = rt_file_begin(&o->json, v, &o->command.limits);

	return json ? rt_file_end(&o->json, render_cyclictest_json(v, style, &o->json.test, json))
		    : 0;
}

/* Writes the report in cyclictest's columns. On standard output JSON comes first, as there; a file
 * of it only where the columns could be written. */
static int report_styled(struct workload_command *c, struct view *v)
{
	struct options *o = (struct options *)((char *)c - FIELD(command));
	struct cyclictest_style style = {o->sleep.interval_ns, o->nanoseconds, o->histogram,
					 c->measure.sched.priority, o->total};

	if (!o->json.open && write_json(o, v, &style))
		return EXIT_ERROR;
	if (output_done(&c->output, render_cyclictest(v, &style, c->output.file)))
		return EXIT_ERROR;
	return o->json.open && write_json(o, v, &style) ? EXIT_ERROR : EXIT_OK;
}

static const struct opt sleep_opts[] = {
	{'i', "interval", "TIME", "how long each sleep is", FIELD(sleep.interval_ns), opt_set_time,
	 .preset = "20ms"},
	{'n', "samples", "N", "end after so many sleeps on each CPU", FIELD(sleep.samples),
	 measure_set_count, .preset = "until -d is over"},
	{0, "relative", NULL, "sleep for an interval, not until a point in time",
	 FIELD(sleep.relative)},
	{0, "kernel", NULL,
	 "let a timer of the kernel's own (BPF) sleep in place of a thread, and measure how late "
	 "its callback is, which the kernel runs in a softirq; for Linux 6.7 or later",
	 FIELD(kernel), .excludes = "relative,no-trace",
	 .why = "lets a timer of the kernel run at points in time"},
	{0, "dma-latency", NULL,
	 "hold " DMA_LATENCY " at 0 meanwhile: CPUs stay out of deep idle states",
	 FIELD(dma_latency)},
	{0, "load", "LOAD",
	 "cpu, disk or net, with :N for N workers, or several with commas: stress-ng makes this "
	 "load on the housekeeping CPUs in the second half of the window; the sleeps of this half "
	 "are separate series",
	 FIELD(load), set_load},
	{0, "load-here", NULL, "run the load on the measured CPUs", FIELD(load_here),
	 .needs = "load", .why = "says where the load runs"},
	{0, "style", "TOOL", "print the latencies as another tool does", FIELD(style),
	 opt_set_choice, .choices = OPT_CHOICES(sleep_styles), .preset = "culprit",
	 .excludes = "format,stacks,chart,percentiles,all,load",
	 .why = "prints in a form of its own"},
	{0, "histogram", "US",
	 "with --style cyclictest: print how many latencies were of each microsecond below US, as "
	 "its -h does",
	 FIELD(histogram), set_histogram, .needs = "style=cyclictest",
	 .why = "belongs to cyclictest's"},
	{0, "nanoseconds", NULL, NULL, FIELD(nanoseconds), /* cyclictest's -N */
	 .needs = "style=cyclictest", .why = "belongs to cyclictest's"},
	{0, "histogram-total", NULL, NULL, FIELD(total), .needs = "histogram", /* cyclictest's -H */
	 .why = "adds a column to it"},
	{0, "style-json", "FILE", NULL, FIELD(json.path), opt_set_string,
	 .needs = "style=cyclictest", .excludes = "max-hiccup", .why = STYLE_JSON_WHY,
	 .writes = true},
	MEASURE_DURATION(FIELD(command.measure.duration_ns), "10s; with -n until they are done"),
	{.include = workload_command_opts, .offset = FIELD(command)},
	{.include = limits_stop_on_opts,
	 .offset = FIELD(command.limits),
	 .arg = &(const unsigned){OPERATION_TRIGGERS | TRIGGER_BIT(WAKE)}},
	{0},
};

static const struct opt_example sleep_examples[] = {
	{"sudo culprit sleep -c 3 -i 1ms -P f:80 -d 1m",
	 "as cyclictest measures, with the reason for each late wake-up"},
	{"sudo culprit sleep -c 3 --kernel -i 1ms",
	 "how late a timer's callback in the kernel is, with no thread to wake"},
	{"sudo culprit sleep -c 3 --load cpu,disk",
	 "ten seconds; in the second half with load on the other CPUs"},
	{0},
};

const struct opt_command sleep_usage = {
	.name = "sleep",
	.summary = "sleep and wake in turn, and say who made a wake-up late",
	.about = "Sleeps on each CPU until a point in time, and measures how much later it ran: "
		 "the wake-up latency, and the time from one wake-up to the next. The latency is "
		 "divided: until its timer ran, until the thread had the CPU, until it ran on. "
		 "Late wake-ups are explained: who ran instead, interrupts, exit from "
		 "idle.\n\n" EXIT_STATUS("2 --max-hiccup or --stop-on was crossed, "),
	.opts = sleep_opts,
	.examples = sleep_examples,
	.environment =
		(const struct opt_choice[]){ENV_NO_COLOR,
					    ENV_COLUMNS,
					    ENV_NOTIFY,
					    {"PATH", "the directories to search for stress-ng, for "
						     "--load"},
					    {"TMPDIR", "the directory to which the disk load "
						       "writes; default: /tmp"},
					    {0}},
};

static bool is_loaded(const struct wish *w)
{
	return w->workers[LOAD_CPU] || w->workers[LOAD_DISK] || w->workers[LOAD_NET];
}

/* Returns the exit code. */
static int run_window(struct options *o)
{
	const char *names[SLEEP_SERIES];
	struct workload workload = o->kernel ? sleep_kernel_workload : sleep_workload;

	o->sleep.split = !o->command.measure.no_trace && !o->kernel;
	sleep_series(&o->sleep, names);
	workload.series = names;
	return workload_command_run(&o->command, &workload, &o->sleep);
}

/* Returns the exit code. */
static int run_loaded(struct options *o)
{
	struct measure *m = &o->command.measure;
	struct load_options lo = {.before_ns = m->duration_ns / 2};
	struct host *host = calloc(1, sizeof(*host));
	struct load *load;
	int code, bad;

	if (!host) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	host_read(host);
	bad = measure_check(m, host);
	free(host);
	if (bad)
		return EXIT_ERROR;
	if (m->duration_ns == UINT64_MAX)
		lo.before_ns = o->sleep.samples ? 0 : BEFORE_NS;
	lo.cpus = o->load_here ? m->cpus : m->housekeeping;
	for (int kind = 0; kind < LOAD_KINDS; kind++)
		lo.workers[kind] = o->load.workers[kind] > WORKERS_MAX ? cpus_count(&lo.cpus)
								       : o->load.workers[kind];
	load = load_open(&lo);
	if (!load)
		return EXIT_ERROR;
	o->sleep.load = load_state(load);
	code = run_window(o);
	load_close(load);
	return code;
}

int cmd_sleep(int argc, char **argv)
{
	struct options o = {.sleep.interval_ns = 20 * NSEC_PER_MSEC,
			    .command.limits.stop_on.wakes = true};
	int operands, code, fd = -1;
	int32_t none = 0;
	uint64_t lent;

	measure_init(&o.command.measure);
	o.command.measure.duration_ns = 0;
	code = opt_parse(&sleep_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	if (o.load_here && o.command.measure.sched.policy == SCHED_DEADLINE) {
		complain("--load-here: no load can run in the partitions that -P d: makes of the "
			 "measured CPUs; leave it out");
		return EXIT_ERROR;
	}
	o.command.measure.sleeps = true;
	o.command.report = o.style ? report_styled : NULL;
	measure_end(&o.command.measure, o.sleep.samples);
	if (o.dma_latency) {
		lent = confine_raise(RIGHT_DAC_OVERRIDE);
		fd = open(DMA_LATENCY, O_WRONLY | O_CLOEXEC);
		confine_lower(lent);
		if (fd < 0 || write(fd, &none, sizeof(none)) != sizeof(none)) {
			complain("cannot write 0 to %s: %s", DMA_LATENCY, strerror(errno));
			return EXIT_ERROR;
		}
	}
	o.command.keeps = o.json.path ? RIGHTS_OF_FILES : 0;
	code = rt_file_open(&o.json) ? EXIT_ERROR
	       : is_loaded(&o.load)  ? run_loaded(&o)
				     : run_window(&o);
	if (rt_file_close(&o.json))
		code = EXIT_ERROR;
	if (fd >= 0)
		close(fd); /* ends the request */
	return code;
}
