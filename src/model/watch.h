/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watched threads: from what ran on every CPU, the windows of time that each thread lost.
 *
 * A watched thread loses time when an interrupt comes while it runs, and when it is ready to run
 * but does not: after it was preempted, or woken. Each of these is a hiccup of the thread's own
 * lane, and the records of the CPU where it ran or waited explain it. A program that knows when it
 * was late (src/culprit.h) reports it, and then its own windows are the hiccups.
 *
 * A thread's time counts while it is known to run or wait; when nobody saw it leave, up to the last
 * sign of it. Its windows lie in that time and do not overlap, whatever records are lost: so it
 * never loses more than it has. Windows that it reports itself may overlap.
 *
 * The session's lanes, which are CPUs otherwise, are threads here. Pure; memory is bounded: the
 * newest records of each CPU are kept.
 */
#ifndef CULPRIT_WATCH_H
#define CULPRIT_WATCH_H

#include "model/session.h"

#define WATCH_LANES 64 /* threads with a lane; later ones share the last */

struct watch;

/* cpus[ncpus]: the CPUs of the records. view: its summary and cpus have room for WATCH_LANES lanes
 * (view_lanes). The view and the session outlive the watch. NULL: out of memory. */
struct watch *watch_new(struct view *view, struct session *session, const unsigned *cpus,
			uint32_t ncpus);
void watch_free(struct watch *w);

/* Takes a record of the CPU with this index in cpus. Over all CPUs they come in the order of their
 * ends, or nearly. */
void watch_record(struct watch *w, uint32_t index, const struct record *r);

/* Says that all records that ended before this have come. */
void watch_until(struct watch *w, uint64_t ns);

/* The process of the thread, as the newest record of it has it; 0: none has told, or the thread
 * shares its lane. */
uint32_t watch_process(const struct watch *w, uint32_t tid);

/* Takes a window that a thread of this process reports as lost; all records that ended before its
 * end have come. From then on the thread has no other hiccups, unless it shares its lane.
 * Returns what it took: how many records it has looked at, in each place where the thread was. */
uint64_t watch_window(struct watch *w, uint32_t process, uint32_t tid, uint64_t start_ns,
		      uint64_t end_ns);

/* Calls `hear` with each hiccup as it is accounted for; NULL: none. */
void watch_hear(struct watch *w, void (*hear)(void *ctx, uint32_t lane, const struct account *a),
		void *ctx);

/* Counts the records that a watch has lost, all of them, beside those that its lanes count as lost
 * in their hiccups. No count falls from one call to the next, though these become fewer that are in
 * no hiccup: they stand in the first lane's row, as recordings have them, when it is over. */
void watch_count_lost(struct view *v, uint64_t all, bool over);

/* The number of lanes that have had a thread: the first ones, as lanes are given out in order. */
uint32_t watch_lanes(const struct view *v);

/* Removes the others from the view. */
void watch_cut(struct view *v);

/* Notes that records of this CPU were lost, perhaps its last ones: its thread may be gone. */
void watch_lost(struct watch *w, uint32_t index);

/* Notes that a thread waited for a CPU when the window ended at end_ns, and since when: no record
 * tells of this wait. */
void watch_waits_on(struct watch *w, uint32_t tid, uint64_t since_ns, uint64_t end_ns);

/* Ends the window: running threads have run until then. */
void watch_finish(struct watch *w, uint64_t end_ns);

#endif
