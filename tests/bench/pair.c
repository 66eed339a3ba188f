/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two threads on two CPUs that send each other messages, with nothing around it: the measure for
 * pingpong spin and queue. Prints both medians, one way, in ns: of a ball that is returned at once,
 * and of one that is held for 10 us first. Each thread knows the other's stamps only. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pair.h"
#include "collect/counter.h"

#define MESSAGES 30000
#define GAP_NS   10000

static _Alignas(128) _Atomic uint64_t word[2 * 16]; /* a word for each, 128 bytes apart */
static _Atomic int arrived;
static uint64_t (*took)[MESSAGES]; /* times of both sides */
static uint64_t gap;               /* ticks */

static uint64_t receive(int side, uint64_t *last)
{
	uint64_t stamp;

	while ((stamp = atomic_load_explicit(&word[16 * side], memory_order_acquire)) == *last)
		;
	*last = stamp;
	return counter_now() - stamp;
}

static void send(int side)
{
	atomic_store_explicit(&word[16 * !side], counter_now(), memory_order_release);
}

struct player {
	int cpu, side;
};

static void *play(void *arg)
{
	const struct player *p = arg;
	uint64_t last = 0, due;
	int side = p->side;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(p->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < 2)
		;
	due = counter_now();
	for (int i = 0; i < MESSAGES; i++) {
		if (gap && !side)
			while (counter_now() < due)
				;
		if (!side)
			send(side);
		due = counter_now() + gap;
		took[side][i] = receive(side, &last);
		if (side)
			send(side);
	}
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double run_pair(const int *cpu, double ns_per_tick, uint64_t gap_ns)
{
	struct player player[2] = {{cpu[0], 0}, {cpu[1], 1}};
	pthread_t thread[2];

	atomic_store(&word[0], 0);
	atomic_store(&word[16], 0);
	atomic_store(&arrived, 0);
	gap = gap_ns / ns_per_tick;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, play, &player[i]))
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	qsort(took[1], MESSAGES, sizeof(took[1][0]), by_value);
	return took[1][MESSAGES / 2] * ns_per_tick;
}

void bench_pair(int a, int b, double ns_per_tick)
{
	const int cpu[2] = {a, b};

	took = calloc(2, sizeof(*took));
	if (!took)
		exit(1);
	printf("%.1f", run_pair(cpu, ns_per_tick, 0));
	printf(" %.1f\n", run_pair(cpu, ns_per_tick, GAP_NS));
	free(took);
}
