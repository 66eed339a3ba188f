/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a target CPU's window: by the user's wish, or because its sampler has died, failed or
 * left its CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "collect/host.h"
#include "collect/counter.h"
#include "collect/target.h"

#define AFTERMATH_NS (10 * NSEC_PER_SEC)

void window_count(struct collect *c, uint32_t i, uint64_t end_ns)
{
	struct target *t = &c->target[i];
	const struct sampler_shm *l = t->shm;
	struct cpu *run = &c->view->cpu[i];

	raise_to(&run->observed_ns, t->earlier_ns + end_ns - l->start_ns);
	run->counts = *session_counts(c->session, i);
	if (t->state) {
		run->unpaired = t->state->unpaired - t->unpaired_before;
		run->khz_changes = t->khz_read; /* as far as they have been looked at */
		run->khz_until_ns = t->khz_until_ns;
		run->khz_min = t->state->khz_min;
		run->khz_max = t->state->khz_max;
	}
	run->hiccups_lost = l->lost;
	raise_to(&run->hiccups_lost_ns, l->lost_ticks * t->ns_per_tick);
	raise_to(&run->bookkeeping_ns, l->busy_ticks * t->ns_per_tick);
	run->shorts.count = l->short_count;
	raise_to(&run->shorts.total_ns, l->short_ticks * t->ns_per_tick);
	/* Begin and end come from two clocks; a sampler that was killed has counted short gaps
	 * after the last that was heard of it. */
	if (!c->view->run.windows)
		raise_to(&run->observed_ns, run->hiccups.sum + run->hiccups_lost_ns +
						    (run->shorts.known ? run->shorts.total_ns : 0));
}

/* Takes over how values went over time. The whole window tells the clocks' rate best. A sampler
 * that was killed may leave a course half merged. */
static void keep_course(struct series *to, const struct course *from, const struct target *t)
{
	const struct sampler_shm *l = t->shm;
	double whole = (double)(l->end_ns - l->start_ns) / (l->end_anchor - l->start_anchor);
	/* another one: the machine was suspended meanwhile */
	bool same = fabs(whole - t->ns_per_tick) < t->ns_per_tick / DRIFT;
	double rate =
		same && l->end_ns > l->start_ns + 100 * NSEC_PER_MSEC ? whole : t->ns_per_tick;
	int64_t since = (int64_t)(from->start - l->start_anchor) * rate;

	course_copy(&to->course, from, l->start_ns + since, rate);
	if (!course_fits(&to->course, &to->hist))
		course_free(&to->course);
}

/* Copies a workload's samples out of the shared memory. */
static void keep_series(struct cpu *run, const struct target *t)
{
	const struct series *from = samples_series(t->samples);
	uint32_t n = 0;

	while (n < SERIES_MAX && from[n].name[0])
		n++;
	free(run->series); /* the names */
	run->nseries = 0;
	run->series = calloc(n ? n : 1, sizeof(*run->series));
	for (; run->series && run->nseries < n; run->nseries++) {
		struct series *to = &run->series[run->nseries];
		struct hist hist;

		if (hist_init(&hist, SERIES_BITS))
			return;
		hist_merge(&hist, &from[run->nseries].hist);
		*to = from[run->nseries];
		to->hist = hist;
		keep_course(to, &from[run->nseries].course, t);
	}
}

void window_conclude(struct collect *c, uint32_t i, uint64_t end_ns)
{
	struct target *t = &c->target[i];
	struct sampler_shm *l = t->shm;
	struct cpu *run = &c->view->cpu[i];
	/* figures that the sampler tells only at its own end */
	bool done = atomic_load_explicit(&l->phase, memory_order_acquire) == SAMPLER_DONE;

	t->live = false;
	t->left_ns = end_ns;
	window_count(c, i, end_ns);
	run->preempted_known = t->preempted_known && !run->offline.times &&
			       host_preempted(t->tid, &run->preempted);
	run->preempted -= run->preempted_known ? t->preempted_before : 0;
	run->smi_known = done && l->smi_known;
	run->smi_count = l->smi_count;
	run->unread = l->unread;
	run->loop_count = done ? l->loop_count : 0;
	if (run->loop_count) {
		run->loop_min_ns = l->loop_min * t->ns_per_tick;
		run->loop_mean_ns = (double)(l->earlier_ticks + l->end - l->start - l->away_ticks) *
				    t->ns_per_tick / l->loop_count;
	}
	for (int k = 0; k < LOOP_LENGTHS; k++) {
		run->loop_above_ns[k] = (1 << (LOOP_CLASS_FIRST + k)) * t->ns_per_tick;
		run->loop_above[k] = l->loop_above[k];
	}
	if (t->samples)
		keep_series(run, t);
	/* the kernel has counted on while it was offline, and came back */
	if (t->closure && !run->offline.times && closure_ended(t->closure) &&
	    closure_still(t->closure, i))
		closure_compare(t->closure, i, run, live_irq_actions, c->names);
	if (c->counter)
		c->view->host.tsc_khz = 1e6 / t->ns_per_tick + 0.5;
}

/* A CPU that is online is not active at once, and the kernel puts cpusets in order somewhat later:
 * both may move its sampler away once more. */
static bool is_aftermath(const struct offline *o)
{
	return o->times && now_ns() - o->to_ns < AFTERMATH_NS;
}

const char *window_why_ended(struct collect *c, uint32_t i, bool asked)
{
	const struct target *t = &c->target[i];

	if (c->view->cpu[i].ended)
		return c->view->cpu[i].ended;
	if (t->shm->error)
		return view_text(c->view, t->shm->what);
	if (!t->pid)
		return "its sampler was killed";
	if (!t->shm->moved && (asked || t->shm->finished))
		return NULL;
	if (is_aftermath(&c->view->cpu[i].offline))
		return WENT_OFFLINE;
	return host_is_online(t->cpu) ? "its sampler was moved to another CPU (by a cpuset, "
					"taskset or hotplug)"
				      : WENT_OFFLINE;
}

bool window_may_return(const struct collect *c, uint32_t i)
{
	const struct target *t = &c->target[i];
	const char *ended = c->view->cpu[i].ended;

	return !t->live && t->pid && ended && !strcmp(ended, WENT_OFFLINE) && !c->workload &&
	       !c->roams;
}

/* Tells the sampler to go on. What it has learned holds: it is the same CPU. */
static void call(struct target *t)
{
	struct sampler_shm *l = t->shm;

	atomic_store(&l->started, 0);
	atomic_store(&l->begin_ns, 0);
	atomic_store(&l->phase, SAMPLER_MEASURE);
	t->called = true;
}

/* Goes on with the CPU's window, from when its sampler has begun again. */
static void go_on(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct cpu *run = &c->view->cpu[i];
	struct event start = {.type = EVENT_START, .index = i};

	offline_add(&run->offline, t->left_ns, t->shm->start_ns);
	t->earlier_ns = run->observed_ns;
	if (t->state) /* the CPU's own end and begin are not in the window */
		t->unpaired_before = t->state->unpaired - run->unpaired;
	t->window = (struct begin){.cursors = t->shm->start_cursors};
	split_cursors(t->shm->start_cursors, start.cursor);
	session_feed(c->session, &start);
	/* the counter may have begun anew with the CPU */
	if (!anchors_hold(t, t->shm->start_anchor, t->shm->start_ns, 0))
		new_anchor(t, t->shm->start_anchor, t->shm->start_ns);
	t->last_ns = t->shm->start_ns;
	run->ended = NULL;
	t->called = false;
	t->live = true;
}

void window_follow(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];

	if (!window_may_return(c, i) || sampler_gone(c, t))
		return;
	if (!t->called && host_is_online(t->cpu))
		call(t);
	else if (t->called && atomic_load_explicit(&t->shm->started, memory_order_acquire))
		go_on(c, i);
}

void window_check(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct cpu *run = &c->view->cpu[i];

	if (!sampler_gone(c, t) &&
	    atomic_load_explicit(&t->shm->phase, memory_order_acquire) != SAMPLER_DONE)
		return;
	read_target(c, i);
	run->ended = window_why_ended(c, i, false);
	if (t->tail == t->head)
		window_conclude(c, i,
				t->pid ? to_ns(t, t->shm->end_anchor, t->shm->end_ns, t->shm->end)
				       : t->last_ns);
}

void window_abandon(struct collect *c)
{
	bool failed = false;

	for (uint32_t i = 0; i < c->ntargets; i++)
		failed |= c->view->cpu[i].ended != NULL;
	for (uint32_t i = 0; failed && i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		if (!t->live || t->pid <= 0)
			continue;
		sampler_kill(c, t);
		if (!c->view->cpu[i].ended)
			c->view->cpu[i].ended = "the one that it worked with had ended";
		read_target(c, i);
		/* the sampler was there until now: its partner ended first */
		t->last_ns = now_ns();
		window_check(c, i);
	}
}
