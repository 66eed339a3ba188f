/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit's own words for a source: what it shows where else a name from the machine stands. Texts
 * are made here alone; whoever wants to know which word it is compares the enum. */
#ifndef CULPRIT_WORD_H
#define CULPRIT_WORD_H

#include <stdint.h>
#include "record.h"

/* The row for what the tables of sources could not keep apart, and what stands for many threads. A
 * thread may be called so, too: reports then write another first letter. */
#define OTHERS_NAME "(others)"

#define WORDS(ROW)                                                                                 \
	/* In place of the function of a thread without a real-time priority that took the CPU     \
	 * from the sampler, which has one. */                                                     \
	ROW(THROTTLED, "[throttled]")                                                              \
	/* In place of the function of a virtual CPU's exit whose thread slept. */                 \
	ROW(ASLEEP, "[asleep]")                                                                    \
	/* In place of the name of time outside the kernel: the verdict. */                        \
	ROW(STEAL, "steal")                                                                        \
	ROW(SIMULTANEOUS, "simultaneous")                                                          \
	ROW(HARDWARE, "hardware or hypervisor")                                                    \
	ROW(HOST_NOTHING, "host: nothing seen")                                                    \
	ROW(HOST_NOT_COVERED, "host: not covered")                                                 \
	ROW(NOT_TRACED, "not traced")                                                              \
	ROW(REST, NULL) /* as the workload calls it: run.rest */

enum own_word {
	WORD_NONE, /* all its names are the machine's */
#define ROW(name, text) WORD_##name,
	WORDS(ROW)
#undef ROW
/* Words in place of the function of an interrupt that flushed a TLB for another CPU. */
#define ROW(number, name, text) WORD_TLB_##name,
		TLB_REASONS(ROW)
#undef ROW
};

const char *word_text(enum own_word word); /* NULL: it has none of its own */

/* The word with this text, as a user types it; WORD_NONE: there is none. */
enum own_word word_of(const char *text);

/* The word of a reason for a TLB flush, and back: -1: the word is none of these. */
enum own_word word_of_tlb(uint32_t reason);
int word_tlb_reason(enum own_word word);

#endif
