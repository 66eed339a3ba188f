// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/spinners.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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
	struct timespec rest = {0, REST_NS};

	/* Culprit's process ends us, and no key stops that, either. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
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

void spinners_end(struct spinners *s)
{
	for (uint64_t i = 0; s && i < s->n; i++)
		reap_killed(s->pid[i]);
	free(s);
}
