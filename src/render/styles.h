/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report in the columns, units and order of the field's small tools, for users with scripts for
 * them. Each column means what it means in that tool, without the tool's faults (a counter that
 * wraps, a silently ignored CPU).
 *
 *   osjitter   gsauthof/osjitter: a row a CPU, percentiles of the gaps less the loop's own length
 *   hiccups    rigtorp/hiccups: a row a CPU
 *   sysjitter  Xilinx-CNS/cns-sysjitter: a column a CPU
 *   oslat      rt-tests: all loops in buckets of 1 us
 *   osnoise    the kernel's tracer: a line a period of 1 s
 *
 * and of the workload sleep those of cyclictest (rt-tests), as with its -q.
 */
#ifndef CULPRIT_RENDER_STYLES_H
#define CULPRIT_RENDER_STYLES_H

#include <stdio.h>
#include "base/opt.h"
#include "model/osnoise.h"
#include "model/view.h"

enum style {
	STYLE_NONE,
	STYLE_OSJITTER,
	STYLE_HICCUPS,
	STYLE_SYSJITTER,
	STYLE_OSLAT,
	STYLE_OSNOISE
};

extern const struct opt_choice style_names[]; /* "culprit" is STYLE_NONE */

/* The tool's default threshold, ns; 0: from the loop. */
uint64_t style_threshold(enum style style);

struct oslat_style {
	uint64_t buckets; /* buckets of 1 us; the last holds all longer ones, too */
	bool bias;        /* lengths are less the shortest of all loops */
	bool omit_zero, brief;
};

/* Writes any style but osnoise. 0 or -errno. */
int render_style(enum style style, const struct view *view, const struct oslat_style *oslat,
		 FILE *out);
int render_oslat(const struct view *view, const struct oslat_style *style, FILE *out);

struct cyclictest_style {
	uint64_t interval_ns;
	bool nanoseconds;   /* values are ns, not whole us */
	uint32_t histogram; /* --histogram: values of so many and more overflow; 0: none */
	int priority;
	bool total; /* the histogram has a column of all CPUs, where there are two */
};

/* Writes the latencies of sleep as cyclictest does: a line a CPU, or with a histogram a column a
 * CPU. Values are whole us, rounded down as it does; in the histogram they are of our buckets, to
 * 0.8 %. 0 or -errno. */
int render_cyclictest(const struct view *v, const struct cyclictest_style *style, FILE *out);

/* Writes the series of pingpong as osjitter's pingpong does, of the side that sends first and of
 * the other: cpu. 0 or -errno. */
int render_pingpong(const struct view *view, const unsigned cpu[2], FILE *out);

/* Writes the times themselves as its --json does: ns[2][room], of which count[2] are measured; what
 * the side that sends first received comes first. 0 or -errno. */
int render_pingpong_raw(const uint64_t *ns, uint64_t room, const uint64_t *count, FILE *out);

/* sysjitter --raw: its head, which is as long before the run as after it; and a line for each
 * hiccup of one CPU: time (ns since the run's start), distance from the last one (us; not in a
 * sorted file), length (cycles, ns). last_ns: begin of the last one, 0: none. */
void render_raw_head(const struct view *view, uint32_t index, bool sorted, FILE *out);
void render_raw(const struct view *view, const struct account *a, uint64_t last_ns,
		uint64_t tsc_khz, FILE *out);

struct raw_gap {
	uint64_t at_ns, ns; /* begin since the run's start, length */
};
/* Sorts them by length, and writes their lines. */
void render_raw_sorted(struct raw_gap *gap, size_t n, uint64_t tsc_khz, FILE *out);

/* The share that is left of the time, as osnoise has it: "99.99999", cut and not rounded, so that
 * only all of it is "100.00000". Returns buf. */
#define AVAILABLE 32
char *render_available(uint64_t noise_ns, uint64_t runtime_ns, char buf[AVAILABLE]);

/* osnoise's heading, and the line of a period (own_period.h) of the CPU with this index. */
void render_period_head(FILE *out);
void render_period(const struct view *view, uint32_t index, const struct osnoise_period *period,
		   FILE *out);

#endif
