/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/hotplug.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "base/units.h"
#include "collect/counter.h"
#include "collect/host.h"

#define LOOK_NS (200 * NSEC_PER_MSEC)

void hotplug_begin(struct hotplug *h, const struct watch_options *o, struct probes *probes,
		   struct run *run)
{
	struct cpus others;

	*h = (struct hotplug){.probes = probes,
			      .run = run,
			      .all = o->cpus,
			      .online = o->cpus,
			      .begin_ns = run->started_ns};
	cpus_or(&h->all, &o->later);
	host_possible(&others);
	cpus_sub(&others, &h->all);
	h->everywhere = cpus_empty(&others);
}

/* Begins with a CPU that nobody has watched so far. */
static void begin_with(struct hotplug *h, unsigned cpu,
		       void (*come)(void *ctx, uint32_t index, unsigned cpu), void *ctx)
{
	uint32_t index;
	int err = probes_come(h->probes, cpu, &index);

	if (err == -ENOENT) {
		say("CPU %u is online again: it is watched on", cpu);
		return;
	}
	h->everywhere &= !err;
	if (err && !h->run->cut_short[0])
		snprintf(h->run->cut_short, sizeof(h->run->cut_short),
			 "cpu %u came online, and is not watched", cpu);
	if (err == -ENOSPC) {
		say("CPU %u came online: it is not watched, as with --sums there is room for %d "
		    "that come later; a new watch has it",
		    cpu, LATER_SUMS);
		return;
	}
	if (err) {
		say("CPU %u came online: it cannot be watched: %s", cpu, strerror(-err));
		return;
	}
	cpus_add(&h->run->cpus, cpu);
	say("CPU %u came online: it is watched from now on", cpu);
	if (come)
		come(ctx, index, cpu);
}

void hotplug_look(struct hotplug *h, bool end,
		  void (*come)(void *ctx, uint32_t index, unsigned cpu), void *ctx)
{
	struct cpus online, gone = h->online, come_now;
	uint64_t now = now_ns();
	char list[64];

	if (!end && now - h->looked_ns < LOOK_NS)
		return;
	h->looked_ns = now;
	host_online(&online);
	cpus_and(&online, &h->all);
	cpus_sub(&gone, &online);
	come_now = online;
	cpus_sub(&come_now, &h->online);
	h->online = online;
	for (int cpu = cpus_next(&come_now, 0); cpu >= 0; cpu = cpus_next(&come_now, cpu + 1))
		begin_with(h, cpu, come, ctx);
	if (cpus_empty(&gone))
		return;
	if (h->everywhere)
		say("CPU %s went offline: what ran there goes on where it is watched, too",
		    cpus_format(&gone, list, sizeof(list)));
	else
		host_gone(&gone, now - h->begin_ns, h->run->cut_short, sizeof(h->run->cut_short));
}
