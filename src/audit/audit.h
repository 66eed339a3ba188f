/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit: is this machine set up so that these CPUs can be quiet? A table of checks over
 * recorded facts (model/facts.h), so it needs neither the machine nor privileges, and disturbs
 * nothing. A fact that could not be read is reported as not known, never guessed. */
#ifndef CULPRIT_AUDIT_H
#define CULPRIT_AUDIT_H

#include <stdbool.h>
#include "model/facts.h"
#include "model/finding.h"

struct audit_options {
	struct cpus targets; /* the CPUs that should be quiet */
	bool realtime;       /* the workload on them has a real-time policy */
};

/* Adds the findings of all checks to `out`: by check, in the order of the tables. 0 or -ENOMEM. */
int audit(const struct facts *facts, const struct audit_options *options, struct findings *out);

/* The online CPUs by the facts, and the default targets: the isolated ones of them, or else all but
 * the lowest. Empty when the facts do not say. */
void audit_online(const struct facts *facts, struct cpus *online);
void audit_default_targets(const struct facts *facts, struct cpus *targets);

/* The CPUs that can take over the work of the targets: model/place.h. */
struct cpus audit_others(const struct facts *facts, const struct cpus *targets);

#endif
