/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/word.h"

#include <string.h>

static const char *const texts[] = {NULL,
#define ROW(name, text) [WORD_##name] = text,
				    WORDS(ROW)
#undef ROW
#define ROW(number, name, text) [WORD_TLB_##name] = text,
					    TLB_REASONS(ROW)
#undef ROW
};

#define WORDS_ALL (sizeof(texts) / sizeof(texts[0]))
#define WORD_TLB  WORD_TLB_TASK_SWITCH /* word of reason 0; the others follow */

const char *word_text(enum own_word word)
{
	return word < WORDS_ALL ? texts[word] : NULL;
}

enum own_word word_of(const char *text)
{
	for (enum own_word w = WORD_NONE + 1; w < WORDS_ALL; w++)
		if (texts[w] && !strcmp(texts[w], text))
			return w;
	return WORD_NONE;
}

enum own_word word_of_tlb(uint32_t reason)
{
	return reason < WORDS_ALL - WORD_TLB ? (enum own_word)(WORD_TLB + reason) : WORD_NONE;
}

int word_tlb_reason(enum own_word word)
{
	return word >= WORD_TLB && word < WORDS_ALL ? (int)word - (int)WORD_TLB : -1;
}
