/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways of pingpong that sleep in the kernel until a message comes: between processes, or
 * threads, of which futexes, condition variables and semaphores then are private. */
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/pingpong_way.h"

static bool failed(struct side *s, const char *what)
{
	work_failed(s->work, errno, what);
	return false;
}

/* ---- condition variable ---- */

static inline bool send_cv(struct side *s, uint64_t stamp)
{
	pthread_mutex_lock(&s->out->mutex);
	s->out->stamp = stamp;
	pthread_cond_signal(&s->out->cond);
	pthread_mutex_unlock(&s->out->mutex);
	return true;
}

static inline uint64_t receive_cv(struct side *s)
{
	uint64_t stamp;

	pthread_mutex_lock(&s->in->mutex);
	while (!s->in->stamp)
		pthread_cond_wait(&s->in->cond, &s->in->mutex);
	stamp = s->in->stamp;
	s->in->stamp = 0;
	pthread_mutex_unlock(&s->in->mutex);
	return stamp;
}

int play_cv(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, send_cv, receive_cv);
}

/* ---- semaphore ---- */

static uint64_t take_stamp(struct side *s)
{
	uint64_t stamp = s->in->stamp;

	s->in->stamp = 0;
	return stamp;
}

static inline bool send_sem(struct side *s, uint64_t stamp)
{
	s->out->stamp = stamp;
	return !sem_post(&s->out->sem) || failed(s, "sem_post");
}

static inline uint64_t receive_sem(struct side *s)
{
	while (sem_wait(&s->in->sem))
		if (errno != EINTR)
			return failed(s, "sem_wait");
	return take_stamp(s);
}

int play_sem(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, send_sem, receive_sem);
}

/* ---- futex ---- */

static inline int futex(const struct side *s, _Atomic uint32_t *word, int what, uint32_t value)
{
	return syscall(SYS_futex, word, what | (s->o->threads ? FUTEX_PRIVATE_FLAG : 0), value,
		       NULL, NULL, 0);
}

static inline bool send_futex(struct side *s, uint64_t stamp)
{
	s->out->stamp = stamp;
	atomic_store(&s->out->futex, 1);
	return futex(s, &s->out->futex, FUTEX_WAKE, 1) >= 0 || failed(s, "futex");
}

static inline uint64_t receive_futex(struct side *s)
{
	while (!atomic_exchange(&s->in->futex, 0))
		if (futex(s, &s->in->futex, FUTEX_WAIT, 0) && errno != EAGAIN && errno != EINTR)
			return failed(s, "futex");
	return take_stamp(s);
}

int play_futex(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, send_futex, receive_futex);
}

/* ---- descriptors ---- */

static inline bool send_pipe(struct side *s, uint64_t stamp)
{
	return write(s->out->pipe[1], &stamp, sizeof(stamp)) == sizeof(stamp) ||
	       failed(s, "writing to the pipe");
}

static inline uint64_t receive_pipe(struct side *s)
{
	uint64_t stamp;

	return read(s->in->pipe[0], &stamp, sizeof(stamp)) == sizeof(stamp)
		       ? stamp
		       : failed(s, "reading the pipe");
}

int play_pipe(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, send_pipe, receive_pipe);
}

static inline bool send_eventfd(struct side *s, uint64_t stamp)
{
	const uint64_t one = 1;

	s->out->stamp = stamp;
	return write(s->out->event, &one, sizeof(one)) == sizeof(one) ||
	       failed(s, "writing to the eventfd");
}

static inline uint64_t receive_eventfd(struct side *s)
{
	uint64_t events;

	if (read(s->in->event, &events, sizeof(events)) != sizeof(events))
		return failed(s, "reading the eventfd");
	return take_stamp(s);
}

int play_eventfd(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, send_eventfd, receive_eventfd);
}

/* Uses a pair of sockets: each receives what the other sends. */
static inline bool send_socket(struct side *s, uint64_t stamp)
{
	return send(s->in->socket, &stamp, sizeof(stamp), MSG_NOSIGNAL) == sizeof(stamp) ||
	       failed(s, "sending to the socket");
}

static inline uint64_t receive_socket(struct side *s)
{
	uint64_t stamp;

	return recv(s->in->socket, &stamp, sizeof(stamp), 0) == sizeof(stamp)
		       ? stamp
		       : failed(s, "reading the socket");
}

int play_socket(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, send_socket, receive_socket);
}
