/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks once at the threads of the facts, of which there may be a million, and at what is isolated,
 * for all sources. */
#include <errno.h>
#include <stdlib.h>

#include "audit/advise.h"
#include "audit/checks.h"
#include "audit/remedy.h"

int threads_order(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool add_movable(struct threads_told *t, uint32_t id)
{
	if (t->nmovable == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		uint32_t *ids = reallocarray(t->movable, room, sizeof(*ids));

		if (!ids)
			return false;
		t->movable = ids;
		t->room = room;
	}
	t->movable[t->nmovable++] = id;
	return true;
}

int advise_threads(struct view *v)
{
	const struct audit a = {.facts = &v->facts};
	struct threads_told *told = &v->told;
	struct task_walk w = {0};
	struct task t;

	free(told->movable);
	free(told->conditions);
	*told = (struct threads_told){.systemd = systemd_confines(&a),
				      .conditions = malloc(sizeof(*told->conditions))};
	if (!told->conditions)
		return -ENOMEM;
	*told->conditions = conditions_of(&v->facts, &v->host);
	while (next_task(&a, &w, &t)) {
		if (t.policy == 6 && !(t.flags & TASK_KTHREAD))
			cpus_or(&told->deadline, &t.allowed);
		if (!covers(&v->run.cpus, &t.allowed) && !add_movable(told, t.tid))
			return -ENOMEM;
	}
	told->read = true;
	if (told->nmovable)
		qsort(told->movable, told->nmovable, sizeof(*told->movable), threads_order);
	return 0;
}
