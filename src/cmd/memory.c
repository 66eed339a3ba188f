/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel keeps the account: RLIMIT_DATA is all that a process may allocate, by whatever
 * library. All our own calls of the allocator pass here (the linker's --wrap), so that none that
 * fails is forgotten: a reader of recordings has nothing to put in order and ends at once, anybody
 * else goes on to its end, which main() then calls failed. */
#include "cmd/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/newfile.h"

#define MIB         (UINT64_C(1) << 20)
#define BYTES_LEAST (16 * MIB)
#define BYTES_USUAL (1024 * MIB)
#define RETURNED    (128 * 1024) /* glibc's own bound, until the first such block is freed */

static uint64_t bound; /* 0: none */
static atomic_bool out;

/* ---- the option ---- */

static int set_memory(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen)
{
	static const char units[] = "KMGT";
	size_t digits = strspn(text, "0123456789");
	const char *unit = digits && text[digits] ? strchr(units, text[digits]) : NULL;
	uint64_t n =
		digits && digits < 7 && unit && !text[digits + 1] ? strtoul(text, NULL, 10) : 0;

	(void)row;
	n = n ? n << (10 * (unit - units + 1)) : 0;
	if (n < BYTES_LEAST) {
		snprintf(why, whylen, "'%.40s' is no size of 16M or more, like 512M or 4G", text);
		return -EINVAL;
	}
	*(uint64_t *)field = n;
	return 0;
}

const struct opt memory_opts[] = {
	{0, "memory", "SIZE",
	 "allocate at most so much for what the file holds, and take no more from a pipe: 512M, 4G",
	 0, set_memory, .preset = "1G"},
	{0},
};

uint64_t memory_bound(uint64_t bytes)
{
	uint64_t most = bytes ? bytes : BYTES_USUAL;

#ifndef __SANITIZE_ADDRESS__ /* the sanitizer needs several times the bound for itself */
	struct rlimit limit;

	bound = most;
	if (getrlimit(RLIMIT_DATA, &limit))
		return most;
	if (limit.rlim_cur > bound)
		limit.rlim_cur = bound;
	setrlimit(RLIMIT_DATA, &limit);
#endif
	return most;
}

void memory_returns(void)
{
#ifdef M_MMAP_THRESHOLD /* glibc's */
	mallopt(M_MMAP_THRESHOLD, RETURNED);
#endif
}

bool memory_is_out(void)
{
	return out;
}

/* ---- the allocator ---- */

static void *allocated(void *p)
{
	if (p)
		return p;
	if (bound && !atomic_exchange(&out, true)) {
		complain("out of memory: %llu MiB are allowed, or less by a limit of the shell: "
			 "--memory %lluG allows more",
			 (unsigned long long)(bound / MIB),
			 (unsigned long long)(bound / 512 / MIB + 1));
		newfile_abandon();
		_exit(EXIT_ERROR);
	}
	out = true;
	errno = ENOMEM;
	return NULL;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

void *__wrap_malloc(size_t size)
{
	return allocated(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return allocated(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	return allocated(__real_realloc(p, size));
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return allocated(__real_reallocarray(p, n, size));
}

char *__wrap_strdup(const char *text)
{
	return allocated(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t len)
{
	return allocated(__real_strndup(text, len));
}

/* libc allocates these by itself. The names with _chk are those of _FORTIFY_SOURCE. */
int __real_vasprintf(char **text, const char *fmt, va_list args);
int __real___vasprintf_chk(char **text, int flag, const char *fmt, va_list args);
int __wrap_vasprintf(char **text, const char *fmt, va_list args);
int __wrap_asprintf(char **text, const char *fmt, ...);
int __wrap___vasprintf_chk(char **text, int flag, const char *fmt, va_list args);
int __wrap___asprintf_chk(char **text, int flag, const char *fmt, ...);
FILE *__wrap_open_memstream(char **text, size_t *len);

static int printed(int n)
{
	if (n < 0)
		allocated(NULL);
	return n;
}

int __wrap_vasprintf(char **text, const char *fmt, va_list args)
{
	return printed(__real_vasprintf(text, fmt, args));
}

int __wrap___vasprintf_chk(char **text, int flag, const char *fmt, va_list args)
{
	return printed(__real___vasprintf_chk(text, flag, fmt, args));
}

int __wrap_asprintf(char **text, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = __wrap_vasprintf(text, fmt, args);
	va_end(args);
	return n;
}

int __wrap___asprintf_chk(char **text, int flag, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = __wrap___vasprintf_chk(text, flag, fmt, args);
	va_end(args);
	return n;
}

/* libc's own stream says nothing when it cannot grow: what it holds ends there. */
struct stream {
	char **text; /* with a NUL behind it */
	size_t *len, room;
};

static ssize_t stream_write(void *cookie, const char *bytes, size_t n)
{
	struct stream *s = cookie;

	if (s->room - *s->len <= n) {
		size_t room = 2 * s->room + n;
		char *more = realloc(*s->text, room);

		if (!more)
			return 0;
		*s->text = more;
		s->room = room;
	}
	memcpy(*s->text + *s->len, bytes, n);
	*s->len += n;
	(*s->text)[*s->len] = 0;
	return n;
}

/* For ftell() alone. */
static int stream_seek(void *cookie, off64_t *at, int whence)
{
	struct stream *s = cookie;

	if (whence != SEEK_CUR || *at)
		return -1;
	*at = *s->len;
	return 0;
}

static int stream_close(void *cookie)
{
	struct stream *s = cookie;
	char *less = realloc(*s->text, *s->len + 1);

	if (less)
		*s->text = less;
	free(s);
	return 0;
}

FILE *__wrap_open_memstream(char **text, size_t *len)
{
	const cookie_io_functions_t calls = {
		.write = stream_write, .seek = stream_seek, .close = stream_close};
	struct stream *s = malloc(sizeof(*s));
	FILE *f = NULL;

	*text = calloc(1, BUFSIZ);
	*len = 0;
	if (s && *text) {
		*s = (struct stream){text, len, BUFSIZ};
		f = allocated(fopencookie(s, "w", calls));
	}
	if (!f) {
		free(s);
		free(*text);
		*text = NULL;
	}
	return f;
}
