/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The course of a message from one side to the other. Each way has send and receive; `play` is the
 * game that all of them play, compiled for each so that no call stands between a spinning loop and
 * its stamp.
 *
 * Only one message is under way at any time. A side that is told to stop while it has the message
 * passes on STOP, so no side waits for one that has gone.
 */
#ifndef CULPRIT_PINGPONG_WAY_H
#define CULPRIT_PINGPONG_WAY_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "collect/pingpong.h"
#include "collect/spin.h"

#define STOP   1    /* no stamp is that small, */
#define ENOUGH 2    /* nor that: the side that begins has learned enough of this way */
#define FEW    3    /* rounds to learn from where they take long */
#define LOOKS  4096 /* between two checks whether to stop */

#if defined(__x86_64__)
#define RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ volatile("yield" ::: "memory")
#else
#define RELAX() __asm__ volatile("" ::: "memory")
#endif

/* The mailbox of one side. On lines of its own: 128 bytes, because CPUs fetch lines in pairs. */
struct box {
	_Alignas(128) _Atomic uint64_t word; /* newest stamp of the spinning ways */
	_Alignas(128) _Atomic uint32_t futex;
	_Alignas(128) uint64_t stamp; /* stamp of the ways that only wake */
	sem_t sem;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	/* Descriptors; each side inherits all of them. */
	int pipe[2], event, socket, ring_pipe[2];
};

struct ring;

/* One side of the game. */
struct side {
	struct work *work;
	const struct pingpong_options *o;
	struct box *in, *out;
	bool first;
	uint32_t series;
	uint64_t last;  /* the last value read from in->word */
	uint64_t until; /* while learning, ticks: then a FEW rounds are enough; 0: not */
	/* Read before anything lets the other side send: before the last message to it, or its
	 * arrival. */
	cursors_t cursors;
	uint64_t *raw, *raw_count; /* NULL: not wanted */
	struct hist *median;       /* for a pair of many, instead of a series */
	struct ring *ring;
};

/* Each plays `messages` to and fro. 0 or -errno; *stopped: told to stop. */
int play_null(struct side *s, uint64_t messages, bool *stopped);
int play_spin(struct side *s, uint64_t messages, bool *stopped);
int play_spin_pause(struct side *s, uint64_t messages, bool *stopped);
int play_spin_pauses(struct side *s, uint64_t messages, bool *stopped);
int play_umwait(struct side *s, uint64_t messages, bool *stopped);
int play_mwaitx(struct side *s, uint64_t messages, bool *stopped);
int play_cv(struct side *s, uint64_t messages, bool *stopped);
int play_sem(struct side *s, uint64_t messages, bool *stopped);
int play_futex(struct side *s, uint64_t messages, bool *stopped);
int play_pipe(struct side *s, uint64_t messages, bool *stopped);
int play_eventfd(struct side *s, uint64_t messages, bool *stopped);
int play_socket(struct side *s, uint64_t messages, bool *stopped);
int play_io_uring(struct side *s, uint64_t messages, bool *stopped);

/* Tests whether this machine can. 0, or -1 with the reason in why. */
int can_umwait(char *why, size_t len);
int can_mwaitx(char *why, size_t len);
int can_io_uring(char *why, size_t len);

struct ring *ring_open(void); /* lasts as long as the process; NULL: errno */

static inline uint64_t side_ns(const struct side *s, uint64_t from, uint64_t to)
{
	return to > from ? (to - from) * s->work->ns_per_tick + 0.5 : 0;
}

/* Notes that a message has come, or that its replacement has been done. */
static inline void note_message(struct side *s, uint64_t stamp, uint64_t now)
{
	uint64_t ns = side_ns(s, stamp, now);

	if (s->median) {
		hist_add(s->median, ns);
		return;
	}
	work_window(s->work, s->series, ns, stamp, now, s->cursors);
	if (s->raw && !s->work->learning)
		s->raw[(*s->raw_count)++] = ns;
}

/* Sends a message. False: the end, or a failure. */
static inline __attribute__((always_inline)) bool throw(
	struct side * s, bool (*send)(struct side *, uint64_t), bool *stopped)
{
	bool counter = s->work->spin->counter;
	uint64_t stamp;

	if (work_stopped(s->work)) {
		*stopped = true;
		send(s, STOP);
		return false;
	}
	for (uint64_t i = 0; i < s->o->pauses; i++)
		RELAX();
	s->cursors = work_cursors(s->work);
	stamp = read_counter(counter);
	if (!send(s, stamp))
		return false;
	if (!s->median)
		work_outlier(s->work, s->series, stamp, read_counter(counter), s->cursors);
	return true;
}

/* On a busy CPU each message waits for the end of somebody's slice. */
static inline __attribute__((always_inline)) bool has_learned(const struct side *s, uint64_t rounds)
{
	return s->until && rounds >= FEW && read_counter(s->work->spin->counter) > s->until;
}

/* receive: returns the stamp; STOP or ENOUGH, or 0 when it failed. */
static inline __attribute__((always_inline)) int play(struct side *s, uint64_t messages,
						      bool *stopped,
						      bool (*send)(struct side *, uint64_t),
						      uint64_t (*receive)(struct side *))
{
	bool counter = s->work->spin->counter;

	for (uint64_t n = 0; n < messages; n++) {
		uint64_t stamp, now;

		if (s->first && has_learned(s, n)) {
			*stopped = !send(s, ENOUGH) || receive(s) != ENOUGH;
			break;
		}
		if (s->first && !throw(s, send, stopped))
			break;
		stamp = receive(s);
		now = read_counter(counter);
		if (stamp <= ENOUGH) {
			/* The answer keeps the next way's first message from overtaking this one.
			 */
			*stopped = stamp != ENOUGH || !send(s, ENOUGH);
			break;
		}
		note_message(s, stamp, now);
		if (!s->first && !throw(s, send, stopped))
			break;
	}
	return -s->work->spin->shm->error;
}

#endif
