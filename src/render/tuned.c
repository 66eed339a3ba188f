/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of tuning a machine:
 *
 *   culprit 0.1 · linux 6.12.9 · cpu 3 · tuned
 *
 *   Before and after
 *                            before    after
 *     time lost to hiccups   1.21 %  0.013 %
 *     ...
 *
 *   Kept
 *     fix      its sources  with it  95 % interval      all  with it  verdict
 *     K34:812      12.1 ms        0      0 - 0.081  14.1 ms   2.0 ms  helps
 *
 *   What was changed
 *     [K34] Another program's thread on this CPU
 *     the CPUs of sh [812]: 3, now 0-2
 *   ...
 */
#include "render/tuned.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "render/diff.h"

#define NAMED 256

/* "K34:812 + K09", as culprit try takes them */
static const char *name_of(const struct tuned_step *s, char buf[NAMED])
{
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < s->nfixes && at < NAMED; i++) {
		at += snprintf(buf + at, NAMED - at, "%s%s", i ? " + " : "", s->fix[i].id);
		if (s->fix[i].number && at < NAMED)
			at += snprintf(buf + at, NAMED - at, ":%u", s->fix[i].number);
	}
	return buf;
}

/* ---- before and after ---- */

static void put_lost(struct sheet *s, const struct tuned_look *l)
{
	char a[32];

	sheet_cell(
		s, "%s %%",
		format_percent(100.0 * (double)l->lost_ns / (double)l->observed_ns, a, sizeof(a)));
}

static void put_rate(struct sheet *s, const struct tuned_look *l)
{
	char a[32];

	sheet_cell(s, "%s",
		   render_diff_number((double)l->hiccups * NSEC_PER_SEC / (double)l->observed_ns, a,
				      sizeof(a)));
}

static void put_worst(struct sheet *s, const struct tuned_look *l)
{
	char a[32];

	sheet_cell(s, "%s", format_ns(l->worst_ns, a, sizeof(a)));
}

/* Says what the table cannot tell. */
static void write_unread(struct sheet *s, const struct tuned_look *l, const char *when)
{
	char a[32];

	if (l->unread)
		sheet_say(s,
			  "Of the hiccups %s, %s came faster than they could be read: their time "
			  "is counted, but the worst may have been longer.",
			  when, format_count(l->unread, a, sizeof(a)));
}

static void write_looks(struct sheet *s, const struct tuned *t)
{
	static const char *const headings[] = {"", "before", "after"};
	static const struct {
		const char *what;
		void (*put)(struct sheet *s, const struct tuned_look *l);
	} rows[] = {{"time lost to hiccups", put_lost},
		    {"hiccups a second of a CPU", put_rate},
		    {"worst hiccup", put_worst}};
	bool after = t->after.observed_ns;
	char a[32], b[32];

	if (!t->before.observed_ns)
		return;
	sheet_heading(s, after ? "Before and after" : "Before");
	sheet_table(s, headings, after ? 3 : 2, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sheet_cell(s, "%s", rows[i].what);
		rows[i].put(s, &t->before);
		if (after)
			rows[i].put(s, &t->after);
		sheet_end_row(s);
	}
	sheet_end_table(s);
	write_unread(s, &t->before, "before");
	write_unread(s, &t->after, "after");
	if (after)
		sheet_say(s,
			  "Windows of %s and %s of the CPUs together, one before the first and "
			  "one behind the last change: by chance alone they differ, too. What "
			  "a fix brought is below, measured without and with it.",
			  format_ns(t->before.observed_ns, a, sizeof(a)),
			  format_ns(t->after.observed_ns, b, sizeof(b)));
	else if (tuned_kept(t))
		sheet_say(s, "No whole window was measured behind the last change.");
}

/* ---- steps ---- */

static void put_cells(struct sheet *s, const struct diff_cell c[2])
{
	char a[32];

	for (int i = 0; i < 2; i++)
		sheet_cell(s, "%s",
			   c[i].total_ns ? format_mean_ns(c[i].ns_per_s, a, sizeof(a)) : "0");
}

static void write_step(struct sheet *s, const struct tuned_step *x)
{
	const struct diff_cell *c = x->asked;
	const struct ratio *r =
		c[0].total_ns && c[1].total_ns ? &c[1].time_ratio : &c[1].count_ratio;
	char name[NAMED], a[32], b[32];

	sheet_cell(s, "%s", name_of(x, name));
	put_cells(s, c);
	sheet_cell(s, "%s - %s", render_diff_number(r->low, a, sizeof(a)),
		   render_diff_number(r->high, b, sizeof(b)));
	put_cells(s, x->total);
	sheet_cell(s, "%s", tried_verdict_name(x->verdict));
	sheet_end_row(s);
}

static void write_steps(struct sheet *s, const struct tuned *t, const char *heading,
			bool (*is)(const struct tuned_step *x))
{
	static const char *const headings[] = {"fix", "its sources", "with it", "95 % interval",
					       "all", "with it",     "verdict"};
	bool any = false;

	for (uint32_t i = 0; i < t->nsteps; i++) {
		if (!is(&t->step[i]))
			continue;
		if (!any) {
			sheet_heading(s, heading);
			sheet_table(s, headings, 7, true);
		}
		any = true;
		write_step(s, &t->step[i]);
	}
	if (any)
		sheet_end_table(s);
}

static bool was_kept(const struct tuned_step *x)
{
	return x->kept;
}

static bool was_measured(const struct tuned_step *x)
{
	return !x->why[0] && x->verdict != TRIED_NOT;
}

/* Says how the figures of the steps were measured. */
static void write_method(struct sheet *s, const struct tuned *t)
{
	const struct tuned_step *any = NULL;
	char lagging[NAMED] = "", name[NAMED], a[32];
	bool in_turn = false;
	size_t at = 0;

	for (uint32_t i = 0; i < t->nsteps; i++) {
		const struct tuned_step *x = &t->step[i];

		if (!was_measured(x))
			continue;
		any = x;
		in_turn |= x->in_turn;
		if (!x->in_turn && at < sizeof(lagging))
			at += snprintf(lagging + at, sizeof(lagging) - at, "%s%s", at ? ", " : "",
				       name_of(x, name));
	}
	if (!any)
		return;
	sheet_say(s,
		  "Times are of each second of a CPU, in %llu windows of %s without and as many "
		  "with the fix%s; the interval is that of its sources, with to without.",
		  (unsigned long long)any->windows, format_ns(any->window_ns, a, sizeof(a)),
		  in_turn ? ", in turn" : "");
	if (at)
		sheet_say(s,
			  "Of %s all windows with the fix are behind those without, as the kernel "
			  "goes on with it for a while after it was taken back.",
			  lagging);
}

#define KNOBS_SHOWN   12
#define REFUSED_SHOWN 12

/* The titles of a step's fixes, and its settings. */
static void write_change(struct sheet *s, const struct tuned_step *x)
{
	char name[512];

	for (uint32_t i = 0; i < x->nfixes; i++)
		sheet_item(s, "[%s] %s", x->fix[i].id, x->fix[i].title);
	for (uint32_t k = 0; k < x->knobs.count && k < KNOBS_SHOWN; k++) {
		const struct knob *knob = &x->knobs.row[k];

		sheet_item(s, "%s: %.300s, %s %.300s", knob_name(knob, name, sizeof(name)),
			   *knob->old ? knob->old : "nothing", x->kept ? "now" : "with the fix",
			   knob->new);
	}
	if (x->knobs.count > KNOBS_SHOWN)
		sheet_item(s, "and %u more: all of them with -f json",
			   x->knobs.count - KNOBS_SHOWN);
}

static void write_changes(struct sheet *s, const struct tuned *t, const char *heading, bool all)
{
	bool any = false;

	for (uint32_t i = 0; i < t->nsteps; i++) {
		if (!(all || t->step[i].kept) || !t->step[i].knobs.count)
			continue;
		if (!any)
			sheet_heading(s, heading);
		any = true;
		write_change(s, &t->step[i]);
	}
}

static const char *refusal(const struct tuned_step *x)
{
	return x->why;
}

static const char *cut(const struct tuned_step *x)
{
	return x->cut;
}

static void write_reasons(struct sheet *s, const struct tuned *t, const char *heading,
			  const char *(*reason)(const struct tuned_step *x))
{
	uint32_t n = 0;
	char name[NAMED];

	for (uint32_t i = 0; i < t->nsteps; i++) {
		const char *why = reason(&t->step[i]);

		if (!*why)
			continue;
		if (!n)
			sheet_heading(s, heading);
		if (++n <= REFUSED_SHOWN)
			sheet_item(s, "%s: %s", name_of(&t->step[i], name), why);
	}
	if (n > REFUSED_SHOWN)
		sheet_item(s, "and %u more: all of them with -f json", n - REFUSED_SHOWN);
}

static void write_boot(struct sheet *s, const struct tuned *t)
{
	if (!t->boot)
		return;
	sheet_heading(s, "Needs a boot");
	sheet_say(s, "The audit asks for these boot parameters; culprit audit tells why:");
	sheet_code(s, t->boot);
}

/* ---- the page ---- */

static void write_goal(struct sheet *s, const struct tuned *t)
{
	/* The look at the settings as they are now; NULL: there is none. */
	const struct tuned_look *last = t->after.observed_ns                  ? &t->after
					: tuned_kept(t) || tuned_any_stuck(t) ? NULL
									      : &t->before;

	if (!t->goal)
		return;
	if (t->reached == GOAL_UNKNOWN)
		sheet_say(s, "Whether the goal, %s, is met is not known: %s.", t->goal,
			  !last          ? "it was not measured as the settings are now"
			  : last->unread ? "hiccups were lost, and any may have been longer"
					 : "not every CPU was observed");
	else
		sheet_say(s, "The goal, %s, is %s.", t->goal,
			  t->reached == GOAL_MET ? "met" : "not met");
}

/* Says how the settings are now. */
static void write_back(struct sheet *s, const struct tuned *t)
{
	const char *command = t->one ? "try" : "tune";
	uint32_t others = 0, gone = 0, offline = 0, kept = tuned_kept(t);

	for (uint32_t i = 0; i < t->nsteps; i++) {
		others += t->step[i].others;
		gone += t->step[i].gone;
		offline += t->step[i].offline;
	}
	if (kept)
		sheet_say(s,
			  "What was kept is in force; culprit %s --undo takes it back, and so "
			  "does a reboot.",
			  command);
	if (tuned_any_stuck(t))
		sheet_say(s,
			  "Putting back failed: whether all%s that was changed is as it was is not "
			  "known. What is left of it culprit %s --undo puts back, and so does a "
			  "reboot.",
			  kept ? " else" : "", command);
	else if (tuned_any_changed(t))
		sheet_say(s, "%s is as it was%s", kept ? "All else" : "What was changed",
			  others || gone || offline ? ", but for:" : ".");
	else
		sheet_say(s, "Nothing was changed.");
	if (others)
		sheet_item(s, "%u set by somebody else meanwhile: left so", others);
	if (gone)
		sheet_item(s, "%u whose file or thread is no longer there", gone);
	if (offline)
		sheet_item(s, "%u" TRIED_OFFLINE, offline);
}

static void write_end(struct sheet *s, const struct tuned *t)
{
	sheet_heading(s, "State");
	if (t->dry) {
		sheet_say(s, tuned_any_changed(t)
				     ? "Nothing is changed: in this order fixes would be tried."
				     : "Nothing is changed, and no fix would be tried.");
		return;
	}
	if (!t->one)
		sheet_say(s, "It ended because %s.", tuned_ended(t));
	write_goal(s, t);
	write_back(s, t);
	for (uint32_t i = 0; i < t->nsteps; i++)
		if (tried_moves_threads(&t->step[i].knobs, true)) {
			sheet_say(s, "Of threads that were moved: " TRIED_CHILDREN ".");
			break;
		}
}

int render_tuned(const struct tuned *t, enum sheet_form form, const struct render_options *options,
		 FILE *out)
{
	struct sheet s = {.out = out, .form = form, .options = options};
	char about[1024], cpus[256];

	snprintf(about, sizeof(about), "linux %.500s · cpu %s · %s", t->host->kernel,
		 cpus_format(t->cpus, cpus, sizeof(cpus)),
		 t->dry                               ? "nothing is changed"
		 : !t->one                            ? "tuned"
		 : t->nsteps && t->step[0].nfixes > 1 ? "fixes tried"
						      : "a fix tried");
	sheet_begin(&s, "culprit " CULPRIT_VERSION, about);
	write_looks(&s, t);
	if (t->one) {
		write_steps(&s, t, "Effect", was_measured);
	} else {
		write_steps(&s, t, "Kept", was_kept);
		write_steps(&s, t, "Tried in vain", tuned_in_vain);
	}
	write_method(&s, t);
	write_changes(&s, t, t->one || t->dry ? "What it changes" : "What was changed",
		      t->one || t->dry);
	write_reasons(&s, t, "Not tried to the end", cut);
	write_reasons(&s, t, "Not tried", refusal);
	write_boot(&s, t);
	write_end(&s, t);
	return sheet_end(&s);
}
