/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/stops.h"

#include <string.h>

/* Number of stops that left a sign. An SMI stops one run; nobody has counted how often a host
 * stopped, or stops of several CPUs. */
static uint64_t most_stops(const struct view *v, uint32_t index)
{
	const struct sources *t = &v->cpu[index].sources;

	if (v->host.hypervisor[0])
		return UINT64_MAX;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i]->kind == SOURCE_OUTSIDE && t->row[i]->net.count &&
		    t->row[i]->word == WORD_SIMULTANEOUS)
			return UINT64_MAX;
	return v->cpu[index].smi_known ? v->cpu[index].smi_count : 0;
}

/* The fewer runs there were, the longer one must be. Each row: from so many runs on; the percentile
 * that is the usual time, 0: not known; so many times that, and more than this, is a stop. */
static const struct rule {
	uint64_t runs;
	unsigned percent, times;
	uint64_t least_ns;
} rules[] = {
	{STOPS_SAMPLES, 99, 8, STOPS_LEAST_NS},
	{STOPS_SOME, 50, 64, STOPS_SOME_NS},
	{1, 0, 0, STOPS_FEW_NS},
};

static const struct rule *rule_of(const struct source *s)
{
	const struct rule *r = rules;

	while (s->net.count < r->runs)
		r++;
	return r;
}

/* Longest usual run of the source. */
static uint64_t limit_of(const struct rule *r, uint64_t usual_ns)
{
	return r->times * usual_ns > r->least_ns ? r->times * usual_ns : r->least_ns;
}

static void find(struct source *s)
{
	const struct rule *r = rule_of(s);
	const struct hist *h = &s->net;
	uint64_t usual = r->percent ? hist_percentile(h, r->percent) : 0;
	uint64_t limit = limit_of(r, usual);

	if (h->max <= limit)
		return;
	for (uint32_t i = hist_next(h, hist_index(h, limit) + 1); i < h->nbuckets;
	     i = hist_next(h, i + 1)) {
		uint64_t highest = hist_highest(h, i) < h->max ? hist_highest(h, i) : h->max;
		uint64_t middle = hist_lowest(h, i) + (highest - hist_lowest(h, i)) / 2;

		s->stopped.count += hist_at(h, i);
		s->stopped.ns += hist_at(h, i) * (middle - usual);
		if (highest == h->max) /* one of these is known */
			s->stopped.ns += h->max - middle;
		s->stopped.usual_ns = usual;
		s->stopped.percent = r->percent;
	}
	/* a bucket's middle stands for its values */
	if (s->stopped.ns > h->sum || s->stopped.count == h->count)
		s->stopped.ns = h->sum;
}

void stops_find(const struct view *v, uint32_t index)
{
	const struct sources *t = &v->cpu[index].sources;
	uint64_t most = most_stops(v, index), all = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		struct source *s = t->row[i];

		memset(&s->stopped, 0, sizeof(s->stopped));
		if (most && kind_of(s->kind)->handler && s->net.count)
			find(s);
		all += s->stopped.count;
	}
	for (uint32_t i = 0; i < t->count && all > most; i++)
		memset(&t->row[i]->stopped, 0, sizeof(t->row[i]->stopped));
}

static bool is_gap(const struct source *s)
{
	return s->kind == SOURCE_OUTSIDE &&
	       (s->word == WORD_SIMULTANEOUS || s->word == WORD_HARDWARE);
}

uint64_t stops_gaps(const struct cpu *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->sources.count; i++)
		n += is_gap(c->sources.row[i]) ? c->sources.row[i]->net.count : 0;
	return n;
}

/* The most time that gaps in this bucket took, `left` of them at most; *left: less by as many. */
static uint64_t longest(const struct sources *t, uint32_t bucket, uint64_t *left)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < t->count && *left; i++) {
		const struct hist *h = &t->row[i]->net;
		uint64_t n = is_gap(t->row[i]) ? hist_at(h, bucket) : 0;
		uint64_t highest = hist_highest(h, bucket);

		n = n < *left ? n : *left;
		ns += n * (highest < h->max ? highest : h->max);
		*left -= n;
	}
	return ns;
}

bool stops_are_smis(const struct cpu *c)
{
	uint64_t left = c->smi_known ? c->smi_count : 0, all = 0, ns = 0;
	const struct sources *t = &c->sources;
	uint32_t bucket = 0;

	for (uint32_t i = 0; i < t->count && left; i++) {
		const struct hist *h = &t->row[i]->net;

		if (!is_gap(t->row[i]) || !h->count)
			continue;
		all += h->sum;
		if (hist_index(h, h->max) >= bucket)
			bucket = hist_index(h, h->max) + 1;
	}
	while (left && bucket--)
		ns += longest(t, bucket, &left);
	return all && 2 * ns >= all;
}

uint64_t stops_usual_sum(const struct source *s)
{
	return s->net.sum - s->stopped.ns;
}

uint64_t stops_usual_max(const struct source *s)
{
	uint32_t i;

	if (!s->stopped.count)
		return s->net.max;
	i = hist_index(&s->net, limit_of(rule_of(s), s->stopped.usual_ns));
	while (i > 0 && !hist_at(&s->net, i))
		i--;
	return hist_highest(&s->net, i) < s->net.max ? hist_highest(&s->net, i) : s->net.max;
}
