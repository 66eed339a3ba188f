/* culprit audit: the machine's set-up held against what quiet CPUs need. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "collect/facts.h"
#include "collect/host.h"
#include "render/audit.h"

struct options {
	struct cpus cpus;
	int format;
	struct output output; /* of which only the file is used */
	const char *root;
	bool deep, script, facts;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt audit_opts[] = {
	{'c', "cpus", "CPUS",
	 "the CPUs that should be quiet; default: the isolated ones that are online, or else all but the lowest",
	 FIELD(cpus), opt_set_cpus, NULL},
	{'f', "format", "FORMAT", "text (default), json or markdown", FIELD(format), opt_set_choice,
	 audit_format_names},
	{'o', "output", "FILE", "write to FILE instead of standard output", FIELD(output.path), opt_set_string, NULL},
	{0, "deep", NULL, "also read what sends an interrupt to the CPUs (the processor's energy preference)",
	 FIELD(deep), NULL, NULL},
	{0, "script", NULL, "the fixes as a shell script, with the lines that undo them, to be read before it is run",
	 FIELD(script), NULL, NULL},
	{0, "root", "DIR", NULL, FIELD(root), opt_set_string, NULL},
	{0, "facts", NULL, NULL, FIELD(facts), NULL, NULL},
	{0},
};

const struct opt_command audit_usage = {
	.name = "audit",
	.summary = "is this machine set up for quiet CPUs, and if not, how",
	.about = "Reads how the machine is set up, without disturbing the CPUs in question, and says what will "
		 "interrupt "
		 "them, how to end it, and how to take that back. It changes nothing.\n\n"
		 "Exit status: 0 nothing failed, 1 error, 2 a FAIL: isolation is not in effect.",
	.opts = audit_opts,
};

static int choose(const struct options *o, struct view *v)
{
	struct cpus online, absent = o->cpus;
	char list[256], all[256];

	audit_online(&v->facts, &online);
	if (cpus_empty(&online))
		return complain(
			"which CPUs are online cannot be read from /sys/devices/system/cpu/online: is /sys mounted?");
	v->run.cpus = o->cpus;
	if (cpus_empty(&o->cpus))
		audit_default_targets(&v->facts, &v->run.cpus);
	cpus_sub(&absent, &online);
	if (!cpus_empty(&absent))
		return complain("CPU %s is not there or offline: online are %s (-c)",
				cpus_format(&absent, list, sizeof(list)), cpus_format(&online, all, sizeof(all)));
	v->run.housekeeping = online;
	cpus_sub(&v->run.housekeeping, &v->run.cpus);
	if (cpus_empty(&v->run.cpus) || cpus_empty(&v->run.housekeeping))
		return complain("one CPU at least must stay for housekeeping, and one be quiet: online are %s (-c)",
				cpus_format(&online, all, sizeof(all)));
	return 0;
}

/* For those who wonder what was read. */
static void print_facts(const struct facts *f, FILE *out)
{
	for (uint32_t i = 0; i < f->count; i++)
		fprintf(out, "%s %u %s\n", f->row[i].name, f->row[i].len,
			f->row[i].err ? strerrorname_np(-f->row[i].err) : "-");
}

static int print(struct options *o, const struct view *v)
{
	struct render_options r = {.width = 100};
	FILE *out = o->output.file;
	int err;

	output_ready(&o->output, &r);
	if (o->facts)
		print_facts(&v->facts, out);
	err = o->facts ? 0 : o->script ? render_audit_script(v, &r, out) : audit_formats[o->format].write(v, &r, out);
	if (err || fflush(out) || ferror(out))
		return complain("writing the audit: %s", strerror(err ? -err : errno));
	return 0;
}

static int run(struct options *o, struct view *v)
{
	struct cpus from = v->host.online, quiet = cpus_empty(&o->cpus) ? v->host.isolated : o->cpus;
	struct facts_options fo = {.root = o->root, .deep = o->deep, .from = &from};
	struct audit_options ao = {0};
	int err;

	cpus_sub(&from, &quiet);
	if (cpus_empty(&quiet) && cpus_next(&from, 0) >= 0) {
		unsigned lowest = cpus_next(&from, 0);

		cpus_clear(&from);
		cpus_add(&from, lowest);
	}
	err = facts_take(&v->facts, &fo);
	if (err && !v->facts.count)
		return complain("cannot read %s: %s", o->root ? o->root : "/", strerror(-err)), EXIT_ERROR;
	if (err)
		say("not all facts could be kept: %s", strerror(-err));
	if (choose(o, v))
		return EXIT_ERROR;
	ao.targets = v->run.cpus;
	if (audit(&v->facts, &ao, &v->findings)) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	if (print(o, v))
		return EXIT_ERROR;
	return findings_count(&v->findings, FINDING_FAIL) ? EXIT_CROSSED : EXIT_OK;
}

int cmd_audit(int argc, char **argv)
{
	struct options o = {0};
	struct view *v = calloc(1, sizeof(*v));
	int operands, code;

	code = opt_parse(&audit_usage, argc, argv, &o, &operands);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	host_read(&v->host);
	code = output_open(&o.output) ? EXIT_ERROR : output_close(&o.output, run(&o, v));
	view_free(v);
	free(v);
	return code;
}
