/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/sums.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/nest_state.h"

/* The largest value of a bucket. */
static uint64_t highest(uint32_t bucket, uint64_t max)
{
	uint32_t place = bucket ? bucket - 1 : 0, parts = 1 << SUM_BITS;
	uint32_t octave = SUM_FIRST + place / parts, part = place % parts;
	uint64_t high = (uint64_t)(parts + part + 1) << (octave - SUM_BITS);

	if (!bucket)
		high = 1ULL << SUM_FIRST;
	return high <= max && bucket < SUM_BUCKETS - 1 ? high - 1 : max;
}

static void add_runs(struct hist *h, const struct sum *s)
{
	uint64_t before = h->count;

	for (uint32_t i = 0; i < SUM_BUCKETS; i++)
		if (s->bucket[i])
			hist_fill(h, hist_index(h, highest(i, s->max_ns)), s->bucket[i]);
	h->sum += s->net_ns;
	if (h->count == before)
		return;
	h->min = s->min_ns < h->min ? s->min_ns : h->min;
	h->max = s->max_ns > h->max ? s->max_ns : h->max;
}

/* The number of a vector is known where an interval of it ended, and not at each function of it. */
static uint64_t number_of(const struct sum *row, const struct sum *s)
{
	uint64_t number = s->arg;

	for (uint32_t i = 0; i < SUM_ROWS && !number && s->what == RECORD_VECTOR; i++)
		if (row[i].what == s->what && row[i].id == s->id)
			number = row[i].arg;
	return number;
}

/* Threads of one name, with several numbers. */
static uint32_t source_of_threads(struct nest *n, const struct sum *s)
{
	char name[sizeof(s->name) + 1] = "";
	struct source_key key = {.kind = SOURCE_THREAD,
				 .name = name,
				 .function = nest_symbol(n, s->function),
				 .kernel_thread = s->what & SUM_KTHREAD};

	memcpy(name, s->name, sizeof(s->name));
	return nest_thread(n, &key, s->what & SUM_OWNERS ? 0 : OWNER_CGROUP(s->owner));
}

static uint32_t source_of(struct nest *n, const struct sum *row, const struct sum *s)
{
	struct record r = {.id = s->id,
			   .kind = s->what & SUM_KIND,
			   .flags = s->what & SUM_KTHREAD ? RECORD_KTHREAD : 0,
			   .arg = number_of(row, s),
			   .owner = s->what & SUM_OWNERS ? 0 : s->owner};

	if (s->what & SUM_SEVERAL)
		return source_of_threads(n, s);
	memcpy(r.name, s->name, sizeof(r.name));
	return nest_source(n, &r, nest_symbol(n, s->function), WORD_NONE);
}

/* The source of what had no row of its own any more. */
static enum source_kind rest_of(uint32_t row)
{
	static const enum source_kind kinds[SUM_RESTS] = {
		[LEVEL_THREAD] = SOURCE_THREAD, [LEVEL_SOFTIRQ] = SOURCE_SOFTIRQ,
		[LEVEL_IRQ] = SOURCE_IRQ,       [LEVEL_NMI] = SOURCE_NMI,
		[SUM_VECTORS] = SOURCE_VECTOR,
	};

	return kinds[row - (SUM_ROWS - SUM_RESTS)];
}

static void add(struct cpu *c, uint32_t source, const struct sum *s)
{
	struct source *row = c->sources.row[source];
	uint64_t before = row->net.count;

	add_runs(&row->net, s);
	add_runs(&c->hiccups, s);
	row->count += s->count;
	row->hiccups += row->net.count - before;
	c->attributed_ns += s->net_ns;
	c->counts.seen += row->net.count - before;
}

/* The rows stay: who reads the view again and again knows them by their places. */
static void clear(struct cpu *c)
{
	hist_reset(&c->hiccups);
	c->attributed_ns = c->counts.seen = 0;
	for (uint32_t i = 0; i < c->sources.count; i++) {
		struct source *s = c->sources.row[i];

		hist_reset(&s->net);
		s->count = s->hiccups = 0;
	}
}

void sum_take(const struct sum *shared, struct sum *copy)
{
	uint32_t what = __atomic_load_n(&shared->what, __ATOMIC_ACQUIRE);
	uint64_t bucket[SUM_BUCKETS];

	for (uint32_t i = 0; i < SUM_BUCKETS; i++)
		bucket[i] = __atomic_load_n(&shared->bucket[i], __ATOMIC_ACQUIRE);
	memcpy(copy, shared, offsetof(struct sum, bucket));
	memcpy(copy->bucket, bucket, sizeof(bucket));
	copy->what = what;
}

/* row: the CPU's rows, which nobody writes to. */
static int fill(struct cpu *c, const struct sum *row, const struct names *names)
{
	struct nest *n = nest_new(&c->sources, (struct edge_bounds){0}, names, false);

	if (!n)
		return -ENOMEM;
	for (uint32_t i = 0; i < SUM_ROWS; i++)
		if (row[i].what)
			add(c, source_of(n, row, &row[i]), &row[i]);
		else if (row[i].net_ns || row[i].count)
			add(c, sources_rest(&c->sources, rest_of(i)), &row[i]);
	nest_free(n);
	return 0;
}

int sums_fill(struct view *v, uint32_t lane, const struct sum row[SUM_ROWS],
	      const struct names *names)
{
	struct sum *taken = calloc(SUM_ROWS, sizeof(*taken));
	int err;

	clear(&v->cpu[lane]);
	if (!taken)
		return -ENOMEM;
	for (uint32_t i = 0; i < SUM_ROWS; i++)
		sum_take(&row[i], &taken[i]);
	err = fill(&v->cpu[lane], taken, names);
	free(taken);
	return err;
}
