/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the cause book to what is written to which file: the book's placeholders get this machine's
 * numbers, and a fix that is no setting, or not culprit's to change, is refused. */
#include "cmd/fixes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/advise.h"
#include "audit/book.h"
#include "audit/placeholders.h"
#include "base/line_of_file.h"
#include "base/policy.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/knobs.h"
#include "model/place.h"

/* True when the fix is about one thread or one interrupt. */
static bool needs_number(const struct cause *c)
{
	return c->knob.kind == KNOB_THREAD || (c->knob.kind && strstr(c->knob.path, "{irq}"));
}

int fixes_parse(char *const *words, int n, struct wish *wish, uint32_t *count)
{
	char id[8], why[256];

	for (*count = 0; *count < (uint32_t)n; ++*count) {
		const char *word = words[*count], *colon = strchr(word, ':');
		struct wish *w = &wish[*count];
		long number = 0;

		if (*count == TRIED_FIXES)
			return complain("more than %d causes: give fewer", TRIED_FIXES);
		snprintf(id, sizeof(id), "%.*s", colon ? (int)(colon - word) : 7, word);
		*w = (struct wish){.cause = cause_by_id(id)};
		if (!w->cause)
			return complain("'%.40s' is not the id of a cause, like K09: a report "
					"shows them in brackets, and culprit explain lists them",
					word);
		if (colon && parse_integer(colon + 1, 1, INT32_MAX, &number, why, sizeof(why)))
			return complain("'%.40s': after the colon comes the number of a thread or "
					"an interrupt: %s",
					word, why);
		w->number = number;
		for (uint32_t i = 0; i < *count; i++)
			if (wish[i].cause == w->cause && wish[i].number == w->number)
				return complain("'%.40s' is there twice: once is enough", word);
		if (number && !needs_number(w->cause))
			return complain("%s is about no single thread or interrupt: leave out "
					":%ld",
					w->cause->id, number);
	}
	return 0;
}

bool fixes_need_view(const struct wish *wish, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (needs_number(wish[i].cause) && !wish[i].number)
			return true;
	return !n;
}

/* ---- what a fix changes ---- */

/* Adds what the fix changes for one CPU. A single thread or interrupt goes to culprit's own place,
 * which may be a small part of the machine; what is for all work gets all other CPUs. */
static int plan_one(struct tried *t, const struct cause *c, uint32_t number, long cpu,
		    const struct measure *m, char *why)
{
	struct cpus others = place_others_among(
		t->host, needs_number(c) ? &m->housekeeping : &t->host->online, &m->cpus);
	struct placeholders f = {.cpu = cpu,
				 .cpus = &m->cpus,
				 .housekeeping = &others,
				 .irq = number ? (long)number : -1,
				 .pid = number};
	char *path, *value;
	int err = -1;

	if (placeholders_missing(c->knob.path, &f) || placeholders_missing(c->knob.value, &f)) {
		snprintf(why, KNOB_WHY, "no other CPU is left that could take over the work");
		return -1;
	}
	path = placeholders_fill(c->knob.path, &f);
	value = placeholders_fill(c->knob.value, &f);
	if (path && value)
		err = knobs_plan(&t->knobs, "", c->knob.kind, path, value, number, why);
	else
		snprintf(why, KNOB_WHY, "out of memory");
	free(path);
	free(value);
	return err;
}

/* A fix for each CPU is done when it is set so already for some of them. */
static int plan_all(struct tried *t, const struct cause *c, uint32_t number,
		    const struct measure *m, char *why)
{
	bool each = strstr(c->knob.path, "{cpu}");
	uint32_t before = t->knobs.count;

	if (!each)
		return plan_one(t, c, number, -1, m, why);
	for (int cpu = cpus_next(&m->cpus, 0); cpu >= 0; cpu = cpus_next(&m->cpus, cpu + 1))
		plan_one(t, c, number, cpu, m, why);
	return t->knobs.count > before ? 0 : -1;
}

/* True when a knob is turned twice. */
static bool is_there(const struct knobs *k, const struct knob *new, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (k->row[i].kind == KNOB_THREAD
			    ? k->row[i].tid == new->tid &&new->kind == KNOB_THREAD
			    : !strcmp(k->row[i].path, new->path))
			return true;
	return false;
}

/* True for a fix with which nothing takes a CPU from a real-time thread for a while: the
 * guardian might never run on the CPUs where it is needed. */
static bool ends_throttling(const struct cause *c)
{
	return strstr(c->knob.path, "/sched_rt_runtime_us");
}

/* False, with the reason: the thread or the interrupt of this knob has another name now; then its
 * number has become another's. A name in a report may be cut. */
static bool is_called(const struct knob *k, uint32_t number, const char *name, char *why)
{
	char path[64], now[SOURCE_NAME] = "";
	bool thread = k->kind == KNOB_THREAD;

	if (!thread && strncmp(k->path, "/proc/irq/", strlen("/proc/irq/")))
		return true;
	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", number);
	if (thread)
		snprintf(now, sizeof(now), "%s", k->comm);
	else
		line_of_file(path, now, sizeof(now));
	if (!strcmp(now, name))
		return true;
	snprintf(why, KNOB_WHY, "%s %u was %s, and is %s now", thread ? "thread" : "interrupt",
		 number, name, *now ? now : "nobody's");
	return false;
}

/* Adds a fix. comm: the name that the thread or the interrupt has to have; NULL: any. -1: it cannot
 * be tried here, and why says the reason. */
static int add_fix(struct tried *t, const struct cause *c, uint32_t number, const char *comm,
		   const struct measure *m, char *why)
{
	uint32_t before = t->knobs.count;
	const char *rival = NULL;
	char name[512];

	if (policy_is_real_time(m->sched.policy) && ends_throttling(c)) {
		snprintf(why, KNOB_WHY,
			 "nothing would stop real-time samplers (-P) any more, and what has to put "
			 "it back could wait for its CPU for ever: leave out -P");
		return -1;
	}
	if (plan_all(t, c, number, m, why))
		return -1;
	for (uint32_t i = before; i < t->knobs.count && !rival; i++) {
		const struct knob *k = &t->knobs.row[i];

		if (is_there(&t->knobs, k, before)) {
			snprintf(why, KNOB_WHY, "%s is changed already by another fix",
				 knob_name(k, name, sizeof(name)));
			rival = name;
		} else if (number && comm && !is_called(k, number, comm, why)) {
			rival = name;
		} else if ((rival = knob_rival(k, ""))) {
			snprintf(why, KNOB_WHY,
				 "%s runs here and sets such things by itself: end it first "
				 "(systemctl stop %s), or see culprit audit --tuned",
				 rival, rival);
		}
	}
	while (rival && t->knobs.count > before)
		knobs_remove(&t->knobs, t->knobs.count - 1);
	if (rival)
		return -1;
	t->fix[t->nfixes++] = (struct tried_fix){c->id, c->title, number, c->lag_s};
	return 0;
}

/* ---- which fixes ---- */

struct candidate {
	const struct cause *cause;
	uint32_t number;
	const char *name; /* the source's */
	uint64_t ns;
};

static int by_time(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

/* Lists the causes of the view's sources that have a knob, those that take most time first. */
static uint32_t list_candidates(struct view *v, struct candidate *c, uint32_t room)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		for (uint32_t s = 0; s < v->cpu[i].sources.count; s++) {
			const struct source *from = v->cpu[i].sources.row[s];
			const struct cause *cause = from->cause ? cause_by_id(from->cause) : NULL;
			uint32_t number, at = 0;

			if (!cause || !cause->knob.kind || !from->net.count)
				continue;
			number = needs_number(cause) ? from->id : 0;
			if (needs_number(cause) && !number)
				continue; /* several threads in one row */
			while (at < n && (c[at].cause != cause || c[at].number != number))
				at++;
			if (at == n && n < room)
				c[n++] = (struct candidate){cause, number, from->name, 0};
			if (at < n)
				c[at].ns += from->net.sum;
		}
	qsort(c, n, sizeof(*c), by_time);
	return n;
}

#define CANDIDATES 256

/* Adds the fix of the source that takes most time of those with this cause; NULL: of any. */
static int add_found(struct tried *t, const struct cause *cause, struct view *v,
		     const struct measure *m, uint32_t most)
{
	struct candidate *c = calloc(CANDIDATES, sizeof(*c));
	char why[KNOB_WHY] = "";
	uint32_t n, begin = t->nfixes;

	if (!c || advise(v)) {
		free(c);
		return complain("out of memory");
	}
	n = list_candidates(v, c, CANDIDATES);
	for (uint32_t i = 0; i < n && t->nfixes < begin + most && t->nfixes < TRIED_FIXES; i++)
		if (!cause || c[i].cause == cause)
			add_fix(t, c[i].cause, c[i].number, c[i].name, m, why);
	free(c);
	if (t->nfixes > begin)
		return 0;
	if (*why)
		return complain("%s cannot be tried: %s", cause ? cause->id : "what was found",
				why);
	return cause ? complain("%s: none of its sources came while it was looked for: give the "
				"number of a thread or an interrupt, as in %s:812",
				cause->id, cause->id)
		     : complain("none of what interrupted these CPUs has a fix that can be tried: "
				"culprit run says what else can be done");
}

static bool may_choose(const struct fixes_choice *choice, const struct candidate *c)
{
	bool may = !choice->nonly;

	for (uint32_t i = 0; i < choice->nonly; i++)
		may |= choice->only[i].cause == c->cause &&
		       (!choice->only[i].number || choice->only[i].number == c->number);
	for (uint32_t i = 0; i < choice->ndone; i++)
		may &= choice->done[i].cause != c->cause || choice->done[i].number != c->number;
	return may;
}

int fixes_next(struct tried *t, struct view *view, const struct measure *m,
	       const struct fixes_choice *choice, struct wish *which, char *why)
{
	struct candidate *c = calloc(CANDIDATES, sizeof(*c));
	uint32_t n, i = 0;
	int err = -ENOMEM;

	if (c && !advise(view)) {
		n = list_candidates(view, c, CANDIDATES);
		while (i < n && !may_choose(choice, &c[i]))
			i++;
		err = i == n;
		if (i < n) {
			*which = (struct wish){c[i].cause, c[i].number};
			if (add_fix(t, c[i].cause, c[i].number, c[i].name, m, why))
				err = -EPERM;
		}
	}
	free(c);
	return err;
}

static int add_wish(struct tried *t, const struct wish *w, struct view *v, const struct measure *m)
{
	const struct cause *c = w->cause;
	char why[KNOB_WHY];

	if (!c->knob.kind)
		return complain("%s cannot be tried: its fix is no setting that can be put in "
				"force and taken back while the machine runs: culprit explain %s",
				c->id, c->id);
	if (needs_number(c) && !w->number)
		return add_found(t, c, v, m, 1);
	if (add_fix(t, c, w->number, NULL, m, why))
		return complain("%s cannot be tried: %s", c->id, why);
	return 0;
}

int fixes_plan(struct tried *t, const struct wish *wish, uint32_t n, struct view *view,
	       const struct measure *m, uint32_t most)
{
	int err = n ? 0 : add_found(t, NULL, view, m, most);

	for (uint32_t i = 0; i < n && !err; i++)
		err = add_wish(t, &wish[i], view, m);
	return err;
}

bool fixes_meant(void *tried, const struct view *v, const struct source *s)
{
	const struct tried *t = tried;

	(void)v;
	for (uint32_t i = 0; s->cause && i < t->nfixes; i++)
		if (!strcmp(s->cause, t->fix[i].id) &&
		    (!t->fix[i].number || t->fix[i].number == s->id))
			return true;
	return false;
}
