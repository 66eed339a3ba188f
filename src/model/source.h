/* Sources: who took the time. A source is (kind, id or name, function); each CPU has a table of them with its totals.
 *
 * The table is bounded, so that a fork storm cannot fill the memory of a run of days: of threads with one comm the first
 * SOURCE_PIDS keep rows of their own, later ones share one with id 0; past SOURCES_MAX rows each kind has one row "(others)".
 * Nothing is lost by that but the finer name.
 */
#ifndef CULPRIT_SOURCE_H
#define CULPRIT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hist.h"
#include "model/origin.h"
#include "model/slices.h"

#define SOURCES_MAX 1024
#define SOURCE_PIDS 16
#define SOURCE_NAME 64

enum source_kind {
	SOURCE_IRQ,
	SOURCE_VECTOR,
	SOURCE_SOFTIRQ,
	SOURCE_NMI,
	SOURCE_THREAD,
	SOURCE_FAULT,
	SOURCE_SYSCALL, /* of a watched thread */
	SOURCE_OUTSIDE, /* no kernel activity explains it: firmware, hypervisor, hardware */
	SOURCE_KINDS,
};

struct source {
	enum source_kind kind;
	uint32_t id;             /* IRQ, vector number, softirq, tid (0: several threads of that comm); else 0 */
	char name[SOURCE_NAME];  /* any bytes: escape on output */
	const char *function;    /* belongs to the names (names.h); NULL: not known */
	uint64_t hiccups;        /* in how many hiccups it had a part */
	struct hist net;         /* net ns of each interval: count, sum, max, percentiles */
	struct slices slices;    /* net ns of each hiccup that it had a part in: how evenly they came */
	uint32_t piece;          /* used by the join: this source's piece of the hiccup in hand */
	uint64_t epoch;          /* used by the join: which hiccup `piece` belongs to */
	const char *affinity;    /* of an IRQ; belongs to the names; NULL: not known */
	char memory_of[17];      /* of a TLB shootdown: comm of the thread whose memory it was, the last time */
	struct origins *origins; /* who asked for it; NULL: nobody is known */
	bool kernel_thread;
	const char *cause; /* id in the cause book; static; NULL: not looked up yet, or the book has none */
	char *advice;      /* what to do about it, one line, for this machine; owned; NULL: nothing */
};

struct sources {
	struct source **row; /* in order of first appearance */
	uint32_t count;
	uint32_t *slot;      /* hash: 1 + index of row */
	struct found *found; /* keys looked up before */
};

int sources_init(struct sources *t); /* 0 or -ENOMEM */
void sources_free(struct sources *t);

/* The row of a key, made when it is new. name is copied; function is kept; NULL is none. Never fails: when the table or memory is full
 * it answers with the kind's row for the rest. */
uint32_t sources_find(struct sources *t, enum source_kind kind, uint32_t id, const char *name, const char *function);

/* Notes who asked for an interval of this source. r is a mark with RECORD_ORIGIN. Returns who, until the next call; NULL: not known. */
const struct asker *source_asked(struct source *s, const struct record *r, const struct names *names);

/* "irq", "vector", ... as the report writes them. */
const char *source_kind_name(enum source_kind kind);

/* Row indices by falling total time into order[count]; rows without intervals are left out. Returns how many. */
uint32_t sources_rank(const struct sources *t, uint32_t *order);

/* The kernel's names: "TIMER" (kernel/softirq.c: softirq_to_name), "local_timer" (irq_vectors.h), "remote shootdown" (tlb.h). */
const char *softirq_name(uint32_t id);
const char *vector_name(uint32_t vector_id);
const char *tlb_reason_name(uint32_t reason);

#endif
