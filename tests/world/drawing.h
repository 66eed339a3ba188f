/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timelines drawn as text: a row is a level, a column is a time.
 *
 *   irq  ...[nvme....].....    an interval: from its first column to its last, inclusive
 *   hic  .[--------------].    a hiccup
 *   los  .[--------------].    a hiccup that the sampler had no room for: none comes
 *   sir  [TIMER..>             ended with '>': a part of a preempted softirq
 *   flt  ..F                   an instant: a page fault
 *   tlb  ..1                   an instant: a TLB flush, by its reason
 *   irq  [!tick]               a dropped record: it has its place in the sequence, but never comes
 */
#ifndef CULPRIT_TESTS_DRAWING_H
#define CULPRIT_TESTS_DRAWING_H

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/join.h"

#define ROWS_MAX      6
#define RECORDS_MAX   64
#define BEGIN_NS      5000000000ULL
#define FIRST_CURSOR  UINT32_C(4294967293) /* the sequence wraps around at the third record */
#define LABEL_COLUMNS 5
#define LATE_NS       999

struct drawn {
	struct record record[RECORDS_MAX];
	bool dropped[RECORDS_MAX];
	unsigned nrecords;
	struct hiccup hiccup[ROWS_MAX];
	unsigned nhiccups;
	uint64_t lost_ns[ROWS_MAX]; /* begins of lost ones */
	unsigned nlost;
	char irq[RECORDS_MAX][16]; /* names of device interrupts */
	unsigned nirqs;
};

static const char *name_of_irq(void *ctx, uint32_t irq)
{
	const struct drawn *s = ctx;

	return irq < s->nirqs ? s->irq[irq] : NULL;
}

static void name_irq(struct drawn *s, struct record *r, const char *name)
{
	r->level = LEVEL_IRQ;
	if (!strcmp(name, "tick") || !strcmp(name, "callfn")) {
		r->kind = RECORD_VECTOR;
		r->id = *name == 't' ? VECTOR_LOCAL_TIMER : VECTOR_CALL_FUNCTION;
		r->arg = *name == 't' ? 236 : 252;
		return;
	}
	r->kind = RECORD_IRQ;
	while (r->id < s->nirqs && strcmp(s->irq[r->id], name))
		r->id++;
	if (r->id == s->nirqs)
		strcpy(s->irq[s->nirqs++], name);
}

static void name_record(struct drawn *s, struct record *r, const char *label, const char *name)
{
	if (!strncmp(label, "thr", 3)) {
		r->level = LEVEL_THREAD;
		r->kind = RECORD_THREAD;
		r->id = 100 + (unsigned char)name[0];
		memcpy(r->name, name, strlen(name));
	} else if (!strncmp(label, "sir", 3)) {
		r->level = LEVEL_SOFTIRQ;
		r->kind = RECORD_SOFTIRQ;
		while (strcmp(softirq_name(r->id), name))
			assert_true(++r->id < 10);
	} else if (!strncmp(label, "nmi", 3)) {
		r->level = LEVEL_NMI;
		r->kind = RECORD_NMI;
	} else {
		assert_memory_equal(label, "irq", 3);
		name_irq(s, r, name);
	}
}

static struct record *new_record(struct drawn *s)
{
	assert_true(s->nrecords < RECORDS_MAX);
	return &s->record[s->nrecords++];
}

/* Draws an interval: "[name..]". Returns the column behind it. */
static const char *draw_interval(struct drawn *s, const char *label, const char *at, uint64_t ns)
{
	const char *first = label + LABEL_COLUMNS, *end = at + strcspn(at, "]>"), *text = at + 1;
	uint64_t start_ns = BEGIN_NS + (uint64_t)(at - first) * ns;
	uint64_t end_ns = BEGIN_NS + (uint64_t)(end + 1 - first) * ns;
	char name[16] = "";
	struct record *r;

	assert_true(*end);
	if (!strncmp(label, "los", 3)) {
		s->lost_ns[s->nlost++] = start_ns;
		return end + 1;
	}
	if (!strncmp(label, "hic", 3)) {
		s->hiccup[s->nhiccups++] = (struct hiccup){.start_ns = start_ns, .end_ns = end_ns};
		return end + 1;
	}
	s->dropped[s->nrecords] = *text == '!';
	text += *text == '!';
	for (unsigned i = 0; isalnum((unsigned char)text[i]) || text[i] == '_'; i++)
		name[i] = text[i];
	r = new_record(s);
	r->start_ns = start_ns;
	r->end_ns = end_ns;
	r->flags = *end == '>' ? RECORD_PART : 0;
	name_record(s, r, label, name);
	return end + 1;
}

static void draw_row(struct drawn *s, const char *row, uint64_t ns)
{
	const char *at = row + LABEL_COLUMNS;

	while (*at) {
		if (*at == '[') {
			at = draw_interval(s, row, at, ns);
			continue;
		}
		if (*at != '.') {
			bool fault = *at == 'F';
			struct record *r = new_record(s);

			assert_memory_equal(row, fault ? "flt" : "tlb", 3);
			r->kind = fault ? RECORD_FAULT : RECORD_TLB;
			r->level = fault ? LEVEL_THREAD : LEVEL_IRQ;
			r->id = fault ? 6 : *at - '0';
			r->start_ns = r->end_ns =
				BEGIN_NS + (uint64_t)(at - row - LABEL_COLUMNS) * ns;
		}
		at++;
	}
}

/* Sorts as the probes write: by end, the inner one first; an end comes before an instant of the
 * same time. */
static int by_end(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	return (x->start_ns == x->end_ns) - (y->start_ns == y->end_ns);
}

/* Sets the cursors to what the sampler can have seen: records whose greater half lies before. */
static void number(struct drawn *s)
{
	uint32_t next[LEVELS];

	for (unsigned i = 0; i < s->nrecords; i++) /* the mark goes through the sort */
		s->record[i].callsite = s->dropped[i];
	qsort(s->record, s->nrecords, sizeof(s->record[0]), by_end);
	for (unsigned level = 0; level < LEVELS; level++)
		next[level] = FIRST_CURSOR;
	for (unsigned i = 0; i < s->nrecords; i++) {
		s->dropped[i] = s->record[i].callsite;
		s->record[i].callsite = 0;
		s->record[i].seq = ++next[s->record[i].level];
	}
	for (unsigned h = 0; h < s->nhiccups; h++) {
		for (unsigned level = 0; level < LEVELS; level++)
			s->hiccup[h].before[level] = s->hiccup[h].after[level] = FIRST_CURSOR;
		for (unsigned i = 0; i < s->nrecords; i++) {
			const struct record *r = &s->record[i];
			uint64_t middle = r->start_ns + (r->end_ns - r->start_ns) / 2;

			s->hiccup[h].before[r->level] += middle < s->hiccup[h].start_ns;
			s->hiccup[h].after[r->level] += middle < s->hiccup[h].end_ns;
		}
	}
}

/* Lets the next hiccup behind each lost one tell of it. */
static void count_lost(struct drawn *s)
{
	for (unsigned i = 0; i < s->nlost; i++) {
		unsigned h = 0;

		while (h < s->nhiccups && s->hiccup[h].start_ns < s->lost_ns[i])
			h++;
		if (h < s->nhiccups)
			s->hiccup[h].lost++;
	}
}

/* Gives all records, those of one level up to LATE_NS late, in order within the level. */
static void give(const struct drawn *s, struct join *j, int late)
{
	bool given[RECORDS_MAX] = {false};

	for (unsigned n = 0; n < s->nrecords; n++) {
		uint64_t best_ns = UINT64_MAX;
		unsigned best = 0;

		for (unsigned i = 0; i < s->nrecords; i++) {
			uint64_t ns =
				s->record[i].end_ns + (s->record[i].level == late ? LATE_NS : 0);

			if (!given[i] && ns < best_ns) {
				best_ns = ns;
				best = i;
			}
		}
		given[best] = true;
		if (!s->dropped[best])
			join_record(j, &s->record[best]);
	}
}

#endif
