/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measurements of workloads, side by side: the percentiles of each series, of all CPUs and all
 * recordings of a side together, with the ratio to the first side's.
 *
 * The interval of a ratio is, where the sides were recorded in turn, Student's of the logarithms of
 * each recording's percentile, with Welch's degrees of freedom, and includes 1 unless all
 * recordings of one side lie above all of the other's; then the ratio is that of the geometric
 * means. Else it is made of the two percentiles' own intervals, which are values of the ranks
 * between which the percentile lies by the binomial distribution (W. J. Conover, Practical
 * Nonparametric Statistics, 3.2), put together by Zou and Donner's rule (Statistics in Medicine 27
 * (2008) 1693-1702) and made wider by the factor that two windows may differ by. A maximum is one
 * value: no rank lies above it, and a single stall makes it, or many values beside it (messages
 * that wait, periods that are late), so that to count those above the other side's maximum tells no
 * more. It has an interval and a verdict only where recordings were made in turn.
 *
 * Better or worse is what the interval says when it is wide enough to be right for all figures at
 * once 95 times in 100 (Bonferroni), and by 1 % at least, which is what the histograms can tell.
 * Larger is worse.
 */
#ifndef CULPRIT_DIFF_SERIES_H
#define CULPRIT_DIFF_SERIES_H

#include "model/ratio.h"
#include "model/series.h"

enum diff_figure { FIGURE_P50, FIGURE_P90, FIGURE_P99, FIGURE_P999, FIGURE_MAX, DIFF_FIGURES };

struct diff;

/* One figure in one side. */
struct diff_value {
	uint64_t value;     /* in the series' unit; 0 where it has no values */
	struct ratio ratio; /* to the first side; NAN, 0, INFINITY: none */
	int verdict;        /* enum diff_verdict; -1: none */
};

struct diff_series {
	char name[SERIES_NAME];
	bool fine;       /* ps, else ns */
	uint64_t *count; /* owned: of each side */
	struct diff_value (*side)[DIFF_FIGURES];
};

/* "median" "p90" "p99" "p99.9" "max" */
const char *diff_figure_name(enum diff_figure figure);

/* Part of diff_make: fills d->series, behind d->in_turn. 0 or -ENOMEM. */
int diff_take_series(struct diff *d);
void diff_free_series(struct diff *d);

/* True when the value is more than `percent` above the first side's, and the verdict, which knows
 * how many figures there are, is worse. */
bool diff_value_worse_by(const struct diff_value *v, double percent);

/* True when it is as much above, and nothing tells whether that is chance: a maximum of recordings
 * that were not made in turn. */
bool diff_value_not_judged(const struct diff_value *v, double percent);

#endif
