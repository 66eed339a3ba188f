/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of trying fixes, for people:
 *
 *   culprit 0.1 · linux 6.12.1 · cpu 3 · a fix tried
 *
 *   [K09] Unbound work items of the whole system
 *     /sys/devices/virtual/workqueue/cpumask: f, with the fix 7
 *
 *   each second of a CPU, in 5 windows of 3.00 s without it and 5 with it, in turn
 *                            without     with  ratio  95 % interval  verdict
 *     sources of K09         12.1 us        0      0      0 - 0.081  gone
 *     all hiccups, time      58.8 ms  58.1 ms  0.988  0.912 -  1.06  same
 *
 *   it helps: ...
 */
#include "render/tried.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "render/diff.h"

#define TEXT_LEN    4096
#define KNOBS_SHOWN 12
#define ROWS_SHOWN  12

struct page {
	FILE *out;
	const struct tried *t;
	bool colour;
	unsigned width;
};

static void write_head(const struct page *p)
{
	const struct tried *t = p->t;
	char kernel[TEXT_LEN], cpus[256];

	fprintf(p->out, "%sculprit " CULPRIT_VERSION "%s · linux %s · cpu %s · %s\n",
		p->colour ? "\033[1m" : "", p->colour ? "\033[0m" : "",
		escape_text(t->host->kernel, SIZE_MAX, kernel, sizeof(kernel)),
		cpus_format(t->cpus, cpus, sizeof(cpus)),
		t->dry          ? "nothing is changed"
		: t->nfixes > 1 ? "fixes tried"
				: "a fix tried");
}

static void write_knob(const struct page *p, const struct knob *k)
{
	char name[TEXT_LEN], shown[TEXT_LEN], old[TEXT_LEN], new[TEXT_LEN];

	knob_name(k, name, sizeof(name));
	fprintf(p->out, "  %s: %s, with the fix %s\n",
		escape_text(name, SIZE_MAX, shown, sizeof(shown)),
		*k->old ? escape_text(k->old, SIZE_MAX, old, sizeof(old)) : "nothing",
		escape_text(k->new, SIZE_MAX, new, sizeof(new)));
}

static void write_fixes(const struct page *p)
{
	const struct tried *t = p->t;
	uint32_t shown = 0, all = 0;

	fputc('\n', p->out);
	for (uint32_t i = 0; i < t->nfixes; i++) {
		fprintf(p->out, "[%s] %s", t->fix[i].id, t->fix[i].title);
		if (t->fix[i].number)
			fprintf(p->out, ": %u", t->fix[i].number);
		fputc('\n', p->out);
	}
	for (uint32_t i = 0; i < t->knobs.count; i++) {
		if (t->knobs.row[i].kept)
			continue;
		if (all++ < KNOBS_SHOWN && ++shown)
			write_knob(p, &t->knobs.row[i]);
	}
	if (all > shown)
		fprintf(p->out, "  and %u more, all of them in -f json\n", all - shown);
	for (uint32_t i = 0; i < t->nfixes; i++)
		if (t->fix[i].lag_s)
			fprintf(p->out,
				"  [%s] the kernel may go on with the fix for %u s after it has "
				"been taken back\n",
				t->fix[i].id, t->fix[i].lag_s);
}

/* ---- figures ---- */

static void row(const struct page *p, struct table *t, const char *what, const struct diff_cell *c)
{
	const struct ratio *r =
		c[0].total_ns && c[1].total_ns ? &c[1].time_ratio : &c[1].count_ratio;
	char a[32], b[32];

	(void)p;
	table_cell(t, NULL, what);
	for (int k = 0; k < 2; k++)
		table_cell(t, NULL,
			   c[k].total_ns ? format_mean_ns(c[k].ns_per_s, a, sizeof(a)) : "0");
	table_cell(t, NULL, render_diff_number(r->value, a, sizeof(a)));
	table_cellf(t, NULL, "%s - %s", render_diff_number(r->low, a, sizeof(a)),
		    render_diff_number(r->high, b, sizeof(b)));
	table_cell(t,
		   c[1].verdict == DIFF_SAME || c[1].verdict == DIFF_UNCLEAR ? "2"
		   : c[1].verdict == DIFF_NEW || c[1].verdict == DIFF_WORSE  ? "1;31"
									     : "1;32",
		   c[0].count || c[1].count ? diff_verdict_name(c[1].verdict) : "not seen");
	table_end_row(t);
}

static void write_figures(const struct page *p)
{
	const struct tried *t = p->t;
	const struct diff *d = t->diff;
	struct table *table = table_new(p->width, 2);
	char what[256] = "sources of", window[32], who[DIFF_WHO];
	uint32_t shown = 0;

	if (!table)
		return;
	for (uint32_t i = 0, at = strlen(what); i < t->nfixes && at < sizeof(what); i++)
		at += snprintf(what + at, sizeof(what) - at, " %s", t->fix[i].id);
	fprintf(p->out, "\neach second of a CPU, in %u windows of %s without and %u with it, %s\n",
		d->side[0].n, format_ns(t->window_ns, window, sizeof(window)), d->side[1].n,
		t->in_turn ? "in turn" : "one after the other");
	table_column(table, "", ALIGN_LEFT, true);
	table_column(table, "without", ALIGN_RIGHT, false);
	table_column(table, "with", ALIGN_RIGHT, false);
	table_column(table, "ratio", ALIGN_RIGHT, false);
	table_column(table, "95 % interval", ALIGN_RIGHT, false);
	table_column(table, "verdict", ALIGN_LEFT, false);
	row(p, table, what, t->asked);
	row(p, table, "all hiccups", d->total);
	for (uint32_t i = 0; i < d->rows && shown < ROWS_SHOWN; i++)
		if (d->row[i].changed && ++shown)
			row(p, table, render_diff_who(&d->row[i], who, sizeof(who)),
			    d->row[i].cell);
	table_print(table, p->out, p->colour);
	table_free(table);
}

static const char *conclusion(const struct tried *t)
{
	if (t->dry)
		return "that is what would be changed, measured, and put back";
	switch (t->verdict) {
	case TRIED_ABSENT:
		return "its sources did not come in any window: nothing can be said about it; try "
		       "it for longer (-d), or when they come";
	case TRIED_HELPS:
		return t->diff->total[1].verdict == DIFF_BETTER
			       ? "it helps: its sources and all hiccups together take less time"
			       : "it helps against its sources; of all hiccups together no change "
				 "can be told from chance, or it is under 1 %";
	case TRIED_NOTHING:
		if (t->asked[1].lacking)
			return "over 1 % of the records or hiccups of some windows were lost: "
			       "these may be the difference, and nothing can be said about it";
		return "no effect can be told from chance; more can with a longer -d";
	case TRIED_HARMS:
		return "it does not help: more time is lost with it";
	default:
		if (t->lost)
			return "there were not two windows of each that surely had their "
			       "settings: nothing can be said";
		return "there were not two windows of each in which the CPUs were observed: "
		       "nothing can be said";
	}
}

/* Says how the settings are now. */
static void write_state(const struct page *p)
{
	const struct tried *t = p->t;

	if (t->kept)
		fprintf(p->out, "the fix is in force; culprit try --undo takes it back, and so "
				"does a reboot\n");
	else
		fprintf(p->out, "what was changed is as it was%s\n",
			t->others || t->gone || t->offline ? ", but for:" : "");
	if (t->others)
		fprintf(p->out, "  %u that somebody else has set meanwhile: left so\n", t->others);
	if (t->gone)
		fprintf(p->out, "  %u whose file or thread is no longer there\n", t->gone);
	if (t->offline)
		fprintf(p->out, "  %u" TRIED_OFFLINE "\n", t->offline);
	if (tried_moves_threads(&t->knobs, false))
		fprintf(p->out, TRIED_CHILDREN "\n");
}

int render_tried_text(const struct tried *t, const struct render_options *options, FILE *out)
{
	struct page p = {out, t, options->colour, options->width ? options->width : 100};
	char cut[TEXT_LEN];

	write_head(&p);
	write_fixes(&p);
	if (t->diff)
		write_figures(&p);
	fprintf(out, "\n%s%s%s\n", p.colour ? "\033[1m" : "", conclusion(t),
		p.colour ? "\033[0m" : "");
	if (t->cut[0])
		fprintf(out, "it ended early: %s\n",
			escape_text(t->cut, SIZE_MAX, cut, sizeof(cut)));
	if (!t->dry)
		write_state(&p);
	return ferror(out) ? -EIO : 0;
}
