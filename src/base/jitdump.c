/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/jitdump.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC      0x4a695444U /* "JiTD" */
#define VERSION    1
#define HEADER     40
#define CODE_LOAD  0
#define CODE_MOVE  1
#define NAME_AT    56 /* in CODE_LOAD */
#define MOVE_BYTES 64

struct jitdump {
	uint64_t at; /* the next record; 0: the header is not read */
	uint32_t process;
	bool swapped, broken;
	/* One more than the place of a name, by the number of its code; 0: none. */
	uint32_t *names;
	uint64_t rooms;
};

struct jitdump *jitdump_new(void)
{
	return calloc(1, sizeof(struct jitdump));
}

void jitdump_free(struct jitdump *j)
{
	if (!j)
		return;
	free(j->names);
	free(j);
}

uint64_t jitdump_at(const struct jitdump *j)
{
	return j->at;
}

size_t jitdump_bytes(const struct jitdump *j)
{
	return sizeof(*j) + j->rooms * sizeof(*j->names);
}

/* ---- numbers ---- */

static uint32_t get32(const struct jitdump *j, const char *from)
{
	uint32_t n;

	memcpy(&n, from, sizeof(n));
	return j->swapped ? __builtin_bswap32(n) : n;
}

static uint64_t get64(const struct jitdump *j, const char *from)
{
	uint64_t n;

	memcpy(&n, from, sizeof(n));
	return j->swapped ? __builtin_bswap64(n) : n;
}

bool jitdump_is(const char begin[4])
{
	uint32_t magic;

	memcpy(&magic, begin, sizeof(magic));
	return magic == MAGIC || magic == __builtin_bswap32(MAGIC);
}

/* ---- names by the number of their code, which counts up ---- */

/* False: no memory. A number that nobody counts up to has no room, and its moves no name. */
static bool set_name(struct jitdump *j, uint64_t code, uint32_t name)
{
	uint64_t rooms = j->rooms ? j->rooms : 64;
	uint32_t *more;

	if (code >= PERF_MAP_LINES)
		return true;
	while (rooms <= code)
		rooms *= 2;
	if (rooms > j->rooms) {
		more = reallocarray(j->names, rooms, sizeof(*more));
		if (!more)
			return false;
		memset(more + j->rooms, 0, (rooms - j->rooms) * sizeof(*more));
		j->names = more;
		j->rooms = rooms;
	}
	j->names[code] = name + 1;
	return true;
}

/* ---- records ---- */

/* A record's first bytes, which are no less than it has up to its name's end, or the most that is
 * kept of that, and a NUL. */
struct record {
	uint32_t id, bytes;
	uint64_t when;
	char text[NAME_AT + JITDUMP_NAME];
};

/* Takes a function that was made. False: there is no room. */
static bool take_load(struct jitdump *j, const struct record *r, struct perf_map *map)
{
	uint64_t address = get64(j, r->text + 32), bytes = get64(j, r->text + 40);
	uint32_t name;

	return perf_map_keep(map, r->text + NAME_AT, &name) &&
	       perf_map_put(map, address, bytes, r->when, name) &&
	       set_name(j, get64(j, r->text + 48), name);
}

/* Takes one that is elsewhere from now on. Without a name it has none there, nor has what was there
 * before. */
static bool take_move(const struct jitdump *j, const struct record *r, struct perf_map *map)
{
	uint64_t address = get64(j, r->text + 40), bytes = get64(j, r->text + 48);
	uint64_t code = get64(j, r->text + 56);
	uint32_t name = code < j->rooms ? j->names[code] : 0;

	if (name)
		name--;
	else if (!perf_map_keep(map, "", &name))
		return false;
	return perf_map_put(map, address, bytes, r->when, name);
}

static bool take_record(struct jitdump *j, const struct record *r, struct perf_map *map)
{
	bool load = r->id == CODE_LOAD && r->bytes > NAME_AT;
	bool move = r->id == CODE_MOVE && r->bytes >= MOVE_BYTES;

	/* A process that was forked off may write on, of other memory. */
	if ((!load && !move) || get32(j, r->text + 16) != j->process)
		return true;
	return load ? take_load(j, r, map) : take_move(j, r, map);
}

static bool read_header(struct jitdump *j, const struct elf_source *file)
{
	char head[HEADER];

	if (!file->read(file->ctx, 0, head, sizeof(head)) || !jitdump_is(head))
		return false;
	j->swapped = get32(j, head) != MAGIC;
	j->process = get32(j, head + 20);
	if (get32(j, head + 4) != VERSION || get32(j, head + 8) < HEADER)
		return false;
	j->at = get32(j, head + 8);
	return true;
}

/* Reads the record that is next. False: there is none, or not all of it. */
static bool next_record(struct jitdump *j, const struct elf_source *file, uint64_t size,
			struct record *r)
{
	char head[16];
	size_t has;

	if (j->at > size || size - j->at < sizeof(head) ||
	    !file->read(file->ctx, j->at, head, sizeof(head)))
		return false;
	r->id = get32(j, head);
	r->bytes = get32(j, head + 4);
	r->when = get64(j, head + 8);
	j->broken = r->bytes < sizeof(head);
	if (j->broken || size - j->at < r->bytes)
		return false;
	if (r->id != CODE_LOAD && r->id != CODE_MOVE)
		return true;
	has = r->bytes < sizeof(r->text) - 1 ? r->bytes : sizeof(r->text) - 1;
	r->text[has] = 0;
	return file->read(file->ctx, j->at, r->text, has);
}

bool jitdump_read(struct jitdump *j, const struct elf_source *file, uint64_t size,
		  struct perf_map *map)
{
	struct record r;

	if (!j->at && size < HEADER)
		return true;
	if (!j->at && !j->broken)
		j->broken = !read_header(j, file);
	while (!j->broken && next_record(j, file, size, &r)) {
		if (!take_record(j, &r, map))
			return false;
		j->at += r.bytes;
	}
	return !j->broken;
}
