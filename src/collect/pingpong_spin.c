/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways of pingpong that never enter the kernel: spinning on a word of shared memory, or letting
 * the CPU wait for it. And null, which sends nothing and only reads the clock twice. */
#include <stdio.h>

#include "collect/pingpong_way.h"

/* Reads the cursors before both clock readings, as before any window. Sends nothing, so the other
 * side may send the first message of the next way at any time: for that one the earlier cursors
 * hold. */
int play_null(struct side *s, uint64_t messages, bool *stopped)
{
	bool counter = s->work->spin->counter;
	cursors_t sent = s->cursors;

	for (uint64_t n = 0; n < messages; n++) {
		uint64_t before, after;

		if (work_stopped(s->work)) {
			*stopped = true;
			break;
		}
		s->cursors = work_cursors(s->work);
		before = read_counter(counter);
		after = read_counter(counter);
		note_message(s, before, after);
	}
	s->cursors = sent;
	return 0;
}

static inline bool store(struct side *s, uint64_t stamp)
{
	atomic_store_explicit(&s->out->word, stamp, memory_order_release);
	return true;
}

/* Looks for a message: stamps of one side only rise, so a different word is a message. */
static inline __attribute__((always_inline)) uint64_t look(struct side *s, uint64_t pauses)
{
	uint64_t word;

	for (;;) {
		for (uint64_t i = 0; i <= LOOKS / (pauses + 1); i++) {
			word = atomic_load_explicit(&s->in->word, memory_order_acquire);
			if (word != s->last)
				return s->last = word;
			for (uint64_t k = 0; k < pauses; k++)
				RELAX();
		}
		if (work_stopped(s->work))
			return STOP;
	}
}

static inline uint64_t receive_spin(struct side *s)
{
	return look(s, 0);
}

static inline uint64_t receive_pause(struct side *s)
{
	return look(s, 1);
}

static inline uint64_t receive_pauses(struct side *s)
{
	return look(s, s->o->looks);
}

int play_spin(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, store, receive_spin);
}

int play_spin_pause(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, store, receive_pause);
}

int play_spin_pauses(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, store, receive_pauses);
}

#if defined(__x86_64__)

#include <cpuid.h>

#define WAIT_TICKS 1000000 /* ticks until it checks whether to stop */

/* Intel SDM, CPUID leaf 7: ECX bit 5, WAITPKG. */
int can_umwait(char *why, size_t len)
{
	unsigned a, b, c = 0, d;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && c & 1U << 5)
		return 0;
	snprintf(why, len, "this CPU does not have UMWAIT, or the hypervisor hides it");
	return -1;
}

/* AMD APM volume 3, CPUID 8000_0001: ECX bit 29, MONITORX. */
int can_mwaitx(char *why, size_t len)
{
	unsigned a, b, c = 0, d;

	if (__get_cpuid(0x80000001, &a, &b, &c, &d) && c & 1U << 29)
		return 0;
	snprintf(why, len, "this CPU does not have MWAITX, or the hypervisor hides it");
	return -1;
}

/* Instructions by their bytes, because old assemblers do not know them. umonitor rax; umwait ecx: 1
 * is the lighter state, C0.1, until edx:eax. */
static inline uint64_t receive_umwait(struct side *s)
{
	uint64_t word;

	for (;;) {
		word = atomic_load_explicit(&s->in->word, memory_order_acquire);
		if (word != s->last)
			return s->last = word;
		__asm__ volatile(".byte 0xf3, 0x0f, 0xae, 0xf0" : : "a"(&s->in->word) : "memory");
		word = atomic_load_explicit(&s->in->word, memory_order_acquire);
		if (word == s->last) {
			uint64_t until = __builtin_ia32_rdtsc() + WAIT_TICKS;

			__asm__ volatile(".byte 0xf2, 0x0f, 0xae, 0xf1"
					 :
					 : "a"((uint32_t)until), "d"((uint32_t)(until >> 32)),
					   "c"(1)
					 : "memory", "cc");
		}
		if (work_stopped(s->work))
			return STOP;
	}
}

/* monitorx rax, ecx, edx; mwaitx eax: f0 stays out of idle states; ecx: 2 ends after ebx ticks. */
static inline uint64_t receive_mwaitx(struct side *s)
{
	uint64_t word;

	for (;;) {
		word = atomic_load_explicit(&s->in->word, memory_order_acquire);
		if (word != s->last)
			return s->last = word;
		__asm__ volatile(".byte 0x0f, 0x01, 0xfa"
				 :
				 : "a"(&s->in->word), "c"(0), "d"(0)
				 : "memory");
		word = atomic_load_explicit(&s->in->word, memory_order_acquire);
		if (word == s->last)
			__asm__ volatile(".byte 0x0f, 0x01, 0xfb"
					 :
					 : "a"(0xf0), "b"(WAIT_TICKS), "c"(2)
					 : "memory");
		if (work_stopped(s->work))
			return STOP;
	}
}

int play_umwait(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, store, receive_umwait);
}

int play_mwaitx(struct side *s, uint64_t messages, bool *stopped)
{
	return play(s, messages, stopped, store, receive_mwaitx);
}

#else

int can_umwait(char *why, size_t len)
{
	snprintf(why, len, "umwait is an instruction of x86");
	return -1;
}

int can_mwaitx(char *why, size_t len)
{
	snprintf(why, len, "mwaitx is an instruction of x86");
	return -1;
}

/* Never called: can_umwait and can_mwaitx refuse. */
int play_umwait(struct side *s, uint64_t messages, bool *stopped)
{
	return play_spin(s, messages, stopped);
}

int play_mwaitx(struct side *s, uint64_t messages, bool *stopped)
{
	return play_spin(s, messages, stopped);
}

#endif
