/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit version: the source of this program; with --features what it is built with and what this
 * machine gives it, for a report about a fault. */
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/json.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "collect/features.h"
#include "render/schemas.h"

struct options {
	struct output output; /* only the file is used */
	int format;
	bool features;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt version_opts[] = {
	{0, "features", NULL,
	 "also the libraries, the machine, and what this kernel offers, to paste into a report "
	 "about a fault; holds no name of the machine",
	 FIELD(features)},
	{'f', "format", "FORMAT", "text or json", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(text_or_json), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(output.path)},
	OPT_SCHEMA(schema_version),
	{0},
};

static const struct opt_example version_examples[] = {
	{"sudo culprit version --features", "what a report about a fault should begin with"},
	{"culprit version -f json", "the version and the commit, for a script"},
	{0},
};

const struct opt_command version_usage = {
	.name = "version",
	.summary = "which culprit this is, and what this machine gives it",
	.about = "Which hooks in functions the kernel offers can be said only with the rights to "
		 "load BPF programs: run it with sudo.",
	.opts = version_opts,
	.examples = version_examples,
	.environment = (const struct opt_choice[]){ENV_COLUMNS, {0}},
};

/* ---- as text ---- */

struct page {
	FILE *out;
	unsigned width;
};

static const char *shown(const char *name, char *buf, size_t len)
{
	return escape_text(name, strlen(name), buf, len);
}

static void line(const struct page *p, const char *title, struct flow *f)
{
	char start[16];

	snprintf(start, sizeof(start), "%-11s", title);
	flow_start(f, p->out, p->width, start, " · ", "           ");
}

static void print_set(struct flow *f, const char *what, const struct cpus *set)
{
	char list[256];

	flow_add(f, "%s %s", what, cpus_empty(set) ? "none" : cpus_format(set, list, sizeof(list)));
}

static void print_hooks(const struct hooks *h, const struct page *p)
{
	static const char *const what[] = {
		[HOOK_ABSENT] = "not offered",
		[HOOK_NOT_KNOWN] = "not known without the right to load programs",
	};
	struct flow f;

	line(p, "hooks", &f);
	if (h->err)
		flow_add(&f,
			 "none: the kernel's types (/sys/kernel/btf/vmlinux) cannot be read: %s",
			 strerror(-h->err));
	else
		flow_add(&f, "%u of %u are offered", h->of_state[HOOK_THERE], h->n);
	flow_end(&f);
	for (enum hook_state s = HOOK_ABSENT; s <= HOOK_NOT_KNOWN; s++) {
		if (s == HOOK_THERE || !h->of_state[s])
			continue;
		line(p, "", &f);
		flow_add(&f, "%s:", what[s]);
		f.separator = " ";
		for (uint32_t i = 0; i < h->n; i++)
			if (h->state[i] == s)
				flow_add(&f, "%s", h->name[i]);
		flow_end(&f);
	}
}

static void print_machine(const struct features *x, const struct page *p)
{
	const struct host *host = &x->host;
	char model[512];
	struct flow f;

	line(p, "kernel", &f);
	flow_add(&f, "%s", shown(host->kernel, model, sizeof(model)));
	flow_add(&f, "PREEMPT_RT %s", x->realtime ? "yes" : "no");
	flow_add(&f, "nohz_full %s", x->has_nohz_full ? "possible" : "not possible");
	flow_add(&f, "osnoise tracer %s", x->has_osnoise ? "yes" : "not seen");
	flow_end(&f);
	line(p, "machine", &f);
	flow_add(&f, "%s", host->arch);
	flow_add(&f, "%s", shown(host->cpu_model, model, sizeof(model)));
	if (host->hypervisor[0])
		flow_add(&f, "a guest (%s)", shown(host->hypervisor, model, sizeof(model)));
	flow_add(&f, "clock %s", shown(host->clocksource, model, sizeof(model)));
	flow_end(&f);
	line(p, "cpus", &f);
	print_set(&f, "online", &host->online);
	print_set(&f, "isolated", &host->isolated);
	print_set(&f, "nohz_full", &host->nohz_full);
	flow_end(&f);
	line(p, "tracing", &f);
	flow_add(&f, "%s%s", x->missing[0] ? "not permitted: this process lacks " : "permitted",
		 x->missing);
	if (x->foreign)
		flow_add(&f, "%s", x->foreign);
	if (x->locked_down)
		flow_add(&f, "the kernel's lockdown (confidentiality) forbids it");
	flow_end(&f);
}

static void print_text(const struct features *x, const struct page *p)
{
	struct flow f;

	fprintf(p->out, "culprit %s%s%s%s\n", CULPRIT_VERSION, CULPRIT_COMMIT[0] ? " (commit " : "",
		CULPRIT_COMMIT, CULPRIT_COMMIT[0] ? ")" : "");
	if (!x)
		return;
	line(p, "built", &f);
	flow_add(&f, "for %s", x->built_for);
	flow_add(&f, "by %s", x->compiler);
	flow_end(&f);
	line(p, "with", &f);
	f.separator = ", ";
	for (const char *at = x->libraries; *at;) {
		int len = strcspn(at, ",");

		flow_add(&f, "%.*s", len, at);
		at += len + strspn(at + len, ", ");
	}
	flow_end(&f);
	print_machine(x, p);
	print_hooks(&x->hooks, p);
}

/* ---- as JSON ---- */

static void put_hooks(struct json *j, const struct hooks *h)
{
	static const char *const key[] = {
		[HOOK_ABSENT] = "absent", [HOOK_THERE] = "there", [HOOK_NOT_KNOWN] = "not_known"};

	json_object(j, "hooks");
	for (enum hook_state s = HOOK_ABSENT; s <= HOOK_NOT_KNOWN; s++) {
		json_array(j, key[s]);
		for (uint32_t i = 0; i < h->n; i++)
			if (h->state[i] == s)
				json_string(j, NULL, h->name[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_features(struct json *j, const struct features *x)
{
	json_string(j, "built_for", x->built_for);
	json_string(j, "compiler", x->compiler);
	json_string(j, "libraries", x->libraries);
	json_string(j, "kernel", x->host.kernel);
	json_bool(j, "realtime", x->realtime);
	json_bool(j, "has_nohz_full", x->has_nohz_full);
	json_bool(j, "has_osnoise", x->has_osnoise);
	json_string(j, "arch", x->host.arch);
	json_string(j, "cpu_model", x->host.cpu_model);
	json_string(j, "hypervisor", x->host.hypervisor[0] ? x->host.hypervisor : NULL);
	json_string(j, "clocksource", x->host.clocksource);
	render_cpus(j, "online", &x->host.online);
	render_cpus(j, "isolated", &x->host.isolated);
	render_cpus(j, "nohz_full", &x->host.nohz_full);
	json_string(j, "missing_capabilities", x->missing);
	json_string(j, "foreign_namespace", x->foreign);
	json_bool(j, "locked_down", x->locked_down);
	put_hooks(j, &x->hooks);
}

static void print_json(const struct features *x, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", "culprit.version/1");
	json_string(&j, "version", CULPRIT_VERSION);
	json_string(&j, "commit", CULPRIT_COMMIT[0] ? CULPRIT_COMMIT : NULL);
	if (x)
		put_features(&j, x);
	json_end(&j);
}

int cmd_version(int argc, char **argv)
{
	struct features *x = NULL;
	struct options o = {0};
	struct render_options r;
	struct page page;
	int operands, code = opt_parse(&version_usage, argc, argv, &o, &operands);

	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	if (o.features) {
		x = features_read();
		if (!x) {
			complain("out of memory");
			return EXIT_ERROR;
		}
	}
	code = EXIT_ERROR;
	if (!output_open(&o.output)) {
		output_ready(&o.output, &r);
		page = (struct page){o.output.file, r.width};
		if (o.format)
			print_json(x, page.out);
		else
			print_text(x, &page);
		if (!output_done(&o.output, 0))
			code = EXIT_OK;
		code = output_close(&o.output, code);
	}
	features_free(x);
	return code;
}
