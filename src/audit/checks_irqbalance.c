/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon that moves interrupts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/advise.h"
#include "audit/checks.h"
#include "audit/remedy.h"

#define OWN "run/irqbalance" /* settings in its environment */

/* Value of VAR=value in a shell file or an environment; the last one counts. */
static bool variable(const char *text, const char *name, char *val, size_t len)
{
	size_t n = strlen(name);
	bool given = false;

	for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *at = text + strspn(text, " \t");

		if (!strncmp(at, "export ", 7))
			at += 7;
		if (strncmp(at, name, n) || at[n] != '=')
			continue;
		at += n + 1;
		at += *at == '"' || *at == '\'';
		snprintf(val, len, "%.*s", (int)strcspn(at, "\"'\n"), at);
		given = true;
	}
	return given;
}

#define MASK "IRQBALANCE_BANNED_CPUS"
#define LIST "IRQBALANCE_BANNED_CPULIST" /* read from 1.8 on, where there is no mask */

static const char *const files[] = {"etc/default/irqbalance", "etc/sysconfig/irqbalance"};

struct ban {
	const char *by; /* MASK or LIST; NULL: nobody has set one */
	bool read;      /* false: it is in a form that is not read here */
	struct cpus cpus;
};

static bool find_ban(const char *text, struct ban *b)
{
	char set[CPUS_LIST], why[128];

	b->by = NULL;
	cpus_clear(&b->cpus);
	if (variable(text, MASK, set, sizeof(set)) && set[0]) {
		b->by = MASK;
		b->read = cpus_parse_mask(set, &b->cpus);
	} else if (variable(text, LIST, set, sizeof(set)) && set[0]) {
		b->by = LIST;
		b->read = !cpus_parse(set, &b->cpus, why, sizeof(why));
	}
	return b->by;
}

/* Finds which CPUs somebody has told it to leave alone. Its environment is all that it knows: a
 * file may have been changed since. */
static struct ban ban_of(const struct audit *a)
{
	const char *own = text_of(a, OWN);
	struct ban b;

	if (find_ban(own, &b) || own)
		return b;
	for (size_t i = 0; i < 2 && !find_ban(text_of(a, files[i]), &b); i++)
		;
	return b;
}

/* The file that sets its environment: which one is the distribution's choice. */
static const char *file_of(const struct audit *a)
{
	bool there[2];

	for (size_t i = 0; i < 2; i++) {
		const struct fact *x = facts_find(a->facts, files[i]);

		there[i] = x && x->err != -ENOENT;
	}
	if (there[0] == there[1])
		return "/etc/default/irqbalance or /etc/sysconfig/irqbalance";
	return there[0] ? "/etc/default/irqbalance" : "/etc/sysconfig/irqbalance";
}

/* See runs_as_root(). As many processes as somebody likes have the name, so that root's are read
 * once. */
static bool runs_here(struct audit *a)
{
	const char *root = text_of(a, "run/root");
	struct task_walk w = {0};
	struct numbers ids;
	bool runs = false;
	struct task t;

	a->short_of_memory |= !numbers_read(&ids, root);
	while (!runs && next_task(a, &w, &t))
		runs = t.tid == t.tgid && comm_is(&t, "irqbalance") &&
		       (!root || numbers_have(&ids, t.tgid));
	numbers_free(&ids);
	return runs;
}

/* Says what to set, so that it leaves all of these alone. */
static void ban_all(struct audit *a, struct finding *f, const struct ban *b, const struct cpus *all)
{
	char list[CPUS_LIST], mask[CPUS_MASK];

	cpus_format(all, list, sizeof(list));
	cpus_format_mask(all, mask, sizeof(mask));
	good(f, "banned: %s", list);
	if (cpus_cover(all, &a->online))
		words(f, "systemctl disable --now irqbalance: with those that are banned no CPU "
			 "would be left to it");
	else
		words(f,
		      LIST "=%s%s (before 1.8 " MASK "=%s) in %s, and restart it; or "
			   "systemctl disable --now irqbalance",
		      list, b->by && !strcmp(b->by, MASK) ? " in place of " MASK : "", mask,
		      file_of(a));
}

static void not_known(struct audit *a, const struct ban *b)
{
	struct finding *f = info(a, "the CPUs that irqbalance leaves alone: not known");

	if (f)
		f->known = false;
	value(f, "%s is in a form that is not read here", b->by);
}

/* irqbalance avoids isolated and nohz_full CPUs by itself, but a given ban replaces that
 * (irqbalance's cputree.c: setup_banned_cpus). It does not know CPUs that a cpuset isolates. */
void check_irqbalance(struct audit *a)
{
	char list[CPUS_LIST];
	struct cpus missing, all, avoided;
	const struct fact *own = facts_find(a->facts, OWN);
	struct finding *f;
	struct ban b;

	if (!need_tasks(a))
		return;
	if (!runs_here(a)) {
		found_ok(a, "irqbalance does not run");
		return;
	}
	if (own && own->err && own->err != -ENOENT) {
		unknown(a, "the settings of irqbalance", OWN);
		return;
	}
	b = ban_of(a);
	if (b.by && !b.read) {
		not_known(a, &b);
		return;
	}
	list_of(a, "sys/devices/system/cpu/isolated", &avoided);
	list_of(a, "sys/devices/system/cpu/nohz_full", &all);
	cpus_or(&avoided, &all);
	if (!b.by)
		b.cpus = avoided;
	missing = without(&a->targets, &b.cpus);
	if (cpus_empty(&missing)) {
		f = found_ok(a, "irqbalance leaves these CPUs alone");
		if (b.by && !strcmp(b.by, LIST) && !cpus_cover(&avoided, &a->targets))
			value(f, "by " LIST ", which it reads from 1.8 on");
		return;
	}
	all = to_isolate(a);
	cpus_or(&all, &b.cpus);
	cpus_format(&missing, list, sizeof(list));
	if (b.by)
		f = warn(a,
			 "%s replaces irqbalance's own ban of isolated CPUs and leaves out cpu %s",
			 b.by, list);
	else
		f = warn(a, "irqbalance runs and may move IRQs to cpu %s", list);
	if (f)
		f->cpus = missing;
	value(f, "banned: %s",
	      cpus_empty(&b.cpus) ? "none" : cpus_format(&b.cpus, list, sizeof(list)));
	ban_all(a, f, &b, &all);
}
