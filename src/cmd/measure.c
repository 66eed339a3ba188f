/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/measure.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "base/policy.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/newfile.h"

#define DEFAULT_NS (10 * NSEC_PER_SEC)
#define POLL_NS    (10 * NSEC_PER_MSEC)
/* kernel/sched/deadline.c: __checkparam_dl */
#define DEADLINE_LEAST_NS 1024
#define NAP_NS            (100 * NSEC_PER_MSEC)

/* ---- options ---- */

#define FIELD(name) offsetof(struct measure, name)

const struct opt measure_opts[] = {
	{'c', "cpus", "CPUS",
	 "the CPUs to measure, like 1-3,8, or all: all that are online, but one of them is left "
	 "out for culprit itself while it traces",
	 FIELD(cpus), measure_set_cpus,
	 .preset = "the isolated CPUs that are online; if there are none, all allowed CPUs but the "
		   "lowest"},
	MEASURE_DURATION(FIELD(duration_ns), "10s"),
	{'t', "threshold", "TIME",
	 "the shortest gap that counts as a hiccup, like 1us, or auto: 200 ns, 500 ns in a guest, "
	 "or eight turns of the sampler's loop if that is longer. Shorter gaps are counted and "
	 "added up, but not explained",
	 FIELD(threshold_ns), measure_set_threshold, .preset = "auto"},
	{'P', "priority", "PRIO",
	 "policy and priority of the samplers: f:10 is FIFO, r:5 round robin, o:0 normal, b:0 "
	 "batch, i:0 idle; of those that sleep also d:200us:1ms: SCHED_DEADLINE, 200 us in each "
	 "ms",
	 FIELD(sched), measure_set_priority, .preset = "o:0"},
	{'H', "housekeeping", "CPUS", "the CPUs on which everything else of culprit runs",
	 FIELD(housekeeping), opt_set_cpus,
	 .preset = "the other CPUs that are not isolated and share no core with a measured CPU; if "
		   "there are some on the same NUMA node, only these"},
	{0, "clock", NULL,
	 "read CLOCK_MONOTONIC instead of the time-stamp counter: it is coarser, for machines "
	 "whose counter is not stable",
	 FIELD(clock)},
	MEASURE_BEGIN(FIELD(begin)),
	{0, "ready-file", "FILE", NULL, FIELD(ready_file), opt_set_string, .writes = true},
	{0},
};

const struct opt measure_report_opts[] = {
	{.include = measure_opts},
	MEASURE_NO_TRACE(FIELD(no_trace)),
	MEASURE_COMMANDS(FIELD(commands)),
	{0, "user-stacks", NULL,
	 "find in the programs of threads that ask which calls led to it (culprit help reading)",
	 FIELD(user_stacks), .excludes = "no-trace", .why = "is found by tracing"},
	{0, "debug-path", "DIR",
	 "also look there for debug information of these programs, in .build-id/XX/YY.debug",
	 FIELD(debug_path), opt_set_string, .needs = "user-stacks", .why = "is read for its names",
	 .preset = "/usr/lib/debug alone"},
	{0, "no-audit", NULL,
	 "do not read how the machine is set up before the window (see culprit audit)",
	 FIELD(no_audit)},
	{'q', "quiet", NULL, "print no progress line", FIELD(quiet)},
	{0},
};

int measure_set_duration(const char *text, void *field, const struct opt *row, char *why,
			 size_t whylen)
{
	if (!strcmp(text, "forever")) {
		*(uint64_t *)field = UINT64_MAX;
		return 0;
	}
	return opt_set_duration(text, field, row, why, whylen);
}

int measure_set_cpus(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	if (strcmp(text, "all"))
		return opt_set_cpus(text, field, row, why, whylen);
	measure_all_cpus(field);
	return 0;
}

void measure_all_cpus(struct cpus *cpus)
{
	memset(cpus, 0xff, sizeof(*cpus));
}

int measure_set_threshold(const char *text, void *field, const struct opt *row, char *why,
			  size_t whylen)
{
	if (!strcmp(text, "auto")) {
		*(uint64_t *)field = 0;
		return 0;
	}
	return opt_set_time(text, field, row, why, whylen);
}

/* Reads "200us:1ms". */
static int set_deadline(const char *text, struct measure_sched *sched, char *why, size_t whylen)
{
	const char *colon = strchr(text, ':');
	struct deadline d;
	char runtime[32];

	if (!colon || colon - text >= (int)sizeof(runtime)) {
		snprintf(why, whylen, "'d:%.60s' is not d:RUNTIME:PERIOD, like d:200us:1ms", text);
		return -EINVAL;
	}
	snprintf(runtime, sizeof(runtime), "%.*s", (int)(colon - text), text);
	if (parse_duration(runtime, 0, &d.runtime_ns, why, whylen) ||
	    parse_duration(colon + 1, 0, &d.period_ns, why, whylen))
		return -EINVAL;
	if (d.runtime_ns < DEADLINE_LEAST_NS || d.runtime_ns > d.period_ns) {
		snprintf(why, whylen,
			 "'d:%.60s': the runtime has to be 1.024 us or more, and no longer than "
			 "the period",
			 text);
		return -EINVAL;
	}
	*sched = (struct measure_sched){.policy = SCHED_DEADLINE, .deadline = d};
	return 0;
}

/* "f:10" FIFO, "r:5" round robin, "o:0" the normal policy, "b:0" batch, "i:0" idle, "d:200us:1ms"
 * deadline: rtla's and chrt's letters. */
int measure_set_priority(const char *text, void *field, const struct opt *row, char *why,
			 size_t whylen)
{
	static const struct {
		char letter;
		int policy;
	} known[] = {{'f', SCHED_FIFO},
		     {'r', SCHED_RR},
		     {'o', SCHED_OTHER},
		     {'b', SCHED_BATCH},
		     {'i', SCHED_IDLE}};
	struct measure_sched *sched = field;
	int policy = -1;
	bool ranked;
	long priority;

	(void)row;
	if (!strncmp(text, "d:", 2))
		return set_deadline(text + 2, sched, why, whylen);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (text[0] == known[i].letter)
			policy = known[i].policy;
	if (policy < 0 || text[1] != ':') {
		snprintf(why, whylen,
			 "'%s' is not a priority: use f:1 to f:99 (FIFO), r:1 to r:99 (round "
			 "robin), o:0 (normal), b:0 (batch), i:0 (idle) or, for those that sleep, "
			 "d:200us:1ms (deadline)",
			 text);
		return -EINVAL;
	}
	ranked = policy_is_real_time(policy);
	if (parse_integer(text + 2, ranked, ranked ? 99 : 0, &priority, why, whylen))
		return -EINVAL;
	sched->policy = policy;
	sched->priority = priority;
	return 0;
}

int measure_set_begin(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen)
{
	struct measure_begin *begin = field;
	uint64_t ns;
	long seconds;
	char not [64];

	(void)row;
	if (text[0] == '/') {
		if (parse_duration(text + 1, 0, &ns, why, whylen))
			return -EINVAL;
		*begin = (struct measure_begin){.every_ns = ns};
		return 0;
	}
	if (text[0] == '@' && !parse_iso_time(text + 1, &ns)) {
		*begin = (struct measure_begin){.at_ns = ns};
		return 0;
	}
	if (text[0] == '@' &&
	    !parse_integer(text + 1, 1, 9000000000, &seconds, not, sizeof(not ))) {
		*begin = (struct measure_begin){.at_ns = seconds * NSEC_PER_SEC};
		return 0;
	}
	snprintf(why, whylen, "'%.40s' is no time: use @2026-01-02T03:04:05Z, @1767323045 or /10s",
		 text);
	return -EINVAL;
}

int measure_set_pair(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	struct measure_pair *pair = field;
	unsigned a, b;
	int end = 0;

	(void)row;
	if (sscanf(text, "%4u,%4u%n", &a, &b, &end) != 2 || text[end] || text[0] < '0' ||
	    text[0] > '9' || a == b || a >= CPUS_MAX || b >= CPUS_MAX) {
		snprintf(why, whylen, "'%s' is not two different CPUs: give them as 1,3", text);
		return -EINVAL;
	}
	*pair = (struct measure_pair){{a, b}, true};
	return 0;
}

int measure_set_count(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen)
{
	const struct measure_range *range = row->arg;
	long n;

	if (parse_integer(text, range ? range->lo : 1, range ? range->hi : 1000000000000, &n, why,
			  whylen))
		return -EINVAL;
	*(uint64_t *)field = n;
	return 0;
}

void measure_init(struct measure *m)
{
	memset(m, 0, sizeof(*m));
	m->duration_ns = DEFAULT_NS;
	m->sched.policy = SCHED_OTHER;
}

void measure_end(struct measure *m, bool counts)
{
	if (!m->duration_ns)
		m->duration_ns = counts ? UINT64_MAX : DEFAULT_NS;
}

struct collect_options measure_collect(const struct measure *m)
{
	return (struct collect_options){.targets = m->cpus,
					.housekeeping = m->housekeeping,
					.trace = !m->no_trace,
					.clock = m->clock,
					.policy = m->sched.policy,
					.priority = m->sched.priority,
					.deadline = m->sched.deadline,
					.threshold_ns = m->threshold_ns,
					.by = m->by,
					.commands = m->commands,
					.user_stacks = m->user_stacks,
					.debug_path = m->debug_path};
}

/* ---- the end ---- */

volatile int measure_stop;

static void on_signal(int sig)
{
	if (!measure_stop)
		measure_stop = sig;
	signal(sig, SIG_DFL);
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

const char *measure_end_name(void)
{
	return measure_stop == SIGINT    ? "SIGINT came"
	       : measure_stop == SIGTERM ? "SIGTERM came"
					 : "SIGHUP came";
}

volatile int measure_hup;

static void on_hup(int sig)
{
	(void)sig;
	measure_hup = 1;
}

/* With SA_RESTART, as a report's lines that are being written must not fail. Sleeping calls return
 * at once all the same. */
void measure_catch_signals(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
	act.sa_handler = on_hup;
	if (getenv("NOTIFY_SOCKET")) /* a service: no terminal has gone */
		sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* Stopped, it could not end the samplers, which would spin on. */
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
}

volatile int measure_usr1;

static void on_usr1(int sig)
{
	(void)sig;
	measure_usr1 = 1;
}

void measure_catch_usr1(void)
{
	struct sigaction act = {.sa_handler = on_usr1, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &act, NULL);
}

bool measure_wait(const struct measure *m, uint64_t begin_ns)
{
	uint64_t elapsed = now_ns() - begin_ns;
	struct timespec nap = {0, POLL_NS};

	if (elapsed >= m->duration_ns || measure_stop)
		return false;
	if (m->duration_ns - elapsed < POLL_NS)
		nap.tv_nsec = m->duration_ns - elapsed;
	nanosleep(&nap, NULL);
	return true;
}

int measure_await_begin(const struct measure *m)
{
	uint64_t now = clock_ns(CLOCK_REALTIME), every = m->begin.every_ns;
	uint64_t at = every ? (now / every + 1) * every : m->begin.at_ns;
	char ago[32];

	if (at && at <= now)
		return complain("--begin: that time was over %s before all was ready: give a later "
				"one",
				format_ns(now - at, ago, sizeof(ago)));
	while (at && !measure_stop && (now = clock_ns(CLOCK_REALTIME)) < at) {
		uint64_t left = at - now < NAP_NS ? at - now : NAP_NS; /* the clock may be set */
		struct timespec nap = {left / NSEC_PER_SEC, left % NSEC_PER_SEC};

		nanosleep(&nap, NULL);
	}
	return measure_stop ? -1 : 0;
}

void measure_announce(const struct measure *m)
{
	FILE *f = m->ready_file ? newfile_grow(m->ready_file) : NULL;

	if (f)
		fclose(f);
	else if (m->ready_file)
		say("cannot write to %s: %s: nobody is told that the measurement has begun",
		    m->ready_file, newfile_error(errno));
}
