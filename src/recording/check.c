/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/check.h"

/* A window's ends and its hiccups come from two clocks, which differ by less than this */
#define CLOCKS_NS  1000000
#define CLOCKS_OF  1000 /* divisor of the window: they differ by less than a thousandth, too */
#define OVERLAP_NS 1000 /* two anchors of one clock */

/* True when hiccups follow each other: on CPUs that a sampler spins on. */
static bool in_line(const struct run *run)
{
	return !run->watch && !run->windows;
}

static const char *check_hiccup(struct checked *c, const struct run *run, const struct hiccup *h)
{
	uint64_t length = h->end_ns - h->start_ns;

	if (h->end_ns > TIME_MAX)
		return "a hiccup ends later than any clock shows";
	if (h->end_ns < h->start_ns)
		return "a hiccup ends before it begins";
	if (in_line(run)) {
		if (h->start_ns < run->started_ns)
			return "a hiccup begins before the window";
		if (h->start_ns + OVERLAP_NS < c->last_ns || h->end_ns < c->last_ns)
			return "a hiccup begins before the last one's end";
		if (c->sum_ns + length > h->end_ns - run->started_ns)
			return "hiccups take more time than there was";
	} else if (length > TIME_MAX - c->sum_ns) {
		return "hiccups take more time than any clock shows";
	}
	if (!c->hiccups++)
		c->first_ns = h->start_ns;
	c->last_ns = h->end_ns > c->last_ns ? h->end_ns : c->last_ns;
	c->sum_ns += length;
	return NULL;
}

const char *check_event(struct checked *c, const struct run *run, uint64_t end_ns,
			const struct event *e)
{
	switch (e->type) {
	case EVENT_RECORD:
		return check_record(c, e->record);
	case EVENT_HICCUP:
		if (end_ns && e->hiccup->end_ns > end_ns)
			return "a hiccup ends behind the window";
		return check_hiccup(c, run, e->hiccup);
	case EVENT_RELIEVE:
		return e->ns > TIME_MAX ? "a time is later than any clock shows" : NULL;
	case EVENT_STEAL:
		if (e->ns > TIME_MAX)
			return "a steal clock shows more than any clock does";
		return NULL;
	default:
		return NULL;
	}
}

bool check_index(const struct checked *c, const struct run *run, uint64_t end_ns,
		 const struct index_lane *l)
{
	if (!l->hiccups)
		return true;
	if (l->sum_ns > TIME_MAX - c->sum_ns || (end_ns && l->end_ns > end_ns))
		return false;
	return !in_line(run) ||
	       (l->begin_ns[0] >= run->started_ns && l->begin_ns[0] + OVERLAP_NS >= c->last_ns &&
		c->sum_ns + l->sum_ns <= l->end_ns - run->started_ns);
}

void checked_add(struct checked *c, const struct index_lane *l)
{
	c->records += l->records;
	if (!l->hiccups)
		return;
	if (!c->hiccups)
		c->first_ns = l->first_ns;
	c->hiccups += l->hiccups;
	c->last_ns = l->end_ns > c->last_ns ? l->end_ns : c->last_ns;
	c->sum_ns += l->sum_ns;
}

const char *check_run(const struct checked *c, uint32_t ncpus, const struct run *was,
		      const struct run *now)
{
	if (was->started_ns && now->started_ns != was->started_ns)
		return "the window begins at two times";
	if (now->watch != was->watch || now->windows != was->windows || now->traced != was->traced)
		return "it is of two kinds";
	for (uint32_t i = 0; i < ncpus && in_line(now); i++)
		if (c[i].hiccups && c[i].first_ns < now->started_ns)
			return "a hiccup begins before the window";
	return NULL;
}

static bool too_many(const struct cpu *cpu, const struct checked *c, uint64_t missing)
{
	const struct join_counts *n = &cpu->counts;
	uint64_t most = c->records + missing;

	if (most < missing)
		return true;
	return n->seen > most || n->below_threshold > most || n->folded > most ||
	       n->mismatches / 2 > most + c->hiccups;
}

const char *check_cpu(const struct checked *c, const struct run *run, struct cpu *cpu,
		      uint64_t records_missing)
{
	uint64_t lost = c->sum_ns + cpu->hiccups_lost_ns, clocks = cpu->observed_ns / CLOCKS_OF;

	if (too_many(cpu, c, records_missing))
		return "its end counts more records than it has";
	if (!in_line(run))
		return NULL; /* nobody knows of what length reports are that were lost */
	if (cpu->hiccups_lost > cpu->hiccups_lost_ns)
		return "its end counts more hiccups than there was time for";
	if (cpu->observed_ns > TIME_MAX || cpu_end_ns(cpu) > run->duration_ns)
		return "a CPU's window is longer than all of it";
	clocks = clocks < CLOCKS_NS ? clocks : CLOCKS_NS;
	if (lost > cpu->observed_ns + clocks)
		return "more time is lost than there was";
	if (cpu->shorts.known && cpu->shorts.total_ns > cpu->observed_ns + clocks - lost)
		return "short gaps take more time than there was";
	if (cpu->shorts.known && cpu->shorts.count > cpu->shorts.total_ns)
		return "its end counts more short gaps than there was time for";
	if (lost > cpu->observed_ns)
		cpu->observed_ns = lost;
	return NULL;
}
