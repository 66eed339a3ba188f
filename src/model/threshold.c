/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/threshold.h"

#define BARE_NS     200
#define GUEST_NS    500
#define SHORT_NS    100
#define LOOPS       8 /* usual loops in a threshold */
#define SHORT_LOOPS 4 /* usual loops in the shortest gap */
#define LEAST_LOOPS 3 /* usual loops in a threshold that is given */
#define WAYS_BACK   2 /* ways back to the loop in the shortest gap */
#define GRAIN       3 /* ticks: a loop may seem one or two longer than it is */
#define SHORT_RARE  100

/* Mean of the loops that are at most twice as long as the median: the median of a coarse counter is
 * a whole number of its ticks, and may differ in the next run. */
static double usual_ticks(const uint64_t loop[LOOP_SLOTS])
{
	uint64_t all = 0, seen = 0, median = 0;
	double sum = 0, count = 0;

	for (uint64_t i = 0; i < LOOP_SLOTS; i++)
		all += loop[i];
	while (median < LOOP_SLOTS - 1 && (seen += loop[median]) < all - all / 2)
		median++;
	for (uint64_t i = 0; i <= 2 * (median ? median : 1) && i < LOOP_SLOTS; i++) {
		sum += (double)i * loop[i];
		count += loop[i];
	}
	return count ? sum / count : 0;
}

uint64_t threshold_ticks(double ns, double ns_per_tick)
{
	double ticks = ns / ns_per_tick + 0.5;

	return ticks < 1 ? 1 : (uint64_t)ticks;
}

/* Rounds up to the next number of few digits (99: two), for readers. */
static double rounded(double ns, int most)
{
	double step = 1;

	while (ns / step > most)
		step *= 10;
	return ((uint64_t)(ns / step) + 1) * step;
}

uint64_t threshold_auto(const uint64_t loop[LOOP_SLOTS], double ns_per_tick, bool guest)
{
	double least = guest ? GUEST_NS : BARE_NS, own = LOOPS * usual_ticks(loop) * ns_per_tick;
	uint64_t ticks = threshold_ticks(own > least ? rounded(own, 99) : least, ns_per_tick);

	return ticks > GRAIN ? ticks : GRAIN + 1;
}

uint64_t threshold_short(const uint64_t loop[LOOP_SLOTS], double ns_per_tick, uint64_t way_back,
			 uint64_t threshold)
{
	double own = SHORT_LOOPS * usual_ticks(loop) * ns_per_tick;
	uint64_t from, all = 0, longer;

	if (own < WAYS_BACK * way_back * ns_per_tick)
		own = WAYS_BACK * way_back * ns_per_tick;
	from = threshold_ticks(own > SHORT_NS ? rounded(own, 99) : SHORT_NS, ns_per_tick);
	if (from < GRAIN)
		from = GRAIN;
	for (uint64_t i = 0; i < LOOP_SLOTS; i++)
		all += loop[i];
	for (; from < threshold && from < LOOP_SLOTS; from *= 2) {
		longer = 0;
		for (uint64_t i = from; i < LOOP_SLOTS; i++)
			longer += loop[i];
		if (longer <= all / SHORT_RARE)
			return from;
	}
	return from < threshold ? from : threshold;
}

uint64_t threshold_given(const uint64_t loop[LOOP_SLOTS], double ns_per_tick, uint64_t way_back,
			 uint64_t ticks)
{
	double own = LEAST_LOOPS * usual_ticks(loop), back = way_back * 1.25, most = own;
	uint64_t least = GRAIN;

	if (most < back)
		most = back;
	if (most > GRAIN)
		least = threshold_ticks(rounded(most * ns_per_tick, 9), ns_per_tick);
	return ticks > least ? ticks : least;
}
