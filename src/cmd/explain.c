/* culprit explain: entries of the cause book, by id or by the name that a report shows. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/explain.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "collect/host.h"

struct options {
	struct cpus cpus;
	int format;
	bool all;
};

static const char *const explain_formats[] = {"text", "json", "markdown", NULL};

static const struct opt explain_opts[] = {
	{'c', "cpus", "CPUS", "fill these CPUs into the commands; default: the isolated ones",
	 offsetof(struct options, cpus), opt_set_cpus, NULL},
	{'f', "format", "FORMAT", "text (default), json or markdown", offsetof(struct options, format), opt_set_choice,
	 explain_formats},
	{'a', "all", NULL, "whole entries, also where only the titles would be listed", offsetof(struct options, all),
	 NULL, NULL},
	{0},
};

const struct opt_command explain_usage = {
	.name = "explain",
	.operands = "[NAME...]",
	.summary = "what interrupts a CPU, and how to end it: by name or id",
	.about = "NAME is what a report shows: a function (vmstat_update), a thread (kworker/u8:2), an interrupt "
		 "(nvme0q5 or "
		 "its number), a softirq (TIMER), a vector (local_timer), a row of /proc/interrupts (LOC), or a "
		 "cause's id "
		 "(K01). Without a NAME all causes are listed by group.",
	.opts = explain_opts,
};

/* ---- what a name means ---- */

/* "name" among "name,name" */
static bool is_action(const char *actions, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = actions; (at = strstr(at, name)); at++)
		if ((at == actions || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

/* An interrupt of this machine, by number or name; false: there is none. */
static bool find_irq(const char *name, struct source *irq)
{
	bool number = *name && !name[strspn(name, "0123456789")], found = false;
	glob_t files = {0};

	glob("/sys/kernel/irq/*/actions", 0, NULL, &files);
	for (size_t i = 0; i < files.gl_pathc && !found; i++) {
		uint32_t id = strtoul(files.gl_pathv[i] + strlen("/sys/kernel/irq/"), NULL, 10);
		char actions[256] = "";
		FILE *f = fopen(files.gl_pathv[i], "re");

		if (f && fgets(actions, sizeof(actions), f))
			actions[strcspn(actions, "\n")] = 0;
		if (f)
			fclose(f);
		found = actions[0] && (number ? id == strtoul(name, NULL, 10) : is_action(actions, name));
		if (!found)
			continue;
		*irq = (struct source){.kind = SOURCE_IRQ, .id = id};
		snprintf(irq->name, sizeof(irq->name), "%.*s", SOURCE_NAME - 1, actions);
	}
	globfree(&files);
	return found;
}

static const struct cause *cause_for(const char *name, struct fill *f, char *device, size_t len)
{
	const struct cause *c = cause_by_id(name);
	struct source irq;

	if (c || !find_irq(name, &irq))
		return c ? c : cause_of_name(name);
	f->irq = irq.id;
	f->interface = device_of(irq.name, device, len);
	return cause_of(&irq);
}

static int not_found(const char *name)
{
	char near[512];

	if (cause_near(name, near, sizeof(near))[0])
		return complain("the cause book has nothing under '%s'; near it: %s", name, near);
	return complain(
		"the cause book has nothing under '%s': culprit explain lists it all; threads of programs are K34",
		name);
}

/* ---- the command ---- */

static void look(struct explain_options *o, FILE *out)
{
	o->width = 100;
	output_terminal(out, 120, &o->colour, &o->width);
}

static int by_place(const void *a, const void *b)
{
	const struct cause *const *x = a, *const *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Fills some[] with what the names mean, each once, in the book's order; -1 with the first that means nothing said. */
static int choose(char **names, int nnames, const struct cause **some, uint32_t *n, struct fill *f, char *device,
		  size_t len)
{
	*n = 0;
	for (const struct cause *c = causes; !nnames && c->id; c++)
		some[(*n)++] = c;
	for (int i = 0; i < nnames; i++) {
		const struct cause *c = cause_for(names[i], f, device, len);
		uint32_t k = 0;

		if (!c)
			return not_found(names[i]);
		while (k < *n && some[k] != c)
			k++;
		if (k == *n)
			some[(*n)++] = c;
	}
	qsort(some, *n, sizeof(*some), by_place);
	return 0;
}

int cmd_explain(int argc, char **argv)
{
	struct host *host = calloc(1, sizeof(*host));
	const struct cause **some = calloc(causes_count, sizeof(*some));
	struct explain_options e = {.fill = FILL_NOTHING};
	struct options o = {0};
	struct cpus housekeeping;
	char device[SOURCE_NAME];
	int operands, code, err;
	uint32_t n;

	code = opt_parse(&explain_usage, argc, argv, &o, &operands);
	if (code || !host || !some || choose(argv + 1, operands, some, &n, &e.fill, device, sizeof(device))) {
		free(host);
		free(some);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	host_read(host);
	if (cpus_empty(&o.cpus))
		o.cpus = host->isolated;
	housekeeping = host->online;
	cpus_sub(&housekeeping, &o.cpus);
	e.fill.cpus = &o.cpus;
	if (!cpus_empty(&o.cpus))
		e.fill.housekeeping = &housekeeping;
	if (cpus_count(&o.cpus) == 1)
		e.fill.cpu = cpus_next(&o.cpus, 0);
	e.format = o.format;
	e.whole = operands || o.all;
	look(&e, stdout);
	err = explain(some, n, &e, stdout);
	free(host);
	free(some);
	return err ? complain("writing to standard output: %s", strerror(-err)), EXIT_ERROR : EXIT_OK;
}
