/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/place.h"

#include <stdio.h>

#include "model/isolation.h"

/* The CPUs on the core of this one. */
static void core_of(const struct facts *f, unsigned cpu, struct cpus *core)
{
	char name[96], why[128];
	const char *text;

	snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
		 cpu);
	text = facts_text(f, name);
	if (!text || cpus_parse(text, core, why, sizeof(why)))
		cpus_clear(core);
}

static void cores_of(const struct facts *f, const struct cpus *targets, struct cpus *cores)
{
	struct cpus core;

	cpus_clear(cores);
	for (int cpu = cpus_next(targets, 0); cpu >= 0; cpu = cpus_next(targets, cpu + 1)) {
		core_of(f, cpu, &core);
		cpus_or(cores, &core);
	}
}

static void nodes_of(const struct facts *f, const struct cpus *targets, struct cpus *nodes)
{
	const struct fact *x = NULL;
	char why[128];

	cpus_clear(nodes);
	while ((x = facts_next(f, "sys/devices/system/node/node*/cpulist", x))) {
		struct cpus node, both;

		if (x->err || cpus_parse(x->text, &node, why, sizeof(why)))
			continue;
		both = node;
		cpus_and(&both, targets);
		if (!cpus_empty(&both))
			cpus_or(nodes, &node);
	}
}

enum place place_choose(const struct facts *facts, const struct cpus *usable,
			const struct cpus *targets, struct cpus *chosen)
{
	struct isolation isolation;
	struct cpus cores, near;
	int place = PLACE_GOOD;

	isolation_of(facts, &isolation);
	cores_of(facts, targets, &cores);
	for (; place < PLACE_NONE; place++) {
		*chosen = *usable;
		cpus_sub(chosen, targets);
		if (place == PLACE_GOOD || place == PLACE_SIBLING)
			cpus_sub(chosen, &isolation.all);
		if (place == PLACE_GOOD || place == PLACE_ISOLATED)
			cpus_sub(chosen, &cores);
		if (!cpus_empty(chosen))
			break;
	}
	nodes_of(facts, targets, &near);
	cpus_and(&near, chosen);
	if (!cpus_empty(&near))
		*chosen = near;
	return place;
}

void place_siblings(const struct facts *facts, const struct cpus *set, struct cpus *second)
{
	cpus_clear(second);
	for (int cpu = cpus_next(set, 0); cpu >= 0; cpu = cpus_next(set, cpu + 1)) {
		struct cpus core;
		int first;

		core_of(facts, cpu, &core);
		cpus_and(&core, set);
		first = cpus_next(&core, 0);
		if (first >= 0 && first < cpu)
			cpus_add(second, cpu);
	}
}

struct cpus place_others(const struct cpus *online, const struct cpus *targets,
			 const struct cpus *quiet)
{
	struct cpus others = *online;

	cpus_sub(&others, targets);
	cpus_sub(&others, quiet);
	return others;
}

struct cpus place_others_among(const struct host *host, const struct cpus *some,
			       const struct cpus *targets)
{
	struct cpus quiet = host->isolated;

	cpus_or(&quiet, &host->nohz_full);
	return place_others(some, targets, &quiet);
}

struct cpus place_others_of(const struct host *host, const struct cpus *targets)
{
	return place_others_among(host, &host->online, targets);
}
