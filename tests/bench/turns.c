/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs whose throughput shows the cost of being watched: each turn raises a counter in a file
 * that the bench reads. */
#include "turns.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 1000 /* additions a turn */

static void spin(volatile uint64_t *turns)
{
	for (;; ++*turns)
		for (volatile int i = 0; i < SPINS; i++)
			;
}

static void call(volatile uint64_t *turns)
{
	for (;; ++*turns)
		syscall(SYS_getppid);
}

/* Sends a byte to a child on the same CPU and back: two switches. */
static int exchange(volatile uint64_t *turns)
{
	int there[2], back[2];
	char byte = 0;

	if (pipe(there) || pipe(back))
		return -1;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	while (write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1)
		++*turns;
	return -1;
}

int bench_turns(const char *mode, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	volatile uint64_t *turns;

	if (fd < 0 || ftruncate(fd, sizeof(*turns)))
		return -1;
	turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (turns == MAP_FAILED)
		return -1;
	if (!strcmp(mode, "spinning"))
		spin(turns);
	if (!strcmp(mode, "syscalls"))
		call(turns);
	return exchange(turns);
}
