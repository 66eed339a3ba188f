/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/preemption.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/line_of_file.h"

bool kernel_preempts_by(const char *mode, const char *version)
{
	if (!mode[0] || strstr(version, "PREEMPT_RT"))
		return strstr(version, "PREEMPT");
	return !strstr(mode, "(none)") && !strstr(mode, "(voluntary)");
}

bool kernel_preempts(void)
{
	struct utsname u;
	char mode[64];

	line_of_file("/sys/kernel/debug/sched/preempt", mode, sizeof(mode));
	return uname(&u) || kernel_preempts_by(mode, u.version);
}
