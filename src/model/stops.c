#include "model/stops.h"

#include <string.h>

static bool can_be_stopped(const struct view *v, uint32_t index)
{
	const struct sources *t = &v->cpu[index].sources;

	if (v->host.hypervisor[0] || (v->cpu[index].smi_known && v->cpu[index].smi_count))
		return true;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i]->kind == SOURCE_OUTSIDE && t->row[i]->net.count &&
		    t->row[i]->word == WORD_SIMULTANEOUS)
			return true;
	return false;
}

/* Longest usual run of the source. */
static uint64_t limit_of(uint64_t usual_ns)
{
	return STOPS_TIMES * usual_ns > STOPS_LEAST_NS ? STOPS_TIMES * usual_ns : STOPS_LEAST_NS;
}

static void find(struct source *s)
{
	const struct hist *h = &s->net;
	uint64_t usual = hist_percentile(h, 99), limit = limit_of(usual);

	if (h->count < STOPS_SAMPLES || h->max <= limit)
		return;
	for (uint32_t i = hist_next(h, hist_index(h, limit) + 1); i < h->nbuckets;
	     i = hist_next(h, i + 1)) {
		uint64_t highest = hist_highest(h, i) < h->max ? hist_highest(h, i) : h->max;
		uint64_t middle = hist_lowest(h, i) + (highest - hist_lowest(h, i)) / 2;

		s->stopped.count += hist_at(h, i);
		s->stopped.ns += hist_at(h, i) * (middle - usual);
		s->stopped.usual_ns = usual;
	}
	if (s->stopped.ns > h->sum) /* a bucket's middle stands for its values */
		s->stopped.ns = h->sum;
}

void stops_find(const struct view *v, uint32_t index)
{
	const struct sources *t = &v->cpu[index].sources;
	bool can = can_be_stopped(v, index);

	for (uint32_t i = 0; i < t->count; i++) {
		struct source *s = t->row[i];

		memset(&s->stopped, 0, sizeof(s->stopped));
		if (can && kind_of(s->kind)->handler)
			find(s);
	}
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
	i = hist_index(&s->net, limit_of(s->stopped.usual_ns));
	while (i > 0 && !hist_at(&s->net, i))
		i--;
	return hist_highest(&s->net, i) < s->net.max ? hist_highest(&s->net, i) : s->net.max;
}
