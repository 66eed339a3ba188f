/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/frequency.h"

#include <stdlib.h>

#include "model/view.h"

bool khz_add(struct khz_changes *c, uint64_t at_ns, uint32_t khz)
{
	if (c->n == KHZ_CHANGES_MAX || (c->n && at_ns <= c->row[c->n - 1].at_ns))
		return false;
	if (c->n == c->room) {
		uint32_t room = c->room ? 2 * c->room : 16;
		struct khz_change *more = reallocarray(c->row, room, sizeof(*more));

		if (!more)
			return false;
		c->row = more;
		c->room = room;
	}
	c->row[c->n++] = (struct khz_change){at_ns, khz};
	return true;
}

void khz_free(struct khz_changes *c)
{
	free(c->row);
	*c = (struct khz_changes){0};
}

void khz_cut(struct cpu *c, uint64_t from_ns, uint64_t to_ns)
{
	struct khz_changes *t = &c->khz;
	bool known = to_ns <= c->khz_until_ns || (t->n && c->khz_changes == t->n);
	uint32_t all = known ? t->n : 0;

	t->n = 0;
	c->khz_min = c->khz_max = 0;
	for (uint32_t i = 0; i < all; i++) {
		const struct khz_change *x = &t->row[i];

		if (x->at_ns < from_ns || x->at_ns >= to_ns)
			continue;
		if (!t->n || x->khz < c->khz_min)
			c->khz_min = x->khz;
		if (x->khz > c->khz_max)
			c->khz_max = x->khz;
		t->row[t->n++] = *x;
	}
	c->khz_changes = t->n;
	c->khz_until_ns = known ? KHZ_ALWAYS : 0;
}

void khz_shorten(struct cpu *c, uint32_t most)
{
	struct khz_changes *t = &c->khz;
	uint64_t last_ns = most && most < t->n ? t->row[most - 1].at_ns : 0;

	if (most >= t->n)
		return;
	if (c->khz_changes == t->n || c->khz_until_ns > last_ns)
		c->khz_until_ns = last_ns;
	t->n = most;
}
