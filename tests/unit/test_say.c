/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on a terminal that takes nothing: nobody waits for it, and nothing is lost. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/say.h"

/* stderr is the terminal's lower end; what it shows is read from the upper one. */
struct terminal {
	int upper, lower, stderr_fd;
};

static struct terminal open_terminal(void)
{
	struct terminal t = {.upper = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)};
	struct termios raw;

	assert_true(t.upper >= 0 && !grantpt(t.upper) && !unlockpt(t.upper));
	t.lower = open(ptsname(t.upper), O_RDWR | O_NOCTTY);
	assert_true(t.lower >= 0 && !tcgetattr(t.lower, &raw));
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(t.lower, TCSANOW, &raw), 0);
	t.stderr_fd = dup(STDERR_FILENO);
	assert_int_equal(dup2(t.lower, STDERR_FILENO), STDERR_FILENO);
	return t;
}

static void close_terminal(struct terminal *t)
{
	assert_int_equal(dup2(t->stderr_fd, STDERR_FILENO), STDERR_FILENO);
	close(t->stderr_fd);
	close(t->lower);
	close(t->upper);
}

/* Reads so many bytes, which a thread of the kernel's passes on: they may come late. */
static void read_bytes(const struct terminal *t, char *text, size_t len)
{
	int tries = 6000;

	for (size_t at = 0; at < len;) {
		ssize_t n = read(t->upper, text + at, len - at);

		at += n > 0 ? n : 0;
		assert_true(n > 0 || tries-- > 0);
		if (n <= 0)
			usleep(10000);
	}
}

/* The terminal shows that, and nothing behind it. */
static void shows(const struct terminal *t, const char *want)
{
	char text[8192] = "";

	assert_true(strlen(want) < sizeof(text));
	read_bytes(t, text, strlen(want));
	assert_string_equal(text, want);
	assert_true(read(t->upper, text, sizeof(text)) <= 0);
}

static void stopped(void **state)
{
	struct terminal t = open_terminal();
	char byte;

	(void)state;
	assert_int_equal(tcflow(t.lower, TCOOFF), 0);
	say_wait(false);
	say_progress("going on");
	say("one");
	say("two");
	assert_true(read(t.upper, &byte, 1) < 0);
	assert_int_equal(tcflow(t.lower, TCOON), 0);
	say_wait(true);
	shows(&t, "\r\033[Kculprit: one\nculprit: two\n");
	close_terminal(&t);
}

static void takes_all(void **state)
{
	struct terminal t = open_terminal();

	(void)state;
	say_wait(false);
	say("one");
	say_wait(true);
	say("two");
	shows(&t, "culprit: one\nculprit: two\n");
	close_terminal(&t);
}

/* The other end hangs, and what is on its way has filled all room. */
static void full(void **state)
{
	struct terminal t = open_terminal();
	int flags = fcntl(t.lower, F_GETFL);
	size_t len = 0;
	char *before;

	(void)state;
	assert_int_equal(fcntl(t.lower, F_SETFL, flags | O_NONBLOCK), 0);
	while (write(t.lower, ".", 1) == 1)
		len++;
	assert_int_equal(fcntl(t.lower, F_SETFL, flags), 0);
	say_wait(false);
	say("one");
	before = malloc(len);
	assert_non_null(before);
	read_bytes(&t, before, len);
	free(before);
	say_wait(true);
	shows(&t, "culprit: one\n");
	close_terminal(&t);
}

/* Not more than is kept, and those that are fit in as a whole. */
static void many(void **state)
{
	struct terminal t = open_terminal();
	char x[4001] = "", want[sizeof(x) + 64];

	(void)state;
	memset(x, 'x', sizeof(x) - 1);
	snprintf(want, sizeof(want), "culprit: %s\nculprit: short\n", x);
	assert_int_equal(tcflow(t.lower, TCOOFF), 0);
	say_wait(false);
	say("%s", x);
	say("%s", x);
	say("short");
	assert_int_equal(tcflow(t.lower, TCOON), 0);
	say_wait(true);
	shows(&t, want);
	close_terminal(&t);
}

/* A file is not opened anew: that would begin at its start. */
static void file(void **state)
{
	char name[] = "/tmp/culprit-test-say-XXXXXX", text[64] = "";
	int fd = mkstemp(name), before = dup(STDERR_FILENO);

	(void)state;
	assert_true(fd >= 0 && !unlink(name));
	assert_int_equal(write(fd, "before\n", 7), 7);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	say_wait(false);
	say("one");
	say_wait(true);
	assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, "before\nculprit: one\n");
	close(before);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped), cmocka_unit_test(takes_all), cmocka_unit_test(full),
		cmocka_unit_test(many),    cmocka_unit_test(file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
