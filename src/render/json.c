/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report as JSON, schema culprit.report/2. New names keep the schema; a changed or removed one
 * raises it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "model/owner.h"
#include "model/through.h"
#include "render/audit.h"
#include "render/render.h"

#define VERSION_STRING CULPRIT_VERSION

void render_cpus(struct json *j, const char *key, const struct cpus *set)
{
	json_array_flat(j, key);
	for (int cpu = cpus_next(set, 0); cpu >= 0; cpu = cpus_next(set, cpu + 1))
		json_u64(j, NULL, cpu);
	json_end(j);
}

void render_host(struct json *j, const struct host *h)
{
	json_object(j, "host");
	json_string(j, "hostname", h->hostname);
	json_string(j, "kernel", h->kernel);
	json_string(j, "arch", h->arch);
	json_string(j, "cpu_model", h->cpu_model);
	json_string(j, "hypervisor", h->hypervisor[0] ? h->hypervisor : NULL);
	json_string(j, "clocksource", h->clocksource);
	json_u64(j, "tsc_khz", h->tsc_khz);
	json_string(j, "cmdline", h->cmdline);
	json_end(j);
}

static void write_run(struct json *j, const struct view *v)
{
	const struct run *r = &v->run;

	json_object(j, "run");
	json_string(j, "sampler", r->sampler);
	json_string(j, "priority", r->priority);
	json_string(j, "started", r->started);
	json_u64(j, "started_monotonic_ns", r->started_ns);
	json_u64(j, "duration_ns", r->duration_ns);
	if (r->label[0])
		json_string(j, "label", r->label);
	json_string(j, "incomplete", r->incomplete[0] ? r->incomplete : NULL);
	json_string(j, "isolation_changed", r->isolation_changed[0] ? r->isolation_changed : NULL);
	if (r->redacted)
		json_bool(j, "redacted", true);
	json_bool(j, "traced", r->traced);
	if (r->sums)
		json_bool(j, "sums", true);
	if (r->names_lack)
		json_bool(j, "names_lack", true);
	if (r->reports_lost)
		json_u64(j, "reports_lost", r->reports_lost);
	if (r->waits_known && !r->part) {
		json_u64(j, "never_ran", r->never_ran);
		json_u64(j, "never_ran_ns", r->never_ran_ns);
	}
	json_string(j, "threshold", view_threshold_auto(v) ? "auto" : "given");
	render_cpus(j, "cpus", &r->cpus);
	render_cpus(j, "housekeeping", &r->housekeeping);
	json_array_flat(j, "not_observed");
	for (uint32_t i = 0; i < r->nnot_observed; i++)
		json_string(j, NULL, r->not_observed[i]);
	json_end(j);
	json_end(j);
}

/* Writes whose it is, in words; nothing where that is nobody's. */
static void write_owner_words(struct json *j, const char *text)
{
	char words[OWNER_TEXT];

	if (owner_words(text, words))
		json_string(j, "owner", words);
}

void render_pieces(struct json *j, const struct cpu *c, const struct piece *pieces, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct source *source = c->sources.row[pieces[i].source];
		const struct asker *a = &pieces[i].asker;

		json_object_flat(j, NULL);
		render_who(j, source);
		if (source->cause)
			json_string(j, "cause", source->cause);
		json_u64(j, "net_ns", pieces[i].net_ns);
		if (pieces[i].unseen_ns)
			json_u64(j, "unseen_ns", pieces[i].unseen_ns);
		write_owner_words(j, source->owner);
		if (a->kind) {
			json_object_flat(j, "origin");
			json_u64(j, "cpu", a->cpu);
			json_u64(j, "pid", a->tid);
			json_string(j, "comm", a->comm);
			json_string(j, "function", a->function);
			write_owner_words(j, a->owner);
			json_end(j);
		}
		json_end(j);
	}
}

static void write_worst(struct json *j, const struct view *v, const struct worst *w)
{
	const struct cpu *c = &v->cpu[w->cpu];

	json_object(j, NULL);
	if (w->spot.cpu == SPOT_UNKNOWN)
		json_null(j, "cpu");
	else
		json_u64(j, "cpu", w->spot.cpu);
	if (w->spot.tid) {
		json_object_flat(j, "thread");
		json_u64(j, "pid", w->spot.tid);
		json_string(j, "comm", w->spot.comm);
		if (w->spot.thread)
			json_bool(j, "kernel_thread", w->spot.thread == SPOT_THREAD_KERNEL);
		else
			json_null(j, "kernel_thread");
		json_end(j);
	}
	json_u64(j, "at_ns", w->start_ns - v->run.started_ns);
	json_u64(j, "duration_ns", w->duration_ns);
	json_u64(j, "edge_ns", w->edge_ns);
	json_u64(j, "not_recorded_ns", w->lost_ns);
	json_u64(j, "outside_ns", w->outside_ns);
	if (w->host_ns)
		json_u64(j, "host_ns", w->host_ns);
	json_array(j, "pieces");
	render_pieces(j, c, w->pieces, w->npieces);
	json_end(j);
	json_end(j);
}

/* Writes what came of its host's recording. */
static void write_host_side(struct json *j, const char *name, const struct view *v,
			    const struct through_found *f)
{
	static const char *const verdict[] = {[ALIGN_FEW] = "too few",
					      [ALIGN_NONE] = "none",
					      [ALIGN_MUCH] = "too many",
					      [ALIGN_AMBIGUOUS] = "ambiguous",
					      [ALIGN_FOUND] = "matched"};
	static const char *const by[] = {"gaps", "counter", "ptp"};

	json_object(j, name);
	json_string(j, "hostname", f->host->host.hostname);
	json_string(j, "clocks", verdict[f->verdict]);
	json_string(j, "by", by[f->by]);
	json_u64(j, "gaps", f->clocks.gaps);
	json_u64(j, "matched", f->clocks.matched);
	json_u64(j, "rival", f->clocks.rival);
	json_u64(j, "within_ns", f->clocks.residual_ns);
	json_array(j, "line");
	for (uint32_t i = 0; i < f->clocks.npieces && f->verdict == ALIGN_FOUND; i++) {
		const struct align_piece *p = &f->clocks.piece[i];
		uint64_t from = 0, to = 0;

		align_host_time(&f->clocks, p->from_ns, &from);
		align_host_time(&f->clocks, p->to_ns, &to);
		json_object_flat(j, NULL);
		json_u64(j, "from_ns", p->from_ns);
		json_u64(j, "to_ns", p->to_ns);
		json_u64(j, "host_from_ns", from);
		json_u64(j, "host_to_ns", to);
		json_end(j);
	}
	json_end(j);
	json_array(j, "vcpus");
	for (uint32_t i = 0; i < f->nlanes; i++) {
		const struct cpu *c;

		if (i >= v->ncpus || f->lane[i] >= f->host->ncpus || f->verdict != ALIGN_FOUND)
			continue; /* the file may be another one by now */
		c = &f->host->cpu[f->lane[i]];
		json_object_flat(j, NULL);
		json_u64(j, "cpu", v->cpu[i].number);
		json_u64(j, "pid", c->tid);
		json_string(j, "comm", c->comm);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void write_suspect(struct json *j, const struct view *v)
{
	const struct suspect *x = &v->suspect;
	const struct suspect_thread *t = &v->suspects.thread[x->who];
	char comm[sizeof(t->comm) + 1] = "", call[SYSCALL_NAME];

	memcpy(comm, t->comm, sizeof(t->comm));
	json_object(j, "suspect");
	if (x->several)
		json_null(j, "pid");
	else
		json_u64(j, "pid", t->tid);
	json_string(j, "comm", comm);
	json_bool(j, "kernel_thread", t->kernel_thread);
	if (x->cpu == UINT32_MAX)
		json_null(j, "cpu");
	else
		json_u64(j, "cpu", x->cpu);
	json_u64(j, "there", x->there);
	json_double(j, "elsewhere_percent", 100 * x->elsewhere, 3);
	json_double(j, "chance", x->chance, 12);
	json_u64(j, "as_good", x->as_good);
	json_string(j, "syscall", suspect_call(v, call) ? call : NULL);
	json_u64(j, "syscall_there", x->call_there);
	json_u64(j, "syscall_known", x->call_known);
	json_end(j);
}

/* Writes when many CPUs stopped at once, and who was there. */
static void write_simultaneous(struct json *j, const struct view *v)
{
	const struct suspects *s = &v->suspects;
	struct stop_period p;

	json_object(j, "simultaneous");
	json_u64(j, "stops", s->stops);
	json_u64(j, "judged", v->suspect.of);
	json_u64(j, "cpus", suspects_cpus(s));
	json_u64(j, "of_cpus", s->of_cpus);
	if (!suspects_period(s, &p) && p.median_ns) {
		json_u64(j, "every_ns", p.median_ns);
		json_u64(j, "every_p25_ns", p.low_ns);
		json_u64(j, "every_p75_ns", p.high_ns);
	}
	if (v->suspect.named)
		write_suspect(j, v);
	else
		json_null(j, "suspect");
	json_end(j);
}

static int write_report(struct json *j, const struct view *v)
{
	int err = 0;

	json_object(j, NULL);
	json_string(j, "schema", REPORT_SCHEMA);
	json_string(j, "version", VERSION_STRING);
	render_host(j, &v->host);
	write_run(j, v);
	if (v->host_side)
		write_host_side(j, "host_side", v, v->host_side);
	if (v->host_side && v->host_side->next) {
		json_array(j, "more_host_sides");
		for (const struct through_found *f = v->host_side->next; f; f = f->next)
			write_host_side(j, NULL, v, f);
		json_end(j);
	}
	json_string(j, "verdict", view_verdict(v));
	if (v->suspects.nrows)
		write_simultaneous(j, v);
	json_array(j, "cpus");
	for (uint32_t i = 0; i < v->ncpus && !err; i++)
		err = render_json_cpu(j, v, i);
	json_end(j);
	if (!err)
		render_json_groups(j, v);
	json_array(j, "worst");
	for (uint32_t i = 0; i < v->nworst; i++)
		write_worst(j, v, &v->worst[i]);
	json_end(j);
	if (v->findings.count)
		render_findings(j, "findings", &v->findings);
	json_end(j);
	return err;
}

int render_json(const struct view *const *views, uint32_t n, const struct render_options *options,
		FILE *out)
{
	struct json j;
	int err = 0;

	(void)options;
	json_init(&j, out);
	if (n > 1) {
		json_object(&j, NULL);
		json_string(&j, "schema", REPORTS_SCHEMA);
		json_array(&j, "reports");
	}
	for (uint32_t i = 0; i < n && !err; i++)
		err = write_report(&j, views[i]);
	if (n > 1) {
		json_end(&j);
		json_end(&j);
	}
	return err ? err : ferror(out) ? -EIO : 0;
}
