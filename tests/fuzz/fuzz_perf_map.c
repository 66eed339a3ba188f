/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the file of a program that makes code: taken in one piece or in many, the same
 * functions are at the same addresses, and memory is in proportion to the file. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/perf_map.h"
#include "count.h"

#define LOOKS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct perf_map *take(const char *bytes, size_t len, size_t step)
{
	struct perf_map *m = perf_map_new();

	assert(m);
	for (size_t at = 0; at < len; at += step) {
		bool room = perf_map_add(m, bytes + at, len - at < step ? len - at : step);

		assert(room);
	}
	/* A line has six bytes or more. */
	assert(perf_map_bytes(m) <= 8192 + 16 * len);
	return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct perf_map *whole, *pieces;

	if (!size)
		return 0;
	whole = take(text, size - 1, size);
	pieces = take(text, size - 1, data[0] + 1);
	for (uint64_t i = 0; i < LOOKS; i++) {
		uint64_t address = i < LOOKS / 2 ? i * 8 : UINT64_MAX >> (i - LOOKS / 2);
		const char *a = perf_map_name(whole, address);
		const char *b = perf_map_name(pieces, address);

		assert(!a == !b && (!a || (!strcmp(a, b) && a[0] && strlen(a) < PERF_MAP_LINE)));
		count_run(a ? 1 : 0, a ? "function" : "no function");
	}
	perf_map_free(whole);
	perf_map_free(pieces);
	return 0;
}
