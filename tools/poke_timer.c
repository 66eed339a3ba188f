/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timers that are armed on the target CPU beforehand and expire there by themselves. All timers of
 * a run are armed at once, one for each poke: arming them one by one would need a thread on the
 * target each time, and re-arming from elsewhere would move them. On a nohz_full CPU the kernel
 * gives timers to housekeeping CPUs unless kernel.timer_migration is 0. */
#include "poke.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define TIMER_MIGRATION "/proc/sys/kernel/timer_migration"

static int migration_off; /* number of classes that asked for it */
static char migration_was[8];

static int keep_timers(struct poke *p)
{
	char nohz_full[256];

	if (read_line("/sys/devices/system/cpu/nohz_full", nohz_full, sizeof(nohz_full)) ||
	    !cpu_in_list(p->conf->cpu, nohz_full))
		return 0;
	if (migration_off++)
		return 0;
	if (!read_line(TIMER_MIGRATION, migration_was, sizeof(migration_was)) &&
	    (migration_was[0] == '0' || !write_text(TIMER_MIGRATION, "0")))
		return 0;
	migration_off = 0;
	return cannot(p, "CPU %d is nohz_full, and " TIMER_MIGRATION " cannot be set to 0: %s",
		      p->conf->cpu, strerror(errno));
}

static void release_timers(void)
{
	if (migration_off && !--migration_off && migration_was[0] != '0')
		write_text(TIMER_MIGRATION, migration_was);
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};
}

int timer_prepare(struct poke *p)
{
	return keep_timers(p) || worker_start(p) ? -1 : 0;
}

int timer_arm(struct poke *p)
{
	worker_kick(p, NULL);
	/* The body of timer goes on for all the run; the others have armed when they are done. */
	if (p->class->body != timer_body && wait_for(&p->done, 1))
		return -1;
	return p->why[0] ? -1 : 0;
}

void timer_finish(struct poke *p)
{
	worker_stop(p);
	release_timers();
}

void timer_body(struct poke *p, struct poke_event *unused)
{
	uint64_t ran = cpu_time_ns();

	(void)unused;
	for (long i = 0; i < p->nr && !poke_stop; i++) {
		struct poke_event *ev = p->mine[i];
		struct timespec due = to_timespec(ev->due_ns);
		uint64_t now;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		now = now_ns();
		ev->start_ns = ev->due_ns;
		extra(ev, "woken_ns", now);
		now = cpu_time_ns();
		ev->ran_ns = now - ran;
		ran = now;
		ev->end_ns = now_ns();
		atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
	}
}

int timer_poke(struct poke *p, struct poke_event *ev)
{
	(void)ev;
	return wait_for(&p->done, (uint32_t)++p->turn);
}

void timerfd_body(struct poke *p, struct poke_event *unused)
{
	struct rlimit limit = {(rlim_t)p->nr + 256, (rlim_t)p->nr + 256};
	int *fds = calloc((size_t)p->nr, sizeof(*fds));

	(void)unused;
	p->priv = fds;
	if (!fds) {
		cannot(p, "out of memory");
		return;
	}
	setrlimit(RLIMIT_NOFILE, &limit);
	for (long i = 0; i < p->nr; i++) {
		struct itimerspec due = {.it_value = to_timespec(p->mine[i]->due_ns)};

		fds[i] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		if (fds[i] < 0 || timerfd_settime(fds[i], TFD_TIMER_ABSTIME, &due, NULL)) {
			cannot(p, "timer %ld of %ld: %s", i, p->nr, strerror(errno));
			return;
		}
	}
}

static int await_timer(int fd)
{
	uint64_t ticks, patience = now_ns() + 200000;

	while (read(fd, &ticks, sizeof(ticks)) != sizeof(ticks)) {
		uint64_t now = now_ns();

		if (errno != EAGAIN || (now > patience && sleep_until(now + 50000)))
			return -1;
	}
	return 0;
}

int timerfd_poke(struct poke *p, struct poke_event *ev)
{
	if (await_timer(((int *)p->priv)[p->turn++]))
		return -1;
	ev->start_ns = ev->due_ns;
	ev->end_ns = now_ns();
	return 0;
}

void timerfd_finish(struct poke *p)
{
	int *fds = p->priv;

	timer_finish(p);
	for (long i = 0; fds && i < p->nr; i++)
		if (fds[i] > 0)
			close(fds[i]);
	free(fds);
}

/* Straight to the kernel: libc's timer_create may start a helper thread. */
void posix_body(struct poke *p, struct poke_event *unused)
{
	int *timers = calloc((size_t)p->nr, sizeof(*timers));

	(void)unused;
	p->priv = timers;
	if (!timers) {
		cannot(p, "out of memory");
		return;
	}
	for (long i = 0; i < p->nr; i++)
		timers[i] = -1;
	for (long i = 0; i < p->nr; i++) {
		struct itimerspec due = {.it_value = to_timespec(p->mine[i]->due_ns)};
		struct sigevent sev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};

		sev._sigev_un._tid = poke_pid;
		if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &sev, &timers[i]) ||
		    syscall(SYS_timer_settime, timers[i], TIMER_ABSTIME, &due, NULL)) {
			cannot(p, "timer %ld of %ld: %s", i, p->nr, strerror(errno));
			return;
		}
	}
}

int posix_poke(struct poke *p, struct poke_event *ev)
{
	sigset_t set;

	p->turn++;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	while (sigwaitinfo(&set, NULL) < 0)
		if (poke_stop)
			return -1;
	ev->start_ns = ev->due_ns;
	ev->end_ns = now_ns();
	return 0;
}

void posix_finish(struct poke *p)
{
	int *timers = p->priv;

	timer_finish(p);
	for (long i = 0; timers && i < p->nr; i++)
		if (timers[i] >= 0)
			syscall(SYS_timer_delete, timers[i]);
	free(timers);
}

#define STORM_TIMERS 100
#define TOGETHER     3 /* timers of each kind */
/* From the first arming to the first expiry. An emulator takes 0.7 ms to arm them all, and Linux
 * 7.3 shows no expiry of most that are due when they are armed. */
#define ARM_NS 2000000

struct storm_timers {
	int fd[STORM_TIMERS];
	int posix[TOGETHER];
};

static struct storm_timers *make_timers(struct poke *p, int nr)
{
	struct storm_timers *t = calloc(1, sizeof(*t));

	p->priv = t;
	if (!t) {
		cannot(p, "out of memory");
		return NULL;
	}
	memset(t, -1, sizeof(*t));
	for (int i = 0; i < nr; i++) {
		t->fd[i] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		if (t->fd[i] < 0) {
			cannot(p, "timer %d of %d: %s", i, nr, strerror(errno));
			return NULL;
		}
	}
	return t;
}

int burst_prepare(struct poke *p)
{
	return make_timers(p, STORM_TIMERS) ? timer_prepare(p) : -1;
}

void burst_body(struct poke *p, struct poke_event *ev)
{
	struct storm_timers *t = p->priv;
	uint64_t ran = cpu_time_ns(), first;

	ev->start_ns = now_ns();
	first = ev->start_ns + ARM_NS;
	for (uint64_t i = 0; i < STORM_TIMERS; i++) {
		struct itimerspec due = {
			.it_value = to_timespec(first + i * length_of(p) / STORM_TIMERS)};

		timerfd_settime(t->fd[i], TFD_TIMER_ABSTIME, &due, NULL);
	}
	extra(ev, "first_ns", first);
	extra(ev, "calls", STORM_TIMERS); /* calls of the class's function */
	ev->ran_ns = cpu_time_ns() - ran;
}

int burst_poke(struct poke *p, struct poke_event *ev)
{
	struct storm_timers *t = p->priv;

	if (worker_poke(p, ev))
		return -1;
	for (int i = 0; i < STORM_TIMERS; i++)
		if (await_timer(t->fd[i]))
			return -1;
	ev->end_ns = now_ns();
	return 0;
}

void burst_finish(struct poke *p)
{
	struct storm_timers *t = p->priv;

	timer_finish(p);
	for (int i = 0; t && i < STORM_TIMERS; i++)
		if (t->fd[i] >= 0)
			close(t->fd[i]);
	free(t);
}

int together_prepare(struct poke *p)
{
	struct sigevent sev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 1};
	struct storm_timers *t = make_timers(p, TOGETHER);

	sev._sigev_un._tid = poke_pid;
	for (int i = 0; t && i < TOGETHER; i++)
		if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &sev, &t->posix[i]))
			return cannot(p, "timer %d of %d: %s", i, TOGETHER, strerror(errno));
	return t ? timer_prepare(p) : -1;
}

void together_body(struct poke *p, struct poke_event *ev)
{
	struct storm_timers *t = p->priv;
	uint64_t ran = cpu_time_ns();
	struct itimerspec due = {0};

	ev->start_ns = now_ns();
	due.it_value = to_timespec(ev->start_ns + ARM_NS);
	for (int i = 0; i < TOGETHER; i++) {
		timerfd_settime(t->fd[i], TFD_TIMER_ABSTIME, &due, NULL);
		syscall(SYS_timer_settime, t->posix[i], TIMER_ABSTIME, &due, NULL);
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due.it_value, NULL);
	extra(ev, "first_ns", ev->start_ns + ARM_NS);
	extra(ev, "calls", TOGETHER);
	ev->ran_ns = cpu_time_ns() - ran;
}

int together_poke(struct poke *p, struct poke_event *ev)
{
	struct storm_timers *t = p->priv;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	if (worker_poke(p, ev))
		return -1;
	for (int i = 0; i < TOGETHER; i++) {
		if (await_timer(t->fd[i]))
			return -1;
		while (sigwaitinfo(&set, NULL) < 0)
			if (poke_stop)
				return -1;
	}
	ev->end_ns = now_ns();
	return 0;
}

void together_finish(struct poke *p)
{
	struct storm_timers *t = p->priv;

	for (int i = 0; t && i < TOGETHER; i++)
		if (t->posix[i] >= 0)
			syscall(SYS_timer_delete, t->posix[i]);
	burst_finish(p);
}
