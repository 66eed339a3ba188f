/* culprit run: measure, join, report. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "collect/collect.h"
#include "collect/host.h"
#include "render/render.h"

#define POLL_NS     (10 * NSEC_PER_MSEC)
#define PROGRESS_NS (250 * NSEC_PER_MSEC)

struct options {
	struct cpus cpus, housekeeping;
	uint64_t duration_ns, threshold_ns;
	struct {
		int policy, priority;
	} sched;
	int format;
	const char *output, *hiccups, *ready_file;
	bool quiet, stacks, no_trace, clock;
	uint64_t max_hiccup_ns;
	double max_lost;
};

static int set_threshold(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	if (!strcmp(text, "auto")) {
		*(uint64_t *)field = 0;
		return 0;
	}
	return opt_set_time(text, field, row, why, whylen);
}

/* "f:10" FIFO, "r:5" round robin, "o:0" the normal policy: rtla's and chrt's letters. */
static int set_priority(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	struct {
		int policy, priority;
	} *sched = field;
	int policy = text[0] == 'f' ? SCHED_FIFO : text[0] == 'r' ? SCHED_RR : text[0] == 'o' ? SCHED_OTHER : -1;
	long priority;

	(void)row;
	if (policy < 0 || text[1] != ':') {
		snprintf(why, whylen,
			 "'%s' is not a priority: use f:1 to f:99 (FIFO), r:1 to r:99 (round robin) or o:0", text);
		return -EINVAL;
	}
	if (parse_integer(text + 2, policy != SCHED_OTHER, policy == SCHED_OTHER ? 0 : 99, &priority, why, whylen))
		return -EINVAL;
	sched->policy = policy;
	sched->priority = priority;
	return 0;
}

#define FIELD(name) offsetof(struct options, name)

static const struct opt run_opts[] = {
	{'c', "cpus", "CPUS",
	 "the CPUs to measure, as 1-3,8; default: the isolated ones that are online, or else all allowed ones but the "
	 "lowest",
	 FIELD(cpus), opt_set_cpus, NULL},
	{'d', "duration", "TIME", "how long: 10s, 5m, 500ms; a bare number is seconds; default 10s", FIELD(duration_ns),
	 opt_set_duration, NULL},
	{'t', "threshold", "TIME",
	 "the shortest gap that counts as a hiccup, as 1us, or auto (the default): just above what each CPU's own "
	 "loop shows",
	 FIELD(threshold_ns), set_threshold, NULL},
	{'P', "priority", "PRIO",
	 "policy and priority of the samplers: f:10 FIFO, r:5 round robin, o:0 normal (default)", FIELD(sched),
	 set_priority, NULL},
	{'H', "housekeeping", "CPUS", "where everything else of culprit runs; default: all other CPUs",
	 FIELD(housekeeping), opt_set_cpus, NULL},
	{'f', "format", "FORMAT", "text (default) or json", FIELD(format), opt_set_choice, format_names},
	{'o', "output", "FILE", "write the report to FILE instead of standard output", FIELD(output), opt_set_string,
	 NULL},
	{'q', "quiet", NULL, "no progress line", FIELD(quiet), NULL, NULL},
	{0, "hiccups", "FILE",
	 "also write each hiccup, with its pieces and who asked for them, to FILE: a JSON object a line",
	 FIELD(hiccups), opt_set_string, NULL},
	{0, "max-hiccup", "TIME", "exit with 2 when a hiccup is longer", FIELD(max_hiccup_ns), opt_set_time, NULL},
	{0, "max-lost", "PERCENT", "exit with 2 when a CPU loses more of its time", FIELD(max_lost), opt_set_percent,
	 NULL},
	{0, "stacks", NULL, "in text: the kernel stacks of who asked for IPIs, wakeups and work", FIELD(stacks), NULL,
	 NULL},
	{0, "no-trace", NULL, "measure only, without BPF: needs no privileges, names nothing", FIELD(no_trace), NULL,
	 NULL},
	{0, "clock", NULL,
	 "sample CLOCK_MONOTONIC instead of the time-stamp counter: coarser, for machines whose counter is not stable",
	 FIELD(clock), NULL, NULL},
	{0, "ready-file", "FILE", NULL, FIELD(ready_file), opt_set_string, NULL},
	{0},
};

const struct opt_command run_usage = {
	.name = "run",
	.summary = "measure CPUs and say who interrupted them",
	.about =
		"Spins on each CPU, notices every time it was away, and joins each gap with what the kernel ran there. "
		"Ctrl-C ends the run early with the full report.\n\n"
		"Exit status: 0 done, 1 error, 2 a threshold given by --max-hiccup or --max-lost was crossed.",
	.opts = run_opts,
};

/* The only global state: a signal asks the run to end. The second one ends the process, by the default action. */
static volatile int stop;

static void on_signal(int sig)
{
	stop = 1;
	signal(sig, SIG_DFL);
}

/* Ctrl-C and SIGTERM. Without SA_RESTART: sleeping calls come back at once. */
static void catch_signals(void)
{
	struct sigaction act = {.sa_handler = on_signal};

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* ---- choosing CPUs ---- */

static int choose_targets(struct options *o, const struct host *host)
{
	struct cpus absent = o->cpus, allowed;
	char list[256];
	int lowest;

	if (!cpus_empty(&o->cpus)) {
		cpus_sub(&absent, &host->online);
		if (cpus_empty(&absent))
			return 0;
		cpus_format(&absent, list, sizeof(list));
		char online[256];
		return complain("CPU %s is not there or offline: online are %s (-c)", list,
				cpus_format(&host->online, online, sizeof(online)));
	}
	o->cpus = host->isolated;
	cpus_and(&o->cpus, &host->online);
	if (!cpus_empty(&o->cpus))
		return 0;
	host_allowed(&allowed);
	o->cpus = allowed;
	lowest = cpus_next(&o->cpus, 0);
	if (lowest >= 0)
		cpus_del(&o->cpus, lowest);
	if (cpus_empty(&o->cpus))
		return complain(
			"there is only one CPU to use, and it must stay free for housekeeping: culprit needs two");
	return 0;
}

static int choose_housekeeping(struct options *o, const struct host *host)
{
	struct cpus both = o->housekeeping, absent = o->housekeeping;
	char list[256], targets[256];

	cpus_and(&both, &o->cpus);
	cpus_sub(&absent, &host->online);
	if (!cpus_empty(&both))
		return complain("CPU %s cannot be measured and do housekeeping at once: give -c and -H different CPUs",
				cpus_format(&both, list, sizeof(list)));
	if (!cpus_empty(&absent))
		return complain("CPU %s is not there or offline (-H)", cpus_format(&absent, list, sizeof(list)));
	if (!cpus_empty(&o->housekeeping))
		return 0;
	o->housekeeping = host->online;
	cpus_sub(&o->housekeeping, &o->cpus);
	if (cpus_empty(&o->housekeeping))
		return complain(
			"measuring all online CPUs (%s) would leave none for housekeeping, and the machine could hang: "
			"leave one out of -c",
			cpus_format(&o->cpus, targets, sizeof(targets)));
	return 0;
}

static int check_place(const struct options *o, const struct host *host)
{
	char caps[64];
	const char *why = "";

	if (!o->no_trace) {
		host_missing_caps(caps, sizeof(caps));
		if (caps[0])
			return complain("tracing needs %s: run with sudo, or with --no-trace to measure without names",
					caps);
	}
	if (!o->clock && !host_counter_stable(host, &why))
		return complain("the time-stamp counter is not stable here (%s): use --clock", why);
	return 0;
}

/* ---- running ---- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static void show_progress(const struct view *v, uint64_t elapsed_ns, uint64_t duration_ns)
{
	uint64_t hiccups = 0, worst = v->summary.nworst ? v->summary.worst[0].duration_ns : 0;
	char line[160], a[32], b[32], c[32], d[32];

	for (uint32_t i = 0; i < v->summary.ncpus; i++)
		hiccups += v->summary.cpu[i].hiccups.count;
	snprintf(line, sizeof(line), "%s of %s · %s hiccups · worst %s", format_ns(elapsed_ns, a, sizeof(a)),
		 format_ns(duration_ns, b, sizeof(b)), format_count(hiccups, c, sizeof(c)),
		 format_ns(worst, d, sizeof(d)));
	say_progress(line);
}

static void write_hiccups(struct collect *c, const struct view *v, FILE *lines)
{
	const struct account *a;
	uint32_t index;

	while (lines && (a = collect_next(c, &index)))
		render_hiccup(&v->summary.cpu[index], a, lines);
}

static void measure(struct collect *c, const struct options *o, const struct view *v, FILE *lines)
{
	bool progress = !o->quiet && isatty(STDERR_FILENO);
	uint64_t begin = now_ns(), shown = 0, now;
	struct timespec nap = {0, POLL_NS};

	while ((now = now_ns()) - begin < o->duration_ns && !stop) {
		uint64_t left = o->duration_ns - (now - begin);

		nap.tv_nsec = left < POLL_NS ? left : POLL_NS;
		nanosleep(&nap, NULL);
		if (!collect_poll(c))
			break;
		write_hiccups(c, v, lines);
		if (progress && now - shown >= PROGRESS_NS) {
			show_progress(v, now - begin, o->duration_ns);
			shown = now;
		}
	}
	if (progress)
		say_progress("");
}

static void announce(const char *path)
{
	FILE *f = path ? fopen(path, "we") : NULL;

	if (f)
		fclose(f);
}

static int crossed(const struct options *o, const struct view *v)
{
	int code = EXIT_OK;

	for (uint32_t i = 0; i < v->summary.ncpus; i++) {
		const struct hist *h = &v->summary.cpu[i].hiccups;
		double lost = v->cpu[i].observed_ns ? 100.0 * h->sum / v->cpu[i].observed_ns : 0;
		char a[32], b[32];

		if (o->max_hiccup_ns && h->max > o->max_hiccup_ns) {
			say("CPU %u: a hiccup of %s is longer than --max-hiccup %s", v->summary.cpu[i].cpu,
			    format_ns(h->max, a, sizeof(a)), format_ns(o->max_hiccup_ns, b, sizeof(b)));
			code = EXIT_CROSSED;
		}
		if (o->max_lost > 0 && lost > o->max_lost) {
			say("CPU %u: %s %% of its time lost is more than --max-lost %s", v->summary.cpu[i].cpu,
			    format_percent(lost, a, sizeof(a)), format_percent(o->max_lost, b, sizeof(b)));
			code = EXIT_CROSSED;
		}
	}
	return code;
}

static int report(const struct options *o, const struct view *v, FILE *out)
{
	struct render_options r = {.width = 100, .stacks = o->stacks};
	struct winsize size;

	if (o->output && ftruncate(fileno(out), 0)) {
		/* a pipe or a device: nothing to cut */
	}
	if (isatty(fileno(out))) {
		const char *no_colour = getenv("NO_COLOR");

		r.colour = !(no_colour && no_colour[0]);
		if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col >= 40)
			r.width = size.ws_col < 120 ? size.ws_col : 120;
	}
	if (formats[o->format].write(v, &r, out) || fflush(out) || ferror(out))
		return complain("writing the report to %s: %s", o->output ? o->output : "standard output",
				strerror(errno));
	return 0;
}

/* Opened before the run, so that an hour is not measured for nothing; what the file held is kept until there is a report. */
static FILE *open_output(const char *path)
{
	int fd;

	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		complain("cannot write to %s: %s; choose another file with -o", path, strerror(errno));
		return NULL;
	}
	return fdopen(fd, "w");
}

static int run(const struct options *o, struct view *v, FILE *out, FILE *lines)
{
	struct collect_options co = {.targets = o->cpus,
				     .housekeeping = o->housekeeping,
				     .trace = !o->no_trace,
				     .clock = o->clock,
				     .policy = o->sched.policy,
				     .priority = o->sched.priority,
				     .threshold_ns = o->threshold_ns};
	struct collect *c;
	int code = EXIT_ERROR;

	catch_signals();
	c = collect_open(&co, v, &stop);
	if (!c)
		return stop ? EXIT_OK : EXIT_ERROR;
	if (!collect_begin(c)) {
		announce(o->ready_file);
		measure(c, o, v, lines);
		collect_stop(c);
		write_hiccups(c, v, lines);
		collect_end(c);
		code = report(o, v, out) ? EXIT_ERROR : crossed(o, v);
	}
	collect_close(c);
	return code;
}

static FILE *open_lines(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		complain("cannot write to %s: %s; choose another file with --hiccups", path, strerror(errno));
	return f;
}

static int close_output(FILE *out, const char *path)
{
	if (out == stdout)
		return 0;
	if (ferror(out) | fclose(out))
		return complain("writing %s: %s", path, strerror(errno));
	return 0;
}

int cmd_run(int argc, char **argv)
{
	struct options o = {.duration_ns = 10 * NSEC_PER_SEC, .sched.policy = SCHED_OTHER};
	struct view *v = calloc(1, sizeof(*v));
	FILE *out = stdout, *lines = NULL;
	int operands, code;

	code = opt_parse(&run_usage, argc, argv, &o, &operands);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	host_read(&v->host);
	if (choose_targets(&o, &v->host) || choose_housekeeping(&o, &v->host) || check_place(&o, &v->host)) {
		free(v);
		return EXIT_ERROR;
	}
	if ((o.output && !(out = open_output(o.output))) || (o.hiccups && !(lines = open_lines(o.hiccups)))) {
		free(v);
		return EXIT_ERROR;
	}
	code = run(&o, v, out, lines);
	view_free(v);
	free(v);
	if (close_output(out, o.output) || (lines && close_output(lines, o.hiccups)))
		code = EXIT_ERROR;
	return code;
}
