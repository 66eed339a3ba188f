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

#include <stddef.h>
#include <string.h>

#include "model/session.h"
#include "recording/bytes.h"

#define BATCH_EVENTS 32768
#define BATCH_NAMES  (1 << 20) /* bytes; with as many it is full, too */
#define BATCH_BLOCK  2048      /* bytes of a lane's events in one piece */
#define BATCH_HALF   offsetof(struct record, name)

/* A place in the events of a lane. */
struct batch_at {
	uint32_t block; /* 1 + its number */
	uint32_t offset;
};

/* Before each event. */
struct batch_head {
	uint8_t type;
	bool half;      /* a record of which only the first half and its sequence follow */
	uint16_t bytes; /* with this head */
	uint32_t k;
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

/* Takes an event; out of memory it is left out. The second is for those that are records. */
void batch_add(struct batch *b, const struct event *e);
void batch_add_record(struct batch *b, const struct event *e);
/* Takes a name with its texts, which go from `from` to `to`. */
void batch_add_name(struct batch *b, const struct event *e, const uint8_t *from, const uint8_t *to);
void batch_sort(struct batch *b); /* the active lanes, when it is full */

/* Reads the next event of a lane, from its `first` on: its head, with its number in the
 * batch. NULL: there are no more before this one of the batch's. */
static inline const struct batch_head *batch_next(const struct batch *b, struct batch_at *at,
						  uint32_t limit)
{
	const struct batch_block *block = &b->block[at->block - 1];
	const struct batch_head *head;

	if (at->offset == block->used) {
		if (!block->next)
			return NULL;
		*at = (struct batch_at){.block = block->next};
		block = &b->block[at->block - 1];
	}
	head = (const void *)((const char *)block->data + at->offset);
	if (head->k >= limit)
		return NULL;
	at->offset += head->bytes;
	return head;
}

/* The record behind a head: in the batch, or *room, which begins as zeros and is the caller's. */
static inline const struct record *batch_record(const struct batch_head *head, struct record *room)
{
	const char *from = (const void *)(head + 1);

	if (!head->half)
		return (const void *)from;
	memcpy(room, from, BATCH_HALF); /* the rest of it is zeros */
	memcpy(&room->seq, from + BATCH_HALF, sizeof(room->seq));
	return room;
}

/* The event behind a head. It points into the batch or to *room, as above. */
void batch_event(const struct batch *b, const struct batch_head *head, struct record *room,
		 struct event *e);

#endif
