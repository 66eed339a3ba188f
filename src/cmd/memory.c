/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel keeps the account: RLIMIT_DATA is all that a process may allocate, by whatever
 * library. All our own calls of the allocator pass here (the linker's --wrap), so that none that
 * fails is forgotten: a reader of recordings has nothing to put in order and ends at once, anybody
 * else goes on to its end, which main() then calls failed. */
#include "cmd/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
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
	mallopt(M_MMAP_THRESHOLD, MIB);
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
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *text);

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
