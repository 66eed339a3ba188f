/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/reap.h"
#include "base/say.h"
#include "collect/affinity.h"

#define WAIT_MS 1000

struct runner {
	int fd;
	bool busy;
};

/* ---- the process that runs it ---- */

static void __attribute__((noreturn)) become(const char *command, char *text, size_t len)
{
	/* nothing that the shell or the loader hears, whoever sent it */
	for (char *at = text; at < text + len; at += strlen(at) + 1)
		if (!strncmp(at, "CULPRIT_", strlen("CULPRIT_")))
			putenv(at);
	reset_signals();
	setsid();
	pages_stay(false);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Waits for the command's end. False: culprit has ended first. Then nobody may be left here, as our
 * copies of culprit's output would keep its reader waiting for as long as the command runs. */
static bool await(pid_t pid, int fd, int *status)
{
	struct pollfd p[] = {{.fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN},
			     {.fd = fd, .events = POLLRDHUP}};

	while (p[0].fd >= 0 && poll(p, 2, -1) < 0 && errno == EINTR)
		;
	close(p[0].fd);
	if (p[1].revents)
		return false;
	reap(pid, status);
	return true;
}

/* Waits until the other end of fd closes. */
static void __attribute__((noreturn)) serve(const char *command, int fd)
{
	static char text[RUNNER_TEXT];
	ssize_t len;

	while ((len = recv(fd, text, sizeof(text) - 1, 0)) > 0) {
		pid_t pid = fork();
		int status = 0;

		text[len] = 0;
		if (!pid)
			become(command, text, len);
		if ((pid > 0 && !await(pid, fd, &status)) ||
		    send(fd, &status, sizeof(status), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

struct runner *runner_open(const char *command, const struct cpus *cpus)
{
	struct runner *r = calloc(1, sizeof(*r));
	int pair[2];
	pid_t pid;

	if (!r || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		complain("exec: %s", strerror(errno));
		free(r);
		return NULL;
	}
	pid = fork();
	if (!pid) {
		close(pair[0]);
		signal(SIGINT, SIG_IGN); /* these go to the whole group; culprit says when */
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		signal(SIGUSR1, SIG_IGN);
		if (!cpus_empty(cpus))
			cpus_run_on(cpus);
		confine_rights(0);
		serve(command, pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		complain("exec: cannot start a process for it: %s", strerror(errno));
		close(pair[0]);
		free(r);
		return NULL;
	}
	r->fd = pair[0];
	return r;
}

/* ---- ours ---- */

static void hear(struct runner *r)
{
	int status;

	if (r->busy && recv(r->fd, &status, sizeof(status), MSG_DONTWAIT) >= 0)
		r->busy = false;
}

bool runner_run(struct runner *r, const char *environment, size_t len)
{
	hear(r);
	if (r->busy || len >= RUNNER_TEXT ||
	    send(r->fd, environment, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return false;
	r->busy = true;
	return true;
}

bool runner_wait(struct runner *r)
{
	struct pollfd p = {.fd = r->fd, .events = POLLIN};

	if (r->busy)
		poll(&p, 1, WAIT_MS);
	hear(r);
	return !r->busy;
}

void runner_close(struct runner *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}
