/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/osnoise_live.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/live.h"
#include "collect/host.h"
#include "collect/osnoise_tracer.h"
#include "render/osnoise_pairs.h"

/* State of the callbacks. */
struct comparing {
	const struct live *live;
	struct paired *cpu;
	bool json;
	FILE *out;
};

static void hear(void *ctx, uint32_t index, const struct account *a)
{
	struct paired *cpu = ((struct comparing *)ctx)->cpu;

	cpu[index].hw_theirs += !a->theirs;
	if (!a->intervals) {
		cpu[index].hw++;
		cpu[index].hw_ns += a->duration_ns;
	}
}

static bool take(void *ctx)
{
	const struct comparing *s = ctx;
	const struct live *l = s->live;

	for (uint32_t i = 0; i < l->view->ncpus; i++) {
		struct intervals *q = l->engine->intervals(l->run, i);
		const struct interval *next;

		while ((next = intervals_next(q)))
			pairs_add(&s->cpu[i].pairs, next);
		s->cpu[i].intervals_lost = q->lost;
	}
	return true;
}

static int end(void *ctx)
{
	const struct comparing *s = ctx;
	const struct view *v = s->live->view;
	struct render_options ro = {0};

	output_terminal(s->out, 100, &ro.colour, &ro.width);
	for (uint32_t i = 0; i < v->ncpus; i++)
		pairs_finish(&s->cpu[i].pairs);
	if (!render_osnoise_pairs(v, s->cpu, &ro, s->json, s->out))
		return EXIT_OK;
	complain("writing the report failed");
	return EXIT_ERROR;
}

static void paired_free(struct paired *cpu, uint32_t ncpus)
{
	for (uint32_t i = 0; cpu && i < ncpus; i++)
		pairs_free(&cpu[i].pairs);
	free(cpu);
}

/* NULL: out of memory. */
static struct paired *paired_new(uint32_t ncpus)
{
	struct paired *cpu = calloc(ncpus, sizeof(*cpu));

	for (uint32_t i = 0; cpu && i < ncpus; i++)
		if (pairs_init(&cpu[i].pairs)) {
			paired_free(cpu, ncpus);
			return NULL;
		}
	return cpu;
}

static int compare_on(const struct measure *m, struct view *v, bool json, FILE *out)
{
	struct collect_options co = measure_collect(m);
	uint32_t ncpus = cpus_count(&m->cpus);
	struct comparing state = {.cpu = paired_new(ncpus), .json = json, .out = out};
	struct live live = {.measure = m,
			    .engine = &collect_engine,
			    .engine_options = &co,
			    .view = v,
			    .keeps = RIGHTS_ALL, /* the kernel's tracer is to be stopped */
			    .ctx = &state,
			    .hiccup = hear,
			    .step = take,
			    .end = end};
	int code;

	if (!state.cpu) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	co.osnoise = co.intervals = true;
	state.live = &live;
	code = live_run(&live);
	paired_free(state.cpu, ncpus);
	return code;
}

int osnoise_live(struct measure *m, bool json, FILE *out)
{
	struct view *v = calloc(1, sizeof(*v));
	struct osnoise_tracer *tracer;
	int code = EXIT_ERROR;

	if (!v) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	m->no_audit = true;
	host_read(&v->host);
	if (!measure_check(m, &v->host)) {
		measure_catch_signals();
		tracer = osnoise_tracer_start(
			&m->cpus,
			false); /* before our own probes: both must settle before the window */
		if (tracer) {
			code = compare_on(m, v, json, out);
			if (osnoise_tracer_stop(tracer))
				code = EXIT_ERROR;
		}
	}
	view_free(v);
	free(v);
	return code;
}
