/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text report of a CPU, or of a watched thread, around the table of its sources. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/units.h"
#include "model/report.h"
#include "render/text.h"

#define BESIDE_TOP 8
#define TICKS_TOP  6 /* lines on why the tick was kept */

static const char *percent_of(uint64_t part, uint64_t whole, char *buf, size_t len)
{
	return format_percent(whole ? 100.0 * part / whole : 0, buf, len);
}

static void write_numbers(const struct page *p, const struct cpu *c)
{
	char a[32], b[32], rest[TEXT_SAFE];
	struct flow f;

	if (p->view->run.traced && !p->view->run.sums && c->hiccups.count) {
		flow_start(&f, p->out, p->width, p->view->run.windows ? "  of their time: " : "  ",
			   " · ", "  ");
		flow_add(&f, "%s %s %%", p->view->run.watch ? "seen by the kernel" : "attributed",
			 percent_of(c->attributed_ns, c->hiccups.sum, a, sizeof(a)));
		if (!p->view->run.watch)
			flow_add(&f, "edge %s %%",
				 percent_of(c->edge_ns, c->hiccups.sum, a, sizeof(a)));
		if (c->lost_ns)
			flow_add(&f, NOT_RECORDED " %s %%",
				 percent_of(c->lost_ns, c->hiccups.sum, a, sizeof(a)));
		if (c->host_ns)
			flow_add(&f, "host %s %%",
				 percent_of(c->host_ns, c->hiccups.sum, a, sizeof(a)));
		flow_add(&f, "%s %s %%", text_safe(view_rest(p->view), rest),
			 percent_of(c->outside_ns, c->hiccups.sum, a, sizeof(a)));
		flow_end(&f);
	}
	flow_start(&f, p->out, p->width, "  ", " · ", "  ");
	if (series_thresholds(c->series, c->nseries) <= 1 && c->threshold_ns)
		flow_add(&f, "threshold %s%s", format_ns(c->threshold_ns, a, sizeof(a)),
			 view_threshold_auto(p->view) ? " (auto)" : "");
	if (c->loop_count)
		flow_add(&f, "loop %.1f ns", c->loop_mean_ns);
	if (c->loop_count && view_tick(p->view) > 0)
		flow_add(&f, "a tick of the counter %.1f ns", view_tick(p->view));
	if (p->view->run.traced && !p->view->run.sums) {
		flow_add(&f, "records %s, lost %s", format_count(c->counts.seen, a, sizeof(a)),
			 format_count(c->counts.lost, b, sizeof(b)));
		flow_add(&f, "join mismatches %s",
			 format_count(c->counts.mismatches, a, sizeof(a)));
	} else if (c->counts.mismatches) {
		flow_add(&f, "join mismatches %s",
			 format_count(c->counts.mismatches, a, sizeof(a)));
	}
	if (f.some)
		flow_end(&f);
	if (report_merged(&c->sources, rest, sizeof(rest)))
		text_line(p, "  %s", rest);
}

/* Writes the gaps below the threshold. */
static void write_shorts(const struct page *p, const struct cpu *r)
{
	const struct short_gaps *s = &r->shorts;
	char a[32], b[32], c[32], d[32];

	if (s->known)
		text_line(p, "  %s short gap%s besides, of %s to %s: %s %% of its time more",
			  format_count(s->count, a, sizeof(a)), plural(s->count),
			  format_ns(s->from_ns, b, sizeof(b)),
			  format_ns(r->threshold_ns, c, sizeof(c)),
			  percent_of(s->total_ns, r->observed_ns, d, sizeof(d)));
}

/* Writes where the bounds of edges come from, when they rest on few samples. */
static void write_edges(const struct page *p, const struct cpu *c)
{
	unsigned long long n = c->edge_seen.samples;
	char a[32];

	if (!p->view->run.traced || p->view->run.watch || n >= EDGE_SAMPLES_FEW)
		return;
	if (n >= EDGE_SAMPLES_MIN)
		text_line(p,
			  "  edge beside an interrupt: up to %s, learned from %llu interruptions "
			  "only",
			  format_ns(c->bounds.irq_ns, a, sizeof(a)), n);
	else
		text_line(p,
			  "  edge beside an interrupt: up to %s, a default: %llu interruption%s %s "
			  "too few to learn it from",
			  format_ns(c->bounds.irq_ns, a, sizeof(a)), n, plural(n),
			  n == 1 ? "was" : "were");
}

static void add_lost(struct flow *f, const struct view *v, uint32_t i)
{
	const struct cpu *c = &v->cpu[i];
	double lost = view_lost(v, i);
	char a[32], b[32];

	format_ns(c->hiccups.sum, b, sizeof(b));
	if (!v->run.watch && !c->observed_ns)
		flow_add(f, "not observed");
	else if (!v->run.watch) /* another line reports those that were not recorded */
		flow_add(f, "%s %% of its time lost to them",
			 percent_of(c->hiccups.sum, c->observed_ns, a, sizeof(a)));
	else if (lost >= 0)
		flow_add(f, "%s %% of its time lost", format_percent(100 * lost, a, sizeof(a)));
	else if (c->reported)
		flow_add(f, "%s in all", b);
	else
		flow_add(f, "%s lost", b);
	if (view_threads(v) && !c->reported && view_thread_known(v))
		flow_add(f, "seen for %s", format_ns(c->observed_ns, a, sizeof(a)));
}

void text_thread(const struct page *p, const struct cpu *c, const char *lead)
{
	char *notes = report_thread_notes(p->view, c), *end;
	struct flow f;

	for (char *line = notes; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		flow_start(&f, p->out, p->width, lead, " ", "    ");
		flow_words(&f, line);
		flow_end(&f);
	}
	free(notes);
}

void text_unread(const struct page *p, uint64_t runs)
{
	char count[32];

	if (runs)
		text_line(p, "  %s run%s " REPORT_UNREAD, format_count(runs, count, sizeof(count)),
			  plural(runs));
}

void text_not_recorded(const struct page *p, const struct cpu *c)
{
	uint64_t n = c->hiccups_lost;
	char a[32], b[32];

	if (n)
		text_line(p, "  %s more hiccup%s %s not recorded, %s: the reader came too late",
			  format_count(n, a, sizeof(a)), plural(n), n == 1 ? "was" : "were",
			  format_ns(c->hiccups_lost_ns, b, sizeof(b)));
}

void text_unpaired(const struct page *p, uint64_t times)
{
	struct flow f;
	char a[32];

	flow_start(&f, p->out, p->width, "  ", " ", "    ");
	flow_add(&f, "%s time%s", format_count(times, a, sizeof(a)), plural(times));
	flow_words(&f, REPORT_UNPAIRED);
	flow_end(&f);
}

static void add_lengths(struct flow *f, const struct hist *hiccups)
{
	struct report_length length[REPORT_LENGTHS];
	uint32_t n = report_lengths(hiccups, length);
	char a[32];

	for (uint32_t i = 0; i < n; i++)
		flow_add(f, "%s %s", length[i].name, format_ns(length[i].ns, a, sizeof(a)));
}

static void write_cpu_head(const struct page *p, uint32_t i)
{
	const struct cpu *c = &p->view->cpu[i];
	const struct hist *hiccups = &c->hiccups;
	char start[4 * LANE_NAME], lane[LANE_NAME], a[32], b[32], text[TEXT_SAFE];
	struct flow f;

	fprintf(p->out, "\n%s", text_style(p, BOLD));
	escape_text(view_lane(p->view, i, lane), SIZE_MAX, start, sizeof(start));
	flow_start(&f, p->out, p->width, start, " · ", "  ");
	fputs(text_plain(p), p->out);
	if (view_threads(p->view))
		strcpy(start, "  ");
	else
		snprintf(start, sizeof(start), " (%s%s)  ",
			 cpus_has(&p->view->host.isolated, c->number) ? "isolated" : "not isolated",
			 cpus_has(&p->view->host.nohz_full, c->number) ? ", nohz_full" : "");
	fputs(start, p->out);
	f.column += strlen(start);
	if (p->view->run.windows && !p->view->run.watch) {
		flow_add(&f, "%s %s", text_safe(p->view->run.sampler, text),
			 format_ns(c->observed_ns, a, sizeof(a)));
		flow_add(&f, "%s longer than %s", format_count(hiccups->count, a, sizeof(a)),
			 series_thresholds(c->series, c->nseries) > 1
				 ? "their threshold"
				 : format_ns(c->threshold_ns, b, sizeof(b)));
	} else {
		flow_add(&f, "%s %s%s", format_count(hiccups->count, a, sizeof(a)),
			 p->view->run.sums ? "run" : "hiccup", plural(hiccups->count));
		if (hiccups->count > 1 && !p->view->run.sums && report_rate(p->view, i) >= 0)
			flow_add(&f, "%s a second",
				 format_rate(report_rate(p->view, i), a, sizeof(a)));
		add_lost(&f, p->view, i);
	}
	if (!p->view->run.windows || p->view->run.watch)
		add_lengths(&f, hiccups);
	flow_end(&f);
	if (c->nseries)
		text_series(p, c);
	write_numbers(p, c);
	write_shorts(p, c);
	write_edges(p, c);
	if (c->counts.lost)
		text_line(p, "  lost: " VIEW_LATE "; %s", view_relief(p->view));
	text_not_recorded(p, c);
	text_unread(p, c->unread);
	if (view_threads(p->view))
		text_thread(p, c, "  ");
	else if (c->unpaired)
		text_unpaired(p, c->unpaired);
	if (c->ended)
		text_line(p, "  ended early, after %s: %s",
			  format_ns(cpu_window_ns(c), a, sizeof(a)), text_safe(c->ended, text));
	if (c->offline.times)
		text_line(p, "  %s", offline_say(&c->offline, text));
}

static void write_evidence(const struct page *p, const struct cpu *c)
{
	char a[32];
	struct flow f;

	if (!p->view->run.traced || !c->outside_ns || p->view->run.watch)
		return;
	flow_start(&f, p->out, p->width, "  outside the kernel:", "; ", "    ");
	f.hang = "    ";
	if (p->view->host.hypervisor[0] && !c->host_ns)
		flow_add(&f, "this is a guest, and its host may take time unseen");
	if (c->steal_known)
		flow_add(&f, "steal clock %s", format_ns(c->steal_ns, a, sizeof(a)));
	else
		flow_add(&f, "steal clock not readable");
	if (c->smi_known)
		flow_add(&f, "%s SMI%s", format_count(c->smi_count, a, sizeof(a)),
			 plural(c->smi_count));
	else if (host_has_smis(&p->view->host))
		flow_add(&f, "SMIs cannot be counted here");
	flow_end(&f);
}

void text_closure(const struct page *p, const struct cpu *r)
{
	uint32_t differ = 0;

	if (!p->view->run.traced || p->view->run.watch)
		return;
	if (!r->closure_known && r->ended) {
		text_line(p, "  closure: not checked, the CPU's window had ended before its "
			     "counters were read again");
		return;
	}
	if (!r->closure_known && (p->view->run.damaged || p->view->run.part)) {
		text_line(p, "  closure: not checked, this is a part of what the kernel's "
			     "counters cover");
		return;
	}
	if (!r->closure_known) {
		text_line(p, "  closure: not checked, the kernel's counters could not be read "
			     "at both ends");
		return;
	}
	for (uint32_t i = 0; i < r->nclosure; i++)
		differ += r->closure[i].kernel != r->closure[i].traced;
	text_line(p, "  closure: %u of the kernel's %u counters match what was traced",
		  r->nclosure - differ, r->nclosure);
	for (uint32_t i = 0; i < r->nclosure; i++) {
		const struct closure_row *c = &r->closure[i];
		char counter[TEXT_SAFE], why[TEXT_SAFE];
		struct flow f;

		if (c->kernel == c->traced)
			continue;
		flow_start(&f, p->out, p->width, "    ", " ", "      ");
		flow_add(&f, "%s: kernel %" PRIu64 ",", text_safe(c->counter, counter), c->kernel);
		flow_add(&f, "traced %" PRIu64 "%s", c->traced, c->why ? ":" : "");
		flow_words(&f, c->why ? text_safe(c->why, why) : "");
		flow_end(&f);
	}
}

static void write_ticks(const struct page *p, const struct nohz_ticks *t)
{
	struct nohz_tick_line line[NOHZ_TICK_ROWS];
	uint32_t n = nohz_ticks_lines(t, line), shown = n > TICKS_TOP ? TICKS_TOP - 1 : n;
	char comm[80], before[48], after[16];
	uint64_t rest = 0;
	struct flow f;

	for (uint32_t i = 0; i < shown; i++) {
		const struct nohz_tick_row *r = &line[i].row;

		report_tick(&line[i], before, after);
		flow_start(&f, p->out, p->width,
			   i ? "                       " : "  the tick was kept by ", " ", "    ");
		flow_add(&f, "%s x %" PRIu64, nohz_dependency_name(r->dependency), r->count);
		flow_add(&f, "while %s%s%s ran", before,
			 report_comm(r->comm, r->kernel_thread, comm, sizeof(comm)), after);
		flow_end(&f);
	}
	for (uint32_t i = shown; i < n; i++)
		rest += line[i].row.count;
	if (rest)
		fprintf(p->out, "                       and %u more, %s time%s (-f json)\n",
			n - shown, format_count(rest, comm, sizeof(comm)), plural(rest));
}

/* "its sampler stayed on this CPU, and beside it ran kworker/1:2 [62] 912 us (40 x) · ..." */
static void write_beside(const struct page *p, uint32_t i)
{
	const struct cpu *c = &p->view->cpu[i];
	const struct bystanders *t = &c->bystanders;
	uint32_t order[BYSTANDERS_ROWS], shown = t->count < BESIDE_TOP ? t->count : BESIDE_TOP;
	char comm[96], time[32], count[32];
	struct flow f;

	bystanders_rank(t, order);
	flow_start(&f, p->out, p->width,
		   c->ended ? "  beside its sampler ran"
			    : "  its sampler stayed on this CPU; beside it ran",
		   " · ", "    ");
	f.hang = "    ";
	for (uint32_t k = 0; k < shown; k++) {
		const struct bystander *o = &t->row[order[k]];

		if (o->rest)
			strcpy(comm, o->comm);
		else
			report_comm(o->comm, o->kernel_thread, comm, sizeof(comm));
		if (o->tid)
			snprintf(comm + strlen(comm), sizeof(comm) - strlen(comm), " [%u]", o->tid);
		flow_add(&f, "%s %s (%s x)", comm, format_ns(o->total_ns, time, sizeof(time)),
			 format_count(o->count, count, sizeof(count)));
	}
	if (!t->count)
		flow_add(&f, "nothing");
	else if (t->count > shown)
		flow_add(&f, "and %u more", t->count - shown);
	flow_end(&f);
}

static void write_frequency(const struct page *p, uint32_t i)
{
	char text[REPORT_FREQUENCY];
	struct flow f;

	if (!*report_frequency(p->view, i, text))
		return;
	flow_start(&f, p->out, p->width, "  changes of its frequency: ", " ", "    ");
	flow_words(&f, text);
	flow_end(&f);
}

void text_cpu(const struct page *p, uint32_t i)
{
	const struct cpu *c = &p->view->cpu[i];

	write_cpu_head(p, i);
	if (c->hiccups.count)
		text_sources(p, i);
	write_evidence(p, c);
	text_closure(p, c);
	write_ticks(p, &c->ticks);
	if (p->view->run.windows && p->view->run.traced && !p->view->run.watch)
		write_beside(p, i);
	write_frequency(p, i);
}
