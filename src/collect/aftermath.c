/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/aftermath.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/say.h"

/* Closes what this process has open: its locks must go when it goes. */
static void close_others(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	if (low > 3)
		syscall(SYS_close_range, 3, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0U, 0);
}

static void wait_for(int owner, int keep, const struct cpus *off)
{
	static const int deaf[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
				   SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU};
	struct pollfd ended = {.fd = owner, .events = POLLIN};
	struct cpus mine;

	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		signal(deaf[i], SIG_IGN);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGCONT); /* if somebody has stopped it */
	prctl(PR_SET_NAME, "culprit-guard");
	close_others(owner, keep);
	if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout))
		_exit(1); /* a reader of the output would wait for this process, too */
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
