/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up what the join found, and learns what is edge. */
#include "model/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/follow.h"

#define EDGE_BITS      6
#define EDGE_IRQ_NS    2000 /* without samples */
#define EDGE_THREAD_NS 5000

static int by_net(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->net_ns != y->net_ns)
		return x->net_ns < y->net_ns ? 1 : -1;
	return x->source < y->source ? -1 : 1; /* the same in every libc */
}

static void *copy_of(const void *rows, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	if (copy && bytes) /* otherwise the array may be NULL */
		memcpy(copy, rows, bytes);
	return copy;
}

/* True for one that is not among the worst: the first one stays when two are equally long. */
static bool is_short(const struct worst *list, uint32_t n, uint64_t ns)
{
	return n == WORST_MAX && ns <= list[WORST_MAX - 1].duration_ns;
}

static void insert(struct worst *list, uint32_t *n, const struct worst *w)
{
	uint32_t at = *n;

	if (*n == WORST_MAX)
		worst_free(&list[--at]);
	else
		++*n;
	for (; at && list[at - 1].duration_ns < w->duration_ns; at--)
		list[at] = list[at - 1];
	list[at] = *w;
}

static void keep_worst(struct worst *list, uint32_t *n, uint32_t index, const struct account *a,
		       uint64_t place)
{
	struct piece *pieces;
	struct span *spans;

	if (is_short(list, *n, a->duration_ns))
		return;
	pieces = copy_of(a->pieces, a->npieces * sizeof(*pieces));
	spans = a->nspans ? copy_of(a->spans, a->nspans * sizeof(*spans)) : NULL;
	if (!pieces || (a->nspans && !spans)) {
		free(pieces);
		free(spans);
		return;
	}
	qsort(pieces, a->npieces, sizeof(*pieces), by_net);
	insert(list, n,
	       &(struct worst){.cpu = index,
			       .spot = a->spot,
			       .start_ns = a->start_ns,
			       .duration_ns = a->duration_ns,
			       .edge_ns = a->edge_ns,
			       .lost_ns = a->lost_ns,
			       .outside_ns = a->outside_ns,
			       .host_ns = a->host_ns,
			       .pieces = pieces,
			       .npieces = a->npieces,
			       .spans = spans,
			       .nspans = a->nspans,
			       .spans_left = a->spans_left,
			       .place = place});
}

static void follow(const struct sources *t, uint32_t index, struct worst *list, uint32_t n)
{
	for (struct worst *w = list; w < list + n; w++) {
		if (w->cpu != index)
			continue;
		w->npieces = pieces_follow(w->pieces, w->npieces, t->moved);
		qsort(w->pieces, w->npieces, sizeof(*w->pieces), by_net);
		spans_follow(w->spans, w->nspans, t->moved);
	}
}

/* apart: what the lane keeps apart; NULL: nothing. Touches only its own lane's among the view's
 * worst hiccups. */
static void settle(struct view *v, uint32_t index, struct summary_apart *apart)
{
	struct sources *t = &v->cpu[index].sources;

	if (t->trims != t->settled_trims) {
		follow(t, index, v->worst, v->nworst);
		if (apart)
			follow(t, index, apart->worst, apart->n);
	}
	sources_settle(t);
}

void summary_settle(struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++)
		settle(v, i, NULL);
}

/* Adds a part of a hiccup that has no record. */
static struct source *add_row(struct view *v, uint32_t index, const struct source_key *key,
			      uint64_t start_ns, uint64_t ns)
{
	struct sources *t = &v->cpu[index].sources;
	struct source *row = t->row[sources_find_key(t, key)];

	row->hiccups++;
	source_add(row, ns, true);
	slices_add(&row->slices, start_ns, ns);
	return row;
}

static const struct source_key lost_key = {.kind = SOURCE_LOST, .name = NOT_RECORDED};

/* Adds its time by kind, as pictures show it. */
static void add_drawn(struct cpu *c, const struct account *a)
{
	uint64_t lost[TIMELINE_KINDS] = {[TIMELINE_EDGE] = a->edge_ns,
					 [SOURCE_LOST] = a->lost_ns,
					 [SOURCE_OUTSIDE] = a->outside_ns};

	for (uint32_t i = 0; i < a->npieces; i++)
		lost[c->sources.row[a->pieces[i].source]->kind] += a->pieces[i].net_ns;
	timeline_add(&c->timeline, a->start_ns, a->duration_ns, lost);
	lengths_add(&c->lengths, a->duration_ns, lost);
}

static void add(struct view *v, uint32_t index, const struct account *a)
{
	struct cpu *c = &v->cpu[index];

	hist_add(&c->hiccups, a->duration_ns);
	slices_add(&c->slices, a->start_ns, a->duration_ns);
	for (uint32_t i = 0; i < a->npieces; i++) {
		struct source *source = c->sources.row[a->pieces[i].source];

		slices_add(&source->slices, a->start_ns, a->pieces[i].net_ns);
		if (a->lost)
			source->near_lost_ns += a->pieces[i].net_ns;
	}
	if (v->drawn)
		add_drawn(c, a);
	for (int i = 0; i < WHOSE; i++)
		c->whose_ns[i] += a->whose_ns[i];
	c->let_in_ns += a->let_in_ns;
	c->whose_ns[WHOSE_KERNEL] += a->edge_ns;
	c->attributed_ns += a->attributed_ns;
	c->edge_ns += a->edge_ns;
	c->lost_ns += a->lost_ns;
	c->outside_ns += a->outside_ns;
	c->host_ns += a->host_ns;
	if (a->lost_ns)
		add_row(v, index, &lost_key, a->start_ns, a->lost_ns)->missing += a->lost;
	c->pre_ns += a->pre_ns;
	c->post_ns += a->post_ns;
}

void summary_add(struct view *v, uint32_t index, const struct account *a)
{
	settle(v, index, NULL);
	add(v, index, a);
	keep_worst(v->worst, &v->nworst, index, a, 0);
}

/* ---- lanes apart from each other ---- */

void summary_add_apart(struct view *v, uint32_t index, const struct account *a, uint64_t place,
		       struct summary_apart *apart)
{
	settle(v, index, apart);
	add(v, index, a);
	if (!is_short(v->worst, v->nworst, a->duration_ns))
		keep_worst(apart->worst, &apart->n, index, a, place);
}

static int by_place(const void *a, const void *b)
{
	const struct worst *const *x = a, *const *y = b;

	return (*x)->place < (*y)->place ? -1 : (*x)->place > (*y)->place;
}

/* In the order in which they came, so that of equally long ones the same stay. */
void summary_meet(struct view *v, struct summary_apart *const *apart, uint32_t n)
{
	struct worst **w;
	uint32_t all = 0, k = 0;

	for (uint32_t i = 0; i < n; i++)
		all += apart[i] ? apart[i]->n : 0;
	w = all ? calloc(all, sizeof(struct worst *)) : NULL;
	for (uint32_t i = 0; i < n && all; i++) {
		for (uint32_t of = 0; apart[i] && of < apart[i]->n; of++)
			if (w)
				w[k++] = &apart[i]->worst[of];
			else
				worst_free(&apart[i]->worst[of]);
		if (apart[i])
			apart[i]->n = 0;
	}
	if (w)
		qsort(w, all, sizeof(*w), by_place);
	for (uint32_t i = 0; i < k; i++)
		if (is_short(v->worst, v->nworst, w[i]->duration_ns))
			worst_free(w[i]);
		else
			insert(v->worst, &v->nworst, w[i]);
	free(w);
}

void summary_outside(struct view *v, uint32_t index, uint64_t start_ns, uint64_t outside_ns,
		     enum own_word verdict)
{
	const struct source_key key = {.kind = SOURCE_OUTSIDE,
				       .name = verdict == WORD_REST ? v->run.rest
								    : word_text(verdict),
				       .word = verdict};

	add_row(v, index, &key, start_ns, outside_ns);
}

/* ---- edges ---- */

int edge_times_init(struct edge_times *e)
{
	memset(e, 0, sizeof(*e));
	if (!hist_init(&e->pre_irq, EDGE_BITS) && !hist_init(&e->post_irq, EDGE_BITS) &&
	    !hist_init(&e->pre_thread, EDGE_BITS) && !hist_init(&e->post_thread, EDGE_BITS))
		return 0;
	edge_times_free(e);
	return -ENOMEM;
}

void edge_times_free(struct edge_times *e)
{
	hist_free(&e->pre_irq);
	hist_free(&e->post_irq);
	hist_free(&e->pre_thread);
	hist_free(&e->post_thread);
}

void edge_times_add(struct edge_times *e, const struct account *a)
{
	if (!a->intervals)
		return;
	hist_add(a->first_thread ? &e->pre_thread : &e->pre_irq, a->pre_ns);
	hist_add(a->last_thread ? &e->post_thread : &e->post_irq, a->post_ns);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The way out of an interrupt is the kernel's alone. In a guest the way in is not: the hypervisor's
 * delivery comes before it (microseconds, where the way out takes a fraction of one). So in a guest
 * the way out bounds both; on bare metal each is bounded by what was seen of either. The tick has
 * more to do on its way than the timer that calibrates: 2.5 times as much in a guest that counts
 * instructions, where nothing comes from outside. The scheduler works on both sides of a thread,
 * after an interrupt's exit. */
struct edge_bounds edge_times_bounds(const struct edge_times *e, bool guest)
{
	struct edge_bounds b = {EDGE_IRQ_NS, EDGE_THREAD_NS};

	if (e->post_irq.count >= EDGE_SAMPLES_MIN) {
		b.irq_ns = 3 * hist_percentile(&e->post_irq, 90);
		if (!guest)
			b.irq_ns = larger(b.irq_ns, larger(hist_percentile(&e->pre_irq, 99),
							   hist_percentile(&e->post_irq, 99)));
	}
	if (e->post_thread.count >= EDGE_SAMPLES_MIN)
		b.thread_ns = b.irq_ns + 2 * hist_percentile(&e->post_thread, 90);
	else
		b.thread_ns = larger(b.thread_ns, b.irq_ns);
	return b;
}

struct edge_seen edge_times_seen(const struct edge_times *e)
{
	return (struct edge_seen){e->post_irq.count, hist_percentile(&e->pre_irq, 50),
				  hist_percentile(&e->pre_irq, 90),
				  hist_percentile(&e->post_irq, 50),
				  hist_percentile(&e->post_irq, 90)};
}
