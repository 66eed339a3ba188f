/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/waits.h"

#include <sys/mman.h>

#include "state.h"

#define BYTES (WAIT_SETS * sizeof(struct wait_set))

const struct wait_set *waits_map(const struct probes *p)
{
	void *at = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, probes_map(p, PROBES_WAITS), 0);

	return at == MAP_FAILED ? NULL : at;
}

void waits_unmap(const struct wait_set *table)
{
	if (table)
		munmap((void *)table, BYTES);
}

static bool ends_a_wait(const struct record *r)
{
	return r->kind == RECORD_WATCH && (r->mark == WATCH_IN_PREEMPTED ||
					   r->mark == WATCH_IN_WOKEN || r->mark == WATCH_IN_DUE);
}

void waits_at_end(const struct wait_set *table, struct rings *const *rings, uint32_t nrings,
		  uint64_t end, void (*tell)(void *ctx, uint32_t tid, uint64_t since_ns), void *ctx)
{
	const struct record *r;

	for (uint32_t i = 0; i < nrings; i++) {
		rings_look(rings[i]);
		for (; (r = rings_next_of(rings[i], LEVEL_THREAD));
		     rings_pop(rings[i], LEVEL_THREAD))
			if (ends_a_wait(r) && r->start_ns < end && r->end_ns >= end)
				tell(ctx, r->id, r->start_ns);
		rings_release(rings[i]);
	}
	for (const struct wait_set *s = table; s < table + WAIT_SETS; s++)
		for (const struct wait *w = s->wait; w < s->wait + WAIT_WAYS; w++)
			if (w->tid && w->since_ns && w->since_ns < end)
				tell(ctx, w->tid, w->since_ns);
}
