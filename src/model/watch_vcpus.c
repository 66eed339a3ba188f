/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that are virtual CPUs: when they are out of their guests. */
#include <string.h>

#include "model/exit.h"
#include "model/through.h"
#include "model/watch_state.h"

#define EXIT_HALTED_ID EXIT_ID(EXIT_VMX, 12) /* any that halts */

/* A window of its own: what lies between two is the guest's time. A virtual CPU may not be switched
 * out for hours: where a lost record has ended its stay, the next exit tells that it is here. */
void watch_is_out(struct watch *w, struct watched *c, const struct record *r)
{
	if (c->lane < 0 && r->arg && r->flags & RECORD_UPON)
		watch_begin_stay(w, c, r->arg, NULL, r->start_ns);
	if (c->lane < 0)
		return;
	if (c->open && c->open_end <= r->start_ns)
		watch_close_window(w, c);
	watch_interrupted(w, c, r);
	watch_close_window(w, c);
	w->view->cpu[c->lane].is_vcpu = true;
	if (r->flags & RECORD_PART) {
		w->thread[c->lane].left_ns = r->end_ns;
		w->thread[c->lane].left_id = r->id;
		w->thread[c->lane].left_halted = false;
	}
}

void watch_was_out(struct watch *w, struct watched *c, const struct record *r)
{
	uint64_t start = r->start_ns > c->since_ns ? r->start_ns : c->since_ns;
	struct cpu *run;

	if (c->lane < 0 || c->tid != r->id)
		return;
	run = &w->view->cpu[c->lane];
	run->is_vcpu = true;
	if (r->mark == WATCH_UNENDED) {
		watch_known_until(w, c, r->end_ns);
		run->unended++;
		return;
	}
	watch_close_window(w, c);
	watch_known_until(w, c, r->end_ns);
	run->halts += r->arg;
	if (r->end_ns > start) {
		run->halted_ns += r->end_ns - start;
		run->halted_here_ns += r->end_ns - start;
	}
	if (r->flags & RECORD_PART) {
		w->thread[c->lane].left_ns = r->end_ns;
		w->thread[c->lane].left_id = EXIT_HALTED_ID;
		w->thread[c->lane].left_halted = true;
	}
}

/* The guest was not halted, as far as the exit tells: it lost the sleep. */
static void lose_sleep(struct watch *w, const struct watched *c, uint64_t start, uint64_t end)
{
	struct thread *t = &w->thread[c->lane];
	struct hiccup h = {.start_ns = start, .end_ns = end};

	watch_count_time(w, c->lane, start, end);
	w->view->cpu[c->lane].asleep_ns += end - start;
	if (!watch_loses(w, c->lane, start, end))
		return;
	memcpy(h.before, t->seq, sizeof(h.before));
	watch_feed_asleep(w, c->lane, t->left_id, start, end);
	watch_account(w, c->lane,
		      &(struct spot){.cpu = c->number, .tid = c->tid, .window = WINDOW_ASLEEP}, &h);
}

/* Nobody tells when something came for the guest meanwhile: none of it is called a loss. */
static void poll_without_cpu(struct watch *w, const struct watched *c, uint64_t start, uint64_t end)
{
	struct cpu *run = &w->view->cpu[c->lane];

	watch_count_time(w, c->lane, start, end);
	run->halted_ns += end - start;
	run->halted_here_ns += end - start;
}

static void end_stop(struct cpu *run, struct thread *t, uint64_t ns)
{
	if (t->stopped_ns && ns > t->stopped_ns)
		run->stopped_ns += ns - t->stopped_ns;
	t->stopped_ns = 0;
}

void watch_stopped_until(struct watch *w, uint64_t ns)
{
	for (uint32_t i = 0; i < WATCH_LANES; i++)
		if (w->thread[i].tid)
			end_stop(&w->view->cpu[i], &w->thread[i], ns);
}

void watch_leaves(struct watch *w, const struct watched *c, const struct record *r)
{
	struct thread *t = &w->thread[c->lane];

	t->stopped_ns = r->flags & RECORD_PART ? r->end_ns : 0;
	w->view->cpu[c->lane].stops += t->stopped_ns != 0;
	if (t->left_ns != r->end_ns)
		t->left_ns = 0;
	if (!(r->flags & RECORD_PART) || !through_is_vcpu(w->view->cpu[c->lane].comm) ||
	    (t->left_ns && (t->left_halted || EXIT_HALTS(t->left_id))))
		return;
	t->left_ns = r->end_ns;
	t->left_id = EXIT_STOPPED;
	t->left_halted = false;
}

bool watch_slept(struct watch *w, const struct watched *c, const struct record *r)
{
	struct thread *t = &w->thread[c->lane];
	uint64_t left = t->left_ns;

	t->left_ns = 0;
	end_stop(&w->view->cpu[c->lane], t, r->start_ns);
	if (!t->tid || !left)
		return false;
	if (r->mark == WATCH_IN_PREEMPTED) {
		if (!t->left_halted || left < t->upto_ns || r->end_ns <= left)
			return false;
		poll_without_cpu(w, c, left, r->end_ns);
		return true;
	}
	if (r->start_ns <= left)
		return false;
	if (EXIT_HALTS(t->left_id))
		w->view->cpu[c->lane].halted_ns += r->start_ns - left;
	else if (!exit_may_halt(t->left_id) && left >= t->upto_ns)
		lose_sleep(w, c, left, r->start_ns);
	return false;
}
