/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h> /* crc32 */

#include "base/say.h"
#include "recording/format.h"
#include "recording/pack.h"

#define SEARCH_BYTES 65536

/* Reads len bytes at a place; false when there are fewer. */
static bool read_at(const struct chunks *c, uint64_t at, void *to, size_t len)
{
	char *p = to;

	while (len) {
		ssize_t n = pread(c->fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		at += n;
		len -= n;
	}
	return true;
}

static bool is_copied(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && !S_ISREG(st.st_mode) && !isatty(STDIN_FILENO);
}

static FILE *spare; /* for the copy; NULL: it is to be made */
static uint64_t input_most = UINT64_MAX;

void chunks_bound_input(uint64_t bytes)
{
	input_most = bytes;
}

void chunks_expect_input(void)
{
	if (is_copied() && !spare)
		spare = tmpfile();
}

/* Makes standard input a file that can be read from any place, and more than once: a pipe is copied
 * into one without a name, which takes its place. 0, or -1 with errno, E2BIG for the bound. */
static int settle_input(void)
{
	char block[65536], first[sizeof(FILE_MAGIC) - 1];
	uint64_t taken = 0;
	size_t have = 0;
	ssize_t n = 0;
	FILE *f;

	if (!is_copied())
		return 0;
	chunks_expect_input();
	f = spare;
	spare = NULL;
	while (f && (n = read(STDIN_FILENO, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		taken += n > 0 ? n : 0;
		if (taken > input_most)
			errno = E2BIG;
		if (n < 0 || taken > input_most || fwrite(block, n, 1, f) != 1)
			break;
		for (ssize_t i = 0; i < n && have < sizeof(first); i++)
			first[have++] = block[i];
		if (have == sizeof(first) && memcmp(first, FILE_MAGIC, have)) {
			n = 0; /* no recording, and it may never end */
			break;
		}
	}
	if (!f || n || fflush(f) || dup2(fileno(f), STDIN_FILENO) < 0) {
		int err = errno;

		if (f)
			fclose(f);
		errno = err;
		return -1;
	}
	fclose(f);
	return 0;
}

static int open_file(const char *path)
{
	if (strcmp(path, "-"))
		return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); /* a pipe, too */
	return settle_input() ? -1 : open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
}

int chunks_open(struct chunks *c, const char *path, const char *name)
{
	uint8_t head[FILE_HEAD];
	struct reading r = {head, head + sizeof(head), false};
	uint16_t major, minor;
	struct stat st;

	memset(c, 0, sizeof(*c));
	c->fd = open_file(path);
	if (name)
		path = name;
	else if (!strcmp(path, "-"))
		path = "standard input";
	if (c->fd < 0 && errno == E2BIG)
		return complain("%s has more than %llu MiB: allow more with --memory, or give a "
				"file",
				path, (unsigned long long)(input_most >> 20));
	if (c->fd < 0)
		return complain("cannot read %s: %s", path, strerror(errno));
	if (fstat(c->fd, &st) || !S_ISREG(st.st_mode)) {
		close(c->fd);
		return complain("%s is not a file: recordings are read from files", path);
	}
	c->size = st.st_size;
	c->at = FILE_HEAD;
	if (!read_at(c, 0, head, sizeof(head)) || memcmp(get_raw(&r, 8), FILE_MAGIC, 8)) {
		close(c->fd);
		return complain("%s is not a recording of culprit%s", path,
				c->size ? "" : ": it is empty");
	}
	major = get_u16(&r);
	minor = get_u16(&r);
	if (!major || major > FORMAT_MAJOR) {
		close(c->fd);
		return complain(
			"%s has format %u.%u, and this culprit reads formats up to %u.x: use a "
			"newer culprit",
			path, major, minor, FORMAT_MAJOR);
	}
	c->major = major;
	c->unpacker = unpacker_new();
	if (c->unpacker)
		return 0;
	close(c->fd);
	return complain("out of memory");
}

void chunks_close(struct chunks *c)
{
	close(c->fd);
	unpacker_free(c->unpacker);
	free(c->payload);
	free(c->stored);
}

void chunks_rewind(struct chunks *c)
{
	c->at = FILE_HEAD;
	c->damaged = 0;
	c->unpacked = 0;
	c->cut = c->too_much = false;
}

static void count_damage(struct chunks *c, uint64_t at)
{
	if (!c->damaged++)
		c->damaged_at = at;
}

struct head {
	uint32_t type, stored, raw, crc;
};

static bool parse_head(const uint8_t *at, struct head *h)
{
	struct reading r = {at, at + CHUNK_HEAD, false};

	if (memcmp(get_raw(&r, 4), CHUNK_MARK, 4))
		return false;
	h->type = get_u32(&r);
	h->stored = get_u32(&r);
	h->raw = get_u32(&r);
	h->crc = get_u32(&r);
	return get_u32(&r) == crc32(0, at, CHUNK_HEAD - 4) && h->stored <= h->raw &&
	       h->raw <= CHUNK_MAX;
}

/* Finds the first place from c->at on where a chunk begins; the file's end when there is none. */
static void find_mark(struct chunks *c)
{
	uint8_t *block = malloc(SEARCH_BYTES);
	struct head h;

	while (block && c->at + CHUNK_HEAD <= c->size) {
		size_t n = c->size - c->at < SEARCH_BYTES ? c->size - c->at : SEARCH_BYTES;

		if (!read_at(c, c->at, block, n))
			break;
		for (size_t i = 0; i + CHUNK_HEAD <= n; i++)
			if (block[i] == CHUNK_MARK[0] && parse_head(block + i, &h)) {
				c->at += i;
				free(block);
				return;
			}
		c->at += n - CHUNK_HEAD + 1;
	}
	free(block);
	c->at = c->size;
}

static bool make_room(uint8_t **buffer, size_t *room, size_t len)
{
	uint8_t *larger;

	if (*room >= len + 1)
		return true;
	larger = realloc(*buffer, len + 1);
	if (!larger)
		return false;
	*buffer = larger;
	*room = len + 1;
	return true;
}

/* Loads the payload of the chunk in hand, whole and checked. */
static bool load(struct chunks *c, const struct head *h)
{
	uint8_t *to;
	int err;

	if (h->stored < h->raw)
		c->unpacked += h->raw;
	c->too_much = c->unpacked > UNPACKED_FREE + UNPACKED_TIMES * c->size;
	if (c->too_much)
		return false;
	if (!make_room(&c->payload, &c->payload_room, h->raw) ||
	    !make_room(&c->stored, &c->stored_room, h->stored))
		return false;
	to = h->stored < h->raw ? c->stored : c->payload;
	if (!read_at(c, c->start + CHUNK_HEAD, to, h->stored) || crc32(0, to, h->stored) != h->crc)
		return false;
	err = h->stored < h->raw ? unpack(c->unpacker, c->payload, h->raw, c->stored, h->stored)
				 : 0;
	c->unknown |= err == -ENOTSUP;
	if (err)
		return false;
	c->type = h->type;
	c->len = h->raw;
	return true;
}

static bool is_known(uint32_t type)
{
	return type == CHUNK_HEAD_TYPE || type == CHUNK_RUN || type == CHUNK_FACT ||
	       type == CHUNK_EVENTS || type == CHUNK_TAIL || type == CHUNK_COURSE ||
	       type == CHUNK_STOPS || type == CHUNK_END;
}

/* The head at this place; false: there is no whole one. */
static bool head_at(const struct chunks *c, uint64_t at, struct head *h)
{
	uint8_t head[CHUNK_HEAD];

	return at + CHUNK_HEAD <= c->size && read_at(c, at, head, sizeof(head)) &&
	       parse_head(head, h);
}

bool chunks_find(struct chunks *c, uint32_t type)
{
	struct head h;

	while (head_at(c, c->at, &h)) {
		c->start = c->at;
		c->at += CHUNK_HEAD + h.stored;
		if (h.type == type)
			return load(c, &h);
	}
	return false;
}

bool chunks_ahead(struct chunks *c, struct chunk_group *g)
{
	const uint64_t start = c->start;
	bool found = false;
	struct head h;

	while (head_at(c, c->at, &h) && h.type == CHUNK_INDEX)
		c->at += CHUNK_HEAD + h.stored;
	*g = (struct chunk_group){.end = c->at, .next = c->at};
	while (head_at(c, g->end, &h) && h.type == CHUNK_EVENTS) {
		g->end = g->next = g->end + CHUNK_HEAD + h.stored;
		g->chunks++;
		g->raw += h.raw;
	}
	if (g->chunks && head_at(c, g->end, &h) && h.type == CHUNK_INDEX) {
		c->start = g->end;
		g->next += CHUNK_HEAD + h.stored;
		found = load(c, &h);
	}
	c->start = start;
	return found;
}

bool chunks_next(struct chunks *c)
{
	uint8_t head[CHUNK_HEAD];
	struct head h;

	while (c->at < c->size) {
		c->start = c->at;
		if (c->at + CHUNK_HEAD > c->size) {
			c->cut = true;
			break;
		}
		if (!read_at(c, c->at, head, sizeof(head)) || !parse_head(head, &h)) {
			count_damage(c, c->at++);
			find_mark(c);
			continue;
		}
		if (c->at + CHUNK_HEAD + h.stored > c->size) {
			c->cut = true;
			break;
		}
		c->at += CHUNK_HEAD + h.stored;
		if (!is_known(h.type))
			continue;
		if (load(c, &h))
			return true;
		if (c->too_much) {
			c->at = c->size;
			return false;
		}
		count_damage(c, c->start);
	}
	c->start = c->at;
	c->at = c->size;
	return false;
}
