/* All sources of all files go into one list, which is sorted by what they are called: those that follow each other under one name are a row.
 * One histogram is enough, as each cell keeps only what it was asked for. */
#include "model/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA        0.05
#define NEGLIGIBLE   0.01
#define LOW_LEAST_NS 10 /* shorter ones are in the first bin, too */

struct entry {
	enum source_kind kind;
	char name[DIFF_NAME];
	const char *function; /* NULL: not known */
	uint32_t file;
	const struct source *source;
};

/* What one file has of a source, or of all hiccups. */
struct tally {
	struct hist net;
	uint64_t hiccups;
	uint64_t lost, lost_ns; /* not recorded */
	struct slices slices;
};

/* The same, ready to be compared. */
struct sums {
	struct ratio_sum count, time;
};

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {"same", "gone", "new", "better", "worse"};

	return names[verdict];
}

/* ---- one list of all sources ---- */

/* Without what a compiler adds to a function that it made another of: "tick_sched_do_timer.isra.0" is another's tick_sched_do_timer. */
static size_t function_len(const char *function)
{
	static const char *const added[] = {".isra.", ".constprop.", ".part.", ".cold", ".llvm."};
	size_t n = strlen(function);

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		const char *at = strstr(function, added[i]);

		if (at && at > function && (size_t)(at - function) < n)
			n = at - function;
	}
	return n;
}

static int function_order(const char *a, const char *b)
{
	size_t na, nb;
	int order;

	if (!a || !b)
		return !!a - !!b;
	na = function_len(a);
	nb = function_len(b);
	order = strncmp(a, b, na < nb ? na : nb);
	return order ? order : (na > nb) - (na < nb);
}

static int same_row(const struct entry *x, const struct entry *y)
{
	int order;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : function_order(x->function, y->function);
}

static int by_row(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = same_row(x, y);

	if (order)
		return order;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return 0;
}

static bool has_any(const struct source *s)
{
	return s->net.count || s->net.sum;
}

static uint32_t count_sources(const struct diff *d)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t i = 0; i < d->view[k]->summary.ncpus; i++)
			n += d->view[k]->summary.cpu[i].sources.count;
	return n;
}

/* Fills entry[], sorted; returns how many. */
static uint32_t list_sources(const struct diff *d, struct entry *entry)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t i = 0; i < d->view[k]->summary.ncpus; i++) {
			const struct sources *t = &d->view[k]->summary.cpu[i].sources;

			for (uint32_t r = 0; r < t->count; r++) {
				const struct source *s = t->row[r];

				if (!has_any(s))
					continue;
				entry[n] = (struct entry){
					.kind = s->kind, .function = s->function, .file = k, .source = s};
				diff_name(s, d->same_cpus, entry[n].name);
				n++;
			}
		}
	qsort(entry, n, sizeof(*entry), by_row);
	return n;
}

/* ---- numbers of one cell ---- */

static void widen(struct diff *d, const struct hist *h)
{
	uint64_t low = h->min > LOW_LEAST_NS ? h->min : LOW_LEAST_NS;

	if (!h->count)
		return;
	if (!d->high_ns || low < d->low_ns)
		d->low_ns = low;
	if (h->max > d->high_ns)
		d->high_ns = h->max;
	if (d->low_ns > d->high_ns)
		d->high_ns = d->low_ns;
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

static void fill_cell(const struct diff *d, struct diff_cell *c, const struct tally *t, double seconds)
{
	c->count = t->net.count + t->lost;
	c->total_ns = t->net.sum + t->lost_ns;
	c->p50_ns = hist_percentile(&t->net, 50);
	c->p99_ns = hist_percentile(&t->net, 99);
	c->p999_ns = hist_percentile(&t->net, 99.9);
	c->max_ns = t->net.max;
	c->per_s = c->count / seconds;
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
static struct sums weigh(const struct tally *t, const struct view *v, double seconds)
{
	double count = t->net.count + t->lost, total = t->net.sum + t->lost_ns, squares = 0, at_once = 1;
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
	if (t->hiccups && t->net.count > t->hiccups)
		at_once = (double)t->net.count / t->hiccups;
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

/* The other files' cells against the first's. alpha: of the verdict. */
static void compare_cells(const struct diff *d, struct diff_cell *cell, const struct sums *sums, double alpha)
{
	cell[0].count_ratio = cell[0].time_ratio = (struct ratio){NAN, 0, INFINITY};
	for (uint32_t k = 1; k < d->n; k++) {
		cell[k].count_ratio = compare(&sums[0].count, &sums[k].count, ALPHA);
		cell[k].time_ratio = compare(&sums[0].time, &sums[k].time, ALPHA);
		if (!negligible(d, k, &cell[0], &cell[k]))
			cell[k].verdict = judge(&sums[0], &sums[k], alpha);
	}
}

static void clear(struct tally *t)
{
	hist_reset(&t->net);
	t->hiccups = t->lost = t->lost_ns = 0;
	t->slices = (struct slices){0};
}

/* ---- all hiccups ---- */

static int compare_totals(struct diff *d)
{
	struct sums sums[DIFF_FILES] = {0};
	struct tally t = {0};

	if (hist_init(&t.net, d->view[0]->summary.cpu[0].hiccups.bits))
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct view *v = d->view[k];

		clear(&t);
		for (uint32_t i = 0; i < v->summary.ncpus; i++) {
			const struct cpu_summary *c = &v->summary.cpu[i];

			hist_merge(&t.net, &c->hiccups);
			slices_merge(&t.slices, &c->slices);
			t.hiccups += c->hiccups.count;
			t.lost += v->cpu[i].hiccups_lost;
			t.lost_ns += v->cpu[i].hiccups_lost_ns;
			d->attributed_ns[k] += c->attributed_ns;
			d->edge_ns[k] += c->edge_ns;
			d->outside_ns[k] += c->outside_ns;
		}
		fill_cell(d, &d->total[k], &t, d->seconds[k]);
		sums[k] = weigh(&t, v, d->seconds[k]);
	}
	compare_cells(d, d->total, sums, ALPHA);
	hist_free(&t.net);
	return 0;
}

/* ---- sources ---- */

static int by_rank(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	if (x->changed != y->changed)
		return x->changed ? -1 : 1;
	if (x->rank_ns != y->rank_ns)
		return x->rank_ns < y->rank_ns ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->name, y->name) ? strcmp(x->name, y->name) : function_order(x->function, y->function);
}

/* Fills a row from the entries of its name, which begin at *at and are in the order of files. */
static int fill_row(struct diff *d, struct diff_row *row, const struct entry **at, const struct entry *end,
		    struct tally *t)
{
	const struct entry *first = *at;
	struct sums sums[DIFF_FILES];

	row->kind = first->kind;
	memcpy(row->name, first->name, sizeof(row->name));
	if (first->function && !(row->function = strndup(first->function, function_len(first->function))))
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++) {
		clear(t);
		for (; *at < end && (*at)->file == k && !same_row(*at, first); ++*at) {
			const struct source *s = (*at)->source;

			hist_merge(&t->net, &s->net);
			slices_merge(&t->slices, &s->slices);
			t->hiccups += s->hiccups;
		}
		fill_cell(d, &row->cell[k], t, d->seconds[k]);
		sums[k] = weigh(t, d->view[k], d->seconds[k]);
	}
	compare_cells(d, row->cell, sums, ALPHA / d->rows);
	for (uint32_t k = 1; k < d->n; k++)
		row->changed |= row->cell[k].verdict != DIFF_SAME;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct diff_cell *c = &row->cell[k];
		double change = fabs(c->ns_per_s - row->cell[0].ns_per_s);

		row->rank_ns = larger(row->rank_ns, row->changed ? change : c->ns_per_s);
	}
	return 0;
}

static int compare_rows(struct diff *d, const struct entry *entry, uint32_t n)
{
	const struct entry *at = entry, *end = entry + n;
	struct tally t = {0};
	int err;

	for (uint32_t i = 0; i < n; i++)
		d->rows += !i || same_row(&entry[i - 1], &entry[i]);
	d->row = calloc(d->rows + 1, sizeof(*d->row));
	err = d->row && !hist_init(&t.net, n ? entry[0].source->net.bits : 1) ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < d->rows; i++)
		err = fill_row(d, &d->row[i], &at, end, &t);
	hist_free(&t.net);
	if (!err)
		qsort(d->row, d->rows, sizeof(*d->row), by_rank);
	return err;
}

static int compare_sources(struct diff *d)
{
	struct entry *entry = calloc(count_sources(d) + 1, sizeof(*entry));
	int err = entry ? compare_rows(d, entry, list_sources(d, entry)) : -ENOMEM;

	free(entry);
	return err;
}

/* ---- all of it ---- */

static bool cpus_alike(const struct view *a, const struct view *b)
{
	if (a->summary.ncpus != b->summary.ncpus)
		return false;
	for (uint32_t i = 0; i < a->summary.ncpus; i++)
		if (a->summary.cpu[i].cpu != b->summary.cpu[i].cpu)
			return false;
	return true;
}

static void take_view(struct diff *d, uint32_t k, const struct view *v)
{
	d->view[k] = v;
	d->traced &= v->run.traced;
	d->same_cpus &= cpus_alike(d->view[0], v);
	for (uint32_t i = 0; i < v->summary.ncpus; i++) {
		const struct sources *t = &v->summary.cpu[i].sources;

		d->seconds[k] += v->cpu[i].observed_ns / 1e9;
		widen(d, &v->summary.cpu[i].hiccups);
		for (uint32_t r = 0; r < t->count; r++)
			widen(d, &t->row[r]->net);
	}
}

int diff_make(struct diff *d, const struct view *const *views, uint32_t n)
{
	int err;

	memset(d, 0, sizeof(*d));
	d->n = n;
	d->traced = d->same_cpus = true;
	for (uint32_t k = 0; k < n; k++)
		take_view(d, k, views[k]);
	if (!d->high_ns)
		d->low_ns = d->high_ns = LOW_LEAST_NS;
	err = compare_totals(d);
	if (!err && d->traced)
		err = compare_sources(d);
	return err ? err : diff_environment(d);
}

void diff_free(struct diff *d)
{
	for (uint32_t i = 0; d->row && i < d->rows; i++)
		free(d->row[i].function);
	for (uint32_t i = 0; i < d->facts; i++) {
		free(d->fact[i].what);
		for (uint32_t k = 0; k < d->n; k++)
			free(d->fact[i].value[k]);
	}
	free(d->row);
	free(d->fact);
	memset(d, 0, sizeof(*d));
}

bool diff_worse_by(const struct diff *d, uint32_t file, double percent)
{
	const struct ratio *r = &d->total[file].time_ratio;

	return r->low > 1 && r->value > 1 + percent / 100;
}
