/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals one by one, in the order of their ends, for readers that need more than sums: the
 * nest's with net times, and the kernel's osnoise tracer's. */
#ifndef CULPRIT_INTERVAL_H
#define CULPRIT_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>
#include "model/kind.h"

struct interval {
	uint64_t end_ns; /* end; for the kernel's own events the time of the event, just after the
			    end */
	uint64_t net_ns;
	bool theirs;           /* reported by osnoise */
	enum source_kind kind; /* osnoise does not tell vectors from IRQs: SOURCE_IRQ is both */
	uint32_t id;           /* IRQ, vector number, softirq, tid */
	char name[17];
};

#define INTERVALS_KEPT 32768 /* a power of two */

/* A ring between the nest and a reader that comes often enough. */
struct intervals {
	uint64_t head, tail;
	uint64_t lost; /* the reader was late */
	struct interval slot[INTERVALS_KEPT];
};

void intervals_push(struct intervals *q, const struct interval *i);
const struct interval *
intervals_next(struct intervals *q); /* NULL: none; valid until the next call or push */

/* The interval of a record: our own, or osnoise's. */
struct interval interval_of(const struct record *r, uint64_t net_ns);

#endif
