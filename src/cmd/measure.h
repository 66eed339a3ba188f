/* What all commands that measure live have in common: their options, the choice of CPUs, the end by
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
	struct {
		int policy, priority;
	} sched;
	bool quiet, no_trace, no_audit, clock;
	/* The command ends by itself: housekeeping may share the measured CPUs where no other CPU
	 * is left. */
	bool may_share;
	const char *ready_file; /* for tests: made when the window opens */
};

/* Rows of an option table whose struct has a `struct measure` of this name. */
#define MEASURE_OPTS(type, member)                                                                  \
	{'c',                                                                                       \
	 "cpus",                                                                                    \
	 "CPUS",                                                                                    \
	 "the CPUs to measure, as 1-3,8; default: the isolated ones that are online, or else all "  \
	 "allowed ones but "                                                                        \
	 "the lowest",                                                                              \
	 offsetof(type, member.cpus),                                                               \
	 opt_set_cpus,                                                                              \
	 NULL},                                                                                     \
		{'d',                                                                               \
		 "duration",                                                                        \
		 "TIME",                                                                            \
		 "how long: 10s, 5m, 500ms, or forever: until Ctrl-C or SIGTERM; a bare number "    \
		 "is seconds; "                                                                     \
		 "default 10s, or until what -n counts is done",                                    \
		 offsetof(type, member.duration_ns),                                                \
		 measure_set_duration,                                                              \
		 NULL},                                                                             \
		{'t',                                                                               \
		 "threshold",                                                                       \
		 "TIME",                                                                            \
		 "the shortest gap that counts as a hiccup, as 1us, or auto (the default): 200 "    \
		 "ns, in a guest "                                                                  \
		 "500 ns, or eight turns of the sampler's loop where that is longer. Shorter "      \
		 "gaps are counted and "                                                            \
		 "summed up, but not explained",                                                    \
		 offsetof(type, member.threshold_ns),                                               \
		 measure_set_threshold,                                                             \
		 NULL},                                                                             \
		{'P',                                                                               \
		 "priority",                                                                        \
		 "PRIO",                                                                            \
		 "policy and priority of the samplers: f:10 FIFO, r:5 round robin, o:0 normal "     \
		 "(default)",                                                                       \
		 offsetof(type, member.sched),                                                      \
		 measure_set_priority,                                                              \
		 NULL},                                                                             \
		{'H',                                                                               \
		 "housekeeping",                                                                    \
		 "CPUS",                                                                            \
		 "where everything else of culprit runs; default: all other CPUs",                  \
		 offsetof(type, member.housekeeping),                                               \
		 opt_set_cpus,                                                                      \
		 NULL},                                                                             \
		{'q', "quiet", NULL, "no progress line", offsetof(type, member.quiet), NULL, NULL}, \
		{0,                                                                                 \
		 "no-audit",                                                                        \
		 NULL,                                                                              \
		 "do not read how the machine is set up before the window (see culprit audit)",     \
		 offsetof(type, member.no_audit),                                                   \
		 NULL,                                                                              \
		 NULL},                                                                             \
		{0,                                                                                 \
		 "clock",                                                                           \
		 NULL,                                                                              \
		 "sample CLOCK_MONOTONIC instead of the time-stamp counter: coarser, for "          \
		 "machines whose counter is "                                                       \
		 "not stable",                                                                      \
		 offsetof(type, member.clock),                                                      \
		 NULL,                                                                              \
		 NULL},                                                                             \
	{                                                                                           \
		0, "ready-file", "FILE", NULL, offsetof(type, member.ready_file), opt_set_string,   \
			NULL                                                                        \
	}

int measure_set_duration(const char *text, void *field, const struct opt *row, char *why,
			 size_t whylen);
int measure_set_threshold(const char *text, void *field, const struct opt *row, char *why,
			  size_t whylen);
int measure_set_priority(const char *text, void *field, const struct opt *row, char *why,
			 size_t whylen);

/* "3,5": two CPUs in an order of their own. */
struct measure_pair {
	unsigned cpu[2];
	bool given;
};

/* Into a uint64_t; the row's arg has the range, NULL: 1 to 10^12. */
struct measure_range {
	long lo, hi;
};

int measure_set_pair(const char *text, void *field, const struct opt *row, char *why,
		     size_t whylen);
int measure_set_count(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen);

/* Defaults of 10 s and the normal policy. */
void measure_init(struct measure *m);

/* After parsing with a duration_ns of 0: without -d a run ends with what it counts, if it counts
 * (-n), or after 10 s. */
void measure_end(struct measure *m, bool counts);

/* Fills in the CPUs that were not given and checks that measuring can work here. 0, or -1 with the
 * reason said. */
int measure_check(struct measure *m, const struct host *host);

/* For commands that want so many CPUs, each for a purpose: of those given with -c, or else of the
 * isolated ones, or else of the allowed ones, without the lowest where there are enough; the lowest
 * of them, ascending. Returns how many: at most `want`, at least `need`, or -1 with the reason
 * said. */
int measure_choose(const struct measure *m, const struct host *host, unsigned *cpu, uint32_t need,
		   uint32_t want);

/* What collect_open takes. */
struct collect_options measure_collect(const struct measure *m);

/* Nonzero once SIGINT, SIGTERM or SIGHUP has come: the only global state. A second one ends the
 * process by its default action. */
extern volatile int measure_stop;
void measure_catch_signals(void);
void measure_over(
	void); /* the window is: a first signal does not cut off the report that is being written */

/* Sleeps until the next visit of the samplers is due; false when the window's time is over or a
 * signal has come. begin_ns: when it opened. */
bool measure_wait(const struct measure *m, uint64_t begin_ns);

uint64_t measure_now(void); /* ns of CLOCK_MONOTONIC */
void measure_announce(const struct measure *m);

#endif
