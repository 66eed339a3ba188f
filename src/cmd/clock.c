/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit clock: how far the CPU's counter and the clocks can be trusted, and the cost of reading
 * them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/measure.h"
#include "cmd/output.h"
#include "collect/clock.h"
#include "collect/host.h"
#include "collect/phc.h"
#include "render/clock.h"
#include "render/schemas.h"

struct options {
	struct cpus cpus;
	unsigned reference;
	uint64_t duration_ns;
	int format;
	struct output output; /* only the file is used */
	bool quiet;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt clock_opts[] = {
	{'c', "cpus", "CPUS", "the CPUs whose counters to compare, with a thread on each for 0.1 s",
	 FIELD(cpus), opt_set_cpus, .preset = "all allowed and all isolated CPUs"},
	{'d', "duration", "TIME",
	 "how long to watch the rate, like 10s or 1h; a number without a unit is seconds",
	 FIELD(duration_ns), opt_set_duration, .preset = "3s"},
	{'f', "format", "FORMAT", "the format of the report", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(text_or_json), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(output.path)},
	OPT_SCHEMA(schema_clock),
	{'q', "quiet", NULL, "print no progress line", FIELD(quiet)},
	{0},
};

static const struct opt_example clock_examples[] = {
	{"culprit clock", "three seconds of the counter and the clocks"},
	{"sudo culprit clock -d 1m /dev/ptp0", "the hardware clock of a network card, too"},
	{0},
};

const struct opt_command clock_usage = {
	.name = "clock",
	.operands = "[DEVICE|INTERFACE]...",
	.summary = "how steady the counter and the clocks are, and what a reading costs",
	.about = "Measures the rate of the CPU's counter by CLOCK_MONOTONIC and "
		 "CLOCK_MONOTONIC_RAW, how far the counters of CPUs are apart, and what it costs "
		 "to read the counter and each clock; says which clocks are read by a system call. "
		 "Needs no privileges, traces nothing, sets nothing.\n\n"
		 "With a PTP device (/dev/ptp0) or a network interface: also its hardware clock "
		 "against CLOCK_REALTIME, in each way that the kernel has: offset, delay, and how "
		 "long the call takes.",
	.opts = clock_opts,
	.examples = clock_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};

/* Isolated CPUs are in no process's mask by default, but are the most interesting ones. */
static int choose(struct options *o, const struct host *host)
{
	struct cpus allowed, here;
	int lowest;

	cpus_allowed(&allowed);
	cpus_and(&allowed, &host->online);
	if (cpus_empty(&o->cpus)) {
		o->cpus = host->isolated;
		host_reachable(&o->cpus);
		cpus_or(&o->cpus, &allowed);
	}
	if (measure_online(&o->cpus, &host->online))
		return -1;
	here = o->cpus;
	cpus_and(&here, &allowed);
	lowest = cpus_next(cpus_empty(&here) ? &o->cpus : &here, 0);
	o->reference = lowest > 0 ? lowest : 0;
	return 0;
}

/* Opens all named devices before anything is measured. */
static int open_devices(struct clock_view *v, char **operand, int n, int *fd)
{
	v->device = calloc(n ? n : 1, sizeof(*v->device));
	if (!v->device)
		return complain("out of memory");
	for (; (int)v->ndevices < n; v->ndevices++) {
		fd[v->ndevices] = phc_open(operand[v->ndevices], &v->device[v->ndevices]);
		if (fd[v->ndevices] < 0)
			return -1;
	}
	return 0;
}

static int write_report(struct options *o, const struct clock_view *v)
{
	struct render_options r;

	output_ready(&o->output, &r);
	return output_done(&o->output, o->format == FORMAT_JSON
					       ? render_clock_json(v, o->output.file)
					       : render_clock_text(v, &r, o->output.file));
}

static bool some_way_works(const struct phc *d)
{
	for (int i = 0; i < PHC_WAYS; i++)
		if (!d->result[i].error)
			return true;
	return false;
}

static int measure(struct options *o, struct clock_view *v, const int *fd)
{
	struct clock_options co = {.cpus = o->cpus,
				   .reference = o->reference,
				   .duration_ns = o->duration_ns,
				   .stop = &measure_stop,
				   .progress = !o->quiet && isatty(STDERR_FILENO) ? say_progress
										  : NULL};
	struct phc_start start[CLOCK_DEVICES];
	int code = EXIT_OK;

	measure_catch_signals();
	for (uint32_t i = 0; i < v->ndevices; i++)
		start[i] = phc_begin(fd[i], &phc_kernel);
	if (clock_measure(v, &co))
		return EXIT_ERROR;
	for (uint32_t i = 0; i < v->ndevices; i++)
		phc_measure(fd[i], &phc_kernel, &start[i], v->tai_s, v->ns_per_tick, &v->device[i]);
	if (write_report(o, v))
		return EXIT_ERROR;
	for (uint32_t i = 0; i < v->ndevices; i++)
		if (!some_way_works(&v->device[i])) {
			complain("%s: its PTP hardware clock cannot be read: the report says why",
				 v->device[i].operand);
			code = EXIT_ERROR;
		}
	return code;
}

int cmd_clock(int argc, char **argv)
{
	struct options o = {.duration_ns = 3 * NSEC_PER_SEC};
	struct clock_view *v = calloc(1, sizeof(*v));
	int operands = 0, fd[CLOCK_DEVICES], code;

	code = opt_parse(&clock_usage, argc, argv, &o, &operands);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	host_read(&v->host);
	code = EXIT_ERROR;
	if (operands > CLOCK_DEVICES)
		complain("more than %d devices: give fewer", CLOCK_DEVICES);
	else if (!choose(&o, &v->host) && !open_devices(v, argv + 1, operands, fd) &&
		 !output_open(&o.output))
		code = output_close(&o.output, measure(&o, v, fd));
	for (uint32_t i = 0; i < v->ndevices; i++)
		close(fd[i]);
	clock_view_free(v);
	free(v);
	return code;
}
