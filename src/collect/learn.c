/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sampler learns before its window: the rate of its counter, the length of its loop, and how long
 * the kernel's entry and exit take. */
#include "collect/learn.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/descriptors.h"
#include "base/units.h"

#define LEARN_LOOP_NS  20000000ULL /* spent spinning for the loop histogram */
#define BUSY_MAX_NS    5000
#define LEARN_TIMERS   100
#define LEARN_TIMER_NS 400000
#define LEARN_CLOCK_NS 250000
#define LEARN_EDGES_NS 40000000ULL   /* spent on interruptions: 160 by the clock, */
#define LEARN_LONGEST  1000000000ULL /* unless a hypervisor leaves no time for enough of them */
#define LEARN_WANTED   60            /* hiccups, most of them by the clock itself */
#define LEARN_NAPS     32

void learn_limits(struct sampler_shm *l, uint64_t short_from, uint64_t threshold)
{
	l->threshold = threshold;
	l->short_from = short_from;
	atomic_store(&l->limit, short_from);
}

/* Measures the lengths of the loop itself, without publishing, for a fixed time that the counter
 * ends.
 */
void learn_loop(struct spin *s)
{
	struct sampler_shm *l = s->shm;
	uint64_t t0, n0, t1, n1, before, now;

	read_anchor(l, s->counter, &t0, &n0);
	before = read_counter(s->counter);
	do {
		for (int i = 0; i < 10000; i++) {
			now = read_counter(s->counter);
			l->loop[now - before < LOOP_SLOTS ? now - before : LOOP_SLOTS - 1]++;
			before = now;
		}
		read_anchor(l, s->counter, &t1, &n1);
		before = read_counter(s->counter);
	} while (n1 - n0 < LEARN_LOOP_NS);
	l->ns_per_tick = (double)(n1 - n0) / (t1 - t0);
}

/* Interrupts this CPU four thousand times a second and wakes nobody: perf's cpu-clock, with no
 * memory for samples. Its hrtimer expires in the interrupt itself also on PREEMPT_RT, where a
 * timerfd's hrtimer waits for a thread. The event belongs to the CPU, not to this process: for the
 * first event of a process the kernel patches its own code, and again a second after the last is
 * closed. -1: not allowed. */
static int open_clock(unsigned cpu)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = LEARN_CLOCK_NS,
				       .exclude_kernel = 1};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Timers that fire once and that nobody waits for: one each LEARN_TIMER_NS, in place of the clock;
 * beside the clock only those that end the window for certain. 0 or -errno. */
static int set_timers(int *fd, int n)
{
	int err = 0;

	for (int i = 0; i < n; i++) {
		uint64_t ns = n == LEARN_TIMERS ? (i + 1ULL) * LEARN_TIMER_NS
			      : i               ? LEARN_LONGEST + LEARN_TIMER_NS
						: LEARN_EDGES_NS + LEARN_TIMER_NS;
		struct itimerspec once = {.it_value = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC}};

		fd[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (fd[i] < 0 || timerfd_settime(fd[i], 0, &once, NULL))
			err = -errno;
	}
	return err;
}

/* Makes clean interruptions, to learn how long the kernel's way in and out is. Short sleeps make
 * the threads: out to idle and back. */
int learn_edges(struct spin *s)
{
	struct timespec nap = {0, 200000};
	struct sampler_shm *l = s->shm;
	int fd[LEARN_TIMERS], clock = open_clock(s->cpu), n = clock < 0 ? LEARN_TIMERS : 2, err;

	descriptors_allow(CPUS_MAX * LEARN_TIMERS); /* threads of one process share them */
	err = set_timers(fd, n);
	s->busy_cap = BUSY_MAX_NS / l->ns_per_tick;
	s->learning = true;
	if (!err) {
		s->noted = 0;
		s->wanted = clock < 0 || s->cursors == &no_cursors ? 0 : LEARN_WANTED;
		s->deadline = read_counter(s->counter) +
			      (uint64_t)((LEARN_EDGES_NS - LEARN_TIMER_NS) / l->ns_per_tick);
		s->longest =
			s->deadline + (uint64_t)((LEARN_LONGEST - LEARN_EDGES_NS) / l->ns_per_tick);
		spin_window(s);
		s->deadline = s->longest = UINT64_MAX;
	}
	if (clock >= 0)
		close(clock);
	while (n--)
		if (fd[n] >= 0)
			close(fd[n]);
	for (int i = 0; !err && i < LEARN_NAPS; i++) {
		cursors_t cursors = *s->cursors;
		uint64_t before = read_counter(s->counter);

		nanosleep(&nap, NULL);
		publish_hiccup(s, before, read_counter(s->counter), cursors, 0);
	}
	s->learning = false;
	l->end_cursors = *s->cursors;
	return err;
}
