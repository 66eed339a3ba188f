/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers of one cell, and how two cells differ. */
#include "model/diff_cell.h"

#include <math.h>
#include <stdlib.h>

#define ALPHA      0.05
#define NEGLIGIBLE 0.01

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {"same", "unclear", "gone", "new", "better", "worse"};

	return names[verdict];
}

double diff_bin_ns(const struct diff *d, unsigned bin)
{
	return d->low_ns * pow((double)d->high_ns / (double)d->low_ns, (double)bin / DIFF_BINS);
}

static unsigned bin_of(const struct diff *d, double ns)
{
	double at;

	if (ns <= d->low_ns || d->low_ns == d->high_ns)
		return 0;
	at = DIFF_BINS * log(ns / (double)d->low_ns) / log((double)d->high_ns / (double)d->low_ns);
	return at < DIFF_BINS ? (unsigned)at : DIFF_BINS - 1;
}

/* The value that stands for a bucket's values. */
static double middle_of(const struct hist *h, uint32_t bucket)
{
	double middle = 0.5 * ((double)hist_lowest(h, bucket) + (double)hist_highest(h, bucket));

	if (middle < (double)h->min)
		return h->min;
	return middle > (double)h->max ? (double)h->max : middle;
}

void cell_fill(const struct diff *d, struct diff_cell *c, const struct tally *t, double seconds)
{
	const struct hist *h = &t->net;

	c->count = t->count + t->lost;
	c->runs = t->net.count + t->lost;
	c->total_ns = t->net.sum + t->lost_ns;
	c->p50_ns = hist_percentile(&t->net, 50);
	c->p99_ns = hist_percentile(&t->net, 99);
	c->p999_ns = hist_percentile(&t->net, 99.9);
	c->max_ns = t->net.max;
	c->per_s = c->count / seconds;
	c->runs_per_s = c->runs / seconds;
	c->ns_per_s = c->total_ns / seconds;
	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1))
		c->bin[bin_of(d, middle_of(h, i))] += hist_at(h, i);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

struct one {
	struct ratio_sum count, time;
};

/* Weighs a tally; for variances see diff.h. A view without hiccups added one by one has no slices:
 * then each interval is an event by itself. */
static struct one weigh(const struct tally *t, const struct view *v)
{
	double count = t->count + t->lost, total = t->net.sum + t->lost_ns, squares = 0,
	       at_once = 1, seconds = diff_observed_ns(v) / 1e9;
	const struct hist *h = &t->net;
	struct slices_scatter scatter;
	uint64_t window_ns = 0;
	struct one s;

	for (uint32_t i = 0; i < v->ncpus; i++)
		if (diff_counts(v, i) && v->cpu[i].observed_ns > window_ns)
			window_ns = v->cpu[i].observed_ns;
	scatter = slices_scatter(&t->slices, v->run.started_ns, window_ns);
	for (uint32_t i = hist_next(h, 0); i < h->nbuckets; i = hist_next(h, i + 1))
		squares += hist_at(h, i) * pow(middle_of(h, i), 2);
	squares = larger(squares, t->slices.squares);
	if (t->lost) /* as lengths that come by chance have */
		squares += 2 * (double)t->lost_ns * t->lost_ns / t->lost;
	if (t->hiccups && t->count > t->hiccups)
		at_once = (double)t->count / t->hiccups;
	s.count = (struct ratio_sum){count,
				     larger(count * at_once, scatter.count * at_once * at_once),
				     at_once, seconds};
	s.time = (struct ratio_sum){total, larger(squares, scatter.sum),
				    larger(t->net.max, t->slices.largest), seconds};
	if (!(s.time.variance > 0)) /* pieces of an interval that has not ended */
		s.time.variance = total * total;
	return s;
}

static void side_add(struct side_sum *s, const struct ratio_sum *r)
{
	double rate = r->sum / r->seconds;

	s->sum.sum += r->sum;
	s->sum.variance += r->variance;
	s->sum.jump = larger(s->sum.jump, r->jump);
	s->sum.seconds += r->seconds;
	s->low = s->n && s->low < rate ? s->low : rate;
	s->high = larger(s->high, rate);
	s->n++;
}

/* Variance of the sum, from the differences of the recordings to an even share. */
static double between(const struct side_sum *s, const struct ratio_sum *r)
{
	double off = r->sum - s->sum.sum * r->seconds / s->sum.seconds;

	return s->n > 1 ? off * off * s->n / (s->n - 1) : 0;
}

struct sums cell_weigh(const struct tally *t, const struct diff_side *side)
{
	struct sums s = {0};

	for (uint32_t i = 0; i < side->n; i++) {
		struct one o = weigh(&t[i], side->view[i]);

		side_add(&s.count, &o.count);
		side_add(&s.time, &o.time);
	}
	for (uint32_t i = 0; i < side->n; i++) {
		struct one o = weigh(&t[i], side->view[i]);

		s.count.between += between(&s.count, &o.count);
		s.time.between += between(&s.time, &o.time);
	}
	return s;
}

/* ---- two sides ---- */

/* A side's rate and its variance. */
struct rate {
	double mean, variance, df;
};

/* A side without any events shows no variance: it may be one jump of the other's. */
static struct rate rate_of(const struct side_sum *s, double jump)
{
	double variance = larger(s->sum.variance, s->between), second = s->sum.seconds;

	if (!(s->sum.sum > 0))
		variance = jump * jump;
	return (struct rate){s->sum.sum / second, variance / (second * second), s->n - 1};
}

/* Student's t, squared, of a difference with Welch's degrees of freedom. */
static double t_squared(const struct rate *a, const struct rate *b, double alpha)
{
	double df = pow(a->variance + b->variance, 2) /
		    (pow(a->variance, 2) / a->df + pow(b->variance, 2) / b->df);

	return df * beta_odds(1 - alpha, 0.5, df / 2);
}

/* Compares by the recordings of both sides: Fieller's interval for the ratio of two means (E. C.
 * Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16
 * (1954) 175-185): all ratios r for which after - r before may be 0. It has no upper end where
 * before may be 0, and includes 1 unless all recordings of one side lie above all of the other's.
 */
static struct ratio compare_in_turn(const struct side_sum *before, const struct side_sum *after,
				    double alpha)
{
	double jump = larger(before->sum.jump, after->sum.jump);
	struct rate a = rate_of(before, jump), b = rate_of(after, jump);
	double t2 = t_squared(&a, &b, alpha), square = a.mean * a.mean - t2 * a.variance;
	double rest = b.mean * b.mean - t2 * b.variance, product = a.mean * b.mean;
	double root = sqrt(larger(product * product - square * rest, 0));
	struct ratio r = {b.mean / a.mean, 0, INFINITY};

	if (square > 0)
		r.high = (product + root) / square;
	if (rest > 0 && square != 0)
		r.low = (product - root) / square;
	if (before->high >= after->low && r.low > 1)
		r.low = 1;
	if (after->high >= before->low && r.high < 1)
		r.high = 1;
	return r;
}

/* Compares by chance within the windows. */
static struct ratio compare_chance(const struct side_sum *before, const struct side_sum *after,
				   double alpha)
{
	struct ratio_sum a = before->sum, b = after->sum;

	if (a.sum > 0)
		a.jump = larger(a.jump, a.variance / a.sum);
	if (b.sum > 0)
		b.jump = larger(b.jump, b.variance / b.sum);
	return ratio_of(&a, &b, alpha);
}

static struct ratio compare(const struct side_sum *before, const struct side_sum *after,
			    bool in_turn, double alpha)
{
	if (!(before->sum.sum > 0) && !(after->sum.sum > 0))
		return (struct ratio){NAN, 0, INFINITY};
	return in_turn ? compare_in_turn(before, after, alpha)
		       : compare_chance(before, after, alpha);
}

static struct ratio widen(struct ratio r, double factor)
{
	return (struct ratio){r.value, r.low / factor, r.high * factor};
}

/* True for next to none on the other side: little time or much, it has ended. */
static bool ended(const struct diff_cell *some, const struct diff_cell *none)
{
	return none->per_s < some->per_s / 10;
}

static bool negligible(const struct diff *d, uint32_t k, const struct diff_cell *before,
		       const struct diff_cell *after)
{
	const struct diff_cell *all = &d->total[0], *all_k = &d->total[k];
	uint64_t longest = before->max_ns > after->max_ns ? before->max_ns : after->max_ns;

	if (fabs(after->ns_per_s - before->ns_per_s) >=
	    NEGLIGIBLE * larger(all->ns_per_s, all_k->ns_per_s))
		return false;
	if (before == all)
		return true;
	if (ended(before, after) || ended(after, before))
		return false;
	return longest <= all->p99_ns && longest <= all_k->p99_ns;
}

static int direction(struct ratio r)
{
	return r.low > 1 ? 1 : r.high < 1 ? -1 : 0;
}

/* Direction of the change: 1 more, -1 less, 0 may be chance. */
static int judge_time(const struct sums *before, const struct sums *after, bool in_turn,
		      double factor, double alpha)
{
	int time, count;

	if (!in_turn || alpha >= ALPHA) /* only the time counts for all hiccups together */
		return direction(
			widen(compare(&before->time, &after->time, in_turn, alpha), factor));
	time = direction(compare(&before->time, &after->time, true, alpha / 2));
	count = direction(compare(&before->count, &after->count, true, alpha / 2));
	return time                                                                    ? time
	       : count == direction(compare(&before->time, &after->time, true, ALPHA)) ? count
										       : 0;
}

static enum diff_verdict judge(const struct sums *before, const struct sums *after, bool in_turn,
			       double factor, double alpha)
{
	int way;

	if (!(before->time.sum.sum > 0) || !(after->time.sum.sum > 0)) {
		way = direction(
			widen(compare(&before->count, &after->count, in_turn, alpha), factor));
		return way < 0 ? DIFF_GONE : way > 0 ? DIFF_NEW : DIFF_SAME;
	}
	way = judge_time(before, after, in_turn, factor, alpha);
	return way < 0 ? DIFF_BETTER : way > 0 ? DIFF_WORSE : DIFF_SAME;
}

/* Any program may come between the windows of two ordinary samplers; between those with a real-time
 * priority few can. */
static bool ordinary(const struct diff_side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!s->view[i]->run.real_time)
			return true;
	return false;
}

/* Compares the other sides' cells with the first's. */
void cells_compare(const struct diff *d, struct diff_cell *cell, const struct sums *sums,
		   uint32_t sources)
{
	double alpha = ALPHA / (sources ? sources : 1);

	cell[0].count_ratio = cell[0].time_ratio = (struct ratio){NAN, 0, INFINITY};
	for (uint32_t k = 1; k < d->n; k++) {
		const struct sums *a = &sums[0], *b = &sums[k];
		bool in_turn = d->in_turn[k],
		     few = cell[0].count < DIFF_THOUSAND && cell[k].count < DIFF_THOUSAND;
		double factor = in_turn ? 1 : d->between;

		few &= ordinary(&d->side[0]) || ordinary(&d->side[k]);

		cell[k].count_ratio = widen(compare(&a->count, &b->count, in_turn, ALPHA), factor);
		cell[k].time_ratio = widen(compare(&a->time, &b->time, in_turn, ALPHA), factor);
		if (sources && negligible(d, k, &cell[0], &cell[k]))
			continue;
		cell[k].verdict = judge(a, b, in_turn, factor, alpha);
		if (factor > 1 && few && cell != d->total)
			cell[k].verdict = DIFF_SAME;
		if (!cell[k].verdict && factor > 1 && judge(a, b, in_turn, 1, alpha))
			cell[k].verdict = DIFF_UNCLEAR;
	}
}

/* ---- tallies ---- */

static void tally_clear(struct tally *t)
{
	hist_reset(&t->net);
	t->count = t->hiccups = t->lost = t->lost_ns = 0;
	slices_free(&t->slices);
}

static void tally_free(struct tally *t)
{
	hist_free(&t->net);
	slices_free(&t->slices);
}

void tallies_free(struct tallies *t)
{
	for (uint32_t i = 0; t && i < t->n; i++)
		tally_free(&t->one[i]);
	if (t)
		tally_free(&t->all);
	free(t);
}

struct tallies *tallies_new(const struct diff *d, unsigned bits)
{
	struct tallies *t = calloc(1, sizeof(*t));
	uint32_t most = 0;

	for (uint32_t k = 0; k < d->n; k++)
		most = d->side[k].n > most ? d->side[k].n : most;
	if (!t || hist_init(&t->all.net, bits)) {
		free(t);
		return NULL;
	}
	for (; t->n < most; t->n++)
		if (hist_init(&t->one[t->n].net, bits)) {
			tallies_free(t);
			return NULL;
		}
	return t;
}

void tallies_clear(struct tallies *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		tally_clear(&t->one[i]);
	tally_clear(&t->all);
}

void tally_add(struct tally *t, const struct tally *from)
{
	hist_merge(&t->net, &from->net);
	t->count += from->count;
	t->hiccups += from->hiccups;
	t->lost += from->lost;
	t->lost_ns += from->lost_ns;
}

bool diff_worse_by(const struct diff *d, uint32_t side, double percent)
{
	const struct ratio *r = &d->total[side].time_ratio;

	return r->low > 1 && r->value > 1 + percent / 100;
}

void cell_doubt(const struct diff *d, struct diff_cell *c, uint32_t k, bool interval)
{
	bool more = c->verdict == DIFF_NEW || c->verdict == DIFF_WORSE;
	uint32_t less = more ? 0 : k, records = interval == more ? 0 : k;

	if (c->verdict <= DIFF_UNCLEAR || !(d->lossy[less].hiccups || d->lossy[records].records))
		return;
	c->lacking = true;
	c->verdict = DIFF_UNCLEAR;
}
