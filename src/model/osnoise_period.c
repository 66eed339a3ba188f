/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periods and latencies of the osnoise and timerlat tracers: their own lines, and events with keys.
 */
#include "model/osnoise_text.h"

#include "base/units.h"

static bool microseconds(uint64_t *ns)
{
	return !__builtin_mul_overflow(*ns, NSEC_PER_USEC, ns);
}

/* "1000000      41636  95.83640    8043      2      0    262      0     39" */
bool osnoise_period_line(struct osnoise_event *e, struct text t)
{
	struct osnoise_period *p = &e->period;
	uint64_t percent;

	e->type = OSNOISE_PERIOD;
	if (!text_field(&t, &p->runtime_ns) || !text_field(&t, &p->noise_ns))
		return false;
	text_blanks(&t);
	if (!text_decimal(&t, NSEC_PER_SEC, &percent) || !text_field(&t, &p->max_single_ns) ||
	    !text_field(&t, &p->hw) || !text_field(&t, &p->nmi) || !text_field(&t, &p->irq) ||
	    !text_field(&t, &p->softirq) || !text_field(&t, &p->thread))
		return false;
	text_blanks(&t);
	p->count = 1;
	return !text_left(&t) && microseconds(&p->runtime_ns) && microseconds(&p->noise_ns) &&
	       microseconds(&p->max_single_ns);
}

/* The number behind `key` anywhere in t: "noise:23826<tab>max_sample:175", "noise=23826
 * max_sample=175". */
static bool keyed(const struct text *t, const char *key, uint64_t *value)
{
	struct text rest = *t, token;

	while (text_blanks(&rest), text_left(&rest)) {
		token = text_token(&rest);
		if (text_word(&token, key) && (text_word(&token, "=") || text_word(&token, ":")))
			return text_u64(&token, value) && !text_left(&token);
	}
	return false;
}

/* Counts are called hw_count in osnoise_sample, hw in the tracer's own record. */
bool osnoise_period_keys(struct osnoise_event *e, const struct text *t)
{
	struct osnoise_period *p = &e->period;

	e->type = OSNOISE_PERIOD;
	if (!keyed(t, "runtime", &p->runtime_ns) || !microseconds(&p->runtime_ns))
		p->runtime_ns = UINT64_MAX;
	if (!keyed(t, "noise", &p->noise_ns) || !keyed(t, "max_sample", &p->max_single_ns))
		return false;
	if (!(keyed(t, "hw", &p->hw) && keyed(t, "nmi", &p->nmi) && keyed(t, "irq", &p->irq) &&
	      keyed(t, "softirq", &p->softirq) && keyed(t, "thread", &p->thread)) &&
	    !(keyed(t, "hw_count", &p->hw) && keyed(t, "nmi_count", &p->nmi) &&
	      keyed(t, "irq_count", &p->irq) && keyed(t, "softirq_count", &p->softirq) &&
	      keyed(t, "thread_count", &p->thread)))
		return false;
	p->count = 1;
	return microseconds(&p->noise_ns) && microseconds(&p->max_single_ns);
}

/* "#2080  context    irq timer_latency     52493 ns" */
bool osnoise_timerlat_line(struct osnoise_event *e, struct text t)
{
	struct text context, unit;

	e->type = OSNOISE_TIMERLAT;
	if (!text_word(&t, "#") || !text_u32(&t, &e->id))
		return false;
	context = text_token(&t);
	if (!text_is(&context, "context"))
		return false;
	context = text_token(&t);
	e->context = text_is(&context, "irq")      ? TIMERLAT_IRQ
		     : text_is(&context, "thread") ? TIMERLAT_THREAD
						   : TIMERLAT_USER;
	if (e->context == TIMERLAT_USER && !text_word(&context, "user"))
		return false;
	context = text_token(&t);
	if (!text_is(&context, "timer_latency") || !text_field(&t, &e->duration_ns))
		return false;
	unit = text_token(&t);
	text_blanks(&t);
	return text_is(&unit, "ns") && !text_left(&t) && e->duration_ns <= NOISE_MAX_NS;
}

bool osnoise_timerlat_keys(struct osnoise_event *e, const struct text *t)
{
	uint64_t id, context;

	e->type = OSNOISE_TIMERLAT;
	if ((!keyed(t, "seq", &id) && !keyed(t, "seqnum", &id)) || !keyed(t, "context", &context) ||
	    !keyed(t, "timer_latency", &e->duration_ns))
		return false;
	e->id = id;
	e->context = context;
	return id <= UINT32_MAX && context < TIMERLAT_CONTEXTS && e->duration_ns <= NOISE_MAX_NS;
}
