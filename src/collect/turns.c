/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/turns.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/units.h"
#include "collect/host.h"
#include "turn.h"

/* By then all gaps that end in a cell have been read. */
#define LATER_NS (100 * NSEC_PER_MSEC)
/* Stops that follow each other faster are not all judged: to look at one takes a while. */
#define SPARE_NS (50 * NSEC_PER_MSEC)

struct turns_reader {
	const struct turns *cpu; /* rings of n CPUs */
	uint32_t n;
	struct cpus targets;
	uint64_t since_ns;  /* the rings are written from here on */
	uint64_t taken;     /* number of the next stop to take */
	uint64_t judged_ns; /* begin of the last one that was looked at */
	struct turn copy[TURNS];
	struct presence *found; /* those of the stop in hand */
	uint32_t nfound, room;
};

uint32_t turns_cpus(void)
{
	struct cpus possible;
	unsigned n;

	host_possible(&possible);
	n = cpus_end(&possible);
	return n < TURN_CPUS ? n : TURN_CPUS;
}

struct turns_reader *turns_new(const struct probes *p, const struct cpus *targets,
			       uint64_t since_ns)
{
	struct turns_reader *t = calloc(1, sizeof(*t));
	void *at;

	if (!t)
		return NULL;
	t->n = turns_cpus();
	t->targets = *targets;
	t->since_ns = since_ns;
	at = mmap(NULL, t->n * sizeof(struct turns), PROT_READ, MAP_SHARED,
		  probes_map(p, PROBES_TURNS), 0);
	t->cpu = at;
	if (at != MAP_FAILED)
		return t;
	free(t);
	return NULL;
}

void turns_free(struct turns_reader *t)
{
	if (!t)
		return;
	munmap((void *)t->cpu, t->n * sizeof(struct turns));
	free(t->found);
	free(t);
}

/* Copies a CPU's turns from the newest that begins at from_ns or earlier, or the first there was,
 * to the newest; returns how many, the newest first, or -1: some are written over. */
static int copy_turns(struct turns_reader *t, uint32_t cpu, uint64_t from_ns)
{
	const struct turns *r = &t->cpu[cpu];
	uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE), at = head, now;
	bool found = false;
	int n = 0;

	while (at && !found && n < TURNS - 1) {
		struct turn *to = &t->copy[n++];

		memcpy(to, &r->turn[--at % TURNS], sizeof(*to));
		found = to->kind == TURN_BEGINS && to->at_ns <= from_ns;
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	now = __atomic_load_n(&r->head, __ATOMIC_RELAXED);
	return (found || !at) && at + TURNS > now ? n : -1;
}

/* False: out of memory. */
static bool add_presence(struct turns_reader *t, const struct presence *p)
{
	if (t->nfound == t->room) {
		uint32_t room = t->room ? 2 * t->room : 1024;
		struct presence *more = reallocarray(t->found, room, sizeof(*more));

		if (!more)
			return false;
		t->found = more;
		t->room = room;
	}
	t->found[t->nfound++] = *p;
	return true;
}

/* Takes who ran on a CPU from from_ns to to_ns, which is past. A call counts that was seen during
 * the stop, or behind it as long as nothing else was. False: not known. */
static bool take_cpu(struct turns_reader *t, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
		     const struct stop *stop)
{
	struct presence p = {.end_ns = to_ns, .cpu = cpu};
	int n = copy_turns(t, cpu, from_ns);

	for (int i = 0; i < n; i++) {
		const struct turn *x = &t->copy[i];

		if (x->kind == TURN_CALL) {
			/* the first in the stop counts, and the newest come first */
			if (x->at_ns >= stop->start_ns && x->at_ns < p.end_ns) {
				p.call = x->call + 1;
				p.call_ns = x->at_ns;
				p.tid = x->tid;
			}
			continue;
		}
		p.start_ns = x->at_ns;
		if (x->tid != p.tid)
			p.call = 0;
		p.tid = x->tid;
		p.kernel_thread = x->kernel_thread;
		memcpy(p.comm, x->comm, sizeof(p.comm));
		if (x->tid && p.start_ns < p.end_ns && !add_presence(t, &p))
			return false;
		p = (struct presence){.end_ns = x->at_ns < to_ns ? x->at_ns : to_ns, .cpu = cpu};
	}
	return n >= 0;
}

/* True when no other stop is known to touch the cell, and none can. */
static bool is_alone(const struct coincidences *all, uint64_t number, uint64_t from_ns,
		     uint64_t to_ns)
{
	uint64_t oldest = all->n > COINCIDENCES ? all->n - COINCIDENCES : 0;

	if (oldest && all->ring[oldest % COINCIDENCES].start_ns >= from_ns)
		return false; /* one that is kept no more may */
	for (uint64_t i = oldest; i < all->n; i++) {
		const struct coincidence *x = &all->ring[i % COINCIDENCES];

		if (i != number && x->start_ns < to_ns && x->end_ns > from_ns)
			return false;
	}
	return true;
}

/* The end of what has to be known: a stop may last longer than the cell in which it begins. */
static uint64_t end_of(const struct stop *s, uint64_t from_ns)
{
	uint64_t behind = s->end_ns + suspects_tolerance(s), end = from_ns + s->cell_ns;

	return behind > end ? behind : end;
}

static void take_stop(struct turns_reader *t, const struct coincidences *all, struct stop *stop,
		      uint64_t from_ns, struct suspects *s)
{
	bool known = stop->cell_ns && from_ns >= t->since_ns &&
		     stop->start_ns >= t->judged_ns + SPARE_NS &&
		     is_alone(all, t->taken, from_ns, from_ns + stop->cell_ns);
	uint64_t to_ns = end_of(stop, from_ns);

	t->nfound = 0;
	if (known)
		t->judged_ns = stop->start_ns;
	for (uint32_t cpu = 0; cpu < t->n && known; cpu++)
		if (!cpus_has(&t->targets, cpu))
			known = take_cpu(t, cpu, from_ns, to_ns, stop);
	if (!known)
		stop->cell_ns = 0;
	suspects_add(s, stop, t->found, known ? t->nfound : 0);
}

void turns_take(struct turns_reader *t, const struct coincidences *all, uint64_t now_ns,
		uint64_t end_ns, struct suspects *s)
{
	for (; t->taken < all->n; t->taken++) {
		const struct coincidence *x = &all->ring[t->taken % COINCIDENCES];
		struct stop stop = {.start_ns = x->start_ns, .end_ns = x->end_ns, .cpus = x->cpus};
		uint64_t before, from_ns;

		if (all->n - t->taken > COINCIDENCES) { /* more at once than are kept */
			s->stops++;
			continue;
		}
		before = t->taken && all->n - t->taken < COINCIDENCES
				 ? all->ring[(t->taken - 1) % COINCIDENCES].start_ns
				 : x->start_ns;
		stop.apart_ns = x->start_ns > before ? x->start_ns - before : 0;
		from_ns = suspects_cell(&stop);
		if (!end_ns && end_of(&stop, from_ns) + LATER_NS > now_ns)
			return;
		if (end_ns && end_of(&stop, from_ns) > end_ns)
			stop.cell_ns = 0;
		take_stop(t, all, &stop, from_ns, s);
	}
}
