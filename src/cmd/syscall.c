/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit syscall: the cost of entering the kernel on a CPU, and who made a call take long. */
#include <errno.h>
#include <string.h>

#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/workload_command.h"
#include "collect/syscall.h"

#define NAME_LEN 24

struct options {
	struct workload_command command;
	struct syscall_options syscall;
};

#define FIELD(name) offsetof(struct options, name)

static int add_call(struct syscall_options *o, const char *name, char *why, size_t whylen)
{
	const char *near = opt_nearest(name, syscall_names);

	for (uint32_t i = 0; i < o->ncalls; i++)
		if (!strcmp(name, syscall_names[o->call[i]])) {
			snprintf(why, whylen, "'%s' is given twice", name);
			return -EINVAL;
		}
	for (uint8_t i = 0; syscall_names[i]; i++)
		if (!strcmp(name, syscall_names[i])) {
			o->call[o->ncalls++] = i;
			return 0;
		}
	snprintf(why, whylen, "'%s' is not one of the calls%s%s%s", name,
		 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	return -EINVAL;
}

static int set_only(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	struct syscall_options o = *(struct syscall_options *)field;
	char name[NAME_LEN];

	(void)row;
	o.ncalls = 0;
	for (;;) {
		size_t len = strcspn(text, ",");

		snprintf(name, sizeof(name), "%.*s", (int)(len < NAME_LEN ? len : NAME_LEN - 1),
			 text);
		if (add_call(&o, name, why, whylen))
			return -EINVAL;
		if (!text[len])
			break;
		text += len + 1;
	}
	*(struct syscall_options *)field = o;
	return 0;
}

static const struct opt syscall_opts[] = {
	{'n', "rounds", "N", "end after so many rounds of all calls on each CPU",
	 FIELD(syscall.rounds), measure_set_count, .preset = "until -d is over"},
	{0, "only", "LIST",
	 "only these, with commas: nothing, assignment, addition, sqrt, sqrt_reciprocal, getuid, "
	 "getpid, close_bad_fd, invalid, sched_yield, cond_signal, futex_wake, clock_realtime, "
	 "clock_tai, clock_monotonic, clock_raw, nanosleep_0, nanosleep_0_slack1, "
	 "nanosleep_1_slack1",
	 FIELD(syscall), set_only},
	{0, "bare", NULL,
	 "also measure each short call in a long loop without a timer inside: its median should "
	 "agree with this",
	 FIELD(syscall.bare)},
	MEASURE_DURATION(FIELD(command.measure.duration_ns), "10s; with -n until they are done"),
	{.include = workload_command_opts, .offset = FIELD(command)},
	{.include = limits_stop_on_opts,
	 .offset = FIELD(command.limits),
	 .arg = &(const unsigned){OPERATION_TRIGGERS}},
	{0},
};

static const struct opt_example syscall_examples[] = {
	{"sudo culprit syscall -c 3", "all calls, for ten seconds"},
	{"sudo culprit syscall -c 3 --only getpid,clock_monotonic -n 100000",
	 "two of them, 100,000 times each"},
	{0},
};

const struct opt_command syscall_usage = {
	.name = "syscall",
	.summary = "what it costs to enter the kernel, and who made a call take long",
	.about = "Makes system calls in rounds, each call once in each round, and also reads "
		 "clocks and does plain computations. Short calls are timed in batches of about 2 "
		 "us, less the time of an empty batch. Some of them are then timed one by one, to "
		 "find outliers: those longer than ten times the median are explained. The three "
		 "nanosleeps differ in the time that they ask for and in timer slack: that of this "
		 "process, or 1 ns.\n\n" EXIT_STATUS("2 --max-hiccup or --stop-on was crossed, "),
	.opts = syscall_opts,
	.examples = syscall_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};

int cmd_syscall(int argc, char **argv)
{
	const char *names[2 * SYSCALL_CALLS + 1] = {NULL};
	char bare[SYSCALL_CALLS][NAME_LEN + 8];
	struct options o = {0};
	struct syscall_options *s = &o.syscall;
	struct workload workload = syscall_workload;
	int operands, code;

	measure_init(&o.command.measure);
	o.command.measure.duration_ns = 0;
	code = opt_parse(&syscall_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	if (!s->ncalls)
		while (s->ncalls < SYSCALL_CALLS) {
			s->call[s->ncalls] = s->ncalls;
			s->ncalls++;
		}
	for (uint32_t i = 0; i < s->ncalls; i++) {
		names[i] = syscall_names[s->call[i]];
		snprintf(bare[i], sizeof(bare[i]), "%s, bare", names[i]);
		if (s->bare)
			names[s->ncalls + i] = bare[i];
	}
	workload.series = names;
	measure_end(&o.command.measure, s->rounds);
	return workload_command_run(&o.command, &workload, s);
}
