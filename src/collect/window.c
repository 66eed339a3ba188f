/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the window on all CPUs at once, and closes it. The kernel's counters are read just outside
 * it. */
#include "base/say.h"
#include "base/units.h"
#include "collect/counter.h"
#include "collect/host.h"
#include "collect/target.h"

#define GATHER_NS  NSEC_PER_MSEC        /* for the samplers to come to the barrier */
#define BARRIER_NS (NSEC_PER_MSEC / 2)  /* for the news that it opens */
#define STILL_NS   (20 * NSEC_PER_MSEC) /* for interrupts to end that closure has to count */

/* Drops the records that have come so far; closure may count them. */
static void drop_records(struct collect *c)
{
	for (uint32_t i = 0; i < c->ntargets; i++) {
		look_at_records(&c->target[i]);
		while (read_records(&c->target[i], NULL, 0, false))
			;
	}
}

/* The first reading of the kernel's counters, while all samplers wait at the barrier. */
static int begin_closure(struct collect *c)
{
	if (!c->probes)
		return 0;
	c->closure = closure_new(c->cpus, c->ntargets);
	if (!c->closure)
		return complain("out of memory");
	for (uint32_t i = 0; i < c->ntargets; i++)
		closure_sampler(c->closure, i, c->target[i].tid, c->target[i].state);
	drop_records(c);
	closure_read(c->closure, READING_BEGIN);
	for (uint32_t i = 0; i < c->ntargets; i++)
		c->target[i].closure = c->closure;
	return 0;
}

/* A sampler that died before its window opened has a window without time, as one that lost its CPU
 * has. True when it is dead. */
static bool died(struct collect *c, struct target *t, uint64_t begin)
{
	if (!sampler_gone(c, t))
		return false;
	t->shm->start_ns = begin;
	if (t->state)
		t->shm->start_cursors = *(const volatile cursors_t *)t->state->cursor;
	return true;
}

/* Waits until a sampler's window is open or it is dead; false: something keeps it from running. */
static bool await_start(struct collect *c, struct target *t, uint64_t begin)
{
	while (!atomic_load_explicit(&t->shm->started, memory_order_acquire)) {
		if (died(c, t, begin))
			return true;
		if (now_ns() > begin + LEARN_MAX_NS)
			return false;
		nap(NAP_NS / 4);
	}
	return true;
}

int window_open(struct collect *c)
{
	char name[CALLED_MAX], relief[HOLDER_TEXT];
	uint64_t begin;

	for (uint32_t i = 0; i < c->ntargets; i++) {
		atomic_store(&c->target[i].shm->begin_ns, UINT64_MAX);
		sampler_tell(c->target[i].shm, SAMPLER_MEASURE);
	}
	nap(GATHER_NS);
	if (begin_closure(c))
		return -1;
	for (uint32_t i = 0; i < c->ntargets; i++)
		c->target[i].preempted_known =
			host_preempted(c->target[i].tid, &c->target[i].preempted_before);
	drop_records(c); /* room for the window */
	begin = now_ns() + BARRIER_NS;
	for (uint32_t i = 0; i < c->ntargets; i++)
		atomic_store(&c->target[i].shm->begin_ns, begin);
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (!await_start(c, &c->target[i], begin))
			return complain(
				"%s could not run, as on a CPU that other threads keep busy: %s",
				sampler_called(c, &c->target[i], "the sampler of ", name),
				samplers_relief(c, &c->target[i], relief));
	return 0;
}

/* Waits until a sampler has stopped. */
static void await_stop(struct collect *c, uint32_t i, uint64_t deadline)
{
	struct target *t = &c->target[i];

	while (t->pid &&
	       atomic_load_explicit(&t->shm->phase, memory_order_acquire) != SAMPLER_DONE &&
	       now_ns() < deadline) {
		if (sampler_gone(c, t))
			break;
		read_all(c); /* a thread that keeps it from stopping goes on being recorded */
		nap(NAP_NS / 4);
	}
}

/* The second reading of the kernel's counters, and the records that belong to it. */
static void end_closure(struct collect *c)
{
	uint64_t deadline;

	if (!c->closure)
		return;
	closure_read(c->closure, READING_END);
	deadline = now_ns() + STILL_NS;
	for (uint32_t i = 0; i < c->ntargets; i++)
		while (c->target[i].live && !closure_still(c->closure, i) && now_ns() < deadline) {
			read_all(c);
			nap(NAP_NS / 4);
		}
}

void window_close(struct collect *c)
{
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live) {
			atomic_store(&c->target[i].shm->stop, 1);
			atomic_store(&c->target[i].shm->limit, 0);
		}
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live)
			await_stop(c, i, now_ns() + LEARN_MAX_NS);
	end_closure(c);
	if (c->probes)
		probes_gate(c->probes, false);
	read_all(c);
	reader_sink(&c->reader);
}
