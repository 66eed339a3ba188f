/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The world that tests show the program: a machine, and a run of which nothing is known yet. Its
 * events are told in one of these ways:
 *
 *   world_runs    interruptions of a CPU, as sums: for what reads sources
 *   made.h        hiccups by their pieces: for what reads whole views
 *   scene.h       records and gaps, which a session joins and a recorder writes, as in a live run
 *   drawing.h     a timeline drawn as text: for the join
 *   nests.h       random nests and an oracle: for the join
 */
#ifndef CULPRIT_TESTS_WORLD_H
#define CULPRIT_TESTS_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "model/view.h"

#define WORLD_STARTED 5000000000ULL

/* Names that a process, a driver or a file could bring: comms have 15 bytes and a NUL at most. */
static const char *const hostile_names[] = {
	"<script>",
	"a|b",
	"new\nline",
	"\033[31mred",
	"quo\"te,comma",
	"bad\xff\xfeutf8",
	"`tick`",
	"=1+1",
	"back\\slash",
	"\xe2\x80\xaeidib",
	"&lt;b&amp;",
	"*bold* _it_",
	"[a](j:b)",
	"cr\r\nlf",
	"tab\tx",
	"semi;colon",
	"100% 'x'",
	"$(reboot)",
	"@all #1",
	("\xc2\x9b"
	 "31m"),
	"~~x~~ $y$",
	"# head",
	"",
	"a b  c ",
	"http://x.yz",
	"\xc3\xa9t\xc3\xa9",
};
#define HOSTILE_NAMES (sizeof(hostile_names) / sizeof(hostile_names[0]))

/* CPUs 0-3, none isolated; a traced run on these CPUs, from cpu 0. Afterwards view_free() it. */
static inline void world_view(struct view *v, const char *hostname, const unsigned *cpus,
			      uint32_t ncpus)
{
	memset(v, 0, sizeof(*v));
	strcpy(v->host.hostname, hostname);
	strcpy(v->host.kernel, "6.12.9");
	strcpy(v->host.arch, "x86_64");
	strcpy(v->host.cpu_model, "Example 9000");
	strcpy(v->host.clocksource, "tsc");
	strcpy(v->host.cmdline, "quiet");
	v->host.tsc_khz = 2400000;
	cpus_parse("0-3", &v->host.online, NULL, 0);
	strcpy(v->run.sampler, "tsc");
	strcpy(v->run.priority, "SCHED_OTHER");
	strcpy(v->run.started, "2026-03-01T12:00:00.000000000Z");
	v->run.started_ns = WORLD_STARTED;
	v->run.threshold_auto = v->run.traced = v->drawn = true;
	cpus_add(&v->run.housekeeping, 0);
	if (view_cpus(v, cpus, ncpus))
		abort();
	for (uint32_t i = 0; i < ncpus; i++) {
		struct cpu *c = &v->cpu[i];

		cpus_add(&v->run.cpus, cpus[i]);
		c->threshold_ns = 200;
		c->bounds = (struct edge_bounds){.irq_ns = 900, .thread_ns = 1900};
		c->edge_seen = (struct edge_seen){100, 310, 480, 290, 420};
		c->loop_count = 100000000;
		c->loop_min_ns = 8.5;
		c->loop_mean_ns = 9.7;
		c->loop_above_ns[0] = 10;
		c->loop_above[0] = 4321;
		c->loop_above_ns[1] = 1000;
	}
}

/* The run took as long, and every CPU was observed all the time. */
static inline void world_lasts(struct view *v, uint64_t ns)
{
	v->run.duration_ns = ns;
	for (uint32_t i = 0; i < v->ncpus; i++)
		v->cpu[i].observed_ns = ns;
}

static inline void world_fact(struct view *v, const char *name, const char *text)
{
	if (facts_add(&v->facts, name, 0, text, strlen(text)))
		abort();
}

/* The kernel's counts on a CPU beside what was traced; copies the rows. */
static inline void world_closure(struct cpu *c, const struct closure_row *row, uint32_t n)
{
	c->closure = calloc(n, sizeof(*row));
	if (!c->closure)
		abort();
	memcpy(c->closure, row, n * sizeof(*row));
	c->closure_known = true;
	c->nclosure = n;
}

/* Interruptions of ns each, every one a hiccup of its own. Returns their source. */
static inline struct source *world_runs(struct view *v, uint32_t index, enum source_kind kind,
					uint32_t id, const char *name, const char *function,
					uint64_t count, uint64_t ns)
{
	struct sources *t = &v->cpu[index].sources;
	struct source *s = t->row[sources_find(t, kind, id, name, function)];

	s->word = word_of(function ? function : name);
	hist_add_n(&v->cpu[index].hiccups, ns, count);
	while (count--)
		source_add(s, ns, true);
	return s;
}

#endif
