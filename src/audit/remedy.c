/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice that cannot work is worse than none: nohz_full on a kernel without it, isolation of all
 * CPUs, or of these in place of others, a move of a thread to where it is, a command with a gap. */
#include "audit/remedy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"

#define CPU_DIR "sys/devices/system/cpu/"

/* True when the kernel's configuration says that the option is off. */
static bool built_without(const struct audit *a, const char *option)
{
	char value[16];

	return kconfig(a, option, value, sizeof(value)) && strcmp(value, "y");
}

const char *isolcpus_flags(const char *given, bool *flags, bool *domain)
{
	*flags = *domain = false;
	while ((*given >= 'a' && *given <= 'z') || *given == '_') {
		size_t n = strcspn(given, ",");

		*flags = true;
		*domain |= n == 6 && !strncmp(given, "domain", 6);
		given += n + (given[n] == ',');
	}
	return given;
}

/* The CPUs of such a list on the command line, and of the file that shows what is in force. False:
 * there is no such parameter. */
static bool listed(const struct audit *a, const char *name, const char *file, struct cpus *set)
{
	char given[CPUS_LIST], why[128];
	struct cpus more, possible;
	bool flags, domain;

	list_of(a, file, set);
	if (!parameter(a, name, given, sizeof(given)))
		return false;
	if (!strcmp(given, "all")) {
		list_of(a, CPU_DIR "possible", &possible);
		cpus_or(set, &possible);
	} else if (!cpus_parse(isolcpus_flags(given, &flags, &domain), &more, why, sizeof(why))) {
		if (list_of(a, CPU_DIR "possible", &possible))
			cpus_and(&more, &possible); /* the kernel refuses others */
		cpus_or(set, &more);
	}
	return true;
}

#define RELEASE "proc/sys/kernel/osrelease"

/* The parts of the facts that every host knows of itself. */
static void facts_of_host(const struct host *host, struct facts *f)
{
	const struct {
		const char *name;
		const struct cpus *set;
	} lists[] = {{CPU_DIR "isolated", &host->isolated},
		     {CPU_DIR "nohz_full", &host->nohz_full},
		     {CPU_DIR "online", &host->online}};
	char list[CPUS_LIST];

	facts_add(f, "proc/cmdline", 0, host->cmdline, strlen(host->cmdline));
	facts_add(f, RELEASE, 0, host->kernel, strlen(host->kernel));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		cpus_format(lists[i].set, list, sizeof(list));
		facts_add(f, lists[i].name, 0, list, strlen(list));
	}
	if (host->no_nohz_full)
		facts_add(f, CPU_DIR "nohz_full", -ENOENT, NULL, 0);
	if (host->kconfig[0])
		facts_add(f, "run/kconfig", 0, host->kconfig, strlen(host->kconfig));
}

/* Writes what isolcpus= has before its list, "managed_irq,domain,"; "" where it has none. Returns
 * given. */
static char *flags_of_isolcpus(const struct audit *a, char given[CPUS_LIST])
{
	bool flags, domain;

	parameter(a, "isolcpus", given, CPUS_LIST);
	given[isolcpus_flags(given, &flags, &domain) - given] = 0;
	return given;
}

/* See to_isolate(). Where the kernel is not known it is one that drops it. */
static bool drops_second(const struct audit *a)
{
	char given[CPUS_LIST];

	return strstr(flags_of_isolcpus(a, given), "nohz") || !kernel_from(a, 5, 18);
}

static struct conditions read_conditions(const struct facts *facts)
{
	const struct fact *nohz = facts_find(facts, CPU_DIR "nohz_full");
	struct audit a = {.facts = facts};
	const char *cmdline = text_of(&a, "proc/cmdline");
	struct conditions here = {
		.no_isolcpus = built_without(&a, "CPU_ISOLATION"),
		.no_nohz_full = built_without(&a, "NO_HZ_FULL") || (nohz && nohz->err == -ENOENT),
		.no_rcu_nocbs = built_without(&a, "RCU_NOCB_CPU"),
	};

	here.isolcpus_given = listed(&a, "isolcpus", CPU_DIR "isolated", &here.isolcpus_list);
	here.nohz_full_given = listed(&a, "nohz_full", CPU_DIR "nohz_full", &here.nohz_full_list);
	here.one_list = drops_second(&a);
	audit_online(facts, &here.online);
	isolated_now(&a, &here.all_isolated);
	list_of(&a, CPU_DIR "nohz_full", &here.all_nohz_full);
	listed(&a, "rcu_nocbs", CPU_DIR "nohz_full", &here.rcu_nocbs_list);
	here.asks_managed = cmdline && strstr(cmdline, "managed_irq,");
	return here;
}

struct conditions conditions_at(const struct conditions *all, long cpu)
{
	struct conditions here = *all;

	if (cpu < 0)
		return here;
	here.isolated = cpus_has(&here.all_isolated, cpu);
	here.nohz_full = cpus_has(&here.all_nohz_full, cpu);
	here.offloaded = !here.no_rcu_nocbs && cpus_has(&here.rcu_nocbs_list, cpu);
	here.managed_irq = here.isolated && here.asks_managed;
	here.boot_cpu = cpus_next(&here.online, 0) == cpu;
	return here;
}

struct conditions conditions_of(const struct facts *facts, const struct host *host)
{
	struct facts own = {0};
	struct conditions here;

	if (host && !facts_find(facts, "proc/cmdline"))
		facts_of_host(host, &own);
	here = read_conditions(own.count ? &own : facts);
	facts_free(&own);
	return here;
}

static struct cpus all_of(const struct conditions *here, const struct cpus *targets)
{
	struct cpus all = *targets;

	cpus_or(&all, &here->isolcpus_list);
	cpus_or(&all, &here->nohz_full_list);
	return all;
}

/* Returns what nohz_full= is to name of these: the boot CPU cannot be nohz_full. A kernel that
 * takes but one list for both parameters leaves it out itself. */
static struct cpus nohz_of(const struct conditions *here, const struct cpus *all)
{
	struct cpus rest = *all;
	int boot = cpus_next(&here->online, 0);

	if (boot >= 0 && !here->one_list)
		cpus_del(&rest, boot);
	return cpus_empty(&rest) ? *all : rest;
}

struct cpus to_isolate(const struct audit *a)
{
	return all_of(&a->here, &a->targets);
}

/* True where all that are online would be isolated. */
static bool isolates_all(const struct conditions *here, const struct cpus *targets)
{
	const struct cpus all = all_of(here, targets);

	return !cpus_empty(&here->online) && cpus_cover(&all, &here->online);
}

/* True where the other of the two parameters would be left with another list. */
static bool leaves_other(const struct conditions *here, const struct cpus *targets, bool nohz)
{
	const struct cpus all = all_of(here, targets), still = nohz_of(here, &all);

	return nohz ? here->isolcpus_given && !cpus_cover(&here->isolcpus_list, &all)
		    : here->nohz_full_given && !cpus_cover(&here->nohz_full_list, &still);
}

/* Adds isolcpus= with the flags that it should have, and others that it has. */
static void add_isolcpus(const struct audit *a, const char *list, struct text *to)
{
	char given[CPUS_LIST], *at = flags_of_isolcpus(a, given);

	text_add(to, "isolcpus=managed_irq,domain,");
	for (char *flag; (flag = strsep(&at, ","));)
		if (*flag && strcmp(flag, "domain") && strcmp(flag, "managed_irq"))
			text_add(to, "%s,", flag);
	text_add(to, "%s", list);
}

void isolate(struct audit *a, struct finding *f, bool isolcpus, bool nohz_full)
{
	const struct conditions *here = &a->here;
	const struct cpus all = to_isolate(a), still = nohz_of(here, &all);
	struct text fix = {.audit = a};
	char list[CPUS_LIST];

	isolcpus |= !here->no_isolcpus && leaves_other(here, &a->targets, true);
	nohz_full |= !here->no_nohz_full && leaves_other(here, &a->targets, false);
	if (isolcpus)
		add_isolcpus(a, cpus_format(&all, list, sizeof(list)), &fix);
	if (nohz_full)
		text_add(&fix, "%snohz_full=%s", isolcpus ? " " : "",
			 cpus_format(&still, list, sizeof(list)));
	if (isolates_all(here, &a->targets) && has_others(a))
		words(f, NONE_UNLISTED);
	else if (fix.len)
		boot(f, "%s", fix.at);
	free(fix.at);
}

const char *nobody_left(const struct conditions *here, const struct cpus *cpus)
{
	return cpus_cover(cpus, &here->online) ? NOBODY_LEFT : ISOLATED_LEFT;
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
		return BOOT_CPU_TICKS;
	return NULL;
}

/* The reason why this text cannot be advised here; NULL: it can. */
static const char *refused(const char *text, const struct placeholders *f,
			   const struct conditions *here)
{
	bool somebody_left = f->housekeeping && !cpus_empty(f->housekeeping);
	bool others = f->cpus && !cpus_cover(f->cpus, &here->online);
	const char *why = boot_refused(text, here, somebody_left || others);
	bool isolcpus = strstr(text, "isolcpus="), nohz = strstr(text, "nohz_full=");

	if (why)
		return why;
	if ((isolcpus || nohz) && f->cpus && isolates_all(here, f->cpus))
		return NONE_UNLISTED;
	if (here->one_list && isolcpus != nohz && f->cpus &&
	    !(nohz ? here->no_isolcpus : here->no_nohz_full) && leaves_other(here, f->cpus, nohz))
		return "isolcpus= and nohz_full= should name the same CPUs: culprit audit says how";
	if ((isolcpus || nohz) &&
	    (!isolcpus || (f->irq >= 0 ? here->managed_irq : here->isolated)) &&
	    (!nohz || here->nohz_full))
		return "this CPU has that already";
	if (!placeholders_missing(text, f))
		return NULL;
	if (somebody_left || (!strstr(text, "{housekeeping}") && !strstr(text, "{hkmask}")))
		return "";
	return f->cpus ? nobody_left(here, f->cpus) : NOBODY_LEFT;
}

void placeholders_boot(struct placeholders *f, const struct conditions *here)
{
	if (!f->cpus)
		return;
	f->isolate = all_of(here, f->cpus);
	f->nohz = nohz_of(here, &f->isolate);
}

static char *filled(const char *text, const struct placeholders *f, const struct conditions *here)
{
	struct placeholders all = *f;

	placeholders_boot(&all, here);
	return placeholders_fill(text, &all);
}

char *remedy(const struct cause *c, const struct placeholders *f, const struct conditions *here)
{
	const char *why = refused(c->advice, f, here);
	char *text;

	if (!why)
		return filled(c->advice, f, here);
	if (c->otherwise && !refused(c->otherwise, f, here))
		return filled(c->otherwise, f, here);
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
