/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel addresses in a recording: whoever reads them knows where the kernel lies, which it hides.
 * A recording needs them only to tell functions apart, whose names it holds; so others stand in
 * their place, which nobody can lead back once the process that wrote them has gone. */
#ifndef CULPRIT_HIDE_H
#define CULPRIT_HIDE_H

#include <stdint.h>

#include "model/redact.h"
#include "model/session.h"

#define HIDE_ROUNDS 27
#define HIDE_SLOTS  1024 /* a power of two */

struct hide {
	uint32_t key[HIDE_ROUNDS];
	struct {
		uint64_t address, instead;
	} known[HIDE_SLOTS];
	struct redact *redact; /* names of users go, too; NULL: they stay. Outlives this */
};

void hide_init(struct hide *h, const uint32_t key[4]);
int hide_init_random(struct hide *h); /* 0 or -EIO */

/* The substitute for a number: for an address of the kernel (the upper half of the address space) a
 * number that is no other address's, for any other the number itself. */
uint64_t hide_address(struct hide *h, uint64_t number);

/* The record with its addresses replaced. */
struct record hide_record(struct hide *h, const struct record *r);

/* Contents to which an event points. */
struct hide_room {
	struct record record;
	struct spot spot;
	const char *frame[STACK_FRAMES];
};

/* True for an event that is left out with `redact`: nothing but what users chose. The number of a
 * command line is made from a name, too. */
static inline bool hide_leaves(const struct hide *h, const struct event *e)
{
	return h->redact &&
	       (e->type == EVENT_COMMAND || e->type == EVENT_CALLER || e->type == EVENT_CALLS);
}

/* The event with its addresses replaced, and its names with `redact`; it may point to *room. */
struct event hide_event(struct hide *h, const struct event *e, struct hide_room *room);

#endif
