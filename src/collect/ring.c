/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/units.h"

/* Longest look in order: a record that ends on a CPU within this time is far less late than the
 * join can put in order. */
#define LOOK_NS (20 * NSEC_PER_USEC)
#define LOOKS   100
/* Halves that are returned at once: the writer waits for the line that says how many. */
#define RETURN 1024

struct rings *rings_new(struct cpu_state *state)
{
	struct rings *r = calloc(1, sizeof(*r));

	if (r)
		r->state = state;
	return r;
}

void rings_free(struct rings *r)
{
	free(r);
}

/* Looks again where it was stopped between two levels, by whatever ran here or by the host: it
 * would see records of the one, and none of the same time of the other. A head goes back, behind
 * what has been read, when a program came in between another's writing to the same ring, which the
 * kernel should not let happen (bpf/held.bpf.c): the writer then finds no room any more, and counts
 * what comes as lost, and here nothing more is read. */
void rings_look(struct rings *r)
{
	uint64_t began;
	int left = LOOKS;

	do {
		began = now_ns();
		for (int i = 0; i < LEVELS; i++)
			r->level[i].head = __atomic_load_n(&r->state->head[i], __ATOMIC_ACQUIRE);
	} while (now_ns() - began > LOOK_NS && --left);
	for (int i = 0; i < LEVELS; i++)
		if (r->level[i].head - r->level[i].tail > ring_size(i))
			r->level[i].head = r->level[i].tail; /* damaged */
}

/* Moves on by so many halves; returns the first of them. */
static const struct record_half *step(struct rings *r, int level, uint32_t halves)
{
	struct ring_level *l = &r->level[level];
	const struct record_half *at = &r->state->ring[ring_base(level) + l->place];

	l->place = ring_next(level, l->place, halves);
	l->tail += halves;
	return at;
}

/* The second half follows the first, or is the same as before, or does not exist. */
static void take_second(struct ring_level *l, const struct record_half *second)
{
	struct record_half *same = &l->same[record_place(&l->next)];
	const struct record_half none = {{0}};

	if (l->next.level & RECORD_WIDE)
		*same = *second;
	memcpy(l->next.name, l->next.level & (RECORD_WIDE | RECORD_SAME) ? same : &none,
	       sizeof(none));
}

const struct record *rings_next_of(struct rings *r, int level)
{
	struct ring_level *l = &r->level[level];

	while (!l->ready && l->tail != l->head) {
		const struct record_half *at = &r->state->ring[ring_base(level) + l->place];

		memcpy(&l->next, at, sizeof(*at));
		if (l->next.kind == RECORD_LOST) {
			l->seq += l->next.id;
			step(r, level, 1);
			continue;
		}
		step(r, level, l->next.level & RECORD_WIDE ? 2 : 1);
		take_second(l, at + 1);
		l->next.level = level;
		l->next.seq = ++l->seq;
		l->ready = true;
	}
	return l->ready ? &l->next : NULL;
}

const struct record *rings_next(struct rings *r)
{
	const struct record *best = NULL;

	for (int i = LEVELS - 1; i >= 0; i--) {
		const struct record *next = rings_next_of(r, i);

		if (next && (!best || next->end_ns < best->end_ns))
			best = next;
	}
	return best;
}

void rings_pop(struct rings *r, int level)
{
	r->level[level].ready = false;
}

void rings_release(struct rings *r)
{
	for (int i = 0; i < LEVELS; i++)
		__atomic_store_n(&r->state->tail[i], r->level[i].tail, __ATOMIC_RELEASE);
}

static bool is_before(const struct rings_turn *a, const struct rings_turn *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->index < b->index;
}

/* Puts the turn at `i` of a heap of `n` behind those below it that are before it. */
static void sink(struct rings_turn *turn, uint32_t n, uint32_t i)
{
	const struct rings_turn t = turn[i];

	for (uint32_t k; (k = 2 * i + 1) < n; i = k) {
		if (k + 1 < n && is_before(&turn[k + 1], &turn[k]))
			k++;
		if (!is_before(&turn[k], &t))
			break;
		turn[i] = turn[k];
	}
	turn[i] = t;
}

static void return_much(struct rings *r, int level)
{
	if (r->level[level].tail - r->state->tail[level] >= RETURN)
		rings_release(r);
}

void rings_merge(struct rings *const *rings, uint32_t n, struct rings_turn *turn, uint64_t ns,
		 rings_taker *take, void *ctx)
{
	const struct record *r;
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		rings_look(rings[i]);
		r = rings_next(rings[i]);
		if (r && r->end_ns < ns)
			turn[left++] = (struct rings_turn){r->end_ns, i};
	}
	for (uint32_t i = left / 2; i--;)
		sink(turn, left, i);
	while (left) {
		uint32_t i = turn->index;
		int level;

		r = rings_next(rings[i]);
		level = r->level;
		take(ctx, i, r);
		rings_pop(rings[i], level);
		return_much(rings[i], level);
		r = rings_next(rings[i]);
		if (r && r->end_ns < ns)
			turn->end_ns = r->end_ns;
		else
			*turn = turn[--left];
		sink(turn, left, 0);
	}
	for (uint32_t i = 0; i < n; i++)
		rings_release(rings[i]);
}

unsigned rings_fill(const struct rings *r)
{
	unsigned most = 0;

	for (int i = 0; i < LEVELS; i++) {
		unsigned fill =
			(r->level[i].head - __atomic_load_n(&r->state->tail[i], __ATOMIC_RELAXED)) *
			100 / ring_size(i);

		most = fill > most ? fill : most;
	}
	return most;
}

uint64_t khz_count(const struct cpu_state *state)
{
	return __atomic_load_n(&state->khz_changes, __ATOMIC_ACQUIRE);
}

bool khz_take(const struct cpu_state *state, uint64_t number, struct khz_report *report)
{
	const struct khz_report *r = &state->khz_report[number % KHZ_REPORTS];

	*report = (struct khz_report){.at_ns = __atomic_load_n(&r->at_ns, __ATOMIC_ACQUIRE),
				      .khz = __atomic_load_n(&r->khz, __ATOMIC_ACQUIRE)};
	return khz_count(state) - number < KHZ_REPORTS;
}
