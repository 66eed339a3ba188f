/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/perf_map.h"
#include "base/rows.h"

#include <stdlib.h>
#include <string.h>

#define TAIL_MOST 4096 /* lines that are looked through one by one before all are sorted again */
#define LOOK_BACK 64   /* functions that begin before an address, and may hold it */

struct function {
	uint64_t address, bytes; /* rows_up_to() */
	uint32_t name;           /* offset in the names */
	uint32_t line;
};

struct perf_map {
	struct function *function; /* the first by address, then by line */
	uint32_t functions, sorted, room;
	char *names;
	size_t names_len, names_room;
	uint32_t lines;
	char line[PERF_MAP_LINE];
	size_t len; /* bytes of the line so far; beyond its room: it is left out */
};

struct perf_map *perf_map_new(void)
{
	return calloc(1, sizeof(struct perf_map));
}

void perf_map_free(struct perf_map *m)
{
	if (!m)
		return;
	free(m->function);
	free(m->names);
	free(m);
}

size_t perf_map_bytes(const struct perf_map *m)
{
	return sizeof(*m) + m->room * sizeof(*m->function) + m->names_room;
}

/* ---- lines ---- */

static bool make_room(struct perf_map *m, size_t name)
{
	if (m->functions == PERF_MAP_LINES || m->names_len + name > PERF_MAP_NAMES)
		return false;
	if (m->functions == m->room) {
		uint32_t room = m->room ? 2 * m->room : 64;
		void *more = reallocarray(m->function, room, sizeof(*m->function));

		if (!more)
			return false;
		m->function = more;
		m->room = room;
	}
	if (m->names_len + name > m->names_room) {
		size_t room = 2 * (m->names_room + name);
		void *more = realloc(m->names, room);

		if (!more)
			return false;
		m->names = more;
		m->names_room = room;
	}
	return true;
}

/* Reads digits of a number, with or without 0x. False: there are none, or too many. */
static bool get_hex(const char **text, uint64_t *value)
{
	const char *at = *text + (!strncmp(*text, "0x", 2) ? 2 : 0);
	size_t n = strspn(at, "0123456789abcdefABCDEF");

	if (!n || n > 16)
		return false;
	*value = strtoull(at, NULL, 16);
	*text = at + n;
	return true;
}

/* Takes the line, which has its NUL. False: there is no room. */
static bool take_line(struct perf_map *m)
{
	const char *at = m->line;
	struct function f = {.line = m->lines++};
	size_t name;

	if (!get_hex(&at, &f.address) || *at++ != ' ' || !get_hex(&at, &f.bytes) || *at++ != ' ' ||
	    !*at || !f.bytes || f.address + f.bytes < f.address)
		return true;
	name = strlen(at) + 1;
	if (!make_room(m, name))
		return false;
	f.name = m->names_len;
	memcpy(m->names + m->names_len, at, name);
	m->names_len += name;
	m->function[m->functions++] = f;
	return true;
}

bool perf_map_add(struct perf_map *m, const char *bytes, size_t len)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end - bytes) : len;
		size_t fits = m->len + n < sizeof(m->line) ? n : 0;

		memcpy(m->line + (fits ? m->len : 0), bytes, fits);
		m->len = m->len + n < sizeof(m->line) ? m->len + n : sizeof(m->line);
		if (!end)
			return true;
		if (m->len < sizeof(m->line)) {
			m->line[m->len] = 0;
			if (!take_line(m))
				return false;
		}
		m->len = 0;
		bytes = end + 1;
		len -= n + 1;
	}
	return true;
}

/* ---- functions ---- */

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static bool holds(const struct function *f, uint64_t address)
{
	return address - f->address < f->bytes;
}

const char *perf_map_name(struct perf_map *m, uint64_t address)
{
	const struct function *last = NULL;
	uint32_t low;

	if (m->functions - m->sorted > TAIL_MOST) {
		qsort(m->function, m->functions, sizeof(*m->function), by_address);
		m->sorted = m->functions;
	}
	for (uint32_t i = m->functions; i > m->sorted; i--)
		if (holds(&m->function[i - 1], address))
			return m->names + m->function[i - 1].name;
	low = rows_up_to(m->function, m->sorted, sizeof(*m->function), address);
	for (uint32_t i = low; i && low - i < LOOK_BACK; i--)
		if (holds(&m->function[i - 1], address) &&
		    (!last || m->function[i - 1].line > last->line))
			last = &m->function[i - 1];
	return last ? m->names + last->name : NULL;
}
