/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks whose calls are asked for while the process that looks them up is busy: none is lost,
 * however little room the way there has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"
#include "collect/host.h"
#include "collect/user_parse.h"
#include "collect/user_process.h"
#include "collect/user_reader.h"
#include "collect/user_stacks.h"

#define MANY 2000

static int hold[2]; /* the reader waits until it is closed */

/* In place of those of other parts. */

int setsockopt(int socket, int level, int name, const void *value, socklen_t len)
{
	(void)socket, (void)level, (void)name, (void)value, (void)len;
	return -1; /* without CAP_NET_ADMIN */
}

static unsigned sends;

ssize_t send(int socket, const void *bytes, size_t len, int how)
{
	sends++;
	return syscall(SYS_sendto, socket, bytes, len, how, NULL, 0);
}

unsigned long long host_own_caps(void)
{
	return ~0ULL;
}

bool parser_reap(pid_t pid)
{
	(void)pid; /* the process ends with the socket */
	return true;
}

unsigned session_waits(uint32_t session)
{
	(void)session;
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)fd, (void)key, (void)value, (void)flags;
	return 0;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	uint32_t slot = *(const uint32_t *)key;
	struct user_stack u = {.tgid = 1, .start_stack = 1};

	(void)fd;
	u.frame[0] = slot + 1;
	if (slot == USER_LOST)
		u = (struct user_stack){0};
	memcpy(value, &u, sizeof(u));
	return 0;
}

void user_reader(int socket, const char *debug, pid_t culprit)
{
	static struct user_answer a;
	struct user_ask ask;
	char none;

	(void)debug, (void)culprit;
	close(hold[1]);
	if (send(socket, &(int){0}, sizeof(int), MSG_NOSIGNAL) != sizeof(int) ||
	    read(hold[0], &none, 1))
		_exit(1);
	while (recv(socket, &ask, sizeof(ask), 0) == sizeof(ask)) {
		a.number = ask.number;
		snprintf(a.calls, sizeof(a.calls), "f%u", (unsigned)ask.stack.frame[0] - 1);
		if (send(socket, &a, offsetof(struct user_answer, calls) + strlen(a.calls) + 1,
			 MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

static void test_burst(void **state)
{
	struct user_stacks *s;
	uint32_t number[MANY];
	uint64_t before;
	int32_t kernel;

	(void)state;
	assert_int_equal(pipe(hold), 0);
	s = user_stacks_new(-1, NULL);
	assert_non_null(s);
	for (uint32_t i = 0; i < MANY; i++)
		number[i] = user_stacks_number(s, USER_FIRST + i, &kernel);
	assert_null(user_stacks_calls(s, number[0]));
	/* Records do not each try again whether there is room. */
	sends = 0;
	before = now_ns();
	for (uint32_t i = 0; i < 10 * MANY; i++)
		user_stacks_number(s, USER_FIRST + i % MANY, &kernel);
	assert_in_range(sends, 0, (now_ns() - before) / (NSEC_PER_SEC / 100) + 1);
	close(hold[1]);
	user_stacks_settle(s);
	for (uint32_t i = 0; i < MANY; i++) {
		const char *calls = user_stacks_calls(s, number[i]);
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		assert_string_equal(calls ? calls : "not known", name);
	}
	user_stacks_free(s);
	close(hold[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
