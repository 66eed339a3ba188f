/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/timeline.h"

#include <stddef.h>

static struct slots_table table(struct timeline *t)
{
	return (struct slots_table){&t->lost_ns[0][0], TIMELINE_SLOTS, TIMELINE_KINDS};
}

/* Part of `lost` that belongs to the first `done` of `whole`: summed over all parts it is exact. */
static uint64_t come(uint64_t lost, uint64_t done, uint64_t whole)
{
	return done == whole ? lost : (unsigned __int128)lost * done / whole;
}

void timeline_add(struct timeline *t, uint64_t start_ns, uint64_t duration_ns,
		  const uint64_t lost_ns[TIMELINE_KINDS])
{
	uint64_t last_ns = start_ns + duration_ns - 1, *first;

	if (!duration_ns)
		return;
	slots_at(&t->slots, table(t), last_ns); /* from here on slots keep their length */
	first = slots_at(&t->slots, table(t), start_ns);
	if (start_ns >> t->slots.log2 == last_ns >> t->slots.log2) { /* as nearly all do */
		for (unsigned k = 0; k < TIMELINE_KINDS; k++)
			first[k] += lost_ns[k];
		return;
	}
	for (uint64_t done = 0, next; done < duration_ns; done = next) {
		uint64_t *slot = slots_at(&t->slots, table(t), start_ns + done);
		uint64_t end = (((start_ns + done) >> t->slots.log2) + 1) << t->slots.log2;

		next = end - start_ns < duration_ns ? end - start_ns : duration_ns;
		for (unsigned k = 0; k < TIMELINE_KINDS; k++)
			if (lost_ns[k])
				slot[k] += come(lost_ns[k], next, duration_ns) -
					   come(lost_ns[k], done, duration_ns);
	}
}

const uint64_t *timeline_slot(const struct timeline *t, uint64_t slot)
{
	if (!t->slots.log2 || slot < t->slots.first || slot - t->slots.first >= TIMELINE_SLOTS)
		return NULL;
	return t->lost_ns[slot - t->slots.first];
}

void timeline_coarsen(struct timeline *t)
{
	slots_coarsen(&t->slots, table(t));
}
