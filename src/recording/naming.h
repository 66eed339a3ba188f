/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of IRQs, addresses and stacks in a recording. */
#ifndef CULPRIT_NAMING_H
#define CULPRIT_NAMING_H

#include "model/session.h"
#include "recording/bytes.h"
#include "recording/fields.h"

struct naming;

/* NULL: out of memory; the texts must outlive it. users: of names that users chose, which take no
 * room of the others. by: what rows of threads stand for. */
struct naming *naming_new(struct texts *texts, struct texts *users, enum owner_by by);
void naming_free(struct naming *n);
void naming_redact(struct naming *n); /* names that users chose go from here on */

/* Takes an event for which event_is_name() holds, and its texts. */
void naming_take(struct naming *n, struct reading *r, const struct event *e);
void naming_skip(struct reading *r, const struct event *e); /* skips them; other events have none */
bool naming_lacks(const struct naming *n);                  /* true: it had no room for a name */
const struct names *naming_names(const struct naming *n);

#endif
