/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/steal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"

/* Reads the eighth number of each CPU's line in /proc/stat, in clock ticks
 * (Documentation/filesystems/proc.rst). */
void steal_read(void (*tell)(void *ctx, unsigned cpu, uint64_t ns), void *ctx)
{
	uint64_t tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long steal;
		unsigned cpu;

		if (sscanf(line, "cpu%u %*u %*u %*u %*u %*u %*u %*u %llu", &cpu, &steal) == 2)
			tell(ctx, cpu, steal * tick_ns);
	}
	if (f)
		fclose(f);
}

int steal_init(struct steal *s)
{
	s->begin = calloc(CPUS_MAX, sizeof(*s->begin));
	s->end = calloc(CPUS_MAX, sizeof(*s->end));
	return s->begin && s->end ? 0 : -ENOMEM;
}

void steal_free(struct steal *s)
{
	free(s->begin);
	free(s->end);
}

static void note(void *ctx, unsigned cpu, uint64_t ns)
{
	if (cpu < CPUS_MAX)
		((uint64_t *)ctx)[cpu] = ns;
}

void steal_begin(struct steal *s)
{
	steal_read(note, s->begin);
}

void steal_end(struct steal *s)
{
	steal_read(note, s->end);
}

bool steal_rise(const struct steal *s, const struct cpus *on, uint64_t *ns)
{
	bool known = !cpus_empty(on);

	*ns = 0;
	for (int cpu = cpus_next(on, 0); cpu >= 0 && known; cpu = cpus_next(on, cpu + 1)) {
		known = s->end[cpu] && s->end[cpu] >= s->begin[cpu];
		*ns += s->end[cpu] - s->begin[cpu];
	}
	if (!known)
		*ns = 0;
	return known;
}
