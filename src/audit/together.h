/* Puts the findings of the audit beside the measurements of the run. */
#ifndef CULPRIT_TOGETHER_H
#define CULPRIT_TOGETHER_H

#include "model/view.h"

#define FIX_MAX       140 /* a longer fix does not fit a sentence */
#define FIX_ELSEWHERE "culprit audit --script prints the commands"

/* Audits the view's facts, if it has any, for the measured CPUs, and gives each finding the
 * measured time of the sources that it explains. Where a finding is the reason for a source, its
 * fix becomes the source's advice: it knows more than a name. Then fills the verdict. Call it after
 * advise(), as often as the view changes. 0 or -ENOMEM. */
int audit_view(struct view *v);

/* The finding, with a fix, that is the reason for this source on this CPU (UINT_MAX: on no CPU in
 * particular); NULL: none. */
const struct finding *finding_of(const struct view *v, unsigned cpu, const struct source *s);

#endif
