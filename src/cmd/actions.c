/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/actions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/escape.h"
#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/limits.h"
#include "cmd/runner.h"

struct actions {
	struct action row[ACTIONS_MAX];
	uint32_t count;
	bool report; /* stdout is its place */
	struct runner *runner;
	int trace_off; /* tracing_on of the instance; -1: none */
	/* A pidfd for each action that sends a signal, because another process may get the number;
	 * -1 for all others. */
	int pidfd[ACTIONS_MAX];
	uint64_t not_run, not_sent, not_told;
};

/* ---- opening ---- */

/* Opened now: later there may be no right to. */
static int open_trace(const char *instance)
{
	char path[PATH_MAX];
	int fd;

	if (instance && (strchr(instance, '/') || !strcmp(instance, "..")))
		return complain("trace_off:%s: that is no name of an instance", instance);
	snprintf(path, sizeof(path), "/sys/kernel/tracing/%s%s%stracing_on",
		 instance ? "instances/" : "", instance ? instance : "", instance ? "/" : "");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return complain("trace_off: cannot open %s: %s; mkdir "
				"/sys/kernel/tracing/instances/NAME makes an instance",
				path, strerror(errno));
	return fd;
}

static int open_process(const struct action *x)
{
	int fd = syscall(SYS_pidfd_open, x->pid, 0); /* since 5.3 */

	if (fd < 0)
		complain("signal:%s: process %ld: %s", x->text, x->pid, strerror(errno));
	return fd;
}

static int open_one(struct actions *a, uint32_t i, long pid, const struct cpus *cpus)
{
	struct action *x = &a->row[i];

	if (x->kind == ACTION_SIGNAL && !x->pid)
		x->pid = pid;
	if (x->kind == ACTION_SIGNAL && !x->pid)
		return complain("signal:%s: to which process? give its PID: signal:%s:PID", x->text,
				x->text);
	if (x->kind == ACTION_SIGNAL && (a->pidfd[i] = open_process(x)) < 0)
		return -1;
	if (x->kind == ACTION_EXEC && a->runner)
		return complain("exec: only one command can be given: let a script run several");
	if (x->kind == ACTION_EXEC && !(a->runner = runner_open(x->text, cpus)))
		return -1;
	if (x->kind == ACTION_TRACE_OFF && (a->trace_off = open_trace(x->text)) < 0)
		return -1;
	return 0;
}

struct actions *actions_open(const struct action *then, uint32_t n, long pid, bool report,
			     const struct cpus *housekeeping)
{
	struct actions *a = calloc(1, sizeof(*a));

	if (!a) {
		complain("out of memory");
		return NULL;
	}
	a->trace_off = -1;
	for (uint32_t i = 0; i < ACTIONS_MAX; i++)
		a->pidfd[i] = -1;
	a->report = report;
	if (n)
		memcpy(a->row, then, n * sizeof(*then));
	else
		a->row[n++].kind = ACTION_KEEP;
	a->count = n;
	for (uint32_t i = 0; i < n; i++)
		if (open_one(a, i, pid, housekeeping)) {
			actions_close(a);
			return NULL;
		}
	return a;
}

void actions_close(struct actions *a)
{
	if (!a)
		return;
	runner_close(a->runner);
	if (a->trace_off >= 0)
		close(a->trace_off);
	for (uint32_t i = 0; i < ACTIONS_MAX; i++)
		if (a->pidfd[i] >= 0)
			close(a->pidfd[i]);
	free(a);
}

bool actions_keep(const struct actions *a)
{
	for (uint32_t i = 0; i < a->count; i++)
		if (a->row[i].kind == ACTION_KEEP)
			return true;
	return false;
}

uint64_t actions_rights(const struct actions *a)
{
	for (uint32_t i = 0; i < a->count; i++)
		if (a->row[i].kind == ACTION_SIGNAL)
			return RIGHT_KILL;
	return 0;
}

/* ---- doing ---- */

/* A pipe that nobody reads, or a terminal that was stopped, must not stop the measuring. A pipe
 * that can be written takes a line of PIPE_BUF bytes at once (pipe(7)). */
static bool stdout_takes(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) != 0;
}

void actions_tell(struct actions *a, const char *fmt, ...)
{
	char text[PATH_MAX + 600], shown[PIPE_BUF - 1];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (a->report) {
		say("%s", text);
		return;
	}
	if (!stdout_takes()) {
		a->not_told++;
		return;
	}
	printf("%s\n", escape_text(text, SIZE_MAX, shown, sizeof(shown)));
	fflush(stdout);
}

/* Appends "NAME=value" and a zero. */
__attribute__((format(printf, 3, 4))) static void put(char *text, size_t *len, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text + *len, RUNNER_TEXT - *len, fmt, args);
	va_end(args);
	if (n > 0 && *len + n + 1 < RUNNER_TEXT)
		*len += n + 1;
}

static bool run(struct actions *a, const struct view *v, const struct trigger_hit *hit,
		const char *file)
{
	uint64_t wall = clock_ns(CLOCK_REALTIME) - (now_ns() - hit->start_ns);
	char text[RUNNER_TEXT], said[LIMITS_HIT], shown[ESCAPE_CHAR * LIMITS_HIT], iso[ISO_TIME];
	const char *cause = NULL;
	size_t len = 0;

	if (hit->lane < v->ncpus)
		cause = hit->source < v->cpu[hit->lane].sources.count
				? v->cpu[hit->lane].sources.row[hit->source]->cause
				: NULL;
	put(text, &len, "CULPRIT_TRIGGER=%s", hit->trigger->text);
	limits_describe(v, hit, said);
	put(text, &len, "CULPRIT_TEXT=%s", escape_text(said, SIZE_MAX, shown, sizeof(shown)));
	put(text, &len, "CULPRIT_TIME=%s", format_iso_time(wall, iso));
	put(text, &len, "CULPRIT_FILE=%s", file ? file : "");
	escape_text(hit->who, SIZE_MAX, shown, sizeof(shown));
	put(text, &len, "CULPRIT_WHO=%s", shown);
	put(text, &len, "CULPRIT_CAUSE=%s", cause ? cause : "");
	if (hit->spot.cpu != SPOT_UNKNOWN)
		put(text, &len, "CULPRIT_CPU=%u", hit->spot.cpu);
	if (hit->spot.tid)
		put(text, &len, "CULPRIT_TID=%u", hit->spot.tid);
	if (hit->duration_ns)
		put(text, &len, "CULPRIT_NS=%" PRIu64, hit->duration_ns);
	return runner_run(a->runner, text, len);
}

bool actions_do(struct actions *a, const struct view *v, const struct trigger_hit *hit,
		const char *file)
{
	char said[LIMITS_HIT];
	bool stop = false;

	for (uint32_t i = 0; i < a->count; i++) {
		const struct action *x = &a->row[i];

		switch (x->kind) {
		case ACTION_KEEP:
			break;
		case ACTION_STOP:
			stop = true;
			break;
		case ACTION_PRINT:
			actions_tell(a, "%s", limits_describe(v, hit, said));
			break;
		case ACTION_SIGNAL:
			a->not_sent += syscall(SYS_pidfd_send_signal, a->pidfd[i], x->signal, NULL,
					       0) != 0;
			break;
		case ACTION_EXEC:
			a->not_run += !run(a, v, hit, file);
			break;
		case ACTION_TRACE_OFF:
			a->not_sent += write(a->trace_off, "0", 1) != 1;
			break;
		}
	}
	return stop;
}

void actions_end(struct actions *a)
{
	char count[32];

	if (a->not_run)
		say("exec: not begun for %s triggers: the command of an earlier one still ran",
		    format_count(a->not_run, count, sizeof(count)));
	if (a->not_sent)
		say("signal or trace_off: failed for %s triggers",
		    format_count(a->not_sent, count, sizeof(count)));
	if (a->not_told)
		say("nobody read what was printed: lines that are missing: %s",
		    format_count(a->not_told, count, sizeof(count)));
	if (a->runner && !runner_wait(a->runner))
		say("exec: the last command still runs, and goes on");
}
