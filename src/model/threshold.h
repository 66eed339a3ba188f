/* How long a gap has to be to count: from the lengths of the sampler's loops while it learned.
 *
 *   hiccup     a gap of the threshold at least: kept with its time, and explained
 *   short gap  a gap below it, but longer than the loop ever is by itself: counted, and its time
 *              summed up
 *
 * `-t auto` is 200 ns on bare metal and 500 ns in a guest, where the host's own short gaps come in
 * tens of thousands a second; where eight of the sampler's usual loops are longer than that, it is
 * those. It follows neither what is rare nor what is outside the loop: a threshold that did would
 * be another one in each run, and runs could not be compared.
 */
#ifndef CULPRIT_THRESHOLD_H
#define CULPRIT_THRESHOLD_H

#include <stdbool.h>
#include <stdint.h>

#define LOOP_SLOTS 8192 /* of a histogram of loops by ticks; longer ones are in the last */

/* The threshold of -t auto, ticks. */
uint64_t threshold_auto(const uint64_t loop[LOOP_SLOTS], double ns_per_tick, bool guest);

/* Where short gaps begin below this threshold, ticks: 100 ns or four usual loops, and so long that
 * at most one loop in a hundred is one. The threshold itself: none fit below it. */
uint64_t threshold_short(const uint64_t loop[LOOP_SLOTS], double ns_per_tick, uint64_t threshold);

/* At least one. */
uint64_t threshold_ticks(double ns, double ns_per_tick);

#endif
