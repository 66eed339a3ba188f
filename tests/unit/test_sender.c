/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that sends to a guest which takes a little now and then, without an end: culprit
 * ends, and the process ends with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../world/fast_clock.h"
#include "base/reap.h"
#include "base/units.h"
#include "cmd/guard.h"
#include "cmd/sender.h"

#define ENDS_S 60 /* much more than it may take */

static int pair[2], sends[2], said[2];

/* ---- in place of a channel's ---- */

int channel_connect(const struct channel_address *a)
{
	(void)a;
	return dup(pair[0]);
}

struct channel *channel_call(int fd, const struct token *token, uint64_t deadline_ns)
{
	(void)fd;
	(void)token;
	(void)deadline_ns;
	return malloc(1);
}

void channel_free(struct channel *c)
{
	free(c);
}

/* Tells that it is there, and is never through. */
bool channel_put(struct channel *c, const uint8_t *from, size_t len, bool last,
		 uint64_t deadline_ns)
{
	(void)c;
	(void)from;
	(void)len;
	(void)last;
	(void)deadline_ns;
	if (write(sends[1], "s", 1) == 1)
		for (;;)
			pause();
	return false;
}

void guard_answerer(void)
{
}

/* ---- */

static int begin(void **state)
{
	(void)state;
	alarm(ENDS_S);
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(sends) || pipe2(said, O_NONBLOCK);
}

static int end(void **state)
{
	(void)state;
	alarm(0);
	for (int i = 0; i < 2; i++) {
		close(pair[i]);
		close(sends[i]);
		close(said[i]);
	}
	return 0;
}

static struct sender *start(void)
{
	static const struct channel_address to = {.text = "tcp:guest:1"};
	const struct cpus any = {0};
	struct sender *s = sender_open(&to, NULL, &any);
	int file = s ? sender_file(s) : -1;
	char byte;

	/* waits until it sends */
	if (file < 0 || write(file, "recording", 9) != 9 || read(sends[0], &byte, 1) != 1)
		abort();
	close(file);
	return s;
}

static void test_ends(void **state)
{
	int before = dup(STDERR_FILENO), failed;
	struct sender *s = start();
	char text[400];
	ssize_t n;

	(void)state;
	assert_true(dup2(said[1], STDERR_FILENO) >= 0);
	failed = sender_finish(s);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	sender_close(s);
	assert_int_equal(failed, -1);
	n = read(said[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	assert_non_null(strstr(text, "does not have all of the recording"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_ends_with_culprit(void **state)
{
	pid_t culprit = fork();
	char byte;

	(void)state;
	if (!culprit) {
		start();
		raise(SIGKILL);
	}
	reap(culprit, NULL);
	close(sends[1]);
	assert_int_equal(read(sends[0], &byte, 1), 0); /* is open nowhere */
	sends[1] = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ends, begin, end),
		cmocka_unit_test_setup_teardown(test_ends_with_culprit, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
