/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/say.h"
#include "base/units.h"
#include "collect/affinity.h"
#include "collect/chosen.h"
#include "collect/counter.h"
#include "collect/hotplug.h"
#include "collect/live_names.h"
#include "model/sums.h"

#define SETTLE_NS (100 * NSEC_PER_MSEC)

struct live_sums {
	struct watch_options options;
	struct view *view;
	struct probes *probes;
	struct choice *choice;
	struct live_names *names;
	struct hotplug hotplug;
	uint64_t misses_before, begin_ns;
	uint32_t given;             /* CPUs that were there at the begin: the first lanes */
	uint32_t later[LATER_SUMS]; /* targets of the lanes behind these */
	uint64_t came_ns[LATER_SUMS];
	bool ended;
};

static int prepare_view(struct live_sums *s)
{
	const struct cpus *cpus = &s->options.cpus;
	uint32_t n = cpus_count(cpus), i = 0;
	unsigned *number = calloc(n + LATER_SUMS, sizeof(*number));
	struct view *v = s->view;
	int err;

	if (!number)
		return complain("out of memory");
	for (int cpu = cpus_next(cpus, 0); cpu >= 0; cpu = cpus_next(cpus, cpu + 1))
		number[i++] = cpu;
	err = view_cpus(v, number, n + LATER_SUMS);
	free(number);
	if (err)
		return complain("out of memory");
	view_cut(v, s->given = n);
	snprintf(v->run.sampler, sizeof(v->run.sampler), "watch");
	snprintf(v->run.priority, sizeof(v->run.priority), "its own");
	snprintf(v->run.rest, sizeof(v->run.rest), "not seen");
	v->run.watch = v->run.windows = v->run.traced = v->run.sums = true;
	v->run.cpus = *cpus;
	v->run.housekeeping = s->options.housekeeping;
	return 0;
}

static int open_all(struct live_sums *s)
{
	const struct watch_options *o = &s->options;

	if (prepare_view(s) || (!cpus_empty(&o->housekeeping) && stay_on(&o->housekeeping)))
		return -1;
	s->probes =
		probes_new(&o->cpus, &o->later,
			   o->threads.sums == SUMS_BESIDE ? PROBES_FOR_RECORDS : PROBES_FOR_SUMS);
	if (!s->probes || probes_load(s->probes, false, SLEEPER_NONE, &o->threads) ||
	    probes_attach(s->probes))
		return -1;
	s->choice = choice_new(s->probes, &o->threads);
	s->names = live_names_new(s->probes, o->by, o->commands);
	if (!s->choice || !s->names)
		return complain("out of memory");
	probes_not_observed(s->probes, s->view);
	s->view->run.symbols_hidden = live_names_hidden(s->names);
	return 0;
}

static int close_sums(void *run)
{
	struct live_sums *s = run;

	choice_free(s->choice);
	probes_close(s->probes);
	live_names_free(s->names);
	free(s);
	return 0;
}

static void *open_sums(const void *options, const struct engine_hooks *hooks, struct view *view)
{
	struct live_sums *s = calloc(1, sizeof(*s));

	if (!s) {
		complain("out of memory");
		return NULL;
	}
	s->options = *(const struct watch_options *)options;
	s->view = view;
	if (!open_all(s) && !*hooks->stop)
		return s;
	close_sums(s);
	return NULL;
}

static int begin(void *run)
{
	struct live_sums *s = run;
	struct timespec nap = {0, SETTLE_NS};

	nanosleep(&nap, NULL);
	s->begin_ns = s->view->run.started_ns = now_ns();
	format_iso_time(clock_ns(CLOCK_REALTIME), s->view->run.started);
	hotplug_begin(&s->hotplug, &s->options, s->probes, &s->view->run);
	s->misses_before = probes_recursion_misses(s->probes);
	probes_gate(s->probes, true);
	return 0;
}

/* A CPU that has come gets a lane. */
static void come(void *ctx, uint32_t index, unsigned cpu)
{
	struct live_sums *s = ctx;

	s->later[s->view->ncpus - s->given] = index;
	s->came_ns[s->view->ncpus - s->given] = now_ns();
	if (view_again(s->view, cpu))
		say("out of memory: the sums of CPU %u are missing", cpu);
}

static bool poll(void *run)
{
	struct live_sums *s = run;

	choice_look(s->choice, &s->view->run, now_ns());
	hotplug_look(&s->hotplug, false, come, s);
	return !watch_is_over(&s->options);
}

static void fill(struct live_sums *s, uint64_t now)
{
	struct view *v = s->view;

	v->run.duration_ns = now - s->begin_ns;
	v->run.recursion_misses = probes_recursion_misses(s->probes) - s->misses_before;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint32_t late = i < s->given ? 0 : i - s->given;
		uint32_t target = i < s->given ? i : s->later[late];
		const struct probe_state *p = &probes_state(s->probes, target)->own;

		v->cpu[i].observed_ns = now - (i < s->given ? s->begin_ns : s->came_ns[late]);
		v->cpu[i].counts.mismatches = p->sums.misfits;
		v->cpu[i].waits_lost = p->waits_lost;
		if (sums_fill(v, i, probes_sums(s->probes, target), live_names(s->names)))
			say("out of memory: the sums of CPU %u are missing", v->cpu[i].number);
	}
	v->run.names_lack |= live_names(s->names)->lack(s->names);
}

static void snapshot(void *run)
{
	fill(run, now_ns());
}

static void end(void *run)
{
	struct live_sums *s = run;

	if (s->ended)
		return;
	s->ended = true;
	hotplug_look(&s->hotplug, true, come, s);
	probes_gate(s->probes, false);
	choice_tell(s->choice, &s->view->run);
	fill(s, now_ns());
}

const struct engine sums_engine = {
	.open = open_sums,
	.begin = begin,
	.poll = poll,
	.snapshot = snapshot,
	.end = end,
	.close = close_sums,
};
