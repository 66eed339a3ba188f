/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict: what a report says first. Rules, in this order:
 *
 *   a workload    how many of its windows were slow, and what took most of their time
 *   quiet         the CPU lost next to nothing to hiccups, and never much at once; the sentence
 *                 names the time of gaps below the threshold
 *   not known     the same, but hiccups came faster than they could be read: any may be long
 *   not traced    nothing can be named
 *   not recorded  records were lost in what took most: nobody is blamed
 *   otherwise     what took most: the tick, throttling, time outside the kernel, or one source;
 *                 where little was lost, but once too much at once, the source of that. Then why,
 *                 from the audit's findings or else from the cause book, and what to do
 */
#include "audit/verdict.h"

#include <string.h>

#include "audit/most.h"
#include "base/units.h"
#include "model/stops.h"
#include "model/through.h"

/* The source with most time among the recorded ones. */
static const struct source *most_seen(const struct cpu *c)
{
	const struct source *best = NULL;

	for (uint32_t i = 0; i < c->sources.count; i++) {
		const struct source *s = c->sources.row[i];

		if (kind_is_interval(s->kind) && (!best || s->net.sum > best->net.sum))
			best = s;
	}
	return best;
}

/* Lost records are no evidence against hardware or host: nobody knows who took the time. ns: how
 * much of it. */
static void say_lost(struct sentence *out, const struct view *v, uint32_t i, uint64_t ns)
{
	const struct source *seen = most_seen(&v->cpu[i]);
	char count[32], share[32], lane[LANE_NAME];

	uint64_t lost = v->cpu[i].counts.lost;

	sentence_add(out, "%s: %s record%s %s lost here: who took %s %% of its time is not known",
		     view_lane(v, i, lane), format_count(lost, count, sizeof(count)), plural(lost),
		     lost == 1 ? "was" : "were",
		     format_percent(100.0 * ns / v->cpu[i].observed_ns, share, sizeof(share)));
	if (seen && seen->net.sum) {
		sentence_add(out, "; the most seen was ");
		sentence_source(out, seen);
		sentence_add(out, " (%s %%)",
			     format_percent(100.0 * seen->net.sum / v->cpu[i].observed_ns, share,
					    sizeof(share)));
	}
	sentence_add(out, "; %s", view_relief(v));
}

/* Says what took most of some time, `of`, or that nobody knows who did. */
static void say_share(struct sentence *out, const struct view *v, uint32_t i, const struct most *m,
		      uint64_t whole, const char *of)
{
	char share[32];

	format_percent(100.0 * m->ns / whole, share, sizeof(share));
	if (m->group == LOST) {
		sentence_add(out, "; who took %s %% of %s is not known: records are missing there",
			     share, of);
		return;
	}
	sentence_add(out, "; %s %% of %s went to ", share, of);
	sentence_most(out, v, i, m);
}

/* For a watched thread whose share is not known. */
static void say_thread(struct sentence *out, const struct view *v, uint32_t i)
{
	const struct cpu *c = &v->cpu[i];
	const char *least = v->run.reports_lost ? "at least " : "";
	const char *bound = v->run.reports_lost ? "at least" : "up to";
	char sum[32], time[32], lane[LANE_NAME];
	struct most m = most_of(c);

	view_lane(v, i, lane);
	format_ns(c->hiccups.sum, sum, sizeof(sum));
	format_ns(c->hiccups.max, time, sizeof(time));
	if (!c->hiccups.count)
		sentence_add(out, "%s lost nothing that was seen, but not all of its time was",
			     lane);
	else if (v->cpu[i].reported)
		sentence_add(out, "%s was late by %s%s in all, %s %s at once", lane, least, sum,
			     bound, time);
	else
		sentence_add(out, "%s lost %s%s, %s %s at once, and not all of its time was seen",
			     lane, least, sum, bound, time);
	if (m.source && c->hiccups.sum)
		say_share(out, v, i, &m, c->hiccups.sum, "that");
}

/* Adds what took most at once. */
static void say_longest(struct sentence *out, const struct view *v, uint32_t i,
			const struct most *longest)
{
	if (longest->group == LOST ||
	    (longest->group == OUTSIDE && may_be_lost(v, i, longest->source)))
		sentence_add(out, "what was not recorded");
	else
		sentence_most(out, v, i, longest);
}

/* Adds what is rare and long, beside what took most. */
static void say_odd(struct sentence *out, const struct view *v, uint32_t i,
		    const struct most *longest, const struct most *m)
{
	char time[32];

	if (!is_odd(&v->cpu[i], longest, m))
		return;
	sentence_add(out, "; and up to %s at once to ", format_ns(longest->ns, time, sizeof(time)));
	say_longest(out, v, i, longest);
}

/* share: of its time that it lost, %. */
static void say_quiet(struct sentence *out, const struct view *v, uint32_t i, const char *lane,
		      const char *share)
{
	const struct cpu *c = &v->cpu[i];
	const struct short_gaps *shorts = &c->shorts;
	uint32_t failed = findings_count(&v->findings, FINDING_FAIL);
	char part[32], time[32];

	if (shorts->known && shorts->total_ns > c->observed_ns * QUIET_SHARE)
		sentence_add(
			out,
			"%s is quiet but for gaps under %s, which take %s %%: it lost %s %% of its "
			"time to longer ones",
			lane, format_ns(c->threshold_ns, time, sizeof(time)),
			format_percent(100.0 * shorts->total_ns / c->observed_ns, part,
				       sizeof(part)),
			share);
	else
		sentence_add(out, "%s is quiet%s: it lost %s %% of its time to hiccups", lane,
			     sentence_quiet(v), share);
	if (c->hiccups.count)
		sentence_add(out, ", at most %s at once",
			     format_ns(c->hiccups.max, time, sizeof(time)));
	if (failed)
		sentence_add(out, "; the audit still finds %u thing%s not in order (culprit audit)",
			     failed, plural(failed));
}

/* share: of its time that it lost, %. */
static void say_loss(struct sentence *out, const struct view *v, uint32_t i, const struct most *m,
		     const char *share)
{
	const struct cpu *c = &v->cpu[i];
	struct most longest = longest_of(c);
	bool unread = most_unread(c, m);
	char part[32], lane[LANE_NAME];

	sentence_add(out, "%s loses ", view_lane(v, i, lane));
	if (c->hiccups_lost) {
		sentence_add(out, "%s %% of its time", share);
		sentence_unread(out, c->hiccups_lost, c->hiccups_lost_ns);
		sentence_add(out, unread ? ", and who took most of it is not known; " : ", ");
	}
	sentence_add(out, "%s %% %sto ",
		     format_percent(100.0 * m->ns / c->observed_ns, part, sizeof(part)),
		     unread ? "went " : "");
	sentence_most(out, v, i, m);
	say_odd(out, v, i, &longest, m);
}

static void say_cpu(struct sentence *out, const struct view *v, uint32_t i)
{
	const struct cpu *c = &v->cpu[i];
	uint64_t away = c->hiccups.sum + c->hiccups_lost_ns, observed = c->observed_ns;
	bool little = away <= observed * QUIET_SHARE;
	char share[32], time[32], lane[LANE_NAME];
	struct most m;

	view_lane(v, i, lane);
	format_percent(100.0 * away / observed, share, sizeof(share));
	format_ns(c->hiccups.max, time, sizeof(time));
	if (little && c->hiccups.max <= QUIET_NS && !c->hiccups_lost) {
		say_quiet(out, v, i, lane, share);
		return;
	}
	if (little && c->hiccups.max <= QUIET_NS) {
		sentence_add(out, "%s loses little, %s %%", lane, share);
		sentence_unread(out, c->hiccups_lost, c->hiccups_lost_ns);
		sentence_add(out, ", and how much at once is not known");
		return;
	}
	m = little ? longest_of(c) : most_of(c);
	if (m.source && (m.group == LOST || (m.group == OUTSIDE && may_be_lost(v, i, m.source)))) {
		say_lost(out, v, i, little ? m.source->net.sum : m.ns);
		return;
	}
	if (!v->run.traced || !m.source) {
		sentence_add(out, "%s loses %s %% of its time", lane, share);
		sentence_unread(out, c->hiccups_lost, c->hiccups_lost_ns);
		if (c->hiccups.count)
			sentence_add(out, ", up to %s at once", time);
		sentence_add(out, ", and nobody can be named%s",
			     v->run.traced ? "" : ": it was not traced");
	} else if (little) {
		sentence_add(out, "%s loses little, %s %%", lane, share);
		sentence_unread(out, c->hiccups_lost, c->hiccups_lost_ns);
		sentence_add(out, ", but up to %s at once to ",
			     format_ns(m.ns, time, sizeof(time)));
		sentence_most(out, v, i, &m);
	} else {
		say_loss(out, v, i, &m, share);
	}
}

/* ---- a workload: its slow windows are known, the loss of its CPU is not ---- */

/* Name of the series with the most slow windows, "latency under load", of several; NULL: only one
 * has a threshold. */
static const struct series *slowest_series(const struct cpu *c)
{
	const struct series *worst = NULL;

	for (uint32_t i = 0; i < c->nseries; i++)
		if (c->series[i].threshold_ns && (!worst || c->series[i].longer > worst->longer))
			worst = &c->series[i];
	return series_thresholds(c->series, c->nseries) > 1 ? worst : NULL;
}

static void say_slow(struct sentence *out, const struct view *v, uint32_t i)
{
	const struct cpu *c = &v->cpu[i];
	const struct series *worst = slowest_series(c);
	char count[32], than[32], most[32], lane[LANE_NAME];

	sentence_add(out, "%s on %s: ", v->run.sampler, view_lane(v, i, lane));
	format_count(c->hiccups.count + c->hiccups_lost, count, sizeof(count));
	if (!c->hiccups.count && !c->hiccups_lost) {
		sentence_add(out, "none%s was slow: none took longer than ",
			     c->unread ? " that was read" : "");
		sentence_add(out, "%s",
			     worst ? "its series' threshold"
				   : format_ns(c->threshold_ns, than, sizeof(than)));
		return;
	}
	sentence_add(out, "%s took longer than %s", count,
		     worst ? "their series' thresholds"
			   : format_ns(c->threshold_ns, than, sizeof(than)));
	if (worst)
		sentence_add(out, " (most often %s, %s time%s)", worst->name,
			     format_count(worst->longer, count, sizeof(count)),
			     plural(worst->longer));
	sentence_unread(out, c->hiccups_lost, c->hiccups_lost_ns);
	if (c->hiccups.count)
		sentence_add(out, ", up to %s", format_ns(c->hiccups.max, most, sizeof(most)));
}

/* Says what took the most of the slow windows where that is not much: the longest one may still be
 * foreign. rest: the time of no source. */
static void say_little(struct sentence *out, const struct view *v, uint32_t i, const struct most *m,
		       uint64_t rest)
{
	const struct cpu *c = &v->cpu[i];
	struct most longest = longest_of_windows(c);
	bool foreign = longest.source && longest.ns > c->hiccups.max / 2;
	char share[32], time[32];

	if (!foreign)
		sentence_add(out, "; nothing that is surely foreign took much of their time");
	if (rest > c->hiccups.sum / 2)
		sentence_add(out, "%s %s %% of %s is %s", foreign ? ";" : ",",
			     format_percent(100.0 * rest / c->hiccups.sum, share, sizeof(share)),
			     foreign ? "their time" : "it", v->run.rest);
	if (foreign) {
		sentence_add(out, "; up to %s of one went to ",
			     format_ns(longest.ns, time, sizeof(time)));
		say_longest(out, v, i, &longest);
	} else if (m->source && m->group != LOST) {
		sentence_add(out, "; the largest foreign part, %s %%, went to ",
			     format_percent(100.0 * m->ns / c->hiccups.sum, share, sizeof(share)));
		sentence_most(out, v, i, m);
	}
}

static void say_windows(struct sentence *out, const struct view *v, uint32_t i)
{
	const struct cpu *c = &v->cpu[i];
	uint64_t rest, own;
	struct most m = most_of_windows(c, &rest), longest;

	say_slow(out, v, i);
	if (!c->hiccups.count)
		return;
	if (!v->run.traced) {
		sentence_add(out, "; why is not known: it was not traced");
		return;
	}
	own = c->hiccups.sum - (m.ns < c->hiccups.sum ? m.ns : c->hiccups.sum);
	if (!m.source || m.ns < own / 4) {
		say_little(out, v, i, &m, rest);
		return;
	}
	say_share(out, v, i, &m, c->hiccups.sum, "their time");
	longest = longest_of_windows(c);
	say_odd(out, v, i, &longest, &m);
}

/* A thread that was stopped lost nothing in that time, and did nothing. */
static void say_stops(struct sentence *out, const struct cpu *c)
{
	char times[32], time[32];

	if (!c->stops || c->stopped_ns <= c->hiccups.sum || through_is_vcpu(c->comm))
		return;
	sentence_add(out, "; a signal or a debugger stopped it %s time%s, %s in all",
		     format_count(c->stops, times, sizeof(times)), plural(c->stops),
		     format_ns(c->stopped_ns, time, sizeof(time)));
}

void verdict(struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];
		struct sentence out = {v->cpu[i].verdict, sizeof(v->cpu[i].verdict)};

		out.buf[0] = 0;
		if (v->run.watch && (v->cpu[i].observed_ns || c->hiccups.count) &&
		    view_lost(v, i) < 0)
			say_thread(&out, v, i);
		else if (v->run.windows && !v->run.watch)
			say_windows(&out, v, i);
		else if (v->cpu[i].observed_ns)
			say_cpu(&out, v, i);
		say_stops(&out, c);
		sentence_hedge(&out, v);
	}
}
