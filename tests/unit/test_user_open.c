/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of strangers are opened when they are files, and where they are said to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/user_open.h"

static char place[64];

static char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static int begin(void **state)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	(void)state;
	snprintf(place, sizeof(place), "%.40s/XXXXXX", dir ? dir : "/tmp");
	if (!mkdtemp(place) || mkfifo(path_of("pipe"), 0600) ||
	    symlink("/file", path_of("inside")) || symlink("/etc/passwd", path_of("outside")) ||
	    mkdir(path_of("dir"), 0700))
		return -1;
	fd = open(path_of("file"), O_WRONLY | O_CREAT, 0600);
	return fd < 0 || write(fd, "text", 4) != 4 || close(fd);
}

static int end(void **state)
{
	static const char *const names[] = {"pipe", "inside", "outside", "file"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	rmdir(path_of("dir"));
	return rmdir(place);
}

static void is_file(int fd, const struct stat *st)
{
	char text[8];

	assert_true(fd >= 0);
	assert_int_equal(st->st_size, 4);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_true(user_close(fd));
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void test_any_path(void **state)
{
	struct stat st;

	(void)state;
	is_file(user_open(NULL, path_of("file"), NULL, &st), &st);
	assert_int_equal(user_open(NULL, path_of("pipe"), NULL, &st), -EINVAL);
	assert_int_equal(user_open(NULL, path_of("dir"), NULL, &st), -EINVAL);
	assert_int_equal(user_open(NULL, "/dev/null", NULL, &st), -EINVAL);
	assert_int_equal(user_open(NULL, path_of("none"), NULL, &st), -ENOENT);
}

/* A link is none of its files, and no way leads out of the directory. */
static void test_in_root(void **state)
{
	struct stat st;

	(void)state;
	is_file(user_open(place, "file", NULL, &st), &st);
	is_file(user_open(place, "/file", NULL, &st), &st);
	is_file(user_open(place, "../../dir/../file", NULL, &st), &st);
	assert_int_equal(user_open(place, "inside", NULL, &st), -EINVAL);
	assert_int_equal(user_open(place, "outside", NULL, &st), -EINVAL);
	assert_int_equal(user_open(place, "pipe", NULL, &st), -EINVAL);
	assert_int_equal(user_open(place, "/etc/passwd", NULL, &st), -ENOENT);
	assert_int_equal(user_open(path_of("none"), "file", NULL, &st), -ENOENT);
}

static dev_t shunned;

static bool shun(const void *ctx, dev_t device)
{
	(void)ctx;
	return device == shunned;
}

static void test_devices(void **state)
{
	struct user_devices devices = {shun, NULL, 0};
	struct stat st, own;

	(void)state;
	assert_int_equal(stat(place, &own), 0);
	is_file(user_open(place, "dir/../file", &devices, &st), &st);
	assert_int_equal(devices.at, st.st_dev);
	shunned = own.st_dev;
	assert_int_equal(user_open(place, "file", &devices, &st), -ENODEV);
	assert_int_equal(devices.at, own.st_dev);
	assert_int_equal(user_open(place, "none", &devices, &st), -ENODEV); /* nobody was asked */
	assert_int_equal(user_open("/", "none/file", &devices, &st), -ENOENT);
	assert_int_equal(devices.at, 0);
}

/* Whoever opens the pipe waits for ever, as for a process that holds the lock of its memory. */
static void test_read(void **state)
{
	ssize_t n;
	char *text;

	(void)state;
#ifndef __SANITIZE_THREAD__ /* no process begins that could be ended: user_open.c */
	alarm(120);
	assert_null(user_read(path_of("pipe"), 16, &n));
	assert_int_equal(n, -ETIME);
	alarm(0);
#endif
	text = user_read(path_of("file"), 16, &n);
	assert_int_equal(n, 4);
	assert_memory_equal(text, "text", 4);
	free(text);
	text = user_read(path_of("file"), 2, &n);
	assert_int_equal(n, 2);
	free(text);
	assert_null(user_read(path_of("none"), 16, &n));
	assert_int_equal(n, -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_path),
		cmocka_unit_test(test_in_root),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
