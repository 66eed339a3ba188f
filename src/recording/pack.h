/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The packing of chunks: zstd, where culprit was built with it, else zlib. The bytes tell which: a
 * zstd frame begins with 28 b5 2f fd, and zlib's second byte never fits that. */
#ifndef CULPRIT_PACK_H
#define CULPRIT_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_SECTIONS 3 /* most sections of a payload */

struct packer;

struct packer *packer_new(void); /* NULL: out of memory */
void packer_free(struct packer *p);

size_t pack_room(size_t len); /* the most that packing so much may take */

/* Packs bytes into to[pack_room(...)], each section by itself; ends[]: where they end, the last one
 * with the bytes. Returns the length; 0: it failed. */
size_t pack(struct packer *p, uint8_t *to, const uint8_t *from, const size_t *ends, size_t n);

struct unpacker;

struct unpacker *unpacker_new(void); /* NULL: out of memory */
void unpacker_free(struct unpacker *u);

/* Unpacks into exactly len bytes. 0; -EINVAL: it is damaged; -ENOTSUP: it is by zstd, and culprit
 * was built without. */
int unpack(struct unpacker *u, uint8_t *to, size_t len, const uint8_t *from, size_t stored);

#endif
