/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/course.h"

#include <stdlib.h>
#include <string.h>

void course_place(struct course *c, struct course_bin *memory)
{
	memset(c, 0, sizeof(*c));
	c->bin = memory;
}

void course_reset(struct course *c, uint64_t width)
{
	memset(c->bin, 0, COURSE_BINS * sizeof(*c->bin));
	*c = (struct course){.width = width, .bin = c->bin};
}

void course_free(struct course *c)
{
	free(c->bin);
	*c = (struct course){0};
}

/* Makes one slice of each two. */
static void halve(struct course *c)
{
	uint32_t half = (c->n + 1) / 2;

	for (uint32_t i = 0; i < half; i++) {
		struct course_bin b = c->bin[2 * i];

		if (2 * i + 1 < c->n) {
			const struct course_bin *next = &c->bin[2 * i + 1];

			b.count += next->count;
			b.sum += next->sum;
			b.max = b.max > next->max ? b.max : next->max;
		}
		c->bin[i] = b;
	}
	memset(c->bin + half, 0, (c->n - half) * sizeof(*c->bin));
	c->n = half;
	c->width *= 2;
}

void course_seek(struct course *c, uint64_t at)
{
	uint64_t from;

	if (!c->n)
		c->start = at;
	from = at - c->start <= INT64_MAX ? at - c->start : 0;
	while (from / c->width >= COURSE_BINS)
		halve(c);
	c->filled = from / c->width;
	c->begin = c->start + c->filled * c->width;
	c->reach = c->width;
	if (c->n <= c->filled)
		c->n = c->filled + 1;
}

bool course_fits(const struct course *c, const struct hist *h)
{
	uint64_t count = 0, max = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		count += c->bin[i].count;
		max = c->bin[i].max > max ? c->bin[i].max : max;
		if (c->bin[i].count ? c->bin[i].sum / c->bin[i].count > c->bin[i].max
				    : c->bin[i].sum || c->bin[i].max)
			return false;
	}
	return h->count - count <= 1 && max <= h->max;
}

bool course_copy(struct course *to, const struct course *from, uint64_t start_ns,
		 double ns_per_tick)
{
	*to = (struct course){0};
	if (!from->n)
		return true;
	to->bin = malloc(from->n * sizeof(*to->bin));
	if (!to->bin)
		return false;
	memcpy(to->bin, from->bin, from->n * sizeof(*to->bin));
	to->n = from->n;
	to->start = start_ns;
	to->width = from->width * ns_per_tick + 0.5;
	return true;
}
