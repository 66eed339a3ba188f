/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of a CPU's frequency in the window, the first ones of many. Pure. */
#ifndef CULPRIT_FREQUENCY_H
#define CULPRIT_FREQUENCY_H

#include <stdbool.h>
#include <stdint.h>

struct khz_change {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	uint32_t khz;   /* from then on */
};

#define KHZ_CHANGES_MAX 4096

struct khz_changes {
	struct khz_change *row; /* owned; in order of time */
	uint32_t n, room;
};

#define KHZ_ALWAYS UINT64_MAX /* as the end of what is known: all of the window */

struct cpu;

/* Adds one. False: it is not later than the last, there are as many as may be, or no memory. */
bool khz_add(struct khz_changes *c, uint64_t at_ns, uint32_t khz);
void khz_free(struct khz_changes *c);
/* Leaves a CPU those of this time, and their number and extremes; none where not all are known. */
void khz_cut(struct cpu *c, uint64_t from_ns, uint64_t to_ns);
/* Leaves a CPU the first of them, at most so many. */
void khz_shorten(struct cpu *c, uint32_t most);

#endif
