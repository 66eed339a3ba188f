/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state that the encoder and the decoder of a chunk both keep: the table of shapes, and the
 * last event of each CPU. The encoding itself is described in codec.h. */
#ifndef CULPRIT_CODEC_STATE_H
#define CULPRIT_CODEC_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

#define CODE_CPU       0x40
#define CODE_NEAR      0x41 /* a hiccup that its records nearly tell */
#define CODE_RECORD    0x80
#define SHAPE_NEW      1
#define SEQUENCE_JUMPS 2
#define INSTANT        4
#define SHAPES         4096
/* Most records of each level in a hiccup of CODE_NEAR: its byte has so many bits for each. */
enum { NEAR_THREADS = 3, NEAR_SOFTIRQS = 3, NEAR_IRQS = 7, NEAR_NMIS = 1 };
/* In a WHERE, enum spot_thread above the tid: older readers took 32 bits, older writers have 0. */
#define SPOT_THREAD_SHIFT 32
/* In a hiccup's first number, how many were lost before it: older readers took 32 bits, older
 * writers have 0. */
#define HICCUPS_LOST_SHIFT 32
/* In a WHERE, the series above that: older readers took it for no thread that they know. */
#define SPOT_SERIES_SHIFT 40

/* Number of records of a level that a hiccup may look back upon. A reader of rings takes all
 * records that have come before it looks at their hiccups. */
#define NEAR_RECORDS 256

/* Time of a record, by its place in the sequence modulo NEAR_RECORDS. */
struct near {
	uint32_t seq, chunk; /* the entry holds in this chunk alone */
	uint64_t start_ns, end_ns;
};

struct last { /* newest values of a CPU */
	uint64_t record_end, hiccup_end;
	uint32_t after[LEVELS], seq[LEVELS];
	/* Format 1: the whole sequence number of the newest record; lives through all chunks. */
	uint32_t whole[LEVELS];
	struct near *near[LEVELS]; /* NEAR_RECORDS of them; NULL: none yet, or no memory */
};

/* State that writer and reader hold alike, beside the shapes themselves. */
struct codec_state {
	uint32_t ncpus, index;
	uint32_t chunk;            /* number of the chunk */
	uint32_t shapes;           /* number of places taken in it */
	uint32_t of_chunk[SHAPES]; /* the chunk that the shape at this place belongs to */
	struct last *last;
};

struct codec_state *codec_state_new(uint32_t ncpus); /* NULL: out of memory */
void codec_state_free(struct codec_state *s);
void codec_state_start(struct codec_state *s, uint64_t base); /* a chunk begins; base: ns */

/* Makes room for the notes of a level of the CPU in hand. False: no memory. */
bool codec_state_room(struct codec_state *s, unsigned level);

/* Notes when a record of the CPU in hand was. False: no memory. */
static inline bool codec_state_note(struct codec_state *s, const struct record *r)
{
	unsigned level = r->level % LEVELS;

	if (!s->last[s->index].near[level] && !codec_state_room(s, level))
		return false;
	s->last[s->index].near[level][r->seq % NEAR_RECORDS] =
		(struct near){r->seq, s->chunk, r->start_ns, r->end_ns};
	return true;
}

/* Guesses where a hiccup of the CPU in hand should begin and end, which holds the next n[level]
 * records after its last one: with the first and the last of them, as far as they are known. */
void codec_state_guess(const struct codec_state *s, const uint32_t n[LEVELS], uint64_t *start_ns,
		       uint64_t *end_ns);

#endif
