/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs on which each watched thread runs. */
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
