/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs whose throughput shows the cost of being watched: each turn raises a counter in a file
 * that the bench reads. */
#include "turns.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
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

static int interrupt(void)
{
	const struct itimerspec each = {{0, 1000000}, {0, 1000000}};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	return timer < 0 ? -1 : timerfd_settime(timer, 0, &each, NULL);
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

static void *yield(void *turns)
{
	for (;; ++*(volatile uint64_t *)turns)
		sched_yield();
	return NULL;
}

/* Two threads that leave the CPU to each other: one switch a turn. */
static int give_way(volatile uint64_t *turns)
{
	uint64_t others = 0;
	pthread_t other;

	if (pthread_create(&other, NULL, yield, &others))
		return -1;
	yield((void *)turns);
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
	if (!strcmp(mode, "spinning") || (!strcmp(mode, "interrupted") && !interrupt()))
		spin(turns);
	if (!strcmp(mode, "syscalls"))
		call(turns);
	return strcmp(mode, "yields") ? exchange(turns) : give_way(turns);
}
