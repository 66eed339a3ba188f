/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/slices.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* All slices, for what moves them. */
struct all {
	struct slots slots;
	struct slice cell[SLICES];
};

static struct slots_table table(struct all *all)
{
	return (struct slots_table){&all->cell[0].count, SLICES,
				    sizeof(all->cell[0]) / sizeof(uint64_t)};
}

/* Place of a slice's cell, where it has one. */
static inline unsigned place_of(const struct slices *s, unsigned number)
{
	return s->room == SLICES ? number
				 : (unsigned)__builtin_popcount(s->used & ((1U << number) - 1));
}

struct slice slices_at(const struct slices *s, unsigned number)
{
	return s->used >> number & 1 ? s->cell[place_of(s, number)] : (struct slice){0, 0};
}

static void unpack(const struct slices *s, struct all *all)
{
	all->slots = s->slots;
	for (unsigned i = 0; i < SLICES; i++)
		all->cell[i] = slices_at(s, i);
}

/* Takes back what has moved: there are never more slices than before. */
static void pack(struct slices *s, const struct all *all)
{
	s->slots = all->slots;
	s->used = 0;
	for (unsigned i = 0; i < SLICES; i++) {
		bool used = all->cell[i].count;

		s->used |= (uint32_t)used << i;
		if (used || s->room == SLICES)
			s->cell[place_of(s, i)] = all->cell[i];
	}
}

/* Makes room for one more cell. */
static bool grow(struct slices *s)
{
	uint32_t room = s->room ? 2 * s->room : 1, n = (uint32_t)__builtin_popcount(s->used);
	struct slice *more;
	struct all all;

	if (n < s->room)
		return true;
	if (room == SLICES)
		unpack(s, &all);
	more = reallocarray(s->cell, room, sizeof(*more));
	if (!more)
		return false;
	s->cell = more;
	s->room = room;
	if (room == SLICES)
		memcpy(more, all.cell, sizeof(all.cell));
	return true;
}

/* Makes the slice of a time that has none; NULL: no memory. */
static struct slice *find_new(struct slices *s, uint64_t at_ns)
{
	uint64_t number = (at_ns >> s->slots.log2) - s->slots.first;
	struct all all;
	unsigned place, n;

	if (!s->slots.log2) { /* the first: nothing is there that could move */
		slots_make(&s->slots, table(&all), at_ns);
		number = (at_ns >> s->slots.log2) - s->slots.first;
	} else if (number >= SLICES) {
		unpack(s, &all);
		slots_make(&all.slots, table(&all), at_ns);
		pack(s, &all);
		number = (at_ns >> s->slots.log2) - s->slots.first;
	}
	if (s->used >> number & 1)
		return &s->cell[place_of(s, number)];
	if (!grow(s))
		return NULL;
	place = place_of(s, number);
	n = (unsigned)__builtin_popcount(s->used);
	if (s->room < SLICES)
		memmove(&s->cell[place + 1], &s->cell[place], (n - place) * sizeof(*s->cell));
	s->cell[place] = (struct slice){0, 0};
	s->used |= 1U << number;
	return &s->cell[place];
}

/* NULL: no memory. */
static inline struct slice *find(struct slices *s, uint64_t at_ns)
{
	uint64_t number = (at_ns >> s->slots.log2) - s->slots.first;

	if (number < SLICES && s->used >> number & 1)
		return &s->cell[place_of(s, number)];
	return find_new(s, at_ns);
}

void slices_free(struct slices *s)
{
	free(s->cell);
	*s = (struct slices){0};
}

void slices_add(struct slices *s, uint64_t at_ns, uint64_t value)
{
	struct slice *cell = find(s, at_ns);

	if (cell) {
		cell->count++;
		cell->sum += value;
	}
	s->squares += (double)value * (double)value;
	if (value > s->largest)
		s->largest = value;
}

static void coarsen(struct slices *s)
{
	struct all all;

	unpack(s, &all);
	slots_coarsen(&all.slots, table(&all));
	pack(s, &all);
}

void slices_merge(struct slices *s, const struct slices *from)
{
	if (!from->slots.log2)
		return;
	if (!s->slots.log2)
		s->slots = from->slots;
	while (s->slots.log2 < from->slots.log2)
		coarsen(s);
	for (unsigned i = 0; i < SLICES; i++) {
		const struct slice add = slices_at(from, i);
		struct slice *cell;

		if (!add.count)
			continue;
		cell = find(s, (from->slots.first + i) << from->slots.log2);
		if (!cell)
			continue;
		cell->count += add.count;
		cell->sum += add.sum;
	}
	s->squares += from->squares;
	if (from->largest > s->largest)
		s->largest = from->largest;
}

/* Count and sum in a part of the window. */
struct part {
	double slices, sum, count;
};

/* Compares the slices' sums with an even share of the whole, by their lengths. */
static struct slices_scatter scatter(const struct part *part, unsigned n, const struct part *whole)
{
	double student = n - 1 > 2 ? (n - 1.0) / (n - 3.0) : 3;
	double times = n > 1 ? student * whole->slices / (n - 1) : 0;
	struct slices_scatter v = {0, 0};

	for (unsigned i = 0; i < n; i++) {
		double share = part[i].slices / whole->slices;
		double sum = part[i].sum - share * whole->sum,
		       count = part[i].count - share * whole->count;

		v.sum += times * sum * sum / part[i].slices;
		v.count += times * count * count / part[i].slices;
	}
	return v;
}

/* The window's first and last slices are cut; each is merged with its neighbour. */
struct slices_scatter slices_scatter(const struct slices *from, uint64_t begin_ns,
				     uint64_t length_ns)
{
	struct part part[SLICES + 1], whole = {0, 0, 0};
	uint64_t end_ns = begin_ns + length_ns, at = begin_ns;
	struct all all;
	unsigned n = 0, log2;
	uint64_t first;

	if (!from->slots.log2 || length_ns >> SLOTS_LOG2_LEAST < SLICES / 2)
		return (struct slices_scatter){0, 0};
	unpack(from, &all);
	while (length_ns >> all.slots.log2 >= SLICES)
		slots_coarsen(&all.slots, table(&all));
	log2 = all.slots.log2;
	first = all.slots.first;
	while (at < end_ns) {
		uint64_t cell = at >> log2, next = (cell + 1) << log2,
			 to = next < end_ns ? next : end_ns;
		double slices = (double)(to - at) / (double)(UINT64_C(1) << log2);
		const struct slice *c =
			cell - first < SLICES ? &all.cell[cell - first] : &(struct slice){0, 0};

		if (n && (slices < 1 || part[n - 1].slices < 1))
			n--;
		else
			part[n] = (struct part){0, 0, 0};
		part[n].slices += slices;
		part[n].sum += (double)c->sum;
		part[n].count += (double)c->count;
		n++;
		whole.slices += slices;
		whole.sum += (double)c->sum;
		whole.count += (double)c->count;
		at = to;
	}
	return scatter(part, n, &whole);
}
