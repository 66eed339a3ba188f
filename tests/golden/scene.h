/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions made by hand, and their recordings: hiccups with the records in them, without a machine.
 * The same calls make the same file.
 *
 *   scene_init(&s, "web-07", cpus, ncpus);
 *   scene_begin(&s, "file.rec");
 *   scene_gap(&s, 0, at_ns);                  from here on times count from the gap's begin
 *   scene_put(&s, vector(VECTOR_LOCAL_TIMER, 300, 2400));
 *   scene_end(&s, 3000);
 *   scene_finish(&s);                         s.view is what a live run would report
 */
#ifndef CULPRIT_TESTS_SCENE_H
#define CULPRIT_TESTS_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/session.h"
#include "recording/write.h"

#define SCENE_CPUS    8192
#define SCENE_WORDS   1024
#define SCENE_STARTED 5000000000ULL
#define SCENE_TEXT    0xffffffff81000000ULL /* begin of kernel text */

struct scene {
	struct view view;
	struct session *session;
	struct recorder *recorder; /* NULL: not recorded */
	const struct tap *also;    /* hears what the recorder hears; NULL: none */
	struct tap tap;
	struct names names;
	uint32_t cursor[SCENE_CPUS][LEVELS];
	/* The hiccup in hand. */
	uint32_t index;
	uint64_t start_ns;
	uint32_t before[LEVELS];
	/* Functions by address, IRQs by number, stacks by id: "inner;outer". */
	const char *function[SCENE_WORDS], *irq[SCENE_WORDS], *affinity[SCENE_WORDS];
	const char *frame[SCENE_WORDS][STACK_FRAMES];
	int nframes[SCENE_WORDS];
	uint32_t functions, stacks;
	struct recorder_stats stats;
};

/* ---- names ---- */

static inline uint64_t scene_function(struct scene *s, const char *name)
{
	uint32_t i = 0;

	while (i < s->functions && strcmp(s->function[i], name) != 0)
		i++;
	if (i == SCENE_WORDS)
		abort();
	if (i == s->functions)
		s->function[s->functions++] = name;
	return SCENE_TEXT + 16 * i;
}

static inline int32_t scene_stack(struct scene *s, const char *const *frame, int n)
{
	if (s->stacks == SCENE_WORDS || n > STACK_FRAMES)
		abort();
	memcpy(s->frame[s->stacks], frame, n * sizeof(*frame));
	s->nframes[s->stacks] = n;
	return s->stacks++;
}

static inline const char *scene_name_irq(void *ctx, uint32_t irq)
{
	return irq < SCENE_WORDS ? ((struct scene *)ctx)->irq[irq] : NULL;
}

static inline const char *scene_name_affinity(void *ctx, uint32_t irq)
{
	return irq < SCENE_WORDS ? ((struct scene *)ctx)->affinity[irq] : NULL;
}

static inline const char *scene_name_symbol(void *ctx, uint64_t address)
{
	const struct scene *s = ctx;
	uint64_t i = (address - SCENE_TEXT) / 16;

	return i < s->functions ? s->function[i] : "[unknown]";
}

static inline int scene_name_stack(void *ctx, int32_t id, const char **frame)
{
	const struct scene *s = ctx;

	if (id < 0 || (uint32_t)id >= s->stacks)
		return 0;
	memcpy(frame, s->frame[id], s->nframes[id] * sizeof(*frame));
	return s->nframes[id];
}

/* ---- the session ---- */

static inline void scene_tap(void *ctx, const struct event *e)
{
	const struct scene *s = ctx;

	if (s->recorder)
		recorder_tap(s->recorder)->event(recorder_tap(s->recorder)->ctx, e);
	if (s->also)
		s->also->event(s->also->ctx, e);
}

static inline void scene_init(struct scene *s, const char *hostname, const unsigned *cpus,
			      uint32_t ncpus)
{
	struct view *v = &s->view;

	memset(s, 0, sizeof(*s));
	strcpy(v->host.hostname, hostname);
	strcpy(v->host.kernel, "6.12.9");
	strcpy(v->host.arch, "x86_64");
	strcpy(v->host.cpu_model, "Example 9000");
	strcpy(v->host.clocksource, "tsc");
	strcpy(v->host.cmdline, "quiet isolcpus=managed_irq,domain,3 nohz_full=3");
	v->host.tsc_khz = 2400000;
	cpus_add(&v->host.isolated, 3);
	cpus_add(&v->host.nohz_full, 3);
	for (unsigned cpu = 0; cpu < 4; cpu++)
		cpus_add(&v->host.online, cpu);
	strcpy(v->run.sampler, "tsc");
	strcpy(v->run.priority, "SCHED_OTHER");
	strcpy(v->run.started, "2026-03-01T12:00:00.000000000Z");
	v->run.started_ns = SCENE_STARTED;
	v->run.duration_ns = 1000000000;
	v->run.threshold_auto = v->run.traced = true;
	cpus_add(&v->run.housekeeping, 0);
	if (view_cpus(v, cpus, ncpus))
		abort();
	for (uint32_t i = 0; i < ncpus; i++) {
		struct cpu *c = &v->cpu[i];

		cpus_add(&v->run.cpus, cpus[i]);
		c->threshold_ns = 200;
		c->bounds = (struct edge_bounds){.irq_ns = 900, .thread_ns = 1900};
		c->edge_seen = (struct edge_seen){100, 310, 480, 290, 420};
	}
	s->tap = (struct tap){s, scene_tap};
	s->names = (struct names){s, scene_name_irq, scene_name_affinity, scene_name_symbol,
				  scene_name_stack};
}

/* path NULL: without a recording. */
static inline void scene_begin(struct scene *s, const char *path)
{
	struct view *v = &s->view;
	struct cpus here;

	cpus_clear(&here); /* the writing process stays where it is */
	if (path) {
		s->recorder = recorder_open(path, true, &here);
		if (!s->recorder || recorder_head(s->recorder, v))
			exit(1);
		recorder_begun(s->recorder, v);
	}
	s->session = session_new(
		&(struct session_options){.view = v, .names = &s->names, .tap = &s->tap});
	if (!s->session)
		abort();
	for (uint32_t i = 0; i < v->ncpus; i++)
		session_feed(s->session, &(struct event){.type = EVENT_START, .index = i});
}

static inline void scene_gap(struct scene *s, uint32_t index, uint64_t at_ns)
{
	s->index = index;
	s->start_ns = SCENE_STARTED + at_ns;
	memcpy(s->before, s->cursor[index], sizeof(s->before));
}

/* Inner ones first: in the order of their ends. */
static inline void scene_put(struct scene *s, struct record r)
{
	r.start_ns += s->start_ns;
	r.end_ns += s->start_ns;
	r.seq = ++s->cursor[s->index][r.level];
	session_feed(s->session,
		     &(struct event){.type = EVENT_RECORD, .index = s->index, .record = &r});
}

static inline void scene_end(struct scene *s, uint64_t duration_ns)
{
	struct hiccup h = {.start_ns = s->start_ns, .end_ns = s->start_ns + duration_ns};

	memcpy(h.before, s->before, sizeof(h.before));
	memcpy(h.after, s->cursor[s->index], sizeof(h.after));
	session_feed(s->session,
		     &(struct event){.type = EVENT_HICCUP, .index = s->index, .hiccup = &h});
}

static inline void scene_steal(struct scene *s, uint32_t index, uint64_t ns)
{
	session_feed(s->session, &(struct event){.type = EVENT_STEAL, .index = index, .ns = ns});
}

/* Ends the window; the caller may fill in each CPU's counters before. */
static inline int scene_finish(struct scene *s)
{
	struct view *v = &s->view;
	int err = 0;

	session_finish(s->session);
	for (uint32_t i = 0; i < v->ncpus; i++) {
		struct cpu *c = &v->cpu[i];

		if (!c->observed_ns && !v->run.watch)
			c->observed_ns = v->run.duration_ns;
		c->counts = *session_counts(s->session, i);
		if (c->loop_count || v->run.watch)
			continue;
		c->loop_count = 100000000;
		c->loop_min_ns = 8.5;
		c->loop_mean_ns = 9.7;
		c->loop_above_ns[0] = 10;
		c->loop_above[0] = 4321;
		c->loop_above_ns[1] = 1000;
	}
	session_free(s->session);
	s->session = NULL;
	view_incomplete(v); /* as a live run does at its end */
	if (s->recorder) {
		err = recorder_end(s->recorder, v);
		s->stats = recorder_stats(s->recorder);
	}
	recorder_close(s->recorder);
	s->recorder = NULL;
	return err;
}

/* ---- records ---- */

static inline struct record vector(uint32_t id, uint64_t start, uint64_t end)
{
	return (struct record){.kind = RECORD_VECTOR,
			       .level = LEVEL_IRQ,
			       .id = id,
			       .arg = 236 + id,
			       .start_ns = start,
			       .end_ns = end};
}

static inline struct record irq(uint32_t id, uint64_t handler, uint64_t start, uint64_t end)
{
	return (struct record){.kind = RECORD_IRQ,
			       .level = LEVEL_IRQ,
			       .id = id,
			       .arg = handler,
			       .start_ns = start,
			       .end_ns = end};
}

static inline struct record softirq(uint32_t id, uint64_t start, uint64_t end)
{
	return (struct record){.kind = RECORD_SOFTIRQ,
			       .level = LEVEL_SOFTIRQ,
			       .id = id,
			       .start_ns = start,
			       .end_ns = end};
}

static inline struct record nmi(uint64_t handler, uint64_t start, uint64_t end)
{
	return (struct record){.kind = RECORD_NMI,
			       .level = LEVEL_NMI,
			       .arg = handler,
			       .start_ns = start,
			       .end_ns = end};
}

static inline struct record named(struct record r, const char *name)
{
	memset(r.name, 0, sizeof(r.name));
	for (size_t i = 0; i < sizeof(r.name) && name[i]; i++)
		r.name[i] = name[i];
	return r;
}

static inline struct record thread(uint32_t tid, const char *comm, uint64_t start, uint64_t end)
{
	return named((struct record){.kind = RECORD_THREAD,
				     .level = LEVEL_THREAD,
				     .id = tid,
				     .arg = tid,
				     .prio = 120,
				     .start_ns = start,
				     .end_ns = end},
		     comm);
}

static inline struct record kthread(uint32_t tid, const char *comm, uint64_t start, uint64_t end)
{
	struct record r = thread(tid, comm, start, end);

	r.flags = RECORD_KTHREAD;
	return r;
}

/* An instant of an interval of this level: after records that ended before it, before those around
 * it. */
static inline struct record mark(uint8_t level, uint8_t kind, uint64_t function, uint64_t at)
{
	return (struct record){.kind = RECORD_MARK,
			       .level = level,
			       .mark = kind,
			       .arg = function,
			       .start_ns = at,
			       .end_ns = at};
}

static inline struct record asked(struct record m, uint32_t tid, const char *comm, uint16_t cpu,
				  int32_t stack)
{
	m.flags |= RECORD_ORIGIN;
	m.id = tid;
	m.origin_cpu = cpu;
	m.stack = stack;
	return named(m, comm);
}

static inline struct record instant(uint8_t kind, uint8_t level, uint32_t id, uint64_t arg,
				    const char *name, uint64_t at)
{
	return named((struct record){.kind = kind,
				     .level = level,
				     .id = id,
				     .arg = arg,
				     .start_ns = at,
				     .end_ns = at},
		     name);
}

#endif
