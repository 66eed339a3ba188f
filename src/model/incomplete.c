/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/incomplete.h"

#include <stdio.h>

#include "base/units.h"
#include "model/view.h"

void offline_add(struct offline *o, uint64_t from_ns, uint64_t to_ns)
{
	if (!o->times++)
		o->from_ns = from_ns;
	o->to_ns = to_ns;
	o->total_ns += to_ns > from_ns ? to_ns - from_ns : 0;
}

void offline_cut(struct offline *o, uint64_t from_ns, uint64_t to_ns)
{
	o->at_most |= o->times > 1 && (from_ns > o->from_ns || to_ns < o->to_ns);
	o->from_ns = from_ns > o->from_ns ? from_ns : o->from_ns;
	o->to_ns = to_ns < o->to_ns ? to_ns : o->to_ns;
	if (o->to_ns <= o->from_ns)
		*o = (struct offline){0};
	else if (o->total_ns > o->to_ns - o->from_ns)
		o->total_ns = o->to_ns - o->from_ns;
}

uint64_t cpu_window_ns(const struct cpu *c)
{
	return c->observed_ns + c->offline.total_ns;
}

uint64_t cpu_end_ns(const struct cpu *c)
{
	return c->late_ns + cpu_window_ns(c);
}

/* The CPU that ended first, with all that ended early in *ended; NULL: none. */
static const struct cpu *first_to_end(const struct view *v, struct cpus *ended)
{
	const struct cpu *first = NULL;

	cpus_clear(ended);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];

		if (!c->ended)
			continue;
		cpus_add(ended, c->number);
		if (!first || cpu_window_ns(c) < cpu_window_ns(first))
			first = c;
	}
	return first;
}

/* For a window that lasted to its end. */
static void describe_offline(struct view *v)
{
	struct run *run = &v->run;
	uint64_t longest = 0;
	bool at_most = false;
	char list[64], time[32];
	struct cpus offline;

	cpus_clear(&offline);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];

		if (c->offline.times)
			cpus_add(&offline, c->number);
		longest = c->offline.total_ns > longest ? c->offline.total_ns : longest;
		at_most |= c->offline.at_most;
	}
	at_most |= cpus_count(&offline) > 1;
	if (cpus_empty(&offline))
		snprintf(run->incomplete, sizeof(run->incomplete), "%s", run->cut_short);
	else
		snprintf(run->incomplete, sizeof(run->incomplete),
			 "cpu%s %s %s offline for %s%s, and measured before and after that",
			 plural(cpus_count(&offline)), cpus_format(&offline, list, sizeof(list)),
			 cpus_count(&offline) == 1 ? "was" : "were",
			 format_ns(longest, time, sizeof(time)), at_most ? " at most" : "");
}

bool view_lost_known(const struct view *v, uint32_t index)
{
	return view_lost(v, index) >= 0 && (!v->run.holes || v->run.windows);
}

void view_incomplete(struct view *v)
{
	struct run *run = &v->run;
	char list[64], after[32];
	const struct cpu *first;
	struct cpus ended;

	if (run->damaged)
		return;
	first = first_to_end(v, &ended);
	if (!first) {
		describe_offline(v);
		return;
	}
	cpus_format(&ended, list, sizeof(list));
	format_ns(cpu_window_ns(first), after, sizeof(after));
	if (cpus_count(&ended) == 1)
		snprintf(run->incomplete, sizeof(run->incomplete),
			 "cpu %s ended early, after %s: %s", list, after, first->ended);
	else
		snprintf(run->incomplete, sizeof(run->incomplete),
			 "cpus %s ended early, the first, cpu %u, after %s: %s", list,
			 first->number, after, first->ended);
}
