/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The method: for each CPU what was counted, lost and not matched, the kernel's counters beside the
 * traced ones; then what this kernel does not show, and the environment. */
#include <inttypes.h>

#include "model/report.h"
#include "base/units.h"
#include "render/html.h"
#include "render/render.h"

#define BESIDE_SHOWN 8

static void begin_row(FILE *out, const char *name)
{
	fprintf(out, "<div><dt>%s</dt><dd>", name);
}

static void end_row(FILE *out)
{
	fputs("</dd></div>\n", out);
}

/* Writes a count that should be 0. */
static void zero_row(FILE *out, const char *name, uint64_t n)
{
	begin_row(out, name);
	if (n)
		fputs("<b class=\"bad\">", out);
	html_count(out, n);
	if (n)
		fputs("</b>", out);
	end_row(out);
}

static void ns_row(FILE *out, const char *name, uint64_t ns)
{
	begin_row(out, name);
	html_ns(out, ns);
	end_row(out);
}

static void write_evidence(const struct html *h, const struct cpu *c)
{
	FILE *out = h->out;

	begin_row(out, "steal clock");
	if (c->steal_known)
		html_ns(out, c->steal_ns);
	else
		fputs("not readable", out);
	end_row(out);
	if (!host_has_smis(&h->view->host))
		return;
	begin_row(out, "SMIs");
	if (c->smi_known)
		html_count(out, c->smi_count);
	else
		fputs("cannot be counted here", out);
	end_row(out);
}

static void kind_row(const struct html *h, unsigned kind, uint64_t ns, uint64_t whole)
{
	fputs("<div><dt>", h->out);
	html_kind(h, kind);
	fputs("</dt><dd>", h->out);
	html_share(h->out, ns, whole);
	end_row(h->out);
}

static void write_waits(FILE *out, const struct cpu *c)
{
	if (c->reported) {
		zero_row(out, "hiccups that it reported itself", c->reported);
		begin_row(out, "not seen of the time in them");
		html_share(out, c->unseen_ns, c->reported_ns);
		end_row(out);
	}
	if (c->woken) {
		zero_row(out, "wake-ups", c->woken);
		zero_row(out, "of these counted from when a timer was due", c->woken_due);
	}
	if (c->waits_before)
		zero_row(out, "waits that had begun before the window, or unseen, not counted",
			 c->waits_before);
	if (c->waits_beyond)
		zero_row(out, "waits that were not over when the window ended, not counted",
			 c->waits_beyond);
}

static void write_records(const struct html *h, const struct cpu *c)
{
	unsigned long long samples = c->edge_seen.samples;
	FILE *out = h->out;

	begin_row(out, "attributed");
	html_share(out, c->attributed_ns, c->hiccups.sum);
	end_row(out);
	begin_row(out, "edge");
	html_share(out, c->edge_ns, c->hiccups.sum);
	end_row(out);
	if (c->lost_ns) {
		begin_row(out, NOT_RECORDED);
		html_share(out, c->lost_ns, c->hiccups.sum);
		end_row(out);
	}
	if (c->host_ns)
		kind_row(h, SOURCE_HOST, c->host_ns, c->hiccups.sum);
	kind_row(h, SOURCE_OUTSIDE, c->outside_ns, c->hiccups.sum);
	begin_row(out, "longest edge beside an interrupt");
	html_ns(out, c->bounds.irq_ns);
	if (samples < EDGE_SAMPLES_MIN && !h->view->run.watch)
		fprintf(out, ", a default: %llu interruption%s too few to learn it from", samples,
			samples == 1 ? " was" : "s were");
	else if (samples < EDGE_SAMPLES_FEW && !h->view->run.watch)
		fprintf(out, ", learned from %llu interruptions only", samples);
	end_row(out);
	ns_row(out, "longest edge beside a thread", c->bounds.thread_ns);
	begin_row(out, "records");
	html_count(out, c->counts.seen);
	end_row(out);
	zero_row(out, "records lost", c->counts.lost);
	if (c->counts.lost) {
		begin_row(out, "why they are");
		fprintf(out, VIEW_LATE "; %s", view_relief(h->view));
		end_row(out);
	}
	zero_row(out, "join mismatches", c->counts.mismatches);
	if (c == h->view->cpu && h->view->run.recursion_misses)
		zero_row(out, "recursion misses", h->view->run.recursion_misses);
	if (c->unpaired)
		zero_row(out,
			 h->view->run.watch ? "times that it left its CPU unseen"
					    : "begins or ends that were not traced",
			 c->unpaired);
	write_waits(out, c);
	if (!h->view->run.watch)
		write_evidence(h, c);
}

static void write_closure(const struct html *h, const struct cpu *r)
{
	FILE *out = h->out;

	if (!r->closure_known) {
		fputs("<p class=\"say\">The kernel’s counters were not compared: ", out);
		fputs(r->ended ? "the CPU’s window had ended before they were read again.</p>\n"
		      : h->view->run.damaged || h->view->run.part
			      ? "this is a part of what they cover.</p>\n"
			      : "they could not be read at both ends.</p>\n",
		      out);
		return;
	}
	fputs("<table "
	      "class=\"closure\"><thead><tr><th>counter</th><th>kernel</th><th>traced</th><th></"
	      "th></tr></thead><tbody>\n",
	      out);
	for (uint32_t i = 0; i < r->nclosure; i++) {
		const struct closure_row *c = &r->closure[i];

		fputs("<tr><td>", out);
		html_name(out, c->counter);
		fputs("</td><td>", out);
		html_count(out, c->kernel);
		fputs("</td><td>", out);
		html_count(out, c->traced);
		fputs(c->kernel == c->traced ? "</td><td>same"
					     : "</td><td><b class=\"bad\">differs</b>",
		      out);
		if (c->why) {
			fputs(" <small>", out);
			html_name(out, c->why);
			fputs("</small>", out);
		}
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
}

static void write_ticks(const struct html *h, const struct nohz_ticks *t)
{
	struct nohz_tick_line line[NOHZ_TICK_ROWS];
	uint32_t n = nohz_ticks_lines(t, line);
	char comm[96], before[48], after[16];
	FILE *out = h->out;

	if (!n)
		return;
	fputs("<p class=\"say\">The tick was kept by</p>\n<ul class=\"ticks\">", out);
	for (uint32_t i = 0; i < n; i++) {
		const struct nohz_tick_row *r = &line[i].row;

		report_tick(&line[i], before, after);
		fprintf(out, "<li>%s, ", nohz_dependency_name(r->dependency));
		html_count(out, r->count);
		fprintf(out, " time%s while %s", plural(r->count), before);
		html_text(out, report_comm(r->comm, r->kernel_thread, comm, sizeof(comm)));
		fprintf(out, "%s ran</li>", after);
	}
	fputs("</ul>\n", out);
}

/* Writes the other threads that ran on a workload's CPU, also between its windows. */
static void write_beside(const struct html *h, const struct bystanders *t)
{
	uint32_t order[BYSTANDERS_ROWS], shown = t->count < BESIDE_SHOWN ? t->count : BESIDE_SHOWN;
	FILE *out = h->out;
	char comm[96];

	bystanders_rank(t, order);
	fprintf(out, "<p class=\"say\">Beside the workload ran%s</p>\n<ul class=\"ticks\">",
		t->count ? "" : " nothing.");
	for (uint32_t i = 0; i < shown; i++) {
		const struct bystander *o = &t->row[order[i]];

		fputs("<li>", out);
		html_text(out,
			  o->rest ? o->comm
				  : report_comm(o->comm, o->kernel_thread, comm, sizeof(comm)));
		if (o->tid)
			fprintf(out, " [%u]", o->tid);
		fputs(", ", out);
		html_ns(out, o->total_ns);
		fputs(" in ", out);
		html_count(out, o->count);
		fputs(o->count == 1 ? " time</li>" : " times</li>", out);
	}
	if (t->count > shown)
		fprintf(out, "<li>and %u more</li>", t->count - shown);
	fputs("</ul>\n", out);
}

static void write_cpu(const struct html *h, uint32_t index)
{
	const struct cpu *c = &h->view->cpu[index];
	char text[REPORT_FREQUENCY];
	FILE *out = h->out;

	fputs("<div class=\"method\"><h3>", out);
	html_one_of(out, h->view, index);
	fputs("</h3>\n<dl>\n", out);
	ns_row(out, "observed", c->observed_ns);
	begin_row(out, "threshold");
	html_ns(out, c->threshold_ns);
	fputs(view_threshold_auto(h->view) ? " (auto)" : "", out);
	end_row(out);
	if (c->shorts.known) {
		begin_row(out, "short gaps");
		html_count(out, c->shorts.count);
		fputs(" from ", out);
		html_ns(out, c->shorts.from_ns);
		fputs(" up to the threshold, together ", out);
		html_ns(out, c->shorts.total_ns);
		end_row(out);
	}
	if (c->loop_count) {
		begin_row(out, "the sampler’s loop");
		fprintf(out, "%.1f ns", c->loop_mean_ns);
		end_row(out);
	}
	if (!h->view->run.watch)
		zero_row(out, "hiccups not recorded", c->hiccups_lost);
	if (c->hiccups_lost)
		ns_row(out, "time in them", c->hiccups_lost_ns);
	if (c->nseries)
		zero_row(out, "runs not read", c->unread);
	if (*report_frequency(h->view, c - h->view->cpu, text)) {
		begin_row(out, "changes of its frequency");
		html_text(out, text);
		end_row(out);
	}
	if (h->view->run.traced)
		write_records(h, c);
	fputs("</dl>\n", out);
	if (h->view->run.traced && !h->view->run.watch)
		write_closure(h, c);
	write_ticks(h, &c->ticks);
	if (html_windows(h->view) && h->view->run.traced)
		write_beside(h, &c->bystanders);
	fputs("</div>\n", out);
}

static void fact(FILE *out, const char *name, const char *value)
{
	begin_row(out, name);
	html_name(out, value[0] ? value : "none");
	end_row(out);
}

static void write_environment(const struct html *h)
{
	const struct host *host = &h->view->host;
	const struct run *r = &h->view->run;
	struct report_environment e;
	FILE *out = h->out;

	report_environment(h->view, &e);
	fputs("<h2>Environment</h2>\n<dl class=\"facts\">\n", out);
	fact(out, "host", host->hostname);
	for (uint32_t i = 0; i < REPORT_FACTS; i++)
		fact(out, e.fact[i].name, e.fact[i].text);
	fact(out, "sampler", r->sampler);
	fact(out, "its policy", r->priority);
	if (host->tsc_khz) {
		begin_row(out, "its counter");
		fprintf(out, "%.3f MHz", (double)host->tsc_khz / 1e3);
		if (view_tick(h->view) > 0)
			fprintf(out, ": a tick is %.1f ns long", view_tick(h->view));
		end_row(out);
	}
	fact(out, "started", r->started);
	ns_row(out, "length", r->duration_ns);
	fputs("</dl>\n", out);
}

void html_method(const struct html *h)
{
	const struct run *r = &h->view->run;
	FILE *out = h->out;

	fputs("<h2>How it was measured</h2>\n<div class=\"methods\">\n", out);
	for (uint32_t i = 0; i < h->view->ncpus; i++)
		if (group_detailed(h->view, i))
			write_cpu(h, i);
	fputs("</div>\n", out);
	if (r->nnot_observed) {
		fputs("<h2>Not observed</h2>\n<p class=\"say\">These tracepoints "
		      "are " REPORT_NOT_OBSERVED ". What they would show counts as ",
		      out);
		html_name(out, view_rest(h->view));
		fprintf(out, "%s.</p>\n<ul class=\"missing\">", report_unseen_faults(h->view));
		for (uint32_t i = 0; i < r->nnot_observed; i++) {
			fputs("<li><code>", out);
			html_name(out, r->not_observed[i]);
			fputs("</code></li> ", out);
		}
		fputs("</ul>\n", out);
	}
	if (r->watch)
		fputs("<p class=\"say\">" VIEW_WATCH ".</p>\n", out);
	write_environment(h);
}
