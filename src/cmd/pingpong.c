/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit pingpong: the time to send another CPU a message, by each available way, and who made a
 * message late. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/confine.h"
#include "base/json.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/workload_command.h"
#include "collect/affinity.h"
#include "collect/host.h"
#include "collect/pingpong.h"
#include "render/matrix.h"
#include "render/schemas.h"
#include "render/styles.h"

#define MESSAGES        100000
#define MATRIX_MESSAGES 10000
#define PAUSES          1000
#define LOOKS           10

struct options {
	struct workload_command command; /* first, because the hook below gets a pointer to it */
	struct pingpong_options pingpong;
	struct measure_pair pin;
	bool matrix, every_way;
	int style;
	bool style_raw; /* the times themselves, as it has them in JSON */
	uint64_t pauses;
	struct output raw;
};

#define FIELD(name) offsetof(struct options, name)

enum pingpong_style { STYLE_OWN, STYLE_PINGPONG };
static const struct opt_choice pingpong_styles[] = {
	{"culprit", "its own report"},
	{"pingpong", "a row a side, as osjitter's pingpong prints it"},
	{0},
};

static const struct measure_range pauses_range = {0, 1000000}, looks_range = {1, 100000};

/* Reads "pipe,futex" into o->way; "all". */
static int set_methods(const char *text, void *field, const struct opt *row, char *why,
		       size_t whylen)
{
	struct options *o = field;
	struct pingpong_options *p = &o->pingpong;
	char word[32];

	(void)row;
	p->nways = 0;
	o->every_way = !strcmp(text, "all");
	for (uint32_t i = 0; o->every_way && i < PINGPONG_WAYS; i++)
		p->way[p->nways++] = i;
	while (!o->every_way) {
		size_t len = strcspn(text, ",");
		uint32_t way = 0;

		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		while (way < PINGPONG_WAYS && strcmp(pingpong_names[way], word))
			way++;
		for (uint32_t i = 0; i < p->nways; i++)
			if (p->way[i] == way)
				return snprintf(why, whylen, "'%s' is given twice", word), -EINVAL;
		if (way == PINGPONG_WAYS) {
			const char *near = opt_nearest(word, pingpong_names);

			snprintf(why, whylen,
				 "'%.*s' is not a method%s%s%s: see culprit help pingpong",
				 (int)len, text, near ? ", did you mean '" : "", near ? near : "",
				 near ? "'?" : "");
			return -EINVAL;
		}
		p->way[p->nways++] = way;
		if (!text[len])
			break;
		text += len + 1;
	}
	return 0;
}

static const struct opt pingpong_opts[] = {
	{'m', "method", "LIST",
	 "the methods, with commas, or all: spin, spin-pause, spin-pauses, umwait, mwaitx, cv "
	 "(condition variable), sem (semaphore), futex, pipe, eventfd, socket, io_uring; null "
	 "measures what it costs to read the clock",
	 0, set_methods, .preset = "spin"},
	{'n', "messages", "N", "how many messages of each method in each direction",
	 FIELD(pingpong.messages), measure_set_count, .preset = "100000, with --matrix 10000"},
	{'k', "pauses", "N", "how many PAUSE instructions before each message", FIELD(pauses),
	 measure_set_count, &pauses_range, .preset = "1000, with --matrix none"},
	{0, "looks", "N", "how many PAUSE instructions between two looks of spin-pauses",
	 FIELD(pingpong.looks), measure_set_count, &looks_range, .preset = "10"},
	{'p', NULL, "N", .alias = "looks"},
	{'c', "cpus", "CPUS", "the two CPUs; with --matrix all CPUs whose pairs are measured",
	 FIELD(command.measure.cpus), opt_set_cpus,
	 .preset = "two of the isolated CPUs; if there are not two, two of all; with --matrix all"},
	{0, "threads", NULL,
	 "between two threads of one process, not two processes: its futexes, condition variables "
	 "and semaphores are private",
	 FIELD(pingpong.threads)},
	{0, "pin", "A,B", "the CPU that sends first, and the other one", FIELD(pin),
	 measure_set_pair, .excludes = "cpus", .why = "gives the CPUs", .preset = "as -c"},
	{0, "times", "FILE", "write the time of each message to FILE, as JSON", FIELD(raw.path),
	 output_set_file, .writes = true},
	{0, "raw", "FILE", .alias = "times"},
	{0, "percentiles", "WHICH", "in text: which percentiles of what was measured",
	 FIELD(command.output), output_set_percentiles, .choices = OPT_CHOICES(percentile_sets),
	 .preset = "wide"},
	{0, "style", "TOOL", "print the times as another tool does", FIELD(style), opt_set_choice,
	 .choices = OPT_CHOICES(pingpong_styles), .preset = "culprit",
	 .excludes = "format,stacks,chart,percentiles,all,times,matrix", .why = "has its own form"},
	{0, "style-raw", NULL, NULL, FIELD(style_raw), .needs = "style=pingpong",
	 .why = "is the tool's other form"}, /* osjitter's --json */
	{0, "matrix", NULL,
	 "measure all pairs of CPUs (of -c, or of all) one after another, and print a table of the "
	 "medians; nothing is traced",
	 FIELD(matrix),
	 .excludes = "pin,threads,record,times,stacks,chart,percentiles,all,threshold,max-hiccup,"
		     "stop-on,label,command-lines,user-stacks",
	 .why = "keeps only the medians of all pairs"},
	MEASURE_DURATION(FIELD(command.measure.duration_ns), "until all messages are sent"),
	OPT_SCHEMA(schema_pingpong),
	{.include = workload_command_opts, .offset = FIELD(command)},
	{.include = limits_stop_on_opts,
	 .offset = FIELD(command.limits),
	 .arg = &(const unsigned){OPERATION_TRIGGERS}},
	{0},
};

static const struct opt_example pingpong_examples[] = {
	{"sudo culprit pingpong --pin 2,3 -m all", "each method between CPUs 2 and 3"},
	{"sudo culprit pingpong --threads -m futex,cv,sem",
	 "what waking a thread of the same process costs"},
	{"culprit pingpong --matrix -m spin", "the median of each pair of CPUs"},
	{0},
};

const struct opt_command pingpong_usage = {
	.name = "pingpong",
	.summary = "what a message to another CPU costs, and who made it late",
	.about = "Two processes, each pinned to a CPU, send one message back and forth through "
		 "shared memory, and measure the time from its stamp until the other process has "
		 "it. Their semaphores, condition variables and futexes are those that work "
		 "between processes; with --threads the two are threads of one process, and these "
		 "are private. Messages that took long are explained on the CPU that was "
		 "late.\n\n" EXIT_STATUS("2 --max-hiccup or --stop-on was crossed, "),
	.opts = pingpong_opts,
	.examples = pingpong_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};

/* ---- the raw times ---- */

static void write_raw(const struct pingpong_options *p, FILE *f)
{
	struct json j;

	json_init(&j, f);
	json_object(&j, NULL);
	json_string(&j, "schema", "culprit.pingpong-raw/1");
	json_string(&j, "version", CULPRIT_VERSION);
	json_array(&j, "messages");
	for (uint32_t i = 0; i < 2 * p->nways; i++) {
		bool null = !strcmp(pingpong_names[p->way[i / 2]], "null");

		json_object(&j, NULL);
		json_string(&j, "method", pingpong_names[p->way[i / 2]]);
		if (null)
			json_null(&j, "from");
		else
			json_u64(&j, "from", p->cpu[!(i % 2)]);
		json_u64(&j, "to", p->cpu[i % 2]);
		json_array_flat(&j, "ns");
		for (uint64_t k = 0; k < p->raw_count[i]; k++)
			json_u64(&j, NULL, p->raw[i * p->messages + k]);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static int report_raw(struct workload_command *b, struct view *v)
{
	struct options *o = (struct options *)b;
	int code = live_report(&b->output, v);
	struct render_options r;

	output_ready(&o->raw, &r);
	write_raw(&o->pingpong, o->raw.file);
	return output_done(&o->raw, 0) ? EXIT_ERROR : code;
}

static int report_styled(struct workload_command *b, struct view *v)
{
	const struct options *o = (const struct options *)b;
	const struct pingpong_options *p = &o->pingpong;
	FILE *out = b->output.file;
	int err = o->style_raw ? render_pingpong_raw(p->raw, p->messages, p->raw_count, out)
			       : render_pingpong(v, p->cpu, out);

	return output_done(&b->output, err) ? EXIT_ERROR : EXIT_OK;
}

/* ---- the matrix ---- */

static int report_matrix(struct workload_command *b, struct view *v)
{
	const struct options *o = (const struct options *)b;
	struct matrix m = {.view = v,
			   .method = pingpong_names[o->pingpong.way[0]],
			   .messages = o->pingpong.messages,
			   .median_ns = o->pingpong.matrix};
	struct render_options r;

	output_ready(&b->output, &r);
	return output_done(&b->output,
			   render_matrix(&m, b->output.format == FORMAT_JSON, b->output.file))
		       ? EXIT_ERROR
		       : EXIT_OK;
}

static int check_matrix(struct options *o)
{
	if (o->pingpong.nways != 1)
		return complain("--matrix takes one method");
	if (o->command.output.format != FORMAT_TEXT && o->command.output.format != FORMAT_JSON)
		return complain("--matrix prints text or json, not %s",
				formats[o->command.output.format].choice.name);
	return 0;
}

/* ---- the command ---- */

static void *shared(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Removes ways that this machine does not have: from "all" silently, a named one is an error. */
static int check_methods(struct options *o)
{
	struct pingpong_options *p = &o->pingpong;
	uint32_t n = 0;
	char why[160];

	for (uint32_t i = 0; i < p->nways; i++) {
		if (!pingpong_can(p->way[i], why, sizeof(why)))
			p->way[n++] = p->way[i];
		else if (!o->every_way)
			return complain("the method %s cannot be used: %s; choose other methods "
					"with -m",
					pingpong_names[p->way[i]], why);
		else
			say("%s is left out: %s", pingpong_names[p->way[i]], why);
	}
	p->nways = n;
	return 0;
}

/* Sets looks where they are not given; where they are, a method must take them. */
static int check_looks(struct pingpong_options *p)
{
	bool taken = false;

	for (uint32_t i = 0; i < p->nways; i++)
		taken |= !strcmp(pingpong_names[p->way[i]], "spin-pauses");
	if (p->looks && !taken)
		return complain("--looks belongs to the method spin-pauses: add this to -m");
	if (!p->looks)
		p->looks = LOOKS;
	return 0;
}

static int run_matrix(struct options *o, struct workload *w)
{
	struct measure *m = &o->command.measure;
	size_t bytes;
	unsigned n;
	int code;

	if (cpus_empty(&m->cpus))
		host_measurable(&m->cpus);
	n = cpus_count(&m->cpus);
	if (n < 2) {
		complain("a pair needs two CPUs, and only one is given: give more with -c");
		return EXIT_ERROR;
	}
	bytes = (size_t)n * n * sizeof(uint64_t);
	o->pingpong.matrix = shared(bytes);
	if (!o->pingpong.matrix) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	memset(o->pingpong.matrix, 0xff, bytes);
	m->no_trace = m->no_audit = true;
	o->command.report = report_matrix;
	code = workload_command_run(&o->command, w, &o->pingpong);
	munmap(o->pingpong.matrix, bytes);
	return code;
}

static int choose_pair(struct options *o)
{
	struct measure *m = &o->command.measure;
	static struct host host; /* large */

	if (cpus_count(&m->cpus) > 2)
		return complain("one message needs two CPUs: give them with --pin A,B, or --matrix "
				"for all pairs");
	host_read(&host);
	if (!o->pin.given && measure_choose(m, &host, o->pin.cpu, 2, 2) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		o->pingpong.cpu[i] = o->pin.cpu[i];
		cpus_add(&m->cpus, o->pin.cpu[i]);
	}
	return 0;
}

static int check_partition(const struct pingpong_options *p)
{
	return same_partition(p->cpu[0], p->cpu[1])
		       ? 0
		       : complain("CPUs %u and %u are not in the same cpuset partition, and one "
				  "process cannot have threads in two: leave out --threads, or "
				  "give --pin others",
				  p->cpu[0], p->cpu[1]);
}

static int run_pair(struct options *o, struct workload *w)
{
	struct pingpong_options *p = &o->pingpong;
	bool raw = o->raw.path || o->style_raw;
	size_t bytes = raw ? 2 * p->nways * (p->messages + 1) * sizeof(uint64_t) : 0;
	int code;

	if (o->style_raw && p->nways > 1)
		return complain("--style-raw takes one method, as the tool does: choose it (-m)"),
		       EXIT_ERROR;
	if (choose_pair(o) || (p->threads && check_partition(p)))
		return EXIT_ERROR;
	if (o->style)
		o->command.report = report_styled;
	if (!bytes)
		return workload_command_run(&o->command, w, p);
	p->raw_count = p->messages < SIZE_MAX / 1024 ? shared(bytes) : NULL;
	if (!p->raw_count) {
		complain("not enough memory for so many raw times: give a smaller -n");
		return EXIT_ERROR;
	}
	p->raw = p->raw_count + 2 * p->nways;
	if (o->raw.path)
		o->command.report = report_raw, o->command.keeps = RIGHTS_OF_FILES;
	o->raw.beside = "times";
	code = output_open(&o->raw) ? EXIT_ERROR : workload_command_run(&o->command, w, p);
	code = output_close(&o->raw, code);
	munmap(p->raw_count, bytes);
	return code;
}

int cmd_pingpong(int argc, char **argv)
{
	struct options o = {.pauses = UINT64_MAX, .pingpong = {.way = {1}, .nways = 1}};
	const char *names[PINGPONG_WAYS + 1] = {NULL};
	struct workload workload = pingpong_workload;
	struct pingpong_options *p = &o.pingpong;
	int operands, code;

	measure_init(&o.command.measure);
	o.command.measure.duration_ns = UINT64_MAX;
	o.command.measure.may_share = true;
	o.command.output.series = SERIES_WIDE;
	code = opt_parse(&pingpong_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	if (!p->messages)
		p->messages = o.matrix ? MATRIX_MESSAGES : MESSAGES;
	p->pauses = o.pauses != UINT64_MAX ? o.pauses : o.matrix ? 0 : PAUSES;
	if (check_looks(p) || check_methods(&o) || (o.matrix && check_matrix(&o)))
		return EXIT_ERROR;
	o.command.measure.sleeps = !p->threads && !o.matrix;
	for (uint32_t i = 0; i < p->nways; i++) {
		names[i] = pingpong_names[p->way[i]];
		o.command.measure.sleeps &= pingpong_sleeps(p->way[i]);
	}
	workload.series = names;
	workload.threads = p->threads;
	workload.name = p->threads ? "pingpong of threads" : workload.name;
	return o.matrix ? run_matrix(&o, &workload) : run_pair(&o, &workload);
}
