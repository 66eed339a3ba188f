#include "cmd/limits.h"

#include <errno.h>

#include "audit/advise.h"
#include "base/escape.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"

#define FIELD(name) offsetof(struct limits, name)

const struct opt limits_opts[] = {
	{0, "max-hiccup", "TIME", "exit with 2 if a hiccup is longer", FIELD(max_hiccup_ns),
	 opt_set_time},
	{0, "max-lost", "PERCENT", "exit with 2 if a CPU loses more of its time to hiccups",
	 FIELD(max_lost), opt_set_percent},
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
	if (trigger_parse(text, *(const unsigned *)row->arg, &t->row[t->count], why, whylen))
		return -EINVAL;
	t->count++;
	return 0;
}

int limits_set_stop_on(const char *text, void *field, const struct opt *row, char *why,
		       size_t whylen)
{
	return limits_set_trigger(text, &((struct limits *)field)->stop_on, row, why, whylen);
}

static void find_cause(void *ctx, uint32_t lane, struct source *s)
{
	if (!s->cause) /* out of memory: it has none this time */
		advise_source(ctx, lane, s);
}

int limits_begin_triggers(struct triggers *t, struct view *v)
{
	t->find_cause = find_cause;
	t->ctx = v;
	return triggers_begin(t, v->ncpus) ? complain("out of memory") : 0;
}

int limits_begin(struct limits *l, struct view *v)
{
	return limits_begin_triggers(&l->stop_on, v);
}

void limits_end(struct limits *l)
{
	triggers_free(&l->stop_on);
}

/* Writes "CPU 3", or a watched thread's name. Returns buf. */
static const char *lane_name(const struct view *v, uint32_t i, char buf[4 * LANE_NAME])
{
	char lane[LANE_NAME];

	if (v->run.watch)
		return escape_text(view_lane(v, i, lane), SIZE_MAX, buf, 4 * LANE_NAME);
	snprintf(buf, 4 * LANE_NAME, "CPU %u", v->cpu[i].number);
	return buf;
}

const char *limits_describe(const struct view *v, const struct trigger_hit *hit,
			    char buf[LIMITS_HIT])
{
	char name[4 * LANE_NAME], at[32], took[32];

	format_ns(hit->start_ns - v->run.started_ns, at, sizeof(at));
	if (hit->lane >= v->ncpus) {
		snprintf(buf, LIMITS_HIT, "+%s: %s", at, hit->trigger->text);
		return buf;
	}
	/* say() escapes what it prints */
	if (v->run.watch)
		view_lane(v, hit->lane, name);
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
	char text[LIMITS_HIT];

	if (!triggers_hear(&l->stop_on, v, lane, a, &hit) || l->stopped)
		return;
	l->stopped = true;
	say("stops: %s", limits_describe(v, &hit, text));
}

static int check_lane(const struct limits *l, const struct view *v, uint32_t i)
{
	const struct cpu *r = &v->cpu[i];
	const struct hist *h = &r->hiccups;
	double lost = r->observed_ns ? 100.0 * (h->sum + r->hiccups_lost_ns) / r->observed_ns : 0;
	char name[4 * LANE_NAME], a[32], b[32];
	int code = EXIT_OK;

	lane_name(v, i, name);
	if (l->max_hiccup_ns && h->max > l->max_hiccup_ns) {
		say("%s: a hiccup of %s is longer than --max-hiccup %s", name,
		    format_ns(h->max, a, sizeof(a)), format_ns(l->max_hiccup_ns, b, sizeof(b)));
		code = EXIT_CROSSED;
	}
	if (l->max_hiccup_ns && r->hiccups_lost) {
		say("%s: %s hiccups were lost, and each of them may have been longer than "
		    "--max-hiccup",
		    name, format_count(r->hiccups_lost, a, sizeof(a)));
		code = EXIT_CROSSED;
	}
	if (l->max_lost > 0 && lost > l->max_lost) {
		say("%s: %s %% of its time lost is more than --max-lost %s", name,
		    format_percent(lost, a, sizeof(a)), format_percent(l->max_lost, b, sizeof(b)));
		code = EXIT_CROSSED;
	}
	return code;
}

int limits_crossed(const struct limits *l, const struct view *v)
{
	int code = l->stopped ? EXIT_CROSSED : EXIT_OK;

	for (uint32_t i = 0; i < v->ncpus; i++)
		if (check_lane(l, v, i) == EXIT_CROSSED)
			code = EXIT_CROSSED;
	return code;
}
