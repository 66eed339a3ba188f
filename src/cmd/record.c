/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit record: measure as run does, into a file. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/escape.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/limits.h"
#include "cmd/live.h"
#include "collect/host.h"

struct options {
	struct measure measure;
	struct limits limits;
	struct flight_options last;
	bool force, private;
};

static const struct opt record_opts[] = {
	{.include = measure_report_opts, .offset = offsetof(struct options, measure)},
	{.include = limits_opts, .offset = offsetof(struct options, limits)},
	{.include = limits_stop_on_opts,
	 .offset = offsetof(struct options, limits),
	 .arg = &(const unsigned){RUN_TRIGGERS}},
	{.include = flight_opts,
	 .offset = offsetof(struct options, last),
	 .arg = &(const unsigned){RUN_TRIGGERS}},
	{0, "force", NULL, "overwrite FILE if it exists", offsetof(struct options, force)},
	{0, "private", NULL,
	 "leave out, or give other names in place of, what tells of the machine's users: names of "
	 "the host and of user threads, the command line, the kernel's log, tasks, control groups",
	 offsetof(struct options, private)},
	{0},
};

static const struct opt_example record_examples[] = {
	{"sudo culprit record -c 3 -d 10m before.rec", "ten minutes of CPU 3"},
	{"sudo culprit record -c 3 -d forever --last 30s --when 'hiccup>1ms' kept/",
	 "keeps in the directory the half minute before each such hiccup, and the second behind "
	 "it"},
	{"sudo culprit record -q -d forever --force night.rec",
	 "until a signal comes, in place of the previous recording"},
	{0},
};

const struct opt_command record_usage = {
	.name = "record",
	.operands = "FILE|DIRECTORY",
	.summary = "measure and keep it in a file, for report and diff",
	.about = "Measures as culprit run does and keeps everything: each hiccup, each interval of "
		 "the kernel, who asked, and all names. From this file culprit report makes, on "
		 "any machine, the report that the run would have printed. Ctrl-C ends it early. A "
		 "recording that is cut off can be read up to the place where it is "
		 "cut. With --last nothing is written before a trigger is pulled, and then the "
		 "last seconds only.\n\n" EXIT_STATUS(
			 "2 --max-hiccup, --max-lost or --stop-on was crossed, "),
	.opts = record_opts,
	.examples = record_examples,
	.environment = (const struct opt_choice[]){ENV_NOTIFY, {0}},
};

/* The names of two private recordings are not the same, where they stand for the same threads. */
static struct redact *redact_random(void)
{
	uint16_t tag = 0;

	while (!tag)
		if (getrandom(&tag, sizeof(tag), 0) != sizeof(tag))
			return NULL;
	return redact_new(tag);
}

struct record_state {
	struct live *live;
	const char *path;
};

/* Prints one line: what is in the file, and what to do with it. */
static int end(void *ctx)
{
	const struct record_state *s = ctx;
	const struct recorder_stats *n = &s->live->stats;
	char a[32], b[32], c[32], d[32], path[4096], word[4 * PATH_MAX + 3];

	if (n->cut || s->live->flight) /* the flight recorder reports by itself */
		return EXIT_OK;        /* a complaint has told the length of the file */
	printf("%s: %s of %u CPU%s, %s hiccups, %s records in %s bytes",
	       escape_text(s->path, SIZE_MAX, path, sizeof(path)),
	       format_ns(s->live->view->run.duration_ns, a, sizeof(a)), s->live->view->ncpus,
	       plural(s->live->view->ncpus), format_count(n->hiccups, b, sizeof(b)),
	       format_count(n->records, c, sizeof(c)), format_count(n->stored_bytes, d, sizeof(d)));
	if (shell_quote(s->path, word, sizeof(word)))
		printf("; read it with: culprit report %s%s", s->path[0] == '-' ? "./" : "", word);
	putchar('\n');
	return EXIT_OK;
}

int cmd_record(int argc, char **argv)
{
	struct options o = {0};
	struct view *v = calloc(1, sizeof(*v));
	struct collect_options co;
	struct live live = {.measure = &o.measure,
			    .engine = &collect_engine,
			    .engine_options = &co,
			    .view = v,
			    .limits = &o.limits,
			    .last = &o.last,
			    .end = end};
	struct record_state state = {.live = &live};
	int operands, code;

	measure_init(&o.measure);
	live.ctx = &state;
	code = opt_parse(&record_usage, argc, argv, &o, &operands);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	if (operands != 1) {
		complain("one FILE to record to is needed: culprit record %s",
			 operands ? "takes no more" : "-d 10s FILE");
		free(v);
		return EXIT_ERROR;
	}
	if (!strcmp(argv[1], "-")) {
		complain("a recording is written to a file, not to standard output: name one");
		free(v);
		return EXIT_ERROR;
	}
	state.path = live.record_to = argv[1];
	live.force = o.force;
	host_read(&v->host);
	code = EXIT_ERROR;
	if (o.private && !(live.redact = o.last.redact = redact_random())) {
		complain("out of memory");
		free(v);
		return code;
	}
	if (!measure_check(&o.measure, &v->host)) {
		co = measure_collect(&o.measure);
		code = live_run(&live);
	}
	redact_free(live.redact);
	view_free(v);
	free(v);
	return code;
}
