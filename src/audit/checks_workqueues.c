/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workqueues: on which CPUs their work items may run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"

#define WQ_DIR "sys/devices/virtual/workqueue/"

/* From 6.8 on the mask is without the CPUs of isolated partitions, and a file beside it has what
 * was asked for (kernel/workqueue.c: wq_requested_unbound_cpumask). */
static void check_unbound(struct audit *a)
{
	static const char requested[] = WQ_DIR "cpumask_requested";
	char list[CPUS_LIST];
	struct cpus set;

	if (!mask_of(a, WQ_DIR "cpumask", &set)) {
		unknown(a, "where unbound work items run", WQ_DIR "cpumask");
		return;
	}
	if (!meets(&set, &a->targets)) {
		found_ok(a, "unbound work items may not run on these CPUs");
		return;
	}
	struct finding *f = warn(a, "unbound work items may run on %s", a->whose);

	if (f) {
		f->cpus = set;
		cpus_and(&f->cpus, &a->targets);
	}
	value(f, "cpu %s", cpus_format(&set, list, sizeof(list)));
	good(f, "cpu %s", a->keep);
	write_fix_asked(a, f, WQ_DIR "cpumask", a->keep_mask,
			text_of(a, requested) ? requested : WQ_DIR "cpumask");
}

/* CPUs on which a workqueue with a mask of its own runs: those that the mask for all has, too, or,
 * where there are none, those of the mask for all (kernel/workqueue.c: wqattrs_actualize_cpumask).
 */
static bool effective(const struct audit *a, const char *name, struct cpus *set)
{
	struct cpus all;

	if (!mask_of(a, name, set))
		return false;
	if (!mask_of(a, WQ_DIR "cpumask", &all))
		return true;
	cpus_and(set, &all);
	if (cpus_empty(set))
		*set = all;
	return true;
}

static void check_workqueues(struct audit *a)
{
	struct finding_items names = {0};
	struct text joined = {.audit = a}, back = {.audit = a};
	struct finding *f;
	const struct fact *x = NULL;
	char one[128], list[CPUS_LIST];
	struct cpus set, all;

	cpus_clear(&all);
	while ((x = next_of(a, WQ_DIR "*/cpumask", x))) {
		const char *name = x->name + strlen(WQ_DIR);
		struct finding fix = {0};
		struct finding_item *item;

		if (!effective(a, x->name, &set) || !meets(&set, &a->targets))
			continue;
		snprintf(one, sizeof(one), "%.*s", (int)strcspn(name, "/"), name);
		item = finding_items_add(&names, one, 0);
		if (item)
			item->cpus = set;
		else
			a->short_of_memory = true;
		cpus_or(&all, &set);
		write_fix(a, &fix, x->name, a->keep_mask);
		join_fixes(&joined, &back, &fix);
	}
	if (!names.count) {
		found_ok(a, "no workqueue with a mask of its own may run on these CPUs");
		return;
	}
	if (names.count == 1)
		f = warn(a, "work items of the workqueue %s may run on %s", names.row[0].name,
			 a->whose);
	else
		f = warn(a, "work items of %u workqueues may run on %s", names.count, a->whose);
	fix_take(f, &joined, &back);
	if (!f) {
		finding_items_free(&names);
		return;
	}
	f->cpus = all;
	cpus_and(&f->cpus, &a->targets);
	for (uint32_t i = 0; i < names.count; i++)
		cpus_and(&names.row[i].cpus, &a->targets);
	f->list = names;
	if (names.count == 1)
		value(f, "cpu %s", cpus_format(&all, list, sizeof(list)));
	good(f, "cpu %s", a->keep);
}

static void check_wq_isolated(struct audit *a)
{
	struct cpus set;
	char list[CPUS_LIST];

	if (!mask_of(a, WQ_DIR "cpumask_isolated", &set))
		unknown(a, "CPUs that are isolated from workqueues", WQ_DIR "cpumask_isolated");
	else if (cpus_empty(&set))
		found_ok(a, "no CPUs are isolated from workqueues beside their masks");
	else
		value(info(a, "unbound workqueues leave some CPUs alone, whatever their masks say"),
		      "cpu %s", cpus_format(&set, list, sizeof(list)));
}

static const struct knob_check power_efficient = {
	.name = "sys/module/workqueue/parameters/power_efficient",
	.test = BAD_WORD,
	.bad = "N",
	.level = FINDING_INFO,
	.title = "housekeeping work items of drivers stay on the CPU that queued them",
	.fine = "power-efficient workqueues are unbound",
	.words = "boot with workqueue.power_efficient=1",
};

const struct check checks_workqueues[] = {
	{"unbound_work", "K09", check_unbound, NULL},
	{"workqueues", "K10", check_workqueues, NULL},
	{"wq_isolated", "K09", check_wq_isolated, NULL},
	{"power_efficient", "K12", check_knob, &power_efficient},
	{0},
};
