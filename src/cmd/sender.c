/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/reap.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/guard.h"

/* The guest answers those before us first, whom it gives up within seconds. */
#define HANDSHAKE_NS (20 * NSEC_PER_SEC)
#define ALIVE_MS     1000                /* without anything to send, an empty record says so */
#define STUCK_NS     (30 * NSEC_PER_SEC) /* while nothing goes away: the guest is gone */
/* Wait for the rest to be sent, and for the guest to close: a little may go away for hours. */
#define FINISH_NS (2 * STUCK_NS)

enum way { WAY_OPEN, WAY_ENOUGH, WAY_BROKE, WAY_SENT };

struct sender {
	_Atomic int *way; /* enum way; memory that both processes see */
	const char *to;
	int file; /* -1: given away */
	pid_t pid;
};

/* ---- the process that sends ---- */

/* Sends what is in the pipe until its writers have closed it. */
static enum way send_all(_Atomic int *way, int from, int fd, struct channel *c)
{
	uint8_t record[CHANNEL_RECORD]; /* not static: each sampler would have it, too */
	struct pollfd p[] = {{.fd = from, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	for (;;) {
		ssize_t len = 0;
		int n;

		while ((n = poll(p, 2, ALIVE_MS)) < 0 && errno == EINTR)
			;
		if (p[1].revents) { /* a guest says nothing else */
			*way = WAY_ENOUGH;
			p[1].fd = -1;
		}
		if (n > 0 && !p[0].revents)
			continue;
		if (n > 0)
			len = read(from, record, sizeof(record));
		if (len < 0 && errno == EINTR)
			continue;
		if (!channel_put(c, record, len > 0 ? len : 0, n > 0 && len <= 0,
				 now_ns() + STUCK_NS))
			return WAY_BROKE;
		if (n > 0 && len <= 0)
			return len ? WAY_BROKE : WAY_SENT;
	}
}

/* The guest closes when it has all. */
static void await_close(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t end_ns = now_ns() + STUCK_NS;
	char byte;

	shutdown(fd, SHUT_WR);
	while (now_ns() < end_ns && recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
		poll(&p, 1, ALIVE_MS);
}

static void __attribute__((noreturn))
serve(_Atomic int *way, int from, int fd, struct channel *c, const struct cpus *cpus, pid_t culprit)
{
	enum way how;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "culprit-to");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != culprit)
		_exit(1);
	if (!cpus_empty(cpus))
		cpus_run_on(cpus);
	guard_answerer();
	how = send_all(way, from, fd, c);
	if (how == WAY_SENT)
		await_close(fd);
	*way = how;
	_exit(0);
}

/* ---- ours ---- */

/* 0, or -1 with errno. */
static int start(struct sender *s, int fd, struct channel *c, const struct cpus *cpus)
{
	pid_t culprit = getpid();
	int pipes[2];

	s->way = mmap(NULL, sizeof(*s->way), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (s->way == MAP_FAILED) {
		s->way = NULL;
		return -1;
	}
	if (pipe2(pipes, O_CLOEXEC))
		return -1;
	s->file = pipes[1];
	s->pid = fork();
	if (!s->pid) {
		close(pipes[1]);
		serve(s->way, pipes[0], fd, c, cpus, culprit);
	}
	close(pipes[0]);
	return s->pid < 0 ? -1 : 0;
}

struct sender *sender_open(const struct channel_address *to, const struct token *token,
			   const struct cpus *housekeeping)
{
	struct sender *s = calloc(1, sizeof(*s));
	int fd = s ? channel_connect(to) : -1, err = -1;
	struct channel *c;

	if (fd < 0) {
		free(s);
		return NULL;
	}
	s->to = to->text;
	s->file = -1;
	c = channel_call(fd, token, now_ns() + HANDSHAKE_NS);
	if (!c) {
		complain("--to: who listens at %.80s did not show that it has the token of "
			 "--token: is it culprit run --host-listen, with the same one, and without "
			 "another host?",
			 to->text);
	} else {
		err = start(s, fd, c, housekeeping);
		if (err)
			complain("--to: cannot start a process for it: %s", strerror(errno));
	}
	channel_free(c);
	close(fd);
	if (!err)
		return s;
	sender_close(s);
	return NULL;
}

int sender_file(struct sender *s)
{
	int file = s->file;

	s->file = -1;
	return file;
}

bool sender_over(const struct sender *s)
{
	return *s->way != WAY_OPEN;
}

/* Waits until the process has ended, or ends it. */
static void await_end(pid_t pid)
{
	uint64_t end_ns = now_ns() + FINISH_NS;
	struct timespec nap = {0, 2 * NSEC_PER_MSEC};
	pid_t ended;

	while (!(ended = waitpid(pid, NULL, WNOHANG)) && now_ns() < end_ns)
		nanosleep(&nap, NULL);
	if (!ended)
		reap_killed(pid);
}

int sender_finish(struct sender *s)
{
	if (s->file >= 0)
		close(s->file);
	s->file = -1;
	if (s->pid > 0)
		await_end(s->pid);
	s->pid = 0;
	if (*s->way == WAY_SENT)
		return 0;
	return complain("--to: the guest at %.80s is gone, takes no more, or is too slow: it does "
			"not have all of the recording",
			s->to);
}

void sender_close(struct sender *s)
{
	if (!s)
		return;
	if (s->file >= 0)
		close(s->file);
	reap_killed(s->pid);
	if (s->way)
		munmap(s->way, sizeof(*s->way));
	free(s);
}
