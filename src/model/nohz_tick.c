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
