/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/queue.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h> /* crc32 */

#include "base/confine.h"
#include "base/now.h"
#include "base/units.h"
#include "recording/bytes.h"
#include "recording/codec.h"
#include "recording/format.h"
#include "recording/pack.h"

#define ROOM    (16 << 20) /* a power of two, and more than a chunk */
#define NAP_NS  (10 * NSEC_PER_MSEC)
#define SYNC_NS (10 * NSEC_PER_SEC) /* a power cut may cost this much */

struct queue {
	_Atomic uint64_t head, tail; /* bytes put and taken, ever */
	_Atomic uint64_t written;    /* bytes of those taken whose chunks are in the file */
	atomic_int error, leave;
	atomic_int forbidden; /* 1 + number of the system call that ended the writing process */
	_Atomic uint64_t raw_bytes, stored_bytes, cpu_ns;
	uint8_t data[ROOM];
};

struct message {
	uint32_t type, len;
};

struct queue *queue_new(void)
{
	void *q = mmap(NULL, sizeof(struct queue), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return q == MAP_FAILED ? NULL : q;
}

void queue_free(struct queue *q)
{
	if (q)
		munmap(q, sizeof(*q));
}

static void copy_in(struct queue *q, uint64_t at, const void *from, size_t len)
{
	size_t start = at % ROOM, first = len < ROOM - start ? len : ROOM - start;

	memcpy(q->data + start, from, first);
	memcpy(q->data, (const char *)from + first, len - first);
}

static void copy_out(const struct queue *q, uint64_t at, void *to, size_t len)
{
	size_t start = at % ROOM, first = len < ROOM - start ? len : ROOM - start;

	memcpy(to, q->data + start, first);
	memcpy((char *)to + first, q->data, len - first);
}

bool queue_push(struct queue *q, uint32_t type, const void *payload, size_t len)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
	uint64_t used = head - atomic_load_explicit(&q->tail, memory_order_acquire);
	struct message m = {type, len};

	if (len > CHUNK_MAX || ROOM - used < sizeof(m) + len)
		return false;
	copy_in(q, head, &m, sizeof(m));
	if (len)
		copy_in(q, head + sizeof(m), payload, len);
	atomic_store_explicit(&q->head, head + sizeof(m) + len, memory_order_release);
	return true;
}

void queue_leave(struct queue *q)
{
	atomic_store(&q->leave, 1);
}

bool queue_written(const struct queue *q)
{
	return atomic_load(&q->written) == atomic_load(&q->head);
}

int queue_error(const struct queue *q)
{
	return atomic_load(&q->error);
}

int queue_forbidden(const struct queue *q)
{
	return atomic_load(&q->forbidden) - 1;
}

void queue_stats(const struct queue *q, uint64_t *raw_bytes, uint64_t *stored_bytes,
		 uint64_t *cpu_ns)
{
	*raw_bytes = q->raw_bytes;
	*stored_bytes = q->stored_bytes;
	*cpu_ns = q->cpu_ns;
}

/* ---- the writing process ---- */

struct writer {
	struct queue *q;
	int fd;
	struct packer *packer;
	uint8_t *raw, *stored; /* CHUNK_MAX, and the most that packing may make of it */
	uint64_t synced_ns;
};

static int write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		at += n;
		len -= n;
	}
	return 0;
}

static int write_chunk(struct writer *w, uint32_t type, uint32_t raw)
{
	/* Chunks that are the more, the longer the run is. */
	bool grows = type == CHUNK_EVENTS || type == CHUNK_INDEX;
	const uint8_t *payload = w->stored;
	size_t ends[CODEC_SECTIONS] = {raw}, sections = 1, stored;
	struct bytes head = {0};
	int error;

	if (type == CHUNK_EVENTS)
		sections = codec_sections(w->raw, raw, ends);
	stored = pack(w->packer, w->stored, w->raw, ends, sections);
	if (!stored || stored >= raw || (grows && raw / UNPACKED_TIMES > stored)) {
		payload = w->raw;
		stored = raw;
	}
	put_raw(&head, CHUNK_MARK, 4);
	put_u32(&head, type);
	put_u32(&head, stored);
	put_u32(&head, raw);
	put_u32(&head, crc32(0, payload, stored));
	put_u32(&head, crc32(0, head.at, head.len));
	error = head.failed ? ENOMEM : write_all(w->fd, head.at, head.len);
	if (!error)
		error = write_all(w->fd, payload, stored);
	free(head.at);
	if (!error) {
		w->q->raw_bytes += raw;
		w->q->stored_bytes += CHUNK_HEAD + stored;
	}
	w->q->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return error;
}

static int write_file_head(struct writer *w)
{
	struct bytes b = {0};
	int error;

	put_raw(&b, FILE_MAGIC, 8);
	put_u16(&b, FORMAT_MAJOR);
	put_u16(&b, FORMAT_MINOR);
	put_u32(&b, 0);
	error = b.failed ? ENOMEM : write_all(w->fd, b.at, b.len);
	if (!error)
		w->q->stored_bytes += b.len;
	free(b.at);
	return error;
}

/* Writes one chunk, if there is one. 1: written; 0: none; -1: it was the last, or writing failed.
 */
static int take(struct writer *w)
{
	struct queue *q = w->q;
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
	struct message m;
	int error;

	if (tail == atomic_load_explicit(&q->head, memory_order_acquire))
		return 0;
	copy_out(q, tail, &m, sizeof(m));
	copy_out(q, tail + sizeof(m), w->raw, m.len);
	atomic_store_explicit(&q->tail, tail + sizeof(m) + m.len, memory_order_release);
	error = write_chunk(w, m.type, m.len);
	if (error)
		atomic_store(&q->error, error);
	else
		atomic_store(&q->written, tail + sizeof(m) + m.len);
	return error || m.type == CHUNK_END ? -1 : 1;
}

static void write_until_end(struct writer *w, pid_t parent)
{
	struct timespec nap = {0, NAP_NS};

	for (;;) {
		bool last = atomic_load(&w->q->leave) || getppid() != parent;
		int taken = take(w);

		if (taken < 0 || (!taken && last))
			return;
		if (now_ns() - w->synced_ns > SYNC_NS) {
			fdatasync(w->fd); /* fails on a pipe, which does not need it */
			w->synced_ns = now_ns();
		}
		if (!taken)
			nanosleep(&nap, NULL);
	}
}

/* Packs, writes, waits, looks after culprit's process. */
static const int calls[] = {
	SYS_write,
	SYS_writev, /* the last words */
	SYS_fdatasync,
	SYS_close,
	SYS_getppid,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_exit_group,
	SYS_restart_syscall,
	/* memory, which zlib takes and gives back for each chunk */
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	/* made where the vDSO cannot answer, which never knows the CPU time */
	SYS_clock_gettime,
	-1,
};

static struct queue *own; /* for a signal handler, which gets no context */

static void forbidden(int number)
{
	atomic_store(&own->forbidden, 1 + number);
	atomic_store(&own->error, EPERM);
}

/* Keeps of all that it inherited only its file, stderr for the C library's last words, and no
 * right. */
static void confine(struct queue *q, int fd)
{
	own = q;
	for (int other = 0; other < fd; other++)
		if (other != STDERR_FILENO)
			close(other);
	syscall(SYS_close_range, fd + 1 > STDERR_FILENO ? fd + 1 : STDERR_FILENO + 1, ~0U, 0);
	confine_rights(0);
	confine_calls(calls, forbidden);
}

pid_t queue_writer(struct queue *q, int fd, uint64_t most, const struct cpus *cpus)
{
	const struct rlimit limit = {most, most};
	pid_t parent = getpid(), pid = fork();
	struct writer w = {.q = q, .fd = fd};
	int error;

	if (pid < 0)
		return -errno;
	if (pid) {
		madvise(q, sizeof(*q), MADV_DONTFORK); /* not for who reads strangers' files */
		return pid;
	}
	/* these go to the whole group; culprit's process says when it is over */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN); /* may be sent to all of the name; to return is a call, too */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* the write fails, and says so */
	cpus_run_on(cpus);        /* culprit's process reports a failure */
	if (most)
		setrlimit(RLIMIT_FSIZE, &limit);
	confine(q, fd);
	w.raw = malloc(CHUNK_MAX);
	w.stored = malloc(pack_room(CHUNK_MAX));
	w.packer = packer_new();
	w.synced_ns = now_ns();
	error = w.raw && w.stored && w.packer ? write_file_head(&w) : ENOMEM;
	if (error)
		atomic_store(&q->error, error);
	else
		write_until_end(&w, parent);
	if (close(fd) && !queue_error(q))
		atomic_store(&q->error, errno);
	_exit(0);
}
