/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of watched threads that are ready to run and do not (watch.bpf.c), and which the reader
 * looks at when the window has ended. Needs nothing of the kernel, so that a test can run it
 * (tests/unit/test_waits.c).
 *
 * A table of sets, as of the askers' notes (note.bpf.h): a hash map's locks and lists took two
 * thirds of what a switch cost. The kernel's scheduler changes one thread's state by one CPU at a
 * time, under its locks, and so its wait is one program's, and needs no order of its own; a free
 * place may be wanted by several, which enter() it. tests/unit/test_order_watch.c runs that through
 * all orders that ARMv8 permits, and what watch.bpf.c shares of a CPU's state with other CPUs.
 * In a set that is full no more threads wait: their time in it counts for nobody, as if they had
 * not been ready, and the wait counts as lost. */
#ifndef CULPRIT_WAIT_BPF_H
#define CULPRIT_WAIT_BPF_H

#include "ring.bpf.h"

/* The table's set of this index, by who includes this; NULL, which no caller meets, is for the
 * verifier. */
static __always_inline struct wait_set *waits_at(__u32 index);

static __always_inline struct wait *wait_in(struct wait_set *s, __s32 tid)
{
	for (int i = 0; s && i < WAIT_WAYS; i++)
		if (*(volatile __s32 *)&s->wait[i].tid == tid)
			return &s->wait[i];
	return NULL;
}

/* The set of this thread; NULL: it is a CPU's idle one, which never waits, and whose tid a free
 * place has. */
static __always_inline struct wait_set *waits_of(__s32 tid)
{
	return tid ? waits_at(tid & (WAIT_SETS - 1)) : NULL;
}

/* The wait of this thread; NULL: it waits nowhere. */
static __always_inline struct wait *wait_of(__s32 tid)
{
	return wait_in(waits_of(tid), tid);
}

/* A new wait of this thread, of which the caller sets the rest; NULL: it waits already, or has no
 * place, which is added to *lost. */
static __always_inline struct wait *wait_new(__s32 tid, __u64 *lost)
{
	struct wait_set *s = waits_of(tid);

	if (!s || wait_in(s, tid))
		return NULL;
	for (int i = 0; i < WAIT_WAYS; i++) {
		struct wait *w = &s->wait[i];
		bool mine;

		if (*(volatile __s32 *)&w->tid || !enter(&w->inside))
			continue;
		mine = !*(volatile __s32 *)&w->tid;
		if (mine)
			*(volatile __s32 *)&w->tid = tid;
		leave(&w->inside);
		if (mine)
			return w;
	}
	__sync_fetch_and_add(lost, 1);
	return NULL;
}

static __always_inline void wait_end(struct wait *w)
{
	store_release(&w->tid, 0);
}

#endif
