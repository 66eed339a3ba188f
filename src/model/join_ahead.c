/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Netting ahead: what the join does with waiting records while a hiccup lasts. */
#include "model/join_parts.h"

#include <stddef.h>

/* Records that go on waiting before what is known to be of one gap: they are the begin of it where
 * the hypervisor or the firmware had the CPU in between, which only the hiccup tells. */
#define BEGIN 1024

/* The first waiting record that is too long for a gap below the threshold: it lies in a hiccup that
 * has not come yet. Returns its place, or j->last. The sampler may have got the CPU back for too
 * short a time to report the hiccup. */
static uint64_t first_long(const struct join *j)
{
	uint64_t i = j->first;

	while (i < j->last && join_place(j, i)->end_ns - join_place(j, i)->start_ns <=
				      j->threshold_ns + TOLERANCE_NS)
		i++;
	return i;
}

/* The first waiting record of the gap that was open at from_ns: earlier records belong to it when
 * only the kernel's entry and exit lie between. Those up to the place `sure` belong to it in any
 * case. */
static uint64_t first_of_gap(const struct join *j, uint64_t sure, uint64_t from_ns)
{
	uint64_t near = j->bounds.irq_ns + j->bounds.thread_ns;
	uint64_t i = j->last, start = from_ns;

	for (; i > j->first; i--) {
		const struct record *r = join_place(j, i - 1);

		if (i <= sure && r->end_ns < from_ns && r->end_ns + near < start)
			break;
		start = r->start_ns < start ? r->start_ns : start;
	}
	return i;
}

/* Drops what waits before this place: it fell in gaps below the threshold. The newest half stays in
 * any case: a hiccup that has ended may not have come yet. */
static void drop_before(struct join *j, uint64_t place)
{
	while (j->first < place && join_waiting(j) > JOIN_WAIT_MAX / 2)
		join_drop_first(j);
}

/* True when the sampler had the CPU when that was looked at last, and had time before the gap of
 * the newest record: the hiccup of this place should have come, and was lost. Its records go as
 * those below the threshold do. Were they netted, all that has come since would be one hiccup. */
static bool drop_astray(struct join *j, uint64_t place)
{
	uint64_t newest = first_of_gap(j, j->last, join_place(j, j->last - 1)->start_ns);

	if (!j->idle || place >= newest)
		return false;
	drop_before(j, newest);
	return true;
}

/* Gives what waits before this place to the hiccup that comes next. */
static void take_before(struct join *j, uint64_t place)
{
	join_find_holes(j, NULL, nest_is_open(j->nest) ? 0 : join_place(j, j->first)->start_ns,
			place);
	if (!nest_is_open(j->nest))
		j->ahead = 0;
	nest_open(j->nest);
	j->ahead += place - j->first;
	for (; j->first < place; j->first++) {
		const struct record *r = join_place(j, j->first);

		join_take(j, r, j->done[r->level], 0, UINT64_MAX);
		join_pass(j, r);
	}
}

void join_drop_all(struct join *j)
{
	j->counts.below_threshold += join_waiting(j) + (nest_is_open(j->nest) ? j->ahead : 0);
	j->first = j->last;
	nest_drop(j->nest);
	holes_clear(&j->holes);
	j->missing = 0;
}

/* Nets nothing that may belong to a later hiccup than the next one. The next one may have ended,
 * with no time for the sampler to report it before a further one began. So records are netted ahead
 * only when no hiccup can still come for older records, and while the same gap lasts. Otherwise
 * they go on waiting, up to all slots. Only its hiccup tells where exactly the gap began: the
 * longer the wait, the better. */
void join_net_ahead(struct join *j, uint64_t since_ns)
{
	bool full = join_waiting(j) >= JOIN_WAIT_ALL;
	uint64_t lasting = j->last, told, first;

	if (join_waiting(j) <= JOIN_WAIT_MAX)
		return;
	/* A sleeping workload is off its CPU all the time, and the begin of its window is known
	 * only at its end. */
	if (j->windows) {
		while (join_waiting(j) > 2 * JOIN_WAIT_MAX)
			join_drop_first(j);
		return;
	}
	if (nest_is_open(j->nest)) {
		if (full || (since_ns && since_ns == j->since_ns))
			take_before(j, j->last - NEWEST);
		return;
	}
	/* Bounds how often each record is looked at: some dozen times. */
	if (!full && j->last - j->looked < JOIN_WAIT_MAX / 2)
		return;
	j->looked = j->last;
	if (since_ns)
		lasting = first_of_gap(j, j->last - NEWEST, since_ns);
	told = first_long(j);
	first = told < lasting ? first_of_gap(j, told, join_place(j, told)->start_ns) : lasting;
	drop_before(j, first > BEGIN ? first - BEGIN : 0);
	if (join_waiting(j) <= JOIN_WAIT_MAX / 2)
		return;
	if (full && !since_ns && drop_astray(j, told))
		return;
	if (!full && (!since_ns || told < lasting || join_waiting(j) < JOIN_WAIT_ALL / 4 * 3))
		return;
	drop_before(j, first);
	if (join_waiting(j) <= JOIN_WAIT_MAX / 2) /* some before `first` may wait, still */
		return;
	j->since_ns = since_ns;
	take_before(j, j->last - NEWEST);
}

void join_relieve(struct join *j, uint64_t since_ns)
{
	j->idle = !since_ns;
	join_net_ahead(j, since_ns);
}
