/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/together.h"

#include <stdlib.h>
#include <string.h>

#include "recording/format.h"

static void put_thread(struct bytes *b, const struct suspect_thread *t, struct redact *redact)
{
	struct suspect_thread one = *t;

	if (redact)
		redact_suspects(redact, &(struct suspects){.thread = &one, .nthreads = 1});
	put_number(b, one.tid);
	put_u8(b, one.kernel_thread);
	put_text(b, one.comm, strnlen(one.comm, sizeof(one.comm)));
}

static void put_stop(struct bytes *b, const struct stop *s, uint64_t before_ns)
{
	put_number(b, s->start_ns - before_ns);
	put_number(b, s->end_ns - s->start_ns);
	put_number(b, s->apart_ns);
	put_number(b, s->cell_ns);
	put_number(b, s->cpus);
	put_number(b, s->rest);
	put_number(b, s->nparts);
	for (const struct stop_part *p = s->part; p < s->part + s->nparts; p++) {
		put_number(b, p->who);
		put_number(b, p->share);
		put_number(b, p->there ? 1 + p->cpu : 0);
		if (p->there)
			put_number(b, p->call);
	}
}

/* The longest that all can be: numbers of the sizes that get_stop() and get_thread() allow. */
_Static_assert(SUSPECT_ROWS *(40 + SUSPECT_PARTS * 10) + SUSPECT_THREADS * 24 + 40 <= CHUNK_MAX,
	       "they fit into a chunk");

void put_suspects(struct bytes *b, const struct suspects *s, struct redact *redact)
{
	uint64_t before_ns = 0;

	put_number(b, s->of_cpus);
	put_number(b, s->stops);
	put_number(b, s->stride);
	put_number(b, s->more);
	put_number(b, s->nthreads);
	for (uint32_t i = 0; i < s->nthreads; i++)
		put_thread(b, &s->thread[i], redact);
	put_number(b, s->nrows);
	for (uint32_t i = 0; i < s->nrows; i++) {
		put_stop(b, &s->row[i], before_ns);
		before_ns = s->row[i].start_ns;
	}
}

/* A number that is no larger than this. */
static uint64_t get_most(struct reading *r, uint64_t most)
{
	uint64_t n = get_number(r);

	r->bad |= n > most;
	return r->bad ? 0 : n;
}

static void get_thread(struct reading *r, struct suspect_thread *t)
{
	const char *comm;
	size_t len;

	t->tid = get_most(r, UINT32_MAX);
	t->kernel_thread = get_u8(r);
	comm = get_text(r, &len);
	r->bad |= !comm || len > sizeof(t->comm);
	if (!r->bad)
		memcpy(t->comm, comm, len);
}

static void get_part(struct reading *r, struct stop_part *p, uint32_t threads)
{
	uint64_t there;

	p->who = get_most(r, threads - 1);
	p->share = get_most(r, SUSPECT_WHOLE);
	there = get_most(r, 1 + UINT16_MAX);
	p->there = there;
	p->cpu = there ? there - 1 : 0;
	p->call = there ? get_most(r, UINT16_MAX) : 0;
}

static void get_stop(struct reading *r, struct stop *s, uint64_t before_ns, uint32_t threads)
{
	uint32_t n;

	s->start_ns = before_ns + get_most(r, TIME_MAX - before_ns);
	s->end_ns = s->start_ns + get_most(r, TIME_MAX - s->start_ns);
	s->apart_ns = get_most(r, TIME_MAX);
	s->cell_ns = get_most(r, SUSPECT_CELL_NS);
	s->cpus = get_most(r, CPUS_MAX);
	s->rest = get_most(r, SUSPECT_WHOLE);
	n = get_most(r, threads < SUSPECT_PARTS ? threads : SUSPECT_PARTS);
	r->bad |= s->cell_ns && s->cell_ns < s->end_ns - s->start_ns;
	s->part = n && !r->bad ? calloc(n, sizeof(*s->part)) : NULL;
	r->bad |= n && !s->part;
	for (; s->part && s->nparts < n && !r->bad; s->nparts++)
		get_part(r, &s->part[s->nparts], threads);
}

void get_suspects(struct reading *r, struct suspects *s)
{
	uint64_t before_ns = 0;
	uint32_t threads, rows;

	s->of_cpus = get_most(r, CPUS_MAX);
	s->stops = get_most(r, TIME_MAX);
	s->stride = get_most(r, UINT32_MAX);
	s->more = get_most(r, TIME_MAX);
	threads = get_most(r, SUSPECT_THREADS);
	s->thread = calloc(threads + 1, sizeof(*s->thread));
	for (; s->thread && s->nthreads < threads && !r->bad; s->nthreads++)
		get_thread(r, &s->thread[s->nthreads]);
	rows = get_most(r, SUSPECT_ROWS);
	s->row = calloc(rows + 1, sizeof(*s->row));
	for (; s->row && s->nrows < rows && !r->bad; s->nrows++) {
		get_stop(r, &s->row[s->nrows], before_ns, threads);
		before_ns = s->row[s->nrows].start_ns;
	}
	s->looked = !r->bad && s->thread && s->row;
}
