/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/recent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (RECENT_SECONDS + 1)

int recent_init(struct recent *r, uint32_t ncpus)
{
	memset(r, 0, sizeof(*r));
	r->cpu = calloc(ncpus ? ncpus : 1, sizeof(*r->cpu));
	r->ncpus = r->cpu ? ncpus : 0;
	return r->cpu ? 0 : -ENOMEM;
}

void recent_free(struct recent *r)
{
	for (uint32_t i = 0; i < r->ncpus; i++)
		free(r->cpu[i].row);
	free(r->cpu);
	memset(r, 0, sizeof(*r));
}

static int make_room(struct recent_cpu *c, uint32_t rows)
{
	uint32_t room = rows + 64;
	struct recent_row *bigger;

	if (rows <= c->room)
		return 0;
	bigger = realloc(c->row, room * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	memset(bigger + c->room, 0,
	       (room - c->room) * sizeof(*bigger)); /* a new source had taken nothing before */
	c->row = bigger;
	c->room = room;
	return 0;
}

/* Finds rows again after some have gone: a row is at its old place, or before it. */
static void find_rows(struct recent_cpu *c, const struct sources *t)
{
	for (uint32_t k = 0; k < t->count && k < c->room; k++) {
		uint32_t i = k;

		if (c->row[k].serial == t->row[k]->serial)
			continue;
		while (i < c->room && c->row[i].serial != t->row[k]->serial)
			i++;
		if (i < c->room)
			c->row[k] = c->row[i];
		else
			memset(&c->row[k], 0, sizeof(c->row[k]));
		c->row[k].serial = t->row[k]->serial;
	}
}

int recent_second(struct recent *r, struct view *v)
{
	uint32_t last = r->seconds % SLOTS, now = ++r->seconds % SLOTS;
	int err = 0;

	for (uint32_t i = 0; i < r->ncpus; i++) {
		struct cpu *s = &v->cpu[i];
		struct recent_cpu *c = &r->cpu[i];
		uint64_t observed, lost;

		err = make_room(c, s->sources.count) ? -ENOMEM : err;
		find_rows(c, &s->sources);
		for (uint32_t k = 0; k < s->sources.count && k < c->room; k++) {
			struct source *x = s->sources.row[k];

			c->row[k].sum[r->seconds % RECENT_SECONDS] = (struct recent_sum){
				x->count - x->marked.count, x->net.sum - x->marked.ns};
			x->marked.count = x->count;
			x->marked.ns = x->net.sum;
		}
		c->observed_ns[now] = v->cpu[i].observed_ns;
		c->lost_ns[now] = s->hiccups.sum + v->cpu[i].hiccups_lost_ns;
		observed = c->observed_ns[now] - c->observed_ns[last];
		lost = c->lost_ns[now] - c->lost_ns[last];
		c->line[r->seconds % RECENT_LINE] = !observed         ? 0
						    : lost > observed ? 1
								      : (float)lost / observed;
	}
	return err;
}

/* Slot of n seconds ago; 0: the present one. */
static uint32_t slot(const struct recent *r, uint32_t n)
{
	return (r->seconds - (n > r->seconds ? r->seconds : n)) % SLOTS;
}

struct recent_sum recent_of(const struct recent *r, uint32_t cpu, uint32_t row, uint32_t n)
{
	const struct recent_cpu *c = &r->cpu[cpu];
	struct recent_sum sum = {0};

	for (uint32_t i = 0; row < c->room && i < n && i < r->seconds && i < RECENT_SECONDS; i++) {
		const struct recent_sum *x = &c->row[row].sum[(r->seconds - i) % RECENT_SECONDS];

		sum.count += x->count;
		sum.ns += x->ns;
	}
	return sum;
}

uint64_t recent_observed(const struct recent *r, uint32_t cpu, uint32_t n)
{
	return r->cpu[cpu].observed_ns[slot(r, 0)] - r->cpu[cpu].observed_ns[slot(r, n)];
}

uint64_t recent_lost(const struct recent *r, uint32_t cpu, uint32_t n)
{
	return r->cpu[cpu].lost_ns[slot(r, 0)] - r->cpu[cpu].lost_ns[slot(r, n)];
}

double recent_share(const struct recent *r, uint32_t cpu, uint32_t n)
{
	if (n >= r->seconds || n >= RECENT_LINE)
		return -1;
	return r->cpu[cpu].line[(r->seconds - n) % RECENT_LINE];
}
