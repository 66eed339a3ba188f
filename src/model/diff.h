/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two or more sides beside each other, each one recording or several: the same sources paired,
 * everything per second that a CPU, or a watched thread, was observed, and which differences are
 * more than chance. All sides are compared with the first.
 *
 * Sources of all CPUs are paired by kind, name and function, kernel threads apart from others. A
 * number that belongs to one machine or boot is no part of a name: see diff_name(). Each pair has
 * two ratios with 95 % intervals (ratio.h): of the count, and of the time. Their variance is the
 * largest of:
 *
 *   chance   the events of one hiccup count as one event: of times the sum of the squares of what
 *            each hiccup lost to it (compound Poisson), of counts the count times the mean number
 *            in a hiccup
 *   scatter  how far a window's 16 to 32 slices differ (slices.h), for what comes in bursts
 *   between  how far the recordings of a side differ: then the interval is Fieller's, with
 *            Student's t and Welch's degrees of freedom
 *
 * Nothing within a window tells what differs from one window to the next: who else works on the
 * machine, how fast it is. So:
 *
 *   in turn  each side has two recordings or more, and those of the two sides alternate in time:
 *            drift is then in the scatter between them. The interval includes 1 unless all
 *            recordings of one side lie above all of the other's
 *   else     two windows may differ by a factor `between` with nothing changed: the interval is
 *            wider by that factor, and fewer than DIFF_THOUSAND intervals, which any program that
 *            comes or goes makes, tell nothing of a source, unless the samplers had a real-time
 *            priority, which keeps such programs away. DIFF_BETWEEN is an assumption: one
 *            total in 110 pairs of windows of 2 s of an unchanged guest with other work on it
 *            differed by more, see tests/unit/test_diff_between.c
 *
 * The verdict on a source:
 *
 *   gone, new      only the first, or only the other has it
 *   better, worse  it takes less or more time a second. Recorded in turn, also a source whose time
 *                  changed the same way with 95 % and whose count changed so for sure (then each of
 *                  the two is asked with half of the 5 % below)
 *   unclear        not in turn: more than chance within the windows, but two windows may differ by
 *                  that much; and in any case what records, or hiccups, that are missing may have
 *                  made: more where the first side lacks some, less where the other does, and of
 *                  what is in no record the reverse where it is records
 *   same           all others: changes that could be chance, or are negligible
 *
 * Could be chance: the interval includes 1 (for gone and new that of the count) when it is made
 * wide enough to be right for all sources of the side at once 95 times in 100 (Bonferroni: each is
 * 1 - 0.05 / sources). Negligible: the change is under 1 % of the time that the CPUs lose, in
 * intervals of which none is longer than 99 % of the hiccups of both sides, and each side has a
 * tenth of the other's or more: what ended is not the same, however little it cost. All hiccups
 * together are one source: the same rules give the verdict, negligible being 1 %.
 */
#ifndef CULPRIT_DIFF_H
#define CULPRIT_DIFF_H

#include "model/diff_series.h"
#include "model/ratio.h"
#include "model/view.h"

#define DIFF_FILES        8  /* sides */
#define DIFF_RECORDINGS   64 /* recordings of all sides */
#define DIFF_UNLIKE_SHOWN 8  /* differences shown between the recordings of a side */
#define DIFF_BETWEEN      3.0
#define DIFF_THOUSAND     1000
#define DIFF_BINS         48
#define DIFF_NAME         (SOURCE_NAME + 8)

enum diff_verdict { DIFF_SAME, DIFF_UNCLEAR, DIFF_GONE, DIFF_NEW, DIFF_BETTER, DIFF_WORSE };

/* One source, or all hiccups, in one side. */
struct diff_cell {
	uint64_t count; /* interruptions, as in sources; or hiccups */
	uint64_t runs;  /* runs of the function; number of hiccups */
	uint64_t total_ns;
	uint64_t p50_ns, p99_ns, p999_ns, max_ns; /* durations of one run */
	uint64_t bin[DIFF_BINS];                  /* by length, see diff_bin_ns */
	double per_s, runs_per_s, ns_per_s;       /* per second that a CPU was observed */
	/* Ratio to the first side; the first side itself has NAN, 0, INFINITY. */
	struct ratio count_ratio, time_ratio;
	enum diff_verdict verdict;
	bool lacking; /* unclear by what is missing */
};

struct diff_row {
	enum source_kind kind;
	bool kernel_thread;   /* kept apart from other sources of that name */
	bool rest;            /* sources that the tables could not keep apart */
	char name[DIFF_NAME]; /* any bytes: escape on output */
	char *function;       /* owned; NULL: not known */
	bool changed;         /* gone, new, better or worse in some side */
	bool unclear;         /* unclear in some side, and none of these */
	double rank_ns;       /* per second, the largest of all sides: the change, else the time */
	struct diff_cell cell[DIFF_FILES];
};

/* A property of the machine or the measurement that differs between the sides, by their first
 * recordings. */
struct diff_fact {
	char *what; /* "kernel", "cmdline isolcpus", "proc/sys/vm/stat_interval"; any bytes */
	char *value[DIFF_FILES]; /* NULL: this side has none */
};

struct diff_side {
	const struct view *const *view; /* borrowed */
	uint32_t n;
};

struct diff {
	uint32_t n;
	struct diff_side side[DIFF_FILES];
	const struct view *view[DIFF_FILES]; /* the first recording of each side */
	bool in_turn[DIFF_FILES];            /* recorded in turn with those of the first side */
	/* Owned: what its recordings differ in, "kernel, threshold"; NULL: nothing. */
	char *unlike[DIFF_FILES];
	uint32_t unlikes[DIFF_FILES];    /* number of these differences */
	size_t unlike_shown[DIFF_FILES]; /* bytes of the first DIFF_UNLIKE_SHOWN of them, which
					    people are told */
	double between; /* factor by which two windows may differ that were not recorded in turn */
	struct diff_lossy { /* a recording lost over 1 % of these */
		bool records, hiccups;
	} lossy[DIFF_FILES];
	double seconds[DIFF_FILES]; /* observed, all that counts together */
	/* Figures of the hiccups' time. */
	uint64_t attributed_ns[DIFF_FILES], edge_ns[DIFF_FILES], lost_ns[DIFF_FILES],
		outside_ns[DIFF_FILES], host_ns[DIFF_FILES];
	bool same_cpus;        /* all measured the same CPUs: names keep their CPU numbers */
	bool traced;           /* all were traced: else there are no sources */
	uint64_t threshold_ns; /* threshold of all CPUs of all recordings, unless they differ */
	bool thresholds_differ;
	bool raised;       /* some had a lower one, and their hiccups below it are short gaps now */
	bool shorts_known; /* all recordings have short gaps of the same lengths */
	uint64_t short_ns[DIFF_FILES];
	uint64_t low_ns, high_ns; /* range of the bins: the shortest and the longest value */
	struct diff_cell total[DIFF_FILES];
	/* Owned; changed rows by falling change, then the others by falling time. */
	struct diff_row *row;
	uint32_t rows;
	struct diff_fact *fact; /* owned */
	uint32_t facts;
	struct diff_series *series; /* owned: what workloads measured */
	uint32_t nseries;
};

/* True for a CPU, and for a watched thread of which is known how much of its time it lost: the
 * others are left out, with their sources and the time that they were observed. */
bool diff_counts(const struct view *v, uint32_t index);
uint32_t diff_left_out(const struct view *v);    /* number of the others */
uint64_t diff_observed_ns(const struct view *v); /* time of those that count, all together */

/* side[n], 2 to DIFF_FILES of them, each of one view or more, outlive the diff; each view has
 * observed what counts in it for some time. between: at least 1. 0 or -ENOMEM; call diff_free in
 * either case. */
int diff_make(struct diff *d, const struct diff_side *side, uint32_t n, double between);
void diff_free(struct diff *d);

/* Takes all sources for which `asked` says yes as one, and fills its cell of each side. It was
 * asked about before the sides were looked at: so its verdict is by its own 95 % interval, not by
 * one that is right for all sources at once, and it is never negligible. 0 or -ENOMEM. */
int diff_together(const struct diff *d,
		  bool (*asked)(void *ctx, const struct view *v, const struct source *s), void *ctx,
		  struct diff_cell cell[DIFF_FILES]);

/* Shortest length in a bin; bins are equal on a logarithmic scale. diff_bin_ns(d, DIFF_BINS) is the
 * longest of all. */
double diff_bin_ns(const struct diff *d, unsigned bin);

/* True when lost time per second is more than `percent` above the first side's, and the interval is
 * above 1. */
bool diff_worse_by(const struct diff *d, uint32_t side, double percent);

/* "same", "unclear", "gone", "new", "better", "worse" */
const char *diff_verdict_name(enum diff_verdict verdict);

/* A source's name without parts that differ from boot to boot: "kworker/3:1H" is "kworker/3:~H",
 * "kworker/u8:2" "kworker/u~:~", "irq/36-eth0" "irq/~-eth0", "vhost-812" "vhost-~"; and without
 * keep_cpus "kworker/~:~H", "ksoftirqd/~", with an asterisk for each ~. The numbers of threads and
 * interrupts are no part of it, except for an interrupt without a name. A source that is itself
 * called "(others)", as only the rest is, begins with "\x28". */
void diff_name(const struct source *s, bool keep_cpus, char name[DIFF_NAME]);

/* Part of diff_make: fills d->fact. 0 or -ENOMEM. */
int diff_environment(struct diff *d);

#endif
