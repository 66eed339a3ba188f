/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a recording into a pipe that its reader does not empty: it comes, and is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../world/fast_clock.h"
#include "../world/world.h"
#include "base/units.h"
#include "recording/write.h"

#define NAMES  120000 /* more than the queue has room for */
#define ENDS_S 60     /* much more than it may take, and less than to read all of it */

static struct view view;
static struct recorder *recorder;
static int pipes[2], said[2];

static int begin(void **state)
{
	static const unsigned cpus[] = {3};
	const struct cpus any = {0};

	(void)state;
	world_view(&view, "host", cpus, 1);
	if (pipe2(pipes, O_CLOEXEC) || pipe2(said, O_CLOEXEC | O_NONBLOCK))
		return -1;
	recorder = recorder_open_to(pipes[1], "tcp:guest:1", 0, &any);
	return !recorder || recorder_head(recorder, &view);
}

static int end(void **state)
{
	(void)state;
	view_free(&view);
	close(pipes[0]);
	close(said[0]);
	close(said[1]);
	return 0;
}

/* Gives it names that packing makes hardly smaller, until there is no room. */
static void fill(void)
{
	const struct tap *tap = recorder_tap(recorder);
	uint64_t random = 88172645463325252ULL;
	char name[201] = "";

	for (uint32_t i = 0; i < NAMES; i++) {
		for (size_t k = 0; k < sizeof(name) - 1; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			name[k] = 1 + random % 255;
		}
		tap->event(tap->ctx, &(struct event){.type = EVENT_SYMBOL,
						     .named = {.number = i, .name = name}});
	}
}

/* Ends it, and returns what was said. */
static const char *ended(char text[400])
{
	int before = dup(STDERR_FILENO), failed;
	ssize_t n;

	assert_true(dup2(said[1], STDERR_FILENO) >= 0);
	alarm(ENDS_S);
	failed = recorder_end(recorder, &view);
	recorder_close(recorder);
	alarm(0);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	assert_int_equal(failed, -1);
	n = read(said[0], text, 399);
	text[n > 0 ? n : 0] = 0;
	return text;
}

/* A KiB at a time. */
static void *read_slowly(void *arg)
{
	struct timespec nap = {0, 10000000};
	char some[1024];

	(void)arg;
	while (read(pipes[0], some, sizeof(some)) > 0)
		nanosleep(&nap, NULL);
	return NULL;
}

/* The name of a file that nobody is to look for is not said. */
static void test_scratch(void **state)
{
	char text[400];

	(void)state;
	recorder_scratch(recorder, "it cannot be kept");
	fill();
	assert_string_equal(ended(text), "culprit: it cannot be kept: the rest was not taken in "
					 "time\n");
}

static void test_a_slow_reader(void **state)
{
	pthread_t reader;
	char text[400];

	(void)state;
	assert_int_equal(pthread_create(&reader, NULL, read_slowly, NULL), 0);
	fill();
	assert_non_null(strstr(ended(text), "stops here: "));
	pthread_join(reader, NULL);
}

/* Not even its tail has room. */
static void test_no_reader(void **state)
{
	struct bytes one = {0};
	char text[400];

	(void)state;
	put_u8(&one, 0);
	fill();
	while (recorder_put(recorder, &one, 0, 0))
		;
	assert_non_null(strstr(ended(text), "stops here: "));
	free(one.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_reader, begin, end),
		cmocka_unit_test_setup_teardown(test_scratch, begin, end),
		cmocka_unit_test_setup_teardown(test_a_slow_reader, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
