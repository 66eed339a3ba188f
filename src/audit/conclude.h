/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions of a report, beside what was measured: causes, advice, findings, verdicts. */
#ifndef CULPRIT_CONCLUDE_H
#define CULPRIT_CONCLUDE_H

#include "model/view.h"

#define FIX_MAX 140 /* a longer fix does not fit a sentence */

/* Gives each source of the view its cause and advice (advise.h), audits the view's facts, if it has
 * any, for the measured CPUs, and gives each finding the measured time of the sources that it
 * explains. Where a finding is the reason for a source, its fix becomes the source's advice: it
 * knows more than a name. Then fills the verdicts, and the entries of the causes. Call it when the
 * view is complete, as often as the view changes. 0, or -ENOMEM: some advice or findings are
 * missing. */
int conclude(struct view *v);

/* Gives one source of the lane with this index its cause and advice, by the findings of the last
 * conclude(). For a view that grows, of which few sources are shown. 0 or -ENOMEM. */
int conclude_source(struct view *v, uint32_t lane, struct source *s);

/* The finding, with a fix, that is the reason for this source on this CPU (UINT_MAX: on no CPU in
 * particular); NULL: none. */
const struct finding *finding_of(const struct view *v, unsigned cpu, const struct source *s);

#endif
