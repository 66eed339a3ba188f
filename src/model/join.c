/* See join.h for what this does. How:
 *
 * `wait` holds records not yet spoken for. When a hiccup comes, those that ended before it are dropped as below the threshold,
 * those inside it go through nest(), later ones stay. nest() keeps a stack of what has ended so far, in order of time: a new
 * interval takes from its top all that lies within it, and what remains of its own length is its net time.
 */
#include "model/join.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_SLOTS   (4 * JOIN_WAIT_MAX)
#define STACK_SLOTS  8192
#define PIECES_MAX   (SOURCES_MAX + SOURCE_KINDS)
#define TOLERANCE_NS 100  /* the sampler's clock against the probes': same clock, read through two paths */
#define NEAR_NS      2000 /* the sampler's bookkeeping: a record may fall between its cursor and its counter readings */

/* Something that has ended inside the hiccup in hand and lies in no later interval yet. */
struct ended {
	uint64_t start, end;
	uint64_t gaps; /* time within [start, end] that belongs to no interval: only after folding */
	bool thread;
	bool note; /* an instant, not an interval */
	uint8_t level;
	uint32_t id;
};

struct join {
	struct sources *sources;
	const char *(*irq_name)(void *ctx, uint32_t irq);
	void *ctx;
	struct edge_bounds bounds;
	uint64_t threshold_ns;
	struct join_counts counts;

	struct record *wait; /* ring of WAIT_SLOTS */
	uint64_t first, last;

	struct ended *stack;
	uint32_t depth;
	bool in_fault; /* a page fault of the sampler has begun */
	struct record fault;

	uint16_t seq[LEVELS]; /* of the newest record taken */
	bool open;            /* `account` is being filled: its hiccup has not come yet */
	uint64_t epoch;
	struct account account;
};

struct join *join_new(struct sources *sources, uint64_t threshold_ns, struct edge_bounds bounds,
		      const char *(*irq_name)(void *ctx, uint32_t irq), void *ctx)
{
	struct join *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->sources = sources;
	j->threshold_ns = threshold_ns;
	j->bounds = bounds;
	j->irq_name = irq_name;
	j->ctx = ctx;
	j->wait = calloc(WAIT_SLOTS, sizeof(*j->wait));
	j->stack = calloc(STACK_SLOTS, sizeof(*j->stack));
	j->account.pieces = calloc(PIECES_MAX, sizeof(*j->account.pieces));
	if (j->wait && j->stack && j->account.pieces)
		return j;
	join_free(j);
	return NULL;
}

void join_free(struct join *j)
{
	if (!j)
		return;
	free(j->wait);
	free(j->stack);
	free(j->account.pieces);
	free(j);
}

const struct join_counts *join_counts(const struct join *j)
{
	return &j->counts;
}

uint32_t join_waiting(const struct join *j)
{
	return j->last - j->first;
}

static struct record *waiting(const struct join *j, uint64_t i)
{
	return &j->wait[i % WAIT_SLOTS];
}

/* Of two that end together the inner one is the higher level. */
static bool ends_after(const struct record *a, const struct record *b)
{
	return a->end_ns > b->end_ns || (a->end_ns == b->end_ns && a->level < b->level);
}

void join_start(struct join *j, const uint16_t cursor[LEVELS])
{
	memcpy(j->seq, cursor, sizeof(j->seq));
}

/* All records up to `seq` must have come by now; those that did not were dropped. */
static void expect_sequence(struct join *j, unsigned level, uint16_t seq)
{
	int16_t missing = seq - j->seq[level];

	if (missing > 0) {
		j->counts.lost += missing;
		j->seq[level] = seq;
	}
}

void join_record(struct join *j, const struct record *r)
{
	uint64_t i = j->last;

	if (r->level >= LEVELS || r->end_ns < r->start_ns)
		return;
	expect_sequence(j, r->level, r->seq - 1);
	j->seq[r->level] = r->seq;
	j->counts.seen++;
	if (j->last - j->first >= WAIT_SLOTS)
		join_relieve(j, 0);
	while (i > j->first && ends_after(waiting(j, i - 1), r)) {
		*waiting(j, i) = *waiting(j, i - 1);
		i--;
	}
	*waiting(j, i) = *r;
	j->last++;
}

/* ---- naming ---- */

static uint32_t source_of(struct join *j, const struct record *r, const char *function)
{
	char name[sizeof(r->name) + 1];

	switch (r->kind) {
	case RECORD_IRQ:
		return sources_find(j->sources, SOURCE_IRQ, r->id, j->irq_name ? j->irq_name(j->ctx, r->id) : NULL,
				    function);
	case RECORD_VECTOR:
		return sources_find(j->sources, SOURCE_VECTOR, r->arg, vector_name(r->id), function);
	case RECORD_SOFTIRQ:
		return sources_find(j->sources, SOURCE_SOFTIRQ, r->id, softirq_name(r->id), function);
	case RECORD_NMI:
		return sources_find(j->sources, SOURCE_NMI, 0, "NMI", function);
	case RECORD_FAULT:
		return sources_find(j->sources, SOURCE_FAULT, 0, "page fault", function);
	default:
		memcpy(name, r->name, sizeof(r->name));
		name[sizeof(r->name)] = 0;
		return sources_find(j->sources, SOURCE_THREAD, r->id, name, function);
	}
}

static void open_account(struct join *j)
{
	if (j->open)
		return;
	j->open = true;
	j->epoch++;
	j->depth = 0;
	j->account = (struct account){.pieces = j->account.pieces};
}

static void attribute(struct join *j, uint32_t source, uint64_t net, bool part)
{
	struct account *a = &j->account;
	struct source *s = j->sources->row[source];

	if (s->epoch != j->epoch) {
		s->epoch = j->epoch;
		s->piece = a->npieces++;
		s->hiccups++;
		a->pieces[s->piece] = (struct piece){source, 0};
	}
	a->pieces[s->piece].net_ns += net;
	a->attributed_ns += net;
	if (part) /* a piece of an interval that is counted when it ends */
		s->net.sum += net;
	else
		hist_add(&s->net, net);
}

/* ---- the nest ---- */

/* Merges the older half of the stack into one entry. Exact for what encloses all of it or nothing of it; the gaps inside are kept,
 * so that an enclosing interval still gets them, and else they are edge. */
static void fold(struct join *j)
{
	uint32_t half = j->depth / 2;
	struct ended *f = &j->stack[0];

	for (uint32_t i = 1; i < half; i++) {
		const struct ended *e = &j->stack[i];

		f->gaps += e->gaps + (e->start > f->end ? e->start - f->end : 0);
		f->end = e->end > f->end ? e->end : f->end;
		f->thread |= e->thread;
	}
	f->note = false;
	memmove(f + 1, f + half, (j->depth - half) * sizeof(*f));
	j->depth -= half - 1;
	j->counts.folded += half - 1;
}

static void push(struct join *j, struct ended e)
{
	if (j->depth == STACK_SLOTS)
		fold(j);
	j->stack[j->depth++] = e;
}

static void nest(struct join *j, const struct record *r, uint64_t start, uint64_t end)
{
	uint64_t covered = 0;
	const char *function = NULL;

	while (j->depth && j->stack[j->depth - 1].start >= start) {
		struct ended *e = &j->stack[--j->depth];

		covered += e->end - e->start - e->gaps;
		if (e->note && e->level == r->level)
			function = tlb_reason_name(e->id);
	}
	/* Not a strict nest: the clock or a lost exit. What is taken already stays taken. */
	if (j->depth && j->stack[j->depth - 1].end > start)
		start = j->stack[j->depth - 1].end < end ? j->stack[j->depth - 1].end : end;
	attribute(j, source_of(j, r, function), end - start - covered, r->flags & RECORD_PART);
	push(j, (struct ended){.start = start, .end = end, .thread = r->kind == RECORD_THREAD});
}

/* A fault has no exit: it lasts until the next one or the end of the hiccup. */
static void end_fault(struct join *j, uint64_t end)
{
	if (!j->in_fault)
		return;
	j->in_fault = false;
	nest(j, &j->fault, j->fault.start_ns, end > j->fault.start_ns ? end : j->fault.start_ns);
}

/* One record of the hiccup in hand, cut to [from, to]. */
static void take(struct join *j, const struct record *r, uint64_t from, uint64_t to)
{
	uint64_t start = r->start_ns < from ? from : r->start_ns;
	uint64_t end = r->end_ns > to ? to : r->end_ns;

	if (start > end)
		start = end;
	if (r->kind == RECORD_FAULT) {
		end_fault(j, start);
		j->in_fault = true;
		j->fault = *r;
		j->fault.start_ns = start;
	} else if (r->kind == RECORD_TLB) {
		push(j, (struct ended){.start = start, .end = start, .note = true, .level = r->level, .id = r->id});
	} else {
		nest(j, r, start, end);
	}
}

/* ---- hiccups ---- */

static uint64_t bound_at(const struct join *j, const struct ended *e)
{
	return e->thread ? j->bounds.thread_ns : j->bounds.irq_ns;
}

static void split_gap(struct account *a, uint64_t gap, uint64_t bound)
{
	uint64_t edge = gap < bound ? gap : bound;

	a->edge_ns += edge;
	a->outside_ns += gap - edge;
}

/* What no interval covers: beside one it is edge up to the bound, the rest is outside. */
static void account_gaps(struct join *j, uint64_t end_ns)
{
	struct account *a = &j->account;
	const struct ended *last = NULL;

	for (uint32_t i = 0; i < j->depth; i++) {
		const struct ended *e = &j->stack[i];
		uint64_t gap, bound;

		if (e->note)
			continue;
		gap = e->start - (last ? last->end : a->start_ns);
		bound = bound_at(j, e);
		if (last)
			bound += bound_at(j, last);
		else
			a->pre_ns = gap, a->first_thread = e->thread;
		split_gap(a, gap, bound);
		a->edge_ns += e->gaps;
		a->intervals++;
		last = e;
	}
	if (!last) {
		a->outside_ns = a->duration_ns;
		return;
	}
	a->post_ns = end_ns - last->end;
	a->last_thread = last->thread;
	split_gap(a, a->post_ns, bound_at(j, last));
}

static bool in_window(uint16_t seq, uint16_t before, uint16_t after)
{
	return (uint16_t)(seq - before - 1) < (uint16_t)(after - before);
}

/* Timestamps chose `inside`; the sequence must agree. Just before and just after the gap the sampler's two readings are not one. */
static void check_sequence(struct join *j, const struct record *r, const struct hiccup *h, bool inside)
{
	bool window = in_window(r->seq, h->before[r->level], h->after[r->level]);
	uint64_t slack = j->threshold_ns + NEAR_NS;

	if (inside == window)
		return;
	if (!inside && r->end_ns <= h->start_ns && h->start_ns - r->end_ns < slack)
		return;
	if (!inside && r->start_ns >= h->end_ns && r->start_ns - h->end_ns < slack)
		return;
	j->counts.mismatches++;
}

static void drop_below(struct join *j, const struct record *r)
{
	j->counts.below_threshold++;
	if (r->end_ns - r->start_ns > j->threshold_ns + TOLERANCE_NS)
		j->counts.mismatches++; /* so long a record must lie in a hiccup */
}

/* What was netted ahead began before the hiccup, or ended after it: then the two disagree, and the hiccup is at least that long. */
static void cover_stack(struct join *j, uint64_t *end_ns)
{
	struct account *a = &j->account;

	if (!j->depth)
		return;
	if (j->stack[0].start < a->start_ns) {
		a->start_ns = j->stack[0].start;
		j->counts.mismatches++;
	}
	if (j->stack[j->depth - 1].end > *end_ns) {
		*end_ns = j->stack[j->depth - 1].end;
		j->counts.mismatches++;
	}
}

const struct account *join_hiccup(struct join *j, const struct hiccup *h)
{
	uint64_t end_ns = h->end_ns;

	open_account(j);
	for (unsigned level = 0; level < LEVELS; level++)
		expect_sequence(j, level, h->after[level]);
	for (; j->first < j->last; j->first++) {
		const struct record *r = waiting(j, j->first);
		uint64_t tolerance = r->end_ns - r->start_ns > TOLERANCE_NS ? TOLERANCE_NS : 0;
		bool before = r->end_ns < h->start_ns + tolerance;

		if (r->end_ns > h->end_ns + TOLERANCE_NS)
			break;
		check_sequence(j, r, h, !before);
		if (before)
			drop_below(j, r);
		else
			take(j, r, h->start_ns, h->end_ns);
	}
	end_fault(j, h->end_ns);
	j->account.start_ns = h->start_ns;
	cover_stack(j, &end_ns);
	j->account.duration_ns = end_ns - j->account.start_ns;
	account_gaps(j, end_ns);
	j->open = false;
	return &j->account;
}

/* Records before the thread came on belong to the same hiccup when only kernel entry lies between: the interrupt that woke it. */
static uint64_t first_ahead(const struct join *j, uint64_t off_cpu_ns)
{
	uint64_t near = j->bounds.irq_ns + j->bounds.thread_ns + j->threshold_ns;
	uint64_t i = j->first;

	while (i < j->last && waiting(j, i)->end_ns <= off_cpu_ns)
		i++;
	while (i > j->first && i < j->last && waiting(j, i - 1)->end_ns + near > waiting(j, i)->start_ns)
		i--;
	return i;
}

void join_relieve(struct join *j, uint64_t off_cpu_ns)
{
	uint64_t ahead = off_cpu_ns ? first_ahead(j, off_cpu_ns) : j->last;

	if (!j->open)
		for (; j->first < ahead; j->first++)
			drop_below(j, waiting(j, j->first));
	/* The newest stay: one that ended just before them may still come. */
	if (off_cpu_ns && j->last - j->first > JOIN_WAIT_MAX / 2) {
		open_account(j);
		for (uint64_t stop = j->last - 64; j->first < stop; j->first++)
			take(j, waiting(j, j->first), 0, UINT64_MAX);
	}
}
