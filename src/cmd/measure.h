/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by all commands that measure live: their options, the choice of CPUs, the end by
 * signal. */
#ifndef CULPRIT_MEASURE_H
#define CULPRIT_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "collect/collect.h"

struct measure {
	struct cpus cpus, housekeeping;
	uint64_t duration_ns; /* UINT64_MAX: until a signal */
	uint64_t threshold_ns;
	struct measure_sched {
		int policy, priority;
		struct deadline deadline; /* with SCHED_DEADLINE */
	} sched;
	bool sleeps; /* the samplers mostly sleep: they may have SCHED_DEADLINE */
	int by;      /* enum owner_by */
	bool quiet, no_trace, no_audit, clock, commands, user_stacks;
	const char *debug_path; /* NULL: none */
	/* The command ends by itself: housekeeping may share the measured CPUs where no other CPU
	 * is left, as it always may without tracing. */
	bool may_share;
	bool shared;            /* housekeeping does share them */
	bool must_trace;        /* the command has no --no-trace */
	const char *ready_file; /* for tests: made when the window opens */
	struct measure_begin {
		uint64_t at_ns;    /* CLOCK_REALTIME; 0: not given */
		uint64_t every_ns; /* at its next multiple; 0: not given */
	} begin;
};

/* The row of --begin: `field` is the offset of a struct measure_begin. */
#define MEASURE_BEGIN(field)                                                                       \
	{                                                                                          \
		0, "begin", "WHEN",                                                                \
			"open the window, of several the first, at this time of the wall clock, "  \
			"as other machines do: @2026-01-02T03:04:05Z, @ and seconds since 1970, "  \
			"or /10s: at the next multiple of 10 s",                                   \
			field, measure_set_begin, .preset = "as soon as all is ready"              \
	}
int measure_set_begin(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen);

/* Waits for that time. 0; -1, with the reason said: it was over, or quietly: a signal has come. */
int measure_await_begin(const struct measure *m);

/* Rows of option tables: of a struct measure -c, -d, -t, -P, -H and --clock; and these for commands
 * with a report: -q, --no-audit and --no-trace, too. */
extern const struct opt measure_opts[], measure_report_opts[];

/* -d and --no-trace in a table of their own struct: `field` is their offset there, `preset` how
 * long it takes without -d. */
#define MEASURE_DURATION(field, preset_)                                                           \
	{                                                                                          \
		'd', "duration", "TIME",                                                           \
			"how long: 10s, 5m, 500ms, or forever: until Ctrl-C or SIGTERM; a bare "   \
			"number is seconds",                                                       \
			field, measure_set_duration, .preset = preset_                             \
	}
#define MEASURE_NO_TRACE(field)                                                                    \
	{                                                                                          \
		0, "no-trace", NULL,                                                               \
			"measure only, without BPF: needs no privileges, names nothing", field     \
	}

/* The same of --command-lines. */
#define MEASURE_COMMANDS(field)                                                                    \
	{                                                                                          \
		0, "command-lines", NULL,                                                          \
			"keep the command lines of the threads that took time, and of those that " \
			"asked: they may hold secrets",                                            \
			field, .excludes = "no-trace", .why = "is found by tracing"                \
	}

int measure_set_duration(const char *text, void *field, const struct opt *row, char *why,
			 size_t whylen);
/* "all" is the set of all numbers until measure_check knows which are online. */
int measure_set_cpus(const char *text, void *field, const struct opt *row, char *why,
		     size_t whylen);
void measure_all_cpus(struct cpus *cpus); /* makes that set */
int measure_set_threshold(const char *text, void *field, const struct opt *row, char *why,
			  size_t whylen);
int measure_set_priority(const char *text, void *field, const struct opt *row, char *why,
			 size_t whylen);

/* Two CPUs, "2,3". */
struct measure_pair {
	unsigned cpu[2];
	bool given;
};
int measure_set_pair(const char *text, void *field, const struct opt *row, char *why,
		     size_t whylen);

struct measure_range {
	long lo, hi;
};
/* Setter of a uint64_t; the row's arg is a struct measure_range, NULL: 1 to 10^12. */
int measure_set_count(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen);

/* Sets the defaults: 10 s and the normal policy. */
void measure_init(struct measure *m);

/* Call after parsing with a duration_ns of 0: without -d a run ends with its count, if it counts
 * (-n), or after 10 s. */
void measure_end(struct measure *m, bool counts);

/* Fills in CPUs that were not given, and checks that measuring can work here. 0, or -1 with the
 * reason said. */
int measure_check(struct measure *m, const struct host *host);

/* Checks that this process may trace here; otherwise: what else could be done, or "". 0, or -1 with
 * the reason said. */
int measure_may_trace(const char *otherwise);

/* 0 when all that were given are online, or -1 with the reason said. */
int measure_online(const struct cpus *given, const struct cpus *online);

/* Chooses CPUs for commands that need some for a purpose: from those given with -c, or else the
 * isolated ones, where they are too few the allowed ones, too, without the lowest where there are
 * enough and none is isolated; the lowest of them, ascending. Returns how many: at most `want`, at
 * least `need`, or -1 with the reason said. */
int measure_choose(const struct measure *m, const struct host *host, unsigned *cpu, uint32_t need,
		   uint32_t want);

/* The options of collect_engine. */
struct collect_options measure_collect(const struct measure *m);

/* The first of SIGINT, SIGTERM and SIGHUP that has come, or 0: global because a signal handler sets
 * it. A second one ends the process by its default action. A terminal cannot stop it meanwhile
 * (Ctrl-Z, writing in the background): its samplers would spin on. */
extern volatile int measure_stop;
void measure_catch_signals(void);
const char *measure_end_name(void); /* once one has come: "SIGINT came" */

/* Nonzero once SIGUSR1 has come, which ends nothing. */
/* SIGHUP has come to a service, which is to open its files anew. Else it is one of the signals
 * that end a run. */
extern volatile int measure_hup;
extern volatile int measure_usr1;
void measure_catch_usr1(void);

/* Sleeps until the next visit of the samplers is due; false when the window's time is over or a
 * signal has come. begin_ns: when it opened. */
bool measure_wait(const struct measure *m, uint64_t begin_ns);

void measure_announce(const struct measure *m);

#endif
