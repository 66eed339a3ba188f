/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/slices.h"

static struct slots_table table(struct slices *s)
{
	return (struct slots_table){&s->cell[0].count, SLICES,
				    sizeof(s->cell[0]) / sizeof(uint64_t)};
}

static struct slice *find(struct slices *s, uint64_t at_ns)
{
	return (struct slice *)slots_at(&s->slots, table(s), at_ns);
}

static void coarsen(struct slices *s)
{
	slots_coarsen(&s->slots, table(s));
}

void slices_add(struct slices *s, uint64_t at_ns, uint64_t value)
{
	struct slice *cell = find(s, at_ns);

	cell->count++;
	cell->sum += value;
	s->squares += (double)value * (double)value;
	if (value > s->largest)
		s->largest = value;
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
		struct slice *cell;

		if (!from->cell[i].count)
			continue;
		cell = find(s, (from->slots.first + i) << from->slots.log2);
		cell->count += from->cell[i].count;
		cell->sum += from->cell[i].sum;
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
	struct slices s = *from;
	unsigned n = 0, log2;
	uint64_t first;

	if (!s.slots.log2 || length_ns >> SLOTS_LOG2_LEAST < SLICES / 2)
		return (struct slices_scatter){0, 0};
	while (length_ns >> s.slots.log2 >= SLICES)
		coarsen(&s);
	log2 = s.slots.log2;
	first = s.slots.first;
	while (at < end_ns) {
		uint64_t cell = at >> log2, next = (cell + 1) << log2,
			 to = next < end_ns ? next : end_ns;
		double slices = (double)(to - at) / (double)(UINT64_C(1) << log2);
		const struct slice *c =
			cell - first < SLICES ? &s.cell[cell - first] : &(struct slice){0, 0};

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
