/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a live run: moves this process out of the way, attaches the probes, starts the samplers,
 * learns each CPU's loop and edges. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/say.h"
#include "base/units.h"
#include "collect/target.h"
#include "collect/affinity.h"
#include "base/policy.h"
#include "model/summary.h"
#include "collect/counter.h"
#include "turn.h"

#define SETTLE_NS (100 * NSEC_PER_MSEC) /* after attaching: the kernel still has to tidy up */

/* CPUs of the samplers: those that are not pinned are only numbered by the targets. */
static const struct cpus *where_they_run(const struct collect_options *o)
{
	return o->roams ? o->roams : &o->targets;
}

/* Gives this process a higher priority than real-time samplers where these have all CPUs: else
 * nobody could stop them. */
static int rise_above(const struct collect_options *o)
{
	struct sched_param param = {.sched_priority = o->priority + 1};
	struct cpus both = *where_they_run(o);

	cpus_and(&both, &o->housekeeping);
	if (!policy_is_real_time(o->policy) || cpus_empty(&both))
		return 0;
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		return complain("culprit cannot get a higher priority than its samplers: %s; that "
				"needs CAP_SYS_NICE (run with sudo)",
				strerror(errno));
	return 0;
}

static void learn_record(void *ctx, uint32_t i, const struct record *r)
{
	(void)i;
	join_record(ctx, r);
}

/* Learns the bounds of this CPU's edges, from the interruptions that its sampler made for
 * itself. */
static int learn_edges(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct sampler_shm *l = t->shm;
	struct cpu *run = &c->view->cpu[i];
	struct edge_bounds all = {UINT64_MAX / 4, UINT64_MAX / 4};
	struct sources scratch;
	struct edge_times times;
	struct join *join;
	uint64_t head = atomic_load(&l->head);

	if (sources_init(&scratch))
		return complain("out of memory");
	join = join_new(&(struct join_options){.sources = &scratch, .bounds = all});
	if (!join || edge_times_init(&times)) {
		join_free(join);
		sources_free(&scratch);
		return complain("out of memory");
	}
	t->window = (struct begin){.cursors = l->start_cursors};
	look_at_records(t);
	while (read_records(t, &(struct taker){learn_record, join, i}, l->end_cursors, true))
		;
	for (uint64_t k = head > SHM_SLOTS ? head - SHM_SLOTS : 0; k < head; k++) {
		struct hiccup h;

		convert(t, &l->ring[k % SHM_SLOTS], &h);
		edge_times_add(&times, join_hiccup(join, &h));
	}
	atomic_store(&l->tail, head);
	t->head = t->tail = head;
	run->bounds = edge_times_bounds(&times, c->view->host.hypervisor[0]);
	run->edge_seen = edge_times_seen(&times);
	join_free(join);
	edge_times_free(&times);
	sources_free(&scratch);
	return 0;
}

/* Names a workload's series, with the thresholds that were learned: lines of hiccups need both
 * before the values are known. */
static int name_series(struct cpu *run, const struct series *from)
{
	while (run->nseries < SERIES_MAX && from[run->nseries].name[0])
		run->nseries++;
	run->series = calloc(run->nseries ? run->nseries : 1, sizeof(*run->series));
	if (!run->series) {
		run->nseries = 0;
		return complain("out of memory");
	}
	for (uint32_t k = 0; k < run->nseries; k++) {
		run->series[k] = (struct series){
			.fine = from[k].fine, .threshold_ns = from[k].threshold_ns, .open = true};
		memcpy(run->series[k].name, from[k].name, SERIES_NAME);
	}
	return 0;
}

/* Results of this CPU's sampler; those of another one when this one was given up. */
static const struct sampler_shm *learned_by(const struct collect *c, uint32_t i)
{
	for (uint32_t k = 0; !c->target[i].pid && k < c->ntargets; k++)
		if (c->target[k].pid)
			return c->target[k].shm;
	return c->target[i].shm;
}

/* Says that a threshold is below what any sampler can tell from its own work, and what holds in its
 * place. */
static void tell_raised(const struct collect *c, uint64_t given_ns)
{
	char given[32], least[32];

	for (uint32_t i = 0; given_ns && !c->workload && i < c->ntargets; i++) {
		const struct sampler_shm *l = c->target[i].shm;

		if (!c->target[i].pid || l->threshold <= threshold_ticks(given_ns, l->ns_per_tick))
			continue;
		say("a threshold of %s is too short: the sampler's own loop would be hiccups; on "
		    "CPU %u they begin at %s",
		    format_ns(given_ns, given, sizeof(given)), c->view->cpu[i].number,
		    format_ns(c->view->cpu[i].threshold_ns, least, sizeof(least)));
		return;
	}
}

/* Takes what the samplers have learned. */
static int learn(struct collect *c, uint64_t given_ns)
{
	if (samplers_await(c, SAMPLER_LEARNED, LEARN_MAX_NS))
		return -1;
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];
		const struct sampler_shm *l = learned_by(c, i);

		t->ns_per_tick = t->shm->ns_per_tick = l->ns_per_tick;
		if ((t->pid && learn_edges(c, i)) ||
		    (t->samples && name_series(&c->view->cpu[i], samples_series(t->samples))))
			return -1;
		c->view->cpu[i].sampler_pid = t->tid;
		c->view->cpu[i].threshold_ns = l->threshold * t->ns_per_tick + 0.5;
		c->view->cpu[i].shorts =
			(struct short_gaps){.known = !c->workload && l->short_from < l->threshold,
					    .from_ns = l->short_from * t->ns_per_tick + 0.5};
	}
	tell_raised(c, given_ns);
	return 0;
}

static int open_session(struct collect *c)
{
	c->session = session_new(
		&(struct session_options){.view = c->view,
					  .names = c->names ? live_names(c->names) : NULL,
					  .tap = c->hooks.tap,
					  .intervals = c->want_intervals,
					  .spans = c->hooks.spans});
	return c->session ? 0 : complain("out of memory");
}

static void describe_run(struct view *v, const struct collect_options *o)
{
	snprintf(v->run.sampler, sizeof(v->run.sampler), "%s",
		 o->workload ? o->workload->name
		 : o->clock  ? "clock"
			     : COUNTER_NAME);
	v->run.windows = o->workload;
	if (o->workload)
		snprintf(v->run.rest, sizeof(v->run.rest), "%s", o->workload->rest);
	v->run.real_time = policy_is_real_time(o->policy);
	policy_format(o->policy, o->priority, &o->deadline, v->run.priority,
		      sizeof(v->run.priority));
	v->run.threshold_auto = !o->threshold_ns;
	v->run.traced = o->trace;
	v->run.cpus = *where_they_run(o);
	v->run.housekeeping = o->housekeeping;
}

static int name_targets(struct collect *c, const struct collect_options *o)
{
	c->ntargets = cpus_count(&o->targets);
	c->target = calloc(c->ntargets, sizeof(*c->target));
	c->cpus = calloc(c->ntargets, sizeof(*c->cpus));
	if (!c->target || !c->cpus)
		return complain("out of memory");
	for (int cpu = cpus_next(&o->targets, 0), i = 0; cpu >= 0;
	     cpu = cpus_next(&o->targets, cpu + 1), i++)
		c->target[i] = (struct target){.cpu = c->cpus[i] = cpu, .index = i};
	return 0;
}

/* Prepares what a workload's samplers share and inherit. */
static int prepare_workload(struct collect *c, const struct collect_options *o)
{
	struct workload_props *p = &c->props;
	const struct workload *w = o->workload;

	c->workload = w;
	if (!w)
		return 0;
	p->n = c->ntargets;
	p->cpu = c->cpus;
	if (w->shared_bytes) {
		p->shared = mmap(NULL, w->shared_bytes, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (p->shared == MAP_FAILED) {
			p->shared = NULL;
			return complain("out of memory");
		}
	}
	return w->prepare ? w->prepare(p, o->workload_options) : 0;
}

/* Pinned threads with SCHED_DEADLINE need partitions, before they start. */
static int make_partitions(struct collect *c, const struct collect_options *o)
{
	if (o->policy != SCHED_DEADLINE)
		return 0;
	c->partitions =
		partitions_make(&o->targets, &c->view->host.online, &o->deadline, c->hooks.stop);
	return c->partitions ? 0 : -1;
}

/* Threads that make the CPUs stop run on another one; those of some others alone tell nothing. */
static bool wants_turns(const struct collect *c, const struct collect_options *o)
{
	const struct cpus *online = &c->view->host.online;

	return o->trace && !o->workload && !o->roams && c->ntargets > 1 &&
	       cpus_count(online) > c->ntargets && cpus_next(online, TURN_CPUS) < 0;
}

/* Forks the samplers before anything is loaded, and before there are summaries: they inherit the
 * shared memory, no file descriptor that holds a program, and as little else as can be. */
static int start_samplers(struct collect *c, const struct collect_options *o)
{
	if (o->trace) {
		c->probes = probes_new(&o->targets, NULL,
				       o->user_stacks ? PROBES_FOR_USERS : PROBES_FOR_RECORDS);
		if (!c->probes)
			return -1;
	}
	for (uint32_t i = 0; i < c->ntargets; i++)
		c->target[i].state = c->probes ? probes_state(c->probes, i) : NULL;
	return samplers_start(c, o);
}

static int load_probes(struct collect *c, const struct collect_options *o)
{
	if (!c->probes)
		return 0;
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (!(c->target[i].rings = rings_new(c->target[i].state)))
			return complain("out of memory");
	if (wants_turns(c, o))
		probes_want_turns(c->probes);
	return probes_load(c->probes, o->osnoise, o->workload ? o->workload->sleeper : SLEEPER_NONE,
			   NULL);
}

/* Behind the opening of the gate. */
static int open_turns(struct collect *c, const struct collect_options *o)
{
	if (!wants_turns(c, o))
		return 0;
	c->turns = turns_new(c->probes, &o->targets, now_ns());
	c->view->suspects.looked = c->turns;
	c->view->suspects.of_cpus = c->ntargets;
	return c->turns ? 0
			: complain("cannot read who runs on the other CPUs: %s", strerror(errno));
}

static int attach_probes(struct collect *c, const struct collect_options *o)
{
	if (!c->probes)
		return 0;
	if (probes_attach(c->probes))
		return -1;
	probes_not_observed(c->probes, c->view);
	probes_gate(c->probes, true);
	if (open_turns(c, o))
		return -1;
	if (!c->workload || c->workload->sleeper != SLEEPER_KERNEL)
		return 0;
	return probes_tick(c->probes) || stay_on(&c->view->run.housekeeping) ? -1 : 0;
}

/* Late, because our own programs are symbols, too. */
static int read_names(struct collect *c, const struct collect_options *o)
{
	if (!c->probes)
		return 0;
	c->names = live_names_new(c->probes, o->by, o->commands);
	if (!c->names)
		return complain("out of memory");
	if (o->user_stacks && live_names_want_user(c->names, o->debug_path))
		return -1;
	c->view->run.symbols_hidden = live_names_hidden(c->names);
	return 0;
}

/* The samplers measure their loops while probes are loaded; they learn their edges while symbols
 * are read and the kernel tidies up after attaching. */
static int start_all(struct collect *c, const struct collect_options *o)
{
	uint64_t settled;

	if (name_targets(c, o) || stay_on(&o->housekeeping) || rise_above(o) ||
	    make_partitions(c, o) || prepare_workload(c, o) || start_samplers(c, o))
		return -1;
	if (view_cpus(c->view, c->cpus, c->ntargets))
		return complain("out of memory");
	if (load_probes(c, o) || samplers_await(c, SAMPLER_READY, LEARN_MAX_NS))
		return -1;
	samplers_name(c);
	if (attach_probes(c, o))
		return -1;
	settled = c->probes ? now_ns() + SETTLE_NS : 0;
	samplers_tell(c, SAMPLER_LEARN);
	if (read_names(c, o) || learn(c, o->threshold_ns) || open_session(c))
		return -1;
	if (now_ns() < settled)
		nap(settled - now_ns());
	return *c->hooks.stop ? -1 : 0;
}

void *collect_open(const void *options, const struct engine_hooks *hooks, struct view *view)
{
	const struct collect_options *o = options;
	struct collect *c = calloc(1, sizeof(*c));

	if (!c) {
		complain("out of memory");
		return NULL;
	}
	c->view = view;
	c->hooks = *hooks;
	c->counter = !o->clock;
	c->roams = o->roams;
	c->want_intervals = o->intervals;
	describe_run(view, o);
	if (!start_all(c, o))
		return c;
	collect_close(c);
	return NULL;
}
