/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "model/watch_state.h"

/* True for a CPU's record that explains a thread's time there: anything that ran, if the thread
 * waited; what came upon it, if it ran. */
static bool matters(const struct record *r, const struct thread *t, bool ran)
{
	if (r->kind == RECORD_WATCH)
		return false;
	if (r->kind == RECORD_THREAD || (r->kind == RECORD_MARK && r->mark == MARK_THREAD))
		return !ran && r->id != t->tid;
	if (r->kind == RECORD_MARK && r->level == LEVEL_THREAD)
		return !ran;
	if (r->kind == RECORD_SYSCALL || r->kind == RECORD_FAULT ||
	    r->kind == RECORD_EXIT) /* the thread's own */
		return ran;
	return true;
}

/* Feeding a record takes as long as looking at so many (measured). */
#define FED 32

static void feed_record(struct watch *w, uint32_t lane, struct record *r)
{
	r->seq = ++w->thread[lane].seq[r->level];
	w->work += FED;
	session_feed(w->session, &(struct event){.type = EVENT_RECORD, .index = lane, .record = r});
}

/* See enum whose. A process may have its threads in several cgroups. */
static bool is_foreign(uint64_t owner, uint64_t other)
{
	uint32_t a = OWNER_CGROUP(owner), b = OWNER_CGROUP(other);

	if (OWNER_PROCESS(owner) && OWNER_PROCESS(owner) == OWNER_PROCESS(other))
		return false;
	if (a && b && (a != b || a != OWNER_ROOT))
		return a != b;
	return OWNER_PROCESS(owner) != OWNER_PROCESS(other);
}

/* Marks a thread's record by whose it is to the thread that waits, which recordings hold. */
static void mark_owner(struct record *r, uint64_t owner)
{
	if (r->kind != RECORD_THREAD && !(r->kind == RECORD_MARK && r->mark == MARK_THREAD))
		return;
	if (is_foreign(owner, r->owner))
		r->flags |= RECORD_FOREIGN;
}

/* Follows which other thread has the CPU, as far as the records tell: its MARK_THREAD; kind
 * RECORD_WATCH: not known. */
static void note_thread(struct record *open, const struct record *r)
{
	if (r->kind == RECORD_THREAD || (r->kind == RECORD_MARK && r->mark == MARK_THREAD))
		*open = *r;
	if (r->kind == RECORD_THREAD || (r->level == LEVEL_THREAD && r->seq))
		open->kind = RECORD_WATCH;
}

/* Marks a thread that was switched to although one with a real-time priority was ready. Its
 * priority then counts, and when it leaves: what it is in between it may owe to a lock that others
 * want. */
static void mark_let_in(struct record *r, const struct record *open, bool real_time)
{
	if (!real_time || r->prio < NORMAL_PRIO)
		return;
	if ((r->kind == RECORD_MARK && r->mark == MARK_THREAD) ||
	    (r->kind == RECORD_THREAD && open->kind == RECORD_MARK && open->id == r->id &&
	     open->flags & RECORD_LET_IN))
		r->flags |= RECORD_LET_IN;
}

/* Ends the thread that had the CPU when the waiting one was moved away: the probes, with nobody
 * left who waits there, do not tell its end, nor what it does later: a worker's next mark does. */
static void end_open(struct watch *w, uint32_t lane, const struct watched *c, struct record *open,
		     uint64_t end)
{
	if (open->kind != RECORD_MARK || c->level[LEVEL_THREAD].missing || open->start_ns >= end)
		return;
	open->kind = RECORD_THREAD;
	open->mark = 0;
	open->flags &= RECORD_KTHREAD | RECORD_FOREIGN | RECORD_LET_IN;
	open->arg = OWNER_PROCESS(open->owner);
	open->end_ns = end;
	feed_record(w, lane, open);
}

/* True for a mark of the interrupt that ends there: who sent it, or what it ran, is told last. */
static bool ends_there(const struct record *r, uint64_t end)
{
	return r->kind == RECORD_MARK && r->level == LEVEL_IRQ && r->end_ns == end;
}

/* Feeds a thread's time on a CPU, from start to end, which is a part of that stay. */
static void feed(struct watch *w, uint32_t lane, const struct stay *stay, uint64_t start,
		 uint64_t end)
{
	struct record open = {.kind = RECORD_WATCH};
	const struct watched *c = &w->cpu[stay->cpu];
	struct thread *t = &w->thread[lane];
	bool ran = stay->ran;
	uint64_t i = c->head > HISTORY ? c->head - HISTORY : 0;

	/* Searches backwards for the newest that ended before, because windows are mostly at the
	 * end. */
	for (uint64_t k = c->head; k > i; k--)
		if (c->history[(k - 1) % HISTORY].end_ns + JOINED_NS < start) {
			i = k;
			break;
		}
	w->work += c->head - i;
	/* The history begins within the window: what came before is missing, however many. */
	if (i && i == c->head - HISTORY && c->history[i % HISTORY].end_ns > start)
		t->seq[c->history[i % HISTORY].level]++;
	for (; i < c->head; i++) {
		const struct record *was = &c->history[i % HISTORY];
		struct record r;

		if (was->end_ns < start)
			continue;
		t->seq[was->level] += was->seq;
		if (was->start_ns >= end &&
		    !ends_there(was, end)) { /* belongs to what comes next, */
			if (!ran)
				note_thread(&open, was);
			continue;
		}
		r = *was;
		if (was->start_ns >= end) /* nothing that begins at the end is in a window */
			r.start_ns = r.end_ns = end - 1;
		if (!ran) {
			mark_let_in(&r, &open, stay->real_time);
			note_thread(&open, &r);
		}
		if (!matters(&r, t, ran))
			continue;
		if (r.end_ns == start && r.start_ns < start)
			continue; /* only reaches up to the window */
		if (ran && r.end_ns > end)
			continue; /* belongs there, too: it may be a window of its own */
		if (r.end_ns > end)
			r.end_ns = end; /* the interval went on when the thread waited elsewhere */
		if (r.kind == RECORD_EXIT)
			r.arg = 0;
		mark_owner(&r, stay->owner);
		feed_record(w, lane, &r);
	}
	mark_owner(&open, stay->owner);
	if (stay->moved && open.id != t->tid)
		end_open(w, lane, c, &open, end);
}

static void feed_throttled(struct watch *w, uint32_t lane, uint32_t tid, uint64_t start,
			   uint64_t end)
{
	struct record r = {.start_ns = start,
			   .end_ns = end,
			   .id = tid,
			   .kind = RECORD_THROTTLED,
			   .level = LEVEL_THREAD};

	feed_record(w, lane, &r);
}

void watch_feed_asleep(struct watch *w, uint32_t lane, uint32_t id, uint64_t start, uint64_t end)
{
	struct record r = {.start_ns = start,
			   .end_ns = end,
			   .id = id,
			   .kind = RECORD_EXIT,
			   .level = LEVEL_THREAD,
			   .mark = EXIT_ASLEEP};

	feed_record(w, lane, &r);
}

const struct account *watch_account(struct watch *w, uint32_t lane, struct spot *spot,
				    struct hiccup *h)
{
	struct thread *t = &w->thread[lane];
	const struct cpu *c = &w->view->cpu[lane];
	const struct account *a;

	memcpy(h->after, t->seq, sizeof(h->after));
	if (t->tid)
		memcpy(spot->comm, c->comm, sizeof(spot->comm));
	if (spot->comm[0])
		spot->thread = c->kernel_thread ? SPOT_THREAD_KERNEL : SPOT_THREAD_USER;
	session_feed(w->session, &(struct event){.type = EVENT_WHERE, .index = lane, .spot = spot});
	a = session_feed(w->session,
			 &(struct event){.type = EVENT_HICCUP, .index = lane, .hiccup = h});
	if (w->hear)
		w->hear(w->ctx, lane, a);
	return a;
}

bool watch_loses(struct watch *w, uint32_t lane, uint64_t start, uint64_t end)
{
	if (end > start)
		w->view->cpu[lane].taken_ns += end - start;
	return !w->thread[lane].own && end > start &&
	       end - start >= w->view->cpu[lane].threshold_ns;
}

void watch_feed_stays(struct watch *w, uint32_t lane, uint32_t tid, bool waits_only,
		      struct hiccup *h)
{
	struct thread *t = &w->thread[lane];

	for (uint64_t i = t->stays > STAYS ? t->stays - STAYS : 0; i < t->stays; i++) {
		const struct stay *s = &t->stay[i % STAYS];
		uint64_t from = s->start_ns > h->start_ns ? s->start_ns : h->start_ns;
		uint64_t to = s->end_ns < h->end_ns ? s->end_ns : h->end_ns;

		if (from >= to || s->tid != tid || (waits_only && s->ran))
			continue;
		if (s->throttled)
			feed_throttled(w, lane, tid, from, to);
		else
			feed(w, lane, s, from, to);
	}
}

void watch_close_window(struct watch *w, struct watched *c)
{
	struct hiccup h = {.start_ns = c->open_start, .end_ns = c->open_end};

	if (!c->open)
		return;
	c->open = false;
	if (h.start_ns < c->told_ns)
		h.start_ns = c->told_ns;
	if (c->lane < 0 || h.end_ns > c->known_ns || !watch_loses(w, c->lane, h.start_ns, h.end_ns))
		return;
	memcpy(h.before, w->thread[c->lane].seq, sizeof(h.before));
	feed(w, c->lane, &(struct stay){.cpu = c - w->cpu, .ran = true}, h.start_ns, h.end_ns);
	watch_account(w, c->lane,
		      &(struct spot){.cpu = c->number, .tid = c->tid, .window = WINDOW_CAME_UPON},
		      &h);
	c->told_ns = h.end_ns;
}

static void note_report(struct cpu *run, const struct account *a)
{
	run->reported++;
	run->reported_ns += a->duration_ns;
	run->unseen_ns += a->outside_ns;
	if (a->outside_ns > run->unseen_max_ns)
		run->unseen_max_ns = a->outside_ns;
	run->unseen_whole += a->outside_ns == a->duration_ns;
}

uint32_t watch_process(const struct watch *w, uint32_t tid)
{
	for (uint32_t i = 0; tid && i < w->nthreads; i++)
		if (w->thread[i].tid == tid)
			return OWNER_PROCESS(w->thread[i].owner);
	return 0;
}

/* Takes its records from wherever it was, one CPU after the other; the place where it still runs is
 * no stay yet. */
uint64_t watch_window(struct watch *w, uint32_t process, uint32_t tid, uint64_t start, uint64_t end)
{
	uint32_t lane = watch_lane(w, tid, NULL);
	struct thread *t = &w->thread[lane];
	struct hiccup h = {.start_ns = start, .end_ns = end};
	struct spot spot = {.cpu = SPOT_UNKNOWN, .tid = tid, .window = WINDOW_REPORTED};

	w->work = 0;
	if (end <= start)
		return 0;
	t->own = t->tid != 0;
	if (!t->owner)
		t->owner = OWNER(process, 0);
	for (uint64_t i = t->stays > STAYS ? t->stays - STAYS : 0; i < t->stays; i++)
		if (t->stay[i % STAYS].tid == tid && t->stay[i % STAYS].start_ns < end)
			spot.cpu = w->cpu[t->stay[i % STAYS].cpu].number;
	memcpy(h.before, t->seq, sizeof(h.before));
	watch_feed_stays(w, lane, tid, false, &h);
	for (struct watched *c = w->cpu; c < w->cpu + w->ncpus; c++)
		if (c->lane == (int)lane && c->tid == tid && c->since_ns < end) {
			feed(w, lane, &(struct stay){.cpu = c - w->cpu, .ran = true},
			     c->since_ns > start ? c->since_ns : start, end);
			spot.cpu = c->number;
		}
	note_report(&w->view->cpu[lane], watch_account(w, lane, &spot, &h));
	return w->work;
}
