/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/counters_state.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/irq_row.h"

/* The kernel counts an interrupt up to this long before its record begins: an NMI, which asks its
 * handlers first. */
#define EARLY_NS 20000

struct counters *counters_new(const unsigned *cpu, uint32_t n)
{
	struct counters *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->cpu = cpu;
	c->ipi_base = -1;
	c->n = n;
	c->sure = calloc(n, sizeof(*c->sure));
	c->perhaps = calloc(n, sizeof(*c->perhaps));
	c->line = calloc(n, sizeof(*c->line));
	for (int i = 0; i < READINGS; i++)
		c->switches[i] = calloc(n, sizeof(*c->switches[i]));
	if (c->sure && c->perhaps && c->line && c->switches[READING_BEGIN] &&
	    c->switches[READING_END])
		return c;
	counters_free(c);
	return NULL;
}

void counters_free(struct counters *c)
{
	if (!c)
		return;
	for (int i = 0; i < READINGS; i++) {
		free(c->switches[i]);
		free(c->value[i]);
	}
	free(c->sure);
	free(c->perhaps);
	free(c->line);
	free(c->row);
	free(c->of_column);
	free(c);
}

void counters_ipis(struct counters *c, int base)
{
	c->ipi_base = base;
}

void counters_time(struct counters *c, enum reading when, uint64_t from_ns, uint64_t to_ns)
{
	c->from_ns[when] = from_ns;
	c->to_ns[when] = to_ns;
}

void counters_switches(struct counters *c, enum reading when, uint32_t i, struct switches s)
{
	c->switches[when][i] = s;
}

/* ---- tables ---- */

/* A piece of text that is read from its begin. */
struct text {
	const char *at, *end;
};

/* Most of a large table is spaces: takes eight at once. */
static void skip_spaces(struct text *t)
{
	static const char eight[] = "        ";

	while (t->end - t->at >= 8 && !memcmp(t->at, eight, 8))
		t->at += 8;
	while (t->at < t->end && *t->at == ' ')
		t->at++;
}

static bool take_number(struct text *t, uint64_t *value)
{
	const char *first;

	skip_spaces(t);
	first = t->at;
	for (*value = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
		*value = *value * 10 + (*t->at - '0');
	return t->at > first;
}

/* Cuts the first line off. */
static bool take_line(struct text *t, struct text *line)
{
	const char *end;

	if (t->at == t->end)
		return false;
	end = memchr(t->at, '\n', t->end - t->at);
	*line = (struct text){t->at, end ? end : t->end};
	t->at = end ? end + 1 : t->end;
	return true;
}

/* Both are ascending: one pass. */
static int take_heading(struct counters *c, struct text line)
{
	uint32_t i = 0;

	for (c->columns = 0;; c->columns++) {
		uint64_t number;

		skip_spaces(&line);
		if (line.end - line.at < 4 || memcmp(line.at, "CPU", 3))
			return 0;
		line.at += 3;
		if (!take_number(&line, &number))
			return 0;
		if (c->columns == c->column_room) {
			uint32_t room = c->column_room * 2 + 64;
			int32_t *bigger = realloc(c->of_column, room * sizeof(*bigger));

			if (!bigger)
				return -ENOMEM;
			c->of_column = bigger;
			c->column_room = room;
		}
		while (i < c->n && c->cpu[i] < number)
			i++;
		c->of_column[c->columns] = i < c->n && c->cpu[i] == number ? (int32_t)i : -1;
	}
}

static int make_room(struct counters *c)
{
	uint32_t room = c->room * 2 + 256;
	void *rows;

	if (c->rows < c->room)
		return 0;
	rows = reallocarray(c->row, room, sizeof(*c->row));
	if (!rows)
		return -ENOMEM;
	c->row = rows;
	for (int i = 0; i < READINGS; i++) {
		uint32_t *bigger = reallocarray(c->value[i], room, c->n * sizeof(*c->value[i]));

		if (!bigger)
			return -ENOMEM;
		c->value[i] = bigger;
	}
	c->room = room;
	return 0;
}

/* The row of a label. Two readings have the same rows in the same order, but for what came or went
 * between them: a row that is new at the end began at 0, and one that went has not counted. what:
 * the text behind the counts. */
static int64_t find_row(struct counters *c, enum reading when, const char *label, struct text what)
{
	struct irq_row read;
	uint32_t row = c->next;

	if (when == READING_BEGIN)
		row = c->rows;
	else if (row >= c->rows || strcmp(c->row[row].label, label))
		for (row = 0; row < c->rows && strcmp(c->row[row].label, label); row++)
			;
	if (row == c->rows) {
		if (make_room(c))
			return -1;
		memcpy(c->row[row].label, label, LABEL_MAX);
		irq_row_take(label, what.at, what.end - what.at, &read);
		if (read.ipi >= 0 && c->ipi_base >= 0)
			read.irq = c->ipi_base + read.ipi;
		c->row[row].irq = read.irq;
		c->row[row].vector = read.vector;
		memset(c->value[READING_BEGIN] + (size_t)row * c->n, 0, c->n * sizeof(uint32_t));
		c->rows++;
	}
	c->next = row + 1;
	return row;
}

/* False for totals without a column for each CPU: ERR, MIS. */
static bool take_values(struct counters *c, struct text *line)
{
	for (uint32_t k = 0; k < c->columns; k++) {
		uint64_t value;

		if (!take_number(line, &value))
			return false;
		if (c->of_column[k] >= 0)
			c->line[c->of_column[k]] = value;
	}
	return true;
}

static int take_row(struct counters *c, enum reading when, const char *prefix, struct text line)
{
	const char *colon = memchr(line.at, ':', line.end - line.at);
	char label[LABEL_MAX] = "";
	int64_t row;

	if (!colon)
		return 0;
	skip_spaces(&line);
	snprintf(label, sizeof(label), "%s%.*s", prefix, (int)(colon - line.at), line.at);
	line.at = colon + 1;
	if (!take_values(c, &line))
		return 0;
	row = find_row(c, when, label, line);
	if (row < 0)
		return -ENOMEM;
	memcpy(c->value[when] + row * c->n, c->line, c->n * sizeof(*c->line));
	if (when == READING_BEGIN)
		memcpy(c->value[READING_END] + row * c->n, c->line, c->n * sizeof(*c->line));
	return 0;
}

int counters_table(struct counters *c, enum reading when, const char *prefix, const char *text,
		   size_t len)
{
	struct text rest = {text, text + len}, line;
	int err = 0;

	memset(c->line, 0, c->n * sizeof(*c->line));
	if (take_line(&rest, &line))
		err = take_heading(c, line);
	while (!err && c->columns && take_line(&rest, &line))
		err = take_row(c, when, prefix, line);
	return err;
}

/* ---- records ---- */

/* Finds where a record counts; NULL: before or after both readings. */
static struct tally *tally_of(const struct counters *c, uint32_t i, uint64_t start_ns)
{
	uint64_t last = c->to_ns[READING_END];

	if (start_ns <= c->from_ns[READING_BEGIN] || (last && start_ns > last + EARLY_NS))
		return NULL;
	return start_ns > c->to_ns[READING_BEGIN] + EARLY_NS &&
			       (!last || start_ns <= c->from_ns[READING_END])
		       ? &c->sure[i]
		       : &c->perhaps[i];
}

void counters_record(struct counters *c, uint32_t i, const struct record *r)
{
	struct tally *t = tally_of(c, i, r->start_ns);

	if (!t)
		return;
	if (r->kind == RECORD_VECTOR && r->id < VECTOR_IDS)
		t->vector[r->id]++;
	else if (r->kind == RECORD_SOFTIRQ && r->id < SOFTIRQS && !(r->flags & RECORD_PART))
		t->softirq[r->id]++;
	else if (r->kind == RECORD_NMI)
		t->nmi++;
	else if (r->kind == RECORD_IRQ && r->id < IRQS_MAX)
		t->irq[r->id]++;
}
