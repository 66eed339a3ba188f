/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child process: its signals before it becomes another program, and its end, whatever signals
 * come meanwhile. */
#ifndef CULPRIT_REAP_H
#define CULPRIT_REAP_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpus.h"

/* Gives all signals the effect that programs expect: culprit ignores some. For the child. */
static inline void reset_signals(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
}

/* Makes this child one that puts things back when its parent has ended: what ends a terminal or a
 * group does not end it, and no reader of the parent's output waits for it. */
static inline void become_guard(void)
{
	static const int deaf[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
				   SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU};

	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		signal(deaf[i], SIG_IGN);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGCONT); /* if somebody has stopped it */
	if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout))
		_exit(1);
	prctl(PR_SET_NAME, "culprit-guard");
}

/* Waits until it has ended. status: as waitpid() gives it, unchanged where there is no such child;
 * NULL: not wanted. */
static inline void reap(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

/* Kills it, and lets it run where this process may: to end it has to run, and others may not leave
 * it its own CPU. */
static inline void kill_here(pid_t pid)
{
	cpu_set_t own[CPUS_MAX / CPU_SETSIZE];

	kill(pid, SIGKILL);
	if (!sched_getaffinity(0, sizeof(own), own))
		sched_setaffinity(pid, sizeof(own), own);
}

/* Ends it at once. 0 and less: there is none. */
static inline void reap_killed(pid_t pid)
{
	if (pid <= 0)
		return;
	kill_here(pid);
	reap(pid, NULL);
}

#endif
