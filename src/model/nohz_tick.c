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

void nohz_ticks_add(struct nohz_ticks *t, const struct record *r)
{
	struct nohz_tick_row new = {.dependency = r->id,
				    .tid = r->arg,
				    .kernel_thread = r->flags & RECORD_KTHREAD,
				    .count = 1};
	struct nohz_tick_row *last = NULL;

	memcpy(new.comm, r->name, sizeof(r->name));
	for (uint32_t i = 0; i < t->count; i++) {
		struct nohz_tick_row *row = &t->row[i];

		if (row->dependency != new.dependency)
			continue;
		if (row->tid == new.tid && row->kernel_thread == new.kernel_thread &&
		    !strcmp(row->comm, new.comm)) {
			row->count++;
			return;
		}
		last = row;
	}
	/* Keeps the last places for new dependencies. */
	if (t->count < NOHZ_TICK_ROWS - 8 || (!last && t->count < NOHZ_TICK_ROWS)) {
		t->row[t->count++] = new;
	} else if (last) {
		last->count++;
		last->tid = 0;
		last->kernel_thread = false;
		strcpy(last->comm, "(several)");
	}
}
