/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that a tuning has kept, as findings: the writers of profiles and playbooks take these
 * (render/audit_setup.h). */
#ifndef CULPRIT_KEPT_H
#define CULPRIT_KEPT_H

#include "model/finding.h"
#include "model/tuned.h"

/* Adds a warning for each setting of the steps that were kept, with the commands that set it and
 * put back what was there, and all boot parameters of `audit`. 0 or -ENOMEM. */
int kept_findings(struct findings *f, const struct tuned *t, const struct findings *audit);

#endif
