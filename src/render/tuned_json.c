/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/json.h"
#include "render/diff.h"
#include "render/tried.h"
#include "render/tuned.h"

static void put_look(struct json *j, const char *key, const struct tuned_look *l)
{
	if (!l->observed_ns) {
		json_null(j, key);
		return;
	}
	json_object_flat(j, key);
	json_u64(j, "observed_ns", l->observed_ns);
	json_u64(j, "hiccups", l->hiccups);
	json_u64(j, "lost_ns", l->lost_ns);
	json_u64(j, "worst_ns", l->worst_ns);
	json_u64(j, "hiccups_lost", l->unread);
	json_end(j);
}

static void put_step(struct json *j, const struct tuned_step *s)
{
	json_object(j, NULL);
	render_tried_fixes(j, s->fix, s->nfixes);
	json_string(j, "why_not", s->why[0] ? s->why : NULL);
	json_string(j, "cut_short", s->cut[0] ? s->cut : NULL);
	json_string(j, "verdict", tried_verdict_name(s->verdict));
	json_bool(j, "kept", s->kept);
	render_tried_knobs(j, &s->knobs, true);
	json_u64(j, "windows", s->windows);
	json_u64(j, "window_ns", s->window_ns);
	if (s->verdict != TRIED_NOT) {
		json_bool(j, "in_turn", s->in_turn);
		render_tried_cells(j, "sources_of_causes", s->asked);
		render_tried_cells(j, "total", s->total);
	} else {
		json_null(j, "in_turn");
	}
	json_u64(j, "left_to_others", s->others);
	json_u64(j, "gone", s->gone);
	json_u64(j, "without_offline_cpus", s->offline);
	json_bool(j, "undo_failed", s->stuck);
	json_end(j);
}

int render_tuned_json(const struct tuned *t, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", TUNED_SCHEMA);
	json_string(&j, "version", CULPRIT_VERSION);
	json_string(&j, "kernel", t->host->kernel);
	render_cpus(&j, "cpus", t->cpus);
	json_bool(&j, "dry_run", t->dry);
	put_look(&j, "before", &t->before);
	put_look(&j, "after", &t->after);
	json_array(&j, "steps");
	for (uint32_t i = 0; i < t->nsteps; i++)
		put_step(&j, &t->step[i]);
	json_end(&j);
	json_string(&j, "boot", t->boot);
	json_string(&j, "goal", t->goal);
	if (t->goal && t->reached != GOAL_UNKNOWN)
		json_bool(&j, "goal_met", t->reached == GOAL_MET);
	else
		json_null(&j, "goal_met");
	json_string(&j, "ended", tuned_ended(t));
	json_end(&j);
	return ferror(out) ? -EIO : 0;
}
