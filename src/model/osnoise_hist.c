/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the histograms of rtla osnoise hist and timerlat hist:
 *
 *   Index   IRQ-001   Thr-001
 *   24            1         0
 *   over:       122       565
 *   count:     9916      9916
 *   ALL:        IRQ       Thr
 *   count:     9916      9916
 */
#include <stdlib.h>
#include <string.h>

#include "model/osnoise_text.h"

#define COLUMN_BITS 4

uint64_t osnoise_column_count(const struct osnoise_column *c)
{
	uint64_t n;

	return __builtin_add_overflow(c->h.count, c->over, &n) ? UINT64_MAX : n;
}

static void drop_columns(struct osnoise_reader *r)
{
	for (uint32_t i = 0; i < r->ncolumns; i++)
		hist_free(&r->column[i].h);
	free(r->column);
	r->column = NULL;
	r->ncolumns = 0;
	r->columns_beyond = 0;
}

static bool column_name(struct text token, struct osnoise_column *c)
{
	static const char *const names[] = {"CPU", "IRQ", "Thr", "Usr"};
	uint64_t cpu;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!text_word(&token, names[i]))
			continue;
		memcpy(c->what, names[i], sizeof(c->what));
		c->cpu = -1;
		if (!text_left(&token))
			return true;
		if (!text_word(&token, "-") || !text_u64(&token, &cpu) || cpu >= CPUS_MAX ||
		    text_left(&token))
			return false;
		c->cpu = cpu;
		return true;
	}
	return false;
}

/* "Index   IRQ-001   Thr-001"; without "Index" after --no-index: then no row says what it counts,
 * as rows of zeros are left out, and so are the words before the summary's. */
static enum osnoise_got hist_head(struct osnoise_reader *r, struct text t)
{
	bool index = text_word(&t, "Index");
	struct osnoise_column c;
	struct text at = t;
	uint64_t n = 0;

	for (; text_blanks(&at), text_left(&at); n++)
		if (!column_name(text_token(&at), &c))
			return OSNOISE_UNKNOWN;
	if (!n)
		return OSNOISE_UNKNOWN;
	drop_columns(r);
	r->no_index = !index;
	r->section = index ? SECTION_HIST : SECTION_NO_INDEX;
	r->nall = 0;
	r->bucket_ns = 0;
	if (!index)
		return taken(r);
	r->columns_beyond = n > OSNOISE_COLUMNS ? n - OSNOISE_COLUMNS : 0;
	n -= r->columns_beyond;
	r->column = calloc(n, sizeof(*r->column));
	r->no_memory |= !r->column;
	r->ncolumns = r->column ? n : 0;
	for (uint32_t i = 0; i < r->ncolumns; i++)
		column_name(text_token(&t), &r->column[i]);
	return taken(r);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* A bucket: its lowest value in rtla's unit, then a count for each column. */
static enum osnoise_got hist_row(struct osnoise_reader *r, struct text t)
{
	uint64_t index, n;
	struct text at;

	if (!text_field(&t, &index) || __builtin_mul_overflow(index, r->unit_ns, &index))
		return OSNOISE_UNKNOWN;
	at = t;
	for (uint64_t i = 0; i < r->ncolumns + r->columns_beyond; i++)
		if (!text_field(&at, &n) ||
		    (i < r->ncolumns && !hist_fits(&r->column[i].h, index, n)))
			return OSNOISE_UNKNOWN;
	text_blanks(&at);
	if (text_left(&at))
		return OSNOISE_UNKNOWN;
	r->bucket_ns = common_divisor(r->bucket_ns, index);
	for (uint32_t i = 0; i < r->ncolumns; i++) {
		struct hist *h = &r->column[i].h;

		if (!text_field(&t, &n) || !n)
			continue;
		if (!h->bits && hist_init(h, COLUMN_BITS))
			r->no_memory = true;
		else
			hist_add_n(h, index, n);
	}
	return taken(r);
}

enum summary_row { ROW_OVER, ROW_COUNT, ROW_MIN, ROW_AVG, ROW_MAX, SUMMARY_ROWS };

static void set_summary(struct osnoise_latency *l, enum summary_row row, uint64_t value, bool some)
{
	uint64_t *field[] = {NULL, &l->count, &l->min_ns, &l->avg_ns, &l->max_ns};

	if (field[row] && some)
		*field[row] = value;
	if (row == ROW_MAX)
		l->known = some;
}

/* "over:", "count:", "min:", "avg:", "max:", with a number for each column, or after "ALL:" for
 * each context. */
static enum osnoise_got hist_summary(struct osnoise_reader *r, enum summary_row row, struct text t)
{
	uint64_t unit_ns = row <= ROW_COUNT ? 1 : r->unit_ns, value,
		 n = r->ncolumns + r->columns_beyond;
	struct text at = t;
	bool some;

	if (r->nall)
		n = r->nall;
	for (uint64_t i = 0; text_blanks(&at), text_left(&at); i++)
		if (i == n || !text_cell(&at, unit_ns, &value, &some))
			return OSNOISE_UNKNOWN;
	for (uint32_t i = 0; text_blanks(&t), text_left(&t); i++) {
		text_cell(&t, unit_ns, &value, &some);
		if (r->nall) {
			set_summary(&r->all[r->all_context[i]], row, value, some);
		} else if (i < r->ncolumns) {
			set_summary(&r->column[i].summary, row, value, some);
			if (row == ROW_OVER && some) {
				r->column[i].over = value;
				r->column[i].over_known = true;
			}
		}
	}
	return taken(r);
}

/* "IRQ  Thr  Usr" behind "ALL:": the contexts that were not left out (--no-irq, --no-thread). */
static enum osnoise_got hist_all(struct osnoise_reader *r, struct text t)
{
	static const char *const names[TIMERLAT_CONTEXTS] = {"IRQ", "Thr", "Usr"};
	enum timerlat_context context[TIMERLAT_CONTEXTS];
	uint32_t n = 0;

	for (int i = 0; i < TIMERLAT_CONTEXTS; i++) {
		text_blanks(&t);
		if (text_word(&t, names[i]))
			context[n++] = i;
	}
	text_blanks(&t);
	if (!n || text_left(&t))
		return OSNOISE_UNKNOWN;
	memset(r->all, 0, sizeof(r->all));
	memcpy(r->all_context, context, sizeof(context));
	r->nall = n;
	return taken(r);
}

static enum osnoise_got hist_line(struct osnoise_reader *r, struct text t)
{
	static const char *const rows[SUMMARY_ROWS] = {"over:", "count:", "min:", "avg:", "max:"};

	for (int i = 0; i < SUMMARY_ROWS; i++)
		if (text_word(&t, rows[i]))
			return hist_summary(r, i, t);
	if (text_word(&t, "ALL:"))
		return hist_all(r, t);
	return r->nall ? OSNOISE_UNKNOWN : hist_row(r, t);
}

/* Numbers, or the names of the contexts: nothing says what they mean. */
static enum osnoise_got line_without_index(struct osnoise_reader *r, struct text t)
{
	struct osnoise_column c;
	uint64_t value;
	bool some;

	for (; text_blanks(&t), text_left(&t);) {
		struct text token = t;

		if (text_cell(&t, 1, &value, &some))
			continue;
		t = token;
		if (!column_name(text_token(&t), &c))
			return OSNOISE_UNKNOWN;
	}
	return taken(r);
}

enum osnoise_got osnoise_hist_line(struct osnoise_reader *r, const struct text *line)
{
	struct text t = *line, token = {t.p, t.p + (text_left(&t) < 7 ? text_left(&t) : 7)};
	enum osnoise_got got = OSNOISE_UNKNOWN;

	if (column_name(token, &(struct osnoise_column){0}) || text_word(&token, "Index"))
		got = hist_head(r, t);
	if (got == OSNOISE_UNKNOWN && r->section == SECTION_HIST)
		got = hist_line(r, t);
	if (got == OSNOISE_UNKNOWN && r->section == SECTION_NO_INDEX)
		got = line_without_index(r, t);
	return got;
}
