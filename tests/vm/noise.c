/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noise of one kind on one CPU, and how long it takes: noise CPU ASKER-CPU KIND... The difference
 * between a run with a tracer and one without is what the tracer adds. Prints "KIND NS", where NS
 * is the least that the event took: whatever else comes makes it longer.
 *
 *   switch   from one thread to another: one sched_switch
 *   wake     a thread wakes another of its CPU and sleeps: one wake-up, one switch
 *   softirq  a datagram over loopback that nobody reads: one softirq
 *   timer    an interrupt of a timer that wakes nobody
 *   ipi      a function that ASKER-CPU has called on CPU, as CPU loses time to it
 *   ask-ipi  the same, as ASKER-CPU loses time to it, less the other's part
 *   ask-wake ASKER-CPU wakes a thread on CPU
 *   call     a function that ASKER-CPU has called on CPU, as ASKER-CPU waits for it: both sides.
 *            Both CPUs wait by an instruction at which an emulator lets the other one go on, so
 *            that of a guest that counts instructions it takes the same number each time
 */
#include <arpa/inet.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/counter.h"

#define EVENTS    8 /* in a burst: short, so that most are not disturbed */
#define TIMES_MAX 1000
#define SINGLES   (7 * times)
#define REST_US   200
#define WAIT_NS   200000 /* for an interrupt, which comes much sooner */
#define FIFO      20

static int cpu, asker, times;
static _Atomic bool begun; /* the other thread is where it is to be */
static double ns_per_tick;

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void settle_on(int on)
{
	struct sched_param prio = {.sched_priority = FIFO};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(on, &set);
	must(!pthread_setaffinity_np(pthread_self(), sizeof(set), &set), "noise: affinity");
	must(!pthread_setschedparam(pthread_self(), SCHED_FIFO, &prio), "noise: priority");
}

/* Both clocks at one moment: of readings in a row the one that nothing came between. */
static void read_both(uint64_t *tick, uint64_t *ns)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = counter_now(), now = now_ns(), took = counter_now() - before;

		if (took >= least)
			continue;
		least = took;
		*tick = before;
		*ns = now;
	}
}

static void calibrate(void)
{
	uint64_t tick, ns, tick_end, ns_end;

	read_both(&tick, &ns);
	usleep(100000);
	read_both(&tick_end, &ns_end);
	ns_per_tick = (double)(ns_end - ns) / (tick_end - tick);
}

static void say(const char *kind, double ticks)
{
	printf("%s %.1f\n", kind, ticks * ns_per_tick);
	fflush(stdout);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A time in ten is shorter: few are disturbed so little, and more of them are of something else. */
static double tenth(uint64_t *took, int n)
{
	qsort(took, n, sizeof(*took), by_value);
	return n ? took[n / 10] : 0;
}

/* ---- bursts ---- */

/* Ticks an event. */
static double bursts(void (*event)(void), int events)
{
	uint64_t took[TIMES_MAX];

	for (int i = 0; i < times; i++) {
		uint64_t begin;

		usleep(REST_US);
		event();
		begin = counter_now();
		for (int n = 0; n < EVENTS; n++)
			event();
		took[i] = counter_now() - begin;
	}
	return tenth(took, times) / EVENTS / events;
}

static void *yield_for_ever(void *arg)
{
	settle_on(cpu);
	begun = true;
	for (;;)
		sched_yield();
	return arg;
}

static int there, back, nobody;

static void give(int fd)
{
	uint64_t one = 1;

	must(write(fd, &one, sizeof(one)) == sizeof(one), "noise: write");
}

static void take(int fd)
{
	uint64_t count;

	must(read(fd, &count, sizeof(count)) == sizeof(count), "noise: read");
}

static void *answer_for_ever(void *arg)
{
	settle_on(cpu);
	begun = true;
	for (;;) {
		take(there);
		give(back);
	}
	return arg;
}

static void exchange(void)
{
	give(there);
	take(back);
}

static void yield(void)
{
	sched_yield();
}

static void begin(void *(*run)(void *))
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, run, NULL), "noise: thread");
	while (!begun)
		usleep(1000);
}

static void do_switch(void)
{
	begin(yield_for_ever);
	settle_on(cpu);
	say("switch", bursts(yield, 2));
}

static void do_wake(void)
{
	begin(answer_for_ever);
	settle_on(cpu);
	say("wake", bursts(exchange, 2));
}

static void send_to_nobody(void)
{
	must(send(nobody, "x", 1, 0) == 1, "noise: send");
}

/* One socket sends to itself: of two, whose ports the kernel draws, it would now and then find both
 * in one place of its table, and look at both for each datagram. */
static void do_softirq(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(to);
	int none = 0;

	nobody = socket(AF_INET, SOCK_DGRAM, 0);
	must(!bind(nobody, (struct sockaddr *)&to, size), "noise: bind");
	must(!getsockname(nobody, (struct sockaddr *)&to, &size), "noise: port");
	setsockopt(nobody, SOL_SOCKET, SO_RCVBUF, &none, sizeof(none)); /* soon full */
	must(!connect(nobody, (struct sockaddr *)&to, size), "noise: connect");
	settle_on(cpu);
	for (int i = 0; i < 1000; i++)
		send_to_nobody();
	say("softirq", bursts(send_to_nobody, 1));
}

/* ---- interrupts ---- */

static _Atomic uint32_t wanted, ready, done;

/* The longest time away until somebody has done what was wanted, or for a while. Who waits for
 * `ready` finds a loop in which nothing is missed: the clock has been read before. */
static uint64_t longest_gap(uint32_t until)
{
	uint64_t last = counter_now(), end = last + (uint64_t)(WAIT_NS / ns_per_tick), most = 0;
	bool over;

	atomic_store_explicit(&ready, until, memory_order_release);
	do {
		uint64_t now;

		/* before the clock is read: whoever is away between the two has a gap */
		over = last >= end || atomic_load_explicit(&done, memory_order_acquire) == until;
		now = counter_now();
		most = now - last > most ? now - last : most;
		last = now;
	} while (!over);
	return most;
}

static void do_timer(void)
{
	struct itimerspec in = {.it_value.tv_nsec = WAIT_NS / 10};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	uint64_t took[7 * TIMES_MAX];
	int n = 0;

	settle_on(cpu);
	for (int i = 0; i < SINGLES; i++) {
		uint64_t away, expired;

		if (i % 16 == 0)
			usleep(REST_US);
		timerfd_settime(timer, 0, &in, NULL);
		away = longest_gap(UINT32_MAX);
		if (read(timer, &expired, sizeof(expired)) > 0)
			took[n++] = away;
	}
	say("timer", tenth(took, n));
}

static uint64_t gap;

static void *spin_for_ever(void *arg)
{
	settle_on(cpu);
	begun = true;
	for (uint32_t n = 1;; n++) {
		while (atomic_load_explicit(&wanted, memory_order_acquire) != n)
			;
		gap = longest_gap(n);
		atomic_store_explicit(&wanted, 0, memory_order_release);
		if (n % 16 == 0)
			usleep(REST_US);
	}
	return arg;
}

static void do_ipi(void)
{
	static uint64_t on_target[7 * TIMES_MAX], on_asker[7 * TIMES_MAX];
	int kept = 0;

	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	begin(spin_for_ever);
	settle_on(asker);
	for (uint32_t n = 1; n <= (uint32_t)SINGLES; n++) {
		uint64_t start, asked;

		atomic_store_explicit(&wanted, n, memory_order_release);
		while (atomic_load_explicit(&ready, memory_order_acquire) != n)
			;
		for (start = counter_now(); counter_now() - start < 2000 / ns_per_tick;)
			;
		start = counter_now();
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
		asked = counter_now() - start;
		atomic_store_explicit(&done, n, memory_order_release);
		while (atomic_load_explicit(&wanted, memory_order_acquire))
			;
		if (asked > gap) { /* more than that: there was something else in it */
			on_target[kept] = gap;
			on_asker[kept++] = asked - gap;
		}
		if (n % 16 == 0)
			usleep(REST_US);
	}
	say("ipi", tenth(on_target, kept));
	say("ask-ipi", tenth(on_asker, kept));
}

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield" ::: "memory");
#endif
}

static void *relax_for_ever(void *arg)
{
	settle_on(cpu);
	begun = true;
	for (;;)
		relax();
	return arg;
}

static void do_call(void)
{
	static uint64_t took[7 * TIMES_MAX];

	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	begin(relax_for_ever);
	settle_on(asker);
	for (int i = 0; i < SINGLES; i++) {
		uint64_t start;

		relax();
		start = counter_now();
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
		took[i] = counter_now() - start;
		if (i % 16 == 0)
			usleep(REST_US);
	}
	say("call", tenth(took, SINGLES));
}

static void do_ask_wake(void)
{
	uint64_t took[7 * TIMES_MAX];

	begin(answer_for_ever);
	settle_on(asker);
	for (int i = 0; i < SINGLES; i++) {
		uint64_t start = counter_now();

		give(there);
		took[i] = counter_now() - start;
		take(back);
		usleep(REST_US / 2); /* the thread sleeps by then */
	}
	say("ask-wake", tenth(took, SINGLES));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(void);
	} kinds[] = {{"switch", do_switch}, {"wake", do_wake}, {"softirq", do_softirq},
		     {"timer", do_timer},   {"ipi", do_ipi},   {"ask-wake", do_ask_wake},
		     {"call", do_call}};

	if (argc < 5)
		return 1;
	cpu = atoi(argv[1]);
	asker = atoi(argv[2]);
	times = atoi(argv[3]) < TIMES_MAX ? atoi(argv[3]) : TIMES_MAX;
	mlockall(MCL_CURRENT);
	there = eventfd(0, 0);
	back = eventfd(0, 0);
	calibrate();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (int n = 4; n < argc; n++)
			if (!strcmp(argv[n], kinds[i].name) && !fork()) {
				kinds[i].make();
				exit(0);
			} else if (!strcmp(argv[n], kinds[i].name)) {
				wait(NULL);
			}
	return 0;
}
