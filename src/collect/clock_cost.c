/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost of reading the counter, with and without fences, and each of the kernel's clocks; and
 * whether a clock is read in user space. Measured in rounds, so that drift affects all alike; in
 * batches, less the time of an empty batch.
 *
 * The test for a system call is exact: a child process lets the kernel refuse clock_gettime and
 * gettimeofday (seccomp) and tries all clocks. Those that still answer are read in user space, by
 * the vDSO.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/hist.h"
#include "base/units.h"
#include "collect/clock.h"
#include "collect/counter.h"

#define ROUNDS    2000
#define MAX_NS    (2 * NSEC_PER_SEC) /* for all clocks together */
#define BATCH_NS  2000
#define BATCH_MAX 1024
#define EMPTY     101
#define BITS      8    /* resolution of the histograms: 0.4 % */
#define REFUSED   EDOM /* the filter's answer; clock_gettime never returns it */

/* Readers of the counter: a loop over one instruction. The asm keeps its result alive. */
#define READER(name, instructions, clobbers...)                                                    \
	static void name(clockid_t clock, unsigned n)                                              \
	{                                                                                          \
		(void)clock;                                                                       \
		while (n--)                                                                        \
			__asm__ volatile(instructions : : : clobbers);                             \
	}

#if defined(__x86_64__)
READER(read_plain, "rdtsc", "rax", "rdx")
READER(read_behind, "lfence\n\trdtsc", "rax", "rdx", "memory")
READER(read_between, "lfence\n\trdtsc\n\tlfence", "rax", "rdx", "memory")
READER(read_p, "rdtscp", "rax", "rdx", "rcx")
READER(read_p_between, "rdtscp\n\tlfence", "rax", "rdx", "rcx", "memory")

static const char *no_rdtscp(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000001, &a, &b, &c, &d) && d >> 27 & 1 ? NULL
								      : "this CPU does not have it";
}
#elif defined(__aarch64__)
READER(read_plain, "mrs x9, cntvct_el0", "x9")
READER(read_behind, "isb\n\tmrs x9, cntvct_el0", "x9", "memory")
READER(read_between, "isb\n\tmrs x9, cntvct_el0\n\tisb", "x9", "memory")
#endif

static void read_none(clockid_t clock, unsigned n)
{
	(void)clock;
	while (n--)
		__asm__ volatile("");
}

static void read_clock(clockid_t clock, unsigned n)
{
	struct timespec t;

	while (n--)
		clock_gettime(clock, &t);
}

static void read_day(clockid_t clock, unsigned n)
{
	struct timeval t;

	(void)clock;
	while (n--)
		gettimeofday(&t, NULL);
}

static const struct {
	const char *name;
	void (*read)(clockid_t clock, unsigned n);
	clockid_t clock;
	const char *(*absent)(void); /* returns why the clock is missing; NULL: it exists */
} table[] = {
#if defined(__x86_64__)
	{"rdtsc", read_plain, -1, NULL},
	{"lfence rdtsc", read_behind, -1, NULL},
	{"lfence rdtsc lfence", read_between, -1, NULL},
	{"rdtscp", read_p, -1, no_rdtscp},
	{"rdtscp lfence", read_p_between, -1, no_rdtscp},
#elif defined(__aarch64__)
	{"cntvct", read_plain, -1, NULL},
	{"isb cntvct", read_behind, -1, NULL},
	{"isb cntvct isb", read_between, -1, NULL},
#endif
	{"CLOCK_MONOTONIC", read_clock, CLOCK_MONOTONIC, NULL},
	{"CLOCK_MONOTONIC_RAW", read_clock, CLOCK_MONOTONIC_RAW, NULL},
	{"CLOCK_MONOTONIC_COARSE", read_clock, CLOCK_MONOTONIC_COARSE, NULL},
	{"CLOCK_BOOTTIME", read_clock, CLOCK_BOOTTIME, NULL},
	{"CLOCK_REALTIME", read_clock, CLOCK_REALTIME, NULL},
	{"CLOCK_REALTIME_COARSE", read_clock, CLOCK_REALTIME_COARSE, NULL},
	{"CLOCK_TAI", read_clock, CLOCK_TAI, NULL},
	{"gettimeofday", read_day, CLOCK_REALTIME, NULL},
	{"CLOCK_PROCESS_CPUTIME_ID", read_clock, CLOCK_PROCESS_CPUTIME_ID, NULL},
	{"CLOCK_THREAD_CPUTIME_ID", read_clock, CLOCK_THREAD_CPUTIME_ID, NULL},
};

#define ROWS (sizeof(table) / sizeof(table[0]))
_Static_assert(ROWS <= CLOCK_COSTS, "the view has too few rows");

/* ---- system call or not ---- */

static int refuse_clocks(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettimeofday, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | REFUSED),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
			       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
		       ? -1
		       : 0;
}

static void __attribute__((noreturn)) try_all(uint8_t *how)
{
	if (refuse_clocks())
		_exit(1);
	for (size_t i = 0; i < ROWS; i++) {
		struct timespec t;
		struct timeval day;
		int err;

		if (table[i].clock < 0)
			continue;
		errno = 0;
		err = table[i].read == read_day ? gettimeofday(&day, NULL)
						: clock_gettime(table[i].clock, &t);
		how[i] = !err ? HOW_USER : errno == REFUSED ? HOW_SYSCALL : HOW_UNKNOWN;
	}
	_exit(0);
}

static void find_how(struct clock_view *v)
{
	uint8_t *how = mmap(NULL, ROWS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = how == MAP_FAILED ? -1 : fork();
	int status;

	if (!pid)
		try_all(how);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && !status)
		for (size_t i = 0; i < ROWS; i++)
			v->cost[i].how = how[i];
	if (how != MAP_FAILED)
		munmap(how, ROWS);
}

/* ---- cost ---- */

static uint64_t time_reads(size_t row, unsigned n)
{
	uint64_t before = counter_fenced();

	table[row].read(table[row].clock, n);
	return counter_fenced() - before;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Ticks of two readings of the counter, with a call through the table between them that does
 * nothing. */
static uint64_t empty_batch(void)
{
	void (*volatile none)(clockid_t clock, unsigned n) = read_none;
	uint64_t ticks[EMPTY];

	for (int i = 0; i < EMPTY; i++) {
		uint64_t before = counter_fenced();

		none(0, 0);
		ticks[i] = counter_fenced() - before;
	}
	qsort(ticks, EMPTY, sizeof(ticks[0]), by_value);
	return ticks[EMPTY / 2];
}

static unsigned size_batch(size_t row, uint64_t empty, double ns_per_tick)
{
	unsigned n = 8;

	time_reads(row, n); /* warms up */
	while (n < BATCH_MAX) {
		uint64_t ticks = time_reads(row, n);

		if (ticks > empty && (ticks - empty) * ns_per_tick >= BATCH_NS)
			break;
		n *= 2;
	}
	return n;
}

static void describe(struct clock_view *v)
{
	v->ncosts = ROWS;
	for (size_t i = 0; i < ROWS; i++) {
		struct clock_cost *c = &v->cost[i];
		struct timespec t;

		snprintf(c->name, sizeof(c->name), "%s", table[i].name);
		c->counter = table[i].clock < 0;
		c->absent = table[i].absent ? table[i].absent() : NULL;
		if (c->counter)
			continue;
		if (clock_gettime(table[i].clock, &t))
			c->absent = "the kernel does not have it";
		else if (table[i].read == read_day)
			c->resolution_ns = NSEC_PER_USEC;
		else if (!clock_getres(table[i].clock, &t))
			c->resolution_ns = t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
	}
}

static void measure(struct clock_view *v, struct hist *hist, const volatile int *stop)
{
	uint64_t empty = empty_batch(), end = now_ns() + MAX_NS;
	unsigned batch[ROWS];

	for (size_t i = 0; i < ROWS; i++)
		batch[i] = v->cost[i].absent ? 0 : size_batch(i, empty, v->ns_per_tick);
	for (int round = 0; round < ROUNDS && now_ns() < end && !(round && *stop); round++)
		for (size_t i = 0; i < ROWS; i++) {
			uint64_t ticks = batch[i] ? time_reads(i, batch[i]) : 0;

			ticks = ticks > empty ? ticks - empty : 0;
			if (batch[i])
				hist_add(&hist[i], ticks * v->ns_per_tick * 1000 / batch[i] + 0.5);
		}
}

void clock_measure_costs(struct clock_view *v, const volatile int *stop)
{
	struct hist hist[ROWS] = {{0}};
	bool room = true;

	describe(v);
	find_how(v);
	for (size_t i = 0; i < ROWS; i++)
		room &= !hist_init(&hist[i], BITS) && !hist_reserve(&hist[i]);
	if (room)
		measure(v, hist, stop);
	for (size_t i = 0; i < ROWS; i++) {
		struct clock_cost *c = &v->cost[i];

		if (!room)
			c->absent = "out of memory";
		if (!c->absent) {
			c->min_ps = hist[i].min;
			c->median_ps = hist_percentile(&hist[i], 50);
			c->p99_ps = hist_percentile(&hist[i], 99);
		}
		hist_free(&hist[i]);
	}
}
