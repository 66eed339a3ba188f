/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice that cannot work is worse than none: nohz_full on a kernel without it, isolation of all
 * CPUs, a move of a thread to where it is, a command with a gap. */
#include "audit/remedy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"

/* True when the kernel's configuration says that the option is off. */
static bool built_without(const struct audit *a, const char *option)
{
	char value[16];

	return kconfig(a, option, value, sizeof(value)) && strcmp(value, "y");
}

struct conditions conditions_of(const struct facts *facts, long cpu)
{
	const struct fact *nohz = facts_find(facts, "sys/devices/system/cpu/nohz_full");
	struct audit a = {.facts = facts};
	struct cpus set;
	struct conditions here = {
		.no_isolcpus = built_without(&a, "CPU_ISOLATION"),
		.no_nohz_full = built_without(&a, "NO_HZ_FULL") || (nohz && nohz->err == -ENOENT),
		.no_rcu_nocbs = built_without(&a, "RCU_NOCB_CPU"),
	};

	if (cpu < 0)
		return here;
	isolated_now(&a, &set);
	here.isolated = cpus_has(&set, cpu);
	here.nohz_full =
		list_of(&a, "sys/devices/system/cpu/nohz_full", &set) && cpus_has(&set, cpu);
	here.managed_irq = here.isolated && text_of(&a, "proc/cmdline") &&
			   strstr(text_of(&a, "proc/cmdline"), "managed_irq,");
	audit_online(facts, &set);
	here.boot_cpu = cpus_next(&set, 0) == cpu;
	return here;
}

const char *boot_refused(const char *parameters, const struct conditions *here, bool somebody_left)
{
	bool isolcpus = strstr(parameters, "isolcpus="), nohz = strstr(parameters, "nohz_full=");
	bool nocbs = strstr(parameters, "rcu_nocbs=");

	if ((isolcpus || nohz) && !somebody_left)
		return "not all CPUs can be isolated: " NOBODY_LEFT;
	if (isolcpus && here->no_isolcpus)
		return "this kernel is built without CPU_ISOLATION: boot one that has it";
	if (nohz && here->no_nohz_full)
		return "this kernel is built without NO_HZ_FULL: boot one that has it";
	if (nocbs && here->no_rcu_nocbs)
		return "this kernel is built without RCU_NOCB_CPU: boot one that has it";
	if (nohz && here->boot_cpu)
		return "the boot CPU cannot be nohz_full: isolate other CPUs";
	return NULL;
}

/* The reason why this text cannot be advised here; NULL: it can. */
static const char *refused(const char *text, const struct placeholders *f,
			   const struct conditions *here)
{
	bool somebody_left = f->housekeeping && !cpus_empty(f->housekeeping);
	const char *why = boot_refused(text, here, somebody_left);
	bool isolcpus = strstr(text, "isolcpus="), nohz = strstr(text, "nohz_full=");

	if (why)
		return why;
	if ((isolcpus || nohz) &&
	    (!isolcpus || (f->irq >= 0 ? here->managed_irq : here->isolated)) &&
	    (!nohz || here->nohz_full))
		return "this CPU has that already";
	if (!placeholders_missing(text, f))
		return NULL;
	return !somebody_left && (strstr(text, "{housekeeping}") || strstr(text, "{hkmask}"))
		       ? NOBODY_LEFT
		       : "";
}

char *remedy(const struct cause *c, const struct placeholders *f, const struct conditions *here)
{
	const char *why = refused(c->advice, f, here);
	char *text;

	if (!why)
		return placeholders_fill(c->advice, f);
	if (c->otherwise && !refused(c->otherwise, f, here))
		return placeholders_fill(c->otherwise, f);
	if (asprintf(&text, "%s%sculprit explain %s", why, *why ? "; " : "", c->id) < 0)
		return NULL;
	return text;
}

char *remedy_ended(const struct cause *c, bool user, const struct placeholders *f)
{
	char *text;

	if (user && f->housekeeping && !cpus_empty(f->housekeeping))
		return placeholders_fill(
			placeholders_missing("{comm}", f)
				? "it has ended: start its like with taskset -c {housekeeping}"
				: "it has ended: start {comm} with taskset -c {housekeeping}",
			f);
	if (asprintf(&text, "it has ended; culprit explain %s", c->id) < 0)
		return NULL;
	return text;
}
