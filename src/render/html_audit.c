/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of the audit that took time in this run: their cost, what they are, and how to fix
 * them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/html.h"

#define SHOWN      16
#define LIST_SHOWN 20
#define FIX_SHOWN  400
#define ELSEWHERE  ": see <code>culprit audit</code>.</p>\n"

/* Writes those of a list that took time in this run, the dearest of them, folded. */
static void write_list(const struct html *h, const struct finding *x)
{
	uint64_t duration = h->view->run.duration_ns ? h->view->run.duration_ns : 1;
	FILE *out = h->out;
	uint32_t n = 0;

	while (x->list.count > 1 && n < x->list.count && n < LIST_SHOWN && x->list.row[n].cost_ns)
		n++;
	if (!n)
		return;
	fputs("<details><summary>which cost how much</summary>", out);
	for (uint32_t i = 0; i < n; i++) {
		fputs("<div>", out);
		html_mean_ns(out, (double)x->list.row[i].cost_ns * NSEC_PER_SEC / (double)duration);
		fputs("/s ", out);
		html_name(out, x->list.row[i].name);
		if (x->kind == SOURCE_IRQ)
			fprintf(out, " (irq %u)", x->list.row[i].number);
		fputs("</div>", out);
	}
	fputs("</details>", out);
}

static void write_finding(const struct html *h, const struct finding *x)
{
	uint64_t duration = h->view->run.duration_ns ? h->view->run.duration_ns : 1;
	char title[FINDING_TITLE];
	FILE *out = h->out;

	fputs("<tr><td>", out);
	html_mean_ns(out, (double)x->cost_ns * NSEC_PER_SEC / (double)duration);
	fputs("/s</td><td class=\"who\">", out);
	html_name(out, finding_title(x, title, sizeof(title)));
	if (x->cause) {
		fputc(' ', out);
		html_cause(h, x->cause);
	}
	write_list(h, x);
	fputs("</td><td class=\"do\">", out);
	if (strlen(x->fix) > FIX_SHOWN) {
		fprintf(out, "<code>" FINDING_SCRIPT "</code>%s",
			finding_elsewhere(x) + strlen(FINDING_SCRIPT));
	} else if (x->fix_kind == FIX_WORDS) {
		html_name(out, x->fix);
	} else {
		fputs(x->fix_kind == FIX_BOOT ? "boot with <code>" : "<code>", out);
		html_command(out, x->fix);
		fputs("</code>", out);
		if (x->replaced) {
			fputs(" in place of <code>", out);
			html_command(out, x->replaced);
			fputs("</code>", out);
		}
	}
	fputs("</td></tr>\n", out);
}

int html_audit(const struct html *h)
{
	const struct findings *all = &h->view->findings;
	uint32_t *order = calloc(all->count + 1, sizeof(*order)), n;
	bool traced = h->view->run.traced;
	struct findings_rest rest[2];
	char some[FINDINGS_REST];
	FILE *out = h->out;

	if (!order)
		return -ENOMEM;
	n = findings_costly(all, order, rest);
	if (n || rest[true].warnings || rest[false].warnings)
		fprintf(out, "<h2>What the audit found</h2>\n%s",
			traced ? "<p class=\"say\">By what it cost in this run.</p>\n" : "");
	if (n) {
		fputs("<div class=\"table\"><table "
		      "class=\"audit\"><thead><tr><th>cost</th><th>what</th><th>what to "
		      "do</th></tr></thead><tbody>\n",
		      out);
		for (uint32_t i = 0; i < n && i < SHOWN; i++)
			write_finding(h, &all->row[order[i]]);
		fputs("</tbody></table></div>\n", out);
	}
	if (n > SHOWN)
		fprintf(out,
			"<p class=\"say\">And %u that cost less: all of them with -f json.</p>\n",
			n - SHOWN);
	if (rest[true].warnings)
		fprintf(out, "<p class=\"say\">%s cost nothing in this run" ELSEWHERE,
			findings_rest(&rest[true], n, some));
	if (rest[false].warnings)
		fprintf(out, "<p class=\"say\">Of %s %s" ELSEWHERE,
			findings_rest(&rest[false], n || rest[true].warnings, some),
			findings_uncosted(traced, view_names_hidden(h->view)));
	free(order);
	return 0;
}
