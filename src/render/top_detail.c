/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One source in detail. At 80 columns:
 *
 *   cpu 3 · thread · [kworker/3:1] [812] > vmstat_update
 *     0.21 % of the last second, 0.20 % of the last ten, 0.20 % since the start
 *     12,400 interruptions · longest 9.80 us · p99 6.10 us · 12.4 ms in all
 *     by node_exporter [154] on cpu 0: vmstat_refresh (9 of 9)
 *
 *   what to do
 *     sysctl vm.stat_interval=120
 *
 *   [K01] Memory statistics of this CPU are folded into the machine's
 *     ...
 */
#include "render/top_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/units.h"
#include "model/report.h"

#define LEAD "  "

/* Writes printable text, broken between words, behind `start`. */
static void write_words(const struct screen *s, FILE *out, const char *start, const char *lead,
			const char *text)
{
	struct flow f;

	flow_start(&f, out, s->state->width, start, " ", lead);
	flow_advice(&f, text);
	flow_end(&f);
}

static void write_times(const struct screen *s, const struct source *x, FILE *out)
{
	const struct recent *r = s->recent;
	uint32_t cpu = s->state->at_cpu, row = 0;
	uint64_t second = recent_observed(r, cpu, 1), ten = recent_observed(r, cpu, 10),
		 all = s->view->cpu[cpu].observed_ns;
	char a[32], b[32], c[32];
	struct flow f;

	while (s->view->cpu[cpu].sources.row[row] != x)
		row++;
	flow_start(&f, out, s->state->width, LEAD, ", ", LEAD);
	flow_add(&f, "%s %% of the last second",
		 report_share(recent_of(r, cpu, row, 1).ns, second, a, sizeof(a)));
	flow_add(&f, "%s %% of the last ten",
		 report_share(recent_of(r, cpu, row, 10).ns, ten, b, sizeof(b)));
	flow_add(&f, "%s %% since the start", report_share(x->net.sum, all, c, sizeof(c)));
	flow_end(&f);
	flow_start(&f, out, s->state->width, LEAD, " · ", LEAD);
	flow_add(&f, "%s interruption%s", format_count(x->count, a, sizeof(a)), plural(x->count));
	flow_add(&f, "longest %s", format_ns(x->net.max, a, sizeof(a)));
	flow_add(&f, "p99 %s", format_ns(hist_percentile(&x->net, 99), a, sizeof(a)));
	flow_add(&f, "%s in all", format_ns(x->net.sum, a, sizeof(a)));
	flow_end(&f);
}

/* The notes of a report; stacks: the three most frequent askers with their stacks. */
static void write_notes(const struct screen *s, const struct source *x, bool stacks, FILE *out)
{
	char *notes = report_notes(&s->view->cpu[s->state->at_cpu].sources, x, stacks);
	char *line, *next, start[32];

	for (line = notes; line && *line; line = next) {
		size_t blanks = strspn(line, " ");

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		if (stacks && !blanks && strncmp(line, "by ", 3) && !strstr(line, " more"))
			continue; /* not about who asked */
		snprintf(start, sizeof(start), LEAD "%*s", (int)(blanks < 16 ? blanks : 16), "");
		write_words(s, out, start, LEAD "        ", report_unmark(line + blanks));
	}
	free(notes);
}

static void write_advice(const struct screen *s, const struct source *x, FILE *out)
{
	const struct top_about *about = &s->state->about;
	char safe[4096], start[24];

	fputs("\nwhat to do\n", out);
	if (x->advice)
		write_words(s, out, LEAD, LEAD,
			    escape_text(x->advice, SIZE_MAX, safe, sizeof(safe)));
	else if (x->cause)
		fprintf(out, LEAD "culprit explain %s\n", x->cause);
	else
		fputs(LEAD "the cause book has nothing on it\n", out);
	if (!x->cause)
		return;
	snprintf(start, sizeof(start), "\n[%s] ", x->cause);
	write_words(s, out, start, LEAD, about->title ? about->title : "");
	if (about->what)
		write_words(s, out, LEAD, LEAD, about->what);
	if (about->why)
		write_words(s, out, LEAD, LEAD, about->why);
	fprintf(out, LEAD "culprit explain %s has the rest\n", x->cause);
}

static void write_source(const struct screen *s, const struct source *x, FILE *out)
{
	char who[REPORT_WHO], start[64];

	if (!x) {
		fputs("It has no row any more: its time is in (others) now.\n", out);
		return;
	}
	snprintf(start, sizeof(start), "cpu %u%s · %s · ", s->view->cpu[s->state->at_cpu].number,
		 cpus_has(&s->view->host.isolated, s->view->cpu[s->state->at_cpu].number)
			 ? " (isolated)"
			 : "",
		 source_kind_name(x->kind));
	write_words(s, out, start, LEAD, report_who(x, who, sizeof(who)));
	write_times(s, x, out);
	write_notes(s, x, false, out);
	if (!x->askers)
		fputs(LEAD "nobody is known to have asked for it\n", out);
	write_advice(s, x, out);
	if (!x->askers)
		return;
	fputs("\nwho asked\n", out);
	write_notes(s, x, true, out);
}

int top_detail(struct screen *s)
{
	char *text = NULL, *line, *next;
	uint32_t lines = 0, room = s->left > 1 ? s->left - 1 : 0, skip;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	write_source(s, top_source(s->view, s->state), f);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	for (line = text; (line = strchr(line, '\n')); line++)
		lines++;
	if (s->state->scroll + room > lines)
		s->state->scroll = lines > room ? lines - room : 0;
	skip = s->state->scroll;
	for (line = text; *line && s->left > 1; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		if (skip)
			skip--;
		else
			top_put(s, line[0] && line[0] != ' ' ? "1" : NULL, line);
	}
	free(text);
	return 0;
}
