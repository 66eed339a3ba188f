/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a recording. A disk may be slow: each part of the end waits anew, and the writing
 * process is left to finish. Who reads a pipe may take a little now and then for hours: there all
 * of the end has one deadline, and the process goes then. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/now.h"
#include "base/reap.h"
#include "base/say.h"
#include "base/units.h"
#include "recording/course.h"
#include "recording/create.h"
#include "recording/fields.h"
#include "recording/format.h"
#include "recording/together.h"
#include "recording/write_state.h"

#define CLOSE_NS (30 * NSEC_PER_SEC) /* wait for the writing process to finish */

uint64_t write_deadline(const struct recorder *r)
{
	return r->end_by_ns ? r->end_by_ns : now_ns() + CLOSE_NS;
}

/* True when the writing process is gone. *error: its last word; a process that was killed has
 * none. */
static bool is_gone(struct recorder *r, int *error)
{
	int status = 0;

	if (r->pid > 0 && waitpid(r->pid, &status, WNOHANG) != r->pid)
		return false;
	r->pid = 0;
	*error = queue_error(r->queue);
	if (!*error && status)
		*error = ECHILD;
	return true;
}

/* Waits until the writing process is done; its last word counts. Who waits again does so until the
 * same time. */
static int await_writer(struct recorder *r)
{
	struct timespec nap = {0, 2 * NSEC_PER_MSEC};
	int error;

	r->end_by_ns = write_deadline(r);
	while (!is_gone(r, &error)) {
		if (now_ns() >= r->end_by_ns)
			return ETIMEDOUT;
		nanosleep(&nap, NULL);
	}
	return error;
}

/* Writes what became known with the window's end. */
static void push_ended(struct recorder *r, const struct view *v)
{
	const struct fact *x = facts_find(&v->facts, FACT_ENDED);
	struct bytes b = {0};

	if (x) {
		put_facts(&b, &(struct facts){.row = (struct fact *)x, .count = 1}, 0);
		write_patiently(r, CHUNK_FACT, &b);
	}
}

/* Writes who ran when many CPUs stopped, with the names as the events have them. */
static void push_stops(struct recorder *r, const struct view *v)
{
	struct bytes b = {0};

	if (v->suspects.nrows) {
		put_suspects(&b, &v->suspects, r->hide.redact);
		write_patiently(r, CHUNK_STOPS, &b);
	}
}

/* Writes the courses of each CPU that has some, and what else is behind the tail. */
static void push_behind(struct recorder *r, const struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++) {
		struct bytes b = {0};

		if (!v->cpu[i].nseries)
			continue;
		put_number(&b, i);
		put_courses(&b, &v->cpu[i]);
		write_patiently(r, CHUNK_COURSE, &b);
	}
	push_stops(r, v);
}

/* khz: changes of each CPU's frequency, at most. */
static void put_tail(struct bytes *b, const struct recorder *r, const struct view *v, uint32_t khz)
{
	put_run(b, &v->run);
	put_host(b, &v->host);
	put_number(b, r->stats.hiccups_lost);
	put_number(b, r->stats.records_lost);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		struct cpu c = v->cpu[i];

		khz_shorten(&c, khz);
		put_cpu(b, &c, i ? 0 : v->run.recursion_misses);
	}
}

int recorder_tail(struct recorder *r, const struct view *v)
{
	struct bytes b = {0}, end = {0};
	uint32_t khz = KHZ_CHANGES_MAX;

	if (r->failed || !r->encoder)
		return -1;
	if (r->piped)
		r->end_by_ns = now_ns() + CLOSE_NS;
	write_events(r);
	write_index(r);
	push_ended(r, v);
	put_tail(&b, r, v, khz);
	while (b.len > CHUNK_MAX && khz) {
		b.len = 0;
		put_tail(&b, r, v, khz /= 2);
	}
	r->ended = write_patiently(r, CHUNK_TAIL, &b);
	if (r->ended)
		push_behind(r, v);
	r->ended = r->ended && write_patiently(r, CHUNK_END, &end);
	if (!r->ended && !r->failed)
		write_stops(r, b.failed || end.failed ? ENOMEM
			       : b.len > CHUNK_MAX    ? EMSGSIZE
						      : ETIMEDOUT);
	return r->ended ? 0 : -1;
}

int recorder_written(struct recorder *r)
{
	int error;

	if (r->failed || !r->ended)
		return -1;
	if (!is_gone(r, &error))
		return 0;
	return error ? write_stops(r, error) : 1;
}

int recorder_end(struct recorder *r, const struct view *v)
{
	struct stat st;
	int error;

	if (recorder_tail(r, v))
		return -1;
	error = await_writer(r);
	if (error)
		return write_stops(r, error);
	if (r->made && lstat(r->path, &st) && errno == ENOENT) {
		r->failed = true;
		return r->scratch ? complain("%s: it was removed while it was written", r->scratch)
				  : complain("%s is not there any more: it was removed while it "
					     "was written",
					     r->path);
	}
	if (r->stats.hiccups_lost || r->stats.records_lost)
		return complain("%s%s: the disk was too slow: %llu hiccups and %llu records are "
				"missing in it",
				r->scratch ? "" : "recording to ",
				r->scratch ? r->scratch : r->path,
				(unsigned long long)r->stats.hiccups_lost,
				(unsigned long long)r->stats.records_lost);
	return 0;
}

void recorder_close(struct recorder *r)
{
	if (!r)
		return;
	if (r->queue && r->pid > 0) {
		queue_leave(r->queue);
		if (await_writer(r))
			reap_killed(r->pid); /* somebody may have stopped it */
	}
	if (r->made && !r->headed)
		create_remove(r->path);
	encoder_free(r->encoder);
	index_free(&r->chunk);
	index_free(&r->group);
	queue_free(r->queue);
	free(r->seen);
	free(r->path);
	free(r);
}
