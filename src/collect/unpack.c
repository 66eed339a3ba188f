/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unpack.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP (15 + 16) /* the largest window, and gzip's head and end */

/* The end of a gzip file: how large it is unpacked, little endian. */
static size_t unpacked_size(const unsigned char *end)
{
	return end[-4] | end[-3] << 8 | end[-2] << 16 | (uint32_t)end[-1] << 24;
}

/* NULL: out of memory. */
static void *unpack_object(const void *packed, size_t *size)
{
	size_t all = unpacked_size((const unsigned char *)packed + *size);
	void *data = malloc(all);
	z_stream z = {.next_in = (void *)packed, .avail_in = *size, .next_out = data};
	int said;

	if (!data || inflateInit2(&z, GZIP) != Z_OK) {
		free(data);
		return NULL;
	}
	z.avail_out = all;
	said = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (said == Z_STREAM_END && !z.avail_out) {
		*size = all;
		return data;
	}
	free(data);
	return NULL;
}

int unpack_open(struct bpf_object_skeleton *s, const struct bpf_object_open_opts *opts)
{
	int err;

	s->data = unpack_object(s->data, &s->data_sz);
	if (!s->data)
		return -ENOMEM;
	err = bpf_object__open_skeleton(s, opts);
	free((void *)s->data); /* libbpf has read all of it */
	s->data = NULL;
	return err;
}
