/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the flight recorder: when it is pulled, what it does then, how much it keeps. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cmd/flight.h"
#include "cmd/limits.h"

#define FIELD(name) offsetof(struct flight_options, name)
#define BELONGS     .needs = "last", .why = "belongs to --last"

static const struct {
	const char *name;
	enum action_kind kind;
	bool text; /* something must follow */
} kinds[] = {
	{"keep", ACTION_KEEP, false},   {"stop", ACTION_STOP, false},
	{"print", ACTION_PRINT, false}, {"signal", ACTION_SIGNAL, true},
	{"exec", ACTION_EXEC, true},    {"trace_off", ACTION_TRACE_OFF, false},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct {
	const char *name;
	int number;
} signals[] = {
	{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP},   {"INT", SIGINT},
	{"TERM", SIGTERM}, {"KILL", SIGKILL}, {"STOP", SIGSTOP}, {"CONT", SIGCONT},
	{"ABRT", SIGABRT}, {"QUIT", SIGQUIT}, {"ALRM", SIGALRM}, {"WINCH", SIGWINCH},
};

static int set_signal(const char *text, struct action *a, char *why, size_t whylen)
{
	size_t n = strcspn(text, ":");
	const char *name = text;

	if (n > 3 && !strncmp(name, "SIG", 3)) {
		name += 3;
		n -= 3;
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (strlen(signals[i].name) == n && !strncmp(signals[i].name, name, n))
			a->signal = signals[i].number;
	if (!a->signal) {
		snprintf(why, whylen,
			 "'signal:%.40s': no such signal: use USR1, USR2, HUP, INT, TERM, KILL, "
			 "STOP, CONT, ABRT, QUIT, ALRM or WINCH",
			 text);
		return -EINVAL;
	}
	text = strchr(text, ':');
	return text && parse_integer(text + 1, 1, 4194304, &a->pid, why, whylen) ? -EINVAL : 0;
}

static int set_action(const char *text, void *field, const struct opt *row, char *why,
		      size_t whylen)
{
	struct flight_options *o = (void *)((char *)field - offsetof(struct flight_options, then));
	size_t n = strcspn(text, ":"), i = 0;
	struct action a = {.text = text[n] ? text + n + 1 : NULL};

	(void)row;
	while (i < KINDS && (strlen(kinds[i].name) != n || strncmp(kinds[i].name, text, n)))
		i++;
	if (i == KINDS || (kinds[i].text && !(a.text && *a.text)) ||
	    (a.text && kinds[i].kind < ACTION_SIGNAL)) {
		snprintf(why, whylen,
			 "'%.60s' is no action: use keep, stop, print, signal:NAME[:PID], "
			 "exec:COMMAND or trace_off[:INSTANCE]",
			 text);
		return -EINVAL;
	}
	a.kind = kinds[i].kind;
	if (o->nthen == ACTIONS_MAX) {
		snprintf(why, whylen, "'%.60s' is one too many: at most %d can be given", text,
			 ACTIONS_MAX);
		return -EINVAL;
	}
	if (a.kind == ACTION_SIGNAL && set_signal(a.text, &a, why, whylen))
		return -EINVAL;
	o->then[o->nthen++] = a;
	return 0;
}

static int set_rate(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	struct {
		uint64_t count, within_ns;
	} *rate = field;
	const char *slash = strchr(text, '/');
	char number[24], time[48];
	uint64_t ns;
	long n;

	(void)row;
	if (!slash) {
		snprintf(why, whylen, "'%.40s': give a number and a time, like 1/10s", text);
		return -EINVAL;
	}
	snprintf(number, sizeof(number), "%.*s", (int)(slash - text), text);
	/* "5/m" is 5/1m */
	snprintf(time, sizeof(time), "%s%.40s", strchr("0123456789.", slash[1]) ? "" : "1",
		 slash + 1);
	if (parse_integer(number, 1, RATE_MAX, &n, why, whylen) ||
	    parse_duration(time, 0, &ns, why, whylen))
		return -EINVAL;
	rate->count = n;
	rate->within_ns = ns;
	return 0;
}

static int set_when(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	unsigned can = *(const unsigned *)row->context | TRIGGER_BIT(SIGUSR1) | TRIGGER_BIT(END);

	return limits_set_trigger(text, field, &(const struct opt){.context = &can}, why, whylen);
}

const struct opt flight_opts[] = {
	{0, "last", "TIME",
	 "keep only the last TIME, in memory; write nothing before a trigger, then this time as a "
	 "recording of its own: culprit help triggers",
	 FIELD(last_ns), opt_set_duration},
	{0, "when", "EXPR",
	 "the trigger: hiccup>100us, say; may be given several times. SIGUSR1 is always one",
	 FIELD(when), set_when, .preset = "end", BELONGS},
	{0, "then", "ACTION",
	 "what a trigger does: keep, stop, print, signal:NAME[:PID], exec:COMMAND or "
	 "trace_off[:INSTANCE]; may be given several times",
	 FIELD(then), set_action, .preset = "keep", BELONGS},
	{0, "after", "TIME", "how long it goes on before a recording is written", FIELD(after_ns),
	 opt_set_duration, .preset = "1s", BELONGS},
	{0, "keep", "N", "how many recordings at most", FIELD(keep), measure_set_count,
	 .preset = "100 in a directory, or the one file", BELONGS},
	{0, "rate", "N/TIME", "no more than N recordings within TIME, like 1/10s", FIELD(rate),
	 set_rate, .preset = "any number", BELONGS},
	{0},
};
