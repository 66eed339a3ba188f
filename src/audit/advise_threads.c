/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks once at the threads of the facts, of which there may be a million, and at what is isolated,
 * for all sources. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/advise.h"
#include "audit/checks.h"
#include "audit/remedy.h"

int threads_order(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* rest: NULL, or the CPUs to tell of it. */
static bool add_movable(struct threads_told *t, uint32_t id, const struct cpus *rest)
{
	char list[CPUS_LIST], *copy = NULL;

	if (t->nmovable == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		struct thread_told *more = reallocarray(t->movable, room, sizeof(*more));

		if (!more)
			return false;
		t->movable = more;
		t->room = room;
	}
	if (rest && !(copy = strdup(cpus_format(rest, list, sizeof(list)))))
		return false;
	t->movable[t->nmovable++] = (struct thread_told){id, copy};
	return true;
}

int advise_threads(struct view *v)
{
	const struct audit a = {.facts = &v->facts};
	struct threads_told *told = &v->told;
	struct task_walk w = {0};
	struct cpus quiet, rest;
	struct task t;

	threads_told_free(told);
	*told = (struct threads_told){.systemd = systemd_confines(&a),
				      .conditions = malloc(sizeof(*told->conditions))};
	if (!told->conditions)
		return -ENOMEM;
	*told->conditions = conditions_of(&v->facts, &v->host);
	quiet = told->conditions->all_isolated;
	cpus_or(&quiet, &told->conditions->all_nohz_full);
	while (next_task(&a, &w, &t)) {
		if (t.policy == 6 && !(t.flags & TASK_KTHREAD))
			cpus_or(&told->deadline, &t.allowed);
		if (cpus_cover(&v->run.cpus, &t.allowed))
			continue;
		bool own = has_own(&t, &v->run.cpus, &told->conditions->online, &quiet, &rest);

		if (!add_movable(told, t.tid, own ? &rest : NULL))
			return -ENOMEM;
	}
	told->read = true;
	if (told->nmovable)
		qsort(told->movable, told->nmovable, sizeof(*told->movable), threads_order);
	return 0;
}

const struct thread_told *advise_movable(const struct view *v, uint32_t id)
{
	const struct threads_told *t = &v->told;

	if (!id || !t->nmovable)
		return NULL;
	return bsearch(&id, t->movable, t->nmovable, sizeof(*t->movable), threads_order);
}

void advise_own(const struct view *v, uint32_t id, struct cpus *others)
{
	const struct thread_told *t = advise_movable(v, id);
	char why[128];

	if (t && t->rest)
		cpus_parse(t->rest, others, why, sizeof(why));
}
