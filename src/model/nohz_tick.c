/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nohz_tick.h"

#include <string.h>

const char *nohz_dependency_name(uint32_t dependency)
{
	static const char *const names[] = {"POSIX_TIMER",    "PERF_EVENTS", "SCHED",
					    "CLOCK_UNSTABLE", "RCU",         "RCU_EXP"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dependency == 1U << i)
			return names[i];
	return dependency ? "several" : "NONE";
}

static bool same_comm(const struct nohz_tick_row *a, const struct nohz_tick_row *b)
{
	return a->dependency == b->dependency && a->kernel_thread == b->kernel_thread &&
	       !strcmp(a->comm, b->comm);
}

void nohz_ticks_add(struct nohz_ticks *t, const struct record *r)
{
	struct nohz_tick_row new = {.dependency = r->id,
				    .tid = r->arg,
				    .kernel_thread = r->flags & RECORD_KTHREAD,
				    .count = 1};
	struct nohz_tick_row *last = NULL, *alike = NULL;

	memcpy(new.comm, r->name, sizeof(r->name));
	for (uint32_t i = 0; i < t->count; i++) {
		struct nohz_tick_row *row = &t->row[i];

		if (row->dependency != new.dependency)
			continue;
		last = row;
		if (!same_comm(row, &new))
			continue;
		if (row->tid == new.tid) {
			row->count++;
			return;
		}
		alike = row;
	}
	/* Keeps the last places for new dependencies. */
	if (t->count < NOHZ_TICK_ROWS - 8 || (!last && t->count < NOHZ_TICK_ROWS)) {
		t->row[t->count++] = new;
	} else if (alike) {
		alike->count++;
		alike->tid = 0;
	} else if (last) {
		last->count++;
		last->tid = 0;
		last->kernel_thread = false;
		strcpy(last->comm, "(several)");
	}
}

/* The line that the row goes into: that of its comm, where many threads have it; NULL: a new one.
 */
static struct nohz_tick_line *line_of(const struct nohz_ticks *t, const struct nohz_tick_row *row,
				      struct nohz_tick_line *line, uint32_t n)
{
	uint32_t alike = 0;

	for (uint32_t i = 0; i < t->count; i++)
		alike += same_comm(&t->row[i], row);
	for (uint32_t i = 0; alike > NOHZ_TICK_THREADS && i < n; i++)
		if (same_comm(&line[i].row, row))
			return &line[i];
	return NULL;
}

uint32_t nohz_ticks_lines(const struct nohz_ticks *t, struct nohz_tick_line line[NOHZ_TICK_ROWS])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct nohz_tick_row *row = &t->row[i];
		struct nohz_tick_line *to = line_of(t, row, line, n);

		if (!to) {
			line[n++] = (struct nohz_tick_line){*row, 1, false};
			continue;
		}
		to->more |= !row->tid || !to->row.tid;
		to->threads += row->tid > 0;
		to->row.count += row->count;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct nohz_tick_line one = line[i];
		uint32_t k = i;

		for (; k > 0 && line[k - 1].row.count < one.row.count; k--)
			line[k] = line[k - 1];
		line[k] = one;
	}
	return n;
}

uint64_t nohz_ticks_count(const struct nohz_ticks *t, uint32_t dependency)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->count; i++)
		n += t->row[i].dependency == dependency ? t->row[i].count : 0;
	return n;
}

uint32_t nohz_ticks_dependency(const struct nohz_ticks *t)
{
	uint64_t most = 0;
	uint32_t dependency = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		uint64_t n = nohz_ticks_count(t, t->row[i].dependency);

		if (n > most) {
			most = n;
			dependency = t->row[i].dependency;
		}
	}
	return dependency;
}

const struct nohz_tick_row *nohz_ticks_row(const struct nohz_ticks *t, uint32_t dependency)
{
	const struct nohz_tick_row *most = NULL;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i].dependency == dependency && (!most || t->row[i].count > most->count))
			most = &t->row[i];
	return most;
}
