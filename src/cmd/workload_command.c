/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/workload_command.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/say.h"
#include "cmd/cmd.h"
#include "collect/host.h"
#include "model/watch.h"

#define FIELD(name) offsetof(struct workload_command, name)

const struct opt workload_record_opts[] = {
	{'r', "record", "FILE", "also record it in FILE, for culprit report, diff and plot",
	 FIELD(record), output_set_file, .writes = true},
	{0, "force", NULL, "overwrite a recording that exists", FIELD(force), .needs = "record",
	 .why = "overwrites a recording, but none is made"},
	{0},
};

const struct opt workload_command_opts[] = {
	{'t', "threshold", "TIME",
	 "operations that take longer are explained: a time like 50us, or auto: ten times the "
	 "median of a warm-up, and no more than --stop-on gives",
	 FIELD(measure.threshold_ns), measure_set_threshold, .preset = "auto"},
	{.include = measure_report_opts, .offset = FIELD(measure)},
	{.include = output_opts, .offset = FIELD(output)},
	{.include = series_opts, .offset = FIELD(output)},
	{.include = workload_record_opts},
	{0, "max-hiccup", "TIME", "exit with 2 if an operation takes longer",
	 FIELD(limits.max_hiccup_ns), opt_set_time},
	{0, "label", "TEXT", "the name of this run in the report", FIELD(label), opt_set_string},
	{0},
};

struct workload_state {
	struct workload_command *command;
	struct view *view;
};

static int begin(void *ctx)
{
	const struct workload_state *s = ctx;

	if (s->command->begun)
		s->command->begun(s->command, s->view);
	return 0;
}

static int end(void *ctx)
{
	const struct workload_state *s = ctx;

	if (s->command->roaming)
		watch_cut(s->view);
	return s->command->report ? s->command->report(s->command, s->view)
				  : live_report(&s->command->output, s->view);
}

/* Samplers that are not pinned are only numbered. */
static struct roam_options roam(struct workload_command *c, const struct collect_options *co)
{
	struct roam_options o = {
		.collect = *co, .threshold_ns = c->measure.threshold_ns, .pid = c->pid};

	o.collect.trace = false;
	o.collect.threshold_ns = o.collect.threshold_most_ns = 0;
	o.collect.roams = &c->measure.cpus;
	cpus_clear(&o.collect.targets);
	for (uint32_t i = 0; i < c->roaming; i++)
		cpus_add(&o.collect.targets, i);
	return o;
}

/* A process that spins under SCHED_FIFO leaves its CPU to no other one. */
static int check_roaming(const struct workload_command *c)
{
	unsigned n = cpus_count(&c->measure.cpus);

	if (c->measure.sched.policy != SCHED_FIFO || c->roaming <= n)
		return 0;
	return complain("%u processes that spin under SCHED_FIFO need as many CPUs, and have %u: "
			"leave out -P, give more CPUs with -c, or have fewer processes",
			c->roaming, n);
}

int workload_command_run(struct workload_command *c, const struct workload *workload,
			 const void *workload_options)
{
	struct view *v = calloc(1, sizeof(*v));
	struct workload_state state = {c, v};
	struct collect_options co;
	struct roam_options ro;
	struct live live = {.measure = &c->measure,
			    .engine = &collect_engine,
			    .engine_options = &co,
			    .view = v,
			    .output = &c->output,
			    .limits = &c->limits,
			    .record_to = c->record,
			    .force = c->force,
			    .keeps = c->keeps,
			    .ctx = &state,
			    .begin = begin,
			    .end = end};
	int code = EXIT_ERROR;

	if (!v) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	host_read(&v->host);
	if (c->label)
		snprintf(v->run.label, sizeof(v->run.label), "%s", c->label);
	if (!output_check_traced(&c->output, !c->measure.no_trace) &&
	    !measure_check(&c->measure, &v->host) && !check_roaming(c) &&
	    !live_check_record(c->record, c->force) && !output_open(&c->output)) {
		co = measure_collect(&c->measure);
		co.workload = workload;
		co.workload_options = workload_options;
		co.threshold_most_ns = limits_shortest(&c->limits);
		if (c->roaming) {
			ro = roam(c, &co);
			live.engine = &roam_engine;
			live.engine_options = &ro;
			live.spans = true;
		}
		code = output_close(&c->output, live_run(&live));
	}
	view_free(v);
	free(v);
	return code;
}
