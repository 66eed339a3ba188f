/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"
#include "base/reap.h"
#include "base/say.h"
#include "recording/codec.h"
#include "recording/course.h"
#include "recording/create.h"
#include "recording/fields.h"
#include "recording/format.h"
#include "recording/hide.h"
#include "recording/index.h"
#include "recording/queue.h"
#include "recording/seen.h"
#include "recording/together.h"

#define EVENTS_BYTES (192 << 10)         /* cuts a chunk of events at this size */
#define EVENTS_NS    NSEC_PER_SEC        /* cuts a chunk of events at this age */
#define INDEX_BYTES  (768 << 10)         /* bytes of chunks that have one index */
#define CLOSE_NS     (30 * NSEC_PER_SEC) /* wait for the writing process to finish */

struct recorder {
	char *path;
	struct queue *queue;
	pid_t pid;
	struct tap tap;
	struct encoder *encoder;
	struct names_seen *seen;
	struct hide hide;
	struct index chunk, group; /* contents of the chunk in hand, and of those since the index */
	uint64_t cut_ns;           /* time of the last cut */
	uint64_t hiccups, records; /* in the chunk in hand */
	struct recorder_stats stats;
	bool headed, failed, made; /* made: has a name, and goes if nothing is in it */
	bool ended;                /* tail and end are on the way */
};

/* ---- chunks ---- */

static bool push(struct recorder *r, uint32_t type, const struct bytes *b)
{
	if (b->failed || r->failed)
		return false;
	return queue_push(r->queue, type, b->at, b->len);
}

/* Out of room its chunks have none: who wants a part reads them. */
static void push_index(struct recorder *r)
{
	struct bytes b = {0};

	if (!r->group.chunks)
		return;
	put_index(&b, &r->group);
	push(r, CHUNK_INDEX, &b);
	free(b.at);
	index_clear(&r->group);
}

static void cut_events(struct recorder *r)
{
	const struct bytes *b = encoder_bytes(r->encoder);

	r->cut_ns = now_ns();
	if (!b->len)
		return;
	if (push(r, CHUNK_EVENTS, b)) {
		r->stats.hiccups += r->hiccups;
		r->stats.records += r->records;
		r->chunk.chunks = 1;
		r->chunk.raw = b->len;
		index_add(&r->group, &r->chunk);
	} else {
		r->stats.hiccups_lost += r->hiccups;
		r->stats.records_lost += r->records;
		memset(r->seen, 0, sizeof(*r->seen)); /* the facts had names in them */
	}
	r->hiccups = r->records = 0;
	encoder_reset(r->encoder);
	index_clear(&r->chunk);
	if (r->group.raw >= INDEX_BYTES)
		push_index(r);
}

static void on_event(void *ctx, const struct event *e)
{
	struct recorder *r = ctx;
	struct hide_room room;
	struct event hidden;

	if (!r->encoder || hide_leaves(&r->hide, e))
		return;
	if (event_is_name(e->type) && seen_before(r->seen, e->type, e->named.number))
		return;
	r->hiccups += e->type == EVENT_HICCUP;
	r->records += e->type == EVENT_RECORD;
	index_event(&r->chunk, e);
	hidden = hide_event(&r->hide, e, &room);
	encoder_put(r->encoder, &hidden);
	if (encoder_len(r->encoder) >= EVENTS_BYTES)
		cut_events(r);
}

/* The tail must get in: waits while the writing process makes room. */
static bool push_patiently(struct recorder *r, uint32_t type, struct bytes *b)
{
	uint64_t deadline = now_ns() + CLOSE_NS;
	struct timespec nap = {0, 2 * NSEC_PER_MSEC};
	bool done = false;

	while (!r->failed && !(done = push(r, type, b)) && !b->failed && now_ns() < deadline &&
	       recorder_poll(r))
		nanosleep(&nap, NULL);
	free(b->at);
	return done;
}

/* ---- the recorder ---- */

struct recorder *recorder_open_to(int fd, const char *name, uint64_t most,
				  const struct cpus *housekeeping)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (r) {
		r->tap = (struct tap){r, on_event};
		r->path = strdup(name);
		r->seen = calloc(1, sizeof(*r->seen));
		r->queue = queue_new();
	}
	if (!r || !r->path || !r->seen || !r->queue || hide_init_random(&r->hide) ||
	    (r->pid = queue_writer(r->queue, fd, most, housekeeping)) < 0) {
		complain("recording to %s: not enough memory", name);
		if (r)
			r->pid = 0;
		recorder_close(r);
		r = NULL;
	}
	close(fd);
	return r;
}

struct recorder *recorder_open(const char *path, bool force, const struct cpus *housekeeping)
{
	int fd = create_recording(path, force);
	struct recorder *r = fd < 0 ? NULL : recorder_open_to(fd, path, 0, housekeeping);

	if (r)
		r->made = true;
	return r;
}

void recorder_redact(struct recorder *r, struct redact *redact)
{
	r->hide.redact = redact;
}

const struct tap *recorder_tap(const struct recorder *r)
{
	return &r->tap;
}

int recorder_head(struct recorder *r, const struct view *v)
{
	struct bytes b = {0};

	put_host(&b, &v->host);
	put_run(&b, &v->run);
	put_number(&b, v->ncpus);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		put_number(&b, v->cpu[i].number);
		put_cpu(&b, &v->cpu[i], i ? 0 : v->run.recursion_misses);
	}
	r->headed = push_patiently(r, CHUNK_HEAD_TYPE, &b);
	for (uint32_t i = 0; i < v->facts.count && r->headed;) {
		struct bytes facts = {0};

		i = put_facts(&facts, &v->facts, i);
		push_patiently(r, CHUNK_FACT, &facts);
	}
	if (!index_init(&r->chunk, v->ncpus) && !index_init(&r->group, v->ncpus))
		r->encoder = encoder_new(v->ncpus);
	return r->encoder && r->headed ? 0
				       : complain("recording to %s: not enough memory", r->path);
}

void recorder_begun(struct recorder *r, const struct view *v)
{
	struct bytes b = {0};

	put_run(&b, &v->run);
	push_patiently(r, CHUNK_RUN, &b);
	r->cut_ns = now_ns();
}

/* Asks the file how much there is, because everything in the queue is lost with the rest. */
static int stop_here(struct recorder *r, int error)
{
	uint64_t bytes = recorder_stats(r).stored_bytes;
	int call = queue_forbidden(r->queue);
	char why[96];

	snprintf(why, sizeof(why), "%s",
		 error == ECHILD ? "the process that writes it was killed" : strerror(error));
	if (call >= 0)
		snprintf(why, sizeof(why),
			 "the process that writes it made a system call that it does not need: %d",
			 call);
	r->failed = true;
	if (bytes <= FILE_HEAD)
		return complain("recording to %s stops here: %s; nothing of it can be read",
				r->path, why);
	return complain("recording to %s stops here: %s; its first %llu bytes can be read", r->path,
			why, (unsigned long long)bytes);
}

bool recorder_poll(struct recorder *r)
{
	int error = r->failed ? 0 : queue_error(r->queue);

	if (!r->failed && !error && r->pid > 0 && waitpid(r->pid, NULL, WNOHANG) == r->pid) {
		r->pid = 0;
		error = ECHILD;
	}
	if (error)
		stop_here(r, error);
	if (!r->failed && r->encoder && now_ns() - r->cut_ns >= EVENTS_NS)
		cut_events(r);
	return !r->failed;
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

/* Waits until the writing process is done; its last word counts. */
static int await_writer(struct recorder *r)
{
	uint64_t deadline = now_ns() + CLOSE_NS;
	struct timespec nap = {0, 2 * NSEC_PER_MSEC};
	int error;

	while (!is_gone(r, &error)) {
		if (now_ns() >= deadline)
			return ETIMEDOUT;
		nanosleep(&nap, NULL);
	}
	return error;
}

bool recorder_put(struct recorder *r, const struct bytes *b, uint64_t hiccups, uint64_t records)
{
	if (!push(r, CHUNK_EVENTS, b))
		return false;
	r->stats.hiccups += hiccups;
	r->stats.records += records;
	return true;
}

void recorder_lacks(struct recorder *r, uint64_t hiccups, uint64_t records)
{
	r->stats.hiccups_lost += hiccups;
	r->stats.records_lost += records;
}

/* Writes what became known with the window's end. */
static void push_ended(struct recorder *r, const struct view *v)
{
	const struct fact *x = facts_find(&v->facts, FACT_ENDED);
	struct bytes b = {0};

	if (x) {
		put_facts(&b, &(struct facts){.row = (struct fact *)x, .count = 1}, 0);
		push_patiently(r, CHUNK_FACT, &b);
	}
}

/* Writes who ran when many CPUs stopped, with the names as the events have them. */
static void push_stops(struct recorder *r, const struct view *v)
{
	struct bytes b = {0};

	if (v->suspects.nrows) {
		put_suspects(&b, &v->suspects, r->hide.redact);
		push_patiently(r, CHUNK_STOPS, &b);
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
		push_patiently(r, CHUNK_COURSE, &b);
	}
	push_stops(r, v);
}

int recorder_tail(struct recorder *r, const struct view *v)
{
	struct bytes b = {0}, end = {0};

	if (r->failed || !r->encoder)
		return -1;
	cut_events(r);
	push_index(r);
	push_ended(r, v);
	put_run(&b, &v->run);
	put_host(&b, &v->host);
	put_number(&b, r->stats.hiccups_lost);
	put_number(&b, r->stats.records_lost);
	for (uint32_t i = 0; i < v->ncpus; i++)
		put_cpu(&b, &v->cpu[i], i ? 0 : v->run.recursion_misses);
	r->ended = push_patiently(r, CHUNK_TAIL, &b);
	if (r->ended)
		push_behind(r, v);
	r->ended = r->ended && push_patiently(r, CHUNK_END, &end);
	return r->ended ? 0 : -1;
}

int recorder_written(struct recorder *r)
{
	int error;

	if (r->failed || !r->ended)
		return -1;
	if (!is_gone(r, &error))
		return 0;
	return error ? stop_here(r, error) : 1;
}

int recorder_end(struct recorder *r, const struct view *v)
{
	int error;

	if (recorder_tail(r, v))
		return -1;
	error = await_writer(r);
	if (error)
		return stop_here(r, error);
	if (r->stats.hiccups_lost || r->stats.records_lost)
		return complain("recording to %s: the disk was too slow: %llu hiccups and %llu "
				"records are missing in it",
				r->path, (unsigned long long)r->stats.hiccups_lost,
				(unsigned long long)r->stats.records_lost);
	return 0;
}

void recorder_close(struct recorder *r)
{
	if (!r)
		return;
	if (r->queue && r->pid > 0) {
		queue_leave(r->queue);
		if (await_writer(r) && r->pid > 0)
			reap(r->pid, NULL);
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

struct recorder_stats recorder_stats(const struct recorder *r)
{
	struct recorder_stats s = r->stats;

	s.cut = r->failed;
	queue_stats(r->queue, &s.raw_bytes, &s.stored_bytes, &s.cpu_ns);
	return s;
}
