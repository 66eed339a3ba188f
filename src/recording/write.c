/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/write_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"
#include "base/say.h"
#include "recording/create.h"
#include "recording/fields.h"
#include "recording/format.h"

#define EVENTS_BYTES (192 << 10)  /* cuts a chunk of events at this size */
#define EVENTS_NS    NSEC_PER_SEC /* cuts a chunk of events at this age */
#define INDEX_BYTES  (768 << 10)  /* bytes of chunks that have one index */
#define WHY_LEN      96

/* ---- chunks ---- */

static bool push(struct recorder *r, uint32_t type, const struct bytes *b)
{
	if (b->failed || r->failed)
		return false;
	return queue_push(r->queue, type, b->at, b->len);
}

/* Out of room its chunks have none: who wants a part reads them. */
void write_index(struct recorder *r)
{
	struct bytes b = {0};

	if (!r->group.chunks)
		return;
	put_index(&b, &r->group);
	push(r, CHUNK_INDEX, &b);
	free(b.at);
	index_clear(&r->group);
}

void write_events(struct recorder *r)
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
		write_index(r);
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
		write_events(r);
}

bool write_patiently(struct recorder *r, uint32_t type, struct bytes *b)
{
	uint64_t deadline = write_deadline(r);
	struct timespec nap = {0, 2 * NSEC_PER_MSEC};
	bool done = false;

	while (!r->failed && !(done = push(r, type, b)) && !b->failed && b->len <= CHUNK_MAX &&
	       now_ns() < deadline && recorder_poll(r))
		nanosleep(&nap, NULL);
	free(b->at);
	return done;
}

/* ---- the recorder ---- */

struct recorder *recorder_open_to(int fd, const char *name, uint64_t most,
				  const struct cpus *housekeeping)
{
	struct recorder *r = calloc(1, sizeof(*r));
	struct stat st;
	pid_t writer;

	if (r) {
		r->piped = !fstat(fd, &st) && S_ISFIFO(st.st_mode);
		r->tap = (struct tap){r, on_event};
		r->path = strdup(name);
		r->seen = calloc(1, sizeof(*r->seen));
		r->queue = queue_new();
	}
	if (!r || !r->path || !r->seen || !r->queue || hide_init_random(&r->hide)) {
		complain("recording to %s: not enough memory", name);
		close(fd);
		recorder_close(r);
		return NULL;
	}
	writer = queue_writer(r->queue, fd, most, housekeeping);
	close(fd);
	if (writer > 0) {
		r->pid = writer;
		return r;
	}
	complain("recording to %s: no process can be started for it: %s", name, strerror(-writer));
	recorder_close(r);
	return NULL;
}

struct recorder *recorder_open(const char *path, bool force, const struct cpus *housekeeping)
{
	int fd = create_recording(path, force);
	struct recorder *r = fd < 0 ? NULL : recorder_open_to(fd, path, 0, housekeeping);

	if (r)
		r->made = true;
	else if (fd >= 0)
		create_remove(path);
	return r;
}

void recorder_scratch(struct recorder *r, const char *words)
{
	r->scratch = words;
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
	r->headed = write_patiently(r, CHUNK_HEAD_TYPE, &b);
	for (uint32_t i = 0; i < v->facts.count && r->headed;) {
		struct bytes facts = {0};

		i = put_facts(&facts, &v->facts, i);
		write_patiently(r, CHUNK_FACT, &facts);
	}
	if (!index_init(&r->chunk, v->ncpus) && !index_init(&r->group, v->ncpus))
		r->encoder = encoder_new(v->ncpus);
	if (r->failed)
		return -1; /* the reason has been said */
	return r->encoder && r->headed ? 0
				       : complain("recording to %s: not enough memory", r->path);
}

void recorder_begun(struct recorder *r, const struct view *v)
{
	struct bytes b = {0};

	put_run(&b, &v->run);
	write_patiently(r, CHUNK_RUN, &b);
	r->cut_ns = now_ns();
}

/* Words for why nothing more is written. */
static const char *why_failed(const struct recorder *r, int error, char why[WHY_LEN])
{
	int call = queue_forbidden(r->queue);

	snprintf(why, WHY_LEN, "%s",
		 error == ECHILD      ? "the process that writes it was killed"
		 : error == ETIMEDOUT ? "the rest was not taken in time"
		 : error == EMSGSIZE  ? "its end is too long"
				      : strerror(error));
	if (call >= 0)
		snprintf(why, WHY_LEN,
			 "the process that writes it made a system call that it does not need: %d",
			 call);
	return why;
}

int write_stops(struct recorder *r, int error)
{
	uint64_t bytes = recorder_stats(r).stored_bytes;
	char why[WHY_LEN];

	why_failed(r, error, why);
	r->failed = true;
	if (r->scratch)
		return complain("%s: %s", r->scratch, why);
	if (r->piped) /* hides how much of it came out */
		return complain("recording to %s stops here: %s", r->path, why);
	if (bytes <= FILE_HEAD)
		return complain("recording to %s stops here: %s; nothing of it can be read",
				r->path, why);
	return complain("recording to %s stops here: %s; its first %llu bytes can be read", r->path,
			why, (unsigned long long)bytes);
}

/* The writing process's failure, or 0. */
static int failure(struct recorder *r)
{
	int error = queue_error(r->queue);

	if (!error && r->pid > 0 && waitpid(r->pid, NULL, WNOHANG) == r->pid) {
		r->pid = 0;
		error = ECHILD;
	}
	return error;
}

int recorder_settle(struct recorder *r)
{
	uint64_t deadline = write_deadline(r);
	struct timespec nap = {0, 2 * NSEC_PER_MSEC};
	char why[WHY_LEN];
	int error = 0;

	while (!r->failed && !(error = failure(r)) && !queue_written(r->queue)) {
		if (now_ns() >= deadline) {
			error = ETIMEDOUT;
			break;
		}
		nanosleep(&nap, NULL);
	}
	if (!error)
		return r->failed ? -1 : 0;
	r->failed = true;
	return complain("cannot record to %s: %s; what is there stays%s", r->path,
			why_failed(r, error, why),
			error == ENOSPC || error == EDQUOT || error == EFBIG
				? ", and a new recording needs room beside it: make room, or "
				  "remove it first"
				: "");
}

bool recorder_poll(struct recorder *r)
{
	int error = r->failed ? 0 : failure(r);

	if (error)
		write_stops(r, error);
	if (!r->failed && r->encoder && now_ns() - r->cut_ns >= EVENTS_NS)
		write_events(r);
	return !r->failed;
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

struct recorder_stats recorder_stats(const struct recorder *r)
{
	struct recorder_stats s = r->stats;

	s.cut = r->failed;
	queue_stats(r->queue, &s.raw_bytes, &s.stored_bytes, &s.cpu_ns);
	return s;
}
