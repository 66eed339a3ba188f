/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The child is a copy of this process that has not measured yet, so it has all rights; it waits for
 * a byte from a pipe, and ends when the pipe does. Its log goes to a file in memory. */
#include "cmd/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/say.h"
#include "poke_main.h"

#define LENGTH "50us"

/* Timers of a nohz_full CPU stay there only with 0 in it, which the child sets for as long as it
 * lives (tools/poke_timer.c). */
#define MIGRATION "/proc/sys/kernel/timer_migration"

struct noisy {
	pid_t pid;
	int go, log;
	bool done;
	int status;
	char migration[8]; /* the value that was there before; "": not known */
	int knob;          /* file of it, as none is opened for writing in a window; -1: none */
	struct noise *row;
	uint32_t count, room;
};

/* ---- the child ---- */

static int make(const struct noise_run *run, unsigned cpu, unsigned control)
{
	char target[16], from[16];
	char *argv[] = {"poke",
			"mix",
			"--able",
			"--classes",
			(char *)run->classes,
			"-n",
			(char *)run->count,
			"-g",
			(char *)run->gap,
			"-l",
			LENGTH,
			"-c",
			target,
			"-H",
			from,
			NULL};

	snprintf(target, sizeof(target), "%u", cpu);
	snprintf(from, sizeof(from), "%u", control);
	return poke_main(sizeof(argv) / sizeof(argv[0]) - 1, argv);
}

static void __attribute__((noreturn)) be_noisy(const struct noise_run *runs, unsigned cpu,
					       unsigned control, int wait, int log, pid_t parent)
{
	char byte;
	int rc = 0;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || read(wait, &byte, 1) != 1)
		_exit(0);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	for (int i = 0; i < NOISE_RUNS && runs[i].classes && !rc; i++)
		rc = make(&runs[i], cpu, control);
	fflush(stdout);
	_exit(rc);
}

/* ---- this process ---- */

static void read_migration(const struct noisy *n, char *text, size_t len)
{
	ssize_t got = n->knob < 0 ? 0 : pread(n->knob, text, len - 1, 0);

	text[got > 0 ? got : 0] = '\0';
}

struct noisy *noisy_start(const struct noise_run runs[NOISE_RUNS], unsigned cpu, unsigned control)
{
	struct noisy *n = calloc(1, sizeof(*n));
	pid_t parent = getpid();
	int pipes[2] = {-1, -1};

	if (!n) {
		complain("out of memory");
		return NULL;
	}
	n->knob = open(MIGRATION, O_RDWR | O_CLOEXEC);
	read_migration(n, n->migration, sizeof(n->migration));
	n->log = memfd_create("culprit-noise", MFD_CLOEXEC);
	if (n->log >= 0 && !pipe(pipes)) {
		fflush(NULL); /* a child prints what is unwritten, too */
		n->pid = fork();
		if (!n->pid) {
			close(pipes[1]);
			be_noisy(runs, cpu, control, pipes[0], n->log, parent);
		}
	}
	n->go = pipes[1];
	if (pipes[0] >= 0)
		close(pipes[0]);
	if (n->pid > 0)
		return n;
	complain("cannot start the process that makes noise: %s", strerror(errno));
	noisy_end(n);
	return NULL;
}

void noisy_go(struct noisy *n)
{
	if (write(n->go, "", 1) != 1)
		return; /* noisy_read() says that it has gone */
}

bool noisy_done(struct noisy *n)
{
	if (!n->done)
		n->done = waitpid(n->pid, &n->status, WNOHANG) == n->pid;
	return n->done;
}

/* Puts back what a child that was killed could not. */
static int put_migration_back(const struct noisy *n)
{
	char now[sizeof(n->migration)];

	read_migration(n, now, sizeof(now));
	if (!n->migration[0] || !strcmp(now, n->migration) ||
	    pwrite(n->knob, n->migration, strlen(n->migration), 0) > 0)
		return 0;
	return complain("cannot put " MIGRATION " back to %.*s: %s: write it there",
			(int)strcspn(n->migration, "\n"), n->migration, strerror(errno));
}

int noisy_stop(struct noisy *n)
{
	if (n->go >= 0)
		close(n->go);
	n->go = -1;
	if (n->pid <= 0)
		return 0;
	if (!n->done) {
		kill(n->pid, SIGTERM);
		n->done = waitpid(n->pid, &n->status, 0) == n->pid;
	}
	return put_migration_back(n);
}

void noisy_end(struct noisy *n)
{
	if (!n)
		return;
	if (n->go >= 0)
		noisy_stop(n);
	if (n->log >= 0)
		close(n->log);
	if (n->knob >= 0)
		close(n->knob);
	free(n->row);
	free(n);
}

/* ---- its log ---- */

/* The value of a key in a line of JSON that holds no objects; NULL: there is none. */
static const char *value_of(const char *line, const char *key)
{
	char quoted[32];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(line, quoted);
	return at ? at + strlen(quoted) : NULL;
}

static uint64_t number_of(const char *line, const char *key)
{
	const char *at = value_of(line, key);

	return at ? strtoull(at, NULL, 10) : 0;
}

static void text_of(const char *line, const char *key, char *text, size_t len)
{
	const char *at = value_of(line, key);

	snprintf(text, len, "%.*s", at ? (int)strcspn(at + 1, "\"") : 0, at ? at + 1 : "");
}

/* The first line, whose "why" tells of each class that could not be made why. */
static void take_reasons(const char *line, struct noise_sum *sums)
{
	const char *why = value_of(line, "why");

	for (int i = 0; why && noise_classes[i].name; i++)
		if (value_of(why, noise_classes[i].name))
			text_of(why, noise_classes[i].name, sums[i].why, sizeof(sums[i].why));
}

static int take_noise(struct noisy *n, const char *line)
{
	struct noise *grown, one = {.start_ns = number_of(line, "start_ns"),
				    .end_ns = number_of(line, "end_ns"),
				    .tid = number_of(line, "tid"),
				    .partner = number_of(line, "partner_tid"),
				    .sender = number_of(line, "sender_tid")};
	uint64_t sent = number_of(line, "sent_ns");
	char class[32];
	int is;

	text_of(line, "class", class, sizeof(class));
	is = noise_class_of(class);
	if (is < 0)
		return complain("a noise of an unknown class: '%s'", class);
	if (sent && sent < one.start_ns)
		one.start_ns = sent;
	one.class = is;
	text_of(line, "comm", one.comm, sizeof(one.comm));
	text_of(line, "function", one.function, sizeof(one.function));
	if (n->count == n->room) {
		n->room = n->room ? 2 * n->room : 1024;
		grown = realloc(n->row, n->room * sizeof(*n->row));
		if (!grown)
			return complain("out of memory");
		n->row = grown;
	}
	n->row[n->count++] = one;
	return 0;
}

int noisy_read(struct noisy *n, struct noise_sum *sums, const struct noise **made, uint32_t *count)
{
	char *line = NULL, last[256] = "";
	size_t size = 0;
	int err = 0;
	FILE *f;

	lseek(n->log, 0, SEEK_SET);
	f = fdopen(dup(n->log), "r");
	if (!f)
		return complain("cannot read what noise was made: %s", strerror(errno));
	while (!err && getline(&line, &size, f) > 0) {
		if (value_of(line, "poke"))
			take_reasons(line, sums);
		else if (value_of(line, "class"))
			err = take_noise(n, line);
		else if (line[0] != '{')
			snprintf(last, sizeof(last), "%.*s", (int)strcspn(line, "\n"), line);
	}
	free(line);
	fclose(f);
	*made = n->row;
	*count = n->count;
	if (!err && (!WIFEXITED(n->status) || WEXITSTATUS(n->status)))
		err = complain("noise could not be made: %s",
			       WIFSIGNALED(n->status) ? "the process that makes it was killed"
			       : last[0]              ? last
						      : "its process has ended before its time");
	return err;
}
