/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit watch: the user's own program is the workload. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/advise.h"
#include "base/confine.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/hosted.h"
#include "cmd/sender.h"
#include "cmd/textfile.h"
#include "cmd/watch_threads.h"
#include "cmd/workload_command.h"
#include "collect/facts.h"
#include "collect/host.h"
#include "collect/sums.h"
#include "collect/watch.h"
#include "model/place.h"
#include "model/watch.h"
#include "render/openmetrics.h"

struct options {
	struct workload_command command;
	struct watched threads;
	struct flight_options last;
	struct textfile_options textfile;
	struct channel_address to;
	const char *token;
	struct cpus later; /* may come online meanwhile, and are watched then */
	bool sums;
};

#define FIELD(name) offsetof(struct options, name)

/* Takes -t TIME; or -t TID, an old spelling: a bare number, which is no time. */
static int set_threshold_or_tid(const char *text, void *field, const struct opt *row, char *why,
				size_t whylen)
{
	struct options *o = field;

	if (!*text || text[strspn(text, "0123456789")])
		return opt_set_time(text, &o->command.measure.threshold_ns, row, why, whylen);
	say("-t %.20s is read as --tid, its old meaning: -t is --threshold now, so write --tid "
	    "%.20s",
	    text, text);
	return watch_threads_tid(text, &o->threads, why, whylen);
}

static const struct opt watch_opts[] = {
	{.include = watch_threads_opts, .offset = FIELD(threads)},
	{'c', "cpus", "CPUS",
	 "watch only these CPUs; when no threads are chosen all of programs on them",
	 FIELD(command.measure.cpus), opt_set_cpus,
	 .preset = "the CPUs on which the threads may run"},
	MEASURE_DURATION(FIELD(command.measure.duration_ns), "10s"),
	{'t', NULL, "TIME", NULL, 0, set_threshold_or_tid}, /* before the row that explains it */
	{'t', "threshold", "TIME", "leave out shorter losses", FIELD(command.measure.threshold_ns),
	 opt_set_time, .preset = "none"},
	{0, "faults", NULL, "also watch page faults", FIELD(threads.faults)},
	{0, "syscalls", NULL, "also watch system calls: their time on the CPU",
	 FIELD(threads.syscalls)},
	{0, "sums", NULL,
	 "let the kernel add up what takes their time, by CPU: no event leaves it; single losses, "
	 "who asked and whose time it was are then not known",
	 FIELD(sums)},
	{'H', "housekeeping", "CPUS", "the CPUs on which culprit runs",
	 FIELD(command.measure.housekeeping), opt_set_cpus, .preset = "all CPUs but those of -c"},
	{'q', "quiet", NULL, "print no progress line", FIELD(command.measure.quiet)},
	{.include = output_opts, .offset = FIELD(command.output)},
	OUTPUT_BY(FIELD(command.measure.by), NULL),
	{.include = workload_record_opts, .offset = FIELD(command)},
	{0, "to", "ADDRESS",
	 "send the recording to culprit run in the guest whose virtual CPUs these are, where that "
	 "listens: vsock:CID:PORT, tcp:PORT (127.0.0.1) or tcp:ADDRESS:PORT; without -d it ends "
	 "with that run (culprit help reading)",
	 FIELD(to), channel_set_to, .needs = "token", .excludes = "record,last,sums",
	 .why = "sends each event as it is recorded, to one who has the secret"},
	OPT_TOKEN(FIELD(token), "to"),
	{.include = limits_opts, .offset = FIELD(command.limits)},
	{.include = limits_stop_on_opts,
	 .offset = FIELD(command.limits),
	 .arg = &(const unsigned){WATCH_TRIGGERS}},
	{.include = flight_opts, .offset = FIELD(last), .arg = &(const unsigned){WATCH_TRIGGERS}},
	{.include = textfile_opts, .offset = FIELD(textfile)},
	MEASURE_BEGIN(FIELD(command.measure.begin)),
	{0, "ready-file", "FILE", NULL, FIELD(command.measure.ready_file), opt_set_string,
	 .writes = true},
	{0},
};

static const struct opt_example watch_examples[] = {
	{"sudo culprit watch -p 4242",
	 "who takes time from the threads of process 4242, for ten seconds"},
	{"sudo culprit watch -p 4242 -d forever -t 1ms --max-hiccup 5ms",
	 "losses of 1 ms and more, until it ends; exits with 2 if one was over 5 ms"},
	{"sudo culprit watch -c 3 --syscalls -f html -o threads.html",
	 "all threads of programs on CPU 3 and their system calls, as a page"},
	{0},
};

#define IF_NOBODY                                                                                  \
	" With a limit, --stop-on, --junit or --tap it is 3, too, where none of the threads ran."

const struct opt_command watch_usage = {
	.name = "watch",
	.summary = "say who takes time from your own program's threads",
	.about = "No sampler runs: your program is the workload. For each of its threads it "
		 "reports the interrupts during its time on a CPU, when it was preempted and by "
		 "whom, and how long it waited to run after it was woken. A program that includes "
		 "culprit.h can report its own late times; then these are explained instead, of "
		 "processes given by their number (-p, --vcpus PID). Ends when all that is given "
		 "so has ended, unless others may come; with -d, or with "
		 "Ctrl-C.\n\n" EXIT_STATUS("2 --max-hiccup, --max-lost or --stop-on was crossed, ")
			 IF_NOBODY,
	.opts = watch_opts,
	.examples = watch_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, ENV_NOTIFY, {0}},
};

/* Refuses what takes single events. */
static int check_sums(const struct options *o)
{
	const struct {
		const char *option;
		bool given;
	} rows[] = {
		{"--threshold", o->command.measure.threshold_ns},
		{"--faults or --syscalls", o->threads.faults || o->threads.syscalls},
		{"--record", o->command.record},
		{"--last", o->last.last_ns},
		{"--stacks", o->command.output.stacks},
		{"--max-hiccup", o->command.limits.max_hiccup_ns},
		{"--stop-on", o->command.limits.stop_on.count},
		{"--metrics-label", o->command.output.label},
	};

	if (!o->sums)
		return 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].given)
			return complain("%s needs each event, and with --sums none leaves the "
					"kernel: leave one of the two out",
					rows[i].option);
	if (!output_adds_up(&o->command.output))
		return complain("with --sums a report can be text, json, openmetrics or "
				"prometheus (-f): the "
				"other formats need each event");
	return 0;
}

/* All CPUs where the threads may run. */
static void choose_cpus(struct options *o, const struct host *host)
{
	struct cpus *cpus = &o->command.measure.cpus, possible;

	host_possible(&possible);
	if (watch_threads_may_come(&o->threads))
		*cpus = possible;
	else
		watch_threads_cpus(&o->threads, cpus);
	o->later = *cpus;
	cpus_and(&o->later, &possible);
	cpus_sub(&o->later, &host->online);
	cpus_and(cpus, &host->online);
}

static int check(struct options *o, const struct host *host)
{
	struct measure *m = &o->command.measure;
	struct facts layout = {0};

	o->threads.users = !watch_threads_given(&o->threads);
	if (o->threads.users && cpus_empty(&m->cpus))
		return complain("watch what? give -p PID, --tid TID, --comm GLOB, --unit GLOB, "
				"--cgroup PATH, --vcpus PID|NAME, or -c CPUS");
	if (!cpus_empty(&m->cpus) && measure_online(&m->cpus, &host->online))
		return -1;
	if (o->threads.vcpus[0] && o->threads.syscalls)
		return complain(
			"--syscalls says nothing of a virtual CPU (--vcpus), which runs its "
			"guest inside one system call: leave one of the two out");
	if (m->user_stacks)
		return complain("--user-stacks: none are taken on the CPUs that are watched, where "
				"nearly all of these threads' askers run: leave it out");
	if (check_sums(o) || measure_may_trace(""))
		return -1;
	if (watch_threads_check(&o->threads))
		return -1;
	o->threads.exits = watch_threads_exits(&o->threads);
	if (o->sums && o->threads.exits)
		say("--sums adds up no time of virtual CPUs out of their guests: of each such time "
		    "it depends on the thread, and on its end, whether the guest had halted; "
		    "leave out --sums to see it");
	if (cpus_empty(&m->cpus))
		choose_cpus(o, host);
	if (cpus_empty(&m->housekeeping)) {
		facts_layout(&layout, NULL); /* a file that cannot be read does not count */
		place_choose(&layout, &host->online, &m->cpus, &m->housekeeping);
		facts_free(&layout);
	}
	return 0;
}

struct watch_state {
	struct options *o;
	struct view *view;
	struct textfile *textfile;
	struct sender *sender;
};

/* False: the guest has enough. */
static bool step(void *ctx)
{
	const struct watch_state *s = ctx;

	return !s->sender || !sender_over(s->sender);
}

static void write_textfile(struct watch_state *s, bool running)
{
	advise(s->view); /* out of memory: some sources have no cause this time */
	textfile_write(s->textfile, s->view, running);
}

static void snapshot(void *ctx)
{
	write_textfile(ctx, true);
}

static int end(void *ctx)
{
	struct watch_state *s = ctx;

	if (!s->view->run.sums)
		watch_cut(s->view);
	if (s->textfile)
		write_textfile(s, false);
	return live_report(&s->o->command.output, s->view);
}

/* 0, or -1 with the reason said. */
static int send_to(const struct options *o, struct watch_state *s, struct live *live)
{
	struct token token;

	if (!o->to.text)
		return 0;
	if (channel_token(o->token, &token))
		return -1;
	s->sender = sender_open(&o->to, &token, &o->command.measure.housekeeping);
	if (!s->sender)
		return -1;
	live->record_to = o->to.text;
	live->record_fd = sender_file(s->sender);
	return 0;
}

/* Returns the exit code. */
static int run(struct options *o, struct view *v)
{
	struct workload_command *c = &o->command;
	struct watch_state state = {o, v};
	struct watch_options wo = {.threads = o->threads,
				   .cpus = c->measure.cpus,
				   .later = o->later,
				   .housekeeping = c->measure.housekeeping,
				   .threshold_ns = c->measure.threshold_ns,
				   .by = c->measure.by,
				   .commands = c->measure.commands};
	struct live live = {.measure = &c->measure,
			    .engine = o->sums ? &sums_engine : &watch_engine,
			    .engine_options = &wo,
			    .view = v,
			    .output = &c->output,
			    .spans = !o->sums,
			    .limits = &c->limits,
			    .record_to = c->record,
			    .force = c->force,
			    .keeps = watch_threads_rights(&o->threads) |
				     (o->textfile.path ? RIGHTS_OF_FILES : 0),
			    .makes_maps = !cpus_empty(&o->later),
			    .last = &o->last,
			    .every_ns = textfile_every(&o->textfile),
			    .snapshot = textfile_wanted(&o->textfile) ? snapshot : NULL,
			    .ctx = &state,
			    .step = step,
			    .end = end};
	int code;

	watch_threads_programs(&o->threads, wo.pid);
	wo.ends = wo.pid[0] && !watch_threads_may_come(&o->threads);
	if (wo.ends)
		live.signal_pid = wo.pid[0];
	if (wo.pid[0]) /* a program of another user makes its reports when it likes to */
		live.keeps |= RIGHT_DAC_READ_SEARCH | RIGHT_FOWNER;
	wo.threads.sums = o->sums ? SUMS_ALONE : SUMS_NONE;
	if (textfile_wanted(&o->textfile) &&
	    !(state.textfile = textfile_open(&o->textfile, c->output.metrics_per == PER_HOST,
					     output_label(&c->output), &c->measure.housekeeping)))
		return EXIT_ERROR;
	code = send_to(o, &state, &live) ? EXIT_ERROR : live_run(&live);
	if (state.sender && sender_finish(state.sender))
		code = EXIT_ERROR;
	sender_close(state.sender);
	return textfile_close(state.textfile) ? EXIT_ERROR : code;
}

int cmd_watch(int argc, char **argv)
{
	struct options o = {0};
	struct view *v = calloc(1, sizeof(*v));
	int operands, code;

	measure_init(&o.command.measure);
	o.command.measure.no_audit = true;
	o.command.measure.duration_ns = 0;
	code = opt_parse(&watch_usage, argc, argv, &o, &operands);
	measure_end(&o.command.measure, o.to.text);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	host_read(&v->host);
	if (textfile_check(&o.textfile, &o.command.output) || check(&o, &v->host) ||
	    (!o.last.last_ns && live_check_record(o.command.record, o.command.force)) ||
	    output_open(&o.command.output))
		code = EXIT_ERROR;
	else
		code = output_close(&o.command.output, run(&o, v));
	view_free(v);
	free(v);
	return code;
}
