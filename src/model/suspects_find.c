/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/suspects.h"

/* A thread, or all threads of a name. */
struct tally {
	uint32_t there;
	double in_hand, shares; /* share of the stop in hand; sum */
	bool here;              /* at the stop in hand */
	bool tried;             /* is a candidate */
};

struct finding_suspects {
	struct tally *alone, *named; /* by thread; by the first thread of its name */
	uint32_t *first;             /* the first thread of each one's name */
	uint32_t judged;
	uint64_t candidates;
};

static void end_stop(struct tally *t)
{
	t->shares += t->in_hand < 1 ? t->in_hand : 1;
	t->there += t->here;
	t->in_hand = 0;
	t->here = false;
}

static void take(struct tally *t, const struct stop_part *p)
{
	t->in_hand += (double)p->share / SUSPECT_WHOLE;
	t->here |= p->there;
}

static void take_stop(struct finding_suspects *f, const struct suspects *s, const struct stop *row)
{
	double rest = (double)row->rest / SUSPECT_WHOLE;

	f->judged++;
	for (uint32_t i = 0; i < row->nparts; i++) {
		const struct stop_part *p = &row->part[i];

		take(&f->alone[p->who], p);
		take(&f->named[f->first[p->who]], p);
	}
	for (uint32_t k = 0; k < s->nthreads; k++) {
		f->alone[k].in_hand += rest;
		f->named[k].in_hand += rest;
		end_stop(&f->alone[k]);
		end_stop(&f->named[k]);
	}
}

static double chance_of(uint32_t there, uint32_t of, double share)
{
	double x = (double)there / of, d;

	if (x <= share || share <= 0)
		return x <= share ? 1 : 0;
	d = x * log(x / share);
	if (x < 1)
		d += (1 - x) * log((1 - x) / (1 - share));
	return exp(-(double)of * d);
}

static void judge(const struct finding_suspects *f, const struct tally *t, uint32_t n, bool several,
		  struct suspect *out)
{
	for (uint32_t k = 0; k < n && f->judged >= SUSPECT_STOPS; k++) {
		double share = t[k].shares / f->judged;
		double chance = chance_of(t[k].there, f->judged, share) * f->candidates;

		if (!t[k].tried || t[k].there < SUSPECT_THERE * f->judged || share > SUSPECT_ELSE ||
		    chance > SUSPECT_CHANCE)
			continue;
		out->as_good += out->named;
		if (out->named && out->chance <= chance)
			continue;
		out->named = true;
		out->several = several;
		out->who = k;
		out->there = t[k].there;
		out->share = share;
		out->chance = chance;
	}
}

/* Groups the threads by their names. */
static void group(struct finding_suspects *f, const struct suspects *s)
{
	f->candidates = s->nthreads + s->more;
	for (uint32_t k = 0; k < s->nthreads; k++) {
		uint32_t i = 0;

		while (s->thread[i].kernel_thread != s->thread[k].kernel_thread ||
		       memcmp(s->thread[i].comm, s->thread[k].comm, sizeof(s->thread[k].comm)))
			i++;
		f->first[k] = i;
		f->alone[k].tried = true;
		if (i == k || f->named[i].tried)
			continue;
		f->named[i].tried = true;
		f->candidates++;
	}
}

static bool is_named(const struct finding_suspects *f, const struct suspect *x, uint32_t who)
{
	return x->several ? f->first[who] == x->who : who == x->who;
}

/* Tells where it was, how much around the stops, and in which system call. */
static void describe(const struct finding_suspects *f, const struct suspects *s,
		     struct suspect *out)
{
	double around = 0, in = 0;
	bool placed = false;

	for (uint32_t i = 0; i < s->nrows; i++) {
		const struct stop *row = &s->row[i];

		around += row->cell_ns ? row->cell_ns - (row->end_ns - row->start_ns) : 0;
		for (uint32_t k = 0; k < row->nparts && row->cell_ns; k++) {
			const struct stop_part *p = &row->part[k];
			double ns = (double)p->share / SUSPECT_WHOLE * row->cell_ns;

			if (!is_named(f, out, p->who))
				continue;
			in += p->there ? fmax(ns - (row->end_ns - row->start_ns) -
						      suspects_tolerance(row),
					      0)
				       : ns;
			if (!p->there)
				continue;
			out->cpu = !placed || out->cpu == p->cpu ? p->cpu : UINT32_MAX;
			placed = true;
			out->call_known += p->call != 0;
			out->call = out->call_known == 1 && p->call ? p->call : out->call;
			out->call_there += p->call && p->call == out->call;
		}
	}
	out->elsewhere = around > 0 ? fmin(in / around, 1) : 0;
	if (out->call < 2 || out->call_there < SUSPECT_THERE * out->call_known)
		out->call = 0;
}

int suspects_find(const struct suspects *s, struct suspect *out)
{
	struct finding_suspects f = {
		.alone = calloc(s->nthreads + 1, sizeof(*f.alone)),
		.named = calloc(s->nthreads + 1, sizeof(*f.named)),
		.first = calloc(s->nthreads + 1, sizeof(*f.first)),
	};
	int err = f.alone && f.named && f.first ? 0 : -ENOMEM;

	memset(out, 0, sizeof(*out));
	if (!err) {
		group(&f, s);
		for (uint32_t i = 0; i < s->nrows; i++)
			if (s->row[i].cell_ns)
				take_stop(&f, s, &s->row[i]);
		judge(&f, f.alone, s->nthreads, false, out);
		if (!out->named && !s->more) /* some of a name may be missing */
			judge(&f, f.named, s->nthreads, true, out);
		out->of = f.judged;
		if (out->named)
			describe(&f, s, out);
	}
	free(f.alone);
	free(f.named);
	free(f.first);
	return err;
}
