/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentence on how the clocks of a guest and its host were matched, or why they were not. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/through_state.h"

static uint32_t known_lanes(const struct through_found *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nlanes; i++)
		n += f->lane[i] != THROUGH_NOBODY;
	return n;
}

/* The mean of all pieces where the line is known, as each lies between two readings, whose errors
 * are its drift; else that of the first, which gaps have set. */
static double drift_of(const struct alignment *a)
{
	double gained = 0, ns = 0;

	for (uint32_t i = 0; i < (a->known ? a->npieces : 1); i++) {
		double length = (double)(a->piece[i].to_ns - a->piece[i].from_ns);

		gained += a->piece[i].drift * length;
		ns += length;
	}
	return ns > 0 ? gained / ns : a->piece[0].drift;
}

void through_say(struct through_found *f, bool left)
{
	static const char *const refused[] = {
		[ALIGN_FEW] = "not joined: there are too few gaps to set the clocks by",
		[ALIGN_NONE] =
			"not joined: its gaps are not those of this guest's CPUs, so it is of "
			"another host, or of another time",
		[ALIGN_MUCH] = "not joined: there are too many gaps to compare them all; record "
			       "both for a shorter time",
		[ALIGN_AMBIGUOUS] =
			"not joined: the gaps of both coincide in more than one way, as "
			"those of periodic noise do"};
	static const char many[] = "not joined: there are too many threads and gaps to try them "
				   "all; on the host watch the threads of this guest's CPUs alone";
	static const char *const how[] = {
		[READINGS_NONE] = "matched",
		[READINGS_COUNTER] = "known by the counter's offset (KVM), confirmed",
		[READINGS_PTP] = "known by the host's clock (PTP), confirmed"};
	const struct alignment *a = &f->clocks;
	char matched[32], gaps[32], rival[32], residual[32];
	uint32_t known = known_lanes(f);
	size_t len;

	if (f->verdict != ALIGN_FOUND) {
		snprintf(f->text, sizeof(f->text), "%s",
			 !known && left ? many : refused[f->verdict]);
		return;
	}
	snprintf(f->text, sizeof(f->text),
		 "clocks %s by %s of %s gaps, to %s; drift %+.1f ppm; the next best way would "
		 "match %s",
		 how[f->by], format_count(a->matched, matched, sizeof(matched)),
		 format_count(a->gaps, gaps, sizeof(gaps)),
		 format_ns(a->residual_ns, residual, sizeof(residual)), drift_of(a) * 1e6,
		 format_count(a->rival, rival, sizeof(rival)));
	len = strlen(f->text);
	if (known < f->nlanes)
		snprintf(f->text + len, sizeof(f->text) - len,
			 "; the threads of %u of %u CPUs are known%s", known, f->nlanes,
			 left ? ": there are too many to try them all" : "");
	len = strlen(f->text);
	if (a->more)
		snprintf(f->text + len, sizeof(f->text) - len,
			 "; not all gaps were compared, as there are too many");
}

void through_tell(struct through *t, uint32_t fit, uint32_t all)
{
	char before[sizeof(t->found.text) / 2];
	const char *host = t->found.host ? t->found.host->host.hostname : "";

	if (all < 2)
		return;
	t->found.named = true;
	snprintf(before, sizeof(before), "%.*s", (int)sizeof(before) - 1, t->found.text);
	if (fit)
		snprintf(t->found.text, sizeof(t->found.text), "%s (%u of %u recordings fit): %s",
			 host, fit, all, before);
	else
		snprintf(t->found.text, sizeof(t->found.text),
			 "none of %u recordings fits; the first, of %s: %s", all, host, before);
}
