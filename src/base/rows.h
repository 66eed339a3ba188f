/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables by address. */
#ifndef CULPRIT_ROWS_H
#define CULPRIT_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* Counts those of n rows that have no higher address than this one. A row has `size` bytes and
 * begins with its address, by which they are in ascending order. */
static inline uint32_t rows_up_to(const void *rows, uint32_t n, size_t size, uint64_t address)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)((const char *)rows + middle * size) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
