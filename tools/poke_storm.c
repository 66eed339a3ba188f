/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Storms: threads on the target that switch, wake each other or rename themselves as fast as they
 * can, for the length of a poke. */
#include "poke.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define RENAMES  16    /* between two sleeps */
#define SLEEP_NS 20000 /* sleep of the thread that renames itself */
#define OVER     2     /* in place of whose turn it is */

int storm_prepare(struct poke *p)
{
	struct poke *q = calloc(1, sizeof(*q));

	if (!q)
		return cannot(p, "out of memory");
	p->partner = q;
	q->partner = p;
	q->second = true;
	q->class = p->class;
	q->conf = p->conf;
	q->fd = p->fd;
	memcpy(q->comm, p->comm, sizeof(q->comm));
	if (!worker_start(q))
		return worker_start(p);
	memcpy(p->why, q->why, sizeof(p->why));
	return -1;
}

int storm_poke(struct poke *p, struct poke_event *ev)
{
	/* No two storms run at once; the thread may still write here when this one is
	 * interrupted. */
	static struct poke_event its;
	struct poke *q = p->partner;

	atomic_store_explicit(&p->release, 0, memory_order_release);
	extra(ev, "sent_ns", now_ns());
	worker_kick(q, &its);
	worker_kick(p, ev);
	p->turn++;
	if (wait_for(&p->done, (uint32_t)p->turn) || wait_for(&q->done, (uint32_t)p->turn))
		return -1;
	ev->start_ns = ev->start_ns < its.start_ns ? ev->start_ns : its.start_ns;
	ev->end_ns = ev->end_ns > its.end_ns ? ev->end_ns : its.end_ns;
	extra(ev, "partner_tid", (uint64_t)q->tid);
	extra(ev, "partner_ran_ns", its.ran_ns);
	return 0;
}

void storm_finish(struct poke *p)
{
	worker_stop(p);
	if (p->partner)
		worker_stop(p->partner);
	/* A thread that did not end still uses its partner. */
	if (p->partner && !p->started && !p->partner->started)
		free(p->partner);
	fd_finish(p);
}

static void say(struct poke_event *ev, uint64_t start, uint64_t ran)
{
	ev->start_ns = start;
	ev->ran_ns = cpu_time_ns() - ran;
	ev->end_ns = now_ns();
}

void yield_body(struct poke *p, struct poke_event *ev)
{
	uint64_t ran = cpu_time_ns(), start = now_ns();

	do
		sched_yield();
	while (now_ns() - start < length_of(p));
	say(ev, start, ran);
}

/* The first one's `release` says whose turn it is. */
void switch_body(struct poke *p, struct poke_event *ev)
{
	uint64_t ran = cpu_time_ns(), start = now_ns();
	_Atomic uint32_t *word = p->second ? &p->partner->release : &p->release;
	uint32_t other = !p->second, turn;

	do {
		while ((turn = atomic_load_explicit(word, memory_order_acquire)) == other)
			futex(word, FUTEX_WAIT, other);
		if (turn == OVER)
			break;
		turn = now_ns() - start < length_of(p) ? other : OVER;
		atomic_store_explicit(word, turn, memory_order_release);
		futex(word, FUTEX_WAKE, 1);
	} while (turn != OVER);
	say(ev, start, ran);
}

int udp_prepare(struct poke *p)
{
	struct timeval patience = {.tv_usec = 200000};

	if (open_loop(p))
		return -1;
	setsockopt(p->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return storm_prepare(p);
}

int udp_poke(struct poke *p, struct poke_event *ev)
{
	char byte;

	while (recv(p->fd, &byte, 1, MSG_DONTWAIT) ==
	       1) /* left by a storm whose receiver gave up */
		;
	return storm_poke(p, ev);
}

/* The second one receives, until a byte marks the end. */
void udp_body(struct poke *p, struct poke_event *ev)
{
	uint64_t ran = cpu_time_ns(), start = now_ns();
	char byte = 0;

	if (p->second) {
		while (recv(p->fd, &byte, 1, 0) == 1 && !byte)
			;
	} else {
		for (; now_ns() - start < length_of(p); sched_yield())
			send(p->fd, &byte, 1, MSG_DONTWAIT);
		byte = 1;
		send(p->fd, &byte, 1, MSG_DONTWAIT);
	}
	say(ev, start, ran);
}

/* Comes with its usual name, and leaves with another each time. */
void rename_body(struct poke *p, struct poke_event *ev)
{
	uint64_t ran = cpu_time_ns(), start = now_ns();
	struct timespec nap = {.tv_nsec = SLEEP_NS};
	static unsigned int count;
	char name[16];

	do {
		for (int i = 0; i < RENAMES; i++) {
			snprintf(name, sizeof(name), "poke-rename%04x", count++ & 0xffff);
			prctl(PR_SET_NAME, name);
		}
		nanosleep(&nap, NULL);
	} while (now_ns() - start < length_of(p));
	prctl(PR_SET_NAME, p->comm);
	say(ev, start, ran);
}
