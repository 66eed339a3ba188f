#include "model/others.h"

#include <string.h>

#define SEVERAL "(others)"

void others_add(struct others *t, const struct record *r)
{
	struct other *row = t->row, *end = t->row + t->count;
	bool kernel_thread = r->flags & RECORD_KTHREAD;

	if (!r->id)
		return;
	while (row < end && (row->rest || row->tid != r->id || row->kernel_thread != kernel_thread ||
			     strncmp(row->comm, r->name, sizeof(r->name))))
		row++;
	if (row == end && t->count < OTHERS_ROWS) {
		memcpy(row->comm, r->name, sizeof(r->name));
		row->comm[sizeof(r->name)] = 0;
		row->tid = r->id;
		row->kernel_thread = kernel_thread;
		t->count++;
	} else if (row == end) {
		row = &t->row[OTHERS_ROWS - 1];
		row->tid = 0;
		row->kernel_thread = false;
		row->rest = true;
		strcpy(row->comm, SEVERAL);
	}
	row->count++;
	row->total_ns += r->end_ns - r->start_ns;
}

void others_rank(const struct others *t, uint32_t *order)
{
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t k = i;

		for (; k && t->row[order[k - 1]].total_ns < t->row[i].total_ns; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}
