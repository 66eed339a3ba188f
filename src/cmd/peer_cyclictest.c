/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of cyclictest, as of rt-tests 2.4. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "cmd/peer_line.h"

#define DMA_LATENCY "/dev/cpu_dma_latency"

static int take_threads(struct peer_line *l, const char *value, const struct peer_row *row,
			char *why, size_t whylen)
{
	(void)row;
	l->all_threads = !value;
	return value ? peer_long(&l->threads, value, CPUS_MAX, why, whylen) : 0;
}

static int take_smp(struct peer_line *l, const char *value, const struct peer_row *row, char *why,
		    size_t whylen)
{
	(void)value;
	(void)row;
	(void)why;
	(void)whylen;
	l->all_threads = true;
	return 0;
}

static int take_idle(struct peer_line *l, const char *value, const struct peer_row *row, char *why,
		     size_t whylen)
{
	long us = 1;

	(void)row;
	if (value && peer_long(&us, value, PEER_NUMBER, why, whylen))
		return -1;
	l->wakes_deep = us != 0;
	return 0;
}

static int take_clock(struct peer_line *l, const char *value, const struct peer_row *row, char *why,
		      size_t whylen)
{
	(void)l;
	(void)row;
	if (!strcmp(value, "0"))
		return 0;
	snprintf(why, whylen, "only 0 is taken: sleeps are on CLOCK_MONOTONIC");
	return -1;
}

/* Numbers as in linux/sched.h. */
static int take_policy_name(struct peer_line *l, const char *value, const struct peer_row *row,
			    char *why, size_t whylen)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {{"other", 0}, {"normal", 0}, {"fifo", 1},
		     {"rr", 2},    {"batch", 3},  {"idle", 5}};

	(void)row;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcasecmp(value, known[i].name)) {
			l->policy = known[i].number;
			return 0;
		}
	snprintf(why, whylen, "'%.40s' is not other, normal, batch, idle, fifo or rr", value);
	return -1;
}

static int take_histogram(struct peer_line *l, const char *value, const struct peer_row *row,
			  char *why, size_t whylen)
{
	l->histogram = true;
	return peer_number(l, value, row, why, whylen);
}

static int take_histogram_of_all(struct peer_line *l, const char *value, const struct peer_row *row,
				 char *why, size_t whylen)
{
	int before = l->n;

	if (take_histogram(l, value, row, why, whylen))
		return -1;
	if (l->n > before) /* 0: as if it were not given */
		peer_add(l, "--histogram-total");
	return 0;
}

const struct peer_row cyclictest_rows[] = {
	{'a', "affinity", "CPUS", true, .take = peer_cpus, .help = "those that are allowed"},
	{'A', "aligned", "US", .refused = "each thread's sleeps begin at a time of their own"},
	{'b', "breaktrace", "US", .word = "--stop-on=wake>%sus", .take = peer_number,
	 .help = "ends the run, with exit status 2; ftrace is not touched"},
	{'c', "clock", "0", .take = take_clock, .help = "0"},
	{'d', "distance", "US", .help = "no effect: all intervals are the same, as with -d 0"},
	{0, "dbg_cyclictest", NULL, .help = "no effect: nothing is printed for that"},
	{'D', "duration", "TIME", .word = "--duration=%s", .take = peer_time,
	 .help = "until -l or Ctrl-C"},
	{'F', "fifo", "PATH", .refused = "only the end is printed: give --histfile"},
	{'h', "histogram", "US", .word = "--histogram=%s", .take = take_histogram, .help = "none"},
	{'H', "histofall", "US", .word = "--histogram=%s", .take = take_histogram_of_all,
	 .help = "none; with a column of all threads, where there are several"},
	{0, "histfile", "FILE", .word = "--output=%s", .help = "standard output"},
	{'i', "interval", "US", .word = "--interval=%sus", .take = peer_number, .help = "1000"},
	{0, "json", "FILE", .word = "--style-json=%s", .help = "none; - is standard output"},
	{0, "laptop", NULL, .take = take_idle, .help = "idle states stay as they are"},
	{0, "default-system", NULL, .take = take_idle, .help = "idle states stay as they are"},
	{0, "latency", "US", .take = take_idle,
	 .help = "0 is written to " DMA_LATENCY ", where it may be; with another one, nothing"},
	{'l', "loops", "N", .word = "--samples=%s", .take = peer_limit, .help = "no limit"},
	{0, "mainaffinity", "CPUS", .word = "--housekeeping=%s", .help = "the other CPUs"},
	{'m', "mlockall", NULL, .help = "no effect: memory is always locked"},
	{'M', "refresh_on_max", NULL, .help = "no effect: only the end is printed"},
	{'n', "nanosleep", NULL, .help = "no effect: it sleeps by clock_nanosleep"},
	{'N', "nsecs", NULL, .word = "--nanoseconds", .help = "values in ns"},
	{'o', "oscope", "N", .help = "no effect: only the end is printed"},
	{'p', "priority", "N", .take = peer_priority, .help = "none; else FIFO"},
	{0, "policy", "NAME", .take = take_policy_name, .help = "fifo with -p, else other"},
	{0, "priospread", NULL, .refused = "all threads have one priority"},
	{'q', "quiet", NULL, .help = "no effect: only the end is printed"},
	{'r', "relative", NULL, .word = "--relative", .help = "relative timers"},
	{'R', "resolution", NULL, .help = "no effect: culprit clock measures it"},
	{0, "secaligned", "US", true,
	 .refused = "each thread's sleeps begin at a time of their own"},
	{'s', "system", NULL, .refused = "sleeps are by clock_nanosleep"},
	{'S', "smp", NULL, .take = take_smp, .help = "a thread on each CPU"},
	{'t', "threads", "N", true, .take = take_threads, .help = "1; without N one a CPU"},
	{0, "smi", NULL, .refused = "culprit sleep counts SMIs by itself where the CPU can"},
	{0, "spike", "US", .refused = "culprit sleep -t TIME -f csv tells late wake-ups"},
	{0, "spike-nodes", "N", .refused = "culprit sleep -t TIME -f csv tells late wake-ups"},
	{0, "tracemark", NULL, .help = "no effect: ftrace is not touched"},
	{'u', "unbuffered", NULL, .help = "no effect: only the end is printed"},
	{'v', "verbose", NULL, .refused = "culprit sleep -f csv tells late wake-ups"},
	{'x', "posix_timers", NULL, .refused = "sleeps are by clock_nanosleep"},
	{0},
};
const char *const cyclictest_words[] = {"sleep", "--style=cyclictest", NULL};

/* As many of the CPUs as there are threads. */
static int choose_threads(struct peer_line *l)
{
	struct cpus *cpus = &l->cpus, chosen = {0};
	char list[PEER_WORD_MAX];
	unsigned want;

	if (cpus_empty(cpus))
		cpus_allowed(cpus);
	want = l->all_threads ? cpus_count(cpus) : l->threads ? (unsigned)l->threads : 1;
	if (want > cpus_count(cpus))
		return complain("-t: %u threads on %u CPUs: each needs one of its own", want,
				cpus_count(cpus));
	for (int cpu = cpus_next(cpus, 0); cpu >= 0 && want--; cpu = cpus_next(cpus, cpu + 1))
		cpus_add(&chosen, cpu);
	peer_add_value(l, "--cpus=%s", cpus_format(&chosen, list, sizeof(list)));
	return 0;
}

int cyclictest_end(struct peer_line *l, const char *operand)
{
	char priority[16];

	(void)operand;
	if (choose_threads(l))
		return -1;
	if (!l->ends)
		peer_add(l, "--duration=forever");
	snprintf(priority, sizeof(priority), "%ld", l->priority ? l->priority : 1);
	if (l->priority || l->policy == 1)
		peer_add_value(l, l->policy == 2 ? "-Pr:%s" : "-Pf:%s", priority);
	else if (l->policy)
		peer_add_value(l,
			       l->policy == 3   ? "-Pb:0"
			       : l->policy == 5 ? "-Pi:0"
						: "-Pr:%s",
			       priority);
	if (!l->wakes_deep && !access(DMA_LATENCY, W_OK))
		peer_add(l, "--dma-latency");
	return 0;
}
