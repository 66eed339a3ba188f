/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/osnoise_rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static enum source_kind their_kind(enum source_kind kind)
{
	return kind == SOURCE_VECTOR ? SOURCE_IRQ : kind;
}

/* The slot of the row, or a free one for it. */
static uint32_t *slot_of(const struct osnoise_rates *b, enum source_kind kind, const char *name)
{
	uint64_t hash = hash_text(hash_byte(hash_of_strangers(), kind), name);
	uint32_t i = hash_slot(hash, 1U << b->bits);

	for (;; i = (i + 1) & ((1U << b->bits) - 1)) {
		const struct rates_row *x = b->slot[i] ? &b->row[b->slot[i] - 1] : NULL;

		if (!x || (x->kind == kind && !strcmp(x->name, name)))
			return &b->slot[i];
	}
}

/* Makes room for twice as many rows. False: there is no memory. */
static bool grow(struct osnoise_rates *b)
{
	unsigned bits = b->bits ? b->bits + 1 : 7;
	struct rates_row *row = reallocarray(b->row, (size_t)1 << (bits - 1), sizeof(*row));
	uint32_t *slot = calloc((size_t)1 << bits, sizeof(*slot));

	b->row = row ? row : b->row;
	if (!row || !slot) {
		free(slot);
		return false;
	}
	free(b->slot);
	b->slot = slot;
	b->bits = bits;
	for (uint32_t i = 0; i < b->count; i++)
		*slot_of(b, row[i].kind, row[i].name) = i + 1;
	return true;
}

static struct rates_row *find(struct osnoise_rates *b, enum source_kind kind, const char *name)
{
	struct rates_row *row;
	uint32_t *slot;

	kind = their_kind(kind);
	if ((!b->bits || b->count == 1U << (b->bits - 1)) && !grow(b))
		return NULL;
	slot = slot_of(b, kind, name);
	if (*slot)
		return &b->row[*slot - 1];
	row = &b->row[b->count++];
	*slot = b->count;
	*row = (struct rates_row){.kind = kind};
	memcpy(row->name, name, strlen(name));
	return row;
}

static int add(struct osnoise_rates *b, enum source_kind kind, const char *name, bool theirs,
	       uint64_t count, uint64_t ns)
{
	struct rates_row *row = find(b, kind, name);
	struct rates_share *share;

	if (!row)
		return -ENOMEM;
	share = theirs ? &row->theirs : &row->ours;
	share->count += count;
	share->ns += ns;
	share->no_ns |= theirs && !b->theirs_detailed;
	return 0;
}

static int add_sources(struct osnoise_rates *b, const struct sources *s, bool theirs)
{
	int err = 0;

	for (uint32_t i = 0; i < s->count && !err; i++) {
		const struct source *x = s->row[i];

		if (x->net.count && kind_is_interval(x->kind))
			err = add(b, x->kind, x->name, theirs, x->count, x->net.sum);
	}
	return err;
}

/* Adds counters without names: of the periods' lines, or of rtla's table. */
static int add_period(struct osnoise_rates *b, const struct osnoise_period *p)
{
	const struct {
		enum source_kind kind;
		uint64_t count;
	} rows[] = {{SOURCE_NMI, p->nmi},
		    {SOURCE_IRQ, p->irq},
		    {SOURCE_SOFTIRQ, p->softirq},
		    {SOURCE_THREAD, p->thread}};
	int err = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++)
		if (rows[i].count)
			err = add(b, rows[i].kind, "", true, rows[i].count, 0);
	return err;
}

/* Adds a CPU's gaps: how long they were a period says, how many the samples; neither need be in the
 * text. */
static void add_gaps(struct rates_share *s, const struct osnoise_reader *r,
		     const struct osnoise_cpu *c, const struct osnoise_period *p)
{
	bool sampled = r->events[OSNOISE_SAMPLE];

	s->count += c->samples.count;
	s->ns += p->count ? p->noise_ns : c->samples.sum;
	s->no_count |= p->count ? !c->samples.count && p->noise_ns : !sampled;
	s->no_ns |= !p->count && !sampled;
}

static int take_theirs(struct osnoise_rates *b, const struct osnoise_reader *r)
{
	uint64_t span = r->min_start_ns != UINT64_MAX ? r->max_end_ns - r->min_start_ns : 0;
	bool timed = true;
	int err = 0;

	b->theirs_detailed = b->theirs_told = r->events[OSNOISE_NOISE];
	b->theirs.no_count = b->theirs.no_ns = !r->ncpus;
	for (uint32_t i = 0; i < r->ncpus && !err; i++) {
		const struct osnoise_cpu *c = r->cpu[i];
		const struct osnoise_period *p = c->traced.count ? &c->traced : &c->top;
		uint64_t ns = p->count && p->runtime_ns != UINT64_MAX ? p->runtime_ns : span;

		b->theirs_ns += ns;
		timed &= ns || !(p->count || c->has_sources || c->samples.count);
		add_gaps(&b->theirs, r, c, p);
		b->theirs_told |= p->count;
		if (b->theirs_detailed && c->has_sources)
			err = add_sources(b, &c->sources, true);
		else if (!b->theirs_detailed && p->count)
			err = add_period(b, p);
	}
	b->theirs_ns = timed ? b->theirs_ns : 0;
	return err;
}

/* Adds culprit's sources, without names when the other side has none. */
static int take_ours(struct osnoise_rates *b, const struct view *v)
{
	int err = 0;

	for (uint32_t i = 0; i < v->ncpus && !err; i++) {
		const struct cpu *c = &v->cpu[i];

		b->ours_ns += v->cpu[i].observed_ns;
		b->ours.count += c->hiccups.count;
		b->ours.ns += c->hiccups.sum;
		if (b->theirs_detailed) {
			err = add_sources(b, &c->sources, false);
			continue;
		}
		for (uint32_t k = 0; k < c->sources.count && !err; k++) {
			const struct source *x = c->sources.row[k];

			if (x->net.count && kind_is_interval(x->kind) && x->kind != SOURCE_FAULT)
				err = add(b, x->kind, "", false, x->count, x->net.sum);
		}
	}
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct rates_row *x = a, *y = b;
	uint64_t p = x->theirs.ns > x->ours.ns ? x->theirs.ns : x->ours.ns;
	uint64_t q = y->theirs.ns > y->ours.ns ? y->theirs.ns : y->ours.ns;

	if (p != q)
		return p < q ? 1 : -1;
	return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
				  : strcmp(x->name, y->name);
}

int rates_make(struct osnoise_rates *b, const struct osnoise_reader *r, const struct view *v)
{
	memset(b, 0, sizeof(*b));
	if (take_theirs(b, r) || take_ours(b, v)) {
		rates_free(b);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < b->count && !b->theirs_told; i++)
		b->row[i].theirs.no_count = b->row[i].theirs.no_ns = true;
	if (b->count)
		qsort(b->row, b->count, sizeof(*b->row), by_time);
	return 0;
}

void rates_free(struct osnoise_rates *b)
{
	free(b->row);
	free(b->slot);
	memset(b, 0, sizeof(*b));
}
