/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/watch.h"

#include <stdlib.h>
#include <string.h>

#include "model/watch_state.h"

struct watch *watch_new(struct view *view, struct session *session, const unsigned *cpus,
			uint32_t ncpus)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->view = view;
	w->session = session;
	w->cpu = calloc(ncpus, sizeof(*w->cpu));
	for (; w->cpu && w->ncpus < ncpus; w->ncpus++) {
		struct watched *c = &w->cpu[w->ncpus];

		c->number = cpus[w->ncpus];
		c->lane = -1;
		c->history = calloc(HISTORY, sizeof(*c->history));
		if (!c->history)
			break;
	}
	if (w->cpu && w->ncpus == ncpus)
		return w;
	watch_free(w);
	return NULL;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; w->cpu && i < w->ncpus; i++)
		free(w->cpu[i].history);
	free(w->cpu);
	free(w);
}

void watch_hear(struct watch *w, void (*hear)(void *ctx, uint32_t lane, const struct account *a),
		void *ctx)
{
	w->hear = hear;
	w->ctx = ctx;
}

/* ---- lanes ---- */

uint32_t watch_lane(struct watch *w, uint32_t tid, const struct record *r)
{
	uint32_t i = 0;
	struct cpu *run;

	while (i < w->nthreads && w->thread[i].tid != tid)
		i++;
	if (i == WATCH_LANES)
		i = WATCH_LANES - 1;
	run = &w->view->cpu[i];
	if (i == w->nthreads) {
		w->nthreads++;
		w->thread[i].tid = run->tid = tid;
	} else if (w->thread[i].tid != tid) {
		w->thread[i].tid = run->tid = 0;
		run->kernel_thread = false;
		strcpy(run->comm, OTHERS_NAME);
		w->thread[i].owner = r ? r->owner : 0;
		w->thread[i].own = false;
		return i;
	}
	if (r) {
		memcpy(run->comm, r->name,
		       sizeof(run->comm) - 1); /* the name may change: the newest one holds */
		run->kernel_thread = r->flags & RECORD_KTHREAD;
		w->thread[i].own &= OWNER_PROCESS(w->thread[i].owner) == OWNER_PROCESS(r->owner);
		w->thread[i].owner = r->owner;
	}
	return i;
}

static void note_stay(struct watch *w, uint32_t lane, const struct stay *s)
{
	struct thread *t = &w->thread[lane];

	if (s->end_ns <= s->start_ns)
		return;
	t->stay[t->stays % STAYS] = *s;
	t->stay[t->stays++ % STAYS].owner = t->owner;
}

/* Notes a wait on this CPU; the part of it in which a quota kept the thread from running is no wait
 * for whoever ran there. */
static void note_wait(struct watch *w, uint32_t lane, struct stay wait)
{
	struct thread *t = &w->thread[lane];
	uint64_t end = wait.end_ns, from = t->throttled.from_ns, until = t->throttled.until_ns;

	if (t->throttled.tid == wait.tid && from < end && until > wait.start_ns) {
		wait.end_ns = from;
		note_stay(w, lane, &wait);
		wait.throttled = true;
		wait.start_ns = from > wait.start_ns ? from : wait.start_ns;
		wait.end_ns = until < end ? until : end;
		note_stay(w, lane, &wait);
		wait.throttled = false;
		wait.start_ns = wait.end_ns;
		wait.end_ns = end;
	}
	t->throttled.tid = 0;
	note_stay(w, lane, &wait);
}

void watch_count_time(struct watch *w, uint32_t lane, uint64_t start, uint64_t end)
{
	struct thread *t = &w->thread[lane];

	if (end <= start)
		return;
	w->view->cpu[lane].observed_ns += end - start;
	if (t->tid && t->upto_ns < end)
		t->upto_ns = end;
}

/* Begin of a stay that is said to have begun at `start`: a lost record must not make two stays
 * overlap. */
static uint64_t stay_from(const struct watch *w, uint32_t lane, uint64_t start)
{
	const struct thread *t = &w->thread[lane];

	start = start > w->view->run.started_ns ? start : w->view->run.started_ns;
	return start > t->upto_ns ? start : t->upto_ns;
}

void watch_known_until(struct watch *w, struct watched *c, uint64_t ns)
{
	if (ns <= c->known_ns)
		return;
	watch_count_time(w, c->lane, c->known_ns, ns);
	c->known_ns = ns;
}

void watch_interrupted(struct watch *w, struct watched *c, const struct record *r)
{
	uint64_t start = r->start_ns > c->since_ns ? r->start_ns : c->since_ns;

	if (r->end_ns <= start)
		return;
	watch_known_until(w, c, r->end_ns);
	if (r->flags & RECORD_INNER)
		return;
	if (c->open && start > c->open_end + JOINED_NS)
		watch_close_window(w, c);
	if (!c->open || start < c->open_start)
		c->open_start = start;
	if (!c->open || r->end_ns > c->open_end)
		c->open_end = r->end_ns;
	c->open = true;
}

/* ---- threads come and go ---- */

static struct watched *cpu_of(struct watch *w, uint64_t number, struct watched *otherwise)
{
	for (uint32_t i = 0; i < w->ncpus; i++)
		if (w->cpu[i].number == number)
			return &w->cpu[i];
	return otherwise;
}

static void end_stay(struct watch *w, struct watched *c)
{
	if (c->lane < 0)
		return;
	watch_close_window(w, c);
	watch_ran(w, c);
	note_stay(w, c->lane,
		  &(struct stay){.cpu = c - w->cpu,
				 .tid = c->tid,
				 .ran = true,
				 .start_ns = c->since_ns,
				 .end_ns = c->known_ns});
	c->lane = -1;
}

/* Ends a stay whose end nobody saw: time after the last sign of the thread is not counted. */
static void leave_unseen(struct watch *w, struct watched *c)
{
	if (c->lane < 0)
		return;
	w->view->cpu[c->lane].unpaired++;
	end_stay(w, c);
}

void watch_begin_stay(struct watch *w, struct watched *c, uint32_t tid, const struct record *r,
		      uint64_t since)
{
	uint32_t lane = watch_lane(w, tid, r);

	/* a thread cannot be at two places */
	for (struct watched *x = w->cpu; x < w->cpu + w->ncpus; x++)
		if (x == c || x->tid == tid)
			leave_unseen(w, x);
	c->lane = lane;
	c->tid = tid;
	watch_came(w, c);
	c->since_ns = c->known_ns = c->told_ns = stay_from(w, lane, since);
}

/* Feeds the wait before a thread came, the last part of it on this CPU; its stays hold where it
 * waited before. */
static void waited(struct watch *w, struct watched *c, uint32_t lane, const struct record *r)
{
	struct hiccup h = {.start_ns = stay_from(w, lane, r->start_ns), .end_ns = r->end_ns};
	struct thread *t = &w->thread[lane];
	uint64_t here = h.start_ns;

	if (h.end_ns <= h.start_ns)
		return;
	for (uint64_t i = t->stays > STAYS ? t->stays - STAYS : 0; i < t->stays; i++) {
		const struct stay *s = &t->stay[i % STAYS];

		if (!s->ran && s->tid == r->id && s->end_ns > here && s->end_ns < h.end_ns)
			here = s->end_ns;
	}
	watch_count_time(w, lane, h.start_ns, h.end_ns);
	note_wait(w, lane,
		  (struct stay){.cpu = c - w->cpu,
				.tid = r->id,
				.real_time = t->real_time && watch_is_real_time(t, r),
				.start_ns = here,
				.end_ns = h.end_ns});
	if (!watch_loses(w, lane, h.start_ns, h.end_ns))
		return;
	memcpy(h.before, t->seq, sizeof(h.before));
	watch_feed_stays(w, lane, r->id, true, &h);
	watch_account(w, lane,
		      &(struct spot){.cpu = c->number,
				     .tid = r->id,
				     .window = r->mark == WATCH_IN_PREEMPTED ? WINDOW_PREEMPTED
									     : WINDOW_WOKEN},
		      &h);
}

static void throttled(struct watch *w, const struct record *r)
{
	struct thread *t = &w->thread[watch_lane(w, r->id, r)];

	t->throttled.tid = r->id;
	t->throttled.from_ns = r->start_ns;
	t->throttled.until_ns = r->arg;
}

static void moved(struct watch *w, struct watched *c, const struct record *r)
{
	uint32_t lane = watch_lane(w, r->id, r);

	note_stay(w, lane,
		  &(struct stay){.cpu = c - w->cpu,
				 .tid = r->id,
				 .moved = true,
				 .real_time = w->thread[lane].real_time &&
					      watch_is_real_time(&w->thread[lane], r),
				 .start_ns = r->start_ns,
				 .end_ns = r->end_ns});
}

static void comes(struct watch *w, struct watched *c, const struct record *r)
{
	if (r->mark == WATCH_IN) {
		watch_came_first(w, r);
		watch_begin_stay(w, c, r->id, r, r->start_ns);
		w->thread[c->lane].left_ns = 0;
		return;
	}
	watch_begin_stay(w, c, r->id, r, r->end_ns);
	if (r->end_ns <= w->view->run.started_ns)
		return; /* the gate is open before the window is */
	w->view->cpu[c->lane].woken += r->mark != WATCH_IN_PREEMPTED;
	w->view->cpu[c->lane].woken_due += r->mark == WATCH_IN_DUE;
	if (!watch_slept(w, c, r))
		waited(w, cpu_of(w, r->arg, c), c->lane, r);
	c->since_ns = c->known_ns = c->told_ns = stay_from(w, c->lane, r->end_ns);
}

/* Equal start and end: since when it has run is not known. */
static void goes(struct watch *w, struct watched *c, const struct record *r)
{
	if (c->lane < 0 || c->tid != r->id)
		watch_begin_stay(w, c, r->id, r, r->start_ns);
	w->thread[c->lane].real_time = watch_is_real_time(&w->thread[c->lane], r);
	watch_known_until(w, c, r->end_ns);
	watch_leaves(w, c, r);
	end_stay(w, c);
}

static bool comes_upon(const struct record *r)
{
	return record_is_interval(r) && r->kind != RECORD_THREAD;
}

/* True for a record that shows another thread on the CPU. An NMI does not: it may come in the
 * middle of a switch. */
static bool is_anothers(const struct watched *c, const struct record *r)
{
	if (r->kind == RECORD_THREAD || (r->kind == RECORD_MARK && r->mark == MARK_THREAD))
		return r->id != c->tid;
	return comes_upon(r) && !(r->flags & RECORD_UPON) && r->level != LEVEL_NMI;
}

/* False when a record is lost, which may have been the thread's leaving. */
static bool follows(struct watched *c, const struct record *r)
{
	bool some = c->level[r->level].some;
	uint32_t missing = some ? r->seq - c->level[r->level].seq - 1 : 0;

	c->level[r->level].some = true;
	c->level[r->level].seq = r->seq;
	c->level[r->level].missing += missing;
	return r->level != LEVEL_THREAD || (some && !missing);
}

static void remember(struct watched *c, const struct record *r)
{
	struct record *to = &c->history[c->head++ % HISTORY];

	*to = *r;
	to->seq = c->level[r->level].missing;
	c->level[r->level].missing = 0;
}

void watch_record(struct watch *w, uint32_t index, const struct record *r)
{
	struct watched *c = &w->cpu[index];

	if (r->level >= LEVELS)
		return;
	if (!follows(c, r))
		leave_unseen(w, c);
	if (r->kind != RECORD_WATCH) {
		remember(c, r);
		if (c->lane >= 0 && is_anothers(c, r))
			leave_unseen(w, c);
		else if (r->kind == RECORD_EXIT)
			watch_is_out(w, c, r);
		else if (c->lane >= 0 && comes_upon(r) && r->flags & RECORD_UPON)
			watch_interrupted(w, c, r);
	} else if (r->mark == WATCH_OUT) {
		goes(w, c, r);
	} else if (r->mark == WATCH_MOVED) {
		moved(w, cpu_of(w, r->arg, c), r);
	} else if (r->mark == WATCH_THROTTLED) {
		throttled(w, r);
	} else if (r->mark == WATCH_HALTED || r->mark == WATCH_UNENDED) {
		watch_was_out(w, c, r);
	} else if (r->mark != WATCH_GONE) {
		comes(w, c, r);
	} else if (c->tid == r->id) {
		leave_unseen(w, c);
	}
}

void watch_until(struct watch *w, uint64_t ns)
{
	for (uint32_t i = 0; i < w->ncpus; i++)
		if (w->cpu[i].open && w->cpu[i].open_end + JOINED_NS < ns)
			watch_close_window(w, &w->cpu[i]);
}

void watch_lost(struct watch *w, uint32_t index)
{
	leave_unseen(w, &w->cpu[index]);
}

void watch_finish(struct watch *w, uint64_t end_ns)
{
	watch_stopped_until(w, end_ns);
	for (uint32_t i = 0; i < w->ncpus; i++) {
		struct watched *c = &w->cpu[i];

		/* otherwise it may have left unseen once more */
		if (c->lane >= 0 && !w->view->cpu[c->lane].unpaired)
			watch_known_until(w, c, end_ns);
		end_stay(w, c);
	}
}
