#include "model/watch.h"

#include <stdlib.h>
#include <string.h>

#define HISTORY 8192 /* records kept of a CPU; a power of two */
#define STAYS   64   /* recent stays of a thread on CPUs, running and waiting */
/* Interrupts closer than this are one window: an interrupt and the softirqs behind it. */
#define JOINED_NS 1000

struct watched {
	unsigned number;
	struct record *history; /* [HISTORY] */
	uint64_t head;          /* records that have come */
	uint32_t seq;           /* of the newest record of LEVEL_THREAD */
	int lane;               /* of the watched thread that runs here; -1: none */
	uint32_t tid;           /* the thread's */
	uint64_t since_ns;      /* begin of its stay, */
	uint64_t known_ns;      /* time up to which it was certainly here, and is counted, */
	uint64_t told_ns;       /* end of its last window */
	bool open;              /* begun, with interrupts on top of it: */
	uint64_t open_start, open_end;
};

/* A thread's stay on a CPU, running or waiting. */
struct stay {
	uint32_t cpu, tid;
	bool ran;
	uint64_t start_ns, end_ns;
};

struct thread {
	uint32_t tid; /* 0: several */
	uint32_t seq[LEVELS];
	bool own;         /* reports its windows itself */
	uint64_t upto_ns; /* its stays reach to here: time is never counted twice */
	struct stay stay[STAYS];
	uint64_t stays;
};

struct watch {
	struct view *view;
	struct session *session;
	struct watched *cpu;
	uint32_t ncpus;
	struct thread thread[WATCH_LANES];
	uint32_t nthreads;
	void (*hear)(void *ctx, uint32_t lane, const struct account *a);
	void *ctx;
};

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

/* r: NULL without a record that tells its name. */
static uint32_t lane_of(struct watch *w, uint32_t tid, const struct record *r)
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
		strcpy(run->comm, "(others)");
		return i;
	}
	if (r) {
		memcpy(run->comm, r->name,
		       sizeof(run->comm) - 1); /* it may change: the newest name holds */
		run->kernel_thread = r->flags & RECORD_KTHREAD;
	}
	return i;
}

static void note_stay(struct watch *w, uint32_t lane, const struct stay *s)
{
	struct thread *t = &w->thread[lane];

	if (s->end_ns > s->start_ns)
		t->stay[t->stays++ % STAYS] = *s;
}

static void count_time(struct watch *w, uint32_t lane, uint64_t start, uint64_t end)
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

/* ---- windows ---- */

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
	if (r->kind == RECORD_SYSCALL || r->kind == RECORD_FAULT) /* the thread's own */
		return ran;
	return true;
}

static void feed(struct watch *w, uint32_t lane, const struct watched *c, bool ran, uint64_t start,
		 uint64_t end)
{
	struct thread *t = &w->thread[lane];
	uint64_t i = c->head > HISTORY ? c->head - HISTORY : 0;

	/* Searches backwards for the newest that ended before, because windows are mostly at the
	 * end. */
	for (uint64_t k = c->head; k > i; k--)
		if (c->history[(k - 1) % HISTORY].end_ns + JOINED_NS < start) {
			i = k;
			break;
		}
	for (; i < c->head; i++) {
		struct record r = c->history[i % HISTORY];

		if (r.end_ns < start || !matters(&r, t, ran))
			continue;
		if (r.end_ns == start && r.start_ns < start)
			continue; /* only reaches up to the window */
		if (r.start_ns >= end || (ran && r.end_ns > end))
			continue; /* belongs to what comes next, which may be a window of its own */
		if (r.end_ns > end)
			r.end_ns = end; /* it went on when the thread waited elsewhere */
		r.seq = ++t->seq[r.level];
		session_feed(w->session,
			     &(struct event){.type = EVENT_RECORD, .index = lane, .record = &r});
	}
}

static void account(struct watch *w, uint32_t lane, struct spot *spot, struct hiccup *h)
{
	struct thread *t = &w->thread[lane];
	const struct account *a;

	memcpy(h->after, t->seq, sizeof(h->after));
	if (t->tid)
		memcpy(spot->comm, w->view->cpu[lane].comm, sizeof(spot->comm));
	session_feed(w->session, &(struct event){.type = EVENT_WHERE, .index = lane, .spot = spot});
	a = session_feed(w->session,
			 &(struct event){.type = EVENT_HICCUP, .index = lane, .hiccup = h});
	if (w->hear)
		w->hear(w->ctx, lane, a);
}

static bool is_loss(const struct watch *w, uint32_t lane, uint64_t start, uint64_t end)
{
	return !w->thread[lane].own && end > start &&
	       end - start >= w->view->cpu[lane].threshold_ns;
}

/* Feeds the part of [start, end] that the thread spent on any CPU. */
static void feed_stays(struct watch *w, uint32_t lane, uint32_t tid, bool waits_only,
		       struct hiccup *h)
{
	struct thread *t = &w->thread[lane];

	for (uint64_t i = t->stays > STAYS ? t->stays - STAYS : 0; i < t->stays; i++) {
		const struct stay *s = &t->stay[i % STAYS];
		uint64_t from = s->start_ns > h->start_ns ? s->start_ns : h->start_ns;
		uint64_t to = s->end_ns < h->end_ns ? s->end_ns : h->end_ns;

		if (from < to && s->tid == tid && !(waits_only && s->ran))
			feed(w, lane, &w->cpu[s->cpu], s->ran, from, to);
	}
}

static void close_window(struct watch *w, struct watched *c)
{
	struct hiccup h = {.start_ns = c->open_start, .end_ns = c->open_end};

	if (!c->open)
		return;
	c->open = false;
	if (h.start_ns < c->told_ns)
		h.start_ns = c->told_ns;
	if (c->lane < 0 || h.end_ns > c->known_ns || !is_loss(w, c->lane, h.start_ns, h.end_ns))
		return;
	memcpy(h.before, w->thread[c->lane].seq, sizeof(h.before));
	feed(w, c->lane, c, true, h.start_ns, h.end_ns);
	account(w, c->lane, &(struct spot){c->number, c->tid, ""}, &h);
	c->told_ns = h.end_ns;
}

/* Notes that the thread was here until then. */
static void known_until(struct watch *w, struct watched *c, uint64_t ns)
{
	if (ns <= c->known_ns)
		return;
	count_time(w, c->lane, c->known_ns, ns);
	c->known_ns = ns;
}

static void interrupted(struct watch *w, struct watched *c, const struct record *r)
{
	uint64_t start = r->start_ns > c->since_ns ? r->start_ns : c->since_ns;

	if (r->end_ns <= start)
		return;
	known_until(w, c, r->end_ns);
	if (r->flags & RECORD_INNER)
		return;
	if (c->open && start > c->open_end + JOINED_NS)
		close_window(w, c);
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
	close_window(w, c);
	note_stay(w, c->lane, &(struct stay){c - w->cpu, c->tid, true, c->since_ns, c->known_ns});
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

static void begin_stay(struct watch *w, struct watched *c, const struct record *r, uint64_t since)
{
	uint32_t lane = lane_of(w, r->id, r);

	/* a thread cannot be at two places */
	for (struct watched *x = w->cpu; x < w->cpu + w->ncpus; x++)
		if (x == c || x->tid == r->id)
			leave_unseen(w, x);
	c->lane = lane;
	c->tid = r->id;
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
	count_time(w, lane, h.start_ns, h.end_ns);
	note_stay(w, lane, &(struct stay){c - w->cpu, r->id, false, here, h.end_ns});
	if (!is_loss(w, lane, h.start_ns, h.end_ns))
		return;
	memcpy(h.before, t->seq, sizeof(h.before));
	feed_stays(w, lane, r->id, true, &h);
	account(w, lane, &(struct spot){c->number, r->id, ""}, &h);
}

static void moved(struct watch *w, struct watched *c, const struct record *r)
{
	uint32_t lane = lane_of(w, r->id, r);

	note_stay(w, lane, &(struct stay){c - w->cpu, r->id, false, r->start_ns, r->end_ns});
}

static void comes(struct watch *w, struct watched *c, const struct record *r)
{
	struct cpu *run;

	if (r->mark == WATCH_IN) {
		begin_stay(w, c, r, r->start_ns);
		return;
	}
	begin_stay(w, c, r, r->end_ns);
	run = &w->view->cpu[c->lane];
	run->woken += r->mark != WATCH_IN_PREEMPTED;
	run->woken_due += r->mark == WATCH_IN_DUE;
	waited(w, cpu_of(w, r->arg, c), c->lane, r);
	c->since_ns = c->known_ns = c->told_ns = stay_from(w, c->lane, r->end_ns);
}

/* Equal start and end: since when it has run is not known. */
static void goes(struct watch *w, struct watched *c, const struct record *r)
{
	if (c->lane < 0 || c->tid != r->id)
		begin_stay(w, c, r, r->start_ns);
	known_until(w, c, r->end_ns);
	end_stay(w, c);
}

static bool comes_upon(const struct record *r)
{
	return r->kind == RECORD_IRQ || r->kind == RECORD_VECTOR || r->kind == RECORD_SOFTIRQ ||
	       r->kind == RECORD_NMI || r->kind == RECORD_SYSCALL ||
	       (r->kind == RECORD_FAULT && r->end_ns > r->start_ns);
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
	bool next = r->level != LEVEL_THREAD || r->seq == c->seq + 1;

	if (r->level == LEVEL_THREAD)
		c->seq = r->seq;
	return next;
}

void watch_record(struct watch *w, uint32_t index, const struct record *r)
{
	struct watched *c = &w->cpu[index];

	if (r->level >= LEVELS)
		return;
	if (!follows(c, r))
		leave_unseen(w, c);
	if (r->kind != RECORD_WATCH) {
		c->history[c->head++ % HISTORY] = *r;
		if (c->lane >= 0 && is_anothers(c, r))
			leave_unseen(w, c);
		else if (c->lane >= 0 && comes_upon(r) && r->flags & RECORD_UPON)
			interrupted(w, c, r);
	} else if (r->mark == WATCH_OUT) {
		goes(w, c, r);
	} else if (r->mark == WATCH_MOVED) {
		moved(w, cpu_of(w, r->arg, c), r);
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
			close_window(w, &w->cpu[i]);
}

/* Takes its records from wherever it was, one CPU after the other; the place where it still runs is
 * no stay yet. */
void watch_window(struct watch *w, uint32_t tid, uint64_t start, uint64_t end)
{
	uint32_t lane = lane_of(w, tid, NULL);
	struct thread *t = &w->thread[lane];
	struct hiccup h = {.start_ns = start, .end_ns = end};
	struct spot spot = {SPOT_UNKNOWN, tid, ""};

	t->own = true;
	if (end <= start)
		return;
	w->view->cpu[lane].reported++;
	for (uint64_t i = t->stays > STAYS ? t->stays - STAYS : 0; i < t->stays; i++)
		if (t->stay[i % STAYS].tid == tid && t->stay[i % STAYS].start_ns < end)
			spot.cpu = w->cpu[t->stay[i % STAYS].cpu].number;
	memcpy(h.before, t->seq, sizeof(h.before));
	feed_stays(w, lane, tid, false, &h);
	for (struct watched *c = w->cpu; c < w->cpu + w->ncpus; c++)
		if (c->lane == (int)lane && c->tid == tid && c->since_ns < end) {
			feed(w, lane, c, true, c->since_ns > start ? c->since_ns : start, end);
			spot.cpu = c->number;
		}
	account(w, lane, &spot, &h);
}

void watch_lost(struct watch *w, uint32_t index)
{
	leave_unseen(w, &w->cpu[index]);
}

void watch_finish(struct watch *w, uint64_t end_ns)
{
	for (uint32_t i = 0; i < w->ncpus; i++) {
		struct watched *c = &w->cpu[i];

		/* otherwise it may have left unseen once more */
		if (c->lane >= 0 && !w->view->cpu[c->lane].unpaired)
			known_until(w, c, end_ns);
		end_stay(w, c);
	}
}

void watch_cut(struct view *v)
{
	uint32_t n = v->ncpus;

	while (n && !v->cpu[n - 1].comm[0] && !v->cpu[n - 1].hiccups.count)
		n--;
	view_cut(v, n);
}
