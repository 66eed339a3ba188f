/* Two or more runs beside each other: the same sources paired, everything per second that a CPU was observed, and what of the differences
 * is more than chance. All are compared with the first.
 *
 * Sources of all CPUs are paired by kind, name and function, kernel threads apart from others; numbers that are another machine's or another boot's are none of a name:
 * see diff_name(). Of each there are two ratios with 95 % intervals (ratio.h): of the count, and of the time. Their variance is the
 * largest of what these say:
 *   chance   the events of one hiccup are one event: of times the sum of the squares of what each hiccup lost to it (compound Poisson),
 *            of counts the count times the mean number in a hiccup
 *   scatter  how far the window's 16 to 32 slices differ (slices.h), for what comes in bursts
 *
 * The verdict on a source:
 *   gone, new      only the first, or only the other has it
 *   better, worse  it takes less or more time a second
 *   same           all else, and whatever could be chance or is negligible
 * Could be chance: the interval includes 1 (for gone and new that of the count), when it is made wide enough to be right for all sources of
 * the file at once 95 times in 100 (Bonferroni: each is 1 - 0.05 / sources). Negligible: the change is under 1 % of the time that the CPUs
 * lose, in intervals of which none is longer than 99 % of the hiccups of both files. On all hiccups together, which are one
 * source, the same rules give the verdict, negligible being 1 %.
 */
#ifndef CULPRIT_DIFF_H
#define CULPRIT_DIFF_H

#include "model/ratio.h"
#include "model/view.h"

#define DIFF_FILES 8
#define DIFF_BINS  48
#define DIFF_NAME  (SOURCE_NAME + 8)

enum diff_verdict { DIFF_SAME, DIFF_GONE, DIFF_NEW, DIFF_BETTER, DIFF_WORSE };

/* One source, or all hiccups, in one file. */
struct diff_cell {
	uint64_t count; /* interruptions, as sources have them; hiccups */
	uint64_t runs;  /* of the function; hiccups */
	uint64_t total_ns;
	uint64_t p50_ns, p99_ns, p999_ns, max_ns; /* of one */
	uint64_t bin[DIFF_BINS];                  /* by length, see diff_bin_ns */
	double per_s, runs_per_s, ns_per_s;       /* per second that a CPU was observed */
	struct ratio count_ratio, time_ratio;     /* to the first file; of the first itself NAN, 0, INFINITY */
	enum diff_verdict verdict;
};

struct diff_row {
	enum source_kind kind;
	bool kernel_thread;   /* they are apart from others of that name */
	bool rest;            /* what the tables of sources could not keep apart */
	char name[DIFF_NAME]; /* any bytes: escape on output */
	char *function;       /* owned; NULL: not known */
	bool changed;         /* not the same in some file */
	double rank_ns;       /* per second, the largest of all files': the change, else the time */
	struct diff_cell cell[DIFF_FILES];
};

/* Something about the machine or the measurement that is not the same in all files. */
struct diff_fact {
	char *what;              /* "kernel", "cmdline isolcpus", "proc/sys/vm/stat_interval"; any bytes */
	char *value[DIFF_FILES]; /* NULL: has none */
};

struct diff {
	uint32_t n;
	const struct view *view[DIFF_FILES]; /* borrowed */
	double seconds[DIFF_FILES];          /* observed, all CPUs together */
	uint64_t attributed_ns[DIFF_FILES], edge_ns[DIFF_FILES], outside_ns[DIFF_FILES]; /* of the hiccups' time */
	bool same_cpus;        /* all measured the same CPUs: numbers of CPUs in names are kept */
	bool traced;           /* all were: else there are no sources */
	uint64_t threshold_ns; /* of all CPUs of all files; 0: they differ */
	bool raised;           /* some had a lower one, and its hiccups below it are short gaps now */
	bool shorts_known;     /* all files have short gaps of the same lengths */
	uint64_t short_ns[DIFF_FILES];
	uint64_t low_ns, high_ns; /* of the bins: the shortest and the longest of all */
	struct diff_cell total[DIFF_FILES];
	struct diff_row *row; /* owned; those that changed, by falling change; then the others, by falling time */
	uint32_t rows;
	struct diff_fact *fact; /* owned */
	uint32_t facts;
};

/* views[n], 2 to DIFF_FILES of them, outlive the diff; each has observed its CPUs for some time. 0 or -ENOMEM; diff_free in either case. */
int diff_make(struct diff *d, const struct view *const *views, uint32_t n);
void diff_free(struct diff *d);

/* The shortest length in a bin; bins are alike on a logarithmic scale. diff_bin_ns(d, DIFF_BINS) is the longest of all. */
double diff_bin_ns(const struct diff *d, unsigned bin);

/* Lost time per second is more than `percent` more than in the first file, and the interval is above 1. */
bool diff_worse_by(const struct diff *d, uint32_t file, double percent);

/* "same", "gone", "new", "better", "worse" */
const char *diff_verdict_name(enum diff_verdict verdict);

/* A source's name without what differs from boot to boot: "kworker/3:1H" is "kworker/3:~H", "kworker/u8:2" "kworker/u~:~", "irq/36-eth0"
 * "irq/~-eth0", "vhost-812" "vhost-~"; and without keep_cpus "kworker/~:~H", "ksoftirqd/~", with an asterisk for each ~. The numbers of threads
 * and interrupts are no part of it, but for an interrupt that has no name. A source that is itself called "(others)", as only the rest is,
 * begins with "\x28". */
void diff_name(const struct source *s, bool keep_cpus, char name[DIFF_NAME]);

/* Part of diff_make: fills d->fact. 0 or -ENOMEM. */
int diff_environment(struct diff *d);

#endif
