/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Large memory of the code under test is used again. AddressSanitizer would take each block from
 * the kernel and give it back, with its shadow, in each run, which took more than half of the time
 * of most fuzzers. What a block is for stays as it was: it is as long as was asked for, has the
 * sanitizer's zones around it, nobody may touch it once it is freed, and one that nobody frees is a
 * leak. The linker sends all calls of the allocator here. */
#include <assert.h>
#include <pthread.h>
#include <sanitizer/allocator_interface.h>
#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE  32768 /* bytes */
#define PAGE   4096
#define BLOCKS 128  /* kept, at most */
#define USED   256  /* blocks in use that are known; those beyond are the sanitizer's alone */
#define FILL   0xbe /* filled in as the sanitizer fills what malloc gives */

struct block {
	uintptr_t at; /* in `used` with all bits turned, or none would be a leak; 0: none */
	size_t size;
	void *share; /* taken from the sanitizer for it, or no run would add up */
};

static struct block kept[BLOCKS], used[USED];
static void *shares[BLOCKS];
static unsigned nshares, oldest; /* among those kept */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t size);
void *__real_reallocarray(void *at, size_t n, size_t size);
void __real_free(void *at);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t size);
void *__wrap_reallocarray(void *at, size_t n, size_t size);
void __wrap_free(void *at);

/* As many blocks will be kept that were taken in one run and are given back in none. */
static __attribute__((constructor)) void begin(void)
{
	for (; nshares < BLOCKS; nshares++)
		shares[nshares] = __real_malloc(1);
}

static_assert(USED == 256, "a slot is eight bits of a hash");

static struct block *slot_of(const void *at)
{
	return &used[((uintptr_t)at >> 4) * 0x9e3779b97f4a7c15U >> 56];
}

/* A block of just this size, full of zeros; NULL: none is kept. */
static void *take(size_t size)
{
	void *share = __real_malloc(1), *at = NULL;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BLOCKS && !at; i++) {
		struct block *slot = slot_of((void *)kept[i].at);

		if (kept[i].at && kept[i].size == size && !slot->at) {
			at = (void *)kept[i].at;
			*slot = (struct block){~kept[i].at, size, share};
			kept[i].at = 0;
		}
	}
	pthread_mutex_unlock(&lock);
	if (at)
		ASAN_UNPOISON_MEMORY_REGION(at, size);
	else
		__real_free(share);
	return at;
}

static void *note(void *at, size_t size)
{
	struct block *slot = slot_of(at);

	pthread_mutex_lock(&lock);
	if (at && !slot->at)
		*slot = (struct block){~(uintptr_t)at, size, nshares ? shares[--nshares] : NULL};
	pthread_mutex_unlock(&lock);
	return at;
}

/* A block that is in use; it is forgotten. */
static struct block forget(const void *at)
{
	struct block *slot = slot_of(at), b = {0};

	if (!at || slot->at != ~(uintptr_t)at)
		return b;
	pthread_mutex_lock(&lock);
	b = (struct block){(uintptr_t)at, slot->size, slot->share};
	*slot = (struct block){0};
	pthread_mutex_unlock(&lock);
	assert(b.size == __sanitizer_get_allocated_size(at));
	return b;
}

/* The kernel gives pages of zeros for those that were written to, if they are used again. */
static void clear(char *at, size_t size)
{
	size_t before = -(uintptr_t)at % PAGE, pages = (size - before) / PAGE * PAGE;

	memset(at, 0, before);
	memset(at + before + pages, 0, size - before - pages);
	if (madvise(at + before, pages, MADV_DONTNEED))
		abort();
}

/* Keeps a block, if need be in place of another, which it returns; NULL: of none. */
static void *keep(struct block b)
{
	unsigned i = 0;
	void *old;

	pthread_mutex_lock(&lock);
	while (i < BLOCKS && kept[i].at)
		i++;
	if (i == BLOCKS)
		i = oldest++ % BLOCKS;
	old = (void *)kept[i].at;
	if (old)
		ASAN_UNPOISON_MEMORY_REGION(old, kept[i].size);
	kept[i] = (struct block){b.at, b.size, NULL};
	pthread_mutex_unlock(&lock);
	return old;
}

void *__wrap_malloc(size_t size)
{
	void *at = size < LARGE ? NULL : take(size);

	if (at)
		return memset(at, FILL, PAGE);
	at = __real_malloc(size);
	return size < LARGE ? at : note(at, size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	size_t all;
	void *at;

	if (__builtin_mul_overflow(n, size, &all) || all < LARGE)
		return __real_calloc(n, size);
	at = take(all);
	return at ? at : note(__real_calloc(n, size), all);
}

void *__wrap_realloc(void *at, size_t size)
{
	__real_free(forget(at).share);
	return __real_realloc(at, size);
}

void *__wrap_reallocarray(void *at, size_t n, size_t size)
{
	__real_free(forget(at).share);
	return __real_reallocarray(at, n, size);
}

void __wrap_free(void *at)
{
	struct block b = forget(at);

	if (b.at) {
		clear(at, b.size);
		ASAN_POISON_MEMORY_REGION(at, b.size);
		__real_free(b.share);
		at = keep(b);
	}
	__real_free(at);
}
