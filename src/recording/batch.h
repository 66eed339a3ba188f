/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The next few thousand events of a recording, decoded, checked, and sorted by the lanes of the
 * view. One thread fills a batch while others take the one before it; names hold from the begin of
 * the batch in which they come. For the reader alone.
 *
 * What one CPU writes and another reads goes from cache to cache, line by line, which takes longer
 * than to decode it. So the events of a lane lie packed one after the other, where a CPU fetches
 * them ahead, and records without their second half if that is empty. */
#ifndef CULPRIT_BATCH_H
#define CULPRIT_BATCH_H

#include "model/session.h"
#include "recording/bytes.h"

#define BATCH_EVENTS 32768
#define BATCH_NAMES  (1 << 20) /* bytes; with as many it is full, too */
#define BATCH_BLOCK  2048      /* bytes of a lane's events in one piece */

/* A place in the events of a lane. */
struct batch_at {
	uint32_t block; /* 1 + its number */
	uint32_t offset;
};

struct batch_lane {
	uint32_t events;
	struct batch_at first, next; /* next: where the next one goes */
};

struct batch_block {
	uint32_t next; /* 1 + number of the lane's next block; 0: it is the last */
	uint32_t used; /* bytes */
	uint64_t data[BATCH_BLOCK / 8 - 1];
};

struct batch_name {
	struct event event;
	size_t at, end; /* place of its texts, in `texts` */
};

struct batch {
	uint32_t n;
	uint64_t place;  /* place of the first event among all */
	uint32_t *order; /* the lane of each event */
	uint64_t *line;  /* ends of the lines of hiccups among those of their lane; 0: no line */
	struct batch_lane *lane;
	uint32_t *active; /* lanes that have events; those with most come first, once it is full */
	uint32_t nactive;
	struct batch_block *block;
	uint32_t nblocks, blocks_room;
	struct batch_name *name;
	uint32_t nnames, names_room;
	struct bytes texts;
};

int batch_init(struct batch *b, uint32_t nlanes); /* 0 or -ENOMEM; batch_free in either case */
void batch_free(struct batch *b);
void batch_clear(struct batch *b, uint64_t place);
/* True: it has room for one more event at most. */
static inline bool batch_full(const struct batch *b)
{
	return b->n >= BATCH_EVENTS || b->texts.len >= BATCH_NAMES || b->nnames == BATCH_EVENTS;
}

void batch_add(struct batch *b, const struct event *e); /* out of memory it is left out */
/* Takes a name with its texts, which go from `from` to `to`. */
void batch_add_name(struct batch *b, const struct event *e, const uint8_t *from, const uint8_t *to);
void batch_sort(struct batch *b); /* the active lanes, when it is full */

/* Reads the next event of a lane, from its `first` on. The event points into the batch or to
 * *record, which begins as zeros and is the caller's. *k: which of the batch's it is. False: there
 * are no more before this one of the batch's. */
bool batch_next(const struct batch *b, struct batch_at *at, uint32_t limit, struct event *e,
		struct record *record, uint32_t *k);

#endif
