/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rank.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct entry {
	struct rank_of of;
	uint32_t index;
};

static int compare_lost(const struct entry *a, const struct entry *b)
{
	return a->of.lost < b->of.lost ? 1 : -(a->of.lost > b->of.lost);
}

static int compare_longest(const struct entry *a, const struct entry *b)
{
	return a->of.longest_ns < b->of.longest_ns ? 1 : -(a->of.longest_ns > b->of.longest_ns);
}

static int compare_index(const struct entry *a, const struct entry *b)
{
	return a->index < b->index ? -1 : a->index > b->index;
}

static int by_lost(const void *a, const void *b)
{
	int order = compare_lost(a, b);

	order = order ? order : compare_longest(a, b);
	return order ? order : compare_index(a, b);
}

static int by_longest(const void *a, const void *b)
{
	int order = compare_longest(a, b);

	order = order ? order : compare_lost(a, b);
	return order ? order : compare_index(a, b);
}

/* Takes the next lane of a list that the other has not given yet; false: there is none. */
static bool take(const struct entry *list, uint32_t n, uint32_t *at, bool *taken, uint32_t *out)
{
	while (*at < n && taken[list[*at].index])
		++*at;
	if (*at == n)
		return false;
	*out = list[*at].index;
	taken[*out] = true;
	return true;
}

int rank(const struct rank_of *of, uint32_t n, uint32_t *order)
{
	struct entry *lost = calloc(n + 1, sizeof(*lost)), *longest = calloc(n + 1, sizeof(*lost));
	bool *taken = calloc(n + 1, sizeof(*taken));
	int err = lost && longest && taken ? 0 : -ENOMEM;
	uint32_t a = 0, b = 0, done = 0;

	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		if (!err)
			lost[i] = longest[i] = (struct entry){of[i], i};
	}
	if (!err) {
		qsort(lost, n, sizeof(*lost), by_lost);
		qsort(longest, n, sizeof(*longest), by_longest);
	}
	while (!err && done < n) {
		done += take(lost, n, &a, taken, &order[done]);
		done += take(longest, n, &b, taken, &order[done]);
	}
	free(lost);
	free(longest);
	free(taken);
	return err;
}

/* The longest gap of a lane; of a workload's CPU its longest value, where none was slow. */
static uint64_t longest_of(const struct cpu *c)
{
	uint64_t longest = c->hiccups.max;

	for (uint32_t i = 0; i < c->nseries && !c->hiccups.count; i++) {
		const struct series *s = &c->series[i];
		uint64_t ns = s->hist.count ? s->hist.max / (s->fine ? 1000 : 1) : 0;

		longest = ns > longest ? ns : longest;
	}
	return longest;
}

int rank_lanes(const struct view *v, uint32_t *order)
{
	struct rank_of *of = calloc(v->ncpus + 1, sizeof(*of));
	int err;

	if (!of) {
		for (uint32_t i = 0; i < v->ncpus; i++)
			order[i] = i;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < v->ncpus; i++)
		of[i] = (struct rank_of){v->run.watch ? (double)v->cpu[i].hiccups.sum
						      : view_lost(v, i),
					 longest_of(&v->cpu[i])};
	err = rank(of, v->ncpus, order);
	free(of);
	return err;
}
