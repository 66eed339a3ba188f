/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fleet_diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/rank_test.h"

/* Columns of hosts for each group. All arrays have a place for each host of the fleet. */
struct work {
	const struct fleet *f;
	uint32_t first;
	double *observed[2]; /* ns */
	bool *in[2];         /* is compared, in this group */
	double *ns[2];       /* time of the source in hand */
	double *value[2];    /* those that are tested */
	bool pairs;
};

static int group_of(const struct work *w, uint32_t recording)
{
	return recording >= w->first;
}

/* True if its host is compared, in its group. */
static bool is_in(const struct work *w, uint32_t recording)
{
	return w->in[group_of(w, recording)][w->f->window[recording].host];
}

static void work_free(struct work *w)
{
	for (int g = 0; g < 2; g++) {
		free(w->observed[g]);
		free(w->in[g]);
		free(w->ns[g]);
		free(w->value[g]);
	}
}

static int work_init(struct work *w)
{
	size_t n = w->f->nhosts + 1UL;
	bool all = true;

	for (int g = 0; g < 2; g++) {
		w->observed[g] = calloc(n, sizeof(*w->observed[g]));
		w->in[g] = calloc(n, sizeof(*w->in[g]));
		w->ns[g] = calloc(n, sizeof(*w->ns[g]));
		w->value[g] = calloc(n, sizeof(*w->value[g]));
		all = all && w->observed[g] && w->in[g] && w->ns[g] && w->value[g];
	}
	return all ? 0 : -ENOMEM;
}

/* Chooses the hosts that are compared. */
static int choose_hosts(struct fleet_diff *d, struct work *w)
{
	uint32_t both = 0, n = w->f->nhosts;

	for (uint32_t i = 0; i < w->f->recordings; i++)
		w->observed[group_of(w, i)][w->f->window[i].host] +=
			(double)w->f->window[i].observed_ns;
	for (uint32_t h = 0; h < n; h++) {
		both += w->observed[0][h] > 0 && w->observed[1][h] > 0;
		d->unknown += !(w->observed[0][h] > 0) && !(w->observed[1][h] > 0);
	}
	if (both && both < FLEET_LEAST_HOSTS)
		return -EINVAL;
	w->pairs = d->pairs = both != 0;
	for (uint32_t h = 0; h < n; h++) {
		bool a = w->observed[0][h] > 0, b = w->observed[1][h] > 0;

		w->in[0][h] = a && (b || !both);
		w->in[1][h] = b && (a || !both);
		d->hosts[0] += w->in[0][h];
		d->hosts[1] += w->in[1][h];
		d->alone += both && a != b;
	}
	for (uint32_t i = 0; i < w->f->recordings; i++)
		if (is_in(w, i)) {
			d->recordings[group_of(w, i)]++;
			fleet_losses_add(&d->losses[group_of(w, i)], &w->f->window[i].losses);
		}
	d->least = d->pairs ? rank_test_least_pairs(both)
			    : fmin(1, 2 * rank_test_least_groups(d->hosts[0], d->hosts[1]));
	return 0;
}

/* ---- what they have in common ---- */

enum common { COMMON_KERNEL, COMMON_BLIND };

static const char *common_of(const struct fleet *f, uint32_t i, enum common what)
{
	return what == COMMON_KERNEL ? f->window[i].kernel : f->window[i].blind;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The commonest of text[n], which it sorts. */
static const char *commonest(const char **text, uint32_t n, uint32_t *times)
{
	const char *most = "";

	qsort(text, n, sizeof(*text), by_text);
	*times = 0;
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !strcmp(text[end], text[i]); end++)
			;
		if (end - i > *times) {
			*times = end - i;
			most = text[i];
		}
	}
	return most;
}

static int common_make(struct fleet_common *c, const struct work *w, enum common what)
{
	const char **text = calloc(w->f->recordings + 1UL, sizeof(*text));

	if (!text)
		return -ENOMEM;
	for (int g = 0; g < 2; g++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < w->f->recordings; i++)
			if (group_of(w, i) == g && is_in(w, i))
				text[n++] = common_of(w->f, i, what);
		c->most[g] = commonest(text, n, &c->recordings[g]);
	}
	c->differs = strcmp(c->most[0], c->most[1]) != 0;
	free(text);
	return 0;
}

/* ---- one source ---- */

/* More loss of the host in the second group than in the first, as a share. */
static double pair_difference(const struct work *w, uint32_t h)
{
	return w->ns[1][h] / w->observed[1][h] - w->ns[0][h] / w->observed[0][h];
}

static struct rank_test test_pairs(struct work *w)
{
	uint32_t n = 0;

	for (uint32_t h = 0; h < w->f->nhosts; h++)
		if (w->in[0][h])
			w->value[0][n++] = pair_difference(w, h);
	return rank_test_pairs(w->value[0], n);
}

static struct rank_test test_groups(struct work *w, const struct fleet_diff *d,
				    const struct fleet_change *c)
{
	struct rank_test share = rank_test_share(c->hosts[0], d->hosts[0], c->hosts[1],
						 d->hosts[1]),
			 amount;
	uint32_t n[2] = {0};

	for (int g = 0; g < 2; g++)
		for (uint32_t h = 0; h < w->f->nhosts; h++)
			if (w->in[g][h] && w->ns[g][h] > 0)
				w->value[g][n[g]++] = w->ns[g][h] / w->observed[g][h];
	amount = rank_test_groups(w->value[0], n[0], w->value[1], n[1]);
	if (isnan(amount.p) || amount.p < share.p)
		share = amount;
	share.p = share.p > 0.5 ? 1 : 2 * share.p;
	return share;
}

static enum diff_verdict judge(const struct fleet_change *c, int side)
{
	if (!c->hosts[0])
		return DIFF_NEW;
	if (!c->hosts[1])
		return DIFF_GONE;
	if (side > 0 && c->share[1] > c->share[0])
		return DIFF_WORSE;
	if (side < 0 && c->share[1] < c->share[0])
		return DIFF_BETTER;
	return DIFF_UNCLEAR;
}

/* Number of hosts that tell anything: a pair without a difference does not. */
static uint32_t tell(const struct fleet_change *c, const struct work *w)
{
	uint32_t n = 0;

	if (!w->pairs)
		return c->hosts[0] + c->hosts[1];
	for (uint32_t h = 0; h < w->f->nhosts; h++)
		n += w->in[0][h] && pair_difference(w, h) != 0;
	return n;
}

/* From w->ns, which it clears; the verdict is what it is if more than chance. 0 or -ENOMEM. */
static int change_make(struct fleet_change *c, struct work *w, const struct fleet_diff *d)
{
	struct rank_test t = {1, 0};

	for (int g = 0; g < 2; g++)
		for (uint32_t h = 0; h < w->f->nhosts; h++)
			if (w->in[g][h] && w->ns[g][h] > 0) {
				c->share[g] += w->ns[g][h] / w->observed[g][h] / d->hosts[g];
				c->hosts[g]++;
			}
	c->tested = !(c->source && c->source->others) && tell(c, w) >= FLEET_LEAST_HOSTS;
	if (c->tested)
		t = w->pairs ? test_pairs(w) : test_groups(w, d, c);
	c->p = c->q = t.p;
	c->verdict = judge(c, t.side);
	for (int g = 0; g < 2; g++)
		memset(w->ns[g], 0, w->f->nhosts * sizeof(*w->ns[g]));
	return isnan(t.p) ? -ENOMEM : 0;
}

static int total_make(struct fleet_diff *d, struct work *w)
{
	int err;

	for (uint32_t i = 0; i < w->f->recordings; i++)
		w->ns[group_of(w, i)][w->f->window[i].host] += (double)w->f->window[i].lost_ns;
	err = change_make(&d->total, w, d);
	if (!(d->total.p <= FLEET_DISCOVERY))
		d->total.verdict = DIFF_SAME;
	return err;
}

/* ---- all sources ---- */

static double difference(const struct fleet_change *c)
{
	return fabs(c->share[1] - c->share[0]);
}

static int by_difference(const void *a, const void *b)
{
	const struct fleet_change *x = a, *y = b;
	bool same_x = x->verdict == DIFF_SAME, same_y = y->verdict == DIFF_SAME;
	double p = difference(x), q = difference(y);

	if (same_x != same_y)
		return same_x - same_y;
	if (p < q || p > q)
		return (p < q) - (p > q);
	if (x->source->kind != y->source->kind)
		return x->source->kind > y->source->kind ? 1 : -1;
	return strcmp(x->source->name, y->source->name);
}

/* Rates of discoveries, over the sources that were tested, and what follows. */
static int discover(struct fleet_diff *d, double *p)
{
	uint32_t n = 0;
	int err;

	for (uint32_t i = 0; i < d->nchanges; i++)
		if (d->change[i].tested)
			p[n++] = d->change[i].p;
	err = rank_test_discover(p, n);
	d->tested = n;
	n = 0;
	for (uint32_t i = 0; i < d->nchanges; i++) {
		struct fleet_change *c = &d->change[i];

		if (c->tested)
			c->q = p[n++];
		if (c->tested && c->q <= FLEET_DISCOVERY)
			d->changed++;
		else
			c->verdict = DIFF_SAME;
	}
	return err;
}

static int sources_make(struct fleet_diff *d, struct work *w)
{
	double *p = calloc(w->f->nsources + 1UL, sizeof(*p));
	int err = p ? 0 : -ENOMEM;

	d->change = calloc(w->f->nsources + 1UL, sizeof(*d->change));
	if (!d->change)
		err = -ENOMEM;
	for (uint32_t s = 0; s < w->f->nsources && !err; s++) {
		const struct fleet_source *from = &w->f->source[s];
		struct fleet_change *c = &d->change[d->nchanges];

		for (uint32_t i = 0; i < from->ncells; i++) {
			uint32_t recording = from->cell[i].recording;

			w->ns[group_of(w, recording)][w->f->window[recording].host] +=
				(double)from->cell[i].ns;
		}
		c->source = from;
		err = change_make(c, w, d);
		if (c->hosts[0] + c->hosts[1]) {
			d->nchanges++;
			d->others += from->others;
		}
	}
	if (!err)
		err = discover(d, p);
	if (!err)
		qsort(d->change, d->nchanges, sizeof(*d->change), by_difference);
	free(p);
	return err;
}

int fleet_diff_make(struct fleet_diff *d, const struct fleet *f, uint32_t first)
{
	struct work w = {.f = f, .first = first};
	int err = work_init(&w);

	*d = (struct fleet_diff){0};
	if (!err)
		err = choose_hosts(d, &w);
	if (!err)
		err = common_make(&d->kernel, &w, COMMON_KERNEL);
	if (!err)
		err = common_make(&d->blind, &w, COMMON_BLIND);
	if (!err)
		err = total_make(d, &w);
	if (!err)
		err = sources_make(d, &w);
	work_free(&w);
	return err;
}

void fleet_diff_free(struct fleet_diff *d)
{
	free(d->change);
	*d = (struct fleet_diff){0};
}

bool fleet_worse_by(const struct fleet_diff *d, double percent)
{
	return (d->total.verdict == DIFF_WORSE || d->total.verdict == DIFF_NEW) &&
	       d->total.share[1] > d->total.share[0] * (1 + percent / 100);
}
