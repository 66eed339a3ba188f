/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rtla timerlat's auto-analysis of a stop:
 *
 *	## CPU 1 hit stop tracing, analyzing it ##
 *	  IRQ handler delay:                  (exit from idle)     139.92 us (7.25 %)
 *	  Blocking thread:                                         332.94 us (17.26 %)
 *	                       swapper/1:0                         332.94 us
 *	    Blocking thread stack trace
 *	                -> timerlat_irq
 *	------------------------------------------------------------------------
 *	  Thread latency:                                         1929.17 us (100%)
 *
 * Comms may hold anything, so lines are known by their labels and read from their end.
 */
#include <stdlib.h>
#include <string.h>

#include "model/osnoise_text.h"

static const char *const labels[] = {
	"Previous IRQ interference",
	"IRQ handler delay",
	"IRQ latency",
	"Timerlat IRQ duration",
	"Blocking thread",
	"NMI interference",
	"IRQ interference",
	"Softirq interference",
	"Thread interference",
	"Thread latency",
};

static struct osnoise_analysis *current(struct osnoise_reader *r)
{
	return r->nanalyses && !r->analyses_beyond ? r->analysis[r->nanalyses - 1] : NULL;
}

static enum osnoise_got begin(struct osnoise_reader *r, struct text t)
{
	struct osnoise_analysis *a;
	uint64_t cpu;

	if (!text_word(&t, "## CPU ") || !text_u64(&t, &cpu) || cpu >= CPUS_MAX ||
	    !text_word(&t, " hit stop tracing"))
		return OSNOISE_UNKNOWN;
	r->stopped = true;
	r->section = SECTION_ANALYSIS;
	if (r->nanalyses == OSNOISE_ANALYSES) {
		r->analyses_beyond++;
		return taken(r);
	}
	a = calloc(1, sizeof(*a));
	if (!a) {
		r->no_memory = true;
		r->analyses_beyond++;
		return taken(r);
	}
	a->cpu = cpu;
	r->analysis[r->nanalyses++] = a;
	return taken(r);
}

/* Takes "(7.25 %)" or "(100%)" off the end, if present. */
static void take_percent(struct text *t, uint32_t *hundredths)
{
	struct text at;
	uint64_t value;

	*hundredths = UINT32_MAX;
	if (!text_last_find(t, "(", &at))
		return;
	at.p++;
	if (!text_decimal(&at, 100, &value) || value > UINT32_MAX - 1)
		return;
	text_blanks(&at);
	if (!text_is(&at, "%)"))
		return;
	*hundredths = value;
	text_last_find(t, "(", &at);
	t->end = at.p;
	text_trim(t);
}

/* Takes "332.94 us" off the end. */
static void take_time(struct text *t, uint64_t *ns)
{
	struct text head = *t, number;

	*ns = UINT64_MAX;
	if (text_left(t) < 3 || memcmp(t->end - 3, " us", 3))
		return;
	head.end -= 3;
	number = head;
	while (number.p < head.end && head.end[-1] != ' ' && head.end[-1] != '\t')
		head.end--;
	number.p = head.end;
	if (!text_decimal(&number, NSEC_PER_USEC, ns) || text_left(&number)) {
		*ns = UINT64_MAX;
		return;
	}
	*t = head;
	text_trim(t);
}

static struct osnoise_part *new_part(struct osnoise_reader *r)
{
	struct osnoise_analysis *a = current(r);

	if (!a || a->nparts == OSNOISE_PARTS)
		return NULL;
	return &a->part[a->nparts++];
}

static enum osnoise_got keep_part(struct osnoise_reader *r, const char *label,
				  const struct text *who, uint64_t ns, uint32_t hundredths)
{
	struct osnoise_part *p = new_part(r);

	if (p) {
		strncpy(p->label, label, sizeof(p->label) - 1);
		text_copy(who, p->who, sizeof(p->who));
		p->ns = ns;
		p->hundredths = hundredths;
	}
	return taken(r);
}

/* "swapper/1:0    332.94 us": a part of the last label's time; without a time after an IRQ
 * latency. */
static enum osnoise_got part(struct osnoise_reader *r, struct text t)
{
	const struct osnoise_analysis *a = current(r);
	struct text at;
	uint64_t ns;
	uint32_t hundredths;

	take_percent(&t, &hundredths);
	take_time(&t, &ns);
	if (!text_last_find(&t, ":", &at))
		return OSNOISE_UNKNOWN;
	at.p++;
	if (!text_u64(&at, &(uint64_t){0}) || text_left(&at))
		return OSNOISE_UNKNOWN;
	if (!a || !a->nparts)
		return current(r) ? OSNOISE_UNKNOWN : taken(r);
	return keep_part(r, a->part[a->nparts - 1].label, &t, ns, hundredths);
}

static enum osnoise_got frame(struct osnoise_reader *r, struct text t)
{
	struct osnoise_analysis *a = current(r);

	if (a && a->nframes < OSNOISE_FRAMES)
		text_copy(&t, a->frame[a->nframes++], SOURCE_NAME);
	return taken(r);
}

static enum osnoise_got labelled(struct osnoise_reader *r, struct text t)
{
	uint64_t ns;
	uint32_t hundredths;

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		struct text rest = t;

		if (!text_word(&rest, labels[i]))
			continue;
		text_word(&rest, ":");
		text_blanks(&rest);
		if (text_is(&rest, "stack trace"))
			return taken(r);
		take_percent(&rest, &hundredths);
		take_time(&rest, &ns);
		text_trim(&rest);
		if (text_left(&rest) && !text_is(&rest, "(exit from idle)") &&
		    !text_is(&rest, "up to"))
			return OSNOISE_UNKNOWN;
		return keep_part(r, labels[i], &(struct text){rest.end, rest.end}, ns, hundredths);
	}
	return OSNOISE_UNKNOWN;
}

/* "Max timerlat IRQ latency from idle: 196.41 us in cpu 1" */
static enum osnoise_got from_idle(struct osnoise_reader *r, struct text t)
{
	uint64_t ns, cpu;

	if (!text_word(&t, "Max timerlat IRQ latency from idle: ") ||
	    !text_decimal(&t, NSEC_PER_USEC, &ns) || !text_word(&t, " us in cpu ") ||
	    !text_u64(&t, &cpu) || cpu >= CPUS_MAX || text_left(&t))
		return OSNOISE_UNKNOWN;
	r->idle_latency_ns = ns;
	r->idle_latency_cpu = cpu;
	return taken(r);
}

enum osnoise_got osnoise_analysis_line(struct osnoise_reader *r, const struct text *line)
{
	enum osnoise_got got = begin(r, *line);
	struct text t = *line;

	if (got == OSNOISE_UNKNOWN)
		got = from_idle(r, t);
	if (got != OSNOISE_UNKNOWN || r->section != SECTION_ANALYSIS)
		return got;
	if (text_word(&t, "-> "))
		return frame(r, t);
	if (text_word(&t, "----------") || text_is(&t, "Printing CPU tasks:"))
		return taken(r);
	if (text_word(&t, "[")) /* a row of --dump-tasks */
		return text_find(&t, "]", &t) ? taken(r) : OSNOISE_UNKNOWN;
	got = labelled(r, t);
	return got == OSNOISE_UNKNOWN ? part(r, t) : got;
}
