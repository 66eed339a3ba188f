/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs made by chance, for the tests of diff: sources whose events come by a Poisson process, or in
 * bursts, or evenly. */
#ifndef CULPRIT_TESTS_RUNS_H
#define CULPRIT_TESTS_RUNS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/summary.h"
#include "model/diff.h"

#define STARTED_NS 7000000123ULL

static uint64_t seed = 88172645463325252ULL;

/* Uniform in (0, 1). */
static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((seed * 0x2545f4914f6cdd1dULL >> 12) + 0.5) / 0x1p52;
}

static void run_init(struct view *v, const unsigned *cpus, uint32_t ncpus, double seconds)
{
	memset(v, 0, sizeof(*v));
	strcpy(v->host.hostname, "host");
	strcpy(v->host.kernel, "6.12.1");
	strcpy(v->run.sampler, "tsc");
	strcpy(v->run.started, "2026-01-02T03:04:05.000000006Z");
	v->run.started_ns = STARTED_NS;
	v->run.duration_ns = seconds * 1e9;
	v->run.threshold_auto = v->run.traced = true;
	if (view_cpus(v, cpus, ncpus))
		abort();
	for (uint32_t i = 0; i < ncpus; i++) {
		cpus_add(&v->run.cpus, cpus[i]);
		v->cpu[i].observed_ns = seconds * 1e9;
		v->cpu[i].threshold_ns = 200;
	}
}

/* A hiccup with one interval, at_s behind the start. */
static void run_add(struct view *v, uint32_t index, double at_s, enum source_kind kind, uint32_t id,
		    const char *name, const char *function, uint64_t net_ns)
{
	struct sources *t = &v->cpu[index].sources;
	struct piece piece = {.source = sources_find(t, kind, id, name, function),
			      .net_ns = net_ns};
	struct account a = {.start_ns = STARTED_NS + (uint64_t)(at_s * 1e9),
			    .duration_ns = net_ns,
			    .attributed_ns = net_ns,
			    .pieces = &piece,
			    .npieces = 1,
			    .intervals = 1};

	t->row[piece.source]->hiccups++;
	source_add(t->row[piece.source], net_ns, true);
	summary_add(v, index, &a);
}

/* Events of mean_ns that come by chance, per_s a second, in bursts of `burst` 100 us apart. */
static inline void run_noise(struct view *v, uint32_t index, double per_s, unsigned burst,
			     enum source_kind kind, uint32_t id, const char *name,
			     const char *function, double mean_ns)
{
	double seconds = v->cpu[index].observed_ns / 1e9, rate = per_s / burst;

	for (double at = -log(uniform()) / rate; at < seconds; at -= log(uniform()) / rate)
		for (unsigned i = 0; i < burst && at + 1e-4 * i < seconds; i++)
			run_add(v, index, at + 1e-4 * i, kind, id, name, function,
				1 - mean_ns * log(uniform()));
}

/* Each view a side of its own. */
static inline int diff_of(struct diff *d, const struct view *const *views, uint32_t n,
			  double between)
{
	struct diff_side side[DIFF_FILES];

	for (uint32_t k = 0; k < n; k++)
		side[k] = (struct diff_side){&views[k], 1};
	return diff_make(d, side, n, between);
}

#endif
