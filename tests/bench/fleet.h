/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The minutes of a fleet, as `report -f parquet-rollup` writes them of recordings of a day, made of
 * the hiccups that real machines had: each has the pieces and the times that it had there. Hosts
 * differ: how many hiccups they have, which kernel, and one of fifty has much more of one source.
 */
#ifndef CULPRIT_BENCH_FLEET_H
#define CULPRIT_BENCH_FLEET_H

#include <stdint.h>

#define FLEET_CPUS 2

struct fleet_size {
	unsigned hosts, hours;
	double rate; /* hiccups in a second of one CPU of the middle host */
};

/* Writes DIRECTORY/minutes/host-0001/day.parquet and so on, from recordings of a CPU or more, which
 * the hosts have in turn. Always the same bytes. Prints how many hiccups there are. 0 or -1, said.
 */
int bench_fleet(const char *directory, const struct fleet_size *size, char **path, unsigned n);

#endif
