/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threshold: how long a gap must be to count, from the lengths of the sampler's loops while it
 * learned.
 *
 *   hiccup     a gap as long as the threshold or longer: kept with its time, and explained
 *   short gap  a gap below it, but longer than the loop ever is by itself: counted, and its time
 *              added up
 *
 * `-t auto` is 200 ns on bare metal and 500 ns in a guest, where the host makes tens of thousands
 * of short gaps a second; or eight of the sampler's usual loops where those are longer. It depends
 * neither on rare events nor on anything outside the loop: otherwise each run would have another
 * threshold, and runs could not be compared.
 */
#ifndef CULPRIT_THRESHOLD_H
#define CULPRIT_THRESHOLD_H

#include <stdbool.h>
#include <stdint.h>

/* slots of a histogram of loops by ticks; the last holds all longer ones */
#define LOOP_SLOTS 8192

/* Threshold of -t auto, ticks. */
uint64_t threshold_auto(const uint64_t loop[LOOP_SLOTS], double ns_per_tick, bool guest);

/* Begin of short gaps below this threshold, ticks: 100 ns or four usual loops, and so long that at
 * most one loop in a hundred is a gap; and twice as long as the way back from noting one
 * (way_back), which would be the next one otherwise, and so on. The threshold itself when none fit
 * below it. */
uint64_t threshold_short(const uint64_t loop[LOOP_SLOTS], double ns_per_tick, uint64_t way_back,
			 uint64_t threshold);

/* The threshold where so many ticks are wanted: at least three usual loops, and a quarter more than
 * the way back from noting a gap, in ns of one digit, so that runs have the same. Below that the
 * loop itself would be hiccups, or each one's end the next one. */
uint64_t threshold_given(const uint64_t loop[LOOP_SLOTS], double ns_per_tick, uint64_t way_back,
			 uint64_t ticks);

/* At least one. */
uint64_t threshold_ticks(double ns, double ns_per_tick);

#endif
