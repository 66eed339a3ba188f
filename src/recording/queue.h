/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connects the recorder and the process that writes its file: chunks in shared memory, one side
 * puts, the other takes. */
#ifndef CULPRIT_QUEUE_H
#define CULPRIT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpus.h"

struct queue;

struct queue *queue_new(void); /* NULL: out of memory */
void queue_free(struct queue *q);

/* Forks the process that takes chunks and writes the file, until the chunk CHUNK_END, queue_leave,
 * an error, or the end of the calling process. It runs on these CPUs and owns fd, into which a
 * file takes at most so many bytes; 0: any. Returns its pid, or -errno. */
pid_t queue_writer(struct queue *q, int fd, uint64_t most, const struct cpus *cpus);

bool queue_push(struct queue *q, uint32_t type, const void *payload,
		size_t len);               /* false: the queue is full, or len is over CHUNK_MAX */
void queue_leave(struct queue *q);         /* ends the queue: no more comes */
bool queue_written(const struct queue *q); /* all that was put is in the file */
int queue_error(const struct queue *q);    /* errno of a failure, or 0 */
/* Number of the system call that the writing process may not make, and that ended it; -1: none. */
int queue_forbidden(const struct queue *q);
void queue_stats(const struct queue *q, uint64_t *raw_bytes, uint64_t *stored_bytes,
		 uint64_t *cpu_ns);

#endif
