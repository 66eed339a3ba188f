/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chunks of a file, in order; damaged ones are skipped. */
#ifndef CULPRIT_CHUNKS_H
#define CULPRIT_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "recording/bytes.h"

struct chunks {
	int fd;
	unsigned major; /* version of the file's format */
	uint64_t at, size;
	uint32_t type; /* type of the chunk in hand */
	/* Begin of the chunk in hand; after the last one, of the first that is missing. */
	uint64_t start;
	uint8_t *payload; /* uncompressed */
	uint32_t len;
	uint32_t damaged;    /* skipped chunks */
	uint64_t damaged_at; /* the first of them */
	bool cut;            /* the file ends within a chunk */
	uint64_t unpacked;   /* bytes that came out of packed chunks, since the first chunk */
	bool too_much;       /* the chunk at `start` would make them more than a file may hold */
	bool unknown;        /* some are packed by zstd, and culprit was built without it */
	struct unpacker *unpacker;
	uint8_t *stored;
	size_t payload_room, stored_room;
};

/* Before who calls it gives away the right to make files: makes the one without a name into which
 * standard input is copied if that is a pipe and is opened as "-". */
void chunks_expect_input(void);

/* Takes at most so many bytes from standard input where it is copied: who writes there may never
 * end, and the place for such files may be memory. */
void chunks_bound_input(uint64_t bytes);

/* 0, or -1 with the reason said: the file cannot be opened, or is no recording that this version
 * can read. name: what messages call it; NULL: its path. */
int chunks_open(struct chunks *c, const char *path, const char *name);
void chunks_close(struct chunks *c);
void chunks_rewind(struct chunks *c); /* back to the first chunk; forgets the damaged ones */
bool chunks_next(struct chunks *c);   /* false: there are no more */
/* Finds the next chunk of a type, as long as all heads on the way are whole; reads no other
 * payload. */
bool chunks_find(struct chunks *c, uint32_t type);

/* Chunks of events that follow each other, and what is behind them. */
struct chunk_group {
	uint32_t chunks;
	uint64_t raw;  /* bytes, unpacked */
	uint64_t end;  /* place behind the last chunk */
	uint64_t next; /* place behind their index, if they have one */
};

/* Looks at the chunks of events that come next, up to their index. True: that one is the payload in
 * hand now. The next chunk stays the same in any case, but for an index, which is passed over. */
bool chunks_ahead(struct chunks *c, struct chunk_group *g);

#endif
