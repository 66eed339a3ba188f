/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_ORDER_NOTES_H
#define CULPRIT_ORDER_NOTES_H

#include <linux/types.h>

#include "note.bpf.h"

extern struct note_set order_notes;

void order_put_note(const struct asker_key *key, const struct asker_note *a);
bool order_take_note(struct cpu_state *c, struct record *r, const struct asker_key *key);
void order_forget_note(const struct asker_key *key);

#endif
