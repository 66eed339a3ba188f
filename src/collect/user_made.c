/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_made.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/jitdump.h"
#include "base/perf_map.h"

struct made {
	struct perf_map *map;
	struct jitdump *dump; /* NULL: the file is a map */
	uint64_t at;          /* read up to here */
	uint64_t ends;        /* see ends_of() */
};

struct made *made_new(void)
{
	return calloc(1, sizeof(struct made));
}

static void forget(struct made *m)
{
	perf_map_free(m->map);
	jitdump_free(m->dump);
	*m = (struct made){0};
}

void made_free(struct made *m)
{
	if (m)
		forget(m);
	free(m);
}

size_t made_bytes(const struct made *m)
{
	return sizeof(*m) + (m->map ? perf_map_bytes(m->map) : 0) +
	       (m->dump ? jitdump_bytes(m->dump) : 0);
}

const char *made_name(struct made *m, uint64_t address)
{
	return m->map ? perf_map_name(m->map, address) : NULL;
}

bool read_fd(void *fd, uint64_t at, void *to, size_t len)
{
	int from = *(const int *)fd;
	char *next = to;

	if (at > INT64_MAX)
		return false;
	while (len) {
		ssize_t n = pread(from, next, len, at);

		if (n <= 0)
			return false;
		next += n;
		at += n;
		len -= n;
	}
	return true;
}

/* A hash of the first and the last bytes of what was read of a file: it has not merely grown where
 * they are others. */
static uint64_t ends_of(int fd, uint64_t size)
{
	char text[4096];
	size_t some = size < sizeof(text) ? size : sizeof(text);
	uint64_t hash = HASH_BEGIN;

	if (!read_fd(&fd, 0, text, some))
		return 0;
	hash = hash_bytes(hash, text, some);
	if (!read_fd(&fd, size - some, text, some))
		return 0;
	return hash_bytes(hash, text, some);
}

/* False: no memory. */
static bool begin(struct made *m, int fd)
{
	char magic[4];

	m->map = perf_map_new();
	if (m->map && read_fd(&fd, 0, magic, sizeof(magic)) && jitdump_is(magic)) {
		m->dump = jitdump_new();
		return m->dump;
	}
	return m->map;
}

static bool read_lines(struct made *m, int fd)
{
	char text[4096];
	ssize_t n;

	while ((n = pread(fd, text, sizeof(text), m->at)) > 0) {
		m->at += n;
		if (!perf_map_add(m->map, text, n))
			return false;
	}
	return n == 0;
}

static bool read_dump(struct made *m, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	bool ok = size >= 0 &&
		  jitdump_read(m->dump, &(struct elf_source){&fd, read_fd}, size, m->map);

	m->at = jitdump_at(m->dump);
	return ok;
}

bool made_read(struct made *m, int fd)
{
	bool ok;

	/* A file that had no four bytes may be of the other form by now. */
	if (m->map && (m->at < 4 || m->ends != ends_of(fd, m->at)))
		forget(m);
	if (!m->map && !begin(m, fd)) {
		forget(m);
		return false;
	}
	ok = m->dump ? read_dump(m, fd) : read_lines(m, fd);
	m->ends = ends_of(fd, m->at);
	return ok;
}
