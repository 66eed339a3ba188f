#include "collect/collect.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "model/outside.h"
#include "collect/closure.h"
#include "collect/live_names.h"
#include "collect/probes.h"
#include "collect/sampler.h"
#include "collect/tick.h"

#define SETTLE_NS     (100 * NSEC_PER_MSEC) /* after attaching: what the kernel still has to tidy up */
#define LEARN_MAX_NS  (10 * NSEC_PER_SEC)
#define BARRIER_NS    (3 * NSEC_PER_MSEC)
#define STEAL_READ_NS (200 * NSEC_PER_MSEC)
#define NAP_NS        (2 * NSEC_PER_MSEC)

struct begin {
	uint64_t cursors;
	bool passed[LEVELS];
};

/* What collect knows of one target CPU. */
struct target {
	unsigned cpu;
	struct lane *lane;
	pid_t pid;
	struct cpu_state *state; /* NULL without probes */
	struct join *join;
	uint64_t steal_begin;                  /* clock ticks */
	uint64_t head, tail;                   /* of the lane: hiccups read, and accounted for */
	bool live;                             /* its window is open */
	bool told;                             /* its end has been entered in the view */
	uint64_t lost_before, unpaired_before; /* of the probes, at the window's start */
	double ns_per_tick;
	uint64_t base_tick, base_ns; /* an early reading of both clocks */
	uint64_t last_ns;            /* end of the newest hiccup */
	struct intervals *intervals; /* NULL: not wanted */
	struct closure *closure;     /* NULL without probes */
	bool closing;                /* its window has begun... */
	bool closed;                 /* ...and ended */
	struct begin window, closure_begin;
	uint64_t closure_end; /* record sequences then */
};

struct collect {
	struct view *view;
	const volatile int *stop;
	struct probes *probes;
	struct target *target;
	uint32_t ntargets;
	uint64_t misses_before;
	bool counter, real_time, want_intervals;
	bool began, stopped, ended;
	struct outside *outside;
	uint64_t steal_read_ns;   /* when the steal clocks were read last */
	struct live_names *names; /* NULL without probes */
};

static void nap(uint64_t ns)
{
	struct timespec t = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};

	nanosleep(&t, NULL);
}

/* ---- reading ---- */

/* How far behind a reading of the sequences a record lies. Modulo 2^16: to be asked only of records that are near it. */
static int16_t past(uint64_t cursors, const struct record *r)
{
	return r->seq - (uint16_t)(cursors >> 16 * r->level);
}

/* The window of something begins with a reading of the sequences: true for all records behind it. Each level remembers that it is. */
static bool behind(struct begin *b, const struct record *r)
{
	if (!b->passed[r->level])
		b->passed[r->level] = past(b->cursors, r) > 0;
	return b->passed[r->level];
}

/* The level whose next record ended first; of two at once the inner. -1: none is left. */
static int next_level(const struct cpu_state *s, const uint64_t *head, const uint64_t *tail)
{
	uint64_t best = UINT64_MAX;
	int level = -1;

	for (int i = LEVELS - 1; i >= 0; i--) {
		const struct record *r = &s->ring[i][tail[i] % RING_SLOTS];

		if (tail[i] != head[i] && r->end_ns < best) {
			best = r->end_ns;
			level = i;
		}
	}
	return level;
}

/* Moves what the probes wrote to the join (NULL: throws it away), up to the sequence `end`. */
static void read_records(struct target *t, struct join *join, uint64_t end, bool bounded)
{
	struct cpu_state *s = t->state;
	uint64_t head[LEVELS], tail[LEVELS], off_cpu;
	int level;

	if (!s)
		return;
	off_cpu = __atomic_load_n(&s->thread.start_ns, __ATOMIC_ACQUIRE);
	for (int i = 0; i < LEVELS; i++) {
		head[i] = __atomic_load_n(&s->head[i], __ATOMIC_ACQUIRE);
		tail[i] = s->tail[i];
	}
	while ((level = next_level(s, head, tail)) >= 0) {
		const struct record *r = &s->ring[level][tail[level]++ % RING_SLOTS];

		if (t->closing && behind(&t->closure_begin, r) && !(t->closed && past(t->closure_end, r) > 0))
			closure_count(t->closure, r);
		if (join && behind(&t->window, r) && !(bounded && past(end, r) > 0))
			join_record(join, r);
	}
	for (int i = 0; i < LEVELS; i++)
		__atomic_store_n(&s->tail[i], tail[i], __ATOMIC_RELEASE);
	if (join && join_waiting(join) > JOIN_WAIT_MAX)
		join_relieve(join, off_cpu);
}

static void split_cursors(uint64_t cursors, uint16_t *level)
{
	for (int i = 0; i < LEVELS; i++)
		level[i] = cursors >> 16 * i;
}

/* The longer the two readings lie apart the better the rate: to 1e-8 within seconds. */
static void refine_rate(struct target *t, uint64_t tick, uint64_t ns)
{
	if (ns > t->base_ns + 100 * NSEC_PER_MSEC)
		t->ns_per_tick = (double)(ns - t->base_ns) / (tick - t->base_tick);
}

static uint64_t to_ns(const struct target *t, uint64_t anchor_tick, uint64_t anchor_ns, uint64_t tick)
{
	return anchor_ns - (int64_t)((int64_t)(anchor_tick - tick) * t->ns_per_tick + 0.5);
}

static void convert(struct target *t, const struct lane_hiccup *l, struct hiccup *h)
{
	refine_rate(t, l->anchor_tick, l->anchor_ns);
	h->start_ns = to_ns(t, l->anchor_tick, l->anchor_ns, l->before);
	h->end_ns = to_ns(t, l->anchor_tick, l->anchor_ns, l->after);
	if (h->start_ns < t->last_ns) /* two anchors may differ by some nanoseconds */
		h->start_ns = t->last_ns < h->end_ns ? t->last_ns : h->end_ns - 1;
	t->last_ns = h->end_ns;
	split_cursors(l->cursors_before, h->before);
	split_cursors(l->cursors_after, h->after);
}

/* The next hiccup that has been read and not yet accounted for; NULL: there is none. */
static const struct account *next_hiccup(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	const struct account *a;
	struct hiccup h;

	if (t->tail == t->head)
		return NULL;
	convert(t, &t->lane->ring[t->tail % LANE_SLOTS], &h);
	atomic_store_explicit(&t->lane->tail, ++t->tail, memory_order_release);
	a = join_hiccup(t->join, &h);
	summary_add(&c->view->summary, i, a);
	if (a->outside_ns && a->lost) /* what is missing may be what took the time */
		summary_outside(&c->view->summary, i, a->outside_ns, "records lost");
	else if (a->outside_ns)
		outside_add(c->outside, i, a->start_ns, a->start_ns + a->duration_ns, a->outside_ns);
	return a;
}

const struct account *collect_next(struct collect *c, uint32_t *index)
{
	for (*index = 0; *index < c->ntargets; ++*index) {
		const struct account *a = next_hiccup(c, *index);

		if (a)
			return a;
	}
	return NULL;
}

const struct interval *collect_interval(struct collect *c, uint32_t *index)
{
	for (*index = 0; *index < c->ntargets; ++*index) {
		const struct interval *i =
			c->target[*index].intervals ? intervals_next(c->target[*index].intervals) : NULL;

		if (i)
			return i;
	}
	return NULL;
}

uint64_t collect_intervals_lost(const struct collect *c, uint32_t index)
{
	return c->target[index].intervals ? c->target[index].intervals->lost : 0;
}

static void drain(struct collect *c, uint32_t i)
{
	while (next_hiccup(c, i))
		;
}

/* Hiccups first, then records: all records of a hiccup that is visible are visible, too. */
static void read_target(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct lane *l = t->lane;
	bool done;

	drain(c, i);
	done = atomic_load_explicit(&l->phase, memory_order_acquire) == LANE_DONE;
	t->head = atomic_load_explicit(&l->head, memory_order_acquire);
	read_records(t, t->join, l->end_cursors, done);
}

static void read_all(struct collect *c)
{
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live)
			read_target(c, i);
}

static uint64_t ring_losses(const struct cpu_state *s)
{
	uint64_t lost = 0;

	for (int i = 0; i < LEVELS; i++)
		lost += __atomic_load_n(&s->lost[i], __ATOMIC_RELAXED);
	return lost;
}

/* ---- starting ---- */

static int pin_self(const struct cpus *set)
{
	cpu_set_t *mask = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	char list[256];
	int err = 0;

	if (!mask)
		return complain("out of memory");
	CPU_ZERO_S(size, mask);
	for (int cpu = cpus_next(set, 0); cpu >= 0; cpu = cpus_next(set, cpu + 1))
		CPU_SET_S(cpu, size, mask);
	if (sched_setaffinity(0, size, mask))
		err = complain("cannot move to the housekeeping CPUs %s (%s): choose others with -H",
			       cpus_format(set, list, sizeof(list)), strerror(errno));
	CPU_FREE(mask);
	/* A late reader loses records; this is our own process, and it mostly sleeps. */
	setpriority(PRIO_PROCESS, 0, -15);
	return err;
}

static int start_sampler(struct collect *c, uint32_t i, const struct collect_options *o)
{
	struct target *t = &c->target[i];
	struct sampler_options s = {.cpu = t->cpu,
				    .clock = o->clock,
				    .policy = o->policy,
				    .priority = o->priority,
				    .threshold_ns = o->threshold_ns,
				    .cursors = t->state ? &t->state->cursors : NULL,
				    .learn_edges = true};

	t->lane = lane_new();
	if (!t->lane)
		return complain("no memory for the sampler of CPU %u", t->cpu);
	t->pid = sampler_start(t->lane, &s);
	if (t->pid < 0)
		return complain("starting the sampler of CPU %u: %s", t->cpu, strerror(-t->pid));
	if (t->state)
		t->state->sampler = t->pid;
	return 0;
}

static int sampler_failed(const struct target *t)
{
	if (t->lane->error == EPERM)
		return complain("CPU %u: %s is not permitted: it needs CAP_SYS_NICE (run with sudo)", t->cpu,
				t->lane->what);
	if (t->lane->error == EINVAL)
		return complain(
			"CPU %u: %s failed: it is offline or outside this process's cpuset; choose others with -c",
			t->cpu, t->lane->what);
	return complain("CPU %u: %s failed: %s", t->cpu, t->lane->what, strerror(t->lane->error));
}

/* Waits until all samplers have reached a phase; records that come meanwhile are dropped. */
static int await(struct collect *c, int phase, uint64_t limit_ns)
{
	uint64_t deadline = tick_clock() + limit_ns;
	uint32_t ready;

	do {
		ready = 0;
		for (uint32_t i = 0; i < c->ntargets; i++) {
			struct target *t = &c->target[i];
			int now = atomic_load(&t->lane->phase);

			if (now == LANE_FAILED)
				return sampler_failed(t);
			if (waitpid(t->pid, NULL, WNOHANG) == t->pid) {
				t->pid = 0;
				return complain("the sampler of CPU %u died while starting", t->cpu);
			}
			ready += now == phase;
		}
		if (*c->stop)
			return -1;
		if (ready == c->ntargets)
			return 0;
		nap(NAP_NS);
	} while (tick_clock() < deadline);
	return complain("the samplers were not given their CPUs within %llu s: something of higher priority holds them",
			(unsigned long long)(limit_ns / NSEC_PER_SEC));
}

static void set_phase(struct collect *c, int phase)
{
	for (uint32_t i = 0; i < c->ntargets; i++)
		atomic_store(&c->target[i].lane->phase, phase);
}

/* The bounds of this CPU's edges, from the interruptions that its sampler made for itself. */
static int learn_edges(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct lane *l = t->lane;
	struct cpu_run *run = &c->view->cpu[i];
	struct edge_bounds all = {UINT64_MAX / 4, UINT64_MAX / 4};
	struct sources scratch;
	struct edge_times times;
	struct join *join;
	uint64_t head = atomic_load(&l->head);

	if (sources_init(&scratch))
		return complain("out of memory");
	join = join_new(&(struct join_options){.sources = &scratch, .bounds = all});
	if (!join || edge_times_init(&times)) {
		join_free(join);
		sources_free(&scratch);
		return complain("out of memory");
	}
	t->window = (struct begin){.cursors = l->start_cursors};
	read_records(t, join, l->end_cursors, true);
	for (uint64_t k = head > LANE_SLOTS ? head - LANE_SLOTS : 0; k < head; k++) {
		struct hiccup h;

		convert(t, &l->ring[k % LANE_SLOTS], &h);
		edge_times_add(&times, join_hiccup(join, &h));
	}
	atomic_store(&l->tail, head);
	t->head = t->tail = head;
	run->bounds = edge_times_bounds(&times, c->view->host.hypervisor[0]);
	run->edge_samples = times.pre_irq.count;
	join_free(join);
	edge_times_free(&times);
	sources_free(&scratch);
	return 0;
}

static int learn(struct collect *c)
{
	set_phase(c, LANE_LEARN);
	if (await(c, LANE_LEARNED, LEARN_MAX_NS))
		return -1;
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];
		struct lane *l = t->lane;

		t->ns_per_tick = l->ns_per_tick;
		t->base_tick = l->start_anchor;
		t->base_ns = l->start_ns;
		if (learn_edges(c, i))
			return -1;
		t->intervals = c->want_intervals ? calloc(1, sizeof(*t->intervals)) : NULL;
		if (c->want_intervals && !t->intervals)
			return complain("out of memory");
		c->view->cpu[i].threshold_ns = l->learn_limit * t->ns_per_tick + 0.5;
		t->join = join_new(&(struct join_options){.sources = &c->view->summary.cpu[i].sources,
							  .ticks = &c->view->summary.cpu[i].ticks,
							  .intervals = t->intervals,
							  .real_time = c->real_time,
							  .names = c->names ? live_names(c->names) : NULL,
							  .threshold_ns = c->view->cpu[i].threshold_ns,
							  .bounds = c->view->cpu[i].bounds});
		if (!t->join)
			return complain("out of memory");
	}
	return 0;
}

static void describe_run(struct view *v, const struct collect_options *o)
{
	snprintf(v->run.sampler, sizeof(v->run.sampler), "%s", o->clock ? "clock" : TICK_NAME);
	if (o->policy == SCHED_OTHER)
		snprintf(v->run.priority, sizeof(v->run.priority), "SCHED_OTHER");
	else
		snprintf(v->run.priority, sizeof(v->run.priority), "%s %d",
			 o->policy == SCHED_FIFO ? "SCHED_FIFO" : "SCHED_RR", o->priority);
	v->run.threshold_auto = !o->threshold_ns;
	v->run.traced = o->trace;
	v->run.cpus = o->targets;
	v->run.housekeeping = o->housekeeping;
}

static int name_targets(struct collect *c, const struct collect_options *o)
{
	struct view *v = c->view;
	unsigned *cpus;
	int err;

	c->ntargets = cpus_count(&o->targets);
	c->target = calloc(c->ntargets, sizeof(*c->target));
	v->cpu = calloc(c->ntargets, sizeof(*v->cpu));
	cpus = calloc(c->ntargets, sizeof(*cpus));
	if (!c->target || !v->cpu || !cpus) {
		free(cpus);
		return complain("out of memory");
	}
	for (int cpu = cpus_next(&o->targets, 0), i = 0; cpu >= 0; cpu = cpus_next(&o->targets, cpu + 1))
		cpus[i++] = cpu;
	for (uint32_t i = 0; i < c->ntargets; i++)
		c->target[i].cpu = cpus[i];
	err = summary_init(&v->summary, cpus, c->ntargets);
	free(cpus);
	if (err)
		return complain("out of memory");
	c->outside = outside_new(&v->summary, o->trace ? "hardware or hypervisor" : "not traced");
	return c->outside ? 0 : complain("out of memory");
}

/* The samplers are forked before anything is attached: they inherit the shared memory and no file descriptor that holds a program. */
static int start_all(struct collect *c, const struct collect_options *o)
{
	if (name_targets(c, o) || pin_self(&o->housekeeping))
		return -1;
	if (o->trace) {
		c->probes = probes_open(&o->targets, o->osnoise);
		if (!c->probes)
			return -1;
		c->view->run.not_observed = probes_not_observed(c->probes, &c->view->run.nnot_observed);
	}
	for (uint32_t i = 0; i < c->ntargets; i++) {
		c->target[i].state = c->probes ? probes_state(c->probes, i) : NULL;
		if (start_sampler(c, i, o))
			return -1;
	}
	if (await(c, LANE_READY, LEARN_MAX_NS))
		return -1;
	if (c->probes) {
		if (probes_attach(c->probes))
			return -1;
		c->names = live_names_new(c->probes); /* late: our own programs are symbols, too */
		if (!c->names)
			return complain("out of memory");
		c->view->run.symbols_hidden = live_names_hidden(c->names);
	}
	nap(SETTLE_NS);
	if (c->probes)
		probes_gate(c->probes, true);
	return learn(c);
}

struct collect *collect_open(const struct collect_options *options, struct view *view, const volatile int *stop)
{
	struct collect *c = calloc(1, sizeof(*c));

	if (!c) {
		complain("out of memory");
		return NULL;
	}
	c->view = view;
	c->stop = stop;
	c->counter = !options->clock;
	c->want_intervals = options->intervals;
	c->real_time = options->policy != SCHED_OTHER;
	describe_run(view, options);
	if (!start_all(c, options))
		return c;
	collect_close(c);
	return NULL;
}

/* The eighth number of a CPU's line in /proc/stat, in clock ticks (Documentation/filesystems/proc.rst). */
static void read_steal(struct collect *c)
{
	uint64_t tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");
	char line[512];

	c->steal_read_ns = tick_clock();
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long steal;
		unsigned cpu;

		if (sscanf(line, "cpu%u %*u %*u %*u %*u %*u %*u %*u %llu", &cpu, &steal) != 2)
			continue;
		for (uint32_t i = 0; i < c->ntargets; i++) {
			struct cpu_run *run = &c->view->cpu[i];

			if (c->target[i].cpu != cpu)
				continue;
			if (!run->steal_known)
				c->target[i].steal_begin = steal;
			run->steal_known = true;
			run->steal_ns = (steal - c->target[i].steal_begin) * tick_ns;
			outside_steal(c->outside, i, steal * tick_ns);
		}
	}
	if (f)
		fclose(f);
}

/* ---- the window ---- */

int collect_begin(struct collect *c)
{
	uint64_t begin = tick_clock() + BARRIER_NS;
	struct timespec now;
	struct tm utc;

	for (uint32_t i = 0; i < c->ntargets; i++) {
		read_records(&c->target[i], NULL, 0, false); /* room for the window */
		c->target[i].lane->begin_ns = begin;
		atomic_store(&c->target[i].lane->phase, LANE_MEASURE);
	}
	for (uint32_t i = 0; i < c->ntargets; i++)
		while (!atomic_load_explicit(&c->target[i].lane->started, memory_order_acquire)) {
			if (tick_clock() > begin + LEARN_MAX_NS)
				return complain("the sampler of CPU %u was not given its CPU", c->target[i].cpu);
			nap(NAP_NS / 4);
		}
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];
		uint16_t cursor[LEVELS];

		t->window = (struct begin){.cursors = t->lane->start_cursors};
		split_cursors(t->lane->start_cursors, cursor);
		join_start(t->join, cursor);
		t->last_ns = t->lane->start_ns;
		t->live = true;
		if (t->state) {
			t->lost_before = ring_losses(t->state);
			t->unpaired_before = t->state->unpaired;
		}
	}
	read_steal(c);
	if (c->probes)
		c->misses_before = probes_recursion_misses(c->probes);
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		t->closure = t->state ? closure_new(t->cpu, t->pid) : NULL;
		if (t->closure)
			t->closing = closure_read(t->closure, t->state, &t->closure_begin.cursors);
		read_all(c); /* that took a while */
	}
	c->view->run.started_ns = c->target[0].lane->start_ns;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(c->view->run.started, sizeof(c->view->run.started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	c->began = true;
	return 0;
}

/* Enters the end of a CPU's window in the view. end_ns: when it ended. */
static void conclude(struct collect *c, uint32_t i, uint64_t end_ns)
{
	struct target *t = &c->target[i];
	struct lane *l = t->lane;
	struct cpu_run *run = &c->view->cpu[i];

	drain(c, i);
	t->live = false;
	run->observed_ns = end_ns - l->start_ns;
	run->counts = *join_counts(t->join);
	run->smi_known = l->smi_known;
	run->smi_count = l->smi_count;
	if (t->state) {
		uint64_t lost = ring_losses(t->state) - t->lost_before;

		if (lost > run->counts.lost) /* the sequence counts modulo 2^16 */
			run->counts.lost = lost;
		run->unpaired = t->state->unpaired - t->unpaired_before;
	}
	run->hiccups_lost = l->lost;
	run->hiccups_lost_ns = l->lost_ticks * t->ns_per_tick;
	run->bookkeeping_ns = l->busy_ticks * t->ns_per_tick;
	run->loop_count = l->loop_count;
	if (l->loop_count) {
		run->loop_min_ns = l->loop_min * t->ns_per_tick;
		run->loop_mean_ns = (double)(l->end - l->start - l->away_ticks) * t->ns_per_tick / l->loop_count;
	}
	for (int k = 0; k < LOOP_LENGTHS; k++) {
		run->loop_above_ns[k] = (1 << (5 + k)) * t->ns_per_tick;
		run->loop_above[k] = l->loop_above[k];
	}
	if (t->closed)
		closure_compare(t->closure, run, live_irq_actions, c->names);
	if (c->counter)
		c->view->host.tsc_khz = 1e6 / t->ns_per_tick + 0.5;
}

/* A sampler that is no longer there, or no longer where it belongs. */
static void check_alive(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct cpu_run *run = &c->view->cpu[i];

	if (waitpid(t->pid, NULL, WNOHANG) == t->pid) {
		t->pid = 0;
		read_target(c, i);
		run->ended = "its sampler was killed";
		conclude(c, i, t->last_ns);
	} else if (atomic_load_explicit(&t->lane->phase, memory_order_acquire) == LANE_DONE) {
		read_target(c, i);
		run->ended = "the kernel moved its sampler to another CPU (taken offline?)";
		conclude(c, i, to_ns(t, t->lane->end_anchor, t->lane->end_ns, t->lane->end));
	}
}

uint32_t collect_poll(struct collect *c)
{
	uint32_t live = 0;

	for (uint32_t i = 0; i < c->ntargets; i++) {
		if (!c->target[i].live)
			continue;
		read_target(c, i);
		check_alive(c, i);
		live += c->target[i].live;
	}
	if (tick_clock() - c->steal_read_ns > STEAL_READ_NS)
		read_steal(c);
	return live;
}

/* Waits until a sampler has stopped; it goes on being read, as it may have much to tell. */
static void await_stop(struct collect *c, uint32_t i, uint64_t deadline)
{
	struct target *t = &c->target[i];

	while (atomic_load_explicit(&t->lane->phase, memory_order_acquire) != LANE_DONE && tick_clock() < deadline) {
		if (waitpid(t->pid, NULL, WNOHANG) == t->pid) {
			t->pid = 0;
			break;
		}
		nap(NAP_NS / 4);
	}
}

void collect_stop(struct collect *c)
{
	if (!c->began || c->stopped)
		return;
	c->stopped = true;
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		if (t->live && t->closing)
			t->closed = closure_read(t->closure, t->state, &t->closure_end);
		read_all(c);
	}
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live) {
			atomic_store(&c->target[i].lane->stop, 1);
			atomic_store(&c->target[i].lane->limit, 0);
		}
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live) {
			await_stop(c, i, tick_clock() + LEARN_MAX_NS);
			read_target(c, i);
		}
	if (c->probes)
		probes_gate(c->probes, false);
}

void collect_end(struct collect *c)
{
	collect_stop(c);
	if (!c->began || c->ended)
		return;
	c->ended = true;
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		if (!t->live)
			continue;
		drain(c, i);
		if (atomic_load_explicit(&t->lane->phase, memory_order_acquire) == LANE_DONE) {
			conclude(c, i, to_ns(t, t->lane->end_anchor, t->lane->end_ns, t->lane->end));
		} else {
			c->view->cpu[i].ended = "its sampler did not come back to stop";
			conclude(c, i, t->last_ns);
		}
	}
	read_steal(c);
	outside_finish(c->outside);
	if (c->probes)
		c->view->cpu[0].recursion_misses = probes_recursion_misses(c->probes) - c->misses_before;
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->view->cpu[i].observed_ns > c->view->run.duration_ns)
			c->view->run.duration_ns = c->view->cpu[i].observed_ns;
}

void collect_close(struct collect *c)
{
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		if (t->pid > 0) {
			kill(t->pid, SIGKILL);
			waitpid(t->pid, NULL, 0);
		}
	}
	c->view->run.not_observed = NULL;
	c->view->run.nnot_observed = 0;
	probes_close(c->probes);
	for (uint32_t i = 0; i < c->ntargets; i++) {
		lane_free(c->target[i].lane);
		join_free(c->target[i].join);
		closure_free(c->target[i].closure);
		free(c->target[i].intervals);
	}
	live_names_free(c->names);
	outside_free(c->outside);
	free(c->target);
	free(c);
}
