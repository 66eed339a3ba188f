/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a report: the machine, the run, and what a reader must know before any figure. */
#include <stdio.h>

#include "base/escape.h"
#include "base/units.h"
#include "model/redact.h"
#include "model/report.h"
#include "model/through.h"

uint32_t report_machine(const struct view *v, char word[REPORT_MACHINE][REPORT_WORD])
{
	const struct host *h = &v->host;
	char text[REPORT_WORD - 8], guest[HOST_GUEST];
	uint32_t n = 0;

	snprintf(word[n++], REPORT_WORD, "linux %s",
		 escape_text(h->kernel, sizeof(h->kernel), text, sizeof(text)));
	if (h->cpu_model[0])
		escape_text(h->cpu_model, sizeof(h->cpu_model), word[n++], REPORT_WORD);
	if (h->hypervisor[0])
		escape_text(host_guest(h, guest), sizeof(guest), word[n++], REPORT_WORD);
	return n;
}

uint32_t report_cautions(const struct view *v, struct report_fact fact[REPORT_CAUTIONS])
{
	uint32_t n = 0;

	if (v->run.incomplete[0])
		fact[n++] = (struct report_fact){"incomplete", v->run.incomplete, false};
	if (v->run.isolation_changed[0])
		fact[n++] =
			(struct report_fact){"isolation changed", v->run.isolation_changed, false};
	if (v->run.redacted)
		fact[n++] = (struct report_fact){"left out", VIEW_REDACTED, true};
	if (v->host_side)
		fact[n++] = (struct report_fact){"its host", v->host_side->text, true};
	if (view_shared(v))
		fact[n++] = (struct report_fact){"shared", VIEW_SHARED, true};
	if (v->run.watch && !v->ncpus)
		fact[n++] = (struct report_fact){"nobody", VIEW_NOBODY, true};
	return n;
}

void report_environment(const struct view *v, struct report_environment *e)
{
	const struct host *h = &v->host;
	const struct cpus *const set[] = {&h->isolated, &h->nohz_full, &v->run.cpus,
					  &v->run.housekeeping};
	static const char *const set_name[] = {"isolated CPUs", "nohz_full CPUs", "measured CPUs",
					       "housekeeping CPUs"};
	struct report_fact *f = e->fact;

	*f++ = (struct report_fact){"kernel", h->kernel, false};
	*f++ = (struct report_fact){"architecture", h->arch, false};
	*f++ = (struct report_fact){"CPU", h->cpu_model, false};
	*f++ = (struct report_fact){"hypervisor", h->hypervisor, false};
	*f++ = (struct report_fact){"clock source", h->clocksource, false};
	*f++ = v->run.redacted && !h->cmdline[0]
		       ? (struct report_fact){"command line", "left out", true}
		       : (struct report_fact){"command line", h->cmdline, false};
	for (int i = 0; i < REPORT_SETS; i++)
		*f++ = (struct report_fact){
			set_name[i], cpus_format(set[i], e->cpus[i], sizeof(e->cpus[i])), false};
	for (f = e->fact; f < e->fact + REPORT_FACTS; f++)
		if (!f->text[0])
			*f = (struct report_fact){f->name, "none", true};
}

/* ---- a CPU's hiccups ---- */

double report_rate(const struct view *v, uint32_t index)
{
	const struct cpu *c = &v->cpu[index];

	if (v->run.watch || !c->observed_ns)
		return -1;
	return (double)c->hiccups.count * NSEC_PER_SEC / (double)c->observed_ns;
}

uint32_t report_lengths(const struct hist *hiccups, struct report_length length[REPORT_LENGTHS])
{
	static const struct {
		const char *name;
		double p;
	} lengths[REPORT_LENGTHS] = {{"worst", 100},
				     {"p99.999", 99.999},
				     {"p99.99", 99.99},
				     {"p99", 99},
				     {"median", 50}};
	uint32_t n = 0;

	for (int i = 0; hiccups->count && i < REPORT_LENGTHS; i++)
		if (lengths[i].p <= 99.9 || lengths[i].p == 100 ||
		    hist_reaches(hiccups, lengths[i].p))
			length[n++] = (struct report_length){
				lengths[i].name, hist_percentile(hiccups, lengths[i].p)};
	return n;
}
