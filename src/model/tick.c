#include "model/tick.h"

#include <string.h>

const char *tick_dependency_name(uint32_t dependency)
{
	static const char *const names[] = {"POSIX_TIMER",    "PERF_EVENTS", "SCHED",
					    "CLOCK_UNSTABLE", "RCU",         "RCU_EXP"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dependency == 1U << i)
			return names[i];
	return dependency ? "several" : "NONE";
}

void ticks_add(struct ticks *t, const struct record *r)
{
	struct tick_row new = {.dependency = r->id, .tid = r->arg, .count = 1};
	struct tick_row *last = NULL;

	memcpy(new.comm, r->name, sizeof(r->name));
	for (uint32_t i = 0; i < t->count; i++) {
		struct tick_row *row = &t->row[i];

		if (row->dependency != new.dependency)
			continue;
		if (row->tid == new.tid && !strcmp(row->comm, new.comm)) {
			row->count++;
			return;
		}
		last = row;
	}
	/* Keeps the last places for new dependencies. */
	if (t->count < TICK_ROWS - 8 || (!last && t->count < TICK_ROWS)) {
		t->row[t->count++] = new;
	} else if (last) {
		last->count++;
		last->tid = 0;
		strcpy(last->comm, "(several)");
	}
}
