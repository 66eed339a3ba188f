/* The numbers of one cell, and how two differ. */
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

/* The value that stands for a bucket's. */
static double middle_of(const struct hist *h, uint32_t bucket)
{
	double middle = 0.5 * ((double)hist_lowest(h, bucket) + (double)hist_highest(h, bucket));

	if (middle < (double)h->min)
		return h->min;
	return middle > (double)h->max ? (double)h->max : middle;
}

void cell_fill(const struct diff *d, struct diff_cell *c, const struct tally *t, double seconds)
{
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
	for (uint32_t i = 0; i < t->net.nbuckets; i++)
		if (t->net.bucket[i])
			c->bin[bin_of(d, middle_of(&t->net, i))] += t->net.bucket[i];
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

struct one {
	struct ratio_sum count, time;
};

/* Variances: see diff.h. A view that no hiccups were added to one by one has no slices: then each interval is an event by itself. */
static struct one weigh(const struct tally *t, const struct view *v)
{
	double count = t->count + t->lost, total = t->net.sum + t->lost_ns, squares = 0, at_once = 1, seconds = 0;
	struct slices_scatter scatter;
	uint64_t window_ns = 0;
	struct one s;

	for (uint32_t i = 0; i < v->summary.ncpus; i++) {
		window_ns = v->cpu[i].observed_ns > window_ns ? v->cpu[i].observed_ns : window_ns;
		seconds += v->cpu[i].observed_ns / 1e9;
	}
	scatter = slices_scatter(&t->slices, v->run.started_ns, window_ns);
	for (uint32_t i = 0; i < t->net.nbuckets; i++)
		squares += t->net.bucket[i] * pow(middle_of(&t->net, i), 2);
	squares = larger(squares, t->slices.squares);
	if (t->lost) /* as lengths that come by chance have */
		squares += 2 * (double)t->lost_ns * t->lost_ns / t->lost;
	if (t->hiccups && t->count > t->hiccups)
		at_once = (double)t->count / t->hiccups;
	s.count =
		(struct ratio_sum){count, larger(count * at_once, scatter.count * at_once * at_once), at_once, seconds};
	s.time =
		(struct ratio_sum){total, larger(squares, scatter.sum), larger(t->net.max, t->slices.largest), seconds};
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

/* The sum's variance, as the recordings differ from what an even share would be. */
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

/* By how much a variance of few recordings is larger, that Student's t makes of it. Welch's degrees of freedom, of the logarithms: what has
 * none is as certain as the other. */
static double student(const struct side_sum *a, const struct side_sum *b, double alpha)
{
	double va = a->sum.sum > 0 ? a->between / pow(a->sum.sum, 2) : 0, df = a->n + b->n - 2;
	double vb = b->sum.sum > 0 ? b->between / pow(b->sum.sum, 2) : 0;

	if (va + vb > 0)
		df = pow(va + vb, 2) / (va * va / (a->n - 1) + vb * vb / (b->n - 1));
	return df * beta_odds(1 - alpha, 0.5, df / 2) / (1e9 * beta_odds(1 - alpha, 0.5, 0.5e9));
}

static struct ratio_sum with_between(const struct side_sum *s, double times)
{
	struct ratio_sum r = s->sum;

	r.variance = larger(r.variance, times * s->between);
	if (r.sum > 0)
		r.jump = larger(r.jump, r.variance / r.sum);
	return r;
}

/* The ratio as chance alone has it, or with what the recordings of each side differ by. */
static struct ratio compare(const struct side_sum *before, const struct side_sum *after, bool in_turn, double alpha)
{
	double times = in_turn ? student(before, after, alpha) : 1;
	struct ratio_sum a = with_between(before, times), b = with_between(after, times);
	struct ratio r = {NAN, 0, INFINITY};

	if (!(a.sum > 0) && !(b.sum > 0))
		return r;
	r = ratio_of(&a, &b, alpha);
	if (in_turn && before->high >= after->low && r.low > 1)
		r.low = 1;
	if (in_turn && after->high >= before->low && r.high < 1)
		r.high = 1;
	return r;
}

static struct ratio widen(struct ratio r, double factor)
{
	return (struct ratio){r.value, r.low / factor, r.high * factor};
}

static bool negligible(const struct diff *d, uint32_t k, const struct diff_cell *before, const struct diff_cell *after)
{
	const struct diff_cell *all = &d->total[0], *all_k = &d->total[k];
	uint64_t longest = before->max_ns > after->max_ns ? before->max_ns : after->max_ns;

	if (fabs(after->ns_per_s - before->ns_per_s) >= NEGLIGIBLE * larger(all->ns_per_s, all_k->ns_per_s))
		return false;
	if (before == all)
		return true;
	if ((!before->count || !after->count) && before->count + after->count >= DIFF_THOUSAND)
		return false;
	return longest <= all->p99_ns && longest <= all_k->p99_ns;
}

static enum diff_verdict judge(const struct sums *before, const struct sums *after, bool in_turn, double factor,
			       double alpha)
{
	struct ratio r;

	if (!(before->time.sum.sum > 0) || !(after->time.sum.sum > 0)) {
		r = widen(compare(&before->count, &after->count, in_turn, alpha), factor);
		return r.high < 1 ? DIFF_GONE : r.low > 1 ? DIFF_NEW : DIFF_SAME;
	}
	r = widen(compare(&before->time, &after->time, in_turn, alpha), factor);
	return r.high < 1 ? DIFF_BETTER : r.low > 1 ? DIFF_WORSE : DIFF_SAME;
}

/* Any program may come between two ordinary samplers' windows; where all had a real-time priority few can. */
static bool ordinary(const struct diff_side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!s->view[i]->run.real_time)
			return true;
	return false;
}

/* The other sides' cells against the first's. */
void cells_compare(const struct diff *d, struct diff_cell *cell, const struct sums *sums, uint32_t sources)
{
	cell[0].count_ratio = cell[0].time_ratio = (struct ratio){NAN, 0, INFINITY};
	for (uint32_t k = 1; k < d->n; k++) {
		const struct sums *a = &sums[0], *b = &sums[k];
		bool in_turn = d->in_turn[k], few = cell[0].count < DIFF_THOUSAND && cell[k].count < DIFF_THOUSAND;
		double factor = in_turn ? 1 : d->between;

		few &= ordinary(&d->side[0]) || ordinary(&d->side[k]);

		cell[k].count_ratio = widen(compare(&a->count, &b->count, in_turn, ALPHA), factor);
		cell[k].time_ratio = widen(compare(&a->time, &b->time, in_turn, ALPHA), factor);
		if (negligible(d, k, &cell[0], &cell[k]))
			continue;
		cell[k].verdict = judge(a, b, in_turn, factor, ALPHA / sources);
		if (factor > 1 && few && cell != d->total)
			cell[k].verdict = DIFF_SAME;
		if (!cell[k].verdict && factor > 1 && judge(a, b, in_turn, 1, ALPHA / sources))
			cell[k].verdict = DIFF_UNCLEAR;
	}
}

/* ---- tallies ---- */

static void tally_clear(struct tally *t)
{
	hist_reset(&t->net);
	t->count = t->hiccups = t->lost = t->lost_ns = 0;
	t->slices = (struct slices){0};
}

void tallies_free(struct tallies *t)
{
	for (uint32_t i = 0; t && i < t->n; i++)
		hist_free(&t->one[i].net);
	if (t)
		hist_free(&t->all.net);
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
