/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chance for tests: xorshift64*. The same seed gives the same numbers on every machine. */
#ifndef CULPRIT_TESTS_CHANCE_H
#define CULPRIT_TESTS_CHANCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static uint64_t seed = 88172645463325252ULL;

static inline uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dULL;
}

static inline uint64_t below(uint64_t n)
{
	return (random64() >> 20) % n;
}

static inline bool one_in(uint64_t n)
{
	return !below(n);
}

/* Uniform in (0, 1). */
static inline double uniform(void)
{
	return ((random64() >> 12) + 0.5) / 0x1p52;
}

static inline double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

#endif
