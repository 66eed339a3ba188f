/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/sentence.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "audit/advise.h"
#include "audit/choose.h"
#include "audit/conclude.h"
#include "audit/remedy.h"
#include "base/units.h"
#include "model/stops.h"

#define OWNER_SAID 160 /* bytes; a sentence has room for little more */

void sentence_add(struct sentence *s, const char *fmt, ...)
{
	size_t have = strlen(s->buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(s->buf + have, s->len - have, fmt, args);
	va_end(args);
}

const char *sentence_quiet(const struct view *v)
{
	bool waits = view_waits_lost(v);

	if (waits && v->run.reports_lost)
		return " but for waits that were not added up and reports that were not read";
	if (waits)
		return " but for waits that were not added up";
	if (v->run.reports_lost)
		return " but for reports that were not read";
	return v->run.watch ? " as far as the kernel shows" : "";
}

void sentence_hedge(struct sentence *s, const struct view *v)
{
	static const char hedge[] = "as far as the recording tells, ";
	size_t n = sizeof(hedge) - 1, have = strlen(s->buf);

	if (!have || !v->run.holes || n >= s->len)
		return;
	have = have + n < s->len ? have : s->len - 1 - n;
	memmove(s->buf + n, s->buf, have);
	s->buf[n + have] = '\0';
	memcpy(s->buf, hedge, n);
}

void sentence_unread(struct sentence *s, uint64_t n, uint64_t ns)
{
	char count[32], time[32];

	if (!n)
		return;
	sentence_add(s, " (%s hiccup%s", format_count(n, count, sizeof(count)), plural(n));
	if (ns)
		sentence_add(s, ", %s%s,", format_ns(ns, time, sizeof(time)),
			     n == 1 ? "" : " in all");
	sentence_add(s, " %s not recorded)", n == 1 ? "was" : "were");
}

/* The cause book has the tick's reasons from T01 to T08; of others, as a quota, the timers are no
 * ticks. */
enum group group_of(const struct source *s)
{
	if (s->word == WORD_THROTTLED)
		return THROTTLED;
	if (s->kind == SOURCE_LOST)
		return LOST;
	if (s->kind == SOURCE_HOST)
		return HOST;
	if (s->kind == SOURCE_OUTSIDE)
		return OUTSIDE;
	if (s->kind == SOURCE_VECTOR && s->cause && s->cause[0] == 'T' &&
	    ((s->cause[1] == '0' && s->cause[2] <= '8') || source_is_tick(s)))
		return TICK;
	return GROUPS;
}

static void add_action(struct sentence *out, const char *joint, const struct finding *f,
		       const struct source *s)
{
	const char *text = f && f->fix ? f->fix : s->advice;

	bool too_long =
		text && strlen(text) + (f && f->replaced ? strlen(f->replaced) : 0) > FIX_MAX;

	if (too_long && f && f->fix)
		sentence_add(out, "%s%s", joint, finding_elsewhere(f));
	else if ((!text || too_long) && (s->cause || source_is_idle(s)))
		sentence_add(out, "%sculprit explain %s", joint, s->cause ? s->cause : "swapper");
	else if (!text)
		sentence_add(out, "%sthe cause book has nothing on it", joint);
	else if (f && f->fix && f->replaced)
		sentence_add(out, "%sreplace %s by %s on the command line", joint, f->replaced,
			     text);
	else if (f && f->fix && f->fix_kind == FIX_BOOT)
		sentence_add(out, "%sadd %s to the command line", joint, text);
	else
		sentence_add(out, "%s%s", joint, text);
}

static void add_thread(struct sentence *out, const struct source *s)
{
	if (s->by >= BY_UNIT) {
		sentence_add(out, "the %s %s", owner_by_name(s->by), s->name);
		return;
	}
	/* Only a thread that poses as one of the kernel's needs the word user. */
	sentence_add(out, "the %sthread %s",
		     s->kernel_thread    ? "kernel "
		     : s->name[0] == '[' ? "user "
					 : "",
		     s->name);
	if (s->id && s->id != KIND_IDS)
		sentence_add(out, " [%u]", s->id);
}

/* As on the host, with the host's CPU. */
static void add_host(struct sentence *out, const struct source *s)
{
	struct source there = *s;

	there.kind = s->host_kind;
	if (s->rest || s->host_kind == SOURCE_HOST)
		sentence_add(out, "%s", s->rest ? "many that cannot be told apart" : s->name);
	else
		sentence_source(out, &there);
	if (s->host_cpu && s->host_cpu != SOURCE_CPUS)
		sentence_add(out, " on host cpu %u", s->host_cpu - 1);
	if (s->host_name && !*s->host_name)
		sentence_add(out, " on several hosts");
	else if (s->host_name)
		sentence_add(out, "%s of %s",
			     s->host_cpu && s->host_cpu != SOURCE_CPUS ? "" : " on cpus",
			     s->host_name);
}

void sentence_source(struct sentence *out, const struct source *s)
{
	if (s->kind == SOURCE_HOST) {
		sentence_add(out, "its host: ");
		add_host(out, s);
		return;
	}
	if (s->kind == SOURCE_IRQ && s->id == KIND_IDS) {
		sentence_add(out, "IRQs %s", s->name);
		return;
	}
	if (s->kind == SOURCE_IRQ) {
		sentence_add(out, "IRQ %u%s%s%s", s->id, s->name[0] ? " (" : "", s->name,
			     s->name[0] ? ")" : "");
		return;
	}
	if (s->kind == SOURCE_THREAD && s->rest) {
		sentence_add(out, "threads that are too many to be told apart");
		return;
	}
	if (s->kind == SOURCE_THREAD)
		add_thread(out, s);
	else
		sentence_add(out, kind_of(s->kind)->noun, s->name);
	if (s->function)
		sentence_add(out, " > %s", s->function);
}

/* UINT_MAX for a watched thread, which is no CPU. */
static unsigned cpu_number(const struct view *v, const struct cpu *c)
{
	return view_threads(v) ? UINT_MAX : c->number;
}

static void say_tick(struct sentence *out, const struct view *v, const struct cpu *c,
		     const struct source *s, bool many)
{
	const struct finding *f = finding_of(v, cpu_number(v, c), s);
	struct nohz_tick_line line[NOHZ_TICK_ROWS];
	uint32_t dependency = nohz_ticks_dependency(&c->ticks), k = 0;

	if (v->run.watch) {
		sentence_add(out, "the tick");
		add_action(out, ": ", NULL, s);
		return;
	}
	sentence_add(out, "the tick: ");
	if (!cpus_has(&v->host.nohz_full, cpu_number(v, c))) {
		sentence_add(out, many ? "they are not nohz_full" : "it is not nohz_full");
		if (v->told.conditions && v->told.conditions->no_nohz_full)
			sentence_add(out, ", and this kernel cannot be");
		add_action(out, "; ", f && !strcmp(f->id, "nohz_full") ? f : NULL, s);
		return;
	}
	if (!many && nohz_ticks_lines(&c->ticks, line)) {
		while (line[k].row.dependency != dependency)
			k++;
		sentence_add(out, "kept by %s while %s ran; ", nohz_dependency_name(dependency),
			     line[k].row.comm);
	}
	add_action(out, "", f, s);
}

static void say_throttled(struct sentence *out, const struct view *v, const struct cpu *c,
			  const struct source *s)
{
	sentence_add(out,
		     "real-time throttling, which takes %s off for threads without a real-time "
		     "priority",
		     v->run.watch ? "it" : "the sampler");
	add_action(out, ": ", finding_of(v, cpu_number(v, c), s), s);
}

static void say_firmware(struct sentence *out, const struct cpu *c, bool many)
{
	uint64_t smis = c->smi_known ? c->smi_count : 0;
	bool firmware = stops_are_smis(c);
	char a[32], gaps[32];

	format_count(smis, a, sizeof(a));
	sentence_add(out, firmware ? "firmware" : "firmware or hardware");
	if (smis && many)
		sentence_add(out, " (each of them had SMIs%s)",
			     firmware ? "" : ", for less than half of it");
	else if (smis && firmware)
		sentence_add(out, " (%s SMI%s)", a, plural(smis));
	else if (smis)
		sentence_add(out, " (%s SMI%s, for at most %s of %s gaps)", a, plural(smis), a,
			     format_count(stops_gaps(c), gaps, sizeof(gaps)));
}

static void say_outside(struct sentence *out, const struct view *v, uint32_t i,
			const struct source *s, bool many)
{
	const struct cpu *c = &v->cpu[i];

	if (v->run.watch) {
		sentence_add(out, "what the kernel does not show");
		return;
	}
	if (s->word == WORD_HOST_NOTHING || s->word == WORD_HOST_NOT_COVERED) {
		sentence_add(out,
			     s->word == WORD_HOST_NOTHING
				     ? "what neither its kernel nor its host's sees: the "
				       "hypervisor's own work, or firmware or hardware below"
				     : "what the kernel does not see; the recording of its host "
				       "does not cover it");
		return;
	}
	sentence_add(out, "what the kernel does not see: ");
	if (s->word == WORD_STEAL)
		sentence_add(out, "the host gave the CPU to others");
	else if (stops_are_smis(c) || !v->host.hypervisor[0])
		say_firmware(out, c, many);
	else
		sentence_add(out, "this is a guest, most likely its host takes the time");
	if (s->together && v->suspect.named)
		sentence_add(out, "; %s", s->together);
	add_action(out, "; ", finding_of(v, v->cpu[i].number, s), s);
}

static void say_host(struct sentence *out, const struct most *m)
{
	uint64_t part = m->source->net.sum;

	sentence_add(out, "its host%s",
		     !m->summed || part >= m->ns ? ": "
		     : 2 * part > m->ns          ? ", most of it to "
						 : ", the largest part to ");
	add_host(out, m->source);
	add_action(out, "; ", NULL, m->source);
}

/* True where the records tell in which intervals threads left unseen: some do. */
static bool tells_unseen(const struct cpu *c)
{
	for (uint32_t i = 0; i < c->sources.count; i++)
		if (c->sources.row[i]->unseen.count)
			return true;
	return false;
}

/* The number of a thread's intervals in which others left unseen, where most of its time is in
 * them; where the records do not tell, of all that may be such, when all of its own may be. Else
 * 0. */
static uint64_t may_be_others(const struct view *v, const struct cpu *c, const struct source *s)
{
	if (s->kind != SOURCE_THREAD || v->run.watch)
		return 0;
	if (tells_unseen(c))
		return 2 * s->unseen.ns > s->net.sum ? s->unseen.count : 0;
	return c->unpaired >= s->count ? c->unpaired : 0;
}

static void say_source(struct sentence *out, const struct view *v, const struct cpu *c,
		       const struct most *m)
{
	const struct source *s = m->source;
	const struct finding *f = finding_of(v, cpu_number(v, c), s);
	uint64_t others = may_be_others(v, c, s);
	char owner[OWNER_TEXT];

	sentence_source(out, s);
	/* A unit has another remedy than a thread. */
	if (!m->many && !s->by && owner_words(s->owner, owner))
		sentence_add(out, " (%.*s)", OWNER_SAID, owner);
	if (others) {
		sentence_add(out,
			     ", or to threads that left unseen before it, %llu times at most: who "
			     "they were is not known",
			     (unsigned long long)others);
		return;
	}
	if (f && !f->about && f->level == FINDING_FAIL)
		sentence_add(out, ": %s", f->title);
	add_action(out, f && !f->about && f->level == FINDING_FAIL ? "; " : ": ", f, s);
}

void sentence_most(struct sentence *out, const struct view *v, uint32_t i, const struct most *m)
{
	const struct cpu *c = &v->cpu[i];

	if (m->group == TICK)
		say_tick(out, v, c, m->source, m->many);
	else if (m->group == THROTTLED)
		say_throttled(out, v, c, m->source);
	else if (m->group == OUTSIDE)
		say_outside(out, v, i, m->source, m->many);
	else if (m->group == HOST)
		say_host(out, m);
	else
		say_source(out, v, c, m);
}
