#include "model/watch.h"

#include <stdlib.h>
#include <string.h>

#define HISTORY   8192 /* records kept of a CPU; a power of two */
#define STAYS     64   /* of a thread: where it ran and waited lately */
#define JOINED_NS 1000 /* interrupts so close upon each other are one window: an interrupt and the softirqs behind it */

struct cpu {
	unsigned number;
	struct record *history; /* [HISTORY] */
	uint64_t head;          /* records that have come */
	int lane;               /* of the watched thread that runs here; -1: none */
	uint64_t since_ns;
	bool open; /* interrupts came upon it: */
	uint64_t open_start, open_end;
};

/* A thread was on a CPU, running or waiting. */
struct stay {
	uint32_t cpu;
	bool ran;
	uint64_t start_ns, end_ns;
};

struct thread {
	uint32_t tid; /* 0: several */
	uint16_t seq[LEVELS];
	bool own; /* it reports its windows itself */
	struct stay stay[STAYS];
	uint64_t stays;
};

struct watch {
	struct view *view;
	struct session *session;
	struct cpu *cpu;
	uint32_t ncpus;
	struct thread thread[WATCH_LANES];
	uint32_t nthreads;
	void (*hear)(void *ctx, uint32_t lane, const struct account *a);
	void *ctx;
};

struct watch *watch_new(struct view *view, struct session *session, const unsigned *cpus, uint32_t ncpus)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->view = view;
	w->session = session;
	w->cpu = calloc(ncpus, sizeof(*w->cpu));
	for (; w->cpu && w->ncpus < ncpus; w->ncpus++) {
		struct cpu *c = &w->cpu[w->ncpus];

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

void watch_hear(struct watch *w, void (*hear)(void *ctx, uint32_t lane, const struct account *a), void *ctx)
{
	w->hear = hear;
	w->ctx = ctx;
}

/* ---- lanes ---- */

/* r: NULL when no record tells its name. */
static uint32_t lane_of(struct watch *w, uint32_t tid, const struct record *r)
{
	uint32_t i = 0;
	struct cpu_run *run;

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
		strcpy(run->comm, "(others)");
		return i;
	}
	if (r) {
		memcpy(run->comm, r->name, sizeof(run->comm) - 1); /* it may change: the newest holds */
		run->kernel_thread = r->flags & RECORD_KTHREAD;
	}
	return i;
}

static void note_stay(struct watch *w, uint32_t lane, uint32_t cpu, bool ran, uint64_t start, uint64_t end)
{
	struct thread *t = &w->thread[lane];

	t->stay[t->stays++ % STAYS] = (struct stay){cpu, ran, start, end};
	if (end > start)
		w->view->cpu[lane].observed_ns += end - start;
}

/* ---- windows ---- */

/* What of a CPU's records explains a thread's time there: all that ran, if it waited; what came upon it, if it ran. */
static bool matters(const struct record *r, const struct thread *t, bool ran)
{
	if (r->kind == RECORD_WATCH)
		return false;
	if (r->kind == RECORD_THREAD || (r->kind == RECORD_MARK && r->mark == MARK_THREAD))
		return !ran && r->id != t->tid;
	if (r->kind == RECORD_MARK && r->level == LEVEL_THREAD)
		return !ran;
	if (r->kind == RECORD_SYSCALL || r->kind == RECORD_FAULT) /* its own */
		return ran;
	return true;
}

static void feed(struct watch *w, uint32_t lane, const struct cpu *c, bool ran, uint64_t start, uint64_t end)
{
	struct thread *t = &w->thread[lane];
	uint64_t i = c->head > HISTORY ? c->head - HISTORY : 0;

	/* The newest that ended before: from behind, as windows are at the end mostly. */
	for (uint64_t k = c->head; k > i; k--)
		if (c->history[(k - 1) % HISTORY].end_ns + JOINED_NS < start) {
			i = k;
			break;
		}
	for (; i < c->head; i++) {
		struct record r = c->history[i % HISTORY];

		if (r.end_ns < start || r.end_ns > end || !matters(&r, t, ran))
			continue;
		if (r.end_ns == start && r.start_ns < start)
			continue; /* it only reaches up to there */
		if (r.start_ns >= end)
			continue; /* an instant of what comes next, which may be a window of its own */
		r.seq = ++t->seq[r.level];
		session_feed(w->session, &(struct event){.type = EVENT_RECORD, .index = lane, .record = &r});
	}
}

/* The time that a thread lost on one CPU. */
static void lose(struct watch *w, uint32_t lane, const struct cpu *c, bool ran, uint64_t start, uint64_t end)
{
	struct thread *t = &w->thread[lane];
	struct hiccup h = {.start_ns = start, .end_ns = end};
	const struct account *a;

	if (t->own || end <= start || end - start < w->view->cpu[lane].threshold_ns)
		return;
	memcpy(h.before, t->seq, sizeof(h.before));
	feed(w, lane, c, ran, start, end);
	memcpy(h.after, t->seq, sizeof(h.after));
	a = session_feed(w->session, &(struct event){.type = EVENT_HICCUP, .index = lane, .hiccup = &h});
	if (w->hear)
		w->hear(w->ctx, lane, a);
}

static void close_window(struct watch *w, struct cpu *c)
{
	if (c->open && c->lane >= 0)
		lose(w, c->lane, c, true, c->open_start, c->open_end);
	c->open = false;
}

static void interrupted(struct watch *w, struct cpu *c, const struct record *r)
{
	uint64_t start = r->start_ns > c->since_ns ? r->start_ns : c->since_ns;

	if (r->flags & RECORD_INNER)
		return;
	if (c->open && start > c->open_end + JOINED_NS)
		close_window(w, c);
	if (!c->open || start < c->open_start)
		c->open_start = start;
	c->open = true;
	c->open_end = r->end_ns;
}

/* ---- threads come and go ---- */

static struct cpu *cpu_of(struct watch *w, uint64_t number, struct cpu *otherwise)
{
	for (uint32_t i = 0; i < w->ncpus; i++)
		if (w->cpu[i].number == number)
			return &w->cpu[i];
	return otherwise;
}

static void comes(struct watch *w, struct cpu *c, const struct record *r)
{
	struct cpu *waited = cpu_of(w, r->arg, c);

	close_window(w, c);
	c->lane = lane_of(w, r->id, r);
	c->since_ns = r->end_ns;
	if (r->mark == WATCH_IN)
		return;
	note_stay(w, c->lane, waited - w->cpu, false, r->start_ns, r->end_ns);
	lose(w, c->lane, waited, false, r->start_ns, r->end_ns);
}

static void goes(struct watch *w, struct cpu *c, const struct record *r)
{
	uint32_t lane = lane_of(w, r->id, r);
	uint64_t since = r->start_ns < r->end_ns ? r->start_ns : 0;

	if (c->lane != (int)lane) { /* it ran since before the window, and no interrupt told */
		c->lane = lane;
		c->since_ns = since ? since : w->view->run.started_ns;
	}
	if (!since)
		since = c->since_ns;
	close_window(w, c);
	note_stay(w, lane, c - w->cpu, true, since, r->end_ns);
	c->lane = -1;
}

static bool comes_upon(const struct record *r)
{
	return r->kind == RECORD_IRQ || r->kind == RECORD_VECTOR || r->kind == RECORD_SOFTIRQ ||
	       r->kind == RECORD_NMI || r->kind == RECORD_SYSCALL ||
	       (r->kind == RECORD_FAULT && r->end_ns > r->start_ns);
}

void watch_record(struct watch *w, uint32_t index, const struct record *r)
{
	struct cpu *c = &w->cpu[index];

	if (r->level >= LEVELS)
		return;
	if (r->kind != RECORD_WATCH) {
		c->history[c->head++ % HISTORY] = *r;
		if (c->lane >= 0 && comes_upon(r))
			interrupted(w, c, r);
	} else if (r->mark == WATCH_OUT) {
		goes(w, c, r);
	} else {
		comes(w, c, r);
	}
}

void watch_until(struct watch *w, uint64_t ns)
{
	for (uint32_t i = 0; i < w->ncpus; i++)
		if (w->cpu[i].open && w->cpu[i].open_end + JOINED_NS < ns)
			close_window(w, &w->cpu[i]);
}

/* Its records come from wherever it was, one CPU after the other; where it runs still is no stay yet. */
void watch_window(struct watch *w, uint32_t tid, uint64_t start, uint64_t end)
{
	uint32_t lane = lane_of(w, tid, NULL);
	struct thread *t = &w->thread[lane];
	struct hiccup h = {.start_ns = start, .end_ns = end};
	const struct account *a;

	t->own = true;
	if (end <= start)
		return;
	memcpy(h.before, t->seq, sizeof(h.before));
	for (uint64_t i = t->stays > STAYS ? t->stays - STAYS : 0; i < t->stays; i++) {
		const struct stay *s = &t->stay[i % STAYS];
		uint64_t from = s->start_ns > start ? s->start_ns : start, to = s->end_ns < end ? s->end_ns : end;

		if (from < to)
			feed(w, lane, &w->cpu[s->cpu], s->ran, from, to);
	}
	for (uint32_t i = 0; i < w->ncpus; i++)
		if (w->cpu[i].lane == (int)lane && w->cpu[i].since_ns < end)
			feed(w, lane, &w->cpu[i], true, w->cpu[i].since_ns > start ? w->cpu[i].since_ns : start, end);
	memcpy(h.after, t->seq, sizeof(h.after));
	a = session_feed(w->session, &(struct event){.type = EVENT_HICCUP, .index = lane, .hiccup = &h});
	if (w->hear)
		w->hear(w->ctx, lane, a);
}

void watch_finish(struct watch *w, uint64_t end_ns)
{
	for (uint32_t i = 0; i < w->ncpus; i++) {
		struct cpu *c = &w->cpu[i];

		close_window(w, c);
		if (c->lane >= 0)
			note_stay(w, c->lane, i, true, c->since_ns, end_ns);
		c->lane = -1;
	}
}

void watch_cut(struct view *v)
{
	uint32_t n = v->summary.ncpus;

	while (n && !v->cpu[n - 1].comm[0] && !v->summary.cpu[n - 1].hiccups.count)
		n--;
	view_cut(v, n);
}
