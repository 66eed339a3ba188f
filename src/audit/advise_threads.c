/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks once at the threads of the facts, of which there may be a million, and at what is isolated,
 * for all sources. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/advise.h"
#include "audit/checks.h"
#include "audit/remedy.h"
#include "base/hash.h"
#include "base/policy.h"

#define RESTS_LOOKED_AT 8

/* By id, which comes first in both tables. */
static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Most threads have one of a few sets, so that one of the newest is taken again. Returns 1 + its
 * index; 0: out of memory. */
static uint32_t add_rest(struct threads_told *t, const struct cpus *rest)
{
	for (uint32_t i = t->nrests; i && t->nrests - i < RESTS_LOOKED_AT; i--)
		if (!memcmp(&t->rests[i - 1], rest, sizeof(*rest)))
			return i;
	if (t->nrests == t->rests_room) {
		uint32_t room = t->rests_room ? 2 * t->rests_room : 16;
		struct cpus *more = reallocarray(t->rests, room, sizeof(*more));

		if (!more)
			return 0;
		t->rests = more;
		t->rests_room = room;
	}
	t->rests[t->nrests++] = *rest;
	return t->nrests;
}

/* rest: NULL, or the CPUs to tell of it. */
static bool add_movable(struct threads_told *t, uint32_t id, const struct cpus *rest)
{
	uint32_t which = 0;

	if (t->nmovable == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		struct thread_told *more = reallocarray(t->movable, room, sizeof(*more));

		if (!more)
			return false;
		t->movable = more;
		t->room = room;
	}
	if (rest && !(which = add_rest(t, rest)))
		return false;
	t->movable[t->nmovable++] = (struct thread_told){id, which};
	return true;
}

static bool add_real_time(struct threads_told *t, const struct task *task)
{
	if (t->nreal_time == t->real_time_room) {
		size_t room = t->real_time_room ? 2 * t->real_time_room : 64;
		struct real_time_told *more = reallocarray(t->real_time, room, sizeof(*more));

		if (!more)
			return false;
		t->real_time = more;
		t->real_time_room = room;
	}
	t->real_time[t->nreal_time++] =
		(struct real_time_told){task->tid, task->policy, task->priority,
					hash_bytes(HASH_BEGIN, task->comm, task->comm_len)};
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
	if (!told->conditions || !numbers_read(&told->ended, facts_text(&v->facts, FACT_ENDED)))
		return -ENOMEM;
	*told->conditions = conditions_of(&v->facts, &v->host);
	quiet = told->conditions->all_isolated;
	cpus_or(&quiet, &told->conditions->all_nohz_full);
	while (next_task(&a, &w, &t)) {
		if (t.policy == 6 && !(t.flags & TASK_KTHREAD))
			cpus_or(&told->deadline, &t.allowed);
		if (policy_is_real_time(t.policy) && !(t.flags & TASK_KTHREAD) &&
		    !add_real_time(told, &t))
			return -ENOMEM;
		if (cpus_cover(&v->run.cpus, &t.allowed))
			continue;
		bool own = has_own(&t, &v->run.cpus, &told->conditions->online, &quiet, &rest);

		if (!add_movable(told, t.tid, own ? &rest : NULL))
			return -ENOMEM;
	}
	told->read = true;
	if (told->nmovable)
		qsort(told->movable, told->nmovable, sizeof(*told->movable), by_id);
	if (told->nreal_time)
		qsort(told->real_time, told->nreal_time, sizeof(*told->real_time), by_id);
	return 0;
}

const struct real_time_told *advise_real_time(const struct view *v, const struct source *s)
{
	const struct threads_told *t = &v->told;
	const struct real_time_told *found =
		t->nreal_time ? bsearch(&(struct real_time_told){.id = s->id}, t->real_time,
					t->nreal_time, sizeof(*t->real_time), by_id)
			      : NULL;

	return found && found->comm == hash_bytes(HASH_BEGIN, s->name, strlen(s->name)) ? found
											: NULL;
}

const struct thread_told *advise_movable(const struct view *v, uint32_t id)
{
	const struct threads_told *t = &v->told;

	if (!id || !t->nmovable)
		return NULL;
	return bsearch(&(struct thread_told){.id = id}, t->movable, t->nmovable,
		       sizeof(*t->movable), by_id);
}

void advise_own(const struct view *v, uint32_t id, struct cpus *others)
{
	const struct thread_told *t = advise_movable(v, id);

	if (t && t->rest)
		*others = v->told.rests[t->rest - 1];
}
