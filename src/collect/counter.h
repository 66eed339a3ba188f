/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU's own time-stamp counter: rdtsc on x86, cntvct_el0 on arm64, CLOCK_MONOTONIC elsewhere or
 * on request. */
#ifndef CULPRIT_COUNTER_H
#define CULPRIT_COUNTER_H

#include <stdint.h>

#include "base/now.h"

#if defined(__x86_64__)
#define COUNTER_NAME "tsc"
static inline uint64_t counter_now(void)
{
	return __builtin_ia32_rdtsc();
}

/* Fenced: runs neither before earlier instructions nor after later ones (Intel SDM, RDTSC; the
 * kernel makes lfence wait on AMD, too). */
static inline uint64_t counter_fenced(void)
{
	uint64_t t;

	__builtin_ia32_lfence();
	t = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return t;
}
#elif defined(__aarch64__)
#define COUNTER_NAME "cntvct"
static inline uint64_t counter_now(void)
{
	uint64_t t;

	/* isb: without it the counter may be read before earlier loads, above all those of the
	 * record sequences. */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(t) : : "memory");
	return t;
}

static inline uint64_t counter_fenced(void)
{
	uint64_t t;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(t) : : "memory");
	return t;
}
#else
#define COUNTER_NAME   "clock"
#define counter_now    now_ns
#define counter_fenced now_ns
#endif

#endif
