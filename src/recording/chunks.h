/* The chunks of a file, one after the other; damaged ones are passed over. */
#ifndef CULPRIT_CHUNKS_H
#define CULPRIT_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "recording/bytes.h"

struct chunks {
	int fd;
	unsigned major; /* of the file's format */
	uint64_t at, size;
	uint32_t type; /* of the chunk in hand */
	/* where it begins; when there are no more, where the first one is missing */
	uint64_t start;
	uint8_t *payload; /* uncompressed */
	uint32_t len;
	uint32_t damaged;    /* passed over */
	uint64_t damaged_at; /* the first of them */
	bool cut;            /* the file ends within a chunk */
	uint8_t *stored;
	size_t payload_room, stored_room;
};

/* 0, or -1 with the reason said: it cannot be opened, or is no recording that can be read. */
int chunks_open(struct chunks *c, const char *path);
void chunks_close(struct chunks *c);
void chunks_rewind(struct chunks *c); /* to the first chunk; what was damaged is forgotten */
bool chunks_next(struct chunks *c);   /* false: there are no more */
/* The next chunk of a type, where all up to it have whole heads; reads no other. */
bool chunks_find(struct chunks *c, uint32_t type);

#endif
