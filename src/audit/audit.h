/* The audit: is this machine set up so that these CPUs can be quiet? A table of checks over
 * recorded facts (model/facts.h), so it needs neither the machine nor privileges, and disturbs
 * nothing. What could not be read is said to be not known, never guessed. */
#ifndef CULPRIT_AUDIT_H
#define CULPRIT_AUDIT_H

#include <stdbool.h>
#include "model/facts.h"
#include "model/finding.h"

struct audit_options {
	struct cpus targets; /* the CPUs that should be quiet */
	bool realtime;       /* what runs on them has a real-time policy */
};

/* Adds what all checks found to `out`: by check, in the order of the tables. 0 or -ENOMEM. */
int audit(const struct facts *facts, const struct audit_options *options, struct findings *out);

/* From the facts: CPUs that are online, and of those the isolated ones, or else all but the lowest.
 * Empty when the facts do not say. */
void audit_online(const struct facts *facts, struct cpus *online);
void audit_default_targets(const struct facts *facts, struct cpus *targets);

#endif
