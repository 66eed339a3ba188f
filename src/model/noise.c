/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/begins.h"
#include "base/units.h"

/* Time around a noise in which it may still come: wakeups and IPIs wait for a busy CPU. */
#define SLACK_NS  (2 * NSEC_PER_MSEC)
#define BEFORE_NS (SLACK_NS / 20)

#define WAKING "sched_waking"
#define TIMER  "hrtimer_expire_entry"

#define OWN(by)                                                                                    \
	{                                                                                          \
		.what = NOISE_OWN, .asker = by, .asker_by = WAKING                                 \
	}
#define PARTNER(by)                                                                                \
	{                                                                                          \
		.what = NOISE_PARTNER, .asker = by, .asker_by = WAKING                             \
	}
#define EXPIRES(fn)                                                                                \
	{                                                                                          \
		.what = NOISE_CALL, .name = "local_timer", .function = fn, .function_by = TIMER    \
	}
#define CALLED                                                                                     \
	{                                                                                          \
		.what = NOISE_CALL, .name = "call_function", .function = "",                       \
		.function_by = "csd_function_entry", .asker = NOISE_SENDER,                        \
		.asker_by = "csd_queue_cpu"                                                        \
	}
#define SOFTIRQ(n)                                                                                 \
	{                                                                                          \
		.what = NOISE_NAMED, .kind = SOURCE_SOFTIRQ, .name = n                             \
	}

/* By the names of poke's classes (tools/poke_classes.c). */
const struct noise_class noise_classes[NOISE_CLASSES] = {
	/* The noise has to share the CPU: where many do, it waits for long. */
	{"thread", .late_ns = NSEC_PER_SEC, .want = {OWN(NOISE_SENDER)}},
	{"fifo", .want = {OWN(NOISE_SENDER)}},
	{"futex", .want = {OWN(NOISE_SENDER)}},
	{"timer", .want = {OWN(NOISE_INTERRUPT)}},
	{"timerfd", .want = {EXPIRES("")}},
	{"posix", .want = {EXPIRES("")}},
	{"membarrier", .want = {CALLED}},
	{"tlb", .want = {CALLED}},
	{"kworker", .late_ns = 20 * NSEC_PER_MSEC,
	 .want = {{.what = NOISE_NAMED,
		   .kind = SOURCE_THREAD,
		   .name = "kworker/%u:",
		   .function = "",
		   .asker = NOISE_SENDER,
		   .asker_by = "workqueue_queue_work"}}},
	{"perf", .want = {EXPIRES("")}},
	{"irqwork", .want = {{.what = NOISE_CALL,
			      .name = "irq_work",
			      .function = "",
			      .function_by = "irq_work_single"}}},
	{"bpf", .want = {CALLED}},
	{"signal", .want = {OWN(NOISE_SENDER)}},
	{"irq", .left_out = "it would move a device's interrupt to this CPU"},
	{"setaffinity", .want = {OWN(NOISE_ANYBODY)}},
	{"net", .want = {OWN(NOISE_SENDER)}},
	{"udp", .want = {OWN(NOISE_SENDER), PARTNER(NOISE_ANYBODY), SOFTIRQ("NET_RX")}},
	{"yield-storm", .want = {OWN(NOISE_SENDER), PARTNER(NOISE_SENDER)}},
	{"hrtimer-storm", .want = {OWN(NOISE_SENDER), EXPIRES("")}},
	{"many-timers", .want = {OWN(NOISE_INTERRUPT), EXPIRES(""), EXPIRES("timerfd_tmrproc"),
				 EXPIRES("hrtimer_wakeup")}},
	{"rename-storm",
	 .want = {{.what = NOISE_OWN, .name = "poke-rename", .asker = NOISE_ANYBODY}}},
	{"ksoftirqd", .want = {{.what = NOISE_NAMED, .kind = SOURCE_THREAD, .name = "ksoftirqd/%u"},
			       SOFTIRQ("NET_RX")}},
	{"fifo-switch", .left_out = "it would hold this CPU for 300 ms at a time"},
};

int noise_class_of(const char *name)
{
	for (int i = 0; noise_classes[i].name; i++)
		if (!strcmp(noise_classes[i].name, name))
			return i;
	return -1;
}

/* ---- the hiccups meanwhile ---- */

struct noise_piece {
	enum source_kind kind;
	uint32_t id;
	bool rest;  /* the row "(others)" */
	bool asked; /* the asker is known */
	uint32_t asker;
	char name[24], function[NOISE_FUNCTION];
};

/* Makes room for `more` rows. False: there is none. */
static bool grow(void **rows, uint32_t *room, uint32_t need, uint32_t most, size_t size)
{
	uint32_t wanted = *room ? *room : 1024;
	void *grown;

	while (wanted < need)
		wanted *= 2;
	if (wanted == *room)
		return true;
	grown = wanted > most ? NULL : realloc(*rows, wanted * size);
	if (!grown)
		return false;
	*rows = grown;
	*room = wanted;
	return true;
}

void noise_hear(struct noise_heard *h, const struct view *v, uint32_t lane, const struct account *a)
{
	if (!grow((void **)&h->row, &h->room, h->count + 1, NOISE_HICCUPS, sizeof(*h->row)) ||
	    !grow((void **)&h->piece, &h->pieces_room, h->pieces + a->npieces, NOISE_PIECES,
		  sizeof(*h->piece))) {
		h->full = true;
		return;
	}
	h->row[h->count++] = (struct noise_hiccup){a->start_ns, a->start_ns + a->duration_ns,
						   h->pieces, a->npieces};
	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct source *s = v->cpu[lane].sources.row[a->pieces[i].source];
		struct noise_piece *p = &h->piece[h->pieces++];

		*p = (struct noise_piece){.kind = s->kind,
					  .id = s->id,
					  .rest = s->rest,
					  .asked = a->pieces[i].asker.kind,
					  .asker = a->pieces[i].asker.tid};
		snprintf(p->name, sizeof(p->name), "%.23s", s->name);
		snprintf(p->function, sizeof(p->function), "%.31s", s->function ? s->function : "");
	}
}

void noise_forget(struct noise_heard *h)
{
	free(h->row);
	free(h->piece);
	*h = (struct noise_heard){0};
}

/* The first hiccup that ends at this time or later; h->count: none. */
static uint32_t first_after(const struct noise_heard *h, uint64_t ns)
{
	uint32_t low = 0, high = h->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (h->row[mid].end_ns < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint64_t noise_length(const struct noise_heard *h, const struct noise *n)
{
	uint64_t longest = 0;

	for (uint32_t i = first_after(h, n->start_ns);
	     i < h->count && h->row[i].start_ns <= n->end_ns; i++) {
		uint64_t ns = h->row[i].end_ns - h->row[i].start_ns;

		longest = ns > longest ? ns : longest;
	}
	return longest;
}

/* ---- the judgement ---- */

static bool is_source(const struct noise_piece *p, const struct noise_want *w,
		      const struct noise *n, unsigned cpu)
{
	uint32_t tid = w->what == NOISE_PARTNER ? n->partner : n->tid;
	char name[32];

	switch (w->what) {
	case NOISE_OWN:
	case NOISE_PARTNER:
		return p->kind == SOURCE_THREAD && (!p->id || p->id == tid) &&
		       (p->rest || begins(p->name, w->name ? w->name : n->comm));
	case NOISE_NAMED:
		snprintf(name, sizeof(name), w->name, cpu);
		return p->kind == w->kind && begins(p->name, name);
	case NOISE_CALL:
		return begins(p->name, w->name) ||
		       (p->kind != SOURCE_THREAD &&
			!strcmp(p->function, *w->function ? w->function : n->function));
	default:
		return false;
	}
}

bool noise_is_blind(const struct view *v, const char *tracepoint)
{
	for (uint32_t i = 0; tracepoint && i < v->run.nnot_observed; i++)
		if (!strcmp(v->run.not_observed[i], tracepoint))
			return true;
	return false;
}

static bool is_asker(const struct noise_piece *p, enum noise_asker who, const struct noise *n)
{
	return p->asked && p->asker == (who == NOISE_SENDER ? n->sender : 0);
}

/* The hiccups around a noise, and what they have to say. */
struct around {
	const struct noise_heard *heard;
	const struct view *view;
	const struct noise *noise;
	uint32_t first, end; /* the hiccups */
	bool long_one;       /* others have held the CPU for long in one of them */
	/* For all wants together: true until one is missing. */
	bool source, function, asker;
	bool function_asked, asker_asked;
};

static void look_for(struct around *r, const struct noise_want *w)
{
	bool source = false, function = false, asker = false;
	bool wants_function = w->function && !noise_is_blind(r->view, w->function_by);
	bool wants_asker = w->asker != NOISE_ANYBODY && !noise_is_blind(r->view, w->asker_by);
	const char *name = w->function && *w->function ? w->function : r->noise->function;

	for (uint32_t i = r->first; i < r->end; i++)
		for (uint32_t k = 0; k < r->heard->row[i].pieces; k++) {
			const struct noise_piece *p = &r->heard->piece[r->heard->row[i].first + k];
			bool runs;

			if (!is_source(p, w, r->noise, r->view->cpu[0].number))
				continue;
			runs = !wants_function || !strcmp(p->function, name);
			source = true;
			function |= runs;
			asker |= runs && is_asker(p, w->asker, r->noise);
		}
	r->source &= source;
	if (wants_function) {
		r->function_asked = true;
		r->function &= function;
	}
	/* A piece keeps who asked last: where others have held the CPU for long, one of them may
	 * have asked for the same later. */
	if (wants_asker && (asker || !r->long_one)) {
		r->asker_asked = true;
		r->asker &= asker;
	}
}

void noise_judge(const struct noise_heard *h, const struct view *v, const struct noise *n,
		 struct noise_sum *sum)
{
	const struct noise_class *c = &noise_classes[n->class];
	struct around r = {h, v, n, .source = true, .function = true, .asker = true};
	bool found = false;

	r.first = first_after(h, n->start_ns - BEFORE_NS);
	for (r.end = r.first;
	     r.end < h->count &&
	     h->row[r.end].start_ns <= n->end_ns + (c->late_ns ? c->late_ns : SLACK_NS);
	     r.end++) {
		found |= h->row[r.end].pieces > 0;
		r.long_one |= h->row[r.end].end_ns - h->row[r.end].start_ns > SLACK_NS;
	}
	for (int i = 0; i < NOISE_WANTS && c->want[i].what; i++)
		look_for(&r, &c->want[i]);
	sum->made++;
	sum->found += found;
	sum->source.asked++;
	sum->source.right += r.source;
	sum->function.asked += r.function_asked;
	sum->function.right += r.function_asked && r.function;
	sum->asker.asked += r.asker_asked;
	sum->asker.right += r.asker_asked && r.asker;
}

static bool enough(struct noise_share s)
{
	return s.right * 100 >= s.asked * NOISE_BAR;
}

bool noise_is_named(const struct noise_sum *sum)
{
	return enough((struct noise_share){sum->made, sum->found}) && enough(sum->source) &&
	       enough(sum->function) && enough(sum->asker);
}

uint32_t selftest_made(const struct selftest *t, uint32_t *missed)
{
	uint32_t made = 0;

	*missed = 0;
	for (int i = 0; noise_classes[i].name; i++) {
		made += t->sum[i].made > 0;
		*missed += t->sum[i].made && !noise_is_named(&t->sum[i]);
	}
	return made;
}
