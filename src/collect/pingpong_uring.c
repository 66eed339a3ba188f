/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way of pingpong through io_uring: a pipe, written and read by requests in a ring. Each side
 * makes a ring of its own when it first needs one, and enters the kernel once for each message: it
 * submits one request and waits for its end. Uses raw system calls (man 7 io_uring), because it
 * needs only four structs. */
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/pingpong_way.h"

#define ENTRIES 4

struct ring {
	int fd;
	void *sq, *cq;
	size_t sq_len, cq_len;
	struct io_uring_sqe *sqe;
	struct io_uring_params p;
};

static int ring_setup(struct io_uring_params *p)
{
	memset(p, 0, sizeof(*p));
	return syscall(SYS_io_uring_setup, ENTRIES, p);
}

int can_io_uring(char *why, size_t len)
{
	struct io_uring_params p;
	int fd = ring_setup(&p);

	if (fd < 0) {
		snprintf(why, len, "the kernel refuses io_uring: %s%s", strerror(errno),
			 errno == EPERM ? " (sysctl kernel.io_uring_disabled, or a filter)" : "");
		return -1;
	}
	close(fd);
	return 0;
}

static void *map(int fd, size_t len, uint64_t what)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);

	return at == MAP_FAILED ? NULL : at;
}

static void ring_close(struct ring *r)
{
	if (r->sq)
		munmap(r->sq, r->sq_len);
	if (r->cq)
		munmap(r->cq, r->cq_len);
	if (r->sqe)
		munmap(r->sqe, r->p.sq_entries * sizeof(*r->sqe));
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

struct ring *ring_open(void)
{
	struct ring *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->fd = ring_setup(&r->p);
	if (r->fd >= 0) {
		r->sq_len = r->p.sq_off.array + r->p.sq_entries * sizeof(uint32_t);
		r->cq_len = r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe);
		r->sq = map(r->fd, r->sq_len, IORING_OFF_SQ_RING);
		r->cq = map(r->fd, r->cq_len, IORING_OFF_CQ_RING);
		r->sqe = map(r->fd, r->p.sq_entries * sizeof(*r->sqe), IORING_OFF_SQES);
	}
	if (r->sqe && r->sq && r->cq)
		return r;
	ring_close(r);
	return NULL;
}

static inline uint32_t *in_ring(void *ring, uint32_t offset)
{
	return (uint32_t *)((char *)ring + offset);
}

/* Submits one request and returns its result. */
static int transfer(struct ring *r, int opcode, int fd, uint64_t *stamp)
{
	const struct io_uring_params *p = &r->p;
	uint32_t tail = *in_ring(r->sq, p->sq_off.tail), at = tail & (p->sq_entries - 1);
	uint32_t *head = in_ring(r->cq, p->cq_off.head), seen = *head;
	const struct io_uring_cqe *cqe = (void *)((char *)r->cq + p->cq_off.cqes);
	int done;

	memset(&r->sqe[at], 0, sizeof(r->sqe[at]));
	r->sqe[at].opcode = opcode;
	r->sqe[at].fd = fd;
	r->sqe[at].addr = (uintptr_t)stamp;
	r->sqe[at].len = sizeof(*stamp);
	r->sqe[at].off = -1ULL; /* a pipe has no offsets */
	in_ring(r->sq, p->sq_off.array)[at] = at;
	__atomic_store_n(in_ring(r->sq, p->sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -errno;
	while (__atomic_load_n(in_ring(r->cq, p->cq_off.tail), __ATOMIC_ACQUIRE) == seen)
		if (syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 &&
		    errno != EINTR)
			return -errno;
	done = cqe[seen & (p->cq_entries - 1)].res;
	__atomic_store_n(head, seen + 1, __ATOMIC_RELEASE);
	return done == sizeof(*stamp) ? 0 : done < 0 ? done : -EIO;
}

static inline bool send_io_uring(struct side *s, uint64_t stamp)
{
	int err = transfer(s->ring, IORING_OP_WRITE, s->out->ring_pipe[1], &stamp);

	return !err || !work_failed(s->work, -err, "writing by io_uring");
}

static inline uint64_t receive_io_uring(struct side *s)
{
	uint64_t stamp = 0;
	int err = transfer(s->ring, IORING_OP_READ, s->in->ring_pipe[0], &stamp);

	return err && work_failed(s->work, -err, "reading by io_uring") ? 0 : stamp;
}

int play_io_uring(struct side *s, uint64_t messages, bool *stopped)
{
	if (!s->ring)
		s->ring = ring_open();
	if (!s->ring)
		return work_failed(s->work, errno ? errno : ENOMEM, "setting up io_uring");
	return play(s, messages, stopped, send_io_uring, receive_io_uring);
}
