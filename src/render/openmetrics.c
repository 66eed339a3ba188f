/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics: what a monitoring system scrapes, as OpenMetrics 1.0 and in the older Prometheus text
 * format. The two differ in a few words: only in the older one a counter's family ends in _total,
 * and it knows neither UNIT nor the type info. Both end with "# EOF", a comment in the older.
 *
 *   culprit_info{version,hostname,kernel,...}
 *   culprit_cpu_info{cpu,isolated,nohz_full}
 *   culprit_running                        1 while the run goes on
 *   culprit_figures_timestamp_seconds      in a textfile: when its figures were taken
 *   culprit_incomplete                     1 when less was measured than asked for
 *   culprit_ended_early{cpu}               1 when the CPU is no longer measured
 *   culprit_observed_seconds_total{cpu}    the time of which all the others are a part
 *   culprit_hiccup_seconds{cpu,le}         histogram, exponential: powers of two of a nanosecond
 *   culprit_series_seconds{cpu,series,le}  histogram of all that a workload measured
 *   culprit_lost_seconds_total{cpu,kind,source,kernel_thread,function,cause}
 *                                          and unit or pod, where asked for;
 *                                          with those of series that ended they add up to the time
 *                                          of all hiccups; kind "edge" has no source
 *   culprit_lost_to_seconds_total{thread,to}
 *                                          of a watched thread: foreign, own, throttled, kernel
 *   culprit_interruptions_total{the same}  each interruption counts for the source it began with
 *   culprit_function_runs_total{the same}
 *   culprit_series_ended_seconds_total{cpu,kind}, _interruptions_total and _function_runs_total
 *                                          what series had that made room for others: it stands in
 *                                          the three above no more
 *   culprit_sources_merged_total{cpu,kind} rows merged into the kind's "(others)"; and
 *                                          _seconds_total
 *   culprit_interruption_seconds{kind,le}  histogram over all CPUs
 *   and for each CPU what was lost and which counters do not agree
 *
 * model/leaders.h decides which sources have a series. Times are exact: seconds with nine decimals.
 * With several runs each sample has the labels host and started.
 */
#include "render/openmetrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/units.h"
#include "render/metric.h"
#include "render/render.h"

/* ---- the run and its CPUs ---- */

static void head(const struct metrics *m, const struct family *f)
{
	static const char *const types[] = {"gauge", "counter", "histogram", "info"};
	const char *end = m->strict ? "" : metric_suffix(f->type);

	fprintf(m->out, "# TYPE %s%s %s\n", f->name, end,
		f->type == INFO && !m->strict ? "gauge" : types[f->type]);
	if (m->strict && f->seconds)
		fprintf(m->out, "# UNIT %s seconds\n", f->name);
	fprintf(m->out, "# HELP %s%s %s.\n", f->name, end, f->help);
}

static void write_info(struct metrics *m, const struct family *f)
{
	const struct view *v = m->view;

	metric_begin(m, f->name, metric_suffix(f->type));
	metric_label(m, "version", CULPRIT_VERSION);
	metric_label(m, "hostname", v->host.hostname);
	metric_label(m, "kernel", v->host.kernel);
	metric_label(m, "arch", v->host.arch);
	metric_label(m, "cpu_model", v->host.cpu_model);
	metric_label(m, "hypervisor", v->host.hypervisor);
	metric_label(m, "clocksource", v->host.clocksource);
	metric_label(m, "sampler", v->run.sampler);
	metric_label(m, "priority", v->run.priority);
	metric_label(m, "traced", v->run.traced ? "true" : "false");
	if (!m->many)
		metric_label(m, "started", v->run.started);
	metric_value(m, 1, false);
}

static void write_running(struct metrics *m, const struct family *f)
{
	metric_begin(m, f->name, "");
	metric_value(m, m->running, false);
}

static void write_taken(struct metrics *m, const struct family *f)
{
	metric_begin(m, f->name, "");
	metric_value(m, m->view->run.taken_ns, true);
}

static void write_incomplete(struct metrics *m, const struct family *f)
{
	metric_begin(m, f->name, "");
	metric_value(m, m->view->run.incomplete[0] != 0, false);
}

static void write_ended(struct metrics *m, const struct family *f)
{
	const struct leaders *s = m->leaders;

	for (uint32_t part = 0; part < s->n && !view_threads(m->view); part++) {
		bool ended = false;

		for (uint32_t i = leaders_lane(s, part, 0); i < s->lanes;
		     i = leaders_lane(s, part, i + 1))
			ended |= m->view->cpu[i].ended != NULL;
		metric_begin(m, f->name, "");
		metric_lane(m, part);
		metric_value(m, ended, false);
	}
}

static void write_cpu_info(struct metrics *m, const struct family *f)
{
	for (uint32_t i = 0; i < m->view->ncpus; i++) {
		unsigned cpu = m->view->cpu[i].number;

		if (view_threads(m->view))
			return;
		metric_begin(m, f->name, metric_suffix(f->type));
		metric_label_u64(m, "cpu", cpu);
		metric_label(m, "isolated",
			     cpus_has(&m->view->host.isolated, cpu) ? "true" : "false");
		metric_label(m, "nohz_full",
			     cpus_has(&m->view->host.nohz_full, cpu) ? "true" : "false");
		metric_value(m, 1, false);
	}
}

/* Adds up a counter over the CPUs of a part; for a gauge the largest. False: it is known of
 * none. */
static bool number_of(const struct metrics *m, const struct family *f, uint32_t part, uint64_t *sum)
{
	const struct leaders *s = m->leaders;
	bool known = false;

	*sum = 0;
	for (uint32_t i = leaders_lane(s, part, 0); i < s->lanes;
	     i = leaders_lane(s, part, i + 1)) {
		const char *row = (const char *)&m->view->cpu[i];
		uint64_t n = *(const uint64_t *)(row + f->at);

		if (f->known && !*(const bool *)(row + f->known))
			continue;
		known = true;
		*sum = f->type == COUNTER ? *sum + n : n > *sum ? n : *sum;
	}
	return known;
}

/* Writes one number for each CPU, from where the family says. */
static void write_cpus(struct metrics *m, const struct family *f)
{
	uint64_t number;

	for (uint32_t i = 0; i < m->leaders->n; i++) {
		if (!number_of(m, f, i, &number))
			continue;
		metric_begin(m, f->name, metric_suffix(f->type));
		metric_lane(m, i);
		metric_value(m, number, f->seconds);
	}
}

/* Writes the metrics of watched threads. */
static void write_whose(struct metrics *m, const struct family *f)
{
	const struct leaders *s = m->leaders;

	for (uint32_t part = 0; m->view->run.whose && part < s->n; part++) {
		uint64_t ns[WHOSE + 1] = {0};
		bool known[WHOSE + 1] = {[WHOSE] = true};

		for (uint32_t i = leaders_lane(s, part, 0); i < s->lanes;
		     i = leaders_lane(s, part, i + 1)) {
			const struct cpu *c = &m->view->cpu[i];

			for (int k = 0; k < WHOSE; k++) {
				ns[k] += c->whose_ns[k];
				known[k] |= view_whose_known(m->view, c, k);
			}
			ns[WHOSE] += c->lost_ns + c->outside_ns;
		}
		for (int k = 0; k <= WHOSE; k++) {
			if (!known[k])
				continue;
			metric_begin(m, f->name, metric_suffix(f->type));
			metric_lane(m, part);
			metric_label(m, "to", k < WHOSE ? whose_name(k) : "not known");
			metric_value(m, ns[k], f->seconds);
		}
	}
}

static void write_count(struct metrics *m, const struct family *f)
{
	const struct leaders *s = m->leaders;

	for (uint32_t part = 0; s->of && part < s->n; part++) {
		uint64_t n = 0;

		for (uint32_t i = leaders_lane(s, part, 0); i < s->lanes;
		     i = leaders_lane(s, part, i + 1))
			n++;
		metric_begin(m, f->name, "");
		metric_lane(m, part);
		metric_value(m, n, false);
	}
}

static void write_misses(struct metrics *m, const struct family *f)
{
	for (uint32_t i = 0; i < m->leaders->n; i++) {
		metric_begin(m, f->name, metric_suffix(f->type));
		metric_lane(m, i);
		metric_value(m, i ? 0 : m->view->run.recursion_misses, f->seconds);
	}
}

/* ---- the whole ---- */

#define OF_CPU(field) .at = offsetof(struct cpu, field)
#define KNOWN(field)  .known = offsetof(struct cpu, field)

static const struct family families[] = {
	{"culprit", INFO, false, "The measuring run and its host", .write = write_info},
	{"culprit_running", GAUGE, false, "1 while the run goes on, 0 in its last report",
	 .write = write_running},
	{"culprit_figures_timestamp_seconds", GAUGE, false,
	 "When these figures were taken, in seconds since 1970", .write = write_taken},
	{"culprit_incomplete", GAUGE, false, "1 when less was measured than asked for",
	 .write = write_incomplete},
	{"culprit_ended_early", GAUGE, false,
	 "1 when the CPU is no longer measured: it went offline, or its sampler was killed or "
	 "moved",
	 .write = write_ended},
	{"culprit_cpu", INFO, false, "A measured CPU", .write = write_cpu_info, .fine = true},
	{"culprit_cpus", GAUGE, false, "How many CPUs are added up here", .write = write_count},
	{"culprit_threshold_seconds", GAUGE, true, "Shorter gaps are no hiccups",
	 OF_CPU(threshold_ns), .single = true},
	{"culprit_observed_seconds", COUNTER, true, "Time for which the CPU was observed",
	 OF_CPU(observed_ns)},
	{"culprit_hiccups", COUNTER, false,
	 "Times that the CPU was away for the threshold at least", OF_CPU(hiccups.count),
	 .single = true},
	{"culprit_short_gaps", COUNTER, false,
	 "Gaps that were too short to be hiccups, and are counted in no other metric",
	 OF_CPU(shorts.count), KNOWN(shorts.known)},
	{"culprit_short_gaps_seconds", COUNTER, true,
	 "Time in the gaps that were too short to be hiccups", OF_CPU(shorts.total_ns),
	 KNOWN(shorts.known)},
	{"culprit_hiccup_seconds", HISTOGRAM, true,
	 "How long the CPU was away at a time; of a workload, operations longer than their "
	 "threshold alone",
	 .write = metric_hiccups, .single = true},
	{"culprit_series_seconds", HISTOGRAM, true,
	 "What a workload measured, all values, known when the run is over", .write = metric_series,
	 .fine = true},
	{"culprit_longest_hiccup_seconds", GAUGE, true,
	 "The longest time that the CPU was away since the run began", OF_CPU(hiccups.max),
	 .single = true},
	{"culprit_lost_seconds", COUNTER, true,
	 "Time that a source took from the CPU, less what interrupted it; with "
	 "culprit_series_ended_seconds all together sum up to the time away",
	 .write = metric_sources, .at = offsetof(struct leader_sums, ns)},
	{"culprit_lost_to_seconds", COUNTER, true,
	 "Time that a watched thread lost: to foreign threads (another process, and another "
	 "cgroup or both in none), to its own, throttled by a CPU quota, to the kernel; "
	 "together the time away",
	 .write = write_whose},
	{"culprit_interruptions", COUNTER, false,
	 "Interruptions that began with a source: each is counted once, whatever else ran in it",
	 .write = metric_sources, .at = offsetof(struct leader_sums, count)},
	{"culprit_function_runs", COUNTER, false,
	 "Times that a source's function ran: several may run in one interruption",
	 .write = metric_sources, .at = offsetof(struct leader_sums, runs), .fine = true},
	{"culprit_series_ended_seconds", COUNTER, true,
	 "Time of series that made room for others, and that culprit_lost_seconds has no more",
	 .write = metric_ended, .at = offsetof(struct leader_sums, ns)},
	{"culprit_series_ended_interruptions", COUNTER, false,
	 "Interruptions of those series, that culprit_interruptions has no more",
	 .write = metric_ended, .at = offsetof(struct leader_sums, count), .fine = true},
	{"culprit_series_ended_function_runs", COUNTER, false,
	 "Function runs of those series, that culprit_function_runs has no more",
	 .write = metric_ended, .at = offsetof(struct leader_sums, runs), .fine = true},
	{"culprit_sources_merged", COUNTER, false,
	 "Sources that were too many to be kept apart and went into the others of their kind, each "
	 "time",
	 .write = metric_merged, .fine = true},
	{"culprit_sources_merged_seconds", COUNTER, true, "What those had taken",
	 .write = metric_merged, .fine = true},
	{"culprit_interruption_seconds", HISTOGRAM, true,
	 "How long a function of a source of a kind held a CPU at a time, less what interrupted "
	 "it; all CPUs together",
	 .write = metric_kinds, .fine = true},
	{"culprit_records", COUNTER, false, "Records of the kernel's activity taken",
	 OF_CPU(counts.seen), .single = true},
	{"culprit_records_lost", COUNTER, false,
	 "Records that are missing: names may be missing then; of a watched thread those in its "
	 "hiccups, at the end those in none stand with the first thread",
	 OF_CPU(counts.lost), .single = true},
	{"culprit_watch_records_lost", COUNTER, false,
	 "Records of watched threads that are missing, also outside their hiccups: losses may be "
	 "missing then",
	 .write = metric_of_watch, .at = offsetof(struct run, records_lost)},
	{"culprit_waits_lost", COUNTER, false,
	 "Waits of watched threads for a CPU that had no place in the table of those that wait; "
	 "without --sums those of all CPUs stand with the first thread",
	 OF_CPU(waits_lost)},
	{"culprit_join_mismatches", COUNTER, false,
	 "Records whose timestamps and place among the others disagree; with watch --sums net "
	 "times "
	 "that came out below 0, and count as 0: should be 0",
	 OF_CPU(counts.mismatches)},
	{"culprit_recursion_misses", COUNTER, false,
	 "Times that a probe was left out inside another; those of all CPUs stand with the first",
	 .write = write_misses},
	{"culprit_hiccups_lost", COUNTER, false, "Hiccups that came faster than they could be read",
	 OF_CPU(hiccups_lost), .single = true},
	{"culprit_hiccups_lost_seconds", COUNTER, true,
	 "Time of the hiccups that could not be read", OF_CPU(hiccups_lost_ns), .single = true},
	{"culprit_reports_lost", COUNTER, false,
	 "Windows that watched programs reported themselves, of any length, and that were not read",
	 .write = metric_of_watch, .at = offsetof(struct run, reports_lost)},
	{"culprit_steal_seconds", COUNTER, true,
	 "What the hypervisor's steal clock rose by, in steps of 10 ms", OF_CPU(steal_ns),
	 KNOWN(steal_known)},
	{"culprit_smis", COUNTER, false, "System management interrupts, known when the run is over",
	 OF_CPU(smi_count), KNOWN(smi_known)},
};

static void write_all(struct metrics *m, const struct view *const *views,
		      const struct leaders *leaders, uint32_t n)
{
	for (const struct family *f = families;
	     f < families + sizeof(families) / sizeof(families[0]); f++) {
		if ((f->fine && m->per == PER_HOST) ||
		    (f->write == write_count && m->per == PER_CPU) ||
		    (f->write == write_taken && !views[0]->run.taken_ns))
			continue;
		head(m, f);
		for (uint32_t i = 0; i < n; i++) {
			if (f->single && views[i]->run.sums)
				continue;
			m->view = views[i];
			m->leaders = &leaders[i];
			(f->write ? f->write : write_cpus)(m, f);
		}
	}
	fputs("# EOF\n", m->out);
}

int render_textfile(const struct view *view, const struct leaders *leaders, bool host, bool running,
		    FILE *out)
{
	struct metrics m = {.out = out, .per = host ? PER_HOST : PER_CPU, .running = running};

	write_all(&m, &view, leaders, 1);
	return ferror(out) ? -EIO : 0;
}

static int render(const struct view *const *views, uint32_t n, const struct render_options *options,
		  bool strict, FILE *out)
{
	struct metrics m = {
		.out = out, .per = options->metrics_per, .strict = strict, .many = n > 1};
	struct leaders *leaders = calloc(n, sizeof(*leaders));
	int err = leaders ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < n && !err; i++) {
		err = metrics_leaders(&leaders[i], views[i], options->metrics_per,
				      options->metrics_label);
		if (!err)
			err = leaders_update(&leaders[i], views[i]);
	}
	if (!err)
		write_all(&m, views, leaders, n);
	while (i--)
		leaders_free(&leaders[i]);
	free(leaders);
	return err ? err : ferror(out) ? -EIO : 0;
}

int render_openmetrics(const struct view *const *views, uint32_t n,
		       const struct render_options *options, FILE *out)
{
	return render(views, n, options, true, out);
}

int render_prometheus(const struct view *const *views, uint32_t n,
		      const struct render_options *options, FILE *out)
{
	return render(views, n, options, false, out);
}
