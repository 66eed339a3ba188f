/* Origins: who asked for what a source ran, told from the records' askers. Each source keeps the first few dozen apart and counts
 * the rest together. */
#ifndef CULPRIT_ORIGIN_H
#define CULPRIT_ORIGIN_H

#include <stdint.h>
#include "model/names.h"
#include "record.h"

#define ORIGINS_MAX 32

/* A request as it was recorded. */
struct origin_last {
	int32_t stack;
	uint32_t tid;
	uint64_t site;
	char comm[16];
};

struct origin {
	uint16_t cpu;
	uint32_t tid; /* 0: an interrupt asked */
	char comm[17];
	const char *function; /* the one behind the request; NULL: not known */
	uint64_t count;
	int nframes;
	const char *frame[STACK_FRAMES]; /* of the first such request */
	struct origin_last last;         /* the newest such request */
};

struct origins {
	struct origin row[ORIGINS_MAX];
	uint32_t count;
	uint64_t others; /* requests by askers that found no row */
	uint64_t known;  /* requests whose asker was noted */
};

/* r is a mark with RECORD_ORIGIN. Returns 1 + its row, 0 when it found none. */
uint32_t origins_add(struct origins *o, const struct record *r, const struct names *names);

/* Indices of the n most frequent rows into order[n]; returns how many there are. */
uint32_t origins_top(const struct origins *o, uint32_t *order, uint32_t n);

#endif
