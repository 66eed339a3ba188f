/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what rtla prints: the tables of osnoise top, hwnoise and timerlat top; histograms and
 * timerlat's auto-analysis have readers of their own. A repeated table (a saved live screen)
 * replaces the one before: rtla's numbers are totals. */
#include <string.h>

#include "model/osnoise_text.h"

/* "0 00:00:10": days, hours, minutes, seconds. */
static bool duration(struct text *t, uint64_t *ns)
{
	uint64_t days, part[3];

	text_blanks(t);
	if (!text_u64(t, &days) || days > 36500)
		return false;
	text_blanks(t);
	for (int i = 0; i < 3; i++)
		if ((i && !text_word(t, ":")) || !text_u64(t, &part[i]) || part[i] > 99)
			return false;
	*ns = (days * 86400 + part[0] * 3600 + part[1] * 60 + part[2]) * NSEC_PER_SEC;
	return true;
}

static void unit(struct osnoise_reader *r, const struct text *t)
{
	struct text at;

	if (text_find(t, "(ns)", &at) || text_find(t, "time is in ns", &at))
		r->unit_ns = 1;
	else
		r->unit_ns = NSEC_PER_USEC;
}

/* ---- osnoise top ---- */

/* "  1 #9  9000000  470604  94.77106  198513  12800  7380  0  20  0  7"; hwnoise ends after NMI. t
 * stands behind "#9". */
static enum osnoise_got osnoise_row(struct osnoise_reader *r, uint64_t cpu, uint64_t count,
				    struct text t)
{
	struct osnoise_period p = {.count = count};
	uint64_t *us[] = {&p.runtime_ns, &p.noise_ns, NULL, &p.max_noise_ns, &p.max_single_ns},
		 percent;
	struct osnoise_cpu *c;

	for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++) {
		text_blanks(&t);
		if (us[i] ? !text_field(&t, us[i]) : !text_decimal(&t, NSEC_PER_SEC, &percent))
			return OSNOISE_UNKNOWN;
		if (us[i] && __builtin_mul_overflow(*us[i], NSEC_PER_USEC, us[i]))
			return OSNOISE_UNKNOWN;
	}
	if (!text_field(&t, &p.hw) || !text_field(&t, &p.nmi))
		return OSNOISE_UNKNOWN;
	text_trim(&t);
	p.irqs_off = !text_left(&t);
	if (!p.irqs_off && (!text_field(&t, &p.irq) || !text_field(&t, &p.softirq) ||
			    !text_field(&t, &p.thread) || text_left(&t)))
		return OSNOISE_UNKNOWN;
	c = osnoise_cpu(r, cpu);
	if (c)
		c->top = p;
	return taken(r);
}

/* ---- timerlat top ---- */

static bool message(struct osnoise_reader *r, struct text t)
{
	struct text at = t;

	text_word(&at, "rtla ");
	if ((text_word(&at, "osnoise") || text_word(&at, "timerlat") ||
	     text_word(&at, "timelat")) &&
	    text_is(&at, " hit stop tracing")) {
		r->stopped = true;
		if (r->section != SECTION_ANALYSIS)
			r->section = SECTION_NONE;
		return true;
	}
	if (text_word(&t, "Saving trace to ")) {
		text_copy(&t, r->saved_to, sizeof(r->saved_to));
		r->section = SECTION_NONE;
		return true;
	}
	return false;
}

/* "cur min avg max", or of the row of all CPUs "min avg max". */
static bool latency_group(struct text t, uint64_t unit_ns, bool cur, struct osnoise_latency *l)
{
	bool some[4] = {false};

	if ((cur && !text_cell(&t, unit_ns, &l->cur_ns, &some[0])) ||
	    !text_cell(&t, unit_ns, &l->min_ns, &some[1]) ||
	    !text_cell(&t, unit_ns, &l->avg_ns, &some[2]) ||
	    !text_cell(&t, unit_ns, &l->max_ns, &some[3]))
		return false;
	text_blanks(&t);
	l->known = some[1] && some[2] && some[3];
	l->cur_known = some[0];
	return !text_left(&t);
}

/* cpu -1: the row of all CPUs. t stands at the first '|'. A message may follow without a newline
 * (rtla 6.12). */
static enum osnoise_got timerlat_row(struct osnoise_reader *r, int cpu, uint64_t count,
				     struct text t)
{
	struct osnoise_latency l[TIMERLAT_CONTEXTS] = {0};
	struct osnoise_cpu *c;
	int n = 0;

	while (text_word(&t, "|")) {
		struct text group = t, bar;

		if (text_find(&t, "|", &bar))
			group.end = bar.p;
		t.p = group.end;
		if (n < TIMERLAT_CONTEXTS && latency_group(group, r->unit_ns, cpu >= 0, &l[n])) {
			l[n++].count = count;
			continue;
		}
		text_trim(&group);
		if (!n || text_left(&t) || (text_left(&group) && !message(r, group)))
			return OSNOISE_UNKNOWN;
	}
	if (!n || text_left(&t))
		return OSNOISE_UNKNOWN;
	c = cpu < 0 ? NULL : osnoise_cpu(r, cpu);
	if (c || cpu < 0)
		memcpy(c ? c->rtla : r->all, l, sizeof(l));
	return taken(r);
}

/* Rows of both tops begin alike: CPU, "#", count. */
static enum osnoise_got top_row(struct osnoise_reader *r, struct text t)
{
	struct text token, at;
	uint64_t cpu = 0, count;
	bool all = text_word(&t, "ALL");

	if (!all && (!text_u64(&t, &cpu) || cpu >= CPUS_MAX))
		return OSNOISE_UNKNOWN;
	text_blanks(&t);
	if (!text_word(&t, "#") || !text_u64(&t, &count))
		return OSNOISE_UNKNOWN;
	if (!text_find(&t, "|", &at))
		return all ? OSNOISE_UNKNOWN : osnoise_row(r, cpu, count, t);
	while (text_blanks(&t), t.p < at.p) { /* "e0": errors */
		token = text_token(&t);
		if (token.end > at.p || *token.p != 'e')
			return OSNOISE_UNKNOWN;
	}
	return timerlat_row(r, all ? -1 : (int)cpu, count, at);
}

/* ---- headings and messages ---- */

static enum osnoise_got heading(struct osnoise_reader *r, struct text t)
{
	struct text at = t;

	if (text_is(&t, "Operating System Noise") || text_is(&t, "Hardware-related Noise") ||
	    text_is(&t, "Timer Latency")) {
		r->section = SECTION_NONE;
		return taken(r);
	}
	if (text_word(&at, "duration:") && duration(&at, &r->rtla_duration_ns)) {
		unit(r, &at);
		return taken(r);
	}
	if (duration(&t, &r->rtla_duration_ns)) { /* "0 00:00:02 | IRQ Timer Latency (us) | ..." */
		if (!text_find(&t, "Timer Latency", &at))
			return OSNOISE_UNKNOWN;
		unit(r, &t);
		return taken(r);
	}
	if (text_find(&t, "CPU Period", &at) || text_find(&t, "CPU COUNT", &at))
		return at.p == t.p ? taken(r) : OSNOISE_UNKNOWN;
	if (text_word(&t, "---------------|"))
		return taken(r);
	return OSNOISE_UNKNOWN;
}

/* Lines with '#': rtla's own, and the headings of tracefs. */
static enum osnoise_got comment(struct osnoise_reader *r, struct text t)
{
	struct text at = t;

	if (text_word(&t, "# RTLA ") || text_word(&t, "# tracer: osnoise") ||
	    text_word(&t, "# tracer: timerlat")) {
		r->section = SECTION_NONE;
		return taken(r);
	}
	if (text_find(&t, "osnoise is tainted", &at))
		r->tainted = true;
	at = t;
	if (text_word(&t, "# Time unit is ")) {
		unit(r, &t);
		return taken(r);
	}
	if (text_word(&at, "# Duration:") && duration(&at, &r->rtla_duration_ns))
		return taken(r);
	r->headings++;
	return OSNOISE_TAKEN;
}

enum osnoise_got osnoise_rtla_line(struct osnoise_reader *r, const struct text *line)
{
	struct text t = *line;
	enum osnoise_got got;

	text_trim(&t);
	if (!text_left(&t)) {
		r->headings++;
		return OSNOISE_TAKEN;
	}
	got = osnoise_analysis_line(r, &t);
	if (got != OSNOISE_UNKNOWN)
		return got;
	if (*t.p == '#')
		return comment(r, t);
	got = heading(r, t);
	if (got != OSNOISE_UNKNOWN)
		return got;
	if (message(r, t))
		return taken(r);
	got = osnoise_hist_line(r, &t);
	return got == OSNOISE_UNKNOWN ? top_row(r, t) : got;
}
