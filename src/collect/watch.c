/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "collect/chosen.h"
#include "collect/hotplug.h"
#include "collect/host.h"
#include "collect/live_names.h"
#include "collect/reports.h"
#include "collect/ring.h"
#include "collect/counter.h"
#include "collect/steal.h"
#include "collect/affinity.h"
#include "collect/vcpu_clocks.h"
#include "collect/waits.h"
#include "model/watch.h"

#define SETTLE_NS (100 * NSEC_PER_MSEC)
/* A record may be published this long after its end: its CPU had something else to do. */
#define LATE_NS      NSEC_PER_MSEC
#define PLACE_NS     (200 * NSEC_PER_MSEC) /* between looks where this process runs */
#define LAST_REPORTS 16                    /* times that reports are fetched at the end */
/* From the look for threads until the window: the interrupt that brings it is over. */
#define LOOK_NS (200 * NSEC_PER_USEC)

struct live_watch {
	struct watch_options options;
	struct engine_hooks hooks;
	struct view *view;
	struct probes *probes;
	struct choice *choice;
	struct live_names *names;
	struct session *session;
	struct watch *watch;
	unsigned *cpu;
	uint32_t ncpus;
	struct rings **rings; /* one for each CPU */
	struct rings_turn *turn;
	const struct wait_set *waits;
	uint64_t *thread_lost; /* records lost on each CPU before the window */
	struct steal steal;
	struct hotplug hotplug;
	uint64_t lost_before, misses_before, begin_ns, end_ns;
	uint64_t placed_ns;                      /* when it looked where it runs itself */
	struct reports *reports[WATCH_PROGRAMS]; /* the programs' own */
	uint32_t nreports;
	struct reader_priority reader;
	struct vcpu_clocks clocks; /* as the window opened */
	bool ended;
};

static uint64_t lost(const struct live_watch *w)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < w->ncpus; i++)
		for (int level = 0; level < LEVELS; level++)
			n += __atomic_load_n(&probes_state(w->probes, i)->lost[level],
					     __ATOMIC_RELAXED);
	return n;
}

/* ---- opening ---- */

static int prepare_view(struct live_watch *w)
{
	unsigned lane[WATCH_LANES];
	struct view *v = w->view;

	for (unsigned i = 0; i < WATCH_LANES; i++)
		lane[i] = i;
	if (view_cpus(v, lane, WATCH_LANES))
		return complain("out of memory");
	for (unsigned i = 0; i < WATCH_LANES; i++)
		v->cpu[i].threshold_ns = w->options.threshold_ns;
	snprintf(v->run.sampler, sizeof(v->run.sampler), "watch");
	snprintf(v->run.priority, sizeof(v->run.priority), "its own");
	snprintf(v->run.rest, sizeof(v->run.rest), "not seen");
	v->run.watch = v->run.windows = v->run.traced = v->run.whose = true;
	v->run.cpus = w->options.cpus;
	v->run.housekeeping = w->options.housekeeping;
	return 0;
}

static void number(struct live_watch *w, const struct cpus *cpus)
{
	for (int cpu = cpus_next(cpus, 0); cpu >= 0; cpu = cpus_next(cpus, cpu + 1))
		w->cpu[w->ncpus++] = cpu;
}

static int open_all(struct live_watch *w)
{
	const struct cpus *cpus = &w->options.cpus, *later = &w->options.later;
	uint32_t n = cpus_count(cpus) + cpus_count(later);

	w->cpu = calloc(n, sizeof(*w->cpu));
	w->rings = calloc(n, sizeof(*w->rings));
	w->turn = calloc(n, sizeof(*w->turn));
	w->thread_lost = calloc(n, sizeof(*w->thread_lost));
	if (!w->cpu || !w->rings || !w->turn || !w->thread_lost || steal_init(&w->steal))
		return complain("out of memory");
	number(w, cpus);
	number(w, later);
	if (prepare_view(w) ||
	    (!cpus_empty(&w->options.housekeeping) && stay_on(&w->options.housekeeping)))
		return -1;
	w->probes = probes_new(cpus, later, PROBES_FOR_RECORDS);
	if (!w->probes || probes_load(w->probes, false, SLEEPER_NONE, &w->options.threads) ||
	    probes_attach(w->probes))
		return -1;
	w->choice = choice_new(w->probes, &w->options.threads);
	if (!w->choice)
		return complain("out of memory");
	w->waits = waits_map(w->probes);
	if (!w->waits)
		return complain("cannot map the table of waiting threads: %s", strerror(errno));
	for (uint32_t i = 0; i < w->ncpus; i++)
		if (!(w->rings[i] = rings_new(probes_state(w->probes, i))))
			return complain("out of memory");
	probes_not_observed(w->probes, w->view);
	w->view->run.exits = probes_exits(w->probes);
	w->names = live_names_new(w->probes, w->options.by, w->options.commands);
	if (!w->names)
		return complain("out of memory");
	w->view->run.symbols_hidden = live_names_hidden(w->names);
	w->session = session_new(&(struct session_options){.view = w->view,
							   .names = live_names(w->names),
							   .tap = w->hooks.tap,
							   .spans = w->hooks.spans});
	w->watch = w->session ? watch_new(w->view, w->session, w->cpu, w->ncpus) : NULL;
	return w->watch ? 0 : complain("out of memory");
}

static int close_watch(void *run)
{
	struct live_watch *w = run;

	reader_sink(&w->reader);
	for (uint32_t i = 0; i < w->nreports; i++)
		reports_free(w->reports[i]);
	choice_free(w->choice);
	waits_unmap(w->waits);
	probes_close(w->probes);
	watch_free(w->watch);
	session_free(w->session);
	live_names_free(w->names);
	for (uint32_t i = 0; w->rings && i < w->ncpus; i++)
		rings_free(w->rings[i]);
	free(w->rings);
	free(w->turn);
	free(w->thread_lost);
	vcpu_clocks_free(&w->clocks);
	steal_free(&w->steal);
	free(w->cpu);
	free(w);
	return 0;
}

/* 0, or -1 with the reason said. */
static int open_reports(struct live_watch *w)
{
	for (; w->options.pid[w->nreports]; w->nreports++) {
		w->reports[w->nreports] = reports_new(w->options.pid[w->nreports]);
		if (!w->reports[w->nreports])
			return complain("out of memory");
	}
	return 0;
}

static void *open_watch(const void *options, const struct engine_hooks *hooks, struct view *view)
{
	struct live_watch *w = calloc(1, sizeof(*w));

	if (!w) {
		complain("out of memory");
		return NULL;
	}
	w->options = *(const struct watch_options *)options;
	w->hooks = *hooks;
	w->view = view;
	if (!open_reports(w) && !open_all(w) && !*hooks->stop) {
		watch_hear(w->watch, hooks->hear, hooks->ctx);
		return w;
	}
	close_watch(w);
	return NULL;
}

/* Takes the reports that ended before `ns`; records of later ones may still be missing. */
static void take_reports(struct live_watch *w, uint64_t ns)
{
	struct culprit_report r;

	for (uint32_t i = 0; i < w->nreports; i++) {
		struct reports *p = w->reports[i];

		while (reports_next(p, ns, &r))
			if (reports_believe(p, &r, watch_process(w->watch, r.tid)))
				reports_spend(p, watch_window(w->watch, w->options.pid[i], r.tid,
							      r.start_ns, r.end_ns));
	}
}

/* Looks for the new ones. */
static void fetch_reports(struct live_watch *w)
{
	for (uint32_t i = 0; i < w->nreports; i++) {
		reports_open(w->reports[i], w->begin_ns);
		reports_fetch(w->reports[i]);
	}
}

/* ---- reading ---- */

/* Takes a report when its records have come, before later ones push them out. */
static void take(void *ctx, uint32_t index, const struct record *r)
{
	struct live_watch *w = ctx;

	take_reports(w, r->end_ns - 1);
	watch_record(w->watch, index, r);
}

static void read_until(struct live_watch *w, uint64_t ns)
{
	rings_merge(w->rings, w->ncpus, w->turn, ns, take, w);
}

/* Rises where none of the watched threads can run: it must take no time from these. Sinks where
 * hotplug or a cpuset has brought it to their CPUs. */
static void rise_or_sink(struct live_watch *w)
{
	struct cpus both;

	cpus_allowed(&both);
	cpus_and(&both, &w->options.cpus);
	if (!cpus_empty(&both))
		reader_sink(&w->reader);
	else if (!cpus_empty(&w->options.housekeeping) && !w->reader.risen)
		reader_rise(&w->reader);
}

static int begin(void *run)
{
	struct live_watch *w = run;
	struct timespec settle = {0, SETTLE_NS}, looked = {0, LOOK_NS};

	rise_or_sink(w);
	vcpu_clocks_read(&w->clocks, KVM_FOLDER);
	nanosleep(&settle, NULL);
	probes_gate(w->probes, true);
	probes_look(w->probes);
	nanosleep(&looked, NULL);
	w->begin_ns = w->view->run.started_ns = now_ns();
	format_iso_time(clock_ns(CLOCK_REALTIME), w->view->run.started);
	w->lost_before = lost(w);
	for (uint32_t i = 0; i < w->ncpus; i++)
		w->thread_lost[i] = probes_state(w->probes, i)->lost[LEVEL_THREAD];
	w->misses_before = probes_recursion_misses(w->probes);
	hotplug_begin(&w->hotplug, &w->options, w->probes, &w->view->run);
	fetch_reports(w);
	steal_begin(&w->steal);
	return 0;
}

bool watch_is_over(const struct watch_options *o)
{
	const int32_t *pid = o->pid, *tid = o->threads.tid;
	bool some = !o->ends;

	for (int i = 0; pid[i] && !some; i++)
		some = !kill(pid[i], 0) || errno != ESRCH;
	for (int i = 0; i < WATCH_IDS && tid[i] && !some; i++)
		some = !kill(tid[i], 0) || errno != ESRCH;
	return !some;
}

static bool poll(void *run)
{
	struct live_watch *w = run;
	uint64_t until = now_ns() - LATE_NS;

	if (now_ns() - w->placed_ns > PLACE_NS) {
		w->placed_ns = now_ns();
		stay_off(&w->view->run);
		rise_or_sink(w);
	}
	choice_look(w->choice, &w->view->run, now_ns());
	fetch_reports(w);
	read_until(w, until);
	watch_until(w->watch, until);
	take_reports(w, until);
	hotplug_look(&w->hotplug, false, NULL, NULL);
	return !watch_is_over(&w->options);
}

/* Writes the counts up to `now` to the view. */
static void count(struct live_watch *w, uint64_t now)
{
	struct view *v = w->view;
	uint32_t n = WATCH_LANES;

	v->run.duration_ns = now - w->begin_ns;
	v->run.recursion_misses = probes_recursion_misses(w->probes) - w->misses_before;
	while (n && !v->cpu[n - 1].comm[0])
		n--;
	for (uint32_t i = 0; i < n; i++)
		v->cpu[i].counts = *session_counts(w->session, i);
	watch_count_lost(v, lost(w) - w->lost_before, w->ended);
	v->cpu[0].waits_lost = 0;
	for (uint32_t i = 0; i < w->ncpus; i++)
		v->cpu[0].waits_lost += probes_state(w->probes, i)->own.waits_lost;
	v->run.reports_lost = 0;
	for (uint32_t i = 0; i < w->nreports; i++)
		v->run.reports_lost += reports_lost(w->reports[i]);
}

static void snapshot(void *run)
{
	count(run, now_ns());
}

static void waits_on(void *run, uint32_t tid, uint64_t since_ns)
{
	struct live_watch *w = run;

	watch_waits_on(w->watch, tid, since_ns, w->end_ns);
}

/* Notes whose virtual CPUs the threads are, and what KVM does to their counters. */
static void note_machines(struct live_watch *w)
{
	struct vcpu_clocks now = {0};

	vcpu_clocks_read(&now, KVM_FOLDER);
	vcpu_clocks_fill(&w->clocks, &now, "/proc", w->view);
	vcpu_clocks_free(&now);
}

static void end(void *run)
{
	struct live_watch *w = run;
	uint64_t end = now_ns();
	struct timespec nap = {0, 2 * LATE_NS};

	if (w->ended)
		return;
	w->ended = true;
	for (uint32_t i = 0; i < w->nreports; i++)
		reports_stop(w->reports[i]);
	hotplug_look(&w->hotplug, true, NULL, NULL);
	nanosleep(&nap, NULL);
	probes_gate(w->probes, false);
	choice_tell(w->choice, &w->view->run);
	steal_end(&w->steal);
	fetch_reports(w);
	read_until(w, end);
	for (int i = 0; i < LAST_REPORTS; i++) {
		take_reports(w, end);
		fetch_reports(w);
	}
	for (uint32_t i = 0; i < w->nreports; i++)
		reports_end(w->reports[i], end);
	for (uint32_t i = 0; i < w->ncpus; i++)
		if (probes_state(w->probes, i)->lost[LEVEL_THREAD] != w->thread_lost[i])
			watch_lost(w->watch, i);
	w->end_ns = end;
	w->view->run.waits_known = w->view->run.stops_known = true;
	waits_at_end(w->waits, w->rings, w->ncpus, end, waits_on, w);
	watch_finish(w->watch, end);
	for (uint32_t i = 0; i < WATCH_LANES; i++) {
		struct cpu *c = &w->view->cpu[i];

		c->ran_steal_known = steal_rise(&w->steal, &c->ran_on, &c->ran_steal_ns);
	}
	note_machines(w);
	reader_sink(&w->reader);
	session_finish(w->session);
	count(w, end);
}

const struct engine watch_engine = {
	.open = open_watch,
	.begin = begin,
	.poll = poll,
	.snapshot = snapshot,
	.end = end,
	.close = close_watch,
};
