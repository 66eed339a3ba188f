/* What the encoder and the decoder of a chunk both know: the table of shapes, and what came last of
 * each CPU. The encoding itself is described in codec.h. */
#ifndef CULPRIT_CODEC_STATE_H
#define CULPRIT_CODEC_STATE_H

#include <stdint.h>

#include "record.h"

#define CODE_CPU       0x40
#define CODE_RECORD    0x80
#define SHAPE_NEW      1
#define SEQUENCE_JUMPS 2
#define INSTANT        4
#define SHAPES         4096
/* In a WHERE, enum spot_thread above the tid: older readers took 32 bits, older writers have 0. */
#define SPOT_THREAD_SHIFT 32
/* ...and above that its series: older readers took it for no thread that they know. */
#define SPOT_SERIES_SHIFT 40

/* A record without its times and its place in the sequence. */
struct shape {
	uint64_t arg, origin;
	uint32_t id;
	int32_t stack;
	uint16_t prio;
	uint8_t kind, level, flags, mark;
	uint8_t pad[2]; /* zero: shapes are compared as memory */
	char name[16];
};

struct last { /* newest values of a CPU */
	uint64_t record_end, hiccup_end;
	uint32_t after[LEVELS], seq[LEVELS];
	/* Format 1: the whole sequence number of the newest record; lives through all chunks. */
	uint32_t whole[LEVELS];
};

/* State that writer and reader hold alike. */
struct codec_state {
	uint32_t ncpus, index;
	uint32_t chunk;            /* number of the chunk */
	uint32_t of_chunk[SHAPES]; /* the chunk that the shape belongs to */
	struct shape shape[SHAPES];
	struct last *last;
};

struct codec_state *codec_state_new(uint32_t ncpus); /* NULL: out of memory */
void codec_state_free(struct codec_state *s);
void codec_state_start(struct codec_state *s, uint64_t base); /* a chunk begins; base: ns */

#endif
