/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/bystanders.h"

#include <string.h>

#include "model/word.h"

static bool is_row(const struct bystander *row, const struct record *r)
{
	return !row->rest && row->tid == r->id &&
	       row->kernel_thread == !!(r->flags & RECORD_KTHREAD) &&
	       !strncmp(row->comm, r->name, sizeof(r->name));
}

/* Makes room: merges the half with the least time into one row, the last. */
static void merge_half(struct bystanders *t)
{
	struct bystander rest = {.comm = OTHERS_NAME, .rest = true};
	uint32_t order[BYSTANDERS_ROWS], kept = 0;
	bool stays[BYSTANDERS_ROWS] = {false};

	bystanders_rank(t, order);
	for (uint32_t i = 0; i < BYSTANDERS_ROWS / 2; i++)
		stays[order[i]] = true;
	for (uint32_t i = 0; i < t->count; i++)
		if (stays[i] && !t->row[i].rest) {
			t->row[kept++] = t->row[i];
		} else {
			rest.count += t->row[i].count;
			rest.total_ns += t->row[i].total_ns;
		}
	t->row[kept++] = rest;
	t->count = kept;
}

void bystanders_add(struct bystanders *t, const struct record *r)
{
	uint32_t i = 0;

	if (!r->id)
		return;
	while (i < t->count && !is_row(&t->row[i], r))
		i++;
	if (i == BYSTANDERS_ROWS) {
		merge_half(t);
		i = t->count;
	}
	if (i == t->count) {
		t->row[i] = (struct bystander){.tid = r->id,
					       .kernel_thread = r->flags & RECORD_KTHREAD};
		memcpy(t->row[i].comm, r->name, sizeof(r->name));
		t->count++;
	}
	t->row[i].count++;
	t->row[i].total_ns += r->end_ns - r->start_ns;
}

void bystanders_rank(const struct bystanders *t, uint32_t *order)
{
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t k = i;

		for (; k && t->row[order[k - 1]].total_ns < t->row[i].total_ns; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}
