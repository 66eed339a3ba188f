/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/limits.h"

#include <errno.h>

#include "audit/advise.h"
#include "base/confine.h"
#include "base/escape.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/output.h"

#define FIELD(name) offsetof(struct limits, name)

/* Half a tick of a counter of 19.2 MHz: a given threshold is a whole number of ticks. */
#define ROUNDED_NS 30

const struct opt limits_opts[] = {
	{0, "max-hiccup", "TIME", "exit with 2 if a hiccup is longer", FIELD(max_hiccup_ns),
	 opt_set_time},
	{0, "max-lost", "PERCENT", "exit with 2 if a CPU loses more of its time to hiccups",
	 FIELD(max_lost), opt_set_percent},
	{0, "junit", "FILE",
	 "write what was judged, a case for each CPU and limit, as JUnit's XML: Jenkins and GitLab "
	 "read it",
	 FIELD(cases.junit), output_set_file, .writes = true},
	{0, "tap", "FILE", "the same in the Test Anything Protocol", FIELD(cases.tap),
	 output_set_file, .writes = true},
	{0},
};

int limits_set_trigger(const char *text, void *field, const struct opt *row, char *why,
		       size_t whylen)
{
	struct triggers *t = field;

	if (t->count == TRIGGERS_MAX) {
		snprintf(why, whylen, "'%.60s' is one too many: at most %d can be given", text,
			 TRIGGERS_MAX);
		return -EINVAL;
	}
	if (trigger_parse(text, *(const unsigned *)row->context, &t->row[t->count], why, whylen))
		return -EINVAL;
	t->count++;
	return 0;
}

const struct opt limits_stop_on_opts[] = {
	{0, "stop-on", "EXPR",
	 "end at once, with the full report and exit status 2, when this happens: hiccup>100us, "
	 "say; culprit help triggers has the words; may be given several times",
	 FIELD(stop_on), limits_set_trigger},
	{0},
};

static void find_cause(void *ctx, uint32_t lane, struct source *s)
{
	if (!s->cause) /* out of memory: it has none this time */
		advise_source(ctx, lane, s);
}

/* True where its time is that of one hiccup. */
static bool is_of_length(const struct trigger *t)
{
	return t->event == TRIGGER_HICCUP || t->event == TRIGGER_WAKE;
}

uint64_t limits_shortest(const struct limits *l)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < l->stop_on.count; i++)
		if (is_of_length(&l->stop_on.row[i]) && (!ns || l->stop_on.row[i].above < ns))
			ns = l->stop_on.row[i].above;
	return ns;
}

/* Refuses a time that is below what counts as a hiccup of this lane. file: of its recording; NULL:
 * none. */
static int check_time(const struct view *v, uint32_t i, const char *what, uint64_t ns,
		      const char *file)
{
	const struct cpu *c = &v->cpu[i];
	uint64_t from = cpu_counts_from(c);
	char a[32], cpu[32];

	if (from <= ns + (v->run.threshold_auto ? 0 : ROUNDED_NS))
		return 0;
	snprintf(cpu, sizeof(cpu), view_threads(v) ? "a watched thread" : "CPU %u", c->number);
	return complain("%s%s%s: nobody can tell, as of %s only what takes %s or more is a hiccup: "
			"give a longer time, or %sa shorter -t",
			file ? file : "", file ? ": " : "", what, cpu,
			format_ns(from, a, sizeof(a)),
			file && !c->measured_from_ns ? "record with " : "");
}

/* True where the longest operation of each series is known, or will be when its window ends. */
static bool knows_longest(const struct cpu *c, bool live)
{
	return series_thresholds(c->series, c->nseries) && (live || !c->series[0].open);
}

int limits_check(const struct limits *l, const struct view *v, const char *file)
{
	char what[64], a[32];

	snprintf(what, sizeof(what), "--max-hiccup %s", format_ns(l->max_hiccup_ns, a, sizeof(a)));
	for (uint32_t i = 0; l->max_hiccup_ns && i < v->ncpus; i++)
		if (!(file && v->cpu[i].hiccups.max > l->max_hiccup_ns) && /* crossed already */
		    !knows_longest(&v->cpu[i], !file) &&
		    check_time(v, i, what, l->max_hiccup_ns, file))
			return -1;
	return 0;
}

/* A threshold that was learned from a workload is above its triggers only where they are below the
 * least that it may be (limits_shortest). Lanes that roam have it of their own. */
static int check_trigger(const struct trigger *t, const struct view *v)
{
	char what[TRIGGER_TEXT + 2];

	snprintf(what, sizeof(what), "'%s'", t->text);
	for (uint32_t i = 0; is_of_length(t) && i < v->ncpus; i++)
		if (!(v->run.threshold_auto && view_threads(v) && v->cpu[i].nseries) &&
		    check_time(v, i, what, t->above, NULL))
			return -1;
	return 0;
}

int limits_begin_triggers(struct triggers *t, struct view *v)
{
	for (uint32_t i = 0; i < t->count; i++) {
		if (!v->run.traced && t->row[i].who[0])
			return complain("'%s': with --no-trace nobody knows by whom: leave out one "
					"of the two",
					t->row[i].text);
		if (check_trigger(&t->row[i], v))
			return -1;
	}
	t->find_cause = find_cause;
	t->ctx = v;
	return triggers_begin(t, v->ncpus) ? complain("out of memory") : 0;
}

int limits_begin(struct limits *l, struct view *v)
{
	return limits_check(l, v, NULL) ? -1 : limits_begin_triggers(&l->stop_on, v);
}

void limits_end(struct limits *l)
{
	triggers_free(&l->stop_on);
	cases_close(&l->cases, false);
}

/* Writes "CPU 3", or a watched thread's name, which may hold any bytes. Returns buf. */
static const char *lane_name(const struct view *v, uint32_t i, char buf[LANE_NAME])
{
	if (view_threads(v))
		return view_lane(v, i, buf);
	snprintf(buf, LANE_NAME, "CPU %u", v->cpu[i].number);
	return buf;
}

const char *limits_describe(const struct view *v, const struct trigger_hit *hit,
			    char buf[LIMITS_HIT])
{
	char name[4 * LANE_NAME], lane[LANE_NAME], at[32], took[32];

	format_ns(hit->start_ns - v->run.started_ns, at, sizeof(at));
	if (hit->lane >= v->ncpus) {
		snprintf(buf, LIMITS_HIT, "+%s: %s", at, hit->trigger->text);
		return buf;
	}
	/* say() escapes what it prints. No sentence begins as a thread wants it to, with "-" say.
	 */
	if (view_threads(v))
		snprintf(name, sizeof(name), "thread %s", view_lane(v, hit->lane, lane));
	else
		snprintf(name, sizeof(name), "CPU %u", v->cpu[hit->lane].number);
	snprintf(buf, LIMITS_HIT, "%s at +%s: %s: %s%s%s%s", name, at, hit->trigger->text,
		 hit->trigger->event >= TRIGGER_LOST ? "with the hiccup of " : "",
		 format_ns(hit->duration_ns, took, sizeof(took)),
		 hit->who[0] ? ", most of it " : "", hit->who);
	return buf;
}

void limits_hear(struct limits *l, const struct view *v, uint32_t lane, const struct account *a)
{
	struct trigger_hit hit;

	if (!triggers_hear(&l->stop_on, v, lane, a, &hit) || l->stopped)
		return;
	l->stopped = true;
	limits_describe(v, &hit, l->stopped_by);
	say("stops: %s", l->stopped_by);
}

/* One of the things that are judged: of all CPUs, or of the run. */
struct verdict {
	const char *host, *lane;
	double seconds;
	int code;
};

/* Says why it failed, where it did, and keeps it as a case. failed: the exit code then. */
static void judge(struct limits *l, struct verdict *c, const char *what, const char *why,
		  int failed)
{
	if (why[0]) {
		say("%s: %s", c->lane, why);
		c->code = failed > c->code ? failed : c->code;
	}
	cases_add(&l->cases, c->host, c->lane, what, c->seconds, why[0] ? why : NULL);
}

static void judge_hiccups(struct limits *l, struct verdict *c, const struct view *v,
			  const struct cpu *r)
{
	char what[64], why[160] = "", a[32], b[32];
	uint64_t longest = 0; /* operation, where there are some */
	uint64_t lost = r->hiccups_lost + r->unread;

	snprintf(what, sizeof(what), "--max-hiccup %s", format_ns(l->max_hiccup_ns, b, sizeof(b)));
	for (uint32_t i = 0; i < r->nseries; i++)
		if (r->series[i].threshold_ns && r->series[i].longest_ns > longest)
			longest = r->series[i].longest_ns;
	if (r->hiccups.max > l->max_hiccup_ns)
		snprintf(why, sizeof(why), "a hiccup of %s is longer than %s",
			 format_ns(r->hiccups.max, a, sizeof(a)), what);
	else if (longest > l->max_hiccup_ns)
		snprintf(why, sizeof(why), "an operation of %s is longer than %s",
			 format_ns(longest, a, sizeof(a)), what);
	else if (r->waits_beyond_ns > l->max_hiccup_ns && view_thread_known(v))
		snprintf(why, sizeof(why),
			 "a wait of %s that was not over when the window ended is longer than %s",
			 format_ns(r->waits_beyond_ns, a, sizeof(a)), what);
	else if (lost)
		snprintf(why, sizeof(why),
			 "%s hiccup%s lost, and %s may have been longer than --max-hiccup",
			 format_count(lost, a, sizeof(a)), lost == 1 ? " was" : "s were",
			 lost == 1 ? "it" : "each of them");
	else if (r->unpaired && view_threads(v))
		snprintf(why, sizeof(why),
			 "%s time%s nobody saw when it left its CPU: a loss longer than "
			 "--max-hiccup may have been missed",
			 format_count(r->unpaired, a, sizeof(a)), plural(r->unpaired));
	judge(l, c, what, why, EXIT_CROSSED);
}

/* Judges what is of watched threads, and no one of them is known for. */
static void judge_unseen(struct limits *l, struct verdict *c, const struct view *v)
{
	uint64_t waits = view_waits_lost(v), records = v->run.records_lost;
	char what[64], why[160] = "", a[32], b[32];

	snprintf(what, sizeof(what), "--max-hiccup %s", format_ns(l->max_hiccup_ns, b, sizeof(b)));
	if (v->run.never_ran_ns > l->max_hiccup_ns && view_thread_known(v))
		snprintf(why, sizeof(why),
			 "a chosen thread that never ran had waited for %s when the window ended, "
			 "longer than %s",
			 format_ns(v->run.never_ran_ns, a, sizeof(a)), what);
	else if (waits)
		snprintf(why, sizeof(why),
			 "%s wait%s no place in the table, and %s may have been longer than "
			 "--max-hiccup",
			 format_count(waits, a, sizeof(a)), waits == 1 ? " had" : "s had",
			 waits == 1 ? "it" : "each of them");
	else if (records)
		snprintf(why, sizeof(why),
			 "%s record%s lost: a loss longer than --max-hiccup may have been missed",
			 format_count(records, a, sizeof(a)), records == 1 ? " was" : "s were");
	judge(l, c, what, why, EXIT_CROSSED);
	c->lane = "reports of programs";
	why[0] = '\0';
	if (v->run.reports_lost)
		snprintf(why, sizeof(why),
			 "%s %s not read, and may have been longer than --max-hiccup",
			 format_count(v->run.reports_lost, a, sizeof(a)),
			 v->run.reports_lost == 1 ? "was" : "were");
	judge(l, c, what, why, EXIT_CROSSED);
}

/* Tells why view_lost() does not know. */
static const char *why_not_known(const struct view *v, const struct cpu *r)
{
	if (v->run.watch && !view_thread_known(v))
		return "this is a part";
	if (v->run.watch && r->reported)
		return "it reported its losses itself, which may overlap";
	if (v->run.watch && r->unpaired)
		return "not all of its time was seen";
	return r->observed_ns ? "parts of the recording are missing" : "it was not observed";
}

static void judge_lost(struct limits *l, struct verdict *c, const struct view *v, uint32_t i)
{
	double lost = 100 * view_lost(v, i);
	char what[64], why[160] = "", a[32], b[32];

	snprintf(what, sizeof(what), "--max-lost %s", format_percent(l->max_lost, b, sizeof(b)));
	if (!view_lost_known(v, i))
		snprintf(why, sizeof(why), "what share of its time it lost is not known: %s",
			 why_not_known(v, &v->cpu[i]));
	else if (lost > l->max_lost)
		snprintf(why, sizeof(why), "%s %% of its time lost is more than %s",
			 format_percent(lost, a, sizeof(a)), what);
	judge(l, c, what, why, view_lost_known(v, i) ? EXIT_CROSSED : EXIT_INCOMPLETE);
}

int limits_open(struct limits *l)
{
	return cases_open(&l->cases);
}

bool limits_given(const struct limits *l)
{
	return l->max_hiccup_ns || l->max_lost > 0 || l->stop_on.count || l->cases.junit ||
	       l->cases.tap;
}

uint64_t limits_rights(const struct limits *l)
{
	return l->cases.junit || l->cases.tap ? RIGHTS_OF_FILES : 0;
}

/* Judges the run as a whole. Returns the exit code. */
static int judge_run(struct limits *l, const struct view *v, int code)
{
	const char *host = v->host.hostname, *lack = v->run.incomplete;
	bool nobody = limits_given(l) && v->run.watch && !v->ncpus; /* nor a time to be lost */
	double seconds = v->run.duration_ns / 1e9;
	struct verdict c = {.host = host, .lane = "the run", .seconds = seconds, .code = code};

	if (l->max_hiccup_ns && view_threads(v))
		judge_unseen(l, &c, v);
	if (l->stop_on.count)
		cases_add(&l->cases, host, "the run", "--stop-on", seconds,
			  l->stopped ? l->stopped_by : NULL);
	if (nobody)
		say("nothing was judged: " VIEW_NOBODY);
	if (nobody && !lack[0])
		lack = VIEW_NOBODY;
	cases_add(&l->cases, host, "the run", "as much was measured as asked for", seconds,
		  lack[0] ? lack : NULL);
	return lack[0] && limits_given(l) ? EXIT_INCOMPLETE : c.code;
}

int limits_crossed(struct limits *l, const struct view *v)
{
	int code = l->stopped ? EXIT_CROSSED : EXIT_OK;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *r = &v->cpu[i];
		struct verdict c = {.host = v->host.hostname, .seconds = r->observed_ns / 1e9};
		char name[LANE_NAME];

		c.lane = lane_name(v, i, name);
		if (l->max_hiccup_ns)
			judge_hiccups(l, &c, v, r);
		if (l->max_lost > 0)
			judge_lost(l, &c, v, i);
		if (c.code > code)
			code = c.code;
	}
	return judge_run(l, v, code);
}

int limits_write(struct limits *l)
{
	return cases_close(&l->cases, true);
}
