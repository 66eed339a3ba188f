/* Findings of an audit: one for each check, and from some checks one for each device or thread.
 * Made from facts alone (audit/audit.h).
 *
 * Texts may hold names of the machine in any bytes: escape on output. A command is safe to run as
 * it is: names in it are quoted for a shell. */
#ifndef CULPRIT_FINDING_H
#define CULPRIT_FINDING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/cpus.h"
#include "model/source.h"

enum finding_level {
	FINDING_OK,
	FINDING_INFO,
	FINDING_WARN, /* a known source of noise */
	FINDING_FAIL, /* isolation is not in force */
	FINDING_LEVELS,
};

enum fix_kind {
	FIX_WORDS,   /* for a person */
	FIX_COMMAND, /* for a shell, as root */
	FIX_BOOT,    /* parameters for the kernel's command line */
};

struct finding {
	const char *id;    /* of the check, static */
	const char *cause; /* in the cause book, static; NULL: none */
	enum finding_level level;
	bool known;       /* false: the fact could not be read; `value` says why */
	struct cpus cpus; /* empty: the whole machine */
	char *title;      /* a sentence without a full stop */
	char *value;      /* as found; these and the following may be NULL */
	char *good;       /* the recommended value */
	char *fix, *undo; /* undo is a command */
	enum fix_kind fix_kind;
	/* Static: prefix of the names, among the sources with its cause, that it explains; NULL:
	 * all of them. */
	const char *only;
	bool about; /* about one source: */
	enum source_kind kind;
	uint32_t number; /* IRQ or tid */
	/* Measured time of the sources that it explains, of all CPUs; 0: none in this run, or no
	 * run. */
	uint64_t cost_ns;
};

struct findings { /* all zeros: none */
	struct finding *row;
	uint32_t count, room;
};

/* Adds a row with this id, known; NULL when out of memory. Valid until the next call. */
struct finding *findings_add(struct findings *f, const char *id, enum finding_level level);
void findings_free(struct findings *f);

const char *finding_level_name(enum finding_level level); /* "FAIL" */
uint32_t findings_count(const struct findings *f, enum finding_level level);

/* Writes row indices to order[count]: by falling level, then by falling cost, then as they came. */
void findings_order(const struct findings *f, uint32_t *order);

/* Writes rows that need a fix and took time in this run to order[count], by falling cost; of those
 * that explain the very same sources just the worst. Returns how many; *rest are the warnings that
 * cost nothing, *failed those of them that are FINDING_FAIL. */
uint32_t findings_costly(const struct findings *f, uint32_t *order, uint32_t *rest,
			 uint32_t *failed);

/* The boot parameters of all FIX_BOOT rows, each once: "isolcpus=... nohz_full=3". The caller frees
 * it; NULL: none, or out of memory. */
char *findings_boot(const struct findings *f);

/* True when this finding is a reason for the time of this source on this CPU. */
bool finding_explains(const struct finding *f, unsigned cpu, const struct source *s);

#endif
