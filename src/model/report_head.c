/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a report: the machine, the run, and what a reader must know before any figure. */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "model/noise.h"
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

/* Watched threads that waited to the end. */
static const char *say_never_ran(const struct run *run, char *buf, size_t len)
{
	char count[32], ns[32];
	bool one = run->never_ran == 1;

	snprintf(buf, len,
		 "%s chosen thread%s woken and had not run when the window ended, after up to %s: "
		 "no figure has %s wait",
		 format_count(run->never_ran, count, sizeof(count)), one ? " was" : "s were",
		 format_ns(run->never_ran_ns, ns, sizeof(ns)), one ? "its" : "their");
	return buf;
}

static const char *say_waits_lost(uint64_t waits, char *buf, size_t len)
{
	char count[32];

	snprintf(buf, len,
		 "%s wait%s of watched threads for a CPU had no place in the table of those that "
		 "wait: they are in no sum, and who waited lost more than is said",
		 format_count(waits, count, sizeof(count)), plural(waits));
	return buf;
}

static const char *say_reports_lost(uint64_t reports, char *buf, size_t len)
{
	char count[32];

	snprintf(buf, len,
		 "%s report%s of watched programs, of any length, %s not read: too many came at "
		 "once, or one was not finished",
		 format_count(reports, count, sizeof(count)), plural(reports),
		 reports == 1 ? "was" : "were");
	return buf;
}

uint32_t report_cautions(const struct view *v, struct report_cautions *c)
{
	struct report_fact *fact = c->fact;
	uint32_t n = 0, hosts = 0;

	if (v->run.incomplete[0])
		fact[n++] = (struct report_fact){"incomplete", v->run.incomplete, false};
	if (v->run.isolation_changed[0])
		fact[n++] =
			(struct report_fact){"isolation changed", v->run.isolation_changed, false};
	if (v->run.redacted)
		fact[n++] = (struct report_fact){"left out", VIEW_REDACTED, true};
	for (const struct through_found *f = v->host_side; f && hosts < REPORT_HOSTS; f = f->next) {
		fact[n++] = (struct report_fact){"its host", f->text, !f->named};
		hosts++;
	}
	if (view_shared(v))
		fact[n++] = (struct report_fact){"shared", VIEW_SHARED, true};
	if (v->run.watch && !v->ncpus)
		fact[n++] = (struct report_fact){"nobody", VIEW_NOBODY, true};
	if (v->run.never_ran && view_thread_known(v))
		fact[n++] = (struct report_fact){
			"never ran", say_never_ran(&v->run, c->never_ran, sizeof(c->never_ran)),
			true};
	if (view_waits_lost(v))
		fact[n++] = (struct report_fact){
			"not added up",
			say_waits_lost(view_waits_lost(v), c->waits, sizeof(c->waits)), true};
	if (v->run.reports_lost)
		fact[n++] = (struct report_fact){
			"not read",
			say_reports_lost(v->run.reports_lost, c->reports, sizeof(c->reports)),
			true};
	if (v->run.names_lack)
		fact[n++] = (struct report_fact){"names", REPORT_NAMES_LACK, true};
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

/* ---- frequencies ---- */

#define KHZ_SHOWN  4
#define CPUS_SHOWN 5

char *report_frequency(const struct view *v, uint32_t index, char buf[REPORT_FREQUENCY])
{
	const struct cpu *c = &v->cpu[index];
	char count[32];
	int n;

	buf[0] = '\0';
	if (!c->khz_changes && c->khz_until_ns == KHZ_ALWAYS && v->run.windows && v->run.traced &&
	    !v->run.watch && !v->run.part)
		strcpy(buf, "not observed: none is shown where the hardware or a host chooses it");
	if (!c->khz_changes)
		return buf;
	n = snprintf(buf, REPORT_FREQUENCY, "%s time%s, from %.2f to %.2f GHz",
		     format_count(c->khz_changes, count, sizeof(count)), plural(c->khz_changes),
		     c->khz_min / 1e6, c->khz_max / 1e6);
	for (uint32_t i = 0; i < c->khz.n && i < KHZ_SHOWN && n < REPORT_FREQUENCY; i++)
		n += snprintf(buf + n, REPORT_FREQUENCY - n, "%s %+.6f s %.2f", i ? "," : ":",
			      (double)(int64_t)(c->khz.row[i].at_ns - v->run.started_ns) /
				      NSEC_PER_SEC,
			      c->khz.row[i].khz / 1e6);
	if (c->khz_changes > KHZ_SHOWN && c->khz.n && n < REPORT_FREQUENCY)
		snprintf(buf + n, REPORT_FREQUENCY - n, ", ...");
	return buf;
}

/* The CPU with the most changes of those that come after `last`: with fewer, or as many and a later
 * place. last: ncpus before the first. ncpus: none. */
static uint32_t next_changed(const struct view *v, uint32_t last)
{
	uint32_t most = v->ncpus;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		uint64_t n = v->cpu[i].khz_changes;
		uint64_t below = last < v->ncpus ? v->cpu[last].khz_changes : n;

		if (!n || n > below || (last < v->ncpus && n == below && i <= last))
			continue;
		if (most == v->ncpus || n > v->cpu[most].khz_changes)
			most = i;
	}
	return most;
}

char *report_frequencies(const struct view *v, char buf[REPORT_FREQUENCY])
{
	uint32_t cpus = 0, at = v->ncpus, shown;
	uint64_t all = 0;
	char count[32];
	int n;

	buf[0] = '\0';
	for (uint32_t i = 0; i < v->ncpus; i++) {
		if (__builtin_add_overflow(all, v->cpu[i].khz_changes, &all))
			all = UINT64_MAX;
		cpus += v->cpu[i].khz_changes != 0;
	}
	if (!all || v->ncpus < 2 || v->run.watch)
		return buf;
	n = snprintf(buf, REPORT_FREQUENCY,
		     "%s on %u CPU%s:", format_count(all, count, sizeof(count)), cpus,
		     plural(cpus));
	for (shown = 0; shown < cpus && shown < CPUS_SHOWN; shown++) {
		at = next_changed(v, at);
		n += snprintf(buf + n, REPORT_FREQUENCY - n, "%s cpu %u %s", shown ? "," : "",
			      v->cpu[at].number,
			      format_count(v->cpu[at].khz_changes, count, sizeof(count)));
	}
	if (shown < cpus)
		snprintf(buf + n, REPORT_FREQUENCY - n, ", ...");
	return buf;
}

const char *report_unseen_faults(const struct view *v)
{
	return v->run.watch && (noise_is_blind(v, "handle_mm_fault") ||
				noise_is_blind(v, "page_fault_user"))
		       ? ", page faults as the thread's own time"
		       : "";
}
