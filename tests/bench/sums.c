/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums and records of the same intervals of the same probes. */
#include "sums.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/counter.h"
#include "collect/live_names.h"
#include "collect/probes.h"
#include "collect/ring.h"
#include "model/nest.h"
#include "model/sums.h"

#define RECORDS_MAX (1 << 20)
#define LOOK_US     5000
#define PROGRAMS    3

struct both {
	struct probes *probes;
	struct live_names *names;
	struct record *record;
	uint32_t n;
};

/* ---- what is watched ---- */

static void run_program(unsigned cpu, int which)
{
	struct sockaddr_in nobody = {
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	cpu_set_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (;;)
		if (which) { /* the first only spins */
			sendto(s, "", 1, 0, (struct sockaddr *)&nobody, sizeof(nobody));
			usleep(200 * which);
		}
}

/* 0, or -1: only some of them run. */
static int start_programs(unsigned cpu, struct watched *w)
{
	for (int i = 0; i < PROGRAMS; i++) {
		w->tgid[i] = fork();
		if (!w->tgid[i])
			run_program(cpu, i);
		if (w->tgid[i] < 0)
			return -1;
	}
	return 0;
}

static void end_programs(const struct watched *w)
{
	for (int i = 0; i < PROGRAMS && w->tgid[i] > 0; i++) {
		kill(w->tgid[i], SIGKILL);
		waitpid(w->tgid[i], NULL, 0);
	}
}

/* ---- both ways ---- */

static void take(struct both *b, struct rings *rings)
{
	const struct record *r;

	rings_look(rings);
	for (; (r = rings_next(rings)); rings_pop(rings, r->level))
		if (b->n < RECORDS_MAX)
			b->record[b->n++] = *r;
	rings_release(rings);
}

static int by_end(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	return (int32_t)(x->seq - y->seq);
}

/* A thread's record, or the news of a watched one, ends all that was open. */
static bool is_switch(const struct record *r)
{
	return r->kind == RECORD_THREAD || r->kind == RECORD_WATCH;
}

static int add_records(const struct both *b, struct sources *t)
{
	struct nest *nest;
	unsigned stuck;

	if (sources_init(t))
		return -1;
	nest = nest_new(t, (struct edge_bounds){0}, live_names(b->names), false);
	if (!nest)
		return -1;
	nest_open(nest);
	for (uint32_t i = 0; i < b->n; i++) {
		const struct record *r = &b->record[i];

		if (r->kind != RECORD_MARK || r->mark != MARK_THREAD)
			nest_take(nest, r, 0, UINT64_MAX);
		if (!is_switch(r))
			continue;
		nest_close(nest, r->start_ns, r->end_ns, &stuck);
		nest_open(nest);
	}
	nest_free(nest);
	return 0;
}

struct total {
	uint64_t count, runs, ns, least, most;
};

static bool is_like(const struct source *a, const struct source *b)
{
	return a->kind == b->kind && a->kernel_thread == b->kernel_thread &&
	       !strcmp(a->name, b->name) &&
	       !strcmp(a->function ? a->function : "", b->function ? b->function : "");
}

static struct total total_of(const struct sources *t, const struct source *like)
{
	struct total sum = {.least = UINT64_MAX};

	for (uint32_t i = 0; i < t->count; i++) {
		const struct source *s = t->row[i];

		if (!is_like(s, like))
			continue;
		sum.count += s->count;
		sum.runs += s->net.count;
		sum.ns += s->net.sum;
		sum.least = s->net.min < sum.least ? s->net.min : sum.least;
		sum.most = s->net.max > sum.most ? s->net.max : sum.most;
	}
	return sum;
}

/* Sources of `a` whose figures are others in `b`. */
static unsigned differ(const struct sources *a, const struct sources *b)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < a->count; i++) {
		const struct source *s = a->row[i];
		struct total x = total_of(a, s), y = total_of(b, s);

		if (!memcmp(&x, &y, sizeof(x)))
			continue;
		n++;
		printf("%s > %s: %" PRIu64 " and %" PRIu64 " times, %" PRIu64 " and %" PRIu64
		       " runs, %" PRIu64 " and %" PRIu64 " ns\n",
		       s->name, s->function ? s->function : "", x.count, y.count, x.runs, y.runs,
		       x.ns, y.ns);
	}
	return n;
}

/* True when the sums have a part of an interval that no record tells of any more. */
static bool is_cut(const struct cpu_state *c)
{
	for (int place = 0; place < SUM_PLACES; place++)
		if (c->own.sums.open[place].counted)
			return true;
	return false;
}

static uint64_t softirqs(const struct sources *t)
{
	uint64_t runs = 0;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i]->kind == SOURCE_SOFTIRQ)
			runs += t->row[i]->net.count;
	return runs;
}

static int judge(const struct both *b, const struct cpu_state *c)
{
	struct view v = {.run = {.sums = true}};
	struct sources by_records;
	uint64_t lost = 0;
	unsigned n;

	for (int level = 0; level < LEVELS; level++)
		lost += c->lost[level];
	if (view_cpus(&v, (const unsigned[]){0}, 1) || add_records(b, &by_records) ||
	    sums_fill(&v, 0, probes_sums(b->probes, 0), live_names(b->names)))
		return -1;
	n = differ(&by_records, &v.cpu[0].sources) + differ(&v.cpu[0].sources, &by_records);
	printf("%s: %u sources, %" PRIu64 " runs, %" PRIu64 " of them softirqs, %" PRIu64 " ns\n",
	       !n                                                        ? "same"
	       : lost || b->n == RECORDS_MAX || is_cut(c) || c->unpaired ? "not judged"
									 : "differ",
	       v.cpu[0].sources.count, v.cpu[0].hiccups.count, softirqs(&v.cpu[0].sources),
	       v.cpu[0].attributed_ns);
	sources_free(&by_records);
	view_free(&v);
	return 0;
}

static int run(struct both *b, unsigned ms)
{
	struct rings *rings = rings_new(probes_state(b->probes, 0));
	uint64_t end;

	if (!rings)
		return -1;
	probes_gate(b->probes, true);
	for (end = now_ns() + ms * 1000000ULL; now_ns() < end; usleep(LOOK_US))
		take(b, rings);
	probes_gate(b->probes, false);
	usleep(LOOK_US);
	take(b, rings);
	rings_free(rings);
	qsort(b->record, b->n, sizeof(*b->record), by_end);
	return judge(b, probes_state(b->probes, 0));
}

int bench_sums(unsigned cpu, unsigned ms)
{
	struct watched w = {.sums = SUMS_BESIDE};
	struct both b = {.record = calloc(RECORDS_MAX, sizeof(*b.record))};
	struct cpus cpus;
	int err = -1;

	cpus_clear(&cpus);
	cpus_add(&cpus, cpu);
	b.probes = b.record && !start_programs(cpu, &w)
			   ? probes_new(&cpus, NULL, PROBES_FOR_RECORDS)
			   : NULL;
	if (b.probes && !probes_load(b.probes, false, SLEEPER_NONE, &w) &&
	    !probes_attach(b.probes) && (b.names = live_names_new(b.probes, BY_THREAD, false)))
		err = run(&b, ms);
	end_programs(&w);
	probes_close(b.probes);
	live_names_free(b.names);
	free(b.record);
	return err;
}
