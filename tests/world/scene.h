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
#include "records.h"
#include "recording/write.h"
#include "world.h"

#define SCENE_CPUS  8192
#define SCENE_WORDS 1024
#define SCENE_TEXT  0xffffffff81000000ULL /* begin of kernel text */

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
	const char *function[SCENE_WORDS], *irq[SCENE_WORDS], *affinity[SCENE_WORDS],
		*device[SCENE_WORDS];
	const char *owner[SCENE_WORDS]; /* by number of the control group: see owner_read() */
	/* Command lines by process; NULL: the end. */
	struct scene_command {
		uint32_t process;
		const char *text;
	} command[SCENE_WORDS];
	const char *frame[SCENE_WORDS][STACK_FRAMES];
	int nframes[SCENE_WORDS];
	uint32_t user[SCENE_WORDS];     /* number of the user stack that goes with a stack's id */
	const char *calls[SCENE_WORDS]; /* by that number */
	uint32_t functions, stacks;
	struct recorder_stats stats;
	uint64_t lost; /* hiccups that were lost before the next one that ends */
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

static inline const char *scene_name_device(void *ctx, uint32_t irq)
{
	return irq < SCENE_WORDS ? ((struct scene *)ctx)->device[irq] : NULL;
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

static inline const char *scene_name_owner(void *ctx, uint32_t group)
{
	return group < SCENE_WORDS ? ((struct scene *)ctx)->owner[group] : NULL;
}

static inline const char *scene_name_command(void *ctx, uint32_t process, const char *comm)
{
	const struct scene_command *c = ((struct scene *)ctx)->command;

	(void)comm;
	while (c->text && c->process != process)
		c++;
	return c->text;
}

static inline uint32_t scene_name_user(void *ctx, int32_t id)
{
	return id >= 0 && id < SCENE_WORDS ? ((struct scene *)ctx)->user[id] : 0;
}

static inline const char *scene_name_calls(void *ctx, uint32_t user)
{
	return user < SCENE_WORDS ? ((struct scene *)ctx)->calls[user] : NULL;
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
	world_view(v, hostname, cpus, ncpus);
	strcpy(v->host.cmdline, "quiet isolcpus=managed_irq,domain,3 nohz_full=3");
	cpus_add(&v->host.isolated, 3);
	cpus_add(&v->host.nohz_full, 3);
	v->run.duration_ns = 1000000000;
	s->tap = (struct tap){s, scene_tap};
	s->names = (struct names){s,
				  scene_name_irq,
				  scene_name_affinity,
				  scene_name_device,
				  scene_name_symbol,
				  scene_name_stack,
				  scene_name_owner,
				  scene_name_command,
				  scene_name_user,
				  scene_name_calls};
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
	s->start_ns = WORLD_STARTED + at_ns;
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
	struct hiccup h = {
		.start_ns = s->start_ns, .end_ns = s->start_ns + duration_ns, .lost = s->lost};

	s->lost = 0;
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

#endif
