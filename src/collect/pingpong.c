/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/pingpong.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "collect/pingpong_way.h"

#define WARM    500 /* messages each way by each method, for learning, while there is time: */
#define WARM_NS (3 * NSEC_PER_SEC) /* for all methods, but for a FEW messages of each */

struct way {
	const char *name;
	int (*play)(struct side *s, uint64_t messages, bool *stopped);
	int (*can)(char *why, size_t len); /* 0: the machine can; NULL: all can */
	bool sleeps;                       /* the receiver does, in the kernel */
};

static const struct way ways[PINGPONG_WAYS] = {
	{"null", play_null, NULL, false},
	{"spin", play_spin, NULL, false},
	{"spin-pause", play_spin_pause, NULL, false},
	{"spin-pauses", play_spin_pauses, NULL, false},
	{"umwait", play_umwait, can_umwait, false},
	{"mwaitx", play_mwaitx, can_mwaitx, false},
	{"cv", play_cv, NULL, true},
	{"sem", play_sem, NULL, true},
	{"futex", play_futex, NULL, true},
	{"pipe", play_pipe, NULL, true},
	{"eventfd", play_eventfd, NULL, true},
	{"socket", play_socket, NULL, true},
	{"io_uring", play_io_uring, can_io_uring, true},
};

const char *const pingpong_names[PINGPONG_WAYS + 1] = {
	"null", "spin",  "spin-pause", "spin-pauses", "umwait", "mwaitx",  "cv",
	"sem",  "futex", "pipe",       "eventfd",     "socket", "io_uring"};

int pingpong_can(uint32_t way, char *why, size_t len)
{
	return ways[way].can ? ways[way].can(why, len) : 0;
}

bool pingpong_sleeps(uint32_t way)
{
	return ways[way].sleeps;
}

/* Shared by both sides. */
struct table {
	_Alignas(128) _Atomic uint64_t arrived[2];
	_Alignas(128) _Atomic uint64_t done; /* sides of finished pairs */
	struct box box[2];
};

/* ---- in culprit's process ---- */

/* Private ones are for the threads of one process, whichever that will be. */
static int make_primitives(struct box *b, bool private)
{
	int shared = private ? PTHREAD_PROCESS_PRIVATE : PTHREAD_PROCESS_SHARED;
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, shared);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, shared);
	if (pthread_mutex_init(&b->mutex, &mutex) || pthread_cond_init(&b->cond, &cond) ||
	    sem_init(&b->sem, !private, 0))
		return complain("mutexes, condition variables or semaphores cannot be shared "
				"between processes here");
	return 0;
}

static void keep(struct workload_props *props, int fd)
{
	props->fd[props->nfds++] = fd;
}

static int open_descriptors(struct workload_props *props, struct box *b)
{
	b->event = eventfd(0, EFD_CLOEXEC);
	if (b->event < 0)
		return -1;
	keep(props, b->event);
	if (pipe(b->pipe))
		return -1;
	keep(props, b->pipe[0]);
	keep(props, b->pipe[1]);
	if (pipe(b->ring_pipe))
		return -1;
	keep(props, b->ring_pipe[0]);
	keep(props, b->ring_pipe[1]);
	return 0;
}

static int prepare(struct workload_props *props, const void *options)
{
	const struct pingpong_options *o = options;
	struct table *t = props->shared;
	int pair[2];

	for (int i = 0; i < 2; i++) {
		if (make_primitives(&t->box[i], o->threads))
			return -1;
		if (open_descriptors(props, &t->box[i]))
			return complain("cannot create pipes and eventfds for the messages: %s",
					strerror(errno));
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return complain("cannot create sockets for the messages: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		t->box[i].socket = pair[i];
		keep(props, pair[i]);
	}
	return 0;
}

/* ---- in the samplers ---- */

static void nap(void)
{
	struct timespec t = {0, 200 * NSEC_PER_USEC};

	nanosleep(&t, NULL);
}

/* Makes both sides begin a run together. They learn at different times, so they sleep until then;
 * false: stopped. */
static bool meet(struct table *t, struct side *s)
{
	uint64_t run;

	s->cursors = work_cursors(s->work);
	run = atomic_fetch_add(&t->arrived[!s->first], 1) + 1;

	while (atomic_load(&t->arrived[s->first]) < run) {
		if (work_stopped(s->work))
			return false;
		if (s->work->learning || s->work->sleeps)
			nap();
		else
			RELAX();
	}
	return true;
}

static void take_seat(struct side *s, struct table *t, bool first)
{
	s->first = first;
	s->in = &t->box[!first];
	s->out = &t->box[first];
	s->last = atomic_load(&s->in->word);
}

static int play_all(struct side *s, struct table *t)
{
	const struct pingpong_options *o = s->o;
	struct work *w = s->work;
	bool stopped = false;
	int err = 0;

	take_seat(s, t, w->cpu == o->cpu[0]);
	if (!meet(t, s))
		return 0;
	for (uint32_t i = 0; i < o->nways && !err && !stopped; i++) {
		uint64_t messages = w->learning && o->messages > WARM ? WARM : o->messages;

		s->series = i;
		s->until = w->learning ? work_tick(w) + WARM_NS / o->nways / w->ns_per_tick : 0;
		s->raw = o->raw ? o->raw + (2 * i + !s->first) * o->messages : NULL;
		s->raw_count = o->raw ? &o->raw_count[2 * i + !s->first] : NULL;
		err = ways[o->way[i]].play(s, messages, &stopped);
		/* null has no message by which to tell the other side, which may wait for one of
		 * the next way: that one tells it. */
		stopped &= ways[o->way[i]].play != play_null;
		atomic_fetch_add(&w->spin->shm->steps, 1);
	}
	return err;
}

/* Plays one pair of many; the series serves as scratch memory. */
static int play_pair(struct side *s, struct table *t, uint32_t other)
{
	struct work *w = s->work;
	uint64_t *median = &s->o->matrix[other * w->props->n + w->index];
	bool stopped = false;
	int err;

	hist_reset(s->median);
	take_seat(s, t, w->index < other);
	if (!meet(t, s))
		return 0;
	err = ways[s->o->way[0]].play(s, s->o->messages, &stopped);
	if (!err && !stopped)
		*median = hist_percentile(s->median, 50);
	return err;
}

static int play_matrix(struct side *s, struct table *t)
{
	uint32_t n = s->work->props->n, me = s->work->index;
	uint64_t pairs = 0;
	int err = 0;

	s->median = &s->work->series[0].hist;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++, pairs++) {
			if (me != i && me != j)
				continue;
			while (atomic_load(&t->done) < 2 * pairs && !work_stopped(s->work))
				nap();
			if (work_stopped(s->work))
				return 0;
			err = play_pair(s, t, me == i ? j : i);
			if (err)
				return err;
			atomic_fetch_add(&t->done, 1);
		}
	return 0;
}

/* A ring is opened while learning, when the sampler has its rights, and lasts as long as that does.
 * NULL: nobody wants one, or playing says why there is none. */
static struct ring *own_ring(const struct pingpong_options *o)
{
	static __thread struct ring *ring;

	for (uint32_t i = 0; i < o->nways && !ring; i++)
		if (ways[o->way[i]].play == play_io_uring)
			ring = ring_open();
	return ring;
}

static int run(struct work *w)
{
	struct side s = {.work = w, .o = w->options};

	s.ring = own_ring(s.o);
	if (s.o->matrix)
		return w->learning ? 0 : play_matrix(&s, w->props->shared);
	return play_all(&s, w->props->shared);
}

const struct workload pingpong_workload = {
	.name = "pingpong",
	.rest = "the message's way, or its sender late",
	.shared_bytes = sizeof(struct table),
	.warm = WARM,
	.partners = true,
	.prepare = prepare,
	.run = run,
};
