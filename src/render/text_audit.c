/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the text report from the audit: the verdict on top, and below the sources the findings
 * that explain them.
 *
 *   audit, by what it cost in this run:
 *     1.20 ms/s  IRQ 36 (virtio1-req.0) is delivered to cpu 3 [I01]
 *                echo 0-2 > /proc/irq/36/smp_affinity_list
 *     24 more warnings, 2 of them FAIL, cost nothing in this run: see culprit audit
 */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/phrase.h"
#include "base/units.h"
#include "model/groups.h"
#include "render/text.h"

#define VERDICTS_SHOWN  4
#define FINDINGS_SHOWN  8
#define FINDINGS_FOLDED 4 /* columns where CPUs are folded */
#define FIX_SHOWN       240
#define LEAD            "               "

/* For watched threads the time, because their shares are of different times. */
static double share(const struct view *v, uint32_t i)
{
	return view_threads(v) ? (double)v->cpu[i].hiccups.sum : view_lost(v, i);
}

static void write_verdict(const struct page *p, const char *verdict)
{
	char words[4 * sizeof(p->view->cpu->verdict)], command[sizeof(words)];
	size_t at = phrase_command(verdict);
	struct flow f;

	fputs(text_style(p, BOLD), p->out);
	flow_start(&f, p->out, p->width, "", " ", "  ");
	flow_words(&f, escape_text(verdict, at, words, sizeof(words)));
	if (verdict[at])
		flow_command(&f, escape_command(verdict + at, command, sizeof(command)));
	fputs(text_plain(p), p->out);
	flow_end(&f);
}

/* Groups stand by rank already. */
static void write_group_verdicts(const struct page *p, bool again)
{
	const struct view *v = p->view;
	uint32_t n = 0, more = 0;

	for (uint32_t k = 0; k < v->groups.n; k++) {
		if (!group_head(v, k)[0])
			continue;
		if (!n)
			fputc('\n', p->out);
		if (n++ < VERDICTS_SHOWN)
			write_verdict(p, group_head(v, k));
		else
			more += v->groups.row[k].head_cpus;
	}
	if (more)
		fprintf(p->out, "  (and %u more %s%s, further %s in the table)\n", more,
			view_threads(v) ? "thread" : "CPU", plural(more), again ? "up" : "down");
}

void text_verdict(const struct page *p, bool again)
{
	const struct view *v = p->view;
	uint32_t *order = calloc(v->ncpus + 1, sizeof(*order)), n = 0;

	if (groups_shown(v)) {
		write_group_verdicts(p, again);
		free(order);
		return;
	}
	for (uint32_t i = 0; order && i < v->ncpus; i++) {
		uint32_t k = n;

		if (!v->cpu[i].verdict[0])
			continue;
		for (; k > 0 && share(v, order[k - 1]) < share(v, i); k--)
			order[k] = order[k - 1];
		order[k] = i;
		n++;
	}
	if (n)
		fputc('\n', p->out);
	for (uint32_t k = 0; k < n && k < VERDICTS_SHOWN; k++)
		write_verdict(p, v->cpu[order[k]].verdict);
	if (n > VERDICTS_SHOWN)
		fprintf(p->out, "  (and %u %s%s that lost less: see %s)\n", n - VERDICTS_SHOWN,
			view_threads(v) ? "thread" : "CPU", n == VERDICTS_SHOWN + 1 ? "" : "s",
			again ? "above" : "below");
	free(order);
}

static void write_words(const struct page *p, const char *start, const char *text, const char *more)
{
	char safe[4096];
	struct flow f;

	flow_start(&f, p->out, p->width, start, " ", LEAD);
	flow_advice(&f, escape_text(text, SIZE_MAX, safe, sizeof(safe)));
	if (more)
		flow_add(&f, "%s", more);
	flow_end(&f);
}

void text_command(const struct page *p, const char *start, const char *command, const char *lead)
{
	char safe[4096];
	struct flow f;

	flow_start(&f, p->out, p->width, start, " ", lead);
	flow_command(&f, escape_command(command, safe, sizeof(safe)));
	flow_end(&f);
}

static void write_finding(const struct page *p, const struct finding *x)
{
	uint64_t duration = p->view->run.duration_ns ? p->view->run.duration_ns : 1;
	char rate[32], start[64], cause[16], title[FINDING_TITLE], buf[FINDING_FIX];
	const char *fix = finding_fix(x, buf, sizeof(buf));

	format_mean_ns((double)x->cost_ns * NSEC_PER_SEC / duration, rate, sizeof(rate));
	snprintf(start, sizeof(start), "  %9s/s", rate);
	snprintf(start + strlen(start), sizeof(start) - strlen(start), "%*s",
		 (int)(sizeof(LEAD) - 1 > strlen(start) ? sizeof(LEAD) - 1 - strlen(start) : 1),
		 "");
	snprintf(cause, sizeof(cause), "[%s]", x->cause ? x->cause : "");
	write_words(p, start, finding_title(x, title, sizeof(title)), x->cause ? cause : NULL);
	if (fix && strlen(fix) <= FIX_SHOWN && x->fix_kind == FIX_COMMAND)
		text_command(p, LEAD, fix, LEAD);
	else if (fix && strlen(fix) <= FIX_SHOWN)
		write_words(p, x->fix_kind == FIX_BOOT ? LEAD "boot with " : LEAD, fix, NULL);
	else if (fix)
		write_words(p, LEAD, finding_elsewhere(x), NULL);
}

void text_audit(const struct page *p)
{
	const struct findings *all = &p->view->findings;
	bool traced = p->view->run.traced;
	uint32_t *order = calloc(all->count + 1, sizeof(*order)), shown = 0, n;
	struct findings_rest rest[2];
	char some[FINDINGS_REST];

	if (!order)
		return;
	n = findings_costly(all, order, rest);
	if (n || rest[true].warnings || rest[false].warnings)
		fprintf(p->out, "\n%saudit%s%s\n", text_style(p, BOLD), text_plain(p),
			traced ? ", by what it cost in this run" : "");
	for (; shown < n && shown < (p->fold ? FINDINGS_FOLDED : FINDINGS_SHOWN); shown++)
		write_finding(p, &all->row[order[shown]]);
	if (n > shown)
		fprintf(p->out, "  and %u that cost less (-f json has them all)\n", n - shown);
	if (rest[true].warnings)
		text_line(p, "  %s cost nothing in this run: see culprit audit",
			  findings_rest(&rest[true], n, some));
	if (rest[false].warnings)
		text_line(p, "  of %s %s: see culprit audit",
			  findings_rest(&rest[false], n || rest[true].warnings, some),
			  findings_uncosted(traced, view_names_hidden(p->view)));
	free(order);
}
