/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/descriptors.h"

#include <sys/resource.h>

#define OTHERS 128 /* more than a run opens besides */

void descriptors_allow(uint32_t n)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur > n + OTHERS)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}
