/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line of a hiccup: the columns of csv, jsonl and Parquet, one table for all. */
#ifndef CULPRIT_LINE_H
#define CULPRIT_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "model/owner.h"
#include "model/view.h"

#define LINE_UNKNOWN INT64_MIN

struct line {
	const char *host, *kernel, *started, *time;
	int64_t cpu, at_ns, start_ns, duration_ns, threshold_ns, attributed_ns, edge_ns, outside_ns,
		lost, lost_ns, host_ns;
	int64_t isolated, nohz_full; /* state of a CPU that is known */
	/* Fields of the largest piece; NULL: not known. */
	const char *kind, *name, *function, *cause, *by_comm, *by_function, *owner, *by_owner;
	int64_t id, net_ns, by_pid, by_cpu, kernel_thread;
	int64_t piece_count;
	int64_t tid, own_kernel_thread; /* numbers of a watched thread */
	const char *comm;
	const char *what, *series;
	const struct cpu *summary;
	const struct account *account;
};

/* LINE_TIME is a text, too: UTC by ISO 8601. */
enum line_type { LINE_TEXT, LINE_TIME, LINE_NUMBER, LINE_FLAG, LINE_PIECES };

#define LINE_LEAD 32

struct line_column {
	const char *name;
	enum line_type type;
	size_t offset;
	size_t lead_len;
	char lead[LINE_LEAD]; /* "name": as before the value in jsonl */
};

extern const struct line_column line_columns[];
extern const size_t line_columns_n;

/* Texts that a line points to and nobody else keeps. */
struct line_texts {
	char time[ISO_TIME], owner[OWNER_TEXT], by_owner[OWNER_TEXT];
};

/* The line of a hiccup of the CPU with this index. */
struct line line_of(const struct view *v, uint32_t index, const struct account *a,
		    struct line_texts *texts);

/* The words for a source beside its name and function. A number may be LINE_UNKNOWN, host_kind
 * NULL. */
struct line_who {
	const char *kind, *host_kind;
	int64_t id, kernel_thread, host_cpu;
};
struct line_who line_who(const struct source *s);

/* The value of a column: a text, NULL when it is not known; a number, or LINE_UNKNOWN. */
static inline const char *line_text(const struct line *l, const struct line_column *c)
{
	return *(const char *const *)((const char *)l + c->offset);
}

static inline int64_t line_number(const struct line *l, const struct line_column *c)
{
	return *(const int64_t *)((const char *)l + c->offset);
}

#endif
