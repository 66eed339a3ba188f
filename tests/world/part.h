/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes in memory that are read as a file is (base/elf.h). */
#ifndef CULPRIT_PART_H
#define CULPRIT_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct part {
	const uint8_t *at;
	size_t len;
};

static bool read_part(void *ctx, uint64_t at, void *to, size_t n)
{
	const struct part *p = ctx;

	if (at > p->len || n > p->len - at)
		return false;
	memcpy(to, p->at + at, n);
	return true;
}

#endif
