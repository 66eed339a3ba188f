/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/aftermath.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/descriptors.h"
#include "base/reap.h"
#include "base/say.h"

static void wait_for(int owner, int keep, const struct cpus *off)
{
	struct pollfd ended = {.fd = owner, .events = POLLIN};
	struct cpus mine;

	become_guard();
	descriptors_close_but(owner, keep);
	cpus_allowed(&mine);
	cpus_sub(&mine, off);
	if (!cpus_empty(&mine))
		cpus_run_on(&mine);
	while (poll(&ended, 1, -1) < 0)
		;
}

pid_t aftermath_start(void (*then)(void *ctx), void *ctx, int keep, const struct cpus *off,
		      uint64_t rights)
{
	int owner = (int)syscall(SYS_pidfd_open, getpid(), 0);
	pid_t pid = owner < 0 ? -1 : fork();
	int err = errno;

	if (!pid) {
		confine_rights(rights);
		confine_raise(rights);
		wait_for(owner, keep, off);
		then(ctx);
		_exit(0);
	}
	if (owner >= 0)
		close(owner);
	return pid > 0 ? pid
		       : complain("no process can be started that puts things back: %s",
				  strerror(err));
}
