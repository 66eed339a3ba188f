/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs on which each watched thread runs, and its waits that reach beyond the window. */
#include "model/watch_state.h"

/* Nobody could say which one of several threads in one lane moved. */
void watch_came(struct watch *w, const struct watched *c)
{
	struct thread *t = &w->thread[c->lane];
	struct cpu *run = &w->view->cpu[c->lane];
	struct place_row *p;

	cpus_add(&run->ran_on, c->number);
	if (!t->tid)
		places_free(&run->places);
	p = t->tid ? places_at(&run->places, c->number) : NULL;
	if (p) {
		p->stays++;
		p->moves += t->ran && t->last != c->number;
	}
	t->ran = true;
	t->last = c->number;
}

void watch_ran(struct watch *w, const struct watched *c)
{
	struct place_row *p =
		w->thread[c->lane].tid ? places_at(&w->view->cpu[c->lane].places, c->number) : NULL;

	if (p && c->known_ns > c->since_ns)
		p->ran_ns += c->known_ns - c->since_ns;
}

/* Nobody could say of several threads in one lane which one comes first. One that was found here,
 * and did not come, has not waited. */
void watch_came_first(struct watch *w, const struct record *r)
{
	uint32_t lane = watch_lane(w, r->id, r);
	const struct thread *t = &w->thread[lane];

	if (t->tid && !t->ran && !t->stays && r->start_ns == r->end_ns)
		w->view->cpu[lane].waits_before++;
}

void watch_waits_on(struct watch *w, uint32_t tid, uint64_t since, uint64_t end)
{
	struct run *run = &w->view->run;
	uint64_t ns = end > since ? end - since : 0;
	struct cpu *c;
	uint32_t i = 0;

	while (i < w->nthreads && w->thread[i].tid != tid)
		i++;
	if (i == WATCH_LANES)
		i = WATCH_LANES - 1;
	if (i == w->nthreads) {
		run->never_ran++;
		run->never_ran_ns = ns > run->never_ran_ns ? ns : run->never_ran_ns;
		return;
	}
	c = &w->view->cpu[i];
	c->waits_beyond++;
	c->waits_beyond_ns = ns > c->waits_beyond_ns ? ns : c->waits_beyond_ns;
}

bool watch_is_real_time(const struct thread *t, const struct record *r)
{
	return t->tid && r->prio >= 0 && r->prio < NORMAL_PRIO;
}

void watch_count_lost(struct view *v, uint64_t all, bool over)
{
	uint64_t of_hiccups = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		of_hiccups += v->cpu[i].counts.lost;
	v->run.records_lost = all > of_hiccups ? all : of_hiccups;
	if (over && v->ncpus)
		v->cpu[0].counts.lost += v->run.records_lost - of_hiccups;
}

uint32_t watch_lanes(const struct view *v)
{
	uint32_t n = v->ncpus;

	while (n && !v->cpu[n - 1].comm[0] && !v->cpu[n - 1].hiccups.count)
		n--;
	return n;
}

void watch_cut(struct view *v)
{
	view_cut(v, watch_lanes(v));
}
