/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a report on CPUs that are alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/groups.h"
#include "model/report.h"

const char *report_cpus(const struct cpu_group *g, char buf[REPORT_CPUS])
{
	char list[REPORT_CPUS - 24];

	cpus_format(&g->cpus, list, sizeof(list));
	if (list[0] && list[strlen(list) - 1] == '.')
		snprintf(buf, REPORT_CPUS, "cpus %s (%u)", list, g->n);
	else
		snprintf(buf, REPORT_CPUS, "cpu%s %s", g->n == 1 ? "" : "s", list);
	return buf;
}

const struct source *report_first_cause(const struct view *v, const struct cpu_group *g)
{
	const struct sources *t = &v->cpu[g->first].sources;
	const struct source *odd = g->n == 1 ? group_odd(t) : NULL;

	if (odd)
		return odd;
	return g->n == 1 ? group_most(t) : g->nsources ? &g->source[0].who : NULL;
}

/* "on 41 of 59 CPUs; at most 3.10 ms, on cpu 12", what of it is worth saying. */
static void note_spread(const struct view *v, const struct cpu_group *g,
			const struct group_source *s, FILE *out)
{
	bool some = s->cpus<g->n, uneven = s->ns.most> 2 * s->ns.median;
	char time[32];

	if (some)
		fprintf(out, "on %u of %u CPUs", s->cpus, g->n);
	if (uneven)
		fprintf(out, "%sat most %s in all, on cpu %u", some ? "; " : "",
			format_ns(s->ns.most, time, sizeof(time)), v->cpu[s->ns.lane].number);
	if (some || uneven)
		fputc('\n', out);
}

char *report_group_notes(const struct view *v, const struct cpu_group *g,
			 const struct group_source *s)
{
	char asker[REPORT_ASKER], *notes = NULL;
	size_t len;
	FILE *out = open_memstream(&notes, &len);

	if (!out)
		return NULL;
	note_spread(v, g, s, out);
	if (s->asker && 2 * s->askers > s->cpus)
		fprintf(out, "most often %s (so on %u of %u CPUs)\n", report_asker(s->asker, asker),
			s->askers, s->cpus);
	if (!fclose(out))
		return notes;
	free(notes);
	return NULL;
}
