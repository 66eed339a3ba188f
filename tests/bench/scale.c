/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up machines of any number of CPUs: what each of them costs culprit's process, and what the
 * others cost a sampler. */
#include "scale.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "collect/counter.h"
#include "collect/target.h"
#include "model/counters.h"

#define IRQS         3000
#define VISIT_NS     10000000ULL /* between two visits of the collector */
#define VISITS       100
#define RECORDS_EACH 100 /* records of a CPU in that time: 10,000 a second */
#define PER_GAP      2   /* records of one gap: a timer's interrupt and its function */
#define GAP_EACH     (VISIT_NS * PER_GAP / RECORDS_EACH)
#define WINDOW_NS    1000000000ULL

static double cpu_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* ---- a sampler's own memory ---- */

static long own_kb(pid_t pid)
{
	char path[64], line[128];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Anonymous: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

/* As a start does it: all CPUs' shared memory is there, then one sampler, then all summaries. */
static long bench_memory(unsigned cpu, uint32_t ncpus)
{
	struct sampler_shm **shm = calloc(ncpus, sizeof(struct sampler_shm *));
	unsigned *cpus = calloc(ncpus, sizeof(*cpus));
	struct view *view = calloc(1, sizeof(*view));
	struct cpus targets;
	struct probes *probes;
	long kb = -1;

	cpus_clear(&targets);
	for (uint32_t i = 0; i < ncpus; i++) {
		cpus_add(&targets, i);
		cpus[i] = i;
		shm[i] = sampler_shm_new();
	}
	probes = probes_new(&targets, NULL, PROBES_FOR_RECORDS);
	if (probes) {
		struct sampler_options o = {
			.shm = shm[0],
			.cpu = cpu,
			.cursors = (const cursors_t *)probes_state(probes, 0)->cursor};
		pid_t pid;

		probes_lend(probes, 0, true);
		pid = sampler_start(&o, 1);

		if (pid > 0 && !view_cpus(view, cpus, ncpus)) {
			while (atomic_load(&shm[0]->phase) == SAMPLER_INIT)
				nap(NAP_NS);
			kb = own_kb(pid);
		}
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	}
	probes_close(probes);
	for (uint32_t i = 0; i < ncpus; i++)
		sampler_shm_free(shm[i]);
	view_free(view);
	free(view);
	free(cpus);
	free(shm);
	return kb;
}

/* ---- start ---- */

static double ms_since(double from)
{
	return (cpu_seconds(CLOCK_MONOTONIC) - from) * 1000;
}

/* ms until all samplers are forked, and the memory of all CPUs is there: what a start takes beside
 * what does not depend on their number, or happens on each of them at once. */
static double bench_start(unsigned cpu, uint32_t ncpus)
{
	unsigned *cpus = calloc(ncpus, sizeof(*cpus));
	struct view *view = calloc(1, sizeof(*view));
	double from = cpu_seconds(CLOCK_MONOTONIC), ms;
	struct cpus targets;
	struct probes *probes;

	cpus_clear(&targets);
	for (uint32_t i = 0; i < ncpus; i++)
		cpus_add(&targets, cpus[i] = i);
	probes = probes_new(&targets, NULL, PROBES_FOR_RECORDS);
	ms = ms_since(from);
	for (uint32_t i = 0; probes && i < ncpus; i++) {
		struct sampler_shm *shm;
		struct rings *rings;
		struct sampler_options o = {
			.cpu = cpu, .cursors = (const cursors_t *)probes_state(probes, i)->cursor};
		pid_t pid;

		from = cpu_seconds(CLOCK_MONOTONIC);
		o.shm = shm = sampler_shm_new();
		probes_lend(probes, i, true);
		pid = sampler_start(&o, 1);
		probes_lend(probes, i, false);
		rings = rings_new(probes_state(probes, i));
		ms += ms_since(from);
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		rings_free(rings);
		sampler_shm_free(shm);
	}
	from = cpu_seconds(CLOCK_MONOTONIC);
	if (view_cpus(view, cpus, ncpus))
		ms = -1;
	ms += ms_since(from);
	probes_close(probes);
	view_free(view);
	free(view);
	free(cpus);
	return ms;
}

/* ---- closure ---- */

static char *table(uint32_t ncpus, unsigned more)
{
	char *text = malloc((size_t)ncpus * (IRQS + 1) * 11 + IRQS * 64), *at = text;

	for (unsigned cpu = 0; cpu < ncpus; cpu++)
		at += sprintf(at, " %6sCPU%u", "", cpu);
	for (unsigned irq = 0; irq < IRQS; irq++) {
		at += sprintf(at, "\n%4u:", irq);
		for (unsigned cpu = 0; cpu < ncpus; cpu++)
			at += sprintf(at, " %10u", irq % ncpus == cpu ? 1000000 + more : 0);
		at += sprintf(at, "  IR-PCI-MSI %u-edge      eth0-TxRx-%u", irq, irq);
	}
	return text;
}

static unsigned one_handler(void *ctx, uint32_t irq)
{
	(void)ctx;
	(void)irq;
	return 1;
}

/* ms for both readings of all CPUs and for comparing them, without what the kernel takes. */
static double bench_closure(uint32_t ncpus)
{
	char *begin = table(ncpus, 0), *end = table(ncpus, 5);
	unsigned *cpus = calloc(ncpus, sizeof(*cpus));
	struct counters *c;
	double from;

	for (uint32_t i = 0; i < ncpus; i++)
		cpus[i] = i;
	from = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
	c = counters_new(cpus, ncpus);
	counters_table(c, READING_BEGIN, "", begin, strlen(begin));
	counters_table(c, READING_END, "", end, strlen(end));
	for (uint32_t i = 0; i < ncpus; i++) {
		struct cpu run = {0};

		counters_compare(c, i, 0, &run, one_handler, NULL);
		cpu_clear(&run);
	}
	from = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - from;
	counters_free(c);
	free(cpus);
	free(begin);
	free(end);
	return from * 1e3;
}

/* ---- the collector ---- */

/* A thread on another CPU writes as probes and samplers do, and takes turns with the collector. */
struct feeder {
	struct collect *c;
	unsigned cpu;
	uint64_t gaps; /* gaps of each CPU, so far */
	_Atomic int turn;
	bool over;
};

static void put(struct cpu_state *s, struct record r)
{
	uint32_t at = ring_base(r.level) + s->own.place[r.level];

	memcpy(&s->ring[at], &r, sizeof(s->ring[at]));
	s->own.place[r.level] = ring_next(r.level, s->own.place[r.level], 1);
	s->cursor[r.level]++;
	__atomic_store_n(&s->head[r.level], s->head[r.level] + 1, __ATOMIC_RELEASE);
}

/* One timer interrupt, 3 us long, and the hiccup that it makes. */
static void make_gap(struct target *t, uint64_t gap)
{
	uint64_t start = WINDOW_NS + 1000 + gap * GAP_EACH + t->index * 10;
	struct sampler_shm *l = t->shm;
	uint64_t head = atomic_load(&l->head);
	struct shm_hiccup *h = &l->ring[head % SHM_SLOTS];

	*h = (struct shm_hiccup){.before = start,
				 .after = start + 3000,
				 .anchor_tick = start + 3000,
				 .anchor_ns = start + 3000,
				 .cursors_before = *(cursors_t *)t->state->cursor};
	put(t->state, (struct record){.start_ns = start + 500,
				      .end_ns = start + 500,
				      .arg = 0xffffffff81000000 + 16 * (gap % 5),
				      .kind = RECORD_MARK,
				      .mark = MARK_HRTIMER,
				      .level = LEVEL_IRQ});
	put(t->state, (struct record){.start_ns = start + 200,
				      .end_ns = start + 2800,
				      .id = VECTOR_LOCAL_TIMER,
				      .kind = RECORD_VECTOR,
				      .level = LEVEL_IRQ});
	h->cursors_after = *(cursors_t *)t->state->cursor;
	atomic_store_explicit(&l->head, head + 1, memory_order_release);
}

static void *feed(void *ctx)
{
	struct feeder *f = ctx;

	cpus_run_on_one(f->cpu);
	for (;;) {
		while (!atomic_load(&f->turn))
			sched_yield();
		if (f->over)
			return NULL;
		for (uint32_t i = 0; i < f->c->ntargets; i++)
			for (uint64_t k = 0; k < RECORDS_EACH / PER_GAP; k++)
				make_gap(&f->c->target[i], f->gaps + k);
		f->gaps += RECORDS_EACH / PER_GAP;
		atomic_store(&f->turn, 0);
	}
}

static const char *symbol(void *ctx, uint64_t address)
{
	static const char *const names[] = {"tick_nohz_handler", "hrtimer_wakeup", "a", "b", "c"};

	(void)ctx;
	return names[address / 16 % 5];
}

static int make_target(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];

	*t = (struct target){.cpu = i, .index = i, .ns_per_tick = 1, .live = true};
	t->shm = sampler_shm_new();
	t->state = mmap(NULL, sizeof(*t->state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	t->rings = t->state == MAP_FAILED ? NULL : rings_new(t->state);
	if (!t->shm || !t->rings)
		return -1;
	t->shm->start_ns = t->last_ns = WINDOW_NS;
	c->view->cpu[i].threshold_ns = 500;
	c->view->cpu[i].bounds = (struct edge_bounds){1000, 5000};
	session_feed(c->session, &(struct event){.type = EVENT_START, .index = i});
	return 0;
}

/* Share of one CPU, in percent, that the collector takes for what comes in a second. */
static double drain(struct collect *c, unsigned cpu)
{
	struct feeder f = {.c = c, .cpu = cpu};
	double used = 0, from;
	pthread_t thread;

	if (pthread_create(&thread, NULL, feed, &f))
		return -1;
	cpus_run_on_one(cpu ? cpu - 1 : 1);
	for (int visit = 0; visit < VISITS; visit++) {
		atomic_store(&f.turn, 1);
		while (atomic_load(&f.turn))
			sched_yield();
		from = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
		read_all(c);
		used += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - from;
	}
	f.over = true;
	atomic_store(&f.turn, 1);
	pthread_join(thread, NULL);
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->view->cpu[i].hiccups.count != VISITS * RECORDS_EACH / PER_GAP)
			return -1;
	return used / (VISITS * VISIT_NS / 1e9) * 100;
}

static double bench_collector(unsigned cpu, uint32_t ncpus)
{
	struct view *view = calloc(1, sizeof(*view));
	unsigned *cpus = calloc(ncpus, sizeof(*cpus));
	struct collect c = {.view = view, .ntargets = ncpus, .began = true};
	struct names names = {.symbol = symbol};
	double percent = 0;

	for (uint32_t i = 0; i < ncpus; i++)
		cpus[i] = i;
	c.target = calloc(ncpus, sizeof(*c.target));
	view_cpus(view, cpus, ncpus);
	c.session = session_new(&(struct session_options){.view = view, .names = &names});
	for (uint32_t i = 0; i < ncpus && percent >= 0; i++)
		percent = make_target(&c, i);
	if (percent >= 0)
		percent = drain(&c, cpu);
	session_free(c.session);
	for (uint32_t i = 0; i < ncpus; i++) {
		sampler_shm_free(c.target[i].shm);
		rings_free(c.target[i].rings);
		if (c.target[i].rings)
			munmap(c.target[i].state, sizeof(*c.target[i].state));
	}
	view_free(view);
	free(view);
	free(cpus);
	free(c.target);
	return percent;
}

int bench_scale(unsigned cpu, uint32_t ncpus)
{
	long kb = bench_memory(cpu, ncpus);
	double start = bench_start(cpu, ncpus), closure = bench_closure(ncpus),
	       collector = bench_collector(cpu, ncpus);

	printf("%u\t%.1f\t%ld\t%.1f\t%.1f\n", ncpus, start, kb, closure, collector);
	return start < 0 || kb < 0 || collector < 0 ? -1 : 0;
}
