/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts that the osnoise readers share: a cursor over a line of any bytes, and more. */
#ifndef CULPRIT_OSNOISE_TEXT_H
#define CULPRIT_OSNOISE_TEXT_H

#include "base/units.h"
#include "model/osnoise.h"

struct text {
	const char *p, *end;
};

static inline size_t text_left(const struct text *t)
{
	return (size_t)(t->end - t->p);
}

void text_blanks(struct text *t);                     /* skips spaces and tabs */
void text_trim(struct text *t);                       /* at both ends */
bool text_word(struct text *t, const char *word);     /* takes these bytes if they come next */
bool text_is(const struct text *t, const char *word); /* these bytes and no others */
bool text_u64(struct text *t, uint64_t *value);       /* takes digits; false: none, or too large */
bool text_u32(struct text *t, uint32_t *value);       /* the same */
bool text_field(struct text *t,
		uint64_t *value);       /* blanks, then a number that a blank or the end follows */
struct text text_token(struct text *t); /* blanks, then all to the next blank */
bool text_find(const struct text *t, const char *word, struct text *at); /* the first one */
bool text_last_find(const struct text *t, const char *word, struct text *at);
/* "12.345" with at most 9 decimals, times unit; false when it does not fit. */
bool text_decimal(struct text *t, uint64_t unit, uint64_t *value);
/* A column's number in rtla's unit, or "-" for none: then *value stays. */
bool text_cell(struct text *t, uint64_t unit_ns, uint64_t *value, bool *some);
void text_copy(const struct text *t, char *to, size_t size); /* cut, NUL ends it */

/* The CPU's row, made on first use. NULL: too many, or out of memory. */
struct osnoise_cpu *osnoise_cpu(struct osnoise_reader *r, uint64_t cpu);

/* Each returns what it made of the line, OSNOISE_UNKNOWN when the line is of another format. */
enum osnoise_got osnoise_trace_line(struct osnoise_reader *r, const struct text *line);
enum osnoise_got osnoise_rtla_line(struct osnoise_reader *r, const struct text *line);
enum osnoise_got osnoise_hist_line(struct osnoise_reader *r, const struct text *line);
enum osnoise_got osnoise_analysis_line(struct osnoise_reader *r, const struct text *line);

static inline enum osnoise_got taken(struct osnoise_reader *r)
{
	r->known++;
	return OSNOISE_TAKEN;
}

/* True when the line begins as a trace record does: comm, pid, CPU, stamp. */
bool osnoise_has_front(const struct text *line);

/* Adds r->event, complete, to the tables. */
void osnoise_note(struct osnoise_reader *r);

/* A century: start + duration cannot wrap. */
#define NOISE_MAX_NS (36500ULL * 86400 * NSEC_PER_SEC)

/* A period or a latency into the event, from the tracer's own line or an event's keys; false: the
 * text is no such thing. */
bool osnoise_period_line(struct osnoise_event *e, struct text t);
bool osnoise_period_keys(struct osnoise_event *e, const struct text *t);
bool osnoise_timerlat_line(struct osnoise_event *e, struct text t);
bool osnoise_timerlat_keys(struct osnoise_event *e, const struct text *t);

#endif
