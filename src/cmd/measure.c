#include "cmd/measure.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/host.h"
#include "collect/machine.h"

#define DEFAULT_NS              (10 * NSEC_PER_SEC)
#define POLL_NS                 (10 * NSEC_PER_MSEC)
#define MEASURE_SHARED_PRIORITY 98 /* one more is left */

/* ---- options ---- */

#define FIELD(name) offsetof(struct measure, name)

const struct opt measure_opts[] = {
	{'c', "cpus", "CPUS", "the CPUs to measure, like 1-3,8", FIELD(cpus), opt_set_cpus,
	 .preset = "the isolated CPUs that are online; if there are none, all allowed CPUs but the "
		   "lowest"},
	MEASURE_DURATION(FIELD(duration_ns), "10s"),
	{'t', "threshold", "TIME",
	 "the shortest gap that counts as a hiccup, like 1us, or auto: 200 ns, 500 ns in a guest, "
	 "or eight turns of the sampler's loop if that is longer. Shorter gaps are counted and "
	 "added up, but not explained",
	 FIELD(threshold_ns), measure_set_threshold, .preset = "auto"},
	{'P', "priority", "PRIO",
	 "policy and priority of the samplers: f:10 is FIFO, r:5 round robin, o:0 normal",
	 FIELD(sched), measure_set_priority, .preset = "o:0"},
	{'H', "housekeeping", "CPUS", "the CPUs on which everything else of culprit runs",
	 FIELD(housekeeping), opt_set_cpus, .preset = "all other CPUs"},
	{0, "clock", NULL,
	 "read CLOCK_MONOTONIC instead of the time-stamp counter: it is coarser, for machines "
	 "whose counter is not stable",
	 FIELD(clock)},
	{0, "ready-file", "FILE", NULL, FIELD(ready_file), opt_set_string},
	{0},
};

const struct opt measure_report_opts[] = {
	{.include = measure_opts},
	MEASURE_NO_TRACE(FIELD(no_trace)),
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

int measure_set_threshold(const char *text, void *field, const struct opt *row, char *why,
			  size_t whylen)
{
	if (!strcmp(text, "auto")) {
		*(uint64_t *)field = 0;
		return 0;
	}
	return opt_set_time(text, field, row, why, whylen);
}

/* "f:10" FIFO, "r:5" round robin, "o:0" the normal policy: rtla's and chrt's letters. */
int measure_set_priority(const char *text, void *field, const struct opt *row, char *why,
			 size_t whylen)
{
	struct {
		int policy, priority;
	} *sched = field;
	int policy = text[0] == 'f'   ? SCHED_FIFO
		     : text[0] == 'r' ? SCHED_RR
		     : text[0] == 'o' ? SCHED_OTHER
				      : -1;
	long priority;

	(void)row;
	if (policy < 0 || text[1] != ':') {
		snprintf(why, whylen,
			 "'%s' is not a priority: use f:1 to f:99 (FIFO), r:1 to r:99 (round "
			 "robin) or o:0",
			 text);
		return -EINVAL;
	}
	if (parse_integer(text + 2, policy != SCHED_OTHER, policy == SCHED_OTHER ? 0 : 99,
			  &priority, why, whylen))
		return -EINVAL;
	sched->policy = policy;
	sched->priority = priority;
	return 0;
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

/* ---- choosing CPUs ---- */

static int choose_targets(struct measure *m, const struct host *host)
{
	struct cpus absent = m->cpus, allowed;
	char list[256], online[256];
	int lowest;

	if (!cpus_empty(&m->cpus)) {
		cpus_sub(&absent, &host->online);
		if (cpus_empty(&absent))
			return 0;
		return complain("CPU %s does not exist or is offline: give CPUs of %s (-c)",
				cpus_format(&absent, list, sizeof(list)),
				cpus_format(&host->online, online, sizeof(online)));
	}
	m->cpus = host->isolated;
	cpus_and(&m->cpus, &host->online);
	if (!cpus_empty(&m->cpus))
		return 0;
	cpus_allowed(&allowed);
	m->cpus = allowed;
	lowest = cpus_next(&m->cpus, 0);
	if (lowest >= 0)
		cpus_del(&m->cpus, lowest);
	if (cpus_empty(&m->cpus))
		return complain("only one CPU can be used, and it must stay free for housekeeping: "
				"culprit needs two");
	return 0;
}

/* Lets housekeeping run on the measured CPUs: above the samplers, and never without the time that
 * the kernel keeps for all others. */
static int share(struct measure *m, const struct host *host)
{
	FILE *f = fopen("/proc/sys/kernel/sched_rt_runtime_us", "re");
	long runtime = 0;

	if (f && fscanf(f, "%ld", &runtime) != 1)
		runtime = 0;
	if (f)
		fclose(f);
	m->housekeeping = host->online;
	if (m->sched.policy == SCHED_OTHER)
		return 0;
	if (runtime < 0)
		return complain(
			"with -P on all online CPUs and sched_rt_runtime_us -1 nothing else could "
			"run, and the machine could hang: leave out -P, or set "
			"kernel.sched_rt_runtime_us to 950000");
	if (m->sched.priority > MEASURE_SHARED_PRIORITY)
		return complain("to measure all online CPUs, culprit needs a higher priority than "
				"its samplers: give -P a priority of at most %d",
				MEASURE_SHARED_PRIORITY);
	return 0;
}

static int choose_housekeeping(struct measure *m, const struct host *host)
{
	struct cpus both = m->housekeeping, absent = m->housekeeping;
	char list[256], targets[256];

	cpus_and(&both, &m->cpus);
	cpus_sub(&absent, &host->online);
	if (!cpus_empty(&both))
		return complain("CPU %s cannot be measured and do housekeeping at once: give -c "
				"and -H different CPUs",
				cpus_format(&both, list, sizeof(list)));
	if (!cpus_empty(&absent))
		return complain("CPU %s does not exist or is offline: give others with -H",
				cpus_format(&absent, list, sizeof(list)));
	if (!cpus_empty(&m->housekeeping))
		return 0;
	m->housekeeping = host->online;
	cpus_sub(&m->housekeeping, &m->cpus);
	if (cpus_empty(&m->housekeeping) && m->may_share)
		return share(m, host);
	if (cpus_empty(&m->housekeeping))
		return complain("-c names all online CPUs (%s), and the machine could hang without "
				"one for housekeeping: leave one out of -c",
				cpus_format(&m->cpus, targets, sizeof(targets)));
	return 0;
}

int measure_choose(const struct measure *m, const struct host *host, unsigned *cpu, uint32_t need,
		   uint32_t want)
{
	struct cpus from = m->cpus;
	uint32_t n = 0;

	if (cpus_empty(&from)) {
		from = host->isolated;
		cpus_and(&from, &host->online);
		if (cpus_count(&from) < need)
			cpus_allowed(&from);
		if (cpus_count(&from) > need && cpus_empty(&host->isolated))
			cpus_del(&from, cpus_next(&from, 0));
	}
	for (int next = cpus_next(&from, 0); next >= 0 && n < want;
	     next = cpus_next(&from, next + 1))
		cpu[n++] = next;
	return n >= need ? (int)n
			 : complain("this needs %u CPUs, but only %u can be used: give more with "
				    "-c",
				    need, n);
}

static int check_place(const struct measure *m, const struct host *host)
{
	char caps[64];
	const char *why = "", *where = m->no_trace ? NULL : host_foreign();

	if (where)
		return complain("tracing is not possible here: %s; --no-trace needs no tracing",
				where);
	if (!m->no_trace) {
		host_missing_caps(caps, sizeof(caps));
		if (caps[0])
			return complain("tracing needs %s: run with sudo, or with --no-trace to "
					"measure without names",
					caps);
	}
	if (!m->clock && !machine_counter_stable(host->clocksource, &why))
		return complain("the time-stamp counter is not stable here (%s): use --clock", why);
	return 0;
}

int measure_check(struct measure *m, const struct host *host)
{
	return choose_targets(m, host) || choose_housekeeping(m, host) || check_place(m, host) ? -1
											       : 0;
}

struct collect_options measure_collect(const struct measure *m)
{
	return (struct collect_options){.targets = m->cpus,
					.housekeeping = m->housekeeping,
					.trace = !m->no_trace,
					.clock = m->clock,
					.policy = m->sched.policy,
					.priority = m->sched.priority,
					.threshold_ns = m->threshold_ns};
}

/* ---- the end ---- */

volatile int measure_stop;

static void on_signal(int sig)
{
	measure_stop = 1;
	signal(sig, SIG_DFL);
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

/* With SA_RESTART, as a report's lines that are being written must not fail. Sleeping calls return
 * at once all the same. */
void measure_catch_signals(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
	signal(SIGPIPE, SIG_IGN);
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

void measure_announce(const struct measure *m)
{
	FILE *f = m->ready_file ? fopen(m->ready_file, "we") : NULL;

	if (f)
		fclose(f);
}
