/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit explain: entries of the cause book, by id or by the name that a report shows. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/explain.h"
#include "audit/remedy.h"
#include "base/line_of_file.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "collect/host.h"
#include "model/place.h"
#include "render/schemas.h"

struct options {
	struct cpus cpus;
	struct output output; /* only the file is used */
	int format;
	bool all;
};

#define FIELD(name) offsetof(struct options, name)

#define PF_KTHREAD 0x00200000u /* include/linux/sched.h */

static const struct opt_choice explain_formats[] = {
	{"text", "for people"},
	{"json", "for scripts"},
	{"markdown", "for tickets"},
	{0},
};

static const struct opt explain_opts[] = {
	{'c', "cpus", "CPUS", "the CPUs to put into the commands", FIELD(cpus), opt_set_cpus,
	 .preset = "the isolated CPUs; if there are none, all but the lowest"},
	{'f', "format", "FORMAT", "the format of the report", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(explain_formats), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(output.path)},
	OPT_SCHEMA(schema_explain),
	{'a', "all", NULL, "print whole entries, even where only titles would be listed",
	 FIELD(all)},
	{0},
};

static const struct opt_example explain_examples[] = {
	{"culprit explain vmstat_update", "a function that a report shows"},
	{"culprit explain -c 3 'local_timer > hrtimer_wakeup'",
	 "a whole row, with CPU 3 in the commands"},
	{"culprit explain K09", "a cause by its id"},
	{0},
};

const struct opt_command explain_usage = {
	.name = "explain",
	.operands = "[NAME...]",
	.summary = "what interrupts a CPU, and how to end it: by name or id",
	.about = "NAME is what a report shows: a function (vmstat_update), a thread (kworker/u8:2, "
		 "'python3 [4242]'), an interrupt (nvme0q5 or its number), a softirq (TIMER), a "
		 "vector (local_timer), a whole row ('local_timer > hrtimer_wakeup'), a word "
		 "(steal, edge), a row of /proc/interrupts (LOC), or the id of a cause (K01). If "
		 "the book does not have a name, it says what is true for all things of this kind. "
		 "Without a NAME it lists all causes by group.",
	.opts = explain_opts,
	.examples = explain_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};

/* ---- what a name means ---- */

/* True for "name" in "name,name". */
static bool is_action(const char *actions, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = actions; (at = strstr(at, name)); at++)
		if ((at == actions || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

/* Finds an interrupt of this machine, by number or name; false: none. */
static bool find_irq(const char *name, struct source *irq)
{
	bool number = *name && !name[strspn(name, "0123456789")], found = false;
	glob_t files = {0};

	glob("/sys/kernel/irq/*/actions", 0, NULL, &files);
	for (size_t i = 0; i < files.gl_pathc && !found; i++) {
		uint32_t id = strtoul(files.gl_pathv[i] + strlen("/sys/kernel/irq/"), NULL, 10);
		char actions[256];

		found = line_of_file(files.gl_pathv[i], actions, sizeof(actions)) &&
			(number ? id == strtoul(name, NULL, 10) : is_action(actions, name));
		if (!found)
			continue;
		*irq = (struct source){.kind = SOURCE_IRQ, .id = id};
		snprintf(irq->name, sizeof(irq->name), "%.*s", SOURCE_NAME - 1, actions);
	}
	globfree(&files);
	return found;
}

/* Finds a function of the running kernel; writes its module to `module`, "" for the kernel's
 * own. */
static bool find_symbol(const char *name, char *module, size_t len)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], symbol[256], in[128];
	size_t n = strcspn(name, ". ");
	bool found = false;

	module[0] = 0;
	while (f && n && !found && fgets(line, sizeof(line), f)) {
		char type;

		in[0] = 0;
		if (sscanf(line, "%*s %c %255s [%127[^]]", &type, symbol, in) < 2 ||
		    !strchr("tTwW", type))
			continue;
		found = !strncmp(symbol, name, n) && (!symbol[n] || symbol[n] == '.');
	}
	if (f)
		fclose(f);
	if (found)
		snprintf(module, len, "%s", in);
	return found;
}

/* Finds a system call of the running kernel, by the name of what it calls: SYSCALL_DEFINE of the
 * kernel's include/linux/syscalls.h, and its machines' asm/syscall_wrapper.h. */
static bool find_call(const char *name)
{
	static const char *const before[] = {"__x64_", "__arm64_", "__riscv_", ""};
	char symbol[128], module[128];
	bool found = false;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]) && !found; i++) {
		snprintf(symbol, sizeof(symbol), "%ssys_%.64s", before[i], name);
		found = find_symbol(symbol, module, sizeof(module));
	}
	return found;
}

/* Finds a running thread of this name; *kernel: it is one of the kernel's. */
static bool find_thread(const char *name, bool *kernel)
{
	glob_t files = {0};
	bool found = false;

	glob("/proc/[0-9]*/stat", GLOB_NOSORT, NULL, &files);
	for (size_t i = 0; i < files.gl_pathc && !found; i++) {
		char line[1024], *open, *close;
		unsigned flags = 0;

		if (line_of_file(files.gl_pathv[i], line, sizeof(line))) {
			open = strchr(line, '(');
			close = strrchr(line, ')');
			found = open && close && (size_t)(close - open - 1) == strlen(name) &&
				!memcmp(open + 1, name, strlen(name));
			if (found && sscanf(close + 1, " %*c %*s %*s %*s %*s %*s %u", &flags) == 1)
				*kernel = flags & PF_KTHREAD;
		}
	}
	globfree(&files);
	return found;
}

/* "nvme_irq [nvme]": as a report writes a function of a module, which need not be loaded here. */
static bool is_of_module(const char *name, char module[128])
{
	int end = 0;

	return sscanf(name, "%*[A-Za-z0-9_.] [%127[A-Za-z0-9_-]]%n", module, &end) == 1 && end &&
	       !name[end];
}

/* Asks this machine for a name that the book does not know. */
static void ask_machine(struct meaning *m)
{
	const char *name = m->function[0] ? m->function : m->who;
	bool kernel = false;
	char module[128];

	if (!m->cause && find_symbol(name, module, sizeof(module))) {
		m->cause = cause_family("symbol");
		snprintf(m->note, sizeof(m->note),
			 "the book does not have %.100s; the running kernel has a function with "
			 "this name",
			 name);
	} else if (!m->cause && is_of_module(name, module)) {
		m->cause = cause_family("symbol");
		snprintf(m->note, sizeof(m->note),
			 "the book does not have %.100s; that is how a report writes a function",
			 name);
	} else if (!m->cause && find_thread(m->who, &kernel)) {
		m->cause = kernel ? cause_family("kthread") : cause_match("user", m->who);
		snprintf(m->note, sizeof(m->note),
			 "a %s with this name runs here: this entry is about any of them",
			 kernel ? "thread of the kernel" : "program");
	} else if (!m->cause && find_call(name)) {
		m->cause = cause_match("word", "syscall");
		snprintf(m->note, sizeof(m->note), "%.100s is a system call of the running kernel",
			 name);
	} else if (!m->cause || !m->note[0] || !find_symbol(name, module, sizeof(module))) {
		return;
	}
	if (module[0])
		snprintf(m->note + strlen(m->note), sizeof(m->note) - strlen(m->note),
			 " (in module %.100s)", module);
}

static bool take_name(const char *name, const char *arch, struct placeholders *f,
		      struct explained *x, char *device, size_t len)
{
	struct meaning m;
	struct source irq;
	char number[24];

	name_meaning(name, &m);
	snprintf(number, sizeof(number), "%ld", m.irq);
	if ((m.irq >= 0 || m.who[0]) && find_irq(m.irq >= 0 ? number : m.who, &irq) &&
	    (!m.cause || m.cause->id[0] == 'I')) {
		m.irq = irq.id;
		m.cause = cause_of(&irq);
		m.note[0] = 0;
		f->interface = device_of(irq.name, device, len);
	}
	/* A call without a function, which x86 alone makes mostly for the TLB (advise.c). */
	if (m.cause && !m.function[0] && !cause_fits(m.cause, arch) &&
	    !strncmp(m.who, "call_function", 13))
		m.cause = cause_family("csd");
	ask_machine(&m);
	if (!m.cause)
		return false;
	if (m.irq >= 0)
		f->irq = m.irq;
	if (m.tid)
		f->pid = m.tid;
	*x = (struct explained){.cause = m.cause};
	snprintf(x->note, sizeof(x->note), "%s", m.note);
	return true;
}

static int not_found(const char *name)
{
	char near[512];

	if (cause_near(name, near, sizeof(near))[0])
		return complain("the cause book has no entry for '%s'; similar names: %s", name,
				near);
	return complain("the cause book has no entry for '%s': culprit explain lists it all; for a "
			"thread of a program give its number, too: '%s [PID]'",
			name, name);
}

/* ---- the command ---- */

/* Writes some[n] to the file of -o, or standard output. The exit code. */
static int write_entries(struct output *o, const struct explained *some, uint32_t n,
			 struct explain_options *e)
{
	struct render_options r;
	int code = EXIT_ERROR;

	if (output_open(o))
		return EXIT_ERROR;
	output_ready(o, &r);
	e->width = r.width;
	e->colour = r.colour;
	if (!output_done(o, explain(some, n, e, o->file)))
		code = EXIT_OK;
	return output_close(o, code);
}

static int by_place(const void *a, const void *b)
{
	const struct explained *x = a, *y = b;

	return x->cause < y->cause ? -1 : x->cause > y->cause ? 1 : strcmp(x->note, y->note);
}

/* Fills some[] with the meanings of the names, each once, in the book's order; -1 after reporting
 * the first unknown name. */
static int choose(char **names, int nnames, const char *arch, struct explained *some, uint32_t *n,
		  struct placeholders *f, char *device, size_t len)
{
	*n = 0;
	for (const struct cause *c = causes; !nnames && c->id; c++)
		some[(*n)++] = (struct explained){.cause = c};
	for (int i = 0; i < nnames; i++) {
		uint32_t k = 0;

		if (!take_name(names[i], arch, f, &some[*n], device, len))
			return not_found(names[i]);
		while (k < *n &&
		       (some[k].cause != some[*n].cause || strcmp(some[k].note, some[*n].note)))
			k++;
		*n += k == *n;
	}
	qsort(some, *n, sizeof(*some), by_place);
	return 0;
}

/* The CPUs to fill into the book's commands: the given ones, else the isolated ones, else all but
 * the lowest. */
static void choose_cpus(const struct host *host, struct cpus *cpus, struct cpus *housekeeping)
{
	if (cpus_empty(cpus))
		*cpus = host->isolated;
	cpus_and(cpus, &host->online);
	if (cpus_empty(cpus) && cpus_count(&host->online) > 1) {
		*cpus = host->online;
		cpus_del(cpus, cpus_next(cpus, 0));
	}
	*housekeeping = place_others_of(host, cpus);
}

int cmd_explain(int argc, char **argv)
{
	struct host *host = calloc(1, sizeof(*host));
	struct explained *some = calloc(causes_count + argc, sizeof(*some));
	struct explain_options e = {.fill = PLACEHOLDERS_NONE};
	struct options o = {0};
	struct cpus housekeeping;
	struct conditions here;
	char device[SOURCE_NAME];
	int operands, code;
	uint32_t n;

	code = opt_parse(&explain_usage, argc, argv, &o, &operands);
	if (!code && host)
		host_read(host);
	if (code || !host || !some ||
	    choose(argv + 1, operands, host->arch, some, &n, &e.fill, device, sizeof(device))) {
		free(host);
		free(some);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	choose_cpus(host, &o.cpus, &housekeeping);
	e.fill.cpus = &o.cpus;
	e.fill.housekeeping = &housekeeping;
	here = conditions_of(&(const struct facts){0}, host);
	placeholders_boot(&e.fill, &here);
	if (cpus_count(&o.cpus) == 1)
		e.fill.cpu = cpus_next(&o.cpus, 0);
	e.arch = host->arch;
	e.format = o.format;
	e.whole = operands || o.all;
	code = write_entries(&o.output, some, n, &e);
	free(host);
	free(some);
	return code;
}
