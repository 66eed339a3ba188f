/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/descriptors.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OTHERS 128 /* more than a run opens besides */

void descriptors_allow(uint32_t n)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur > n + OTHERS)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

void descriptors_close_but(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	if (low > 3)
		syscall(SYS_close_range, 3, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0U, 0);
}
