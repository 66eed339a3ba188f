/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes of askers as they are built for arm64, for test_order_notes.c. */
#undef __TARGET_ARCH_x86
#define __TARGET_ARCH_arm64
#include "order_notes.h"

struct note_set order_notes;

static __always_inline struct note_set *set_at(__u32 index)
{
	return &order_notes + index;
}

void order_put_note(const struct asker_key *key, const struct asker_note *a)
{
	struct asker_note *to = begin_note(key);

	if (!to)
		return;
	to->tid = a->tid;
	*(struct record_half *)to->comm = *(const struct record_half *)a->comm;
	to->context = a->context;
	end_note(to, key);
}

bool order_take_note(struct cpu_state *c, struct record *r, const struct asker_key *key)
{
	return take_note(c, r, note_of(key), key);
}

void order_forget_note(const struct asker_key *key)
{
	forget_note(key);
}
