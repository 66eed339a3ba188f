/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/osnoise_alternate.h"

#include <stdlib.h>
#include <string.h>

#include "base/confine.h"
#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/live.h"
#include "collect/host.h"
#include "collect/osnoise_tracer.h"
#include "model/osnoise.h"
#include "model/own_period.h"
#include "render/periods.h"

#define ROUNDS 2

struct table_of {
	struct period_line *line;
	uint32_t count, room;
	char incomplete[sizeof(((struct run *)0)->incomplete)];
};

static void note_incomplete(struct table_of *t, const char *why)
{
	if (!t->incomplete[0])
		snprintf(t->incomplete, sizeof(t->incomplete), "%s", why);
}

static struct period_line *add_line(struct table_of *t, bool ours, unsigned round, unsigned cpu)
{
	if (t->count == t->room) {
		uint32_t room = t->room * 2 + 64;
		struct period_line *bigger = realloc(t->line, room * sizeof(*bigger));

		if (!bigger)
			return NULL;
		t->line = bigger;
		t->room = room;
	}
	t->line[t->count] = (struct period_line){.ours = ours, .round = round, .cpu = cpu};
	return &t->line[t->count++];
}

/* ---- the kernel's turn ---- */

static int read_periods(struct osnoise_tracer *tracer, struct table_of *t, unsigned round)
{
	struct osnoise_reader *r = calloc(1, sizeof(*r));
	FILE *f = r && !osnoise_init(r) ? osnoise_tracer_output(tracer) : NULL;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	while (f && (len = getline(&line, &room, f)) > 0) {
		struct period_line *p;

		len -= line[len - 1] == '\n';
		if (osnoise_line(r, line, len) != OSNOISE_EVENT || r->event.type != OSNOISE_PERIOD)
			continue;
		p = add_line(t, false, round, r->event.cpu);
		if (p)
			p->period = r->event.period;
	}
	free(line);
	if (f)
		fclose(f);
	if (r)
		osnoise_free(r);
	free(r);
	return f ? 0 : -1;
}

static int kernel_turn(struct measure *m, struct table_of *t, unsigned round)
{
	struct osnoise_tracer *tracer = osnoise_tracer_start(&m->cpus, true);
	uint64_t begin = now_ns();
	char why[80];
	int err;

	if (!tracer)
		return -1;
	while (measure_wait(m, begin))
		;
	for (int cpu = cpus_next(&m->cpus, 0); cpu >= 0; cpu = cpus_next(&m->cpus, cpu + 1))
		if (!host_is_online(cpu) && !t->incomplete[0]) {
			snprintf(why, sizeof(why), "cpu %d went offline in osnoise's turn", cpu);
			say("incomplete: %s", why);
			note_incomplete(t, why);
		}
	err = read_periods(tracer, t, round);
	return osnoise_tracer_stop(tracer) ? -1 : err;
}

/* ---- culprit's turn ---- */

/* State of our turn: each CPU's period so far. */
struct turn {
	const struct live *live;
	struct table_of *t;
	unsigned round;
	struct own_period *cpu;
};

static void note_period(struct turn *turn, uint32_t index, const struct osnoise_period *p)
{
	unsigned cpu = turn->live->view->cpu[index].number;
	struct period_line *line = add_line(turn->t, true, turn->round, cpu);

	if (line)
		line->period = *p;
}

static void end_periods(struct turn *turn, uint32_t index, uint64_t now_ns)
{
	struct osnoise_period done;

	while (own_period_over(&turn->cpu[index], now_ns, &done))
		note_period(turn, index, &done);
}

static void hear(void *ctx, uint32_t index, const struct account *a)
{
	struct turn *turn = ctx;

	end_periods(turn, index, a->start_ns);
	own_period_add(&turn->cpu[index], &turn->live->view->cpu[index].sources, a);
}

static int begin(void *ctx)
{
	struct turn *turn = ctx;
	const struct view *v = turn->live->view;

	turn->cpu = calloc(v->ncpus, sizeof(*turn->cpu));
	if (!turn->cpu)
		return complain("out of memory");
	for (uint32_t i = 0; i < v->ncpus; i++)
		own_period_begin(&turn->cpu[i], v->run.started_ns);
	return 0;
}

static int end(void *ctx)
{
	struct turn *turn = ctx;
	const struct view *v = turn->live->view;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint64_t end_ns = v->run.started_ns + cpu_end_ns(&v->cpu[i]);
		struct osnoise_period rest;

		end_periods(turn, i, end_ns);
		if (own_period_rest(&turn->cpu[i], end_ns, &rest))
			note_period(turn, i, &rest);
	}
	return EXIT_OK;
}

static int our_turn(struct measure *m, const struct host *host, struct table_of *t, unsigned round)
{
	struct collect_options co = measure_collect(m);
	struct view *v = calloc(1, sizeof(*v));
	struct turn turn = {.t = t, .round = round};
	struct live live = {.measure = m,
			    .engine = &collect_engine,
			    .engine_options = &co,
			    .view = v,
			    .keeps = RIGHTS_ALL, /* the kernel's tracer has the next turn */
			    .ctx = &turn,
			    .begin = begin,
			    .hiccup = hear,
			    .end = end};
	int code;

	if (!v)
		return complain("out of memory");
	v->host = *host;
	turn.live = &live;
	code = live_run(&live);
	note_incomplete(t, v->run.incomplete);
	free(turn.cpu);
	view_free(v);
	free(v);
	return code == EXIT_ERROR ? -1 : 0;
}

/* Waits for --begin once, before the first turn: the others follow it. */
static int await_begin(struct measure *m)
{
	measure_catch_signals();
	if (measure_await_begin(m))
		return measure_stop ? complain("ended before the first turn: nothing was measured")
				    : -1;
	m->begin = (struct measure_begin){0};
	return 0;
}

int osnoise_alternate(struct measure *m, bool json, FILE *out)
{
	struct host *host = calloc(1, sizeof(*host));
	struct table_of t = {0};
	int err = -1;

	if (!host) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	m->no_audit = true;
	host_read(host);
	if (!m->threshold_ns)
		m->threshold_ns = NSEC_PER_USEC; /* as osnoise, unless tracing_thresh is set */
	if (!measure_check(m, host) && !await_begin(m)) {
		err = 0;
		for (unsigned round = 1; round <= ROUNDS && !err && !measure_stop; round++) {
			err = kernel_turn(m, &t, round);
			if (!err && !measure_stop)
				err = our_turn(m, host, &t, round);
		}
		if (!err || t.count)
			err = render_periods(&(struct periods){host, t.line, t.count, t.incomplete},
					     json, out)
				      ? complain("writing the report failed")
				      : err;
	}
	free(t.line);
	free(host);
	return err ? EXIT_ERROR : t.incomplete[0] ? EXIT_INCOMPLETE : EXIT_OK;
}
