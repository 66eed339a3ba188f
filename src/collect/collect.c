/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A live run's engine: what begins and ends with its window, and what is counted in between.
 * start.c starts the run, samplers.c its samplers, window.c opens and closes the window, read.c
 * reads it, window_end.c ends it for one CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "collect/affinity.h"
#include "collect/host.h"
#include "collect/steal.h"
#include "collect/target.h"
#include "collect/counter.h"

#define STEAL_READ_NS (200 * NSEC_PER_MSEC)

struct steal_turn {
	struct collect *c;
	uint32_t next; /* target: both they and the lines ascend */
};

static void take_steal(void *ctx, unsigned cpu, uint64_t ns)
{
	struct steal_turn *t = ctx;
	const struct collect *c = t->c;

	while (t->next < c->ntargets && c->target[t->next].cpu < cpu)
		t->next++;
	if (t->next < c->ntargets && c->target[t->next].cpu == cpu)
		session_feed(c->session,
			     &(struct event){.type = EVENT_STEAL, .index = t->next, .ns = ns});
}

static void read_steal(struct collect *c)
{
	c->steal_read_ns = now_ns();
	if (!c->roams) /* the targets are no CPUs */
		steal_read(take_steal, &(struct steal_turn){.c = c});
}

/* Notes the start of the run: the first of its CPUs starts it. */
static void note_start(struct collect *c)
{
	struct run *run = &c->view->run;
	uint64_t now;

	run->started_ns = c->target[0].shm->start_ns;
	for (uint32_t i = 1; i < c->ntargets; i++)
		if (c->target[i].shm->start_ns < run->started_ns)
			run->started_ns = c->target[i].shm->start_ns;
	for (uint32_t i = 0; i < c->ntargets; i++)
		c->view->cpu[i].late_ns = c->target[i].shm->start_ns - run->started_ns;
	now = now_ns();
	format_iso_time(clock_ns(CLOCK_REALTIME) - (now - run->started_ns), run->started);
}

static int begin(void *run)
{
	struct collect *c = run;

	if (c->probes)
		reader_rise(&c->reader);
	if (window_open(c))
		return -1;
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];
		struct event start = {.type = EVENT_START, .index = i};

		t->window = (struct begin){.cursors = t->shm->start_cursors};
		split_cursors(t->shm->start_cursors, start.cursor);
		session_feed(c->session, &start);
		t->last_ns = t->shm->start_ns;
		t->live = true;
		if (c->counter) /* by the learned rate; at the end the whole window tells it */
			c->view->host.tsc_khz = 1e6 / t->shm->ns_per_tick + 0.5;
		if (t->state) {
			t->unpaired_before = t->state->unpaired;
			t->state->khz_changes = t->state->khz_min = t->state->khz_max = 0;
			t->khz_read = 0;
			t->khz_until_ns = KHZ_ALWAYS;
		}
	}
	read_steal(c);
	if (c->probes)
		c->misses_before = probes_recursion_misses(c->probes);
	read_all(c); /* the calls above took a while */
	note_start(c);
	c->began = true;
	return 0;
}

/* Counts the whole run. */
static void count_all(struct collect *c)
{
	if (c->probes)
		c->view->run.recursion_misses =
			probes_recursion_misses(c->probes) - c->misses_before;
	for (uint32_t i = 0; i < c->ntargets; i++)
		raise_to(&c->view->run.duration_ns, cpu_end_ns(&c->view->cpu[i]));
}

static struct intervals *intervals(void *run, uint32_t index)
{
	const struct collect *c = run;

	return session_intervals(c->session, index);
}

static void snapshot(void *run)
{
	struct collect *c = run;
	uint64_t now = now_ns();

	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live)
			window_count(c, i, now);
	count_all(c);
}

static bool poll(void *run)
{
	struct collect *c = run;
	uint32_t live = 0;

	for (uint32_t i = 0; i < c->ntargets; i++) {
		if (!c->target[i].live)
			continue;
		read_target(c, i);
		window_check(c, i);
	}
	read_busy(c);
	if (c->turns)
		turns_take(c->turns, session_coincidences(c->session), now_ns(), 0,
			   &c->view->suspects);
	if (c->workload && c->workload->partners)
		window_abandon(c);
	if (now_ns() - c->steal_read_ns > STEAL_READ_NS) {
		read_steal(c);
		stay_off(&c->view->run);
		for (uint32_t i = 0; i < c->ntargets; i++)
			window_follow(c, i);
	}
	for (uint32_t i = 0; i < c->ntargets; i++)
		live += c->target[i].live || window_may_return(c, i);
	return live;
}

static void end(void *run)
{
	struct collect *c = run;
	uint64_t closed_ns;

	if (!c->began || c->ended)
		return;
	c->ended = true;
	closed_ns = now_ns(); /* the gate is open until later */
	window_close(c);
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		if (!t->live)
			continue;
		if (atomic_load_explicit(&t->shm->phase, memory_order_acquire) == SAMPLER_DONE) {
			c->view->cpu[i].ended = window_why_ended(c, i, true);
			window_conclude(c, i,
					to_ns(t, t->shm->end_anchor, t->shm->end_ns, t->shm->end));
		} else {
			if (!c->view->cpu[i].ended)
				c->view->cpu[i].ended = t->pid ? "its sampler did not come back to "
								 "stop"
							       : window_why_ended(c, i, true);
			window_conclude(c, i, t->last_ns);
		}
	}
	read_steal(c);
	if (c->turns)
		turns_take(c->turns, session_coincidences(c->session), now_ns(), closed_ns,
			   &c->view->suspects);
	live_names_settle(c->names);
	session_finish(c->session);
	count_all(c);
}

int collect_close(void *run)
{
	struct collect *c = run;
	int err;

	for (uint32_t i = 0; i < c->ntargets; i++)
		sampler_kill(c, &c->target[i]);
	reader_sink(&c->reader);
	err = partitions_end(c->partitions);
	probes_close(c->probes);
	for (uint32_t i = 0; i < c->ntargets; i++) {
		sampler_shm_free(c->target[i].shm);
		rings_free(c->target[i].rings);
		samples_free(c->target[i].samples, c->workload);
	}
	turns_free(c->turns);
	closure_free(c->closure);
	live_names_free(c->names);
	session_free(c->session);
	for (uint32_t i = 0; i < c->props.nfds; i++)
		close(c->props.fd[i]);
	if (c->props.shared)
		munmap(c->props.shared, c->workload->shared_bytes);
	free(c->cpus);
	free(c->target);
	free(c);
	return err;
}

const struct engine collect_engine = {
	.open = collect_open,
	.begin = begin,
	.poll = poll,
	.intervals = intervals,
	.snapshot = snapshot,
	.end = end,
	.close = collect_close,
};
