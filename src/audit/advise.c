/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the advice on a source's cause: what to do, or why nothing can be done here. */
#include "audit/advise.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "audit/choose.h"
#include "audit/placeholders.h"
#include "audit/remedy.h"
#include "base/policy.h"
#include "base/units.h"
#include "model/stops.h"

/* A kernel thread that works for a device names it: "irq/24-eth0-TxRx-0", "napi/eth0-12". */
static void fill_device(const struct source *s, struct placeholders *f, char *device, size_t len)
{
	unsigned irq;

	device[0] = 0;
	f->interface = device;
	if (s->kind == SOURCE_IRQ)
		f->irq = s->id;
	else if (s->kind == SOURCE_THREAD && s->kernel_thread &&
		 sscanf(s->name, "irq/%u-", &irq) == 1)
		f->irq = irq;
	else if (s->kind != SOURCE_THREAD || !s->kernel_thread || strncmp(s->name, "napi/", 5))
		return;
	device_of(s->name, device, len);
}

/* True when the kernel refuses to move the thread, whatever its entry says of others. */
static bool is_bound(const struct source *s)
{
	return s->kernel_thread &&
	       (!strncmp(s->name, "rcuc/", 5) || !strncmp(s->name, "backlog_napi/", 13));
}

#define POSIX_TIMER 1 /* a dependency of the tick */

/* Number of the thread that the advice is about: the source's own, or the one that kept the tick.
 */
static uint32_t pid_of(const struct place *p, const struct source *s, const struct cause *c)
{
	const struct nohz_tick_row *most;

	if (s->kind == SOURCE_THREAD)
		return is_bound(s) ? 0 : s->id;
	if (strcmp(c->id, "T04"))
		return 0;
	most = nohz_ticks_row(&p->cpu->ticks, POSIX_TIMER);
	return most ? most->tid : 0;
}

/* True when the thread is known to have ended by the end of the window. */
static bool has_ended(const struct place *p, uint32_t tid)
{
	return tid && numbers_have(&p->view->told.ended, tid);
}

/* The CPU of the place; -1: a watched thread ran on several. */
static long number_of_cpu(const struct place *p)
{
	const struct cpus *on = &p->cpu->ran_on;

	if (!view_threads(p->view))
		return p->cpu->number;
	return cpus_count(on) == 1 ? cpus_next(on, 0) : -1;
}

#define EVERYWHERE "what is watched has all CPUs together: leave one to the others (taskset)"

/* Replaces the text, which it takes, where nobody can take the work over: a watch measures no CPUs,
 * and its threads can leave. */
static char *to_elsewhere(const struct place *p, const struct cause *c, char *text)
{
	const struct host *host = &p->view->host;
	struct cpus quiet = host->isolated; /* a cpuset's CPUs take no other thread */
	char list[ADVICE_LIST], thread[16] = "TID";
	const char *what;
	int n;

	if (!strstr(text, NOBODY_LEFT))
		return text;
	free(text);
	cpus_or(&quiet, &host->nohz_full);
	cpus_and(&quiet, &host->online);
	cpus_sub(&quiet, &p->view->run.cpus);
	cpus_format(&quiet, list, sizeof(list));
	what = cpus_cover(&host->isolated, &quiet)    ? "isolated"
	       : cpus_cover(&host->nohz_full, &quiet) ? "nohz_full"
						      : "isolated or nohz_full";
	if (p->cpu->tid && !has_ended(p, p->cpu->tid))
		snprintf(thread, sizeof(thread), "%" PRIu32, p->cpu->tid);
	if (cpus_empty(&quiet))
		n = asprintf(&text, "%s; culprit explain %s", EVERYWHERE, c->id);
	else
		n = asprintf(&text, "run it on the %s cpu%s %s: taskset -pc %s %s", what,
			     plural(cpus_count(&quiet)), list, list, thread);
	return n < 0 ? NULL : text;
}

static char *advice_at(const struct place *p, const struct source *s, const struct cause *c)
{
	long cpu = number_of_cpu(p);
	struct conditions here = conditions_at(p->view->told.conditions, cpu);
	struct cpus rest = advise_others(p->view, c);
	char device[SOURCE_NAME], *text;
	struct placeholders f = {.cpu = cpu,
				 .cpus = &p->view->run.cpus,
				 .housekeeping = &rest,
				 .irq = -1,
				 .pid = pid_of(p, s, c),
				 .comm = s->kind == SOURCE_THREAD ? s->name : NULL,
				 .function = s->function,
				 .list_most = ADVICE_LIST};

	fill_device(s, &f, device, sizeof(device));
	advise_own(p->view, f.pid, &rest);
	if (p->view->run.watch && cpus_empty(&rest))
		f.cpus = NULL; /* threads may run on any CPU: none is meant to be quiet */

	/* The CPU has already what the book would advise, and nothing was seen that kept the
	 * tick. */
	if (!strcmp(c->id, "T01") && here.nohz_full)
		return strdup(
			"nohz_full is on for this CPU, and nothing was seen that kept its tick");
	if (!strcmp(c->id, "S07") && here.offloaded)
		return strdup("its callbacks are offloaded: its tick runs this while RCU waits for "
			      "the CPU; end the tick (T02 to T08)");
	if (p->view->run.windows && !p->view->run.watch &&
	    (!strcmp(c->id, "T10") || !strcmp(c->id, "P01") || !strcmp(c->id, "P04") ||
	     (!strcmp(c->id, "T31") && policy_text_is_deadline(p->view->run.priority))))
		return strdup("the workload's own wake-up comes this way, too: nothing may be "
			      "wrong with it");
	if (s->kind == SOURCE_THREAD && !s->kernel_thread && !strcmp(s->name, "culprit"))
		return strdup(cpus_empty(&rest)
				      ? "if it is this run's own, measure fewer CPUs than the "
					"machine has; else end the other run"
				      : "if it is this run's own, give culprit a CPU of its own "
					"with -H; else end the other run");
	if (s->kind == SOURCE_THREAD && !s->kernel_thread && !strcmp(s->name, "culprit-sampler"))
		return strdup("another run of culprit measured here, too: let one end before the "
			      "other begins");
	if (strstr(c->advice, "{pid}") && has_ended(p, f.pid))
		return remedy_ended(c, s->kind == SOURCE_THREAD && !s->kernel_thread, &f);
	text = remedy(c, &f, &here);
	return text && p->view->run.watch ? to_elsewhere(p, c, text) : text;
}

int advise_source(struct view *v, uint32_t lane, struct source *s)
{
	const struct place p = {v, &v->cpu[lane]};
	const struct cause *c;

	if (!v->told.read && advise_threads(v))
		return -ENOMEM;
	if (s->kind == SOURCE_HOST)
		return advise_host(v, s);
	if (s->by >= BY_UNIT && !s->word)
		return advise_owner(v, s);
	c = cause_at(&p, s);
	free(s->advice);
	s->advice = NULL;
	s->cause = c ? c->id : NULL;
	if (c && c->advice && !(s->advice = advice_at(&p, s, c)))
		return -ENOMEM;
	return 0;
}

int advise(struct view *v)
{
	v->advised = true;
	if (advise_threads(v))
		return -ENOMEM;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct sources *t = &v->cpu[i].sources;

		stops_find(v, i);
		for (uint32_t k = 0; k < t->count; k++)
			if (advise_source(v, i, t->row[k]))
				return -ENOMEM;
	}
	return 0;
}
