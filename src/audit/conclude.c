/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/conclude.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/advise.h"
#include "audit/audit.h"
#include "audit/book.h"
#include "audit/checks.h"
#include "audit/entries.h"
#include "audit/verdict.h"
#include "base/policy.h"
#include "base/units.h"

/* True for a thread that was there before the window and may leave these CPUs: the default affinity
 * of tasks concerns it. */
static bool is_movable(const struct view *v, const struct source *s)
{
	return advise_movable(v, s->id);
}

/* True when the book's advice is on this very thread or interrupt. */
static bool has_own_advice(const struct source *s)
{
	const struct cause *c = s->cause ? cause_by_id(s->cause) : NULL;

	return c && cause_names_one(c);
}

/* A finding on the machine replaces the book's advice, except advice on one thread or interrupt:
 * there only a failure of isolation does, for a thread that it lets in. */
static bool concerns(const struct view *v, unsigned cpu, const struct finding *f,
		     const struct source *s)
{
	if (s->kind == SOURCE_HOST || !f->fix || !finding_explains(f, cpu, s))
		return false; /* findings are of the guest */
	if (f->about || !has_own_advice(s))
		return true;
	return f->level == FINDING_FAIL && s->kind == SOURCE_THREAD && !s->kernel_thread &&
	       is_movable(v, s);
}

const struct finding *finding_of(const struct view *v, unsigned cpu, const struct source *s)
{
	const struct finding *best = NULL;

	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *f = &v->findings.row[i];

		if (concerns(v, cpu, f, s) && (!best || f->about > best->about ||
					       (f->about == best->about && f->level > best->level)))
			best = f;
	}
	return best;
}

/* Takes a finding's fix as advice: "boot with ..." for parameters. When many are listed, takes the
 * fix for this one. */
static int take_fix(const struct finding *f, unsigned cpu, struct source *s)
{
	const struct finding_item *one = finding_item(f, cpu, s);
	const char *fix = one && one->fix ? one->fix : f->fix;
	const char *old = f->replaced ? f->replaced : "";
	char *advice;

	if (strlen(fix) + strlen(old) > FIX_MAX)
		advice = strdup(finding_elsewhere(f));
	else if (asprintf(&advice, "%s%s%s%s", f->fix_kind == FIX_BOOT ? "boot with " : "", fix,
			  *old ? " in place of " : "", old) < 0)
		advice = NULL;
	if (!advice)
		return -ENOMEM;
	free(s->advice);
	s->advice = advice;
	s->cause = f->cause;
	return 0;
}

/* The CPU of a lane; a watched thread's lane is none. */
static unsigned lane_cpu(const struct view *v, uint32_t i)
{
	return view_threads(v) ? UINT_MAX : v->cpu[i].number;
}

static void add_costs(struct view *v, struct finding *f)
{
	const struct cause *c = f->cause ? cause_by_id(f->cause) : NULL;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct sources *t = &v->cpu[i].sources;

		for (uint32_t k = 0; k < t->count; k++) {
			const struct source *s = t->row[k];
			struct finding_item *one;

			if (!s->net.count || s->kind == SOURCE_HOST ||
			    !finding_explains(f, lane_cpu(v, i), s))
				continue;
			f->cost_ns += s->net.sum;
			one = finding_item(f, lane_cpu(v, i), s);
			if (one)
				one->cost_ns += s->net.sum;
		}
	}
	f->costed = v->run.traced && f->known &&
		    (f->cost_ns || f->about || (c && cause_has_sources(c, view_names_hidden(v))));
}

/* Warns of a real-time thread that is to be moved: it would take as much of another CPU. */
static int warn_of(const struct view *v, uint32_t lane, struct source *s)
{
	char share[32], policy[POLICY_TEXT], *advice;
	const struct real_time_told *told;

	if (view_threads(v) || s->kind != SOURCE_THREAD || s->kernel_thread || !s->id ||
	    !s->advice || strncmp(s->advice, "taskset -pc ", 12) != 0 ||
	    s->net.sum < v->cpu[lane].observed_ns / 2)
		return 0;
	told = advise_real_time(v, s);
	if (!told)
		return 0;
	format_percent(100.0 * s->net.sum / v->cpu[lane].observed_ns, share, sizeof(share));
	policy_format(told->policy, told->priority, NULL, policy, sizeof(policy));
	if (asprintf(&advice, "%s at %s %% holds up what shares its CPU, there too: %s", policy,
		     share, s->advice) < 0)
		return -ENOMEM;
	free(s->advice);
	s->advice = advice;
	return 0;
}

/* Replaces advice by the finding's fix where a finding explains the source, so that one cause has
 * one fix, also in the verdict. */
static int take_fix_of(struct view *v, uint32_t lane, struct source *s)
{
	const struct finding *f = finding_of(v, lane_cpu(v, lane), s);

	int err = f && s->net.count ? take_fix(f, lane_cpu(v, lane), s) : 0;

	return err ? err : warn_of(v, lane, s);
}

static int take_fixes(struct view *v)
{
	int err = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		for (uint32_t k = 0; k < v->cpu[i].sources.count && !err; k++)
			err = take_fix_of(v, i, v->cpu[i].sources.row[k]);
	return err;
}

int conclude_source(struct view *v, uint32_t lane, struct source *s)
{
	int err = advise_source(v, lane, s);

	return err ? err : take_fix_of(v, lane, s);
}

int conclude(struct view *v)
{
	struct audit_options o = {.targets = v->run.cpus, .realtime = v->run.real_time};
	int err = advise(v);

	findings_free(&v->findings);
	if (!err && facts_taken(&v->facts))
		err = audit(&v->facts, &o, &v->findings);
	for (uint32_t i = 0; i < v->findings.count; i++)
		add_costs(v, &v->findings.row[i]);
	findings_rank(&v->findings);
	if (!err)
		err = take_fixes(v);
	if (!err)
		err = groups_make(v);
	if (!err)
		err = entries_make(v);
	verdict(v);
	verdict_groups(v);
	return err;
}
