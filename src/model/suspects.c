/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/suspects.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* As two CPUs are alike in outside.c. */
#define ALIKE_NS 1000

static uint64_t length(const struct stop *s)
{
	return s->end_ns - s->start_ns;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t suspects_tolerance(const struct stop *s)
{
	return ALIKE_NS + length(s) / 20;
}

/* ---- the stops ---- */

/* A power of two: then the cells of all stops of a length are one division of time. */
uint64_t suspects_cell(struct stop *s)
{
	uint64_t most = less(SUSPECT_CELL * length(s), SUSPECT_CELL_NS), cell = 1;

	if (s->apart_ns)
		most = less(most, s->apart_ns / 2);
	while (cell * 2 <= most)
		cell *= 2;
	s->cell_ns = cell >= SUSPECT_CELL_LEAST * length(s) ? cell : 0;
	return s->start_ns / cell * cell;
}

static bool is_thread(const struct suspect_thread *a, const struct suspect_thread *b)
{
	return a->tid == b->tid && a->kernel_thread == b->kernel_thread &&
	       !memcmp(a->comm, b->comm, sizeof(a->comm));
}

/* NULL: there is no memory. */
static uint32_t *slot_of(struct suspects *s, const struct suspect_thread *t)
{
	const uint32_t slots = 2 * SUSPECT_THREADS;
	uint64_t h = hash_bytes(hash_of_strangers(), t->comm, sizeof(t->comm));
	uint32_t at = hash_slot(hash_bytes(h, &t->tid, sizeof(t->tid)), slots);

	if (!s->thread)
		s->thread = calloc(SUSPECT_THREADS, sizeof(*s->thread));
	if (!s->slot)
		s->slot = calloc(slots, sizeof(*s->slot));
	if (!s->thread || !s->slot)
		return NULL;
	while (s->slot[at] && !is_thread(&s->thread[s->slot[at] - 1], t))
		at = (at + 1) % slots;
	return &s->slot[at];
}

uint32_t suspects_thread(struct suspects *s, const struct suspect_thread *t)
{
	uint32_t *slot = slot_of(s, t);

	if (slot && *slot)
		return *slot - 1;
	if (!slot || s->nthreads == SUSPECT_THREADS) {
		s->more++;
		return SUSPECT_THREADS;
	}
	s->thread[s->nthreads] = *t;
	s->thread[s->nthreads].place = 0;
	*slot = ++s->nthreads;
	return *slot - 1;
}

static bool is_there(const struct presence *p, const struct stop *s)
{
	uint64_t tolerance = suspects_tolerance(s);

	return p->start_ns <= s->start_ns + tolerance && p->end_ns + tolerance >= s->end_ns;
}

static uint16_t add_share(uint16_t a, double b)
{
	double sum = a + b;

	return sum < SUSPECT_WHOLE ? ceil(sum) : SUSPECT_WHOLE;
}

/* The part of this thread in a stop, a new one if it has none. */
static struct stop_part *part_of(struct suspects *all, struct stop *s, uint32_t who)
{
	struct suspect_thread *t = &all->thread[who];

	if (!t->place) {
		s->part[s->nparts] = (struct stop_part){.who = who};
		t->place = ++s->nparts;
	}
	return &s->part[t->place - 1];
}

static void add_presence(struct suspects *all, struct stop *s, uint64_t from,
			 const struct presence *p)
{
	uint64_t begin = more(p->start_ns - less(p->start_ns, suspects_tolerance(s)), from);
	uint64_t end = less(p->end_ns, from + s->cell_ns);
	struct suspect_thread t = {.tid = p->tid, .kernel_thread = p->kernel_thread};
	struct stop_part *part;
	uint32_t who;

	if (begin >= end)
		return;
	memcpy(t.comm, p->comm, strnlen(p->comm, sizeof(t.comm)));
	who = suspects_thread(all, &t);
	if (who == SUSPECT_THREADS)
		return; /* neither this thread nor its name can be named then */
	part = part_of(all, s, who);
	part->share =
		add_share(part->share, SUSPECT_WHOLE * (double)(end - begin) / (double)s->cell_ns);
	if (part->there || !is_there(p, s))
		return;
	part->there = true;
	part->cpu = p->cpu;
	if (p->call_ns >= s->start_ns && p->call_ns <= s->end_ns + suspects_tolerance(s))
		part->call = p->call;
}

static int by_weight(const void *a, const void *b)
{
	const struct stop_part *x = a, *y = b;

	if (x->there != y->there)
		return x->there ? -1 : 1;
	return x->share != y->share ? y->share - x->share : (x->who > y->who) - (x->who < y->who);
}

/* Keeps those that were there, and of the others those with most time. */
static void trim(struct suspects *all, struct stop *s)
{
	struct stop_part *fewer;

	for (uint32_t i = 0; i < s->nparts; i++)
		all->thread[s->part[i].who].place = 0;
	qsort(s->part, s->nparts, sizeof(*s->part), by_weight);
	while (s->nparts > SUSPECT_PARTS)
		s->rest = add_share(s->rest, s->part[--s->nparts].share);
	fewer = s->nparts ? realloc(s->part, s->nparts * sizeof(*s->part)) : NULL;
	if (fewer)
		s->part = fewer;
}

/* Every second row goes: which ones nobody who runs has a part in. */
static void thin_out(struct suspects *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nrows; i++)
		if (i % 2)
			free(s->row[i].part);
		else
			s->row[n++] = s->row[i];
	s->nrows = n;
	s->stride *= 2;
}

void suspects_add(struct suspects *s, const struct stop *stop, const struct presence *p, uint32_t n)
{
	const uint32_t room = less(n, SUSPECT_THREADS);
	struct stop row = *stop;

	if (!s->row) {
		s->row = calloc(SUSPECT_ROWS, sizeof(*s->row));
		s->stride = 1;
	}
	if (!s->row || s->stops++ % s->stride)
		return;
	if (s->nrows == SUSPECT_ROWS) {
		thin_out(s);
		if ((s->stops - 1) % s->stride)
			return;
	}
	if (s->nrows && row.start_ns < s->row[s->nrows - 1].start_ns)
		return; /* read late */
	row.nparts = row.rest = 0;
	row.part = row.cell_ns && room ? calloc(room, sizeof(*row.part)) : NULL;
	if (!row.part && room)
		row.cell_ns = 0;
	for (uint32_t i = 0; i < n && row.cell_ns; i++)
		add_presence(s, &row, row.start_ns / row.cell_ns * row.cell_ns, &p[i]);
	if (row.part)
		trim(s, &row);
	s->row[s->nrows++] = row;
}

void suspects_cut(struct suspects *s, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nrows; i++)
		if (s->row[i].start_ns >= from_ns && s->row[i].start_ns < to_ns)
			s->row[n++] = s->row[i];
		else
			free(s->row[i].part);
	if (n < s->nrows) /* nobody knows how many of the others are in it */
		s->stops = (uint64_t)n * s->stride;
	s->nrows = n;
}

void suspects_free(struct suspects *s)
{
	for (uint32_t i = 0; i < s->nrows; i++)
		free(s->row[i].part);
	free(s->row);
	free(s->thread);
	free(s->slot);
	memset(s, 0, sizeof(*s));
}

/* ---- when ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int suspects_period(const struct suspects *s, struct stop_period *out)
{
	uint64_t *apart = calloc(s->nrows + 1, sizeof(*apart));
	uint32_t n = 0;

	*out = (struct stop_period){0};
	if (!apart)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nrows; i++)
		if (s->row[i].apart_ns)
			apart[n++] = s->row[i].apart_ns;
	if (n >= 2) {
		qsort(apart, n, sizeof(*apart), by_number);
		out->median_ns = apart[(n - 1) / 2];
		out->low_ns = apart[(n - 1) / 4];
		out->high_ns = apart[(n - 1) - (n - 1) / 4];
	}
	free(apart);
	return 0;
}

uint32_t suspects_cpus(const struct suspects *s)
{
	uint32_t least = s->of_cpus;

	for (uint32_t i = 0; i < s->nrows; i++)
		least = less(least, s->row[i].cpus);
	return least;
}
