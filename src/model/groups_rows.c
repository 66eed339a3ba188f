/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of sources that CPUs have in common, as numbers. */
#include "model/groups_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/groups.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void group_star(char *name)
{
	/* "mlx5_comp3@pci:0000:3b:00.0": what follows is the device */
	size_t end = strcspn(name, "@"), begin;

	while (end && !is_digit(name[end - 1]))
		end--;
	for (begin = end; begin && is_digit(name[begin - 1]); begin--)
		;
	if (begin == end)
		return;
	name[begin] = '*';
	memmove(&name[begin + 1], &name[end], strlen(&name[end]) + 1);
}

void group_name(const struct source *s, char *name)
{
	diff_name(s, false, name);
	if ((s->kind == SOURCE_IRQ || s->kind == SOURCE_THREAD) && s->by < BY_UNIT && !s->rest &&
	    !strchr(name, '*') && s->name[0])
		group_star(name);
}

static int compare_text(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a ? a : "", b ? b : "");
}

static int compare_name(const struct group_row *x, const struct group_row *y)
{
	const struct source *a = x->source, *b = y->source;
	int order = (a->kind > b->kind) - (a->kind < b->kind);

	order = order ? order : (a->host_kind > b->host_kind) - (a->host_kind < b->host_kind);
	order = order ? order : a->kernel_thread - b->kernel_thread;
	order = order ? order : (a->by > b->by) - (a->by < b->by);
	order = order ? order : a->rest - b->rest;
	order = order ? order : strcmp(x->name, y->name);
	return order ? order : compare_text(a->function, b->function);
}

static int by_name(const void *a, const void *b)
{
	const struct group_row *x = a, *y = b;
	int order = compare_name(x, y);

	order = order ? order : (x->lane > y->lane) - (x->lane < y->lane);
	/* The table's own order, so that equal rows always stand the same way. */
	return order ? order
		     : (x->source->serial > y->source->serial) -
			       (x->source->serial < y->source->serial);
}

static size_t list(struct group_row *row, const struct view *v)
{
	size_t n = 0;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct sources *t = &v->cpu[i].sources;

		for (uint32_t k = 0; k < t->count; k++) {
			if (!t->row[k]->net.count)
				continue;
			row[n] = (struct group_row){.source = t->row[k], .lane = i};
			group_name(t->row[k], row[n++].name);
		}
	}
	return n;
}

/* Numbers the names in their order, and counts each lane's. */
static void number(struct group_rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct group_row *row = &r->row[i];
		bool same = i && !compare_name(row - 1, row);

		row->key = same ? row[-1].key : r->keys++;
		if (!same || row[-1].lane != row->lane)
			r->begin[row->lane + 1]++;
	}
}

/* Adds up the rows of one name of a lane. begin[] moves to the ends, and back. */
static void add_parts(struct group_rows *r, uint32_t lanes)
{
	for (uint32_t i = 0; i < lanes; i++)
		r->begin[i + 1] += r->begin[i];
	for (size_t i = 0; i < r->n; i++) {
		const struct group_row *row = &r->row[i];
		const struct hist *h = &row->source->net;
		bool more = i && row[-1].key == row->key && row[-1].lane == row->lane;
		struct group_part *p;

		if (!more)
			r->part[r->begin[row->lane]++].key = row->key;
		p = &r->part[r->begin[row->lane] - 1];
		p->ns += h->sum;
		p->longest_ns = h->max > p->longest_ns ? h->max : p->longest_ns;
	}
	memmove(r->begin + 1, r->begin, lanes * sizeof(*r->begin));
	r->begin[0] = 0;
}

int group_rows_make(struct group_rows *r, const struct view *v)
{
	size_t rows = 1;

	memset(r, 0, sizeof(*r));
	for (uint32_t i = 0; i < v->ncpus; i++)
		rows += v->cpu[i].sources.count;
	r->row = calloc(rows, sizeof(*r->row));
	r->part = calloc(rows, sizeof(*r->part));
	r->begin = calloc((size_t)v->ncpus + 1, sizeof(*r->begin));
	if (!r->row || !r->part || !r->begin) {
		group_rows_free(r);
		return -ENOMEM;
	}
	r->n = list(r->row, v);
	qsort(r->row, r->n, sizeof(*r->row), by_name);
	number(r);
	add_parts(r, v->ncpus);
	return 0;
}

void group_rows_free(struct group_rows *r)
{
	free(r->row);
	free(r->part);
	free(r->begin);
	memset(r, 0, sizeof(*r));
}
