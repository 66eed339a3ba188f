/* Intervals one by one, in the order in which they ended, for those who want more than sums: what
 * the nest netted, and what the kernel's osnoise tracer said of the same. */
#ifndef CULPRIT_INTERVAL_H
#define CULPRIT_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>
#include "record.h"

struct interval {
	uint64_t end_ns; /* of theirs: when the event came, just behind the end */
	uint64_t net_ns;
	bool theirs; /* osnoise says so */
	/* enum record_kind; osnoise does not tell vectors from IRQs: RECORD_IRQ is both */
	uint8_t kind;
	uint32_t id; /* IRQ, vector number, softirq, tid */
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

/* An interval from a record: its own, or osnoise's of it. */
struct interval interval_of(const struct record *r, uint64_t net_ns);

#endif
