/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/receiver.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/now.h"
#include "base/reap.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/guard.h"
#include "recording/format.h"

#define HANDSHAKE_NS (5 * NSEC_PER_SEC)  /* before a connection has shown the token */
#define SILENCE_NS   (30 * NSEC_PER_SEC) /* without a record: the host sends one a second */
#define REST_NS      (30 * NSEC_PER_SEC) /* for what the host has in hand */
#define LOOK_MS      100                 /* between two looks whether that is still wanted */
#define CALLERS      64                  /* waiting for the token at a time */

/* Memory that both processes see. */
struct state {
	_Atomic int how; /* enum received */
	_Atomic uint64_t bytes, begun_ns, last_ns;
	_Atomic uint32_t refused;
};

struct receiver {
	struct state *state;
	int file, control;
	pid_t pid;
	char path[32];
};

/* ---- the process that takes it ---- */

struct taker {
	struct state *state;
	const struct token *token;
	int listening, file;
	int control; /* readable: it is enough */
};

/* Waits for either; bit 0: fd, bit 1: control. 0: neither came. */
static int wait_for(int fd, int control, int ms)
{
	struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = control, .events = POLLIN}};

	while (poll(p, 2, ms) < 0 && errno == EINTR)
		;
	return (p[0].revents ? 1 : 0) | (p[1].revents ? 2 : 0);
}

/* Puts what came into the file. */
static enum received keep(struct taker *t, const uint8_t *data, size_t len)
{
	struct state *s = t->state;

	if (s->bytes + len > RECEIVER_MOST)
		return RECEIVED_FULL;
	for (size_t n = 0; n < len;) {
		ssize_t put = write(t->file, data + n, len - n);

		if (put <= 0)
			return RECEIVED_FULL;
		n += put;
	}
	s->last_ns = now_ns();
	s->bytes += len;
	if (!s->begun_ns && s->bytes > FILE_HEAD)
		s->begun_ns = s->last_ns;
	return RECEIVED_PART;
}

static enum received take_all(struct taker *t, int fd, struct channel *c)
{
	uint8_t record[CHANNEL_RECORD]; /* not static: each sampler would have it, too */
	enum received how = RECEIVED_PART;
	uint64_t end_ns = UINT64_MAX;
	int control = t->control;
	bool last = false;
	size_t len;

	while (how == RECEIVED_PART && now_ns() < end_ns) {
		int what = wait_for(fd, control, SILENCE_NS / NSEC_PER_MSEC);

		if (what & 2) {
			shutdown(fd, SHUT_WR);
			control = -1;
			end_ns = now_ns() + REST_NS;
		}
		if (!what)
			break;
		if (!(what & 1))
			continue;
		if (!channel_take(c, record, &len, &last, now_ns() + SILENCE_NS))
			break;
		how = keep(t, record, len);
		if (last && how == RECEIVED_PART)
			how = RECEIVED_WHOLE;
	}
	return how == RECEIVED_PART ? RECEIVED_BROKE : how;
}

/* Those who have not shown the token yet; who came first is first. */
struct callers {
	struct {
		struct caller caller;
		uint64_t until_ns;
	} of[CALLERS];
	int n;
};

static void remove_caller(struct callers *all, int i)
{
	all->n--;
	memmove(&all->of[i], &all->of[i + 1], (all->n - i) * sizeof(all->of[0]));
}

static void send_away(struct taker *t, struct callers *all, int i)
{
	close(all->of[i].caller.fd);
	remove_caller(all, i);
	t->state->refused++;
}

/* Takes in one who comes. Where there are too many, who came first has to go: a host says at once
 * what it has to say. */
static void take_in(struct taker *t, struct callers *all)
{
	int fd = accept4(t->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (all->n == CALLERS)
		send_away(t, all, 0);
	all->of[all->n].until_ns = now_ns() + HANDSHAKE_NS;
	all->n++;
	if (!channel_greet(&all->of[all->n - 1].caller, fd))
		send_away(t, all, all->n - 1);
}

/* Waits for one of them, for another who comes, or until the first has to go: p tells of each, and
 * behind them of who comes. False: it is enough. */
static bool wait_for_any(const struct taker *t, const struct callers *all, struct pollfd *p)
{
	uint64_t now = now_ns();
	int n = all->n, ms = -1;

	for (int i = 0; i < n; i++)
		p[i] = (struct pollfd){.fd = all->of[i].caller.fd, .events = POLLIN};
	p[n] = (struct pollfd){.fd = t->listening, .events = POLLIN};
	p[n + 1] = (struct pollfd){.fd = t->control, .events = POLLIN};
	if (n)
		ms = now < all->of[0].until_ns ? (all->of[0].until_ns - now) / NSEC_PER_MSEC + 1
					       : 0;
	while (poll(p, n + 2, ms) < 0 && errno == EINTR)
		;
	return !p[n + 1].revents;
}

/* The connection of one who has shown the token by now; -1: none has. */
static int hear_all(struct taker *t, struct callers *all, const struct pollfd *p,
		    struct channel **c)
{
	for (int i = all->n - 1; i >= 0; i--) {
		int fd = all->of[i].caller.fd;
		enum heard heard =
			p[i].revents ? channel_hear(&all->of[i].caller, t->token, c) : HEARD_PART;

		if (heard == HEARD_HOST) {
			remove_caller(all, i);
			return fd;
		}
		if (heard == HEARD_STRANGER || all->of[i].until_ns <= now_ns())
			send_away(t, all, i);
	}
	return -1;
}

/* The connection of one who has the token; -1: it is enough. */
static int await_host(struct taker *t, struct channel **c)
{
	struct pollfd p[CALLERS + 2];
	struct callers all = {.n = 0};
	int fd = -1;

	while (fd < 0 && wait_for_any(t, &all, p)) {
		bool comes = p[all.n].revents;

		fd = hear_all(t, &all, p, c);
		if (fd < 0 && comes)
			take_in(t, &all);
	}
	while (all.n)
		send_away(t, &all, 0);
	return fd;
}

static void __attribute__((noreturn)) take(struct taker *t, const struct cpus *cpus, pid_t culprit)
{
	struct channel *c;
	sigset_t all;
	int fd;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "culprit-host");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != culprit)
		_exit(1);
	if (!cpus_empty(cpus))
		cpus_run_on(cpus);
	guard_answerer();
	fd = await_host(t, &c);
	if (fd >= 0) {
		close(t->listening);
		t->state->last_ns = now_ns();
		t->state->how = RECEIVED_PART;
		t->state->how = take_all(t, fd, c);
	}
	_exit(0);
}

/* ---- ours ---- */

/* 0, or -1 with errno. */
static int start(struct receiver *r, int listening, const struct token *token,
		 const struct cpus *cpus)
{
	struct taker t = {.token = token, .listening = listening};
	pid_t culprit = getpid();
	int pair[2];

	r->state = mmap(NULL, sizeof(*r->state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (r->state == MAP_FAILED) {
		r->state = NULL;
		return -1;
	}
	r->file = memfd_create("culprit host", MFD_CLOEXEC);
	if (r->file < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -1;
	snprintf(r->path, sizeof(r->path), "/proc/self/fd/%d", r->file);
	r->control = pair[0];
	r->pid = fork();
	if (!r->pid) {
		close(pair[0]);
		t.state = r->state;
		t.file = r->file;
		t.control = pair[1];
		take(&t, cpus, culprit);
	}
	close(pair[1]);
	return r->pid < 0 ? -1 : 0;
}

struct receiver *receiver_open(const struct channel_address *at, const struct token *token,
			       const struct cpus *housekeeping)
{
	struct receiver *r = calloc(1, sizeof(*r));
	int listening = channel_listen(at), err = -1;

	if (r)
		r->file = r->control = -1;
	if (r && listening >= 0) {
		err = start(r, listening, token, housekeeping);
		if (err)
			complain("--host-listen: cannot start a process for it: %s",
				 strerror(errno));
	}
	if (listening >= 0)
		close(listening);
	if (!err)
		return r;
	receiver_close(r);
	return NULL;
}

struct receipt receiver_look(const struct receiver *r)
{
	const struct state *s = r->state;

	return (struct receipt){.how = s->how,
				.bytes = s->bytes,
				.begun_ns = s->begun_ns,
				.last_ns = s->last_ns,
				.refused = s->refused};
}

void receiver_enough(struct receiver *r)
{
	shutdown(r->control, SHUT_WR); /* others may have inherited it */
}

struct receipt receiver_finish(struct receiver *r, const volatile int *stop)
{
	struct pollfd p = {.fd = r->control, .events = POLLIN};
	uint64_t end_ns = now_ns() + REST_NS + SILENCE_NS;
	struct receipt receipt;

	receiver_enough(r);
	/* The process closes its end. A signal right before poll() does not end that. */
	while (!*stop && now_ns() < end_ns && poll(&p, 1, LOOK_MS) <= 0)
		;
	reap_killed(r->pid);
	r->pid = 0;
	receipt = receiver_look(r);
	if (receipt.how == RECEIVED_PART) /* stopped here, or killed by somebody */
		receipt.how = *stop ? RECEIVED_LEFT : RECEIVED_BROKE;
	return receipt;
}

const char *receiver_path(const struct receiver *r)
{
	return r->path;
}

void receiver_close(struct receiver *r)
{
	if (!r)
		return;
	reap_killed(r->pid);
	if (r->control >= 0)
		close(r->control);
	if (r->file >= 0)
		close(r->file);
	if (r->state)
		munmap(r->state, sizeof(*r->state));
	free(r);
}
