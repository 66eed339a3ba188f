/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the file of a program that makes code: taken in one piece or in many, the same
 * functions are at the same addresses, and memory is in proportion to the file. The same for a
 * jitdump file; another one is made of records as the bytes say, and each address has the name that
 * a simple look through all of them finds. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jitdump.h"
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

/* The name at the look's address, which is the same in both, and shorter than that. */
static const char *name_in_both(struct perf_map *one, struct perf_map *other, uint64_t look,
				size_t most)
{
	uint64_t address = look < LOOKS / 2 ? look * 8 : UINT64_MAX >> (look - LOOKS / 2);
	const char *a = perf_map_name(one, address), *b = perf_map_name(other, address);

	assert(!a == !b && (!a || (!strcmp(a, b) && a[0] && strlen(a) < most)));
	return a;
}

static void fuzz_lines(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct perf_map *whole = take(text, size - 1, size);
	struct perf_map *pieces = take(text, size - 1, data[0] + 1);

	for (uint64_t i = 0; i < LOOKS; i++) {
		const char *a = name_in_both(whole, pieces, i, PERF_MAP_LINE);

		count_run(a ? 1 : 0, a ? "function" : "no function");
	}
	perf_map_free(whole);
	perf_map_free(pieces);
}

/* ---- jitdump ---- */

#define RECORDS   512 /* the most that are made */
#define ADDRESSES 256

struct bytes {
	const uint8_t *data;
	uint64_t len;
};

static bool read_bytes(void *ctx, uint64_t at, void *to, size_t len)
{
	const struct bytes *b = ctx;

	assert(len <= 4096);
	if (at > b->len || len > b->len - at)
		return false;
	memcpy(to, b->data + at, len);
	return true;
}

struct taken {
	struct perf_map *map;
	struct jitdump *dump;
	bool ok;
};

/* step: bytes by which the file grows. */
static struct taken take_dump(const uint8_t *data, size_t len, size_t step)
{
	struct taken t = {perf_map_new(), jitdump_new(), true};
	struct bytes b = {data, 0};

	assert(t.map && t.dump);
	while (b.len < len) {
		b.len += len - b.len < step ? len - b.len : step;
		t.ok = jitdump_read(t.dump, &(struct elf_source){&b, read_bytes}, b.len, t.map);
	}
	assert(perf_map_bytes(t.map) <= 8192 + 4 * len);
	assert(jitdump_bytes(t.dump) <= 9 << 20);
	return t;
}

static void end_dump(struct taken *t)
{
	perf_map_free(t->map);
	jitdump_free(t->dump);
}

/* A file that begins as one, and goes on as it likes. */
static void fuzz_bytes(const uint8_t *data, size_t size)
{
	struct taken whole = take_dump(data, size, size), pieces = take_dump(data, size, 37);

	assert(whole.ok == pieces.ok && jitdump_at(whole.dump) == jitdump_at(pieces.dump));
	for (uint64_t i = 0; i < LOOKS; i++)
		name_in_both(whole.map, pieces.map, i, JITDUMP_NAME);
	count_run(whole.ok ? 3 : 2, whole.ok ? "jitdump" : "broken jitdump");
	end_dump(&whole);
	end_dump(&pieces);
}

struct made {
	uint8_t file[RECORDS * 160 + 64];
	size_t size;
	bool swapped;
	struct {
		uint64_t address, bytes, when;
		char name[8];
	} function[RECORDS];
	unsigned functions;
	char names[256][8]; /* by number of code */
};

static void put(struct made *m, unsigned bytes, uint64_t n)
{
	for (unsigned i = 0; i < bytes; i++)
		m->file[m->size++] = n >> 8 * (m->swapped ? bytes - 1 - i : i);
}

static void put_head(struct made *m, unsigned kind, unsigned bytes, uint64_t when)
{
	put(m, 4, kind);
	put(m, 4, bytes);
	put(m, 8, when);
}

/* Six bytes say what a record is. */
static void put_record(struct made *m, const uint8_t how[6])
{
	unsigned kind = how[0] % 5, child = how[0] >= 240, bytes = how[3] % 32, code = how[4];
	uint64_t when = how[1] % 16, address = how[2];
	char name[8] = "";

	if (kind > 1) {
		put_head(m, kind, 16 + bytes, when);
		m->size += bytes;
		return;
	}
	if (!kind)
		snprintf(name, sizeof(name), "%.*s%x", how[5] % 4, "abc", how[5]);
	put_head(m, kind, kind ? 64 : 56 + strlen(name) + 1 + bytes, when);
	put(m, 4, 7 + child);
	put(m, 4, 7);
	put(m, 8, 0);
	if (kind)
		put(m, 8, how[5]);
	put(m, 8, address);
	put(m, 8, bytes);
	put(m, 8, code);
	if (!kind) {
		memcpy(m->file + m->size, name, strlen(name));
		m->size += strlen(name) + 1 + bytes;
	}
	if (child)
		return;
	if (!kind)
		memcpy(m->names[code], name, sizeof(name));
	m->function[m->functions].address = address;
	m->function[m->functions].bytes = bytes;
	m->function[m->functions].when = when;
	memcpy(m->function[m->functions++].name, m->names[code], sizeof(name));
}

static const char *name_of(const struct made *m, uint64_t address)
{
	const char *name = NULL;
	uint64_t when = 0;

	for (unsigned i = 0; i < m->functions; i++) {
		if (address - m->function[i].address >= m->function[i].bytes ||
		    m->function[i].when < when)
			continue;
		when = m->function[i].when;
		name = m->function[i].name;
	}
	return name && *name ? name : NULL;
}

static void fuzz_records(const uint8_t *data, size_t size)
{
	struct made *m = calloc(1, sizeof(*m));
	struct taken t;

	assert(m);
	m->swapped = data[0] & 1;
	put(m, 4, 0x4a695444);
	put(m, 4, 1);
	put(m, 4, 40);
	put(m, 8, 62);
	put(m, 4, 7);
	put(m, 8, 0);
	put(m, 8, 0);
	for (size_t at = 1; at + 6 <= size && at < RECORDS * 6; at += 6)
		put_record(m, data + at);
	t = take_dump(m->file, m->size, data[0] & 2 ? 61 : m->size);
	assert(t.ok && jitdump_at(t.dump) == m->size);
	for (uint64_t i = 0; i < ADDRESSES + 32; i++) {
		const char *a = perf_map_name(t.map, i), *b = name_of(m, i);

		assert(!a == !b && (!a || !strcmp(a, b)));
		count_run(a ? 5 : 4, a ? "dumped function" : "none dumped");
	}
	end_dump(&t);
	free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 5 && jitdump_is((const char *)data)) {
		fuzz_bytes(data, size);
	} else if (size && data[0] >= 0xf0) {
		count_run(7, "jitdump made");
		fuzz_records(data, size);
	} else if (size) {
		count_run(6, "map");
		fuzz_lines(data, size);
	}
	return 0;
}
