/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit audit: compares the machine's set-up with what quiet CPUs need. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/guard.h"
#include "cmd/measure.h"
#include "cmd/memory.h"
#include "cmd/output.h"
#include "cmd/setup.h"
#include "collect/facts.h"
#include "collect/host.h"
#include "recording/read.h"
#include "render/audit.h"
#include "render/audit_setup.h"
#include "render/schemas.h"

struct options {
	struct cpus cpus;
	int format;
	struct output output; /* only the file is used */
	const char *root;
	bool deep, script, facts, redact;
	bool words, ansible, service, profile;
	const char *tuned; /* the directory of a profile */
	uint64_t memory;
	struct redact *names; /* with redact */
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt audit_opts[] = {
	{'c', "cpus", "CPUS", "the CPUs that should be quiet", FIELD(cpus), opt_set_cpus,
	 .preset = "the isolated CPUs that are online; if there are none, all but the lowest"},
	{'f', "format", "FORMAT", "the format of the report", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(audit_formats), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(output.path)},
	OPT_SCHEMA(schema_audit),
	{0, "deep", NULL,
	 "also read what can only be read by an interrupt to the CPUs (the processor's energy "
	 "preference)",
	 FIELD(deep)},
	{0, "script", NULL,
	 "print the fixes as a shell script, with the lines that undo them; read it before you run "
	 "it",
	 FIELD(script), .excludes = "format", .why = "prints a shell script"},
	{0, "kernel-words", NULL, "print the boot parameters that are needed, in one line",
	 FIELD(words), .excludes = "format,script,tuned,ansible,service,performance-profile",
	 .why = "prints one line"},
	{0, "tuned", "DIR",
	 "write the fixes into DIR as a tuned profile: tuned.conf and script.sh. This and the next "
	 "three leave out what names a process or an interrupt by its number",
	 FIELD(tuned), output_set_file, .excludes = "format,script,output,ansible,service",
	 .why = "writes two files"},
	{0, "ansible", NULL, "print the fixes as an Ansible playbook", FIELD(ansible),
	 .excludes = "format,script,performance-profile", .why = "prints a playbook"},
	{0, "service", NULL, "print the fixes as a systemd unit that does them at each boot",
	 FIELD(service), .excludes = "format,script,ansible,performance-profile",
	 .why = "prints a unit"},
	{0, "performance-profile", NULL,
	 "print a PerformanceProfile for Kubernetes' node tuning operator", FIELD(profile),
	 .excludes = "format,script,tuned", .why = "prints an object of Kubernetes"},
	{0, "root", "DIR", NULL, FIELD(root), opt_set_string},
	{0, "facts", NULL, NULL, FIELD(facts)},
	OPT_REDACT(FIELD(redact)),
	{.include = memory_opts, .offset = FIELD(memory)},
	{0},
};

static const struct opt_example audit_examples[] = {
	{"sudo culprit audit -c 3", "what will interrupt CPU 3, and how to end it"},
	{"culprit audit --script > quiet.sh", "the fixes as a script: read it before you run it"},
	{"culprit audit -c 3 --tuned ./quiet", "the fixes as a tuned profile"},
	{"culprit audit before.rec -f markdown",
	 "the machine of a recording, with the cost of each finding"},
	{0},
};

const struct opt_command audit_usage = {
	.name = "audit",
	.operands = "[RECORDING]",
	.summary = "is this machine set up for quiet CPUs, and if not, how",
	.about = "Reads how the machine is set up, without disturbing these CPUs, and says what "
		 "will interrupt them, how to end it, and how to undo that. It changes nothing. "
		 "With a RECORDING it says the same about the machine on which the recording was "
		 "made, with the cost of each finding. - is standard input.\n\nExit status: 0 "
		 "nothing failed, 1 error, 2 a FAIL: isolation is not in effect.",
	.opts = audit_opts,
	.examples = audit_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};

/* path: of the recording; NULL: this machine. */
static int choose(const struct options *o, struct view *v, const char *path)
{
	struct cpus online;
	char all[256];

	audit_online(&v->facts, &online);
	if (cpus_empty(&online) && path)
		return complain("%s does not say which CPUs were online: this needs a recording "
				"that has /sys/devices/system/cpu/online",
				path);
	if (measure_online(&o->cpus, &online))
		return -1;
	v->run.cpus = o->cpus;
	if (cpus_empty(&o->cpus))
		audit_default_targets(&v->facts, &v->run.cpus);
	v->run.housekeeping = audit_others(&v->facts, &v->run.cpus);
	if (cpus_empty(&v->run.cpus) || cpus_cover(&v->run.cpus, &online))
		return complain("at least one CPU must stay for housekeeping, and one must be "
				"quiet: choose of %s with -c",
				cpus_format(&online, all, sizeof(all)));
	return 0;
}

/* Prints the facts, for users who wonder what was read. */
static void print_facts(const struct facts *f, FILE *out)
{
	for (uint32_t i = 0; i < f->count; i++)
		fprintf(out, "%s %u %s\n", f->row[i].name, f->row[i].len,
			f->row[i].err ? strerror(-f->row[i].err) : "-");
}

static int print(struct options *o, const struct view *v)
{
	struct render_options r = {.width = 100};
	FILE *out = o->output.file;
	int err;

	output_ready(&o->output, &r);
	if (o->facts)
		print_facts(&v->facts, out);
	err = o->facts     ? 0
	      : o->script  ? render_audit_script(v, &r, out)
	      : o->words   ? render_kernel_words(v, out)
	      : o->ansible ? render_ansible(v, out)
	      : o->service ? render_service(v, out)
	      : o->profile ? render_performance_profile(v, out)
			   : audit_formats[o->format].write(v, &r, out);
	return output_done(&o->output, err);
}

/* Takes the facts of this machine, or of a root that a test has made. */
static int take_facts(const struct options *o, struct view *v)
{
	struct cpus from = v->host.online,
		    quiet = cpus_empty(&o->cpus) ? v->host.isolated : o->cpus;
	struct facts_options fo = {.root = o->root, .deep = o->deep, .from = &from};
	int err;

	cpus_sub(&from, &quiet);
	if (cpus_empty(&quiet) && cpus_next(&from, 0) >= 0) {
		unsigned lowest = cpus_next(&from, 0);

		cpus_clear(&from);
		cpus_add(&from, lowest);
	}
	err = facts_take(&v->facts, &fo);
	if (err && !v->facts.count)
		return complain("cannot read %s: %s", o->root ? o->root : "/", strerror(-err));
	if (err)
		say("not all facts could be kept: %s", facts_error(err));
	return 0;
}

/* Takes the facts of a recording, and their costs in it. */
static int read_facts(struct options *o, const char *path, struct view *v, struct recording **r)
{
	*r = recording_open(path, &(struct part){.redact = o->names}, v);
	if (!*r)
		return -1;
	recording_finish(*r);
	if (v->run.redacted)
		say("left out: %s", VIEW_REDACTED);
	if (!facts_taken(&v->facts))
		return complain("%s does not say how the machine was set up: %s", path,
				v->run.watch ? "culprit watch does not read that; record the same "
					       "CPUs with culprit record"
					     : "record it again without --no-audit");
	if (cpus_empty(&o->cpus))
		o->cpus = v->run.cpus;
	return 0;
}

static int conclude(struct options *o, struct view *v, const char *path)
{
	struct audit_options ao = {0};
	struct cpus measured = v->run.cpus;

	if (choose(o, v, path))
		return EXIT_ERROR;
	ao.targets = v->run.cpus;
	ao.realtime = v->run.real_time;
	if (path && !memcmp(&measured, &v->run.cpus, sizeof(measured))) {
		output_explain(v);
	} else if (audit(&v->facts, &ao, &v->findings)) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	if (o->tuned ? setup_tuned(o->tuned, v) : print(o, v))
		return EXIT_ERROR;
	return findings_count(&v->findings, FINDING_FAIL) ? EXIT_CROSSED : EXIT_OK;
}

int cmd_audit(int argc, char **argv)
{
	struct options o = {0};
	struct view *v = calloc(1, sizeof(*v));
	struct recording *r = NULL;
	int operands, code;

	code = opt_parse(&audit_usage, argc, argv, &o, &operands);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	if (operands > 1) {
		complain("audit takes one RECORDING at a time: culprit audit %s", argv[1]);
		free(v);
		return EXIT_ERROR;
	}
	if (operands && o.deep) {
		complain("--deep reads this machine as it is now, and %s is a recording: leave out "
			 "one of them",
			 argv[1]);
		free(v);
		return EXIT_ERROR;
	}
	if (!operands && (o.redact || o.memory)) {
		complain("--%s is for a RECORDING: name one, or leave it out",
			 o.redact ? "redact" : "memory");
		free(v);
		return EXIT_ERROR;
	}
	if (o.redact && !(o.names = redact_new(0))) {
		complain("out of memory");
		free(v);
		return EXIT_ERROR;
	}
	if (operands) {
		guard_reader(o.memory, o.output.path || o.tuned);
		guard_alone(o.output.path || o.tuned);
	} else {
		host_read(&v->host);
	}
	if (output_open(&o.output) ||
	    (operands ? read_facts(&o, argv[1], v, &r) : take_facts(&o, v)))
		code = EXIT_ERROR;
	else
		code = conclude(&o, v, operands ? argv[1] : NULL);
	code = output_close(&o.output, code);
	if (r)
		recording_close(r);
	redact_free(o.names);
	view_free(v);
	free(v);
	return code;
}
