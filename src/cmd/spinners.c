// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/spinners.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/cpus.h"
#include "base/now.h"
#include "base/reap.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/host.h"

#define SPIN_NS (3 * NSEC_PER_MSEC)
#define REST_NS (30 * NSEC_PER_MSEC)

struct spinners {
	uint64_t n;
	pid_t pid[];
};

static void __attribute__((noreturn)) spin_and_rest(int cpu)
{
	static const int deaf[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};
	struct timespec rest = {0, REST_NS};

	/* Culprit's process ends us, also where its whole group is told to end. */
	for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		signal(deaf[i], SIG_IGN);
	prctl(PR_SET_NAME, "culprit-spinner");
	cpus_run_on_one(cpu);
	confine_rights(0);
	for (;;) {
		uint64_t end = now_ns() + SPIN_NS;

		while (now_ns() < end)
			;
		nanosleep(&rest, NULL);
	}
}

struct spinners *spinners_start(uint64_t n)
{
	static struct host host; /* large */
	struct spinners *s = calloc(1, sizeof(*s) + n * sizeof(s->pid[0]));
	pid_t parent = getpid();
	int cpu = -1, err = ENOMEM;

	host_read(&host);
	for (; s && s->n < n; s->n++) {
		cpu = cpus_next(&host.online, cpu + 1);
		if (cpu < 0)
			cpu = cpus_next(&host.online, 0);
		s->pid[s->n] = fork();
		if (!s->pid[s->n]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() == parent) /* false: the signal would never come */
				spin_and_rest(cpu);
			_exit(0);
		}
		err = errno;
		if (s->pid[s->n] < 0)
			break;
	}
	if (s && s->n == n)
		return s;
	spinners_end(s);
	complain("cannot start so many spinners: %s", strerror(err));
	return NULL;
}

bool spinners_end(struct spinners *s)
{
	uint64_t gone = 0, n = s ? s->n : 0;

	for (uint64_t i = 0; i < n; i++)
		if (waitpid(s->pid[i], NULL, WNOHANG) == s->pid[i])
			gone++;
		else
			reap_killed(s->pid[i]);
	free(s);
	if (gone)
		complain("%" PRIu64 " of %" PRIu64 " spinners had been killed: less was disturbed "
			 "than asked for",
			 gone, n);
	return !gone;
}
