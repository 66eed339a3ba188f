/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of a jitdump file: of either byte order, whatever comes when, and only what is whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jitdump.h"

#define PROCESS 4242

/* A file that is made, and what was read of it. */
struct dump {
	char bytes[16384];
	uint64_t size, shown; /* the second: what is there of it yet */
	bool swapped;
	struct perf_map *map;
	struct jitdump *dump;
};

static bool read_bytes(void *ctx, uint64_t at, void *to, size_t len)
{
	const struct dump *d = ctx;

	if (at > d->shown || len > d->shown - at)
		return false;
	memcpy(to, d->bytes + at, len);
	return true;
}

static bool read_on(struct dump *d)
{
	return jitdump_read(d->dump, &(struct elf_source){d, read_bytes}, d->shown, d->map);
}

static void put32(struct dump *d, uint32_t n)
{
	n = d->swapped ? __builtin_bswap32(n) : n;
	memcpy(d->bytes + d->size, &n, sizeof(n));
	d->size += sizeof(n);
}

static void put64(struct dump *d, uint64_t n)
{
	n = d->swapped ? __builtin_bswap64(n) : n;
	memcpy(d->bytes + d->size, &n, sizeof(n));
	d->size += sizeof(n);
}

/* A file with its header, which has `more` bytes than it needs. */
static struct dump *begin(bool swapped, uint32_t more)
{
	struct dump *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->swapped = swapped;
	d->map = perf_map_new();
	d->dump = jitdump_new();
	assert_true(d->map && d->dump);
	put32(d, 0x4a695444);
	put32(d, 1);
	put32(d, 40 + more);
	put32(d, 62);
	put32(d, 0);
	put32(d, PROCESS);
	put64(d, 1000);
	put64(d, 0);
	d->size += more;
	return d;
}

static void end(struct dump *d)
{
	perf_map_free(d->map);
	jitdump_free(d->dump);
	free(d);
}

static void put_load(struct dump *d, uint64_t when, uint64_t address, uint64_t bytes,
		     uint64_t index, const char *name, uint32_t process)
{
	put32(d, 0);
	put32(d, 56 + strlen(name) + 1 + bytes);
	put64(d, when);
	put32(d, process);
	put32(d, process);
	put64(d, 0x100); /* not where its code is */
	put64(d, address);
	put64(d, bytes);
	put64(d, index);
	memcpy(d->bytes + d->size, name, strlen(name) + 1);
	d->size += strlen(name) + 1;
	memset(d->bytes + d->size, 0xc3, bytes);
	d->size += bytes;
}

static void load(struct dump *d, uint64_t when, uint64_t address, uint64_t bytes, uint64_t index,
		 const char *name)
{
	put_load(d, when, address, bytes, index, name, PROCESS);
}

static void move(struct dump *d, uint64_t when, uint64_t from, uint64_t to, uint64_t bytes,
		 uint64_t index)
{
	put32(d, 1);
	put32(d, 64);
	put64(d, when);
	put32(d, PROCESS);
	put32(d, PROCESS);
	put64(d, 0x100);
	put64(d, from);
	put64(d, to);
	put64(d, bytes);
	put64(d, index);
}

/* One of another kind: lines of code, unwinding, the end, unknown. */
static void other(struct dump *d, uint32_t kind, uint32_t bytes)
{
	put32(d, kind);
	put32(d, 16 + bytes);
	put64(d, 1);
	memset(d->bytes + d->size, 0x55, bytes);
	d->size += bytes;
}

static void is(struct dump *d, uint64_t address, const char *name)
{
	const char *found = perf_map_name(d->map, address);

	if (!name)
		assert_null(found);
	else
		assert_string_equal(found ? found : "none", name);
}

static void test_records(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		struct dump *d = begin(swapped, 8 * swapped);

		other(d, 4, 100);
		load(d, 5, 0x1000, 32, 0, "JS:*f /srv/a b.js:1:11");
		other(d, 2, 33);
		load(d, 6, 0x7f0000001000, 16, 1, "\x1b[31m");
		other(d, 3, 0);
		load(d, 7, 0x2000, 16, 2, "behind the end");
		d->shown = d->size;
		assert_true(jitdump_is(d->bytes));
		assert_true(read_on(d));
		assert_int_equal(jitdump_at(d->dump), d->size);
		is(d, 0xfff, NULL);
		is(d, 0x100, NULL);
		is(d, 0x1000, "JS:*f /srv/a b.js:1:11");
		is(d, 0x101f, "JS:*f /srv/a b.js:1:11");
		is(d, 0x1020, NULL);
		is(d, 0x7f000000100f, "\x1b[31m");
		is(d, 0x2000, "behind the end");
		end(d);
	}
}

/* Byte by byte: what is there is what was whole. */
static void test_grows(void **state)
{
	struct dump *d = begin(false, 0);
	uint64_t first, second;

	(void)state;
	load(d, 1, 0x1000, 16, 0, "one");
	first = d->size;
	load(d, 2, 0x1008, 16, 1, "two");
	second = d->size;
	for (d->shown = 0; d->shown <= d->size; d->shown++) {
		assert_true(read_on(d));
		is(d, 0x1000, d->shown >= first ? "one" : NULL);
		is(d, 0x1008, d->shown >= second ? "two" : d->shown >= first ? "one" : NULL);
		is(d, 0x1010, d->shown >= second ? "two" : NULL);
	}
	end(d);
}

static void test_times(void **state)
{
	struct dump *d = begin(false, 0);

	(void)state;
	load(d, 50, 0x1000, 32, 0, "later");
	load(d, 40, 0x1000, 64, 1, "sooner, told later");
	load(d, 60, 0x1004, 4, 2, "latest");
	load(d, 50, 0x1010, 16, 3, "of the same time, told last");
	d->shown = d->size;
	assert_true(read_on(d));
	is(d, 0x1000, "later");
	is(d, 0x1004, "latest");
	is(d, 0x1008, "later");
	is(d, 0x1010, "of the same time, told last");
	is(d, 0x1020, "sooner, told later");
	end(d);
}

/* Among more than stay unsorted, times count as well: the first of each place is its latest. */
static void test_times_of_many(void **state)
{
	struct dump *d = begin(false, 0);
	uint32_t first, others;

	(void)state;
	assert_true(perf_map_keep(d->map, "first", &first));
	assert_true(perf_map_keep(d->map, "others", &others));
	for (uint64_t i = 0; i < 5000; i++)
		assert_true(perf_map_put(d->map, 16 * (i % 100), 16, 100000 - i,
					 i < 100 ? first : others));
	for (uint64_t i = 0; i < 100; i++)
		is(d, 16 * i, "first");
	assert_true(perf_map_put(d->map, 0x10, 16, 99999, others)); /* among those unsorted */
	assert_true(perf_map_put(d->map, 0x20, 16, 99998, others));
	is(d, 0x10, "others");
	is(d, 0x20, "others"); /* told last, at the same time */
	assert_true(perf_map_put(d->map, 0x30, 16, 5, others));
	is(d, 0x30, "first");
	end(d);
}

static void test_moves(void **state)
{
	struct dump *d = begin(false, 0);

	(void)state;
	load(d, 1, 0x1000, 16, 7, "f");
	load(d, 1, 0x5000, 16, 1ULL << 40, "of a number that is none");
	load(d, 2, 0x2000, 16, 9, "g");
	move(d, 3, 0x1000, 0x2000, 16, 7);
	load(d, 4, 0x1000, 16, 10, "h");
	move(d, 5, 0x1000, 0x3000, 16, 10);
	move(d, 6, 0x3000, 0x4000, 16, 10);
	move(d, 6, 0x9000, 0x3008, 8, 11); /* nobody told what that is */
	move(d, 7, 0x5000, 0x6000, 16, 1ULL << 40);
	d->shown = d->size;
	assert_true(read_on(d));
	is(d, 0x1000, "h"); /* as it was until then */
	is(d, 0x2000, "f");
	is(d, 0x3000, "h");
	is(d, 0x3008, NULL);
	is(d, 0x4000, "h");
	is(d, 0x5000, "of a number that is none");
	is(d, 0x6000, NULL);
	end(d);
}

static void test_others(void **state)
{
	struct dump *d = begin(false, 0);

	(void)state;
	put_load(d, 1, 0x1000, 16, 0, "of a child", PROCESS + 1);
	load(d, 1, 0x2000, 0, 1, "of no bytes");
	load(d, 1, UINT64_MAX - 4, 16, 2, "beyond all");
	other(d, 0, 40); /* no name */
	other(d, 1, 40); /* too short */
	load(d, 2, 0x3000, 16, 3, "");
	load(d, 2, 0x4000, 16, 4, "whole");
	d->shown = d->size;
	assert_true(read_on(d));
	is(d, 0x1000, NULL);
	is(d, 0x2000, NULL);
	is(d, UINT64_MAX - 2, NULL);
	is(d, 0x5555555555555555, NULL);
	is(d, 0x3000, NULL);
	is(d, 0x4000, "whole");
	end(d);
}

/* Names of any length, with their end or without. */
static void test_names(void **state)
{
	struct dump *d = begin(false, 0);
	char name[3000], *end_of;
	uint64_t at;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	load(d, 1, 0x1000, 16, 0, name);
	at = d->size;
	load(d, 1, 0x2000, 16, 1, "n");
	end_of = d->bytes + at + 56;
	memset(end_of, 'y', d->size - at - 56); /* as far as the record goes */
	load(d, 1, 0x3000, 16, 2, "z");
	d->shown = d->size;
	assert_true(read_on(d));
	name[JITDUMP_NAME - 1] = 0;
	is(d, 0x1000, name);
	is(d, 0x2000, "yyyyyyyyyyyyyyyyyy");
	is(d, 0x3000, "z");
	end(d);
}

static void test_broken(void **state)
{
	static const struct {
		unsigned at;
		uint32_t value;
	} bad[] = {{0, 0x4a695445}, {0, 0x4454694a}, {4, 2}, {4, 0}, {8, 39}, {8, 0}};
	struct dump *d;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		d = begin(false, 0);
		memcpy(d->bytes + bad[i].at, &bad[i].value, 4);
		load(d, 1, 0x1000, 16, 0, "f");
		d->shown = d->size;
		assert_false(read_on(d));
		assert_false(read_on(d)); /* nor is it one when it is looked at again */
		assert_int_equal(jitdump_at(d->dump), 0);
		is(d, 0x1000, NULL);
		end(d);
	}
	d = begin(false, 0);
	load(d, 1, 0x1000, 16, 0, "f");
	put32(d, 3);
	put32(d, 15); /* shorter than what it begins with */
	put64(d, 0);
	load(d, 2, 0x1000, 16, 1, "g");
	d->shown = d->size;
	assert_false(read_on(d));
	assert_false(read_on(d));
	is(d, 0x1000, "f");
	end(d);
	d = begin(false, 0);
	other(d, 2, 0);
	memset(d->bytes + d->size - 12, 0xff, 4); /* longer than the file ever gets */
	load(d, 2, 0x1000, 16, 1, "g");
	d->shown = d->size;
	assert_true(read_on(d));
	is(d, 0x1000, NULL);
	end(d);
}

/* A file of one record, as many times as it takes. */
static bool read_same(void *ctx, uint64_t at, void *to, size_t len)
{
	const struct dump *d = ctx;
	char *next = to;

	for (size_t i = 0; i < len; i++, at++)
		next[i] = d->bytes[at < 40 ? at : 40 + (at - 40) % (d->size - 40)];
	return true;
}

static void test_room(void **state)
{
	struct dump *d = begin(false, 0);
	struct elf_source file = {d, read_same};

	(void)state;
	load(d, 1, 0x1000, 16, PERF_MAP_LINES - 1, "f");
	assert_false(jitdump_read(d->dump, &file, UINT64_MAX, d->map));
	assert_int_equal(jitdump_at(d->dump), 40 + (uint64_t)PERF_MAP_LINES * (d->size - 40));
	assert_false(jitdump_read(d->dump, &file, UINT64_MAX, d->map));
	is(d, 0x1000, "f");
	assert_true(jitdump_bytes(d->dump) < 5 << 20 && perf_map_bytes(d->map) < 64 << 20);
	end(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),       cmocka_unit_test(test_grows),
		cmocka_unit_test(test_times),         cmocka_unit_test(test_moves),
		cmocka_unit_test(test_times_of_many), cmocka_unit_test(test_others),
		cmocka_unit_test(test_names),         cmocka_unit_test(test_broken),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
