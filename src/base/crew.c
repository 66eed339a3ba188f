/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/crew.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#define STACK_BYTES (512 << 10)
#define CREW_MOST   16

struct crew {
	pthread_mutex_t lock;
	pthread_cond_t begun, done;
	void (*task)(void *ctx, uint32_t i);
	void *ctx;
	uint32_t n, next, running;
	bool over;
	unsigned helpers;
	pthread_t helper[CREW_MOST];
};

/* Does one task, if one is left. The lock is held before and after. */
static bool do_one(struct crew *c)
{
	uint32_t i = c->next;

	if (c->next == c->n)
		return false;
	c->next++;
	c->running++;
	pthread_mutex_unlock(&c->lock);
	c->task(c->ctx, i);
	pthread_mutex_lock(&c->lock);
	if (!--c->running && c->next == c->n)
		pthread_cond_signal(&c->done);
	return true;
}

static void *help(void *crew)
{
	struct crew *c = crew;

	pthread_mutex_lock(&c->lock);
	while (!c->over)
		if (!do_one(c))
			pthread_cond_wait(&c->begun, &c->lock);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Signals go to the owner. */
static void add_helpers(struct crew *c, unsigned n)
{
	sigset_t all, before;
	pthread_attr_t attr;

	if (pthread_attr_init(&attr))
		return;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (c->helpers < n && c->helpers < CREW_MOST &&
	       !pthread_create(&c->helper[c->helpers], &attr, help, c))
		c->helpers++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

struct crew *crew_new(unsigned threads)
{
	struct crew *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->begun, NULL);
	pthread_cond_init(&c->done, NULL);
	if (threads > 1)
		add_helpers(c, threads - 1);
	return c;
}

void crew_free(struct crew *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->over = true;
	pthread_cond_broadcast(&c->begun);
	pthread_mutex_unlock(&c->lock);
	while (c->helpers)
		pthread_join(c->helper[--c->helpers], NULL);
	pthread_cond_destroy(&c->done);
	pthread_cond_destroy(&c->begun);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

unsigned crew_cpus(unsigned most)
{
	cpu_set_t set;
	unsigned n;

	if (sched_getaffinity(0, sizeof(set), &set)) /* more CPUs than the set has bits */
		return most;
	n = CPU_COUNT(&set);
	return n < most ? n : most;
}

void crew_begin(struct crew *c, uint32_t n, void (*task)(void *ctx, uint32_t i), void *ctx)
{
	pthread_mutex_lock(&c->lock);
	c->task = task;
	c->ctx = ctx;
	c->n = n;
	c->next = 0;
	if (n)
		pthread_cond_broadcast(&c->begun);
	pthread_mutex_unlock(&c->lock);
}

void crew_end(struct crew *c)
{
	pthread_mutex_lock(&c->lock);
	while (do_one(c))
		;
	while (c->running)
		pthread_cond_wait(&c->done, &c->lock);
	c->n = c->next = 0;
	pthread_mutex_unlock(&c->lock);
}
