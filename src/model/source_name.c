/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's names for its softirqs and vectors, what a row is told, and the order of rows. */
#include <stdlib.h>
#include <string.h>

#include "model/source.h"

const char *softirq_name(uint32_t id)
{
	static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

	return id < sizeof(names) / sizeof(names[0]) ? names[id] : "unknown";
}

const char *vector_name(uint32_t vector_id)
{
#define ROW(number, name, kernel_name, counter) [VECTOR_##name] = #kernel_name,
	static const char *const names[] = {"unknown", VECTORS(ROW)};
#undef ROW

	return names[vector_id < VECTOR_IDS ? vector_id : 0];
}

const char *vector_counter(uint32_t vector_id)
{
#define ROW(number, name, kernel_name, counter) [VECTOR_##name] = counter,
	static const char *const counters[] = {"", VECTORS(ROW)};
#undef ROW

	return counters[vector_id < VECTOR_IDS ? vector_id : 0];
}

uint32_t vector_of_name(const char *name)
{
	uint32_t id = VECTOR_IDS - 1;

	while (id && strcmp(name, vector_name(id)))
		id--;
	return id;
}

bool source_is_idle(const struct source *s)
{
	return s->kind == SOURCE_THREAD && s->kernel_thread && !s->id &&
	       !strncmp(s->name, "swapper/", 8);
}

const struct source *sources_near_lost(const struct sources *t)
{
	const struct source *most = NULL;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i]->kind != SOURCE_HOST && /* another kernel's records */
		    t->row[i]->near_lost_ns > (most ? most->near_lost_ns : 0))
			most = t->row[i];
	return most;
}

/* ---- what a row is told ---- */

void source_add(struct source *s, uint64_t net_ns, bool first)
{
	hist_add(&s->net, s->part_ns + net_ns);
	s->net.sum -= s->part_ns;
	s->part_ns = 0;
	s->count += first;
}

void source_end_run(struct source *s)
{
	if (s->part_ns)
		source_add(s, 0, false);
}

void sources_end_runs(struct sources *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		source_end_run(t->row[i]);
}

const struct asker *source_asked(struct source *s, const struct record *r,
				 const struct names *names)
{
	if (!s->askers)
		s->askers = calloc(1, sizeof(*s->askers));
	return s->askers ? askers_add(s->askers, r, names) : NULL;
}

void source_asker(struct source *s, const struct asker *who)
{
	if (!s->askers)
		s->askers = calloc(1, sizeof(*s->askers));
	if (s->askers)
		askers_note(s->askers, who);
}

/* ---- order ---- */

struct ranked {
	uint64_t total;
	uint32_t row;
};

static int by_total(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->row < y->row ? -1 : 1;
}

uint32_t sources_rank(const struct sources *t, uint32_t *order)
{
	struct ranked *rank = calloc(t->count ? t->count : 1, sizeof(*rank));
	uint32_t n = 0;

	if (!rank)
		return 0;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i]->net.count || t->row[i]->net.sum)
			rank[n++] = (struct ranked){t->row[i]->net.sum, i};
	qsort(rank, n, sizeof(*rank), by_total);
	for (uint32_t i = 0; i < n; i++)
		order[i] = rank[i].row;
	free(rank);
	return n;
}
