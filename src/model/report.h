/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a report for people: the rows of a CPU's table of sources and the notes below
 * each, and the parts of a worst hiccup. Derived here once; text, Markdown and HTML lay it out.
 *
 * All texts are escaped. In a marked text each name from the machine stands between the bytes
 * REPORT_NAME and REPORT_END, so that a format can set it off. */
#ifndef CULPRIT_REPORT_H
#define CULPRIT_REPORT_H

#include "model/view.h"

#define REPORT_NAME "\1"
#define REPORT_END  "\2"

char *report_unmark(char *marked); /* drops the marks, in place; returns it */

/* ---- the head ---- */

/* A statement on the run or its machine. */
struct report_fact {
	const char *name;
	const char *text; /* belongs to the view, or to what holds the fact */
	bool ours;        /* culprit's own words; else any bytes */
};

/* Writes the words on the machine, escaped: "linux 6.12.9", its CPU, "KVM guest". Returns how
 * many. */
#define REPORT_MACHINE 3
#define REPORT_WORD    (4 * sizeof(((struct host *)0)->kernel) + 8)
uint32_t report_machine(const struct view *v, char word[REPORT_MACHINE][REPORT_WORD]);

/* Writes what a reader must know before any figure; returns how many there are. */
#define REPORT_HOSTS    4 /* several recordings of hosts: those named */
#define REPORT_CAUTIONS (9 + REPORT_HOSTS)
struct report_cautions {
	struct report_fact fact[REPORT_CAUTIONS];
	char never_ran[160], waits[200], reports[160];
};
uint32_t report_cautions(const struct view *v, struct report_cautions *c);

/* The machine and the CPUs of the run, a row each. */
#define REPORT_SETS  4
#define REPORT_FACTS (6 + REPORT_SETS)
struct report_environment {
	struct report_fact fact[REPORT_FACTS];
	char cpus[REPORT_SETS][512];
};
void report_environment(const struct view *v, struct report_environment *e);

/* ---- a CPU's hiccups ---- */

/* Their number a second; -1: not known, as of a watched thread that may have slept. */
double report_rate(const struct view *v, uint32_t index);

/* The figures of their lengths, longest first: "worst", "p99.999" and "p99.99" where as many came,
 * "p99", "median". Returns how many; none without hiccups. */
#define REPORT_LENGTHS 5
struct report_length {
	const char *name;
	uint64_t ns;
};
uint32_t report_lengths(const struct hist *hiccups, struct report_length length[REPORT_LENGTHS]);

/* The changes of its frequency: "3 times, from 1.20 to 3.40 GHz: +0.100000 s 1.20, ...", the first
 * ones with their times. None in all of a workload is said, too: "" for all else. Returns buf. */
#define REPORT_FREQUENCY 256
char *report_frequency(const struct view *v, uint32_t index, char buf[REPORT_FREQUENCY]);
/* The CPUs with the most: "12 changes on 3 CPUs: cpu 7 8, cpu 1 3, cpu 2 1"; "": none, or one CPU
 * is all there is. Returns buf. */
char *report_frequencies(const struct view *v, char buf[REPORT_FREQUENCY]);

/* ---- a CPU's table ---- */

/* A row: a source, the edge, or the sources without a row of their own. */
struct report_row {
	unsigned kind; /* enum source_kind, TIMELINE_EDGE, or TIMELINE_KINDS for the rest */
	const struct source *source; /* NULL for the edge and the rest */
	uint32_t more;               /* sources in the rest */
	uint64_t ns;
	bool as_above; /* cause and advice are those of a row above */
	/* Row of CPUs that are alike: their common figures, and `source` is one of theirs. NULL: a
	 * row of one CPU. */
	const struct group_source *common;
};

struct report_rows {
	struct report_row *row; /* by falling time, the rest last; the caller frees it */
	uint32_t n;
	uint64_t whole_ns, longest_ns; /* the base of the shares, and the longest row */
};

/* most: sources with rows of their own; 0: as many as a long report has room for. 0 or -ENOMEM. */
int report_rows(const struct view *v, uint32_t index, uint32_t most, struct report_rows *rows);
/* The same of a group: time is that of all its CPUs together. */
int report_group_rows(const struct view *v, const struct cpu_group *g, uint32_t most,
		      struct report_rows *rows);

/* Each of the next returns buf. */
#define REPORT_WHO (2 * (4 * SOURCE_NAME + 8))           /* the function may be cut */
const char *report_row_kind(const struct report_row *r); /* "thread", "edge", "" */
const char *report_row_who(const struct report_row *r, char buf[REPORT_WHO + 2]); /* marked */

const char *report_mark(const struct source *s,
			char buf[REPORT_WHO + 2]); /* report_who's, marked */

/* A group's share of time lost, in percent, "0.41"; "?" below 0: not known. Returns buf. */
char *report_lost_share(double share, char *buf, size_t len);

/* "38.41", or "<0.01" for a smaller one above 0: the decimal points are aligned. */
const char *report_share(uint64_t part, uint64_t whole, char *buf, size_t len);

/* "as above", what to do, that it differs among CPUs that are alike, or "". Any bytes. */
const char *report_advice(const struct report_row *r);

/* Words for why tracepoints are not observed. */
#define REPORT_NOT_OBSERVED "not in this kernel, or not safe to watch in it"

/* Behind the name of what these would show: ", ..." where page faults of watched threads are among
 * them, else "". */
const char *report_unseen_faults(const struct view *v);

/* The notes of a source, a marked line each: how often it ran, whether it was stopped, where it may
 * go, whose memory it was, who asked, what is lost. stacks: three askers instead of one, with their
 * stacks. The caller frees it; NULL: out of memory. */
char *report_notes(const struct sources *t, const struct source *s, bool stacks);

/* The notes of a group's source: on how many of its CPUs, where it took most, who asked. As
 * above. */
char *report_group_notes(const struct view *v, const struct cpu_group *g,
			 const struct group_source *s);

/* Says what a reader must know of a watched thread's figures, a sentence each line; none ends in a
 * full stop. The caller frees it; NULL: out of memory. */
char *report_thread_notes(const struct view *v, const struct cpu *c);

/* Behind how many times, of ends without a begin and threads that left unseen (cpu.unpaired). */
#define REPORT_UNPAIRED                                                                            \
	"the begin or the end of something was not traced: what has no begin is in no row, and "   \
	"the time of a thread that left unseen stands in the row of the thread that was seen to "  \
	"leave next"

/* Behind how many runs, of a timer of the kernel's own (cpu.unread). */
#define REPORT_UNREAD "of the timer were written over before they were read: they are in no value"

/* The caution for run.names_lack, of a run or of who read its recording. */
#define REPORT_NAMES_LACK                                                                          \
	"more came than there is room for: what has no owner, command line, caller or function "   \
	"here may have one"

/* Tells of merged rows: "too many sources: 1,204 merged into (others), 3.41 ms". NULL: none. */
const char *report_merged(const struct sources *t, char *buf, size_t len);

/* ---- CPUs, or watched threads, that are alike; the texts are escaped ---- */

/* "cpu 7", "cpus 4-33,35-63", of many short ranges "cpus 4,6,8,... (30)"; "worker-3 [812]",
 * "threads worker-* (24)". Returns buf. */
#define REPORT_CPUS 240
const char *report_cpus(const struct view *v, const struct cpu_group *g, char buf[REPORT_CPUS]);
/* The same for a table's first column, "4-33,35-63 (59)", of at most `width` columns before the
 * number where CPUs are listed. Returns buf. */
const char *report_cpus_cell(const struct view *v, const struct cpu_group *g, size_t width,
			     char buf[REPORT_CPUS]);
/* "cpu 3", or the name of a watched thread. Returns buf. */
const char *report_lane(const struct view *v, uint32_t lane, char buf[REPORT_CPUS]);
/* "60 CPUs, by share lost and longest gap in turn". Returns buf. */
const char *report_ranked(const struct view *v, char buf[REPORT_CPUS]);

/* A column of the table of all groups: of alike ones the most of one of them. */
struct report_column {
	const char *heading;
	void (*cell)(const struct cpu_group *g, char buf[32]);
};
/* Those between the list and the first cause; returns how many. */
#define REPORT_COLUMNS 4
uint32_t report_columns(const struct view *v, struct report_column column[REPORT_COLUMNS]);

/* Finds what a group's row in the table of CPUs names: on one CPU the source of gaps that are out
 * of proportion, else what took most; NULL: nothing. */
const struct source *report_first_cause(const struct view *v, const struct cpu_group *g);

/* ---- names ---- */

/* "[kworker/3:1] [812]", "python3 [99]", "virtio1-req.0 (irq 36)", "local_timer >
 * tick_nohz_handler". Only a kernel thread's name stands in brackets, and only merged rows are
 * called "(others)": a thread whose own name begins with "[" begins with "\x5b" instead, one that
 * is called "(others)" with "\x28". Returns buf. */
const char *report_who(const struct source *source, char *buf, size_t len);

/* The same for a thread's name alone: "[kworker/3:1]", "python3". */
const char *report_comm(const char *comm, bool kernel_thread, char *buf, size_t len);

/* Texts before and behind the comm of those for whom the tick was kept: "22 threads of ", or
 * " [253]" of one. */
void report_tick(const struct nohz_tick_line *l, char before[48], char after[16]);

/* "max 1.47 ms: likely stopped inside; p99 18.0 us" (model/stops.h), without the usual time where
 * too few runs are known; NULL: none was. */
const char *report_stops(const struct source *s, char *buf, size_t len);
#define REPORT_TEXT 128 /* for this, and for report_merged */

/* "by poke [4414] on cpu 0", "by an interrupt on cpu 0", marked. Returns buf. */
#define REPORT_ASKER 128
const char *report_asker(const struct asker *a, char buf[REPORT_ASKER]);

/* Words behind a thread's name for its owner, as names->owner says it: " · nginx.service"; "": it
 * has none. Escaped. Returns buf. */
#define REPORT_BEHIND " · "
#define REPORT_OWNER  (4 * OWNER_TEXT + 8)
const char *report_owner(const char *owner, char buf[REPORT_OWNER]);

/* As report_asker() with the thread's owner, where it has one: "by poke [4414] · nginx.service, on
 * cpu 0". */
#define REPORT_OWNED (REPORT_ASKER + REPORT_OWNER)
const char *report_owned_asker(const struct asker *a, char buf[REPORT_OWNED]);

/* ---- a worst hiccup ---- */

struct report_part {
	unsigned kind;               /* as of a row */
	const struct source *source; /* source of a piece; else NULL */
	const struct asker *asker;   /* the thread that asked for the piece; NULL: none is known */
	bool others;                 /* part of the piece may belong to threads that left unseen */
	uint32_t more;               /* pieces in the rest */
	uint64_t ns;
};

#define REPORT_PIECES_MAX 24 /* pieces with a part of their own */
#define REPORT_PARTS      (REPORT_PIECES_MAX + 4)

/* Derives the parts: the pieces, edge, unrecorded and unexplained time, without empty ones. Returns
 * how many. */
uint32_t report_parts(const struct view *v, const struct worst *w,
		      struct report_part part[REPORT_PARTS]);

/* Writes who or what it was, marked; where threads left unseen "git [812] or others". Returns
 * buf. */
#define REPORT_PART (REPORT_WHO + 16)
const char *report_part_name(const struct view *v, const struct report_part *p,
			     char buf[REPORT_PART]);

#endif
