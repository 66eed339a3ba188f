/* What the audit found and what the run measured, laid beside each other. */
#ifndef CULPRIT_TOGETHER_H
#define CULPRIT_TOGETHER_H

#include "model/view.h"

/* Audits the view's facts for the CPUs that were measured, if there are any, and gives each finding the measured time of the sources that
 * it explains. Where a finding is about just one source, what it says to do becomes the source's advice: it knows more than a name. Then
 * the verdict. Call it after advise(), as often as the view changes. 0 or -ENOMEM. */
int audit_view(struct view *v);

#endif
