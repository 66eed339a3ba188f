/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of rings: the records of all CPUs come in the order of their ends, and so do those of
 * all levels of one CPU when the reader is stopped, wherever it stood. A child looks at the rings;
 * its parent stops it after each number of instructions, and writes records meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"
#include "collect/ring.h"

#define BEYOND     20  /* instructions after the look */
#define ROUNDS     100 /* records of each level */
#define STOP_US    500
#define ROUNDS_MAX 20
#define UNSEEN     UINT64_MAX

struct shared {
	struct cpu_state state;
	struct rings rings;
	int out_of_order, taken;
};

static void publish(struct cpu_state *s, int level, uint64_t end_ns)
{
	struct record r = {
		.start_ns = end_ns - 1, .end_ns = end_ns, .kind = RECORD_THREAD, .level = level};
	uint32_t *place = &s->own.place[level];

	memcpy(&s->ring[ring_base(level) + *place], &r, sizeof(struct record_half));
	*place = ring_next(level, *place, 1);
	s->head[level]++;
}

/* Records of a second, of all levels in turn. */
static void publish_all(struct cpu_state *s)
{
	for (uint64_t i = 0; i < ROUNDS; i++)
		for (int level = 0; level < LEVELS; level++)
			publish(s, level, NSEC_PER_SEC + 10 * i + level);
}

static void take_all(struct shared *shared, uint64_t *last_ns)
{
	const struct record *r;

	for (; (r = rings_next(&shared->rings)); shared->taken++) {
		shared->out_of_order += r->end_ns < *last_ns;
		*last_ns = r->end_ns;
		rings_pop(&shared->rings, r->level);
	}
}

static void __attribute__((noreturn)) look_twice(struct shared *shared)
{
	uint64_t last_ns = 0;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(1);
	raise(SIGSTOP);
	for (int look = 0; look < 2; look++) {
		rings_look(&shared->rings);
		take_all(shared, &last_ns);
	}
	_exit(0);
}

/* Number of levels that have been looked at. */
static int levels_seen(const struct shared *shared)
{
	int seen = 0;

	for (int level = 0; level < LEVELS; level++)
		seen += shared->rings.level[level].head != UNSEEN;
	return seen;
}

/* Runs the child, with a stop after so many instructions. Returns how many levels it had looked at
 * by then. */
static int stop_after(int steps, struct shared *shared)
{
	pid_t pid = fork();
	int status, seen;

	if (!pid)
		look_twice(shared);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status)) {
		print_message("nobody may be traced here\n");
		skip();
	}
	for (int i = 0; i < steps; i++) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
	}
	seen = levels_seen(shared);
	publish_all(&shared->state);
	usleep(STOP_US);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	return seen;
}

/* As the rings want it, the beginning of a page; zeroed. */
static void *pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

/* Stops it after each number of instructions, and counts how many levels had been looked at. */
static void stop_anywhere(int stops[LEVELS + 1])
{
	int beyond = stops[LEVELS] + BEYOND;

	for (int steps = 0; stops[LEVELS] < beyond; steps++) {
		struct shared *shared = pages(sizeof(*shared));

		shared->rings.state = &shared->state;
		for (int level = 0; level < LEVELS; level++)
			shared->rings.level[level].head = UNSEEN;
		stops[stop_after(steps, shared)]++;
		assert_int_equal(shared->taken, ROUNDS * LEVELS);
		if (shared->out_of_order)
			fail_msg("stopped after %d instructions: out of order %d times", steps,
				 shared->out_of_order);
		munmap(shared, sizeof(*shared));
	}
}

/* The clock that the child reads first begins anew when the kernel sets it meanwhile, so the number
 * of its instructions differs; on a busy machine no stop may have been between two levels. */
static void test_stopped_anywhere(void **unused)
{
	int stops[LEVELS + 1] = {0};
	bool all = false;

	(void)unused;
	assert_true(now_ns() > 0); /* spares the child to look for the function */
	for (int round = 0; round < ROUNDS_MAX && !all; round++) {
		stop_anywhere(stops);
		all = true;
		for (int seen = 0; seen <= LEVELS; seen++)
			all &= stops[seen] > 0;
	}
	assert_true(all);
}

/* A level whose head has gone back is read no more, however often it is looked at, and the others
 * are. */
static void test_damaged(void **unused)
{
	struct shared *shared = pages(sizeof(*shared));
	uint64_t last_ns = 0;

	(void)unused;
	shared->rings.state = &shared->state;
	publish_all(&shared->state);
	rings_look(&shared->rings);
	take_all(shared, &last_ns);
	assert_int_equal(shared->taken, ROUNDS * LEVELS);
	rings_release(&shared->rings);
	shared->state.head[LEVEL_THREAD] -= 2;
	for (int look = 1; look < 3; look++) {
		publish(&shared->state, LEVEL_IRQ, last_ns + 10);
		rings_look(&shared->rings);
		assert_null(rings_next_of(&shared->rings, LEVEL_THREAD));
		take_all(shared, &last_ns);
		assert_int_equal(shared->taken, ROUNDS * LEVELS + look);
	}
	munmap(shared, sizeof(*shared));
}

#define MERGED 3 /* CPUs */

struct merged {
	uint64_t until_ns, last_ns;
	uint32_t taken[MERGED];
	uint32_t last; /* CPU of the last one */
};

static void take_merged(void *ctx, uint32_t index, const struct record *r)
{
	struct merged *m = ctx;

	assert_in_range(r->end_ns, m->last_ns, m->until_ns - 1);
	assert_true(r->end_ns > m->last_ns || index >= m->last);
	m->last_ns = r->end_ns;
	m->last = index;
	m->taken[index]++;
}

/* Records of several CPUs come in the order of their ends, however many there are: the first CPU
 * has almost full rings, the last one only older records, and they have some of the same end. Later
 * ones come with the next look. */
static void test_merged(void **unused)
{
	enum { MANY = RING_THREAD - 2, INNER = RING_IRQ - 2, FEW = 100, FROM = 1000000 };
	struct cpu_state *state = pages(MERGED * sizeof(*state));
	struct rings *rings[MERGED];
	struct rings_turn turn[MERGED];
	struct merged m = {.until_ns = FROM + INNER};

	(void)unused;
	for (int i = 0; i < MERGED; i++)
		rings[i] = rings_new(&state[i]);
	for (int i = 0; i < MANY; i++)
		publish(&state[0], LEVEL_THREAD, FROM + i);
	for (int i = 0; i < INNER; i++)
		publish(&state[0], LEVEL_IRQ, FROM + i);
	for (int i = 0; i < FEW; i++) {
		publish(&state[1], i % LEVELS, FROM + i);
		publish(&state[2], LEVEL_IRQ, FROM - FEW + i);
	}
	rings_merge(rings, MERGED, turn, m.until_ns, take_merged, &m);
	assert_int_equal(m.taken[0], 2 * INNER);
	m.until_ns = UINT64_MAX;
	rings_merge(rings, MERGED, turn, m.until_ns, take_merged, &m);
	assert_int_equal(m.taken[0], MANY + INNER);
	assert_int_equal(m.taken[1], FEW);
	assert_int_equal(m.taken[2], FEW);
	for (int i = 0; i < MERGED; i++) {
		for (int level = 0; level < LEVELS; level++)
			assert_int_equal(state[i].tail[level], state[i].head[level]);
		rings_free(rings[i]);
	}
	munmap(state, MERGED * sizeof(*state));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stopped_anywhere),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
