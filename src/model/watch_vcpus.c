/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that are virtual CPUs: when they are out of their guests. */
#include "model/watch_state.h"

/* A window of its own: what lies between two is the guest's time. */
void watch_is_out(struct watch *w, struct watched *c, const struct record *r)
{
	if (c->open && c->open_end <= r->start_ns)
		watch_close_window(w, c);
	watch_interrupted(w, c, r);
	watch_close_window(w, c);
	if (r->flags & RECORD_PART) {
		w->thread[c->lane].left_ns = r->end_ns;
		w->thread[c->lane].left_halted = EXIT_HALTS(r->id);
	}
}

void watch_halted(struct watch *w, struct watched *c, const struct record *r)
{
	uint64_t start = r->start_ns > c->since_ns ? r->start_ns : c->since_ns;
	struct cpu *run;

	if (c->lane < 0 || c->tid != r->id)
		return;
	watch_close_window(w, c);
	watch_known_until(w, c, r->end_ns);
	run = &w->view->cpu[c->lane];
	run->halts += r->arg;
	if (r->end_ns > start) {
		run->halted_ns += r->end_ns - start;
		run->halted_here_ns += r->end_ns - start;
	}
	if (r->flags & RECORD_PART) {
		w->thread[c->lane].left_ns = r->end_ns;
		w->thread[c->lane].left_halted = true;
	}
}

void watch_slept(struct watch *w, const struct watched *c, const struct record *r)
{
	struct thread *t = &w->thread[c->lane];
	uint64_t left = t->left_ns;

	t->left_ns = 0;
	if (!t->tid || !left || r->mark == WATCH_IN_PREEMPTED || r->start_ns <= left)
		return;
	if (t->left_halted)
		w->view->cpu[c->lane].halted_ns += r->start_ns - left;
}
