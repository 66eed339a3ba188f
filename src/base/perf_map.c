/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/perf_map.h"
#include "base/rows.h"

#include <stdlib.h>
#include <string.h>

#define TAIL_MOST 4096 /* lines that are looked through one by one before all are sorted again */

struct function {
	uint64_t address, bytes; /* rows_up_to() */
	uint64_t when;
	uint32_t name; /* offset in the names */
	uint32_t line; /* in turn; the same for parts of one */
};

struct perf_map {
	struct function *function; /* the first by address: parts of which no two have one */
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

bool perf_map_keep(struct perf_map *m, const char *name, uint32_t *number)
{
	size_t bytes = strlen(name) + 1;

	if (m->names_len + bytes > PERF_MAP_NAMES)
		return false;
	if (m->names_len + bytes > m->names_room) {
		size_t room = 2 * (m->names_room + bytes);
		void *more = realloc(m->names, room);

		if (!more)
			return false;
		m->names = more;
		m->names_room = room;
	}
	*number = m->names_len;
	memcpy(m->names + m->names_len, name, bytes);
	m->names_len += bytes;
	return true;
}

bool perf_map_put(struct perf_map *m, uint64_t address, uint64_t bytes, uint64_t when,
		  uint32_t name)
{
	if (!bytes || address + bytes < address)
		return true;
	if (m->lines == PERF_MAP_LINES)
		return false;
	if (m->functions == m->room) {
		uint32_t room = m->room ? 2 * m->room : 64;
		void *more = reallocarray(m->function, room, sizeof(*m->function));

		if (!more)
			return false;
		m->function = more;
		m->room = room;
	}
	m->function[m->functions++] = (struct function){address, bytes, when, name, m->lines++};
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
	uint64_t address, bytes;
	uint32_t name;

	if (!get_hex(&at, &address) || *at++ != ' ' || !get_hex(&at, &bytes) || *at++ != ' ' ||
	    !*at)
		return true;
	return perf_map_keep(m, at, &name) && perf_map_put(m, address, bytes, 0, name);
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
	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static uint64_t end_of(const struct function *f)
{
	return f->address + f->bytes;
}

/* True when b was there later than a. */
static bool is_later(const struct function *a, const struct function *b)
{
	return a->when != b->when ? a->when < b->when : a->line < b->line;
}

/* Functions that hold an address and may count there: each was there later than those before it,
 * and ends sooner. */
struct open {
	const struct function **of;
	uint32_t n;
};

/* One that an earlier one does not outlast never counts. */
static void open_function(struct open *o, const struct function *f)
{
	uint32_t above = o->n, below;

	for (; above && is_later(f, o->of[above - 1]); above--)
		if (end_of(o->of[above - 1]) >= end_of(f))
			return;
	for (below = above; below && end_of(o->of[below - 1]) <= end_of(f); below--)
		;
	memmove(o->of + below + 1, o->of + above, (o->n - above) * sizeof(*o->of));
	o->of[below] = f;
	o->n -= above - below;
	o->n++;
}

/* Adds the addresses from `at` on to the parts. Returns their number. */
static uint32_t add_part(struct function *part, uint32_t n, const struct function *of, uint64_t at,
			 uint64_t end)
{
	if (n && part[n - 1].line == of->line && end_of(&part[n - 1]) == at) {
		part[n - 1].bytes += end - at;
		return n;
	}
	part[n] = *of;
	part[n].address = at;
	part[n].bytes = end - at;
	return n + 1;
}

/* Cuts the functions, which are by address, into parts: an address belongs to the one that was
 * there last. Returns their number: each begins where a function does, or where one ends. */
static uint32_t cut(const struct function *f, uint32_t n, struct open *o, struct function *part)
{
	uint32_t parts = 0;
	uint64_t at = 0;

	for (uint32_t i = 0; i < n || o->n;) {
		const struct function *last;
		uint64_t end;

		if (!o->n)
			at = f[i].address;
		for (; i < n && f[i].address == at; i++)
			open_function(o, &f[i]);
		last = o->of[o->n - 1];
		end = i < n && f[i].address < end_of(last) ? f[i].address : end_of(last);
		parts = add_part(part, parts, last, at, end);
		for (at = end; o->n && end_of(o->of[o->n - 1]) <= at;)
			o->n--;
	}
	return parts;
}

/* False: no memory. */
static bool sort(struct perf_map *m)
{
	struct function *part = calloc(m->functions, 2 * sizeof(*part)), *less;
	struct open open = {calloc(m->functions, sizeof(*open.of)), 0};
	bool ok = part && open.of;

	if (ok) {
		qsort(m->function, m->functions, sizeof(*m->function), by_address);
		m->functions = m->sorted = cut(m->function, m->functions, &open, part);
		less = realloc(part, m->functions * sizeof(*part));
		free(m->function);
		m->function = less ? less : part;
		m->room = m->functions;
		part = NULL;
	}
	free(part);
	free(open.of);
	return ok;
}

static bool holds(const struct function *f, uint64_t address)
{
	return address - f->address < f->bytes;
}

const char *perf_map_name(struct perf_map *m, uint64_t address)
{
	const struct function *last = NULL;
	uint32_t low;

	if (m->functions - m->sorted > TAIL_MOST && !sort(m))
		return NULL;
	low = rows_up_to(m->function, m->sorted, sizeof(*m->function), address);
	if (low && holds(&m->function[low - 1], address))
		last = &m->function[low - 1];
	for (uint32_t i = m->sorted; i < m->functions; i++)
		if (holds(&m->function[i], address) && (!last || is_later(last, &m->function[i])))
			last = &m->function[i];
	return last && m->names[last->name] ? m->names + last->name : NULL;
}
