/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parquet, a row a hiccup: the columns of line.c, with their names and meanings. Times are
 * timestamps, and `pieces` is a list of structs. Names are escaped as in jsonl. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/line.h"
#include "render/parquet.h"
#include "render/parquet_cells.h"
#include "render/render.h"

/* Columns of a piece, and of who asked for it. */
enum {
	PIECE_KIND,
	PIECE_ID,
	PIECE_NAME,
	PIECE_FUNCTION,
	PIECE_KERNEL_THREAD,
	PIECE_HOST_KIND,
	PIECE_HOST_CPU,
	PIECE_CAUSE,
	PIECE_NET,
	PIECE_UNSEEN,
	PIECE_OWNER,
	PIECE_OWN, /* the number of these */
	ORIGIN_CPU = PIECE_OWN,
	ORIGIN_PID,
	ORIGIN_COMM,
	ORIGIN_FUNCTION,
	ORIGIN_OWNER,
	PIECE_COLUMNS
};

static const struct parquet_field piece_fields[] = {
	{"element", PARQUET_STRUCT, false, PIECE_OWN + 1},
	{"kind", PARQUET_TEXT, true, 0},
	{"id", PARQUET_INT, true, 0},
	{"name", PARQUET_TEXT, true, 0},
	{"function", PARQUET_TEXT, true, 0},
	{"kernel_thread", PARQUET_BOOL, true, 0},
	{"host_kind", PARQUET_TEXT, true, 0},
	{"host_cpu", PARQUET_INT, true, 0},
	{"cause", PARQUET_TEXT, true, 0},
	{"net_ns", PARQUET_INT, true, 0},
	{"unseen_ns", PARQUET_INT, true, 0},
	{"owner", PARQUET_TEXT, true, 0},
	{"origin", PARQUET_STRUCT, true, 5},
	{"cpu", PARQUET_INT, true, 0},
	{"pid", PARQUET_INT, true, 0},
	{"comm", PARQUET_TEXT, true, 0},
	{"function", PARQUET_TEXT, true, 0},
	{"owner", PARQUET_TEXT, true, 0},
};
#define PIECE_FIELDS (sizeof(piece_fields) / sizeof(piece_fields[0]))

struct hiccups {
	const struct view *view;
	struct parquet *file;
	struct parquet_field field[PARQUET_COLUMNS];
};

static void *begin(const struct view *view, FILE *out)
{
	static const enum parquet_type type[] = {[LINE_TEXT] = PARQUET_TEXT,
						 [LINE_TIME] = PARQUET_TIME,
						 [LINE_NUMBER] = PARQUET_INT,
						 [LINE_FLAG] = PARQUET_BOOL,
						 [LINE_PIECES] = PARQUET_LIST};
	struct hiccups *h = calloc(1, sizeof(*h));
	unsigned n = 0;

	if (!h)
		return NULL;
	h->view = view;
	for (size_t i = 0; i < line_columns_n; i++) {
		const struct line_column *c = &line_columns[i];
		bool list = c->type == LINE_PIECES;

		h->field[n++] = (struct parquet_field){c->name, type[c->type], !list, list};
		if (!list)
			continue;
		memcpy(&h->field[n], piece_fields, sizeof(piece_fields));
		n += PIECE_FIELDS;
	}
	h->file = parquet_begin(h->field, n, out);
	if (h->file)
		return h;
	free(h);
	return NULL;
}

static void put_owner(const struct parquet_cells *at, unsigned column, const char *owner)
{
	char words[OWNER_TEXT];

	cell_text(at, column, owner_words(owner, words));
}

static void put_origin(const struct parquet_cells *at, const struct asker *a)
{
	struct parquet_cells within = *at;

	/* The list, the piece, and where there is an asker also the struct, are there. */
	within.there = at->there + (a->kind != 0);
	cell_number(&within, ORIGIN_CPU, a->kind ? a->cpu : LINE_UNKNOWN);
	cell_number(&within, ORIGIN_PID, a->kind ? a->tid : LINE_UNKNOWN);
	cell_text(&within, ORIGIN_COMM, a->kind ? a->comm : NULL);
	cell_text(&within, ORIGIN_FUNCTION, a->kind ? a->function : NULL);
	put_owner(&within, ORIGIN_OWNER, a->kind ? a->owner : NULL);
}

static void put_piece(const struct parquet_cells *at, const struct cpu *c, const struct piece *p)
{
	const struct source *s = c->sources.row[p->source];
	struct line_who who = line_who(s);

	cell_text(at, PIECE_KIND, who.kind);
	cell_number(at, PIECE_ID, who.id);
	cell_text(at, PIECE_NAME, s->name);
	cell_text(at, PIECE_FUNCTION, s->function);
	cell_number(at, PIECE_KERNEL_THREAD, who.kernel_thread);
	cell_text(at, PIECE_HOST_KIND, who.host_kind);
	cell_number(at, PIECE_HOST_CPU, who.host_cpu);
	cell_text(at, PIECE_CAUSE, s->cause);
	cell_number(at, PIECE_NET, (int64_t)p->net_ns);
	cell_number(at, PIECE_UNSEEN, (int64_t)p->unseen_ns);
	put_owner(at, PIECE_OWNER, s->owner);
	put_origin(at, &p->asker);
}

static void put_pieces(struct parquet *file, unsigned first, const struct line *l)
{
	const struct account *a = l->account;
	struct parquet_cells at = {.file = file, .first = first, .there = 1};

	for (uint32_t i = 0; i < a->npieces; i++) {
		at.again = i > 0;
		put_piece(&at, l->summary, &a->pieces[i]);
	}
	for (unsigned i = 0; !a->npieces && i < PIECE_COLUMNS; i++)
		parquet_null(file, first + i, false, 0);
}

static int add_hiccup(void *state, uint32_t index, const struct account *account)
{
	struct hiccups *h = state;
	struct line_texts texts;
	struct line l = line_of(h->view, index, account, &texts);
	struct parquet_cells at = {.file = h->file};
	unsigned column = 0;

	for (const struct line_column *c = line_columns; c < line_columns + line_columns_n; c++) {
		if (c->type == LINE_PIECES) {
			put_pieces(h->file, column, &l);
			column += PIECE_COLUMNS;
			continue;
		}
		if (c->type == LINE_TEXT)
			cell_text(&at, column, line_text(&l, c));
		else if (c->type == LINE_TIME)
			cell_time(&at, column, line_text(&l, c));
		else
			cell_number(&at, column, line_number(&l, c));
		column++;
	}
	return parquet_row(h->file);
}

static int end(void *state)
{
	struct hiccups *h = state;
	int err = parquet_end(h->file);

	free(h);
	return err;
}

const struct trace_format render_parquet = {begin, add_hiccup, end};
