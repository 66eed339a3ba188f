/* Watched threads: out of what ran on every CPU, for each thread the windows of time that it lost.
 *
 * A watched thread loses time when it runs and an interrupt comes upon it, and when it would run
 * and does not: after it was preempted, or woken. Each of these is a hiccup of the thread's own
 * lane, and the records of the CPU where it ran or waited explain it. A program that knows itself
 * when it was late (src/culprit.h) says so, and then its own windows are the hiccups.
 *
 * A thread's time is counted while it is known to run or wait, up to the last that was seen of it
 * where its leaving was not. Its windows lie in that time and do not overlap, whatever records are
 * lost: so it never loses more than it has. Windows that it reports itself may overlap.
 *
 * The session's lanes, which are CPUs otherwise, are threads here. Pure; memory is bounded: of each
 * CPU the newest records are kept.
 */
#ifndef CULPRIT_WATCH_H
#define CULPRIT_WATCH_H

#include "model/session.h"

#define WATCH_LANES 64 /* threads that have a lane; later ones share the last */

struct watch;

/* cpus[ncpus]: the CPUs whose records come. view: its summary and cpus have room for WATCH_LANES
 * lanes (view_lanes). Both outlive it, and so does the session. NULL: out of memory. */
struct watch *watch_new(struct view *view, struct session *session, const unsigned *cpus,
			uint32_t ncpus);
void watch_free(struct watch *w);

/* A record of the CPU with this index in cpus. Of all CPUs together they come in the order in which
 * they ended, or nearly. */
void watch_record(struct watch *w, uint32_t index, const struct record *r);

/* Records that ended before this have all come. */
void watch_until(struct watch *w, uint64_t ns);

/* A window that a thread says it lost; all records that ended before its end have come. */
void watch_window(struct watch *w, uint32_t tid, uint64_t start_ns, uint64_t end_ns);

/* Each hiccup as it is accounted for goes there; NULL: nowhere. */
void watch_hear(struct watch *w, void (*hear)(void *ctx, uint32_t lane, const struct account *a),
		void *ctx);

/* Lanes that no thread had go from the view: the last ones, as they are given out in order. */
void watch_cut(struct view *v);

/* Of this CPU records were lost, and maybe the last ones: who ran there may be gone. */
void watch_lost(struct watch *w, uint32_t index);

/* The end of the window: who runs has run until then. */
void watch_finish(struct watch *w, uint64_t end_ns);

#endif
