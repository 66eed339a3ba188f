/* What the audit found and what the run measured, laid beside each other. */
#ifndef CULPRIT_TOGETHER_H
#define CULPRIT_TOGETHER_H

#include "model/view.h"

#define FIX_MAX       140 /* a longer one is not said in a sentence */
#define FIX_ELSEWHERE "culprit audit --script prints the commands"

/* Audits the view's facts for the CPUs that were measured, if there are any, and gives each finding
 * the measured time of the sources that it explains. Where a finding is the reason for a source,
 * what it says to do becomes the source's advice: it knows more than a name. Then the verdict. Call
 * it after advise(), as often as the view changes. 0 or -ENOMEM. */
int audit_view(struct view *v);

/* Of what the audit found, the reason for what this source did on this CPU (UINT_MAX: on no CPU in
 * particular), with a fix; NULL: none. */
const struct finding *finding_of(const struct view *v, unsigned cpu, const struct source *s);

#endif
