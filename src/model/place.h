/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The place of all of culprit but the samplers, unless the user chooses one: CPUs that are not
 * isolated and share no core with a target, and of these on the targets' NUMA nodes where there are
 * any. */
#ifndef CULPRIT_PLACE_H
#define CULPRIT_PLACE_H

#include "base/cpus.h"
#include "model/facts.h"
#include "model/view.h"

enum place {
	PLACE_GOOD,
	PLACE_SIBLING,  /* all that are not isolated share a core with a target */
	PLACE_ISOLATED, /* all others are isolated */
	PLACE_BOTH,     /* all others are isolated, and share a core with a target */
	PLACE_NONE,     /* no other CPU exists; *chosen is empty */
};

/* Chooses among `usable` less the targets. facts: facts_layout; CPUs that it does not mention share
 * nothing, as far as anybody knows. */
enum place place_choose(const struct facts *facts, const struct cpus *usable,
			const struct cpus *targets, struct cpus *chosen);

/* The CPUs of the set that share a core with a smaller one of it. */
void place_siblings(const struct facts *facts, const struct cpus *set, struct cpus *second);

/* The CPUs that can take over the work of these: those that are online besides, but for those that
 * are to be quiet, too, as isolated ones are. May be empty. */
struct cpus place_others(const struct cpus *online, const struct cpus *targets,
			 const struct cpus *quiet);
struct cpus place_others_of(const struct host *host, const struct cpus *targets);
/* Those of `some` that can, by what the host says is to be quiet. */
struct cpus place_others_among(const struct host *host, const struct cpus *some,
			       const struct cpus *targets);

#endif
