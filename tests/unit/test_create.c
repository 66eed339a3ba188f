/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording is made in no place that another user chose, also where he exchanges what is there
 * between two looks at it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recording/create.h"

#define NOBODY 65534

static char place[] = "/tmp/culprit-test-XXXXXX";
static int left; /* looks until it is exchanged; 0: never */

/* All looks of the code under test come here. */
int fstatat(int dir, const char *restrict name, struct stat *restrict st, int flags)
{
	int err = syscall(SYS_newfstatat, dir, name, st, flags);

	if (left && !--left)
		assert_int_equal(renameat2(dir, "x", dir, "other", RENAME_EXCHANGE), 0);
	return err;
}

/* A socket, which nobody can open for writing, is exchanged for a link to a device. */
static void test_exchanged(void **state)
{
	bool looked_less = false;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(place));
	assert_int_equal(chmod(place, 01777), 0);
	assert_int_equal(chdir(place), 0);
	for (int n = 0; n < 8 && !looked_less; n++) {
		assert_int_equal(mknod("x", S_IFSOCK | 0777, 0), 0);
		assert_int_equal(symlink("/dev/null", "other"), 0);
		assert_int_equal(lchown("x", NOBODY, NOBODY), 0);
		assert_int_equal(lchown("other", NOBODY, NOBODY), 0);
		left = n;
		assert_int_equal(create_recording("x", false), -1);
		looked_less = left;
		left = 0;
		assert_int_equal(unlink("x"), 0);
		assert_int_equal(unlink("other"), 0);
	}
	assert_true(looked_less); /* after each look once */
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(place), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_exchanged)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
