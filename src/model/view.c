/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static int init_lane(struct cpu *c, unsigned number)
{
	c->number = number;
	return sources_init(&c->sources) || hist_init(&c->hiccups, HICCUP_BITS) ? -ENOMEM : 0;
}

int view_cpus(struct view *v, const unsigned *numbers, uint32_t n)
{
	v->cpu = calloc(n, sizeof(*v->cpu));
	v->ncpus = v->cpu ? n : 0;
	for (uint32_t i = 0; i < v->ncpus; i++)
		if (init_lane(&v->cpu[i], numbers[i])) {
			view_free(v);
			return -ENOMEM;
		}
	return v->cpu ? 0 : -ENOMEM;
}

int view_again(struct view *v, unsigned number)
{
	struct cpu *c = &v->cpu[v->ncpus++];

	memset(c, 0, sizeof(*c));
	return init_lane(c, number);
}

static const char *keep(struct view *v, struct texts **t, const char *text)
{
	const char *kept;

	if (!text)
		return NULL;
	if (!*t)
		*t = texts_new(TEXTS_BYTES);
	kept = *t ? texts_keep(*t, text, strlen(text)) : NULL;
	v->run.names_lack |= !kept;
	return kept;
}

const char *view_text(struct view *v, const char *text)
{
	return keep(v, &v->texts, text);
}

const char *view_users_text(struct view *v, const char *text)
{
	return keep(v, &v->users_texts, text);
}

void view_not_observed(struct view *v, const char *tracepoint)
{
	const char *text = view_text(v, tracepoint);
	const char **list =
		reallocarray(v->run.not_observed, v->run.nnot_observed + 1, sizeof(*list));

	if (!list)
		return;
	v->run.not_observed = list;
	if (text)
		list[v->run.nnot_observed++] = text;
}

void cpu_clear(struct cpu *c)
{
	for (uint32_t i = 0; i < c->nseries; i++) {
		hist_free(&c->series[i].hist);
		course_free(&c->series[i].course);
	}
	free(c->series);
	free(c->closure);
	khz_free(&c->khz);
	places_free(&c->places);
	c->series = NULL;
	c->closure = NULL;
	c->nseries = c->nclosure = 0;
}

const struct series *cpu_series(const struct cpu *c, const struct spot *spot)
{
	const struct series *only = NULL;

	if (spot->series && spot->series <= c->nseries)
		return &c->series[spot->series - 1];
	/* Older recordings do not say it: but a series that can have outliers is one.
	 */
	for (uint32_t i = 0; i < c->nseries && series_thresholds(c->series, c->nseries) == 1; i++)
		if (c->series[i].threshold_ns)
			only = &c->series[i];
	return spot->series ? NULL : only;
}

const struct hist *cpu_values(const struct cpu *c, const char *name, bool *fine)
{
	*fine = false;
	for (uint32_t i = 0; i < c->nseries; i++)
		if (!strncmp(c->series[i].name, name, SERIES_NAME)) {
			*fine = c->series[i].fine;
			return &c->series[i].hist;
		}
	return strcmp(name, SERIES_HICCUPS) ? NULL : &c->hiccups;
}

const char *views_values(const struct view *const *views, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < views[i]->ncpus; k++) {
			const struct cpu *c = &views[i]->cpu[k];
			const struct series *s = series_first(c->series, c->nseries);

			if (s)
				return s->name;
		}
	return SERIES_HICCUPS;
}

bool views_have(const struct view *const *views, uint32_t n, const char *name)
{
	bool fine;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < views[i]->ncpus; k++)
			if (cpu_values(&views[i]->cpu[k], name, &fine))
				return true;
	return false;
}

uint64_t cpu_counts_from(const struct cpu *c)
{
	uint64_t from = 0;

	for (uint32_t i = 0; i < c->nseries; i++)
		if (c->series[i].threshold_ns > from)
			from = c->series[i].threshold_ns;
	return from ? from : c->threshold_ns;
}

void cpu_forget_series(struct cpu *c)
{
	for (uint32_t i = 0; i < c->nseries; i++) {
		hist_reset(&c->series[i].hist);
		course_free(&c->series[i].course);
		c->series[i].longer = c->series[i].longest_ns = 0;
		c->series[i].open = true;
	}
	c->unread = 0;
}

char *view_thread(const char *comm, bool kernel_thread, uint32_t tid, char buf[LANE_NAME])
{
	snprintf(buf, LANE_NAME,
		 kernel_thread    ? "[%s] [%u]"
		 : comm[0] == '[' ? "user thread %s [%u]"
				  : "%s [%u]",
		 comm[0] ? comm : "thread", tid);
	return buf;
}

bool view_threads(const struct view *v)
{
	return v->run.watch && !v->run.sums;
}

char *view_lane(const struct view *v, uint32_t index, char buf[LANE_NAME])
{
	const struct cpu *c = &v->cpu[index];

	if (!view_threads(v))
		snprintf(buf, LANE_NAME, "cpu %u", c->number);
	else if (c->tid)
		view_thread(c->comm, c->kernel_thread, c->tid, buf);
	else
		snprintf(buf, LANE_NAME, "%s", c->comm);
	return buf;
}

bool view_thread_known(const struct view *v)
{
	return !v->run.part && !v->run.damaged;
}

/* Before 6.6 it is these programs that see a quota (bpf/quota.bpf.h). */
bool view_whose_known(const struct view *v, const struct cpu *c, enum whose whose)
{
	if (whose != WHOSE_THROTTLED || c->whose_ns[whose] != c->let_in_ns)
		return true;
	for (uint32_t i = 0; i < v->run.nnot_observed; i++)
		if (!strcmp(v->run.not_observed[i], "throttle_cfs_rq"))
			return false;
	return true;
}

/* Rights by kallsyms_show_value(): with 2 nobody sees addresses; with 1, readers with CAP_SYSLOG;
 * with 0, perf users, too, where perf_event_paranoid lets them. */
const char *view_names_hidden(const struct view *v)
{
	const char *restricted = facts_text(&v->facts, "proc/sys/kernel/kptr_restrict");
	char level = restricted && restricted[0] && !restricted[1 + strspn(restricted + 1, "\n")]
			     ? restricted[0]
			     : '?';

	if (!v->run.symbols_hidden || !v->run.traced)
		return NULL;
	if (level == '2')
		return "the kernel hides its addresses from everybody (sysctl "
		       "kernel.kptr_restrict=2)";
	if (level == '0' || level == '1')
		return "the kernel hides its addresses from those without CAP_SYSLOG";
	return "the kernel hides its addresses (CAP_SYSLOG is missing, or sysctl "
	       "kernel.kptr_restrict is 2)";
}

void view_isolation(struct view *v, const struct cpus *isolated)
{
	struct cpus gone = v->host.isolated, come = *isolated;
	char *text = v->run.isolation_changed, list[48];
	size_t len = sizeof(v->run.isolation_changed), n = 0;

	cpus_sub(&gone, isolated);
	cpus_and(&gone, &v->run.cpus);
	cpus_sub(&come, &v->host.isolated);
	cpus_and(&come, &v->run.cpus);
	text[0] = 0;
	if (!cpus_empty(&gone))
		n = snprintf(text, len, "cpu %s isolated when the window opened, not at its end",
			     cpus_format(&gone, list, sizeof(list)));
	if (!cpus_empty(&come))
		snprintf(text + n, len - n, "%scpu %s isolated at the window's end, not before",
			 n ? "; " : "", cpus_format(&come, list, sizeof(list)));
}

double view_lost(const struct view *v, uint32_t index)
{
	const struct cpu *c = &v->cpu[index];

	if (!c->observed_ns ||
	    (v->run.watch && (!view_thread_known(v) || c->unpaired || c->reported)))
		return -1;
	return (double)(c->hiccups.sum + c->hiccups_lost_ns) / c->observed_ns;
}

const char *view_rest(const struct view *v)
{
	if (!v->run.traced)
		return word_text(WORD_NOT_TRACED);
	return v->run.rest[0] ? v->run.rest : "outside the kernel";
}

void view_cut(struct view *v, uint32_t n)
{
	while (v->ncpus > n) {
		struct cpu *c = &v->cpu[--v->ncpus];

		cpu_clear(c);
		sources_free(&c->sources);
		hist_free(&c->hiccups);
		lengths_free(&c->lengths);
		slices_free(&c->slices);
	}
}

void worst_free(struct worst *w)
{
	free(w->pieces);
	free(w->spans);
}

void book_entries_free(struct book_entries *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		free(e->row[i].confirm);
		free(e->row[i].fix);
		free(e->row[i].here);
	}
	free(e->row);
	*e = (struct book_entries){0};
}

void view_free(struct view *v)
{
	view_cut(v, 0);
	free(v->cpu);
	v->cpu = NULL;
	while (v->nworst)
		worst_free(&v->worst[--v->nworst]);
	suspects_free(&v->suspects);
	free(v->run.not_observed);
	v->run.not_observed = NULL;
	v->run.nnot_observed = 0;
	texts_free(v->texts);
	texts_free(v->users_texts);
	v->texts = v->users_texts = NULL;
	facts_free(&v->facts);
	threads_told_free(&v->told);
	findings_free(&v->findings);
	book_entries_free(&v->entries);
	groups_free(&v->groups);
}

bool view_shared(const struct view *v)
{
	struct cpus both = v->run.cpus;

	cpus_and(&both, &v->run.housekeeping);
	return !cpus_empty(&both);
}

uint64_t view_waits_lost(const struct view *v)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		lost += v->cpu[i].waits_lost;
	return lost;
}

const char *view_relief(const struct view *v)
{
	/* A lane of watched threads is no CPU, and a workload needs the CPUs that it is given. */
	bool fewer = v->ncpus > 1 && !v->run.windows;

	if (!view_shared(v) && cpus_count(&v->run.housekeeping) > 1) {
		if (v->run.watch)
			return "give culprit a CPU of its own with -H, or watch fewer threads";
		return fewer ? "give culprit a CPU of its own with -H, or measure fewer CPUs at "
			       "once with -c"
			     : "give culprit a CPU of its own with -H";
	}
	if (v->run.watch)
		return "watch fewer threads, or let less else run where culprit itself does";
	return fewer ? "measure fewer CPUs at once with -c"
		     : "let less else run where culprit itself does";
}

const char *view_verdict(const struct view *v)
{
	const char *best = NULL;
	/* Takes the longest time for watched threads, because their shares are of different
	 * times. */
	double most = -2;

	if (groups_shown(v))
		return group_head(v, 0)[0] ? group_head(v, 0) : NULL;
	for (uint32_t i = 0; v->cpu && i < v->ncpus; i++) {
		double lost = v->run.watch ? (double)v->cpu[i].hiccups.sum : view_lost(v, i);

		if (v->cpu[i].verdict[0] && lost > most) {
			best = v->cpu[i].verdict;
			most = lost;
		}
	}
	return best;
}

char *host_guest(const struct host *h, char buf[HOST_GUEST])
{
	if (!strcmp(h->hypervisor, "unknown"))
		return strcpy(buf, "guest of an unknown hypervisor");
	snprintf(buf, HOST_GUEST, h->hypervisor[0] ? "%s guest" : "%s", h->hypervisor);
	return buf;
}

bool host_has_smis(const struct host *h)
{
	/* a recording may lack the name of its architecture */
	return !h->arch[0] || !strncmp(h->arch, "x86", 3) || h->arch[0] == 'i';
}

#define TICK_SHOWS_NS 10

double view_tick(const struct view *v)
{
	double ns = v->host.tsc_khz ? 1e6 / v->host.tsc_khz : 0;

	return ns >= TICK_SHOWS_NS ? ns : 0;
}

uint64_t view_guest_wanted(const struct cpu *c)
{
	return c->observed_ns > c->halted_here_ns ? c->observed_ns - c->halted_here_ns : 0;
}

uint64_t view_guest_got(const struct cpu *c)
{
	uint64_t wanted = view_guest_wanted(c);

	return wanted > c->taken_ns ? wanted - c->taken_ns : 0;
}
