/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"
#include "collect/user_parse.h"
#include "collect/user_process.h"

#define ANSWER_MS 10000 /* for many files; one may take PARSE_FILE_MS */
#define STEP_MS   50
#define REAP_MS   1000

int parser_start(struct parser *p)
{
	pid_t parent = getpid();
	int pair[2], err;
	char begun;

	p->pid = 0;
	if (!p->reading) {
		void *shared = mmap(NULL, sizeof(*p->reading), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (shared == MAP_FAILED)
			return -errno;
		p->reading = shared;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	p->pid = fork();
	err = -errno;
	if (!p->pid) {
		close(pair[0]);
		if (p->apart >= 0)
			close(p->apart);
		parser_process(pair[1], p->reading, parent);
	}
	close(pair[1]);
	if (p->pid < 0) {
		p->pid = 0;
		close(pair[0]);
		return err;
	}
	p->socket = pair[0];
	if (TEMP_FAILURE_RETRY(recv(p->socket, &begun, 1, 0)) == 1)
		return 0;
	parser_stop(p);
	return -ECHILD;
}

bool parser_reap(pid_t pid)
{
	kill(pid, SIGKILL);
	for (int i = 0; i < REAP_MS; i++) {
		if (waitpid(pid, NULL, WNOHANG))
			return true;
		usleep(1000);
	}
	return !process_waits(pid);
}

void parser_stop(struct parser *p)
{
	if (!p->pid)
		return;
	p->left = !parser_reap(p->pid);
	close(p->socket);
	p->pid = 0;
}

static bool tell(int socket, const struct parse_ask *ask, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} room = {};
	struct iovec io = {(void *)ask, sizeof(*ask)};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (fd >= 0) {
		m.msg_control = room.bytes;
		m.msg_controllen = sizeof(room.bytes);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) == sizeof(*ask);
}

/* Waits for an answer, or the end. 0, -ETIME or -EBUSY; *hung: it was waiting most of the time. */
static int wait_answer(const struct parser *p, bool *hung)
{
	struct pollfd come = {.fd = p->socket, .events = POLLIN};
	uint64_t until = now_ns() + ANSWER_MS * NSEC_PER_MSEC;
	int64_t used = 0, waited = 0;
	uint32_t file = 0;
	bool begun = false;

	while (poll(&come, 1, STEP_MS) != 1) {
		if (!begun || *p->reading != file) {
			file = *p->reading;
			used = process_used_ms(p->pid);
			waited = 0;
			begun = true;
		} else if (process_waits(p->pid)) {
			waited += STEP_MS;
		}
		*hung = 2 * waited > PARSE_FILE_MS;
		if (process_used_ms(p->pid) - used + waited > PARSE_FILE_MS)
			return -ETIME;
		if (now_ns() > until)
			return -EBUSY;
	}
	return 0;
}

uint32_t parser_reading(const struct parser *p)
{
	return *p->reading;
}

int parser_ask(struct parser *p, const struct parse_ask *ask, int fd, struct parse_answer *answer)
{
	bool hung = false;
	int err;

	if (!p->pid)
		return -EPIPE;
	*p->reading = UINT32_MAX;
	err = tell(p->socket, ask, fd) ? wait_answer(p, &hung) : -EPIPE;
	if (!err && recv(p->socket, answer, sizeof(*answer), 0) == sizeof(*answer) &&
	    answer->n <= CALLS_MOST) {
		answer->build[sizeof(answer->build) - 1] = 0;
		for (uint32_t i = 0; i < answer->n; i++)
			answer->frame[i].name[CALLS_NAME - 1] =
				answer->frame[i].line[CALLS_LINE - 1] = 0;
		return 0;
	}
	parser_stop(p);
	p->stuck = p->left && hung;
	return err ? err : -EPIPE;
}
