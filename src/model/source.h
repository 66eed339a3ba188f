/* Sources: who took the time. A source is (kind, id or name, function), of a thread also whether it
 * is the kernel's; each CPU has a table of them with its totals.
 *
 * The table is bounded, so that neither a fork storm nor a thread that renames itself can fill the
 * memory of a run of days, or take the rows of others: each kind has its own number of rows. When a
 * kind has no row left, a quarter of its rows go, with all they have, into one row "(others)" of
 * the kind; of threads with one comm SOURCE_PIDS have rows of their own, and when there are more,
 * half of them go into one with id 0. What stays: half of it those with the most time, half those
 * with the most time since the last time that rows went, but of one process no more than a quarter
 * of the kind's rows; of kernel threads, of those whose names begin alike. So nothing is lost but
 * finer names, sums stay exact, and who takes much time, at once or little by little, has a row. A
 * source that went and comes again has a new row: what it had stays where it went.
 *
 * Rows go while a hiccup is accounted for, and then others change their places: see model/follow.h.
 */
#ifndef CULPRIT_SOURCE_H
#define CULPRIT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hist.h"
#include "model/origin.h"
#include "model/slices.h"

#define SOURCES_MAX  1024 /* and a row "(others)" of each kind */
#define SOURCE_ROWS  (SOURCES_MAX + SOURCE_KINDS)
#define SOURCE_PIDS  16
#define SOURCE_NAME  64
#define SOURCE_GONE  0x80000000U /* of a place in sources.moved: the row went into another */
#define SOURCE_PLACE 0x7fffffffU

enum source_kind {
	SOURCE_IRQ,
	SOURCE_VECTOR,
	SOURCE_SOFTIRQ,
	SOURCE_NMI,
	SOURCE_THREAD,
	SOURCE_FAULT,
	SOURCE_SYSCALL, /* of a watched thread */
	SOURCE_LOST,    /* records are missing there: it is not known whose time it was */
	SOURCE_OUTSIDE, /* no kernel activity explains it: firmware, hypervisor, hardware */
	SOURCE_KINDS,
};

struct source {
	enum source_kind kind;
	/* IRQ, vector number, softirq, tid (0: several threads of that comm, or idle); else 0. */
	uint32_t id;
	char name[SOURCE_NAME]; /* any bytes: escape on output */
	const char *function;   /* belongs to the names (names.h); NULL: not known */
	bool kernel_thread;     /* anybody may be called kswapd0 */
	bool rest;              /* "(others)" of its kind */
	/* in how many it had a part; more than that in a row that others were merged into */
	uint64_t hiccups;
	uint64_t count; /* interruptions: intervals that began with this function */
	/* Net ns of each run of the function: how often it ran, sum, max, percentiles. */
	struct hist net;
	/* net ns of each hiccup that it had a part in: how evenly they came */
	struct slices slices;
	uint32_t piece;        /* used by the join: this source's piece of the hiccup in hand */
	uint64_t epoch;        /* used by the join: which hiccup `piece` belongs to */
	const char *affinity;  /* of an IRQ; belongs to the names; NULL: not known */
	uint64_t near_lost_ns; /* net ns in hiccups that records are missing of... */
	uint64_t missing;      /* ...and of SOURCE_LOST how many are */
	/* of a TLB shootdown: comm of the thread whose memory it was, the last time */
	char memory_of[17];
	struct origins *origins; /* who asked for it; NULL: nobody is known */
	/* id in the cause book; static; NULL: not looked up yet, or the book has none */
	const char *cause;
	/* Runs likely stopped inside by a host or firmware (stops.h); set with the advice. */
	struct {
		uint64_t count, ns; /* runs, and time of these beyond the usual */
		uint64_t usual_ns;  /* what 99 of 100 runs take at most */
	} stopped;
	char *advice;    /* what to do about it, one line, for this machine; owned; NULL: nothing */
	uint64_t merged; /* rows that went into this one */
	/* no two rows of a table ever have the same; later rows have larger ones */
	uint64_t serial;
	uint64_t oldest; /* the least serial of what is in it */
	/* of a thread: its process, or the kernel threads whose names begin alike */
	uint64_t group;
	uint64_t judged_ns; /* net.sum when rows went the last time */
	struct {
		uint64_t ns, count;
	} marked; /* for recent.h: what of its totals is older than the last full second */
};

/* What makes a source. */
struct source_key {
	enum source_kind kind;
	uint32_t id;
	const char *name;     /* is copied; NULL is none */
	const char *function; /* is kept; NULL is none */
	bool kernel_thread;
	/* tgid of a thread; 0: not known. No part of the key: it only says whose rows are too
	 * many. */
	uint32_t process;
};

struct sources {
	struct source **row; /* in order of first appearance */
	uint32_t count;
	uint32_t rows[SOURCE_KINDS];       /* of each kind, without its rest */
	struct source *rest[SOURCE_KINDS]; /* among the rows once something is in it */
	uint32_t *slot;                    /* hash: 1 + index of row */
	struct comm *comm;                 /* hash: threads with one comm */
	struct found *found;               /* keys looked up before */
	uint64_t serial;                   /* the newest row's */
	uint64_t trims;                    /* how often rows went */
	/* the last time: the place each row moved to, with SOURCE_GONE */
	uint32_t went[SOURCE_ROWS];
	uint32_t moved[SOURCE_ROWS]; /* the same since sources_settle, for all rows of that time */
	uint32_t settled;            /* how many those were */
	uint64_t settled_trims;      /* trims then */
};

int sources_init(struct sources *t); /* 0 or -ENOMEM */
void sources_free(struct sources *t);

/* The row of a key, made when it is new. Never fails: when memory is out it answers with the kind's
 * row for the rest. Where t->trims is another than before, rows have changed their places. */
uint32_t sources_find_key(struct sources *t, const struct source_key *key);

/* The same for what is no kernel thread. */
uint32_t sources_find(struct sources *t, enum source_kind kind, uint32_t id, const char *name,
		      const char *function);

/* The kind's row "(others)". */
uint32_t sources_rest(struct sources *t, enum source_kind kind);

/* All who keep places of rows have followed t->moved. */
void sources_settle(struct sources *t);

/* How many rows went into "(others)", of a kind, or (SOURCE_KINDS) of all; what time those rows
 * have is what went there. */
uint64_t sources_merged(const struct sources *t, enum source_kind kind, uint64_t *ns);

/* A run of the source's function is over. first: an interval began with it, so that the interval
 * counts here, and nowhere else. */
void source_add(struct source *s, uint64_t net_ns, bool first);

/* Notes who asked for an interval of this source. r is a mark with RECORD_ORIGIN. Returns who,
 * until the next call; NULL: not known. */
const struct asker *source_asked(struct source *s, const struct record *r,
				 const struct names *names);

/* Who was seen most in hiccups that records are missing of; NULL: nobody. */
const struct source *sources_near_lost(const struct sources *t);

/* "irq", "vector", ... as the report writes them. */
const char *source_kind_name(enum source_kind kind);

/* Row indices by falling total time into order[count]; rows without intervals are left out. Returns
 * how many. */
uint32_t sources_rank(const struct sources *t, uint32_t *order);

/* The kernel's names: "TIMER" (kernel/softirq.c: softirq_to_name), "local_timer" (irq_vectors.h),
 * "remote shootdown" (tlb.h). */
const char *softirq_name(uint32_t id);
const char *vector_name(uint32_t vector_id);
const char *tlb_reason_name(uint32_t reason);

#endif
