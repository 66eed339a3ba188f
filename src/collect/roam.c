/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/roam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "collect/watch.h"

struct roam {
	struct view *view;
	struct view *samplers_view; /* holds the samplers alone, by target; nobody sees it */
	void *samplers, *watch;
	bool ended;
};

static int close_roam(void *run)
{
	struct roam *r = run;
	int err = r->samplers ? collect_engine.close(r->samplers) : 0;

	if (r->watch)
		watch_engine.close(r->watch);
	if (r->samplers_view)
		view_free(r->samplers_view);
	free(r->samplers_view);
	free(r);
	return err;
}

static int open_samplers(struct roam *r, const struct roam_options *o,
			 const struct engine_hooks *hooks)
{
	const struct engine_hooks quiet = {.stop = hooks->stop};

	r->samplers_view = calloc(1, sizeof(*r->samplers_view));
	if (!r->samplers_view)
		return complain("out of memory");
	r->samplers_view->host = r->view->host;
	r->samplers = collect_engine.open(&o->collect, &quiet, r->samplers_view);
	return r->samplers ? 0 : -1;
}

static int open_watch(struct roam *r, const struct roam_options *o,
		      const struct engine_hooks *hooks)
{
	const struct run *of_samplers = &r->samplers_view->run;
	struct watch_options w = {.cpus = *o->collect.roams,
				  .housekeeping = o->collect.housekeeping,
				  .threshold_ns = o->threshold_ns,
				  .commands = o->collect.commands};

	for (uint32_t i = 0; i < r->samplers_view->ncpus && i < ROAM_MAX; i++)
		o->pid[i] = w.threads.tid[i] = r->samplers_view->cpu[i].sampler_pid;
	r->watch = watch_engine.open(&w, hooks, r->view);
	if (!r->watch)
		return -1;
	memcpy(r->view->run.sampler, of_samplers->sampler, sizeof(of_samplers->sampler));
	r->view->run.real_time = of_samplers->real_time;
	memcpy(r->view->run.priority, of_samplers->priority, sizeof(of_samplers->priority));
	return 0;
}

static void *open_roam(const void *options, const struct engine_hooks *hooks, struct view *view)
{
	struct roam *r = calloc(1, sizeof(*r));

	if (!r) {
		complain("out of memory");
		return NULL;
	}
	r->view = view;
	if (!open_samplers(r, options, hooks) && !open_watch(r, options, hooks))
		return r;
	close_roam(r);
	return NULL;
}

/* Tells what the samplers' engine has found: whichever of the two looks first finds it alone. */
static void tell_cut_short(struct roam *r)
{
	struct run *to = &r->view->run;

	if (!to->cut_short[0])
		memcpy(to->cut_short, r->samplers_view->run.cut_short, sizeof(to->cut_short));
}

/* The probes first: nothing of what the samplers do is missed. */
static int begin(void *run)
{
	struct roam *r = run;

	return watch_engine.begin(r->watch) || collect_engine.begin(r->samplers) ? -1 : 0;
}

static bool poll(void *run)
{
	struct roam *r = run;
	bool more = collect_engine.poll(r->samplers);

	tell_cut_short(r);
	return watch_engine.poll(r->watch) && more;
}

static void snapshot(void *run)
{
	struct roam *r = run;

	watch_engine.snapshot(r->watch);
}

/* Gives what a sampler has measured to the lane of its thread, whose hiccups are of another kind:
 * no value is one. */
static void hand_over(struct roam *r, struct cpu *from)
{
	for (uint32_t k = 0; k < from->nseries; k++)
		from->series[k].threshold_ns = from->series[k].longer = from->series[k].longest_ns =
			0;
	for (uint32_t i = 0; i < r->view->ncpus; i++) {
		struct cpu *to = &r->view->cpu[i];

		if (!to->tid || to->tid != from->sampler_pid)
			continue;
		to->series = from->series;
		to->nseries = from->nseries;
		to->ended = view_text(r->view, from->ended);
		from->series = NULL;
		from->nseries = 0;
	}
}

static void end(void *run)
{
	struct roam *r = run;

	if (r->ended)
		return;
	r->ended = true;
	collect_engine.end(r->samplers);
	watch_engine.end(r->watch);
	tell_cut_short(r);
	for (uint32_t i = 0; i < r->samplers_view->ncpus; i++)
		hand_over(r, &r->samplers_view->cpu[i]);
}

const struct engine roam_engine = {
	.open = open_roam,
	.begin = begin,
	.poll = poll,
	.snapshot = snapshot,
	.end = end,
	.close = close_roam,
};
