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

/* True when somebody has set which CPUs it leaves alone. */
static bool is_given(const struct audit *a, struct cpus *banned)
{
	static const char *const files[] = {OWN, "etc/default/irqbalance",
					    "etc/sysconfig/irqbalance"};
	char text[CPUS_LIST], why[128];
	bool given = false;

	for (int i = 0; i < 3 && !given; i++) {
		given = variable(text_of(a, files[i]), "IRQBALANCE_BANNED_CPULIST", text,
				 sizeof(text)) &&
			text[0] && !cpus_parse(text, banned, why, sizeof(why));
		if (!given)
			given = variable(text_of(a, files[i]), "IRQBALANCE_BANNED_CPUS", text,
					 sizeof(text)) &&
				text[0] && cpus_parse_mask(text, banned);
	}
	return given;
}

/* See runs_as_root(). As many processes as somebody likes have the name, so that root's are read
 * once. */
static bool runs_here(struct audit *a)
{
	const char *root = text_of(a, "run/root");
	uint32_t *ids = malloc(((root ? strlen(root) : 0) / 2 + 2) * sizeof(*ids));
	struct task_walk w = {0};
	bool runs = false;
	size_t n = 0;
	struct task t;

	a->short_of_memory |= !ids;
	for (char *end; ids && root; root = end, n++) {
		ids[n] = strtoul(root, &end, 10);
		if (end == root)
			break;
	}
	if (n)
		qsort(ids, n, sizeof(*ids), threads_order);
	while (ids && !runs && next_task(a, &w, &t))
		runs = t.tid == t.tgid && comm_is(&t, "irqbalance") &&
		       (!root || (n && bsearch(&t.tgid, ids, n, sizeof(*ids), threads_order)));
	free(ids);
	return runs;
}

/* irqbalance avoids isolated and nohz_full CPUs by itself, but a given ban replaces that
 * (irqbalance.c: setup_banned_cpus). It does not know CPUs that a cpuset isolates. */
void check_irqbalance(struct audit *a)
{
	char list[CPUS_LIST];
	struct cpus banned, missing, all;
	const struct fact *own = facts_find(a->facts, OWN);
	struct finding *f;
	bool given;

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
	cpus_clear(&banned);
	given = is_given(a, &banned);
	if (!given) {
		list_of(a, "sys/devices/system/cpu/isolated", &banned);
		list_of(a, "sys/devices/system/cpu/nohz_full", &all);
		cpus_or(&banned, &all);
	}
	missing = without(&a->targets, &banned);
	if (cpus_empty(&missing)) {
		found_ok(a, "irqbalance leaves these CPUs alone");
		return;
	}
	all = to_isolate(a);
	cpus_or(&all, &banned);
	cpus_format(&missing, list, sizeof(list));
	if (given)
		f = warn(a,
			 "IRQBALANCE_BANNED_* replaces irqbalance's own ban of isolated CPUs and "
			 "leaves out cpu %s",
			 list);
	else
		f = warn(a, "irqbalance runs and may move IRQs to cpu %s", list);
	if (f)
		f->cpus = missing;
	value(f, "banned: %s",
	      cpus_empty(&banned) ? "none" : cpus_format(&banned, list, sizeof(list)));
	good(f, "banned: %s", cpus_format(&all, list, sizeof(list)));
	if (covers(&all, &a->online))
		words(f, "systemctl disable --now irqbalance: with those that are banned no CPU "
			 "would be left to it");
	else
		words(f,
		      "IRQBALANCE_BANNED_CPULIST=%s in /etc/default/irqbalance and restart it, or "
		      "systemctl disable --now irqbalance",
		      list);
}
