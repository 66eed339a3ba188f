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

/* The lines of a lane in the batch in hand. */
struct lane_lines {
	FILE *file;        /* stream that writes to `text`, at once */
	struct bytes text; /* lines that have not been written, but for the first `given` bytes */
	size_t given;
	uint64_t before; /* bytes of the lines before these */
	uint32_t done;   /* events of the batch before this one are joined */
};

/* The batch in hand, for the tasks of its lanes. They touch nothing of the recording, to which the
 * thread that reads ahead writes all the time. */
struct sharing {
	struct session *session;
	struct batch *batch;
	const struct line_writer *line; /* NULL: no lines */
	struct lane_lines *lines;
	uint32_t written; /* events of the batch whose lines are */
	bool begun;       /* a line has been written */
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
			batch_clear(&r->batch[!r->hand], 0);
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
		uint32_t lane = b->order[r->taken++], k;
		const struct account *a;
		struct event e;

		if (!batch_next(b, &b->lane[lane].first, &e, &r->joined, &k))
			continue;
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
	uint32_t lane = b->active[i], k;
	struct lane_lines *lines = s->lines ? &s->lines[lane] : NULL;
	struct record record = {0};
	struct event e;

	while (!is_full(b, lines)) {
		const struct account *a;

		if (!batch_next(b, &b->lane[lane].first, &e, &record, &k)) {
			if (lines)
				lines->done = UINT32_MAX;
			return;
		}
		a = session_feed_apart(s->session, &e, b->place + k);
		if (!a || !lines || !lines->file)
			continue;
		s->line->write(s->line->ctx, lane, a, lines->file);
		b->line[k] = lines->before + lines->text.len;
		lines->done = k + 1;
	}
}

/* Not a memstream: that one tells nobody when there is no memory for more. */
static ssize_t keep_text(void *lines, const char *text, size_t len)
{
	struct lane_lines *l = lines;

	put_raw(&l->text, text, len);
	return l->text.failed ? 0 : len;
}

/* 0 or -ENOMEM. */
static int begin_lines(struct sharing *s)
{
	for (uint32_t i = 0; i < s->batch->nactive; i++) {
		struct lane_lines *l = &s->lines[s->batch->active[i]];

		if (!l->file) {
			l->file = fopencookie(l, "w", (cookie_io_functions_t){.write = keep_text});
			if (!l->file || setvbuf(l->file, NULL, _IONBF, 0))
				return -ENOMEM;
		}
		l->text.len = l->given = l->before = l->done = 0;
	}
	s->written = 0;
	return 0;
}

static void drop_given(struct lane_lines *l)
{
	l->text.len -= l->given;
	if (l->given && l->text.len)
		memmove(l->text.at, l->text.at + l->given, l->text.len);
	l->before += l->given;
	l->given = 0;
}

/* Writes the lines of all lanes in the order of their hiccups, up to the first that is not there
 * yet. */
static int write_lines(struct sharing *s, FILE *out)
{
	const struct batch *b = s->batch;

	for (uint32_t i = 0; i < b->nactive; i++)
		if (s->lines[b->active[i]].text.failed)
			return -ENOMEM;
	for (; s->written < b->n; s->written++) {
		struct lane_lines *l = &s->lines[b->order[s->written]];
		uint64_t len = b->line[s->written];

		if (s->written >= l->done)
			break;
		if (len <= l->before + l->given)
			continue;
		len -= l->before + l->given;
		if (!s->begun)
			s->line->begin(s->line->ctx);
		s->begun = true;
		if (fwrite(l->text.at + l->given, len, 1, out) != 1)
			return errno ? -errno : -EIO;
		l->given += len;
	}
	for (uint32_t i = 0; i < b->nactive; i++)
		drop_given(&s->lines[b->active[i]]);
	return 0;
}

static void end_lines(struct sharing *s, uint32_t n)
{
	for (uint32_t i = 0; s->lines && i < n; i++) {
		if (s->lines[i].file)
			fclose(s->lines[i].file);
		free(s->lines[i].text.at);
	}
	free(s->lines);
	s->lines = NULL;
}

/* Joins all that is left, and writes lines until that fails. */
static int read_all(struct recording *r, struct sharing *s, FILE *out)
{
	uint32_t index;
	int err = 0;

	while (take_one(r, &index))
		;
	crew_end(r->crew);
	while ((s->batch = next_batch(r))) {
		if (s->lines && (err = begin_lines(s)))
			end_lines(s, r->view->ncpus);
		crew_begin(r->crew, s->batch->nactive, take_lane, s);
		reader_fill(r, &r->batch[!r->hand]);
		crew_end(r->crew);
		while (s->lines) {
			if ((err = write_lines(s, out)))
				end_lines(s, r->view->ncpus);
			else if (s->written == s->batch->n)
				break;
			crew_begin(r->crew, s->batch->nactive, take_lane, s);
			crew_end(r->crew);
		}
		session_meet(r->session);
	}
	return err;
}

int recording_lines(struct recording *r, const struct line_writer *line, FILE *out)
{
	struct sharing s = {.session = r->session, .line = line};
	int err = -ENOMEM;

	s.lines = calloc(r->view->ncpus, sizeof(*s.lines));
	if (s.lines)
		err = read_all(r, &s, out);
	end_lines(&s, r->view->ncpus);
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
