/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef CULPRIT_ZSTD
#include <zstd.h>
#endif

#define LEVEL_FAST 1

struct packer {
	void *zstd;
};

struct unpacker {
	z_stream zlib;
	void *zstd;
};

static bool is_zstd(const uint8_t *from, size_t len)
{
	static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};

	return len >= sizeof(magic) && !memcmp(from, magic, sizeof(magic));
}

/* ---- zstd ---- */

#ifdef CULPRIT_ZSTD

static bool packer_init(struct packer *p)
{
	p->zstd = ZSTD_createCCtx();
	return p->zstd;
}

static void packer_clear(struct packer *p)
{
	ZSTD_freeCCtx(p->zstd);
}

size_t pack_room(size_t len)
{
	return ZSTD_compressBound(len) + PACK_SECTIONS * ZSTD_compressBound(0);
}

/* A frame a section: each has its own statistics of bytes. */
size_t pack(struct packer *p, uint8_t *to, const uint8_t *from, const size_t *ends, size_t n)
{
	size_t room = pack_room(ends[n - 1]), len = 0, at = 0;

	for (size_t i = 0; i < n; at = ends[i++]) {
		size_t more;

		if (ends[i] == at)
			continue;
		more = ZSTD_compressCCtx(p->zstd, to + len, room - len, from + at, ends[i] - at,
					 LEVEL_FAST);
		if (ZSTD_isError(more))
			return 0;
		len += more;
	}
	return len;
}

static bool unpacker_init(struct unpacker *u)
{
	u->zstd = ZSTD_createDCtx();
	return u->zstd;
}

static void unpacker_clear(struct unpacker *u)
{
	ZSTD_freeDCtx(u->zstd);
}

static int unpack_zstd(struct unpacker *u, uint8_t *to, size_t len, const uint8_t *from,
		       size_t stored)
{
	return ZSTD_decompressDCtx(u->zstd, to, len, from, stored) == len ? 0 : -EINVAL;
}

/* ---- without it ---- */

#else

static bool packer_init(struct packer *p)
{
	(void)p;
	return true;
}

static void packer_clear(struct packer *p)
{
	(void)p;
}

size_t pack_room(size_t len)
{
	return compressBound(len);
}

size_t pack(struct packer *p, uint8_t *to, const uint8_t *from, const size_t *ends, size_t n)
{
	uLongf len = compressBound(ends[n - 1]);

	(void)p;
	return compress2(to, &len, from, ends[n - 1], LEVEL_FAST) == Z_OK ? len : 0;
}

static bool unpacker_init(struct unpacker *u)
{
	(void)u;
	return true;
}

static void unpacker_clear(struct unpacker *u)
{
	(void)u;
}

static int unpack_zstd(struct unpacker *u, uint8_t *to, size_t len, const uint8_t *from,
		       size_t stored)
{
	(void)u, (void)to, (void)len, (void)from, (void)stored;
	return -ENOTSUP;
}

#endif

/* ---- both ---- */

struct packer *packer_new(void)
{
	struct packer *p = calloc(1, sizeof(*p));

	if (p && packer_init(p))
		return p;
	free(p);
	return NULL;
}

void packer_free(struct packer *p)
{
	if (p)
		packer_clear(p);
	free(p);
}

struct unpacker *unpacker_new(void)
{
	struct unpacker *u = calloc(1, sizeof(*u));

	if (u && inflateInit(&u->zlib) == Z_OK) {
		if (unpacker_init(u))
			return u;
		inflateEnd(&u->zlib);
	}
	free(u);
	return NULL;
}

void unpacker_free(struct unpacker *u)
{
	if (!u)
		return;
	unpacker_clear(u);
	inflateEnd(&u->zlib);
	free(u);
}

int unpack(struct unpacker *u, uint8_t *to, size_t len, const uint8_t *from, size_t stored)
{
	if (is_zstd(from, stored))
		return unpack_zstd(u, to, len, from, stored);
	u->zlib.next_in = (uint8_t *)from;
	u->zlib.avail_in = stored;
	u->zlib.next_out = to;
	u->zlib.avail_out = len;
	if (inflateReset(&u->zlib) != Z_OK || inflate(&u->zlib, Z_FINISH) != Z_STREAM_END ||
	    u->zlib.avail_out)
		return -EINVAL;
	return 0;
}
