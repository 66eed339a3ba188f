/* The verdict on CPUs that are alike: the rules of verdict.c over all of them. A figure is that of
 * each CPU, from the least to the most: "cpus 4-33,35-63 lose 0.49 to 0.53 % each to ...". */
#include "audit/most.h"
#include "audit/verdict.h"

#include <string.h>

#include "base/units.h"
#include "model/groups.h"
#include "model/stops.h"

#define LIST 64 /* bytes of a list of CPUs; a longer one is cut */

struct say {
	struct sentence *out;
	const struct view *v;
	const struct cpu_group *g;
};

static void add_lanes(const struct say *s)
{
	char list[LIST];

	sentence_add(s->out, "cpus %s", cpus_format(&s->g->cpus, list, sizeof(list)));
	if (list[strlen(list) - 1] == '.')
		sentence_add(s->out, " (%u)", s->g->n);
}

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

static bool counts_to(const struct most *m, const struct group_source *of, const struct source *s)
{
	return m->group != GROUPS ? group_of(s) == m->group : of && group_has(of, s);
}

/* Share of a CPU's time that went to the same as m. */
static double share_of(const struct cpu *c, const struct most *m, const struct group_source *of)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < c->sources.count; i++)
		if (counts_to(m, of, c->sources.row[i]))
			ns += stops_usual_sum(c->sources.row[i]);
	return c->observed_ns ? (double)ns / c->observed_ns : 0;
}

static void add_range(const struct say *s, const struct most *m, const struct group_source *of)
{
	double least = 1, most = 0;

	for (uint32_t i = 0; i < s->g->n; i++) {
		double share = share_of(&s->v->cpu[s->g->lane[i]], m, of);

		least = share < least ? share : least;
		most = share > most ? share : most;
	}
	add_shares(s, least, most);
	sentence_add(s->out, " each");
}

/* What it was, and what to do where that is the same on all of them. */
static void add_most(const struct say *s, uint32_t lane, const struct most *m,
		     const struct group_source *of)
{
	struct most common = *m;

	common.many = true;
	if (of)
		common.source = &of->who;
	if (!of || m->group != GROUPS || !of->differs) {
		sentence_most(s->out, s->v, lane, &common);
		return;
	}
	sentence_source(s->out, common.source);
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
	sentence_add(s->out, " are quiet");
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
			     failed, failed == 1 ? "" : "s");
}

static void add_not_recorded(const struct say *s, const struct most *m,
			     const struct group_source *of)
{
	uint64_t records = 0;
	char count[32];

	for (uint32_t i = 0; i < s->g->n; i++)
		records += s->v->cpu[s->g->lane[i]].counts.lost;
	sentence_add(s->out, ": %s records were lost there: who took ",
		     format_count(records, count, sizeof(count)));
	add_range(s, m, of);
	sentence_add(s->out, " is not known; give culprit a CPU of its own with -H, or measure "
			     "fewer CPUs at once with -c");
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
	char time[32];

	if (m->group == GROUPS) { /* the row of this CPU */
		const struct group_source *of = group_source(s->g, m->source);

		for (uint32_t i = 0; of && i < c->sources.count; i++)
			if (group_has(of, c->sources.row[i]))
				same.source = c->sources.row[i];
	}
	odd = odd_of(c, &same);
	if (!odd.source || odd.source == same.source)
		return;
	sentence_add(s->out, "; and up to %s at once (cpu %u) to ",
		     format_ns(odd.ns, time, sizeof(time)), c->number);
	if (nobody(s, lane, &odd))
		sentence_add(s->out, "what was not recorded");
	else
		add_most(s, lane, &odd, group_source(s->g, odd.source));
}

static void say_group(const struct say *s)
{
	bool little = s->g->lost.most <= QUIET_SHARE;
	uint32_t lane = little ? s->g->longest_ns.lane : s->g->lost.lane;
	const struct cpu *c = &s->v->cpu[lane];
	struct most m = little ? longest_of(c) : most_of(c);
	const struct group_source *of = m.source ? group_source(s->g, m.source) : NULL;
	char time[32];

	add_lanes(s);
	if (little && s->g->longest_ns.most <= QUIET_NS) {
		add_quiet(s);
	} else if (m.source && nobody(s, lane, &m)) {
		add_not_recorded(s, &m, of);
	} else if (!s->v->run.traced || !m.source) {
		sentence_add(s->out, " lose ");
		add_shares(s, s->g->lost.least, s->g->lost.most);
		sentence_add(s->out,
			     " of their time each, up to %s at once, and nobody can be named%s",
			     format_ns(s->g->longest_ns.most, time, sizeof(time)),
			     s->v->run.traced ? "" : ": they were not traced");
	} else if (little) {
		sentence_add(s->out, " lose little, at most ");
		add_shares(s, s->g->lost.most, s->g->lost.most);
		sentence_add(s->out, " each, but up to %s at once (cpu %u) to ",
			     format_ns(m.ns, time, sizeof(time)), c->number);
		add_most(s, lane, &m, of);
	} else {
		sentence_add(s->out, " lose ");
		add_range(s, &m, of);
		sentence_add(s->out, " to ");
		add_most(s, lane, &m, of);
		add_odd(s, &m);
	}
}

void verdict_groups(struct view *v)
{
	for (uint32_t k = 0; k < v->groups.n; k++) {
		struct cpu_group *g = &v->groups.row[k];
		struct sentence out = {g->verdict, sizeof(g->verdict)};

		out.buf[0] = '\0';
		if (g->n > 1 && v->cpu[g->first].observed_ns)
			say_group(&(struct say){&out, v, g});
	}
}
