/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on CPUs of a workload that are alike, and on watched threads of which the share that
 * they lost is not known. Counts and times are those of each, from the least to the most; who took
 * most is said of all of them together. */
#include "audit/verdict_groups.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define LIST 64 /* bytes of a list of CPUs; a longer one is cut */

void say_lanes(const struct say *s)
{
	char list[LIST];

	if (view_threads(s->v)) {
		sentence_add(s->out, "threads %s (%u)", s->g->name, s->g->n);
		return;
	}
	sentence_add(s->out, "cpus %s", cpus_format(&s->g->cpus, list, sizeof(list)));
	if (list[strlen(list) - 1] == '.')
		sentence_add(s->out, " (%u)", s->g->n);
}

bool say_lost_known(const struct say *s)
{
	for (uint32_t i = 0; i < s->g->n; i++)
		if (view_lost(s->v, s->g->lane[i]) < 0)
			return false;
	return true;
}

/* The range of a count or time over the group, "12" or "3 to 12". */
static void add_spread(const struct say *s, const struct spread *x,
		       char *(*format)(uint64_t, char *, size_t))
{
	char a[32], b[32];

	format(x->least, a, sizeof(a));
	format(x->most, b, sizeof(b));
	if (!strcmp(a, b))
		sentence_add(s->out, "%s", a);
	else
		sentence_add(s->out, "%s to %s", a, b);
}

/* Finds what took most of the slow windows, or of what threads lost, of all of them together. */
static const struct group_source *most_of_group(const struct say *s, struct most *m)
{
	uint64_t rest;

	*m = s->v->run.watch ? most_of(&s->v->cpu[s->g->lost_each_ns.lane])
			     : most_of_windows(&s->v->cpu[s->g->lost_each_ns.lane], &rest);
	for (uint32_t i = 0; m->source && i < s->g->nsources; i++)
		if (group_has(&s->g->source[i], m->source))
			return &s->g->source[i];
	return NULL;
}

/* Adds to whom most of it went, where it is a quarter of it or more; of: "their time". */
static void add_most_of(const struct say *s, const char *of)
{
	uint64_t total = s->g->total_ns, ns = 0;
	struct most m;
	const struct group_source *who = most_of_group(s, &m);
	char share[32];

	for (uint32_t i = 0; m.source && i < s->g->nsources; i++)
		if (say_counts_to(&m, who, &s->g->source[i].who))
			ns += s->g->source[i].total_ns;
	if (m.source && m.group == LOST) {
		sentence_add(s->out, "; who took most of %s is not known: records are missing", of);
		return;
	}
	if (!m.source || ns < total / 4) {
		sentence_add(s->out, "; nothing that is surely foreign took much of %s", of);
		return;
	}
	sentence_add(s->out, "; %s %% of %s together went to ",
		     format_percent(100.0 * ns / total, share, sizeof(share)), of);
	say_most(s, s->g->lost_each_ns.lane, &m, who);
}

void say_unread(const struct say *s)
{
	uint64_t n = 0, ns = 0;

	for (uint32_t i = 0; i < s->g->n; i++) {
		n += s->v->cpu[s->g->lane[i]].hiccups_lost;
		ns += s->v->cpu[s->g->lane[i]].hiccups_lost_ns;
	}
	sentence_unread(s->out, n, ns);
}

void say_slow(const struct say *s)
{
	const struct cpu *first = &s->v->cpu[s->g->first];
	bool several = series_thresholds(first->series, first->nseries) > 1;
	char than[48], time[32], name[LANE_NAME];

	for (uint32_t i = 0; i < s->g->n; i++)
		several |= s->v->cpu[s->g->lane[i]].threshold_ns != first->threshold_ns;
	if (several)
		strcpy(than, "their threshold");
	else
		format_ns(first->threshold_ns, than, sizeof(than));
	sentence_add(s->out, "%s on ", s->v->run.sampler);
	say_lanes(s);
	if (!s->g->hiccups.most) {
		sentence_add(s->out, ": none%s was slow: none took longer than %s",
			     first->hiccups_lost ? " that was recorded"
			     : first->unread     ? " that was read"
						 : "",
			     than);
		say_unread(s);
		return;
	}
	sentence_add(s->out, ": ");
	add_spread(s, &s->g->hiccups, format_count);
	sentence_add(s->out, " of each took longer than %s", than);
	say_unread(s);
	sentence_add(s->out, ", up to %s (%s)",
		     format_ns(s->g->longest_ns.most, time, sizeof(time)),
		     view_lane(s->v, s->g->longest_ns.lane, name));
	if (s->v->run.traced)
		add_most_of(s, "their time");
	else
		sentence_add(s->out, "; why is not known: they were not traced");
}

void say_threads(const struct say *s)
{
	bool reported = s->v->cpu[s->g->first].reported > 0, less = s->v->run.reports_lost;
	char time[32], name[LANE_NAME];

	say_lanes(s);
	if (!s->g->hiccups.most) {
		sentence_add(s->out, " lost nothing that was seen, but not all of their time was");
		return;
	}
	sentence_add(s->out, "%s%s", reported ? " were late by " : " lost ",
		     less ? "at least " : "");
	add_spread(s, &s->g->lost_each_ns, format_ns);
	sentence_add(s->out, " each, %s %s at once (%s)%s", less ? "at least" : "up to",
		     format_ns(s->g->longest_ns.most, time, sizeof(time)),
		     view_lane(s->v, s->g->longest_ns.lane, name),
		     reported ? "" : ", and not all of their time was seen");
	add_most_of(s, "that");
}
