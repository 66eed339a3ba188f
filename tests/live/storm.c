/* SPDX-License-Identifier: GPL-2.0-or-later */
/* storm KIND: a load on the CPUs that it may use, until it is killed or its parent dies.
 *
 *   forks    2,000 children at once, again and again
 *   threads  500 threads that sleep 5 ms at a time
 *   renames  a thread that has another name each time that it runs
 *   futex    two threads that wake each other as fast as they can */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FORKS   2000
#define THREADS 500

static void rest(long ns)
{
	struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

static void forks(void)
{
	for (;;) {
		for (int i = 0; i < FORKS; i++)
			if (!fork()) {
				rest(50000000);
				_exit(0);
			}
		while (wait(NULL) > 0)
			;
	}
}

static void *doze(void *unused)
{
	(void)unused;
	for (;;)
		rest(5000000);
	return NULL;
}

static void threads(void)
{
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t, &small, doze, NULL);
	doze(NULL);
}

static void renames(void)
{
	char name[16];

	for (unsigned n = 0;; n++) {
		snprintf(name, sizeof(name), "name-%u", n);
		prctl(PR_SET_NAME, name);
		rest(100000);
	}
}

static _Atomic unsigned turn;

static void *play(void *me)
{
	unsigned mine = me != NULL;

	for (;;) {
		while (turn != mine)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - mine, NULL, NULL, 0);
		turn = 1 - mine;
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void futex(void)
{
	pthread_t t;

	pthread_create(&t, NULL, play, (void *)&turn);
	play(NULL);
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc == 2 && !strcmp(argv[1], "forks"))
		forks();
	else if (argc == 2 && !strcmp(argv[1], "threads"))
		threads();
	else if (argc == 2 && !strcmp(argv[1], "renames"))
		renames();
	else if (argc == 2 && !strcmp(argv[1], "futex"))
		futex();
	return 1;
}
