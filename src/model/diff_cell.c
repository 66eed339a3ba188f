/* The numbers of one cell, and how two differ. */
#include "model/diff_cell.h"

#include <math.h>

#define ALPHA      0.05
#define NEGLIGIBLE 0.01

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {"same", "gone", "new", "better", "worse"};

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

/* Variances: see diff.h. A view that no hiccups were added to one by one has no slices: then each interval is an event by itself. */
struct sums cell_weigh(const struct tally *t, const struct view *v, double seconds)
{
	double count = t->count + t->lost, total = t->net.sum + t->lost_ns, squares = 0, at_once = 1;
	struct slices_scatter scatter;
	uint64_t window_ns = 0;
	struct sums s;

	for (uint32_t i = 0; i < v->summary.ncpus; i++)
		window_ns = v->cpu[i].observed_ns > window_ns ? v->cpu[i].observed_ns : window_ns;
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
	if (count > 0)
		s.count.jump = larger(s.count.jump, s.count.variance / count);
	if (total > 0)
		s.time.jump = larger(s.time.jump, s.time.variance / total);
	return s;
}

static struct ratio compare(const struct ratio_sum *before, const struct ratio_sum *after, double alpha)
{
	if (before->sum > 0 || after->sum > 0)
		return ratio_of(before, after, alpha);
	return (struct ratio){NAN, 0, INFINITY};
}

static bool negligible(const struct diff *d, uint32_t k, const struct diff_cell *before, const struct diff_cell *after)
{
	const struct diff_cell *all = &d->total[0], *all_k = &d->total[k];
	uint64_t longest = before->max_ns > after->max_ns ? before->max_ns : after->max_ns;

	if (fabs(after->ns_per_s - before->ns_per_s) >= NEGLIGIBLE * larger(all->ns_per_s, all_k->ns_per_s))
		return false;
	return before == all || (longest <= all->p99_ns && longest <= all_k->p99_ns);
}

static enum diff_verdict judge(const struct sums *before, const struct sums *after, double alpha)
{
	struct ratio r;

	if (!(before->time.sum > 0) || !(after->time.sum > 0)) {
		r = compare(&before->count, &after->count, alpha);
		return r.high < 1 ? DIFF_GONE : r.low > 1 ? DIFF_NEW : DIFF_SAME;
	}
	r = compare(&before->time, &after->time, alpha);
	return r.high < 1 ? DIFF_BETTER : r.low > 1 ? DIFF_WORSE : DIFF_SAME;
}

/* The other files' cells against the first's. */
void cells_compare(const struct diff *d, struct diff_cell *cell, const struct sums *sums, uint32_t sources)
{
	cell[0].count_ratio = cell[0].time_ratio = (struct ratio){NAN, 0, INFINITY};
	for (uint32_t k = 1; k < d->n; k++) {
		cell[k].count_ratio = compare(&sums[0].count, &sums[k].count, ALPHA);
		cell[k].time_ratio = compare(&sums[0].time, &sums[k].time, ALPHA);
		if (!negligible(d, k, &cell[0], &cell[k]))
			cell[k].verdict = judge(&sums[0], &sums[k], ALPHA / sources);
	}
}

void tally_clear(struct tally *t)
{
	hist_reset(&t->net);
	t->count = t->hiccups = t->lost = t->lost_ns = 0;
	t->slices = (struct slices){0};
}

bool diff_worse_by(const struct diff *d, uint32_t file, double percent)
{
	const struct ratio *r = &d->total[file].time_ratio;

	return r->low > 1 && r->value > 1 + percent / 100;
}
