/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources: who took the time. A source is (kind, id or name, function), for a thread also whether
 * it is the kernel's; each CPU has a table of them with its totals.
 *
 * The table is bounded, so that neither a fork storm nor a thread that renames itself can fill the
 * memory of a run of days, or take the rows of others: each kind has its own number of rows. When a
 * kind has no row left, a quarter of its rows go, with all their sums, into one row "(others)" of
 * the kind. SOURCE_PIDS threads with one comm have rows of their own; with more, half of them go
 * into one row with id 0. Half of the rows that stay are those with the most time, half those with
 * the most time since rows last went, but at most a quarter of the kind's rows belong to one
 * process, or to kernel threads whose names begin alike. So only finer names are lost: sums stay
 * exact, and a source that takes much time, at once or little by little, has a row. A source that
 * went and comes again gets a new row; its old sums stay where they went.
 *
 * Rows go while a hiccup is accounted for, and then others move: see model/follow.h.
 */
#ifndef CULPRIT_SOURCE_H
#define CULPRIT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hist.h"
#include "model/kind.h"
#include "model/owner.h"
#include "model/asker.h"
#include "model/slices.h"
#include "model/word.h"

#define SOURCE_ROWS      (SOURCES_MAX + SOURCE_KINDS)
#define SOURCE_PIDS      16
#define SOURCE_NAME      64
#define SOURCE_GONE      0x80000000U /* flag in sources.moved: the row went into another */
#define SOURCE_PLACE     0x7fffffffU
#define SOURCE_CPUS      UINT32_MAX
#define SOURCE_PROCESSES UINT32_MAX

struct source {
	/* The fields that each interval changes lie together: there are more rows than a CPU's
	 * nearest cache holds. */
	enum source_kind kind;
	uint32_t piece; /* used by the join: this source's piece of the hiccup in hand */
	uint64_t epoch; /* used by the join: which hiccup `piece` belongs to */
	/* Number of hiccups in which it had a part; more than that in a row that others were merged
	 * into. */
	uint64_t hiccups;
	uint64_t count; /* interruptions: intervals that began with this function */
	/* Net ns of each run of the function: how often it ran, sum, max, percentiles. */
	struct hist net;
	struct askers *askers; /* askers for it; NULL: nobody is known */
	/* Owner of a user thread: its control group's number (0: not known), and that group's owner
	 * (owner.h), which belongs to the names; NULL: not known, or `owners` differ. */
	uint32_t cgroup;
	bool owners;
	bool kernel_thread; /* tells it apart: any thread may be called kswapd0 */
	bool rest;          /* the row "(others)" of its kind */
	enum owner_by by;   /* from BY_UNIT on the name is an owner's, and it has all threads */
	const char *owner;
	const char *labelled; /* the owner by leaders_update(), "": none; NULL: not yet */
	struct {
		uint64_t ns, count, runs;
	} elsewhere; /* the part of its totals that leaders_update() has counted by other labels */
	/* The process of a user thread's row, where command lines are asked for; 0: not known,
	 * SOURCE_PROCESSES: several. Its command line comes with session_finish, and belongs to the
	 * names; NULL: not known. */
	uint32_t process;
	const char *command;
	/* Net ns of each hiccup that it had a part in: how evenly they came. */
	struct slices slices;

	/* IRQ, vector number, softirq, tid (0: several threads of that comm, or idle); else 0. */
	uint32_t id;
	char name[SOURCE_NAME]; /* any bytes: escape on output */
	const char *function;   /* belongs to the names (names.h); NULL: not known */
	/* Kind on the host of a SOURCE_HOST, to which id and name belong, and 1 + the host's CPU
	 * where it ran; 0: not known, SOURCE_CPUS: several. */
	enum source_kind host_kind;
	uint32_t host_cpu;
	/* The host's name, where the guest of a SOURCE_HOST was on several: of any bytes, the
	 * view's; "": several have the row; NULL: there is one host. */
	const char *host_name;
	enum own_word word; /* word of culprit's own in place of a name or function; WORD_NONE: the
			       machine's */
	/* Intervals among these in which threads left unseen (RECORD_UNSEEN), and their net ns:
	 * part of that time belongs to others. */
	struct {
		uint64_t count, ns;
	} unseen;
	const char *affinity;  /* CPUs of an IRQ; belongs to the names; NULL: not known */
	const char *device;    /* device that sends an IRQ, as the affinity */
	const char *together;  /* suspects_say(), for WORD_SIMULTANEOUS; the view's; or NULL */
	uint64_t near_lost_ns; /* net ns in hiccups with missing records */
	uint64_t missing;      /* for SOURCE_LOST the number of those records */
	/* Comm of the thread whose memory its TLB shootdowns were for; "": not known, or
	 * `memories` differ. */
	char memory_of[17];
	bool memories;
	/* Net ns of the pieces of a run that has not ended: a part of net.sum alone. */
	uint64_t part_ns;
	/* Id in the cause book; static; NULL: not looked up yet, or the book has none. */
	const char *cause;
	/* Runs likely stopped inside by a host or firmware (stops.h); set with the advice. */
	struct {
		uint64_t count, ns; /* stopped runs, and their time beyond the usual */
		/* Duration that so many percent of its runs take at most; 0: too few to know. */
		uint64_t usual_ns;
		unsigned percent;
	} stopped;
	/* advice for this machine, in one line; owned; NULL: none */
	char *advice;
	uint64_t merged; /* rows merged into this one */
	/* Never the same for two rows of a table; later rows have larger ones. */
	uint64_t serial;
	uint64_t oldest; /* least serial of the rows in it */
	/* Family of a thread: its process, or the kernel threads whose names begin alike; a row of
	 * an owner is alone. */
	uint64_t group;
	uint64_t judged_ns; /* net.sum when rows last went */
	struct {
		uint64_t ns, count;
	} marked; /* for recent.h: the part of its totals older than the last full second */
};

/* Counts its totals so far as another label's. */
void source_label_anew(struct source *s, const char *label);

/* Kinds of texts of a key's name, by which it is compared in few steps. */
enum source_text {
	TEXT_ANY,
	TEXT_STAYS, /* stays where it is, and as it is, as long as the table */
	TEXT_COMM,  /* 16 bytes and a NUL, though it may end earlier */
};

/* The identity of a source. */
struct source_key {
	enum source_kind kind;
	uint32_t id;
	const char *name;     /* copied; NULL: none */
	const char *function; /* kept, not copied; NULL: none */
	bool kernel_thread;
	/* tgid of a thread; 0: not known. No part of the key: it only says whose rows are too
	 * many. */
	uint32_t process;
	enum own_word word;         /* no part of the key: it has its name or function */
	enum source_kind host_kind; /* kind on the host of SOURCE_HOST; else 0 */
	enum source_text text;      /* the name's; no part of the key */
	enum owner_by by;
};

struct sources {
	struct source **row; /* in order of first appearance */
	uint32_t count;
	uint32_t room;                     /* for rows; the hashes are as large */
	uint32_t rows[SOURCE_KINDS];       /* rows of each kind, without its rest */
	struct source *rest[SOURCE_KINDS]; /* NULL until it is needed */
	struct source *spare;              /* a row for when memory is out; NULL: it has gone */
	uint32_t *slot;                    /* hash: 1 + index of row */
	struct comm *comm;                 /* hash: threads with one comm */
	struct found *found;               /* keys found before */
	uint64_t serial;                   /* serial of the newest row */
	uint64_t trims;                    /* number of times that rows went */
	/* The last time: the place each row moved to, with SOURCE_GONE. */
	uint32_t went[SOURCE_ROWS];
	uint32_t moved[SOURCE_ROWS]; /* the same since sources_settle, for all rows of that time */
	uint32_t settled;            /* number of those rows */
	uint64_t settled_trims;      /* trims then */
};

int sources_init(struct sources *t); /* 0 or -ENOMEM */
void sources_free(struct sources *t);

/* The row of a key, made on first use. Never fails: out of memory it returns the kind's row for the
 * rest. When t->trims has changed, rows have moved. */
uint32_t sources_find_key(struct sources *t, const struct source_key *key);

/* The same for everything but kernel threads. */
uint32_t sources_find(struct sources *t, enum source_kind kind, uint32_t id, const char *name,
		      const char *function);

/* The kind's row "(others)". */
uint32_t sources_rest(struct sources *t, enum source_kind kind);

/* Moves the rows of a kind behind all others, in the order of their words: then the table does not
 * tell when they were made. t->moved says where rows have gone. */
void sources_last(struct sources *t, enum source_kind kind);

/* Call when all who keep places of rows have followed t->moved. */
void sources_settle(struct sources *t);

/* Number of rows that went into "(others)", of a kind, or (SOURCE_KINDS) of all; *ns: the time in
 * those rows. */
uint64_t sources_merged(const struct sources *t, enum source_kind kind, uint64_t *ns);

/* Adds a finished run of the source's function, or the last piece of one. first: an interval began
 * with it, so the interval counts here, and nowhere else. */
void source_add(struct source *s, uint64_t net_ns, bool first);

/* Ends the runs of which only pieces came: their last one, with which the interval counts, was not
 * recorded, or the window ended before it. */
void sources_end_runs(struct sources *t);
void source_end_run(struct source *s);

/* Notes who asked for an interval of this source. r is a mark with RECORD_ASKED. Returns who,
 * until the next call; NULL: not known. */
const struct asker *source_asked(struct source *s, const struct record *r,
				 const struct names *names);

/* The same for an asker that is known already. */
void source_asker(struct source *s, const struct asker *who);

/* Notes whose control group a thread of this row is in; owner: what names->owner says of it. */
void source_owned(struct source *s, uint32_t cgroup, const char *owner);

/* Notes whose memory a TLB shootdown was for: 16 bytes; "": not known. */
void source_flushed(struct source *s, const char *comm);

/* True for the idle thread, "swapper/3". */
bool source_is_idle(const struct source *s);

/* The source seen most in hiccups with missing records; NULL: none. */
const struct source *sources_near_lost(const struct sources *t);

/* Writes row indices by falling total time to order[count]; leaves rows without intervals out.
 * Returns how many. */
uint32_t sources_rank(const struct sources *t, uint32_t *order);

/* The kernel's names: "TIMER" (kernel/softirq.c: softirq_to_name), "local_timer" (irq_vectors.h),
 * "remote shootdown" (tlb.h). */
const char *softirq_name(uint32_t id);
const char *vector_name(uint32_t vector_id);
const char *vector_counter(uint32_t vector_id); /* row of /proc/interrupts, "LOC" */
uint32_t vector_of_name(const char *name);      /* enum vector_id; 0: of none */

#endif
