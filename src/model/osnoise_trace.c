/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of tracefs `trace` and of `trace-cmd report` (each is one line):
 *
 *   "          <idle>-0       [001] dNh2.    70.957150: irq_noise: local_timer:236
 *    start 70.955792385 duration 1238200 ns"
 *   "       osnoise/1-196   [001]    32.573895: sample_threshold:     start 32.573779430
 *    duration 98599 ns interference 0"
 *
 * Comms and IRQ names may hold anything, also ':' and " start ". So the front is read by its
 * columns where it can be (a comm takes 16 of them), and a noise from its end.
 */
#include <string.h>

#include "model/osnoise_text.h"

#define COMM_COLUMNS  16
#define FRONT_MAX     256
#define TRACE_CMD_PAD 21 /* trace-cmd pads "name:" to this width, and adds a blank */

static bool stamp_token(struct text token, struct osnoise_event *e)
{
	struct text at;

	if (!text_left(&token) || token.end[-1] != ':')
		return false;
	token.end--;
	e->stamp_ns = text_find(&token, ".", &at);
	if (!(e->stamp_ns ? text_decimal(&token, NSEC_PER_SEC, &e->stamp)
			  : text_u64(&token, &e->stamp)))
		return false;
	return !text_left(&token);
}

/* Reads from the '-' between comm and pid; on true t stands behind the stamp's colon. */
static bool front_at(struct text *t, const char *dash, struct osnoise_event *e)
{
	struct text at = {dash, t->end}, token;
	uint64_t cpu;

	if (!text_word(&at, "-") || !text_u32(&at, &e->task))
		return false;
	text_blanks(&at);
	if (at.p < at.end && *at.p == '(') { /* tgid, with the option record-tgid */
		if (!text_find(&at, ")", &at))
			return false;
		at.p++;
		text_blanks(&at);
	}
	if (!text_word(&at, "[") || !text_u64(&at, &cpu) || cpu >= CPUS_MAX || !text_word(&at, "]"))
		return false;
	e->cpu = cpu;
	token = text_token(&at);
	if (!stamp_token(token, e)) /* flags like irqs-off come first, trace-cmd leaves them out */
		if (!stamp_token(text_token(&at), e))
			return false;
	t->p = at.p;
	return true;
}

static bool front(struct text *t, struct osnoise_event *e)
{
	const char *end = text_left(t) < FRONT_MAX ? t->end : t->p + FRONT_MAX;

	if (text_left(t) > COMM_COLUMNS && front_at(t, t->p + COMM_COLUMNS, e))
		return true;
	/* A text that lost its leading blanks, or has the name of a buffer in front. */
	for (const char *p = t->p; p < end && (p = memchr(p, '-', end - p)); p++)
		if (front_at(t, p, e))
			return true;
	return false;
}

/* "start 70.955792385 duration 1238200 ns"; t keeps the rest. */
static bool span(struct text *t, struct osnoise_event *e)
{
	if (!text_word(t, "start ") || !text_decimal(t, NSEC_PER_SEC, &e->start_ns) ||
	    !text_word(t, " duration ") || !text_u64(t, &e->duration_ns) || !text_word(t, " ns"))
		return false;
	return e->start_ns <= NOISE_MAX_NS && e->duration_ns <= NOISE_MAX_NS;
}

/* "NAME:id start ...". The kernel right-aligns comms and softirqs in 8 columns: a shorter name has
 * blanks that are not its own. */
static bool named_span(struct text t, struct osnoise_event *e)
{
	struct text at, id, name = t;

	if (!text_last_find(&t, " start ", &at))
		return false;
	name.end = at.p;
	at.p++;
	if (!span(&at, e))
		return false;
	text_blanks(&at);
	if (text_left(&at) || !text_last_find(&name, ":", &id))
		return false;
	name.end = id.p++;
	id.end = at.p; /* digits end by themselves */
	if (!text_u32(&id, &e->id) || id.p >= id.end || *id.p != ' ')
		return false;
	if (text_left(&name) <= 8)
		text_blanks(&name);
	text_copy(&name, e->name, sizeof(e->name));
	return true;
}

/* The name in irq_noise of an x86 vector comes from the kernel's source, all others from a
 * driver. */
static enum source_kind irq_kind(struct osnoise_event *e)
{
	static const struct {
		const char *theirs, *ours;
	} vectors[] = {
		{"local_timer", NULL},      {"reschedule", NULL},
		{"call_function", NULL},    {"call_function_single", NULL},
		{"irq_work", NULL},         {"thermal_apic", NULL},
		{"threshold_apic", NULL},   {"deferred_error", "deferred_error_apic"},
		{"error_apic", NULL},       {"spurious_apic", NULL},
		{"x86_platform_ipi", NULL},
	};

	for (size_t i = 0;
	     e->id >= 0xe0 && e->id <= 0xff && i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		if (strcmp(e->name, vectors[i].theirs))
			continue;
		if (vectors[i].ours)
			strcpy(e->name, vectors[i].ours);
		return SOURCE_VECTOR;
	}
	return SOURCE_IRQ;
}

/* Text after "name:". One blank follows in tracefs; trace-cmd pads the name. */
static struct text payload(struct text t, size_t name_len)
{
	size_t pad = name_len < TRACE_CMD_PAD ? TRACE_CMD_PAD - name_len : 1, blanks = 0;

	while (blanks < text_left(&t) && t.p[blanks] == ' ')
		blanks++;
	t.p += blanks >= pad ? pad : blanks ? 1 : 0;
	return t;
}

static bool noise(struct osnoise_event *e, const struct text *name, struct text t)
{
	struct text bare = t;

	e->type = OSNOISE_NOISE;
	text_trim(&bare);
	if (text_is(name, "nmi_noise")) {
		e->kind = SOURCE_NMI;
		strcpy(e->name, "NMI");
		return span(&bare, e) && !text_left(&bare);
	}
	if (!named_span(t, e))
		return false;
	if (text_is(name, "irq_noise"))
		e->kind = irq_kind(e);
	else
		e->kind = text_is(name, "softirq_noise") ? SOURCE_SOFTIRQ : SOURCE_THREAD;
	if (e->kind == SOURCE_SOFTIRQ)
		text_copy(&(struct text){softirq_name(e->id),
					 softirq_name(e->id) + strlen(softirq_name(e->id))},
			  e->name, sizeof(e->name));
	return true;
}

static bool sample(struct osnoise_event *e, struct text t)
{
	e->type = OSNOISE_SAMPLE;
	e->kind = SOURCE_OUTSIDE;
	strcpy(e->name, word_text(WORD_HARDWARE));
	text_trim(&t);
	return span(&t, e) && text_word(&t, " interference ") && text_u64(&t, &e->interference) &&
	       !text_left(&t);
}

/* Since 6.18 a period and a latency also come as events of their own, just before the tracer's
 * line. With both switched on each would count twice. */
static bool comes_twice(struct osnoise_reader *r, bool as_event)
{
	struct osnoise_event *e = &r->event, *last;
	struct osnoise_cpu *c = osnoise_cpu(r, e->cpu);
	int i = e->type == OSNOISE_TIMERLAT;
	bool same;

	if (!c)
		return false;
	last = &c->last[i];
	same = i ? last->id == e->id && last->context == e->context &&
			       last->duration_ns == e->duration_ns
		 : last->period.count && last->period.noise_ns == e->period.noise_ns &&
			       last->period.hw == e->period.hw &&
			       last->period.irq == e->period.irq &&
			       last->period.thread == e->period.thread;
	same = same && c->last_form[i] != as_event && last->period.count;
	*last = *e;
	last->period.count = !same; /* the pair is complete: the next one is new */
	c->last_form[i] = as_event;
	return same;
}

static enum osnoise_got done(struct osnoise_reader *r, bool good)
{
	if (!good)
		return OSNOISE_UNKNOWN;
	r->known++;
	osnoise_note(r);
	return OSNOISE_EVENT;
}

static enum osnoise_got done_once(struct osnoise_reader *r, bool good, bool as_event)
{
	if (!good)
		return OSNOISE_UNKNOWN;
	if (comes_twice(r, as_event)) {
		r->other_events++;
		return OSNOISE_TAKEN;
	}
	return done(r, true);
}

static enum osnoise_got other_event(struct osnoise_reader *r, const struct text *name)
{
	struct osnoise_name *row = NULL;

	r->known++;
	r->other_events++;
	for (uint32_t i = 0; i < r->nother && !row; i++)
		if (text_is(name, r->other[i].name))
			row = &r->other[i];
	if (!row && r->nother < OSNOISE_NAMES) {
		row = &r->other[r->nother++];
		text_copy(name, row->name, sizeof(row->name));
	}
	if (row)
		row->count++;
	return OSNOISE_TAKEN;
}

/* "irq_noise" of "irq_noise: ..."; t then stands behind the colon. Empty: no event. */
static struct text event_name(struct text *t)
{
	struct text name = *t;

	while (t->p < t->end && *t->p != ':' && *t->p != ' ' && *t->p != '\t')
		t->p++;
	name.end = t->p;
	if (t->p >= t->end || *t->p != ':')
		name.end = name.p;
	else
		t->p++;
	return name;
}

static enum osnoise_got record(struct osnoise_reader *r, struct text t)
{
	struct osnoise_event *e = &r->event;
	struct text name, rest = t;

	text_blanks(&rest);
	if (text_word(&rest, "<stack trace>") || text_word(&rest, "<user stack trace>")) {
		r->headings++;
		return OSNOISE_TAKEN;
	}
	if (rest.p < rest.end && *rest.p == '#')
		return done_once(r, osnoise_timerlat_line(e, rest), false);
	if (rest.p < rest.end && *rest.p >= '0' && *rest.p <= '9' && osnoise_period_line(e, rest))
		return done_once(r, true, false);
	name = event_name(&rest);
	if (!text_left(&name))
		return OSNOISE_UNKNOWN;
	t = payload(rest, text_left(&name));
	if (text_is(&name, "irq_noise") || text_is(&name, "nmi_noise") ||
	    text_is(&name, "softirq_noise") || text_is(&name, "thread_noise"))
		return done(r, noise(e, &name, t));
	if (text_is(&name, "sample_threshold"))
		return done(r, sample(e, t));
	if (text_is(&name, "osnoise") || text_is(&name, "osnoise_sample"))
		return done_once(r, osnoise_period_keys(e, &t), text_is(&name, "osnoise_sample"));
	if (text_is(&name, "timerlat") || text_is(&name, "timerlat_sample"))
		return done_once(r, osnoise_timerlat_keys(e, &t),
				 text_is(&name, "timerlat_sample"));
	return other_event(r, &name);
}

/* "CPU:1 [LOST 123 EVENTS]", trace-cmd's "CPU:1 [123 EVENTS DROPPED]" and what it says about the
 * file. */
static enum osnoise_got about(struct osnoise_reader *r, struct text t)
{
	struct text word;
	uint64_t n;

	if (text_word(&t, "CPU:") && text_u64(&t, &n) && text_word(&t, " [")) {
		if (!text_find(&t, "EVENTS", &word))
			return OSNOISE_UNKNOWN;
		text_word(&t, "LOST ");
		r->lost += text_u64(&t, &n) ? n : 1; /* the number may be missing */
		return OSNOISE_TAKEN;
	}
	if ((text_word(&t, "cpus=") && text_u64(&t, &n) && !text_left(&t)) ||
	    text_word(&t, "version = ") ||
	    (text_word(&t, "CPU ") && text_u64(&t, &n) && text_is(&t, " is empty"))) {
		r->headings++;
		return OSNOISE_TAKEN;
	}
	return OSNOISE_UNKNOWN;
}

bool osnoise_has_front(const struct text *line)
{
	struct osnoise_event e;
	struct text t = *line;

	return front(&t, &e);
}

enum osnoise_got osnoise_trace_line(struct osnoise_reader *r, const struct text *line)
{
	struct text t = *line;

	memset(&r->event, 0, sizeof(r->event));
	if (front(&t, &r->event)) {
		r->section = SECTION_NONE;
		return record(r, t);
	}
	t = *line;
	if (text_word(&t, " => ")) {
		r->headings++;
		return OSNOISE_TAKEN;
	}
	return about(r, *line);
}
