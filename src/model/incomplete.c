/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/incomplete.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/view.h"

#define REASON_SAID 240 /* leaves room for the CPUs that were offline */

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

#define CPUS_SAID 80

/* "cpu 2", "cpus 2,5", and where they are too many to be named "cpus 1,3,5,... (128)". */
static char *say_cpus(const struct cpus *set, char buf[CPUS_SAID])
{
	unsigned n = cpus_count(set);
	char list[48];

	cpus_format(set, list, sizeof(list));
	if (strstr(list, "..."))
		snprintf(buf, CPUS_SAID, "cpus %s (%u)", list, n);
	else
		snprintf(buf, CPUS_SAID, "cpu%s %s", plural(n), list);
	return buf;
}

static char *say_offline(const char *were, uint64_t ns, bool at_most, char buf[OFFLINE_SAID])
{
	char time[32];

	snprintf(buf, OFFLINE_SAID, "%s offline for %s%s, and measured before and after that", were,
		 format_ns(ns, time, sizeof(time)), at_most ? " at most" : "");
	return buf;
}

char *offline_say(const struct offline *o, char buf[OFFLINE_SAID])
{
	return say_offline("was", o->total_ns, o->at_most, buf);
}

char *offline_say_all(const struct offline *longest, char buf[OFFLINE_SAID])
{
	return say_offline("were", longest->total_ns, true, buf);
}

/* Adds which CPUs were offline, and came back. */
static void add_offline(const struct view *v, char *text, size_t size)
{
	char list[CPUS_SAID], said[OFFLINE_SAID];
	const struct offline *longest = NULL;
	size_t len = strlen(text);
	struct cpus offline;

	cpus_clear(&offline);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct offline *o = &v->cpu[i].offline;

		if (!o->times)
			continue;
		cpus_add(&offline, v->cpu[i].number);
		if (!longest || o->total_ns > longest->total_ns)
			longest = o;
	}
	if (longest)
		snprintf(text + len, size - len, "%s%s %s", len ? "; " : "",
			 say_cpus(&offline, list),
			 cpus_count(&offline) > 1 ? offline_say_all(longest, said)
						  : offline_say(longest, said));
}

bool view_lost_known(const struct view *v, uint32_t index)
{
	return view_lost(v, index) >= 0 && (!v->run.holes || v->run.windows);
}

void view_incomplete(struct view *v)
{
	struct run *run = &v->run;
	char *text = run->incomplete, list[CPUS_SAID], after[32];
	const struct cpu *first;
	struct cpus ended;

	if (run->damaged)
		return;
	text[0] = 0;
	first = first_to_end(v, &ended);
	if (first)
		format_ns(cpu_window_ns(first), after, sizeof(after));
	if (first && cpus_count(&ended) == 1)
		snprintf(text, REASON_SAID, "%s ended early, after %s: %s", say_cpus(&ended, list),
			 after, first->ended);
	else if (first)
		snprintf(text, REASON_SAID, "%s ended early, the first, cpu %u, after %s: %s",
			 say_cpus(&ended, list), first->number, after, first->ended);
	add_offline(v, text, sizeof(run->incomplete));
	if (!text[0])
		snprintf(text, sizeof(run->incomplete), "%s", run->cut_short);
}
