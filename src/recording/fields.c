/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/fields.h"

#include <stdlib.h>
#include <string.h>

#include "model/redact.h"
#include "recording/format.h"
#include "recording/section.h"

#define LIST_MAX   4096                  /* closure rows, tracepoints */
#define VALUES_MAX (TIME_MAX / CPUS_MAX) /* no sum over CPUs overflows */

/* New rows go to the end; no row is ever removed. */
static const struct field host_fields[] = {
	F(BUFFER, host, hostname),   F(BUFFER, host, kernel),     F(BUFFER, host, arch),
	F(BUFFER, host, cpu_model),  F(BUFFER, host, hypervisor), F(BUFFER, host, clocksource),
	F(BUFFER, host, cmdline),    F(NUMBER, host, tsc_khz),    F(SET, host, isolated),
	F(SET, host, nohz_full),     F(SET, host, online),        F(BUFFER, host, kconfig),
	F(FLAG, host, no_nohz_full),
};

static const struct field run_fields[] = {
	F(BUFFER, run, sampler),
	F(BUFFER, run, priority),
	F(BUFFER, run, started),
	F(TIME, run, started_ns),
	F(TIME, run, duration_ns),
	F(FLAG, run, threshold_auto),
	F(FLAG, run, real_time),
	F(FLAG, run, symbols_hidden),
	F(FLAG, run, traced),
	F(SET, run, cpus),
	F(SET, run, housekeeping),
	F(FLAG, run, windows),
	F(BUFFER, run, rest),
	F(FLAG, run, watch),
	F(BUFFER, run, label),
	F(BUFFER, run, cut_short),
	F(BUFFER, run, isolation_changed),
	F(FLAG, run, part),
	F(FLAG, run, redacted),
	F(FLAG, run, whose),
	F(FLAG, run, waits_known),
	F(NUMBER, run, never_ran),
	F(TIME, run, never_ran_ns),
	F(FLAG, run, exits),
	F(READINGS, run, readings),
	F(FLAG, run, names_lack),
	F(NUMBER, run, reports_lost),
	F(FLAG, run, stops_known),
};

static const struct field cpu_fields[] = {
	F(TIME, cpu, observed_ns),
	F(TIME, cpu, threshold_ns),
	F(NUMBER, cpu, loop_count),
	F(REAL, cpu, loop_min_ns),
	F(REAL, cpu, loop_mean_ns),
	F(TIME, cpu, bounds.irq_ns),
	F(TIME, cpu, bounds.thread_ns),
	F(NUMBER, cpu, edge_seen.samples),
	F(NUMBER, cpu, counts.seen),
	F(NUMBER, cpu, counts.lost),
	F(NUMBER, cpu, counts.below_threshold),
	F(NUMBER, cpu, counts.mismatches),
	F(NUMBER, cpu, counts.folded),
};

/* Behind a number that is of the whole run, and stands with the first CPU. */
static const struct field more_cpu_fields[] = {
	F(NUMBER, cpu, unpaired),
	F(TIME, cpu, hiccups_lost_ns),
	F(NUMBER, cpu, hiccups_lost),
	F(TIME, cpu, bookkeeping_ns),
	F(FLAG, cpu, steal_known),
	F(FLAG, cpu, smi_known),
	F(TIME, cpu, steal_ns),
	F(NUMBER, cpu, smi_count),
	F(FLAG, cpu, closure_known),
	F(TEXT, cpu, ended),
	F(NUMBER32, cpu, tid),
	F(BUFFER, cpu, comm),
	F(NUMBER, cpu, khz_changes),
	F(NUMBER, cpu, khz_min),
	F(NUMBER, cpu, khz_max),
	F(FLAG, cpu, shorts.known),
	F(TIME, cpu, shorts.from_ns),
	F(NUMBER, cpu, shorts.count),
	F(TIME, cpu, shorts.total_ns),
	F(TIME, cpu, edge_seen.in_p50_ns),
	F(TIME, cpu, edge_seen.in_p90_ns),
	F(TIME, cpu, edge_seen.out_p50_ns),
	F(TIME, cpu, edge_seen.out_p90_ns),
	F(NUMBER, cpu, woken),
	F(NUMBER, cpu, woken_due),
	F(NUMBER, cpu, reported),
	F(FLAG, cpu, kernel_thread),
	F(TIME, cpu, reported_ns),
	F(TIME, cpu, unseen_ns),
	F(TIME, cpu, unseen_max_ns),
	F(NUMBER, cpu, unseen_whole),
	F(SET, cpu, ran_on),
	F(FLAG, cpu, ran_steal_known),
	F(TIME, cpu, ran_steal_ns),
	F(KHZ, cpu, khz),
	F(NUMBER, cpu, khz_until_ns),
	F(NUMBER, cpu, unread),
	F(PLACES, cpu, places),
	F(NUMBER, cpu, waits_lost),
	F(NUMBER, cpu, waits_before),
	F(NUMBER, cpu, waits_beyond),
	F(TIME, cpu, waits_beyond_ns),
	F(NUMBER, cpu, halts),
	F(TIME, cpu, halted_ns),
	F(TIME, cpu, halted_here_ns),
	F(TIME, cpu, asleep_ns),
	F(TIME, cpu, taken_ns),
	F(FLAG, cpu, is_vcpu),
	F(NUMBER, cpu, unended),
	F(NUMBER32, cpu, machine),
	F(NUMBER32, cpu, vcpu),
	F(NUMBER, cpu, counter.ratio),
	F(NUMBER, cpu, counter.offset),
	F(NUMBER32, cpu, counter.fraction),
	F(NUMBER, cpu, offline.times),
	F(TIME, cpu, offline.total_ns),
	F(TIME, cpu, offline.from_ns),
	F(TIME, cpu, offline.to_ns),
	F(TIME, cpu, late_ns),
	F(NUMBER, cpu, stops),
	F(TIME, cpu, stopped_ns),
};

static const struct field closure_fields[] = {
	F(BUFFER, closure_row, counter),
	F(NUMBER, closure_row, kernel),
	F(NUMBER, closure_row, traced),
	F(TEXT, closure_row, why),
};

void put_host(struct bytes *b, const struct host *h)
{
	struct bytes s = {0};

	put_fields(&s, FIELDS(host_fields), h);
	put_section(b, &s);
}

void get_host(struct reading *r, struct host *h)
{
	struct reading s = get_section(r);

	get_fields(&s, FIELDS(host_fields), h, NULL);
	r->bad |= s.bad;
}

void put_run(struct bytes *b, const struct run *run)
{
	struct bytes s = {0};

	put_number(&s, run->nnot_observed);
	for (uint32_t i = 0; i < run->nnot_observed; i++)
		put_text(&s, run->not_observed[i], SIZE_MAX / 2);
	put_fields(&s, FIELDS(run_fields), run);
	put_section(b, &s);
}

void get_run(struct reading *r, struct run *run, struct texts *t)
{
	struct reading s = get_section(r);
	uint64_t n = get_number(&s);

	free(run->not_observed);
	run->not_observed = n && n <= LIST_MAX ? calloc(n, sizeof(*run->not_observed)) : NULL;
	run->nnot_observed = 0;
	s.bad |= n && !run->not_observed;
	for (uint64_t i = 0; i < n && !s.bad; i++) {
		size_t len;
		const char *text = get_text(&s, &len);
		const char *kept = text ? texts_keep(t, text, len) : NULL;

		if (kept)
			run->not_observed[run->nnot_observed++] = kept;
	}
	get_fields(&s, FIELDS(run_fields), run, t);
	r->bad |= s.bad;
}

/* Writes the name, the buckets of the histogram that are not empty (distance from the last one, and
 * count), and the rest. */
static void put_series(struct bytes *b, const struct series *series)
{
	const struct hist *h = &series->hist;
	uint32_t some = 0, last = 0;
	struct bytes s = {0};

	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1))
		some++;
	put_text(&s, series->name, sizeof(series->name));
	put_number(&s, h->sum);
	put_number(&s, h->min);
	put_number(&s, h->max);
	put_number(&s, some);
	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1)) {
		put_number(&s, i - last);
		put_number(&s, hist_at(h, i));
		last = i;
	}
	put_u8(&s, series->fine);
	put_number(&s, series->threshold_ns);
	put_number(&s, series->longer);
	put_number(&s, series->longest_ns);
	put_u8(&s, series->open);
	put_section(b, &s);
}

static void get_series(struct reading *r, struct series *series)
{
	struct reading s = get_section(r);
	struct hist *h = &series->hist;
	uint64_t some, at = 0, last = 0;
	const char *name;
	size_t len;

	name = get_text(&s, &len);
	if (name)
		memcpy(series->name, name,
		       len < sizeof(series->name) - 1 ? len : sizeof(series->name) - 1);
	h->sum = get_number(&s);
	h->min = get_number(&s);
	h->max = get_number(&s);
	some = get_number(&s);
	for (uint64_t i = 0; i < some && !s.bad; i++) {
		uint64_t step = get_number(&s), count = get_number(&s);

		s.bad |= step >= h->nbuckets || at + step >= h->nbuckets ||
			 count > VALUES_MAX - h->count;
		if (s.bad)
			break;
		at += step;
		s.bad |= i && !step; /* the same bucket twice */
		hist_fill(h, at, count);
		last = count ? at : last;
	}
	if (s.at < s.end) {
		series->fine = get_u8(&s);
		series->threshold_ns = get_number(&s);
		series->longer = get_number(&s);
		series->longest_ns = get_number(&s);
	}
	if (s.at < s.end)
		series->open = get_u8(&s);
	if (!h->count)
		hist_reset(h);
	else if (!s.bad)
		s.bad = h->min > h->max || h->max > TIME_MAX || h->sum / h->count < h->min ||
			h->sum / h->count > h->max || last > hist_index(h, h->max);
	r->bad |= s.bad;
}

/* Reads all series or none. */
static void get_all_series(struct reading *r, struct cpu *c)
{
	uint64_t n = get_number(r);

	r->bad |= n > SERIES_MAX;
	c->series = n && !r->bad ? calloc(n, sizeof(*c->series)) : NULL;
	for (uint64_t i = 0; c->series && i < n && !r->bad; i++) {
		if (hist_init(&c->series[i].hist, SERIES_BITS))
			break;
		c->nseries++;
		get_series(r, &c->series[i]);
	}
	r->bad |= n != c->nseries;
}

void put_cpu(struct bytes *b, const struct cpu *c, uint64_t recursion_misses)
{
	struct bytes s = {0};

	put_number(&s, c->nclosure);
	for (uint32_t i = 0; i < c->nclosure; i++) {
		struct bytes row = {0};

		put_fields(&row, FIELDS(closure_fields), &c->closure[i]);
		put_section(&s, &row);
	}
	put_number(&s, LOOP_LENGTHS);
	for (int i = 0; i < LOOP_LENGTHS; i++) {
		uint64_t bits;

		memcpy(&bits, &c->loop_above_ns[i], sizeof(bits));
		put_u64(&s, bits);
		put_number(&s, c->loop_above[i]);
	}
	put_number(&s, c->nseries);
	for (uint32_t i = 0; i < c->nseries; i++)
		put_series(&s, &c->series[i]);
	put_fields(&s, FIELDS(cpu_fields), c);
	put_number(&s, recursion_misses);
	put_fields(&s, FIELDS(more_cpu_fields), c);
	put_section(b, &s);
}

void skip_cpu(struct reading *r)
{
	r->bad |= get_section(r).bad;
}

void get_cpu(struct reading *r, struct cpu *c, uint64_t *recursion_misses, struct texts *t)
{
	struct reading s = get_section(r);
	uint64_t n = get_number(&s);

	cpu_clear(c);
	c->closure = n && n <= LIST_MAX ? calloc(n, sizeof(*c->closure)) : NULL;
	s.bad |= n && !c->closure;
	c->nclosure = s.bad ? 0 : n;
	for (uint32_t i = 0; i < c->nclosure; i++) {
		struct reading row = get_section(&s);

		get_fields(&row, FIELDS(closure_fields), &c->closure[i], t);
		s.bad |= row.bad;
	}
	n = get_number(&s);
	for (uint64_t i = 0; i < n && !s.bad; i++) {
		double ns = get_real(&s);
		uint64_t count = get_number(&s);

		if (i >= LOOP_LENGTHS)
			continue;
		c->loop_above_ns[i] = ns;
		c->loop_above[i] = count;
	}
	get_all_series(&s, c);
	get_fields(&s, FIELDS(cpu_fields), c, t);
	if (s.at < s.end)
		*recursion_misses += get_number(&s);
	get_fields(&s, FIELDS(more_cpu_fields), c, t);
	s.bad |= c->khz_changes > TIME_MAX || c->khz.n > c->khz_changes || c->counter.fraction > 63;
	r->bad |= s.bad;
}

#define FACTS_CHUNK (1 << 20)

uint32_t put_facts(struct bytes *b, const struct facts *f, uint32_t first)
{
	for (; first < f->count && b->len < FACTS_CHUNK; first++) {
		const struct fact *x = &f->row[first];

		put_text(b, x->name, SIZE_MAX / 2);
		put_signed(b, x->err);
		put_number(b, x->len);
		put_raw(b, x->text, x->len);
	}
	return first;
}

/* Looks at this fact alone: those that are there have been looked at. */
static void add_redacted(struct facts *f, const char *name, int err, const void *text, size_t len)
{
	struct facts one = {0};

	facts_add(&one, name, err, text, len);
	redact_facts(&one);
	if (one.count)
		facts_add(f, name, one.row->err, one.row->text, one.row->len);
	facts_free(&one);
}

void get_facts(struct reading *r, struct facts *f, bool redacted)
{
	while (r->at < r->end) {
		char name[FACT_NAME_MAX + 1];
		size_t len;
		const char *text = get_text(r, &len);
		int64_t err = get_signed(r);
		uint64_t size = get_number(r);
		const uint8_t *at = get_raw(r, size);

		if (!text || !at || len >= sizeof(name)) {
			r->bad = true;
			return;
		}
		memcpy(name, text, len);
		name[len] = 0;
		/* A fact without room stays unknown. */
		if (redacted)
			add_redacted(f, name, err, at, size);
		else
			facts_add(f, name, err, at, size);
	}
}
