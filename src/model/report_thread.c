/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes on a watched thread's figures in a report, a sentence a line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "model/report.h"
#include "model/through.h"

#define STEAL_STEP_NS 10000000 /* step of /proc/stat */

static void note_reports(const struct cpu *c, FILE *out)
{
	char a[32], b[32], d[32], e[32];

	if (!c->reported)
		return;
	if (c->reported < c->hiccups.count)
		fprintf(out, "from its first report on only its reports count: %s\n",
			format_count(c->reported, a, sizeof(a)));
	if (!c->reported_ns) /* recorded by an earlier version */
		return;
	fprintf(out, "of the %s in its reports, which may overlap, %s %% is not seen: %s",
		format_ns(c->reported_ns, a, sizeof(a)),
		format_percent(100.0 * c->unseen_ns / c->reported_ns, b, sizeof(b)),
		format_ns(c->unseen_ns, d, sizeof(d)));
	if (c->unseen_ns)
		fprintf(out, ", up to %s in one", format_ns(c->unseen_max_ns, e, sizeof(e)));
	if (c->unseen_whole)
		fprintf(out, "; %s of %s hold%s nothing else",
			format_count(c->unseen_whole, a, sizeof(a)),
			format_count(c->reported, b, sizeof(b)), c->unseen_whole == 1 ? "s" : "");
	fputc('\n', out);
}

/* Tells only the CPU's steal: nobody knows which part of that was the thread's. */
static void note_steal(const struct view *v, const struct cpu *c, FILE *out)
{
	char list[256], a[32];
	const char *s = plural(cpus_count(&c->ran_on));

	if (!v->host.hypervisor[0] || cpus_empty(&c->ran_on))
		return;
	fprintf(out, "cpu%s %s, where it ran: ", s, cpus_format(&c->ran_on, list, sizeof(list)));
	if (!c->ran_steal_known)
		fprintf(out,
			"the steal clock%s tell%s nothing, so what the host took is not known\n", s,
			*s ? "" : "s");
	else if (c->ran_steal_ns < STEAL_STEP_NS)
		fprintf(out, "the steal clock%s did not move, in steps of 10 ms\n", s);
	else
		fprintf(out,
			"the steal clock%s rose by %s%s, in steps of 10 ms: how much of that was "
			"taken from this thread is not known\n",
			s, format_ns(c->ran_steal_ns, a, sizeof(a)), *s ? " together" : "");
}

#define PLACES_SHOWN 8

/* "ran on cpu 0 1.20 s (16 times), cpu 1 802 ms (11 times); moved 9 times" */
static void note_places(const struct cpu *c, FILE *out)
{
	const struct places *p = &c->places;
	uint64_t moves = places_moves(p);
	char a[32], b[32];

	if (p->n < 2)
		return;
	for (uint32_t i = 0; i < p->n && i < PLACES_SHOWN; i++)
		fprintf(out, "%s cpu %u %s (%s time%s)", i ? "," : "ran on", p->row[i].cpu,
			format_ns(p->row[i].ran_ns, a, sizeof(a)),
			format_count(p->row[i].stays, b, sizeof(b)), plural(p->row[i].stays));
	if (p->n > PLACES_SHOWN)
		fprintf(out, ", and on %u more", p->n - PLACES_SHOWN);
	fprintf(out, "; moved %s time%s\n", format_count(moves, a, sizeof(a)), plural(moves));
}

static void note_woken(const struct cpu *c, FILE *out)
{
	char a[32];

	fprintf(out, "woken %s time%s: ", format_count(c->woken, a, sizeof(a)), plural(c->woken));
	if (!c->woken_due || c->woken_due >= c->woken)
		fprintf(out, "waits count from %s\n",
			c->woken_due ? "when a timer was due" : "the wake-up");
	else
		fprintf(out, "%s wait%s from when a timer was due, the others from the wake-up\n",
			format_count(c->woken_due, a, sizeof(a)),
			c->woken_due == 1 ? " counts" : "s count");
}

static void note_stops(const struct cpu *c, FILE *out)
{
	char a[32], ns[32];

	if (c->stops)
		fprintf(out, "stopped %s time%s by a signal or a debugger, %s in all%s\n",
			format_count(c->stops, a, sizeof(a)), plural(c->stops),
			format_ns(c->stopped_ns, ns, sizeof(ns)),
			through_is_vcpu(c->comm) ? "" : ": not counted as lost");
}

/* Waits that are in none of its figures. */
static void note_waits(const struct cpu *c, FILE *out)
{
	char a[32], ns[32];

	if (c->waits_before)
		fputs("its first wait is not counted: it had begun before the window, or unseen\n",
		      out);
	if (!c->waits_beyond)
		return;
	format_ns(c->waits_beyond_ns, ns, sizeof(ns));
	if (c->waits_beyond == 1)
		fprintf(out,
			"its last wait is not counted: after %s it was not over when the window "
			"ended\n",
			ns);
	else
		fprintf(out,
			"%s waits are not counted: after up to %s they were not over when the "
			"window ended\n",
			format_count(c->waits_beyond, a, sizeof(a)), ns);
}

/* Together the time of all its hiccups. */
static void note_whose(const struct view *v, const struct cpu *c, FILE *out)
{
	char text[32];
	uint64_t unknown = c->lost_ns + c->outside_ns;

	fputs("taken by:", out);
	for (int i = 0; i < WHOSE; i++)
		fprintf(out, " %s %s,", whose_name(i),
			view_whose_known(v, c, i) ? format_ns(c->whose_ns[i], text, sizeof(text))
						  : "not known");
	fprintf(out, " not known %s\n", format_ns(unknown, text, sizeof(text)));
	if (c->let_in_ns)
		fprintf(out,
			"throttled: %s in which the kernel let others in against its real-time "
			"priority\n",
			format_ns(c->let_in_ns, text, sizeof(text)));
}

/* The threshold leaves nothing out here. */
static void note_guest(const struct view *v, const struct cpu *c, FILE *out)
{
	uint64_t wanted = view_guest_wanted(c), got = view_guest_got(c);
	char a[32], b[32], p[32];

	if (!v->run.exits || !c->tid)
		return;
	if (!c->is_vcpu && through_is_vcpu(c->comm))
		fputs("it was not seen to leave a guest of KVM's\n", out);
	if (!c->is_vcpu || !wanted)
		return;
	fprintf(out, "its guest wanted to run for %s and did for %s, %s %%\n",
		format_ns(wanted, a, sizeof(a)), format_ns(got, b, sizeof(b)),
		format_percent(100.0 * got / wanted, p, sizeof(p)));
	if (c->asleep_ns)
		fprintf(out, "its thread slept for %s of that, though the guest had not halted\n",
			format_ns(c->asleep_ns, a, sizeof(a)));
	if (c->unended)
		fprintf(out,
			"%s exit%s whose end this kernel does not tell: the time counts as the "
			"guest's\n",
			format_count(c->unended, a, sizeof(a)), plural(c->unended));
	fprintf(out, "the guest halted %s time%s, %s in all: no loss\n",
		format_count(c->halts, a, sizeof(a)), plural(c->halts),
		format_ns(c->halted_ns, b, sizeof(b)));
}

char *report_thread_notes(const struct view *v, const struct cpu *c)
{
	char *text = NULL, a[32];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (v->run.whose && c->hiccups.count)
		note_whose(v, c, out);
	if (!view_thread_known(v))
		fputs("counts and times of the whole thread are not known here: this is a part\n",
		      out);
	else
		note_reports(c, out);
	if (c->unpaired)
		fprintf(out,
			"%s time%s nobody saw when it left its CPU: not all of its time is known, "
			"nor all of its losses\n",
			format_count(c->unpaired, a, sizeof(a)), plural(c->unpaired));
	if (c->woken && !c->reported && view_thread_known(v))
		note_woken(c, out);
	if (view_thread_known(v)) {
		note_stops(c, out);
		note_waits(c, out);
		note_guest(v, c, out);
		note_places(c, out);
		note_steal(v, c, out);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
