/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of a recording, batch by batch: while one is in hand the next one is read. The lanes
 * of a batch are joined at once, by as many threads as there are CPUs; what concerns all of them is
 * done when they are through. Only who wants the hiccups one by one gets them from one thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording/reader.h"

#define THREADS_MOST 8
#define BYTES_SHORT  (256 << 10) /* bytes of a file that is read before threads would have begun */
#define LINES_MOST   (4 << 20)   /* bytes of lines of all lanes; each may have one more line */
#define ROUND_EVENTS 4096        /* lines of so many are made while those before them are written */

/* The lines of a lane in the batch in hand: its task makes them, and the owner of the crew writes
 * those of the round before. */
struct lane_lines {
	FILE *file;        /* stream that writes to `text`, at once */
	struct bytes text; /* lines of this round */
	uint64_t before;   /* bytes of the lines before these in the batch */
	uint32_t done;     /* events of the batch before this one are joined */
	/* lines made before that are to be written, but for the first `given` bytes */
	struct bytes ready;
	size_t given;
	uint64_t written; /* bytes of the lines of their batch that are */
	uint32_t upto;    /* events of their batch before this one have their lines here */
};

/* The batch in hand, for the tasks of its lanes. They touch nothing of the recording, to which the
 * thread that reads ahead writes all the time. */
struct sharing {
	struct session *session;
	struct batch *batch;
	const struct line_writer *line; /* NULL: no lines */
	struct lane_lines *lines;
	uint32_t limit;       /* events of the batch before this one are in this round */
	struct batch *behind; /* the batch of the lines that are ready; NULL: none are */
	uint32_t written;     /* events of it whose lines are */
	bool begun;           /* a line has been written */
	uint32_t nlanes;
	int error; /* -errno of the lines, which ended then */
};

int reader_begin(struct recording *r)
{
	unsigned threads = r->part.threads;

	if (!threads)
		threads = r->chunks.size < BYTES_SHORT ? 1 : crew_cpus(THREADS_MOST);
	r->crew = crew_new(threads);
	if (!r->crew || batch_init(&r->batch[0], r->view->ncpus) ||
	    batch_init(&r->batch[1], r->view->ncpus))
		return -ENOMEM;
	return 0;
}

void reader_stop(struct recording *r)
{
	if (r->crew)
		crew_end(r->crew);
	crew_free(r->crew);
	r->crew = NULL;
	batch_free(&r->batch[0]);
	batch_free(&r->batch[1]);
}

/* ---- the next batch ---- */

static void take_names(struct recording *r, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nnames; i++) {
		const struct batch_name *name = &b->name[i];
		struct reading in = {0}; /* names of a damaged file may have no texts at all */

		if (b->texts.at)
			in = (struct reading){b->texts.at + name->at, b->texts.at + name->end,
					      false};
		naming_take(r->naming, &in, &name->event);
	}
}

/* Goes on to the batch that has been read ahead, or if that is none, to one that is read now. NULL:
 * there are no more. */
static struct batch *next_batch(struct recording *r)
{
	struct batch *b;

	r->hand = !r->hand;
	b = &r->batch[r->hand];
	while (!b->n && !b->nnames) {
		if (r->waits) {
			reader_take_chunk(r);
		} else if (r->over) {
			r->taken = r->batch[!r->hand].n;
			r->hand = !r->hand; /* the next call comes to the empty one again */
			return NULL;
		}
		reader_fill(r, b);
	}
	take_names(r, b);
	r->taken = 0;
	return b;
}

static void read_ahead(void *recording, uint32_t i)
{
	struct recording *r = recording;

	(void)i;
	reader_fill(r, &r->batch[!r->hand]);
}

/* ---- one by one ---- */

static const struct account *take_one(struct recording *r, uint32_t *index)
{
	struct batch *b = &r->batch[r->hand];

	while (r->taken < b->n) {
		uint32_t lane = b->order[r->taken++];
		const struct batch_head *head = batch_next(b, &b->lane[lane].first, UINT32_MAX);
		const struct account *a;
		struct event e;

		if (!head)
			continue;
		batch_event(b, head, &r->joined, &e);
		a = session_feed(r->session, &e);
		if (a) {
			*index = lane;
			return a;
		}
	}
	return NULL;
}

const struct account *recording_next(struct recording *r, uint32_t *index)
{
	const struct account *a;

	while (!(a = take_one(r, index))) {
		crew_end(r->crew);
		if (!next_batch(r))
			break;
		crew_begin(r->crew, 1, read_ahead, r);
	}
	return a;
}

/* ---- all lanes at once ---- */

/* True when a lane's lines are to be written before it goes on. */
static bool is_full(const struct batch *b, const struct lane_lines *lines)
{
	return lines && lines->text.len > LINES_MOST / b->nactive;
}

static void take_lane(void *sharing, uint32_t i)
{
	const struct sharing *s = sharing;
	struct batch *b = s->batch;
	uint32_t lane = b->active[i];
	struct lane_lines *lines = s->lines ? &s->lines[lane] : NULL;
	struct join *join = session_join(s->session, lane);
	struct batch_at at = b->lane[lane].first;
	const struct batch_head *head;
	struct record record = {0};
	struct event e;

	while (!is_full(b, lines) && (head = batch_next(b, &at, s->limit))) {
		const struct account *a;

		if (head->type == EVENT_RECORD && join) {
			join_record(join, batch_record(head, &record));
			continue;
		}
		batch_event(b, head, &record, &e);
		a = session_feed_apart(s->session, &e, b->place + head->k);
		if (!a || !lines || !lines->file)
			continue;
		s->line->write(s->line->ctx, lane, a, lines->file);
		b->line[head->k] = lines->before + lines->text.len;
		lines->done = head->k + 1;
	}
	b->lane[lane].first = at;
	if (lines && !is_full(b, lines))
		lines->done = s->limit;
}

/* Not a memstream: that one tells nobody when there is no memory for more. */
static ssize_t keep_text(void *lines, const char *text, size_t len)
{
	struct lane_lines *l = lines;

	put_raw(&l->text, text, len);
	return l->text.failed ? 0 : len;
}

/* Begins a batch. 0 or -ENOMEM. */
static int begin_lines(struct sharing *s)
{
	for (uint32_t i = 0; s->lines && i < s->batch->nactive; i++) {
		struct lane_lines *l = &s->lines[s->batch->active[i]];

		if (!l->file) {
			l->file = fopencookie(l, "w", (cookie_io_functions_t){.write = keep_text});
			if (!l->file || setvbuf(l->file, NULL, _IONBF, 0))
				return -ENOMEM;
		}
		l->before = l->done = 0;
	}
	return 0;
}

/* Makes the lines that a round has made ready. 0 or -ENOMEM. */
static int turn_lines(struct sharing *s)
{
	bool first = s->behind != s->batch;

	for (uint32_t i = 0; s->lines && i < s->batch->nactive; i++) {
		struct lane_lines *l = &s->lines[s->batch->active[i]];
		size_t left = l->ready.len - l->given;
		struct bytes text = l->text;

		if (text.failed)
			return -ENOMEM;
		l->before += text.len;
		l->upto = l->done;
		if (first)
			l->written = 0;
		if (left) { /* another lane had more lines than there was room for */
			memmove(l->ready.at, l->ready.at + l->given, left);
			l->ready.len = left;
			put_raw(&l->ready, text.at, text.len);
			if (l->ready.failed)
				return -ENOMEM;
		} else {
			l->text = l->ready;
			l->ready = text;
		}
		l->text.len = l->given = 0;
	}
	if (first)
		s->written = 0;
	s->behind = s->batch;
	return 0;
}

/* Writes the lines that are ready, of all lanes in the order of their hiccups, up to the first that
 * is not there yet. 0 or -errno. */
static int write_lines(struct sharing *s, FILE *out)
{
	const struct batch *b = s->behind;

	for (; s->lines && b && s->written < b->n; s->written++) {
		struct lane_lines *l = &s->lines[b->order[s->written]];
		uint64_t len = b->line[s->written];

		if (s->written >= l->upto)
			break;
		if (len <= l->written)
			continue;
		len -= l->written;
		if (!s->begun)
			s->line->begin(s->line->ctx);
		s->begun = true;
		if (fwrite_unlocked(l->ready.at + l->given, len, 1, out) != 1)
			return errno ? -errno : -EIO;
		l->given += len;
		l->written += len;
	}
	return 0;
}

static void end_lines(struct sharing *s)
{
	for (uint32_t i = 0; s->lines && i < s->nlanes; i++) {
		if (s->lines[i].file)
			fclose(s->lines[i].file);
		free(s->lines[i].text.at);
		free(s->lines[i].ready.at);
	}
	free(s->lines);
	s->lines = NULL;
}

/* Gives the lines up after an error: what is left of the batch is joined without. */
static void check_lines(struct sharing *s, int err)
{
	if (!err)
		return;
	end_lines(s);
	s->limit = 0;
	s->error = err;
}

/* True when all events of the round are joined. */
static bool is_through(const struct sharing *s)
{
	for (uint32_t i = 0; s->lines && i < s->batch->nactive; i++)
		if (s->lines[s->batch->active[i]].done < s->limit)
			return false;
	return true;
}

/* Joins the batch, while the next one is read and the lines of each round before are written. */
static void read_batch(struct recording *r, struct sharing *s, FILE *out)
{
	bool ahead = false;
	int err;

	s->limit = 0;
	check_lines(s, begin_lines(s));
	while (!ahead || s->limit < s->batch->n || !is_through(s)) {
		if (!s->lines)
			s->limit = UINT32_MAX;
		else if (is_through(s))
			s->limit += ROUND_EVENTS;
		crew_begin(r->crew, s->batch->nactive, take_lane, s);
		err = write_lines(s, out);
		if (!ahead)
			reader_fill(r, &r->batch[!r->hand]);
		ahead = true;
		crew_end(r->crew);
		check_lines(s, err ? err : turn_lines(s));
	}
}

/* Joins all that is left, and writes lines until that fails. */
static int read_all(struct recording *r, struct sharing *s, FILE *out)
{
	uint32_t index;

	while (take_one(r, &index))
		;
	crew_end(r->crew);
	while ((s->batch = next_batch(r))) {
		read_batch(r, s, out);
		session_meet(r->session);
	}
	check_lines(s, write_lines(s, out));
	return s->error;
}

int recording_lines(struct recording *r, const struct line_writer *line, FILE *out)
{
	struct sharing s = {.session = r->session, .line = line, .nlanes = r->view->ncpus};
	int err = -ENOMEM;

	s.lines = calloc(s.nlanes, sizeof(*s.lines));
	if (s.lines)
		err = read_all(r, &s, out);
	end_lines(&s);
	return err;
}

void recording_finish(struct recording *r)
{
	struct sharing s = {.session = r->session};

	if (r->finished)
		return;
	r->finished = true;
	read_all(r, &s, NULL);
	session_finish(r->session);
	reader_end(r);
	reader_stop(r); /* a report of many files holds all of them until its end */
}
