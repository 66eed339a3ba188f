/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside watch.h: who runs where (watch.c), and the windows that a thread loses, each with the
 * records that explain it (watch_windows.c). */
#ifndef CULPRIT_WATCH_STATE_H
#define CULPRIT_WATCH_STATE_H

#include "model/watch.h"

#define HISTORY 8192 /* records kept of a CPU; a power of two */
#define STAYS   64   /* recent stays of a thread on CPUs, running and waiting */
/* Interrupts closer than this are one window: an interrupt and the softirqs behind it. */
#define JOINED_NS 1000

struct watched {
	unsigned number;
	/* [HISTORY]; here `seq` is how many of its level are missing before the record */
	struct record *history;
	uint64_t head; /* records that have come */
	struct {
		bool some;
		uint32_t seq;     /* sequence of the newest record */
		uint32_t missing; /* since the newest in the history */
	} level[LEVELS];
	int lane;          /* lane of the watched thread that runs here; -1: none */
	uint32_t tid;      /* the thread's */
	uint64_t since_ns; /* begin of its stay, */
	uint64_t known_ns; /* time up to which it was certainly here, and is counted, */
	uint64_t told_ns;  /* end of its last window */
	bool open;         /* begun, with interrupts on top of it: */
	uint64_t open_start, open_end;
};

/* A thread's stay on a CPU, running or waiting. */
struct stay {
	uint32_t cpu, tid;
	bool ran;
	bool moved;     /* waited there until it was moved to another */
	bool throttled; /* waiting for its quota, whatever ran meanwhile */
	bool real_time; /* waiting with a real-time priority: FIFO, RR, */
	uint64_t start_ns, end_ns;
	uint64_t owner; /* the thread's */
};

struct thread {
	uint32_t tid; /* 0: several */
	uint32_t seq[LEVELS];
	uint64_t owner;   /* see OWNER in record.h */
	bool own;         /* reports its windows itself; none of several does */
	uint64_t upto_ns; /* end of its stays so far: time is never counted twice */
	bool real_time;   /* had such a priority when it last left */
	bool ran;         /* has run in this window, */
	unsigned last;    /* the last time on this CPU */
	struct {
		uint32_t tid;
		uint64_t from_ns, until_ns;
	} throttled; /* part of its next wait that ends */
	/* A virtual CPU's, when it was last switched out with its guest left: when, and why; 0: it
	 * was not. */
	uint64_t left_ns;
	uint32_t left_id;
	bool left_halted;    /* by then the halt had not ended */
	uint64_t stopped_ns; /* since when a signal or a debugger has stopped it; 0: none has */
	struct stay stay[STAYS];
	uint64_t stays;
};

struct watch {
	struct view *view;
	struct session *session;
	struct watched *cpu;
	uint32_t ncpus;
	struct thread thread[WATCH_LANES];
	uint32_t nthreads;
	uint64_t work; /* records that were looked at for windows */
	void (*hear)(void *ctx, uint32_t lane, const struct account *a);
	void *ctx;
};

/* The thread's lane. r: NULL without a record that tells its name. */
uint32_t watch_lane(struct watch *w, uint32_t tid, const struct record *r);

/* The thread runs here since then. r: as above. */
void watch_begin_stay(struct watch *w, struct watched *c, uint32_t tid, const struct record *r,
		      uint64_t since);

/* Notes that the thread was here until then. */
void watch_known_until(struct watch *w, struct watched *c, uint64_t ns);

/* Counts time of the lane's thread that is known. */
void watch_count_time(struct watch *w, uint32_t lane, uint64_t start, uint64_t end);

/* Takes an interval that came upon the thread here. */
void watch_interrupted(struct watch *w, struct watched *c, const struct record *r);

/* ---- watch_vcpus.c: virtual CPUs ---- */

/* Takes an exit of the guest whose CPU the thread here is. */
void watch_is_out(struct watch *w, struct watched *c, const struct record *r);

/* Takes a WATCH_HALTED: the guest had nothing to do, and lost nothing; or a WATCH_UNENDED, whose
 * time is not known. */
void watch_was_out(struct watch *w, struct watched *c, const struct record *r);

/* Takes the switch away of a thread, of which r tells: what was said of its guest before holds on
 * only if nothing came between; a virtual CPU that was stopped loses that time, whether KVM has it
 * or not. */
void watch_leaves(struct watch *w, const struct watched *c, const struct record *r);

/* Adds the time until then of threads that are stopped. */
void watch_stopped_until(struct watch *w, uint64_t ns);

/* Takes the sleep before a wait, of which r tells, where the guest was left meanwhile. True: the
 * wait is no loss, since its guest was halted: KVM polls for a while before it sleeps, and was
 * preempted in that. */
bool watch_slept(struct watch *w, const struct watched *c, const struct record *r);

/* ---- watch_places.c ---- */

/* True for a real-time priority (FIFO, RR) in a record of a thread. Nobody could say which one of
 * several threads in a lane has it. A deadline thread, whose priority is negative, is throttled by
 * its own budget. */
bool watch_is_real_time(const struct thread *t, const struct record *r);

/* Notes the wait that nobody saw begin, where this is the first that is seen of a thread. */
void watch_came_first(struct watch *w, const struct record *r);

/* Notes that the thread came to run on this CPU, and how long it has when it leaves. */
void watch_came(struct watch *w, const struct watched *c);
void watch_ran(struct watch *w, const struct watched *c);

/* ---- watch_windows.c ---- */

/* Notes that the lane's thread lost this time. True: it is long enough for a hiccup. */
bool watch_loses(struct watch *w, uint32_t lane, uint64_t start, uint64_t end);

/* Feeds a sleep in an exit of this id. */
void watch_feed_asleep(struct watch *w, uint32_t lane, uint32_t id, uint64_t start, uint64_t end);

/* Feeds the part of h that the thread spent on any CPU. */
void watch_feed_stays(struct watch *w, uint32_t lane, uint32_t tid, bool waits_only,
		      struct hiccup *h);

/* Gives the session the hiccup, whose records it has been given. */
const struct account *watch_account(struct watch *w, uint32_t lane, struct spot *spot,
				    struct hiccup *h);

/* Ends the window of the interrupts that came upon the thread here. */
void watch_close_window(struct watch *w, struct watched *c);

#endif
