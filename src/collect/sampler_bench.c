/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loops that bench times: a bare one, and the sampler's own. */
#include <sched.h>

#include "collect/learn.h"

#define BENCH_BATCH 20000

double sampler_bench_bare(unsigned batches)
{
	double best = 1e9;

	while (batches--) {
		uint64_t start = counter_now(), now = start, before, longest = 0;

		for (int i = 0; i < BENCH_BATCH; i++) {
			before = now;
			now = counter_now();
			if (__builtin_expect(now - before > longest, 0))
				longest = now - before;
		}
		__asm__ volatile("" : : "r"(longest));
		if ((double)(now - start) / BENCH_BATCH < best)
			best = (double)(now - start) / BENCH_BATCH;
	}
	return best;
}

void sampler_bench_loop(struct sampler_shm *shm, uint64_t short_from, uint64_t threshold)
{
	struct spin s = {.shm = shm,
			 .cursors = &no_cursors,
			 .cpu = sched_getcpu(),
			 .counter = true,
			 .deadline = UINT64_MAX};

	learn_limits(shm, short_from, threshold);
	shm->busy_min = shm->short_busy_min = UINT64_MAX / 8;
	shm->anchor_min = UINT64_MAX / 8;
	shm->loop_min = UINT64_MAX;
	shm->loop_count = shm->away_ticks = shm->short_count = shm->busy_ticks = 0;
	atomic_store(&shm->tail, atomic_load(&shm->head));
	spin_window(&s);
}
