/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/conclude.h"
#include "recording/read.h"
#include "render/render.h"

#define SECOND_NS 1000000000ULL
#define HICCUPS   100000 /* most that are kept of a recording */
#define ODD_ONE   50     /* one host of so many */
#define ODD_TIMES 10     /* has up to so many times as much of one source */
#define ODD_LEAST 50     /* the rarest that is in one hiccup of so many */

/* The hiccups of a recording, and the view that their sources belong to. */
struct pool {
	struct recording *recording;
	struct view view;
	struct account *account;   /* each with pieces of its own */
	uint64_t *serial[HICCUPS]; /* those of the pieces' sources, which move while it is read */
	uint32_t n;
	uint32_t odd; /* the source that an odd host has more of */
};

static uint64_t next(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random >> 11; /* 53 bits */
}

/* 0 to 1 */
static double chance(uint64_t *random)
{
	return (double)next(random) / (double)(1ULL << 53);
}

/* ---- what is real ---- */

static int keep(struct pool *p, const struct account *a)
{
	struct account *mine = &p->account[p->n];
	size_t size = a->npieces * sizeof(*a->pieces);

	*mine = *a;
	mine->spans = NULL;
	mine->nspans = 0;
	mine->pieces = malloc(size + 1);
	p->serial[p->n] = malloc((a->npieces + 1) * sizeof(*p->serial[0]));
	if (!mine->pieces || !p->serial[p->n])
		return -1;
	memcpy(mine->pieces, a->pieces, size);
	for (uint32_t i = 0; i < a->npieces; i++)
		p->serial[p->n][i] = p->view.cpu[0].sources.row[a->pieces[i].source]->serial;
	p->n++;
	return 0;
}

static bool find(struct pool *p, uint64_t serial, uint32_t *row)
{
	const struct sources *t = &p->view.cpu[0].sources;

	for (*row = 0; *row < t->count; ++*row)
		if (t->row[*row]->serial == serial)
			return true;
	return false;
}

/* Points the pieces to where their sources are in the end; leaves out hiccups of one that has made
 * room for others. */
static void settle(struct pool *p)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		struct account *a = &p->account[i];
		bool all = true;

		for (uint32_t k = 0; k < a->npieces; k++)
			all = find(p, p->serial[i][k], &a->pieces[k].source) && all;
		if (all)
			p->account[kept++] = *a;
	}
	p->n = kept;
}

static bool has(const struct account *a, uint32_t source)
{
	for (uint32_t i = 0; i < a->npieces; i++)
		if (a->pieces[i].source == source)
			return true;
	return false;
}

static void choose_odd(struct pool *p)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t s = 0; s < p->view.cpu[0].sources.count; s++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < p->n; i++)
			n += has(&p->account[i], s);
		if (n < least && n >= p->n / ODD_LEAST) {
			least = n;
			p->odd = s;
		}
	}
}

static int fill(struct pool *p, const char *path)
{
	const struct account *a;
	uint32_t index;

	p->account = calloc(HICCUPS, sizeof(*p->account));
	p->recording = p->account ? recording_open(path, NULL, &p->view) : NULL;
	if (!p->recording)
		return -1;
	/* Sources are those of the lane: hiccups of the first one serve for all CPUs. */
	while (p->n < HICCUPS && (a = recording_next(p->recording, &index)))
		if (!index && keep(p, a))
			return -1;
	recording_finish(p->recording);
	settle(p);
	if (conclude(&p->view) || !p->n)
		return -1;
	choose_odd(p);
	return 0;
}

/* ---- what is made of it ---- */

struct member {
	const struct pool *pool;
	struct view view; /* the pool's, with a name, a time and CPUs of its own */
	struct cpu cpu[FLEET_CPUS];
	double rate;
	bool odd;
	uint64_t random;
};

static void name_host(struct member *h, unsigned number, const struct fleet_size *size)
{
	struct run *run = &h->view.run;

	h->view = h->pool->view;
	h->view.cpu = h->cpu;
	h->view.ncpus = FLEET_CPUS;
	snprintf(h->view.host.hostname, sizeof(h->view.host.hostname), "host-%04u", number);
	/* A part of the fleet has a newer kernel, so that there is something to compare. */
	if (number % 3 == 0)
		snprintf(h->view.host.kernel, sizeof(h->view.host.kernel), "%.200s-next",
			 h->pool->view.host.kernel);
	snprintf(run->started, sizeof(run->started), "2026-03-01T12:00:00.%06uZ", number);
	run->started_ns = SECOND_NS;
	run->duration_ns = size->hours * 3600 * SECOND_NS;
	run->watch = run->part = false;
	for (unsigned i = 0; i < FLEET_CPUS; i++) {
		h->cpu[i] = h->pool->view.cpu[0];
		h->cpu[i].number = 2 + i;
		h->cpu[i].observed_ns = run->duration_ns;
	}
}

/* Any hiccup of the pool; an odd host has those with one source more often. */
static struct account any(struct member *h)
{
	const struct pool *p = h->pool;
	unsigned tries = h->odd ? ODD_TIMES : 1;
	const struct account *a;

	do
		a = &p->account[next(&h->random) % p->n];
	while (--tries && !has(a, p->odd));
	return *a;
}

/* Returns how many there were; 0: it failed. */
static uint64_t make_hiccups(struct member *h, void *state)
{
	uint64_t n = 0, end = h->view.run.started_ns + h->view.run.duration_ns;
	double step = 2 * SECOND_NS / h->rate; /* twice the mean: even between 0 and this */

	for (unsigned cpu = 0; cpu < FLEET_CPUS; cpu++) {
		uint64_t at = h->view.run.started_ns;

		for (;;) {
			struct account a = any(h);

			at += (uint64_t)(chance(&h->random) * step);
			a.start_ns = at;
			if (at + a.duration_ns >= end)
				break;
			if (render_rollup.hiccup(state, cpu, &a))
				return 0;
			at += a.duration_ns;
			n++;
		}
	}
	return n;
}

static FILE *create(const char *directory, const char *host)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/minutes", directory);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/minutes/%s", directory, host);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/minutes/%s/day.parquet", directory, host);
	return fopen(path, "w");
}

static uint64_t make_host(struct member *h, const char *directory)
{
	FILE *out = create(directory, h->view.host.hostname);
	void *state = out ? render_rollup.begin(&h->view, out) : NULL;
	uint64_t n = state ? make_hiccups(h, state) : 0;

	if (state && render_rollup.end(state))
		n = 0;
	if (!out || fclose(out) || !n) {
		fprintf(stderr, "bench: %s cannot be made in %s: %s\n", h->view.host.hostname,
			directory, strerror(errno));
		return 0;
	}
	return n;
}

int bench_fleet(const char *directory, const struct fleet_size *size, char **path, unsigned n)
{
	struct pool *pool = calloc(n, sizeof(*pool));
	struct member *h = calloc(1, sizeof(*h));
	uint64_t all = 0, some = 1;

	for (unsigned i = 0; pool && h && i < n && some; i++)
		some = !fill(&pool[i], path[i]);
	for (unsigned i = 0; pool && h && i < size->hosts && some; i++) {
		*h = (struct member){.pool = &pool[i % n], .random = 88172645463325252ULL + i};
		name_host(h, i + 1, size);
		next(&h->random);
		h->rate = size->rate * (0.5 + chance(&h->random));
		h->odd = i % ODD_ONE == ODD_ONE - 1;
		some = make_host(h, directory);
		all += some;
	}
	printf("%" PRIu64 "\n", all);
	return pool && h && some ? 0 : -1; /* the process ends: nothing is freed */
}
