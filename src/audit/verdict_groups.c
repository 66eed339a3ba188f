/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on CPUs that are alike: the rules of verdict.c over all of them. A figure is that of
 * each CPU, from the least to the most: "cpus 4-33,35-63 lose 0.49 to 0.53 % each to ...". Where
 * the same is to be said of several groups, a report's head says it once, of all their CPUs; not
 * so of workloads and of watched threads, which have names. */
#include "audit/verdict_groups.h"

#include "audit/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/groups.h"
#include "model/stops.h"

/* "0.49 to 0.53", of shares; one figure where both read alike. */
static void add_shares(const struct say *s, double least, double most)
{
	char a[32], b[32];

	format_percent(100 * least, a, sizeof(a));
	format_percent(100 * most, b, sizeof(b));
	if (!strcmp(a, b))
		sentence_add(s->out, "%s %%", a);
	else
		sentence_add(s->out, "%s to %s %%", a, b);
}

bool say_counts_to(const struct most *m, const struct group_source *of, const struct source *s)
{
	return m->group != GROUPS ? group_of(s) == m->group : of && group_has(of, s);
}

/* Time of a CPU that went to the same as m. */
static uint64_t time_of(const struct cpu *c, const struct most *m, const struct group_source *of)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < c->sources.count; i++)
		if (say_counts_to(m, of, c->sources.row[i]))
			ns += stops_usual_sum(c->sources.row[i]);
	return ns;
}

static void add_range(const struct say *s, const struct most *m, const struct group_source *of)
{
	double least = 1, most = 0;

	for (uint32_t i = 0; i < s->g->n; i++) {
		const struct cpu *c = &s->v->cpu[s->g->lane[i]];
		double share = c->observed_ns ? (double)time_of(c, m, of) / c->observed_ns : 0;

		least = share < least ? share : least;
		most = share > most ? share : most;
	}
	add_shares(s, least, most);
	sentence_add(s->out, " each");
}

/* Adds up what sources of the host took from all CPUs of the group; *s: the first of them. */
static uint64_t sum_of_host(const struct cpu_group *g, struct source *s)
{
	uint64_t ns = 0;

	for (uint32_t i = g->nsources; i--;) {
		if (g->source[i].who.kind != SOURCE_HOST)
			continue;
		*s = g->source[i].who;
		s->net.sum = g->source[i].total_ns;
		ns += s->net.sum;
	}
	return ns;
}

void say_most(const struct say *s, uint32_t lane, const struct most *m,
	      const struct group_source *of)
{
	struct most common = *m;
	struct source host;

	common.many = true;
	if (of)
		common.source = &of->who;
	if (of && m->group == HOST && m->summed) {
		common.ns = sum_of_host(s->g, &host);
		common.source = &host;
	}
	if (!of || (m->group != GROUPS && m->group != TICK) || !of->differs) {
		sentence_most(s->out, s->v, lane, &common);
		return;
	}
	if (m->group == TICK)
		sentence_add(s->out, "the tick");
	else
		sentence_source(s->out, common.source);
	if (view_threads(s->v))
		sentence_add(s->out, ": what to do differs from thread to thread, see --all");
	else
		sentence_add(s->out, ": what to do differs from CPU to CPU, see each with -c");
}

static void add_quiet(const struct say *s)
{
	uint32_t failed = findings_count(&s->v->findings, FINDING_FAIL);
	double gaps = 0;
	char time[32];

	for (uint32_t i = 0; i < s->g->n; i++) {
		const struct cpu *c = &s->v->cpu[s->g->lane[i]];

		if (c->shorts.known && (double)c->shorts.total_ns / c->observed_ns > gaps)
			gaps = (double)c->shorts.total_ns / c->observed_ns;
	}
	sentence_add(s->out, " are quiet%s", sentence_quiet(s->v));
	if (gaps > QUIET_SHARE) {
		sentence_add(s->out, " but for gaps below their threshold, which take up to ");
		add_shares(s, gaps, gaps);
	}
	sentence_add(s->out, ": they lost ");
	add_shares(s, s->g->lost.least, s->g->lost.most);
	sentence_add(s->out, " of their time to hiccups");
	if (s->g->longest_ns.most)
		sentence_add(s->out, ", at most %s at once",
			     format_ns(s->g->longest_ns.most, time, sizeof(time)));
	if (failed)
		sentence_add(s->out,
			     "; the audit still finds %u thing%s not in order (culprit audit)",
			     failed, plural(failed));
}

static void add_not_recorded(const struct say *s, const struct most *m,
			     const struct group_source *of)
{
	uint64_t records = 0;
	char count[32];

	for (uint32_t i = 0; i < s->g->n; i++)
		records += s->v->cpu[s->g->lane[i]].counts.lost;
	sentence_add(s->out, ": %s record%s %s lost there: who took ",
		     format_count(records, count, sizeof(count)), plural(records),
		     records == 1 ? "was" : "were");
	add_range(s, m, of);
	sentence_add(s->out, " is not known; %s", view_relief(s->v));
}

/* True when nobody is to blame: records are missing. */
static bool nobody(const struct say *s, uint32_t lane, const struct most *m)
{
	return m->group == LOST || (m->group == OUTSIDE && may_be_lost(s->v, lane, m->source));
}

static void add_odd(const struct say *s, const struct most *m)
{
	uint32_t lane = s->g->longest_ns.lane;
	const struct cpu *c = &s->v->cpu[lane];
	struct most same = *m, odd;
	char time[32], name[LANE_NAME];

	if (m->group == GROUPS) { /* the row of this CPU */
		const struct group_source *of = group_source(s->g, m->source);

		for (uint32_t i = 0; of && i < c->sources.count; i++)
			if (group_has(of, c->sources.row[i]))
				same.source = c->sources.row[i];
	}
	odd = longest_of(c);
	if (!is_odd(c, &odd, &same) || odd.source == same.source)
		return;
	sentence_add(s->out, "; and up to %s at once (%s) to ",
		     format_ns(odd.ns, time, sizeof(time)), view_lane(s->v, lane, name));
	if (nobody(s, lane, &odd))
		sentence_add(s->out, "what was not recorded");
	else
		say_most(s, lane, &odd, group_source(s->g, odd.source));
}

/* Contents of the sentence on a group. Two groups of which the same is said may stand in one
 * sentence. */
enum saying { QUIET, UNREAD, NOT_KNOWN, NOBODY, LITTLE, LOSE };

struct said {
	enum saying what;
	uint32_t lane; /* index of the CPU that it is most true of */
	struct most most;
	const struct group_source *of; /* NULL: no source of the group */
};

static struct said judge(const struct say *s)
{
	bool little = s->g->lost.most <= QUIET_SHARE;
	struct said said = {.lane = little ? s->g->longest_ns.lane : s->g->lost.lane};
	const struct cpu *c = &s->v->cpu[said.lane];

	said.most = little ? longest_of(c) : most_of(c);
	said.of = said.most.source ? group_source(s->g, said.most.source) : NULL;
	if (little && s->g->longest_ns.most <= QUIET_NS)
		said.what = c->hiccups_lost ? UNREAD : QUIET;
	else if (said.most.source && nobody(s, said.lane, &said.most))
		said.what = NOT_KNOWN;
	else if (!s->v->run.traced || !said.most.source)
		said.what = NOBODY;
	else
		said.what = little ? LITTLE : LOSE;
	return said;
}

/* Adds to whom it went, and what was rare and long. */
static void add_whom(const struct say *s, const struct said *said)
{
	say_most(s, said->lane, &said->most, said->of);
	add_odd(s, &said->most);
}

/* Part of the CPUs' loss that was not recorded. */
enum unread { READ, ANY_UNREAD, MOST_UNREAD_ON_SOME, MOST_UNREAD };

static enum unread unread_of(const struct say *s, const struct said *said)
{
	uint32_t any = 0, most = 0;

	for (uint32_t i = 0; i < s->g->n; i++) {
		const struct cpu *c = &s->v->cpu[s->g->lane[i]];
		struct most own = said->most;

		own.ns = time_of(c, &said->most, said->of);
		any += c->hiccups_lost != 0;
		most += most_unread(c, &own);
	}
	return !any             ? READ
	       : !most          ? ANY_UNREAD
	       : most < s->g->n ? MOST_UNREAD_ON_SOME
				: MOST_UNREAD;
}

/* Adds what they lose, where hiccups were not recorded with those, and to whom. */
static void add_loss(const struct say *s, const struct said *said)
{
	enum unread unread = unread_of(s, said);

	if (unread != READ) {
		add_shares(s, s->g->lost.least, s->g->lost.most);
		sentence_add(s->out, " of their time each");
		say_unread(s);
		sentence_add(s->out, unread == ANY_UNREAD ? ", "
				     : unread == MOST_UNREAD
					     ? ", and who took most of it is not known; "
					     : ", and who took most of it is not known on some; ");
	}
	add_range(s, &said->most, said->of);
	sentence_add(s->out, unread > ANY_UNREAD ? " went to " : " to ");
	add_whom(s, said);
}

static void say_group(const struct say *s)
{
	struct said said = judge(s);
	char time[32], name[LANE_NAME];

	say_lanes(s);
	switch (said.what) {
	case QUIET:
		add_quiet(s);
		break;
	case UNREAD:
		sentence_add(s->out, " lose little, at most ");
		add_shares(s, s->g->lost.most, s->g->lost.most);
		sentence_add(s->out, " each");
		say_unread(s);
		sentence_add(s->out, ", and how much at once is not known");
		break;
	case NOT_KNOWN:
		add_not_recorded(s, &said.most, said.of);
		break;
	case NOBODY:
		sentence_add(s->out, " lose ");
		add_shares(s, s->g->lost.least, s->g->lost.most);
		sentence_add(s->out, " of their time each");
		say_unread(s);
		if (s->g->longest_ns.most)
			sentence_add(s->out, ", up to %s at once",
				     format_ns(s->g->longest_ns.most, time, sizeof(time)));
		sentence_add(s->out, ", and nobody can be named%s",
			     s->v->run.traced ? "" : ": they were not traced");
		break;
	case LITTLE:
		sentence_add(s->out, " lose little, at most ");
		add_shares(s, s->g->lost.most, s->g->lost.most);
		sentence_add(s->out, " each");
		say_unread(s);
		sentence_add(s->out, ", but up to %s at once (%s) to ",
			     format_ns(said.most.ns, time, sizeof(time)),
			     view_lane(s->v, said.lane, name));
		say_most(s, said.lane, &said.most, said.of);
		break;
	case LOSE:
		sentence_add(s->out, " lose ");
		add_loss(s, &said);
		break;
	}
}

static void say_any(const struct say *s)
{
	if (s->v->run.windows && !s->v->run.watch)
		say_slow(s);
	else if (s->v->run.watch && !say_lost_known(s))
		say_threads(s);
	else
		say_group(s);
}

/* ---- groups of which the same is said ---- */

/* True when one sentence can say it of both, and nothing that is rare and long goes under. */
static bool says_same(const struct say *a, const struct say *b)
{
	struct said x = judge(a), y = judge(b);
	char to_x[sizeof(a->g->verdict)] = "", to_y[sizeof(a->g->verdict)] = "";

	if (x.what != y.what || (x.what != QUIET && x.what != LOSE))
		return false;
	if (x.what == QUIET)
		return true;
	if (unread_of(a, &x) != unread_of(b, &y) ||
	    group_longer(a->g->longest_ns.most, b->g->longest_ns.most) ||
	    group_longer(b->g->longest_ns.most, a->g->longest_ns.most))
		return false;
	add_whom(&(struct say){&(struct sentence){to_x, sizeof(to_x)}, a->v, a->g}, &x);
	add_whom(&(struct say){&(struct sentence){to_y, sizeof(to_y)}, b->v, b->g}, &y);
	return !strcmp(to_x, to_y);
}

static void widen(struct spread *to, const struct spread *by)
{
	to->least = by->least < to->least ? by->least : to->least;
	if (by->most > to->most) {
		to->most = by->most;
		to->lane = by->lane;
	}
}

/* Adds the CPUs of a group, and its figures, to those that one sentence is about. */
static void join_group(struct cpu_group *to, const struct cpu_group *by)
{
	memcpy(to->lane + to->n, by->lane, by->n * sizeof(*by->lane));
	to->n += by->n;
	cpus_or(&to->cpus, &by->cpus);
	widen(&to->lost, &by->lost);
	widen(&to->longest_ns, &by->longest_ns);
}

/* Says it once of this group and those of the next ones of which the same is to be said. */
static void say_once(struct view *v, uint32_t k, uint32_t *lane)
{
	struct cpu_group *g = &v->groups.row[k], all = *g;
	struct sentence out = {g->head, sizeof(g->head)};
	struct say first = {.v = v, .g = g};

	all.lane = memcpy(lane, g->lane, g->n * sizeof(*lane));
	for (uint32_t i = k + 1; i < v->groups.n && i - k <= GROUP_NEAR; i++) {
		struct cpu_group *other = &v->groups.row[i];

		if (other->said || !v->cpu[other->first].observed_ns ||
		    !says_same(&first, &(struct say){.v = v, .g = other}))
			continue;
		join_group(&all, other);
		other->said = true;
	}
	g->head_cpus = all.n;
	if (all.n > g->n)
		say_group(&(struct say){&out, v, &all});
	sentence_hedge(&out, v);
}

void verdict_groups(struct view *v)
{
	uint32_t *lane = calloc(v->ncpus + 1, sizeof(*lane));

	for (uint32_t k = 0; k < v->groups.n; k++) {
		struct cpu_group *g = &v->groups.row[k];
		struct sentence out = {g->verdict, sizeof(g->verdict)};

		g->verdict[0] = g->head[0] = '\0';
		g->said = false;
		g->head_cpus = g->n;
		if (g->n > 1 && (v->cpu[g->first].observed_ns || g->total_ns))
			say_any(&(struct say){&out, v, g});
		sentence_hedge(&out, v);
	}
	for (uint32_t k = 0; lane && !v->run.windows && !v->run.watch && k < v->groups.n; k++)
		if (!v->groups.row[k].said && v->cpu[v->groups.row[k].first].observed_ns)
			say_once(v, k, lane);
	free(lane);
}
