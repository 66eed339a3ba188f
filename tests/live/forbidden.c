/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded into culprit: its sampler (FORBIDDEN=sampler) or its writer (FORBIDDEN=writer) makes a
 * system call that it does not need. The sampler asks where it is before and in its window, the
 * writer packs each chunk. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stray(const char *who)
{
	const char *wanted = getenv("FORBIDDEN");

	if (wanted && !strcmp(wanted, who))
		syscall(SYS_getuid);
}

int sched_getcpu(void);

int sched_getcpu(void)
{
	unsigned cpu = 0;

	stray("sampler");
	syscall(SYS_getcpu, &cpu, NULL, NULL);
	return cpu;
}

int compress2(void *to, unsigned long *to_len, const void *from, unsigned long len, int level);

int compress2(void *to, unsigned long *to_len, const void *from, unsigned long len, int level)
{
	(void)to;
	(void)to_len;
	(void)from;
	(void)len;
	(void)level;
	stray("writer");
	return -5; /* Z_BUF_ERROR: it is stored as it is */
}

size_t ZSTD_compressCCtx(void *ctx, void *to, size_t room, const void *from, size_t len, int level);

size_t ZSTD_compressCCtx(void *ctx, void *to, size_t room, const void *from, size_t len, int level)
{
	(void)ctx;
	(void)to;
	(void)room;
	(void)from;
	(void)len;
	(void)level;
	stray("writer");
	return (size_t)-1; /* an error: it is stored as it is */
}
