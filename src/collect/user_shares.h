/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order in which stacks are looked at. Some take long, as their programs want it, and one
 * process looks at all: each user has a like part of its time, and so has each process among the
 * user's. Who has asked for nothing has saved nothing up (start-time fair queuing, Goyal, Vin and
 * Cheng 1996). */
#ifndef CULPRIT_USER_SHARES_H
#define CULPRIT_USER_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#define USER_SHARES 1024 /* a power of two: users, or processes, beyond that share a part */

struct user_share {
	uint64_t spent_ns; /* on those of this user or process, since some time in common */
	uint32_t waiting;
};

/* One who waits; in a struct of its owner. */
struct user_wait {
	struct user_wait *next;
	struct user_share *user, *process;
	bool later; /* behind those of its user that are not so; its owner sets it */
};

/* All zero: nobody waits. */
struct user_shares {
	struct user_wait *first; /* the newest */
	struct user_share user[USER_SHARES], process[USER_SHARES];
};

/* Takes time in proportion to how many wait, as does user_shares_next(). */
void user_shares_add(struct user_shares *s, struct user_wait *w, uint32_t uid, uint32_t tgid);

/* The one that is next, of those that came first; NULL: nobody waits. It goes on waiting. */
struct user_wait *user_shares_next(const struct user_shares *s);

/* Counts time that was spent on one that waits. */
void user_shares_spend(struct user_wait *w, uint64_t ns);

/* Lets it wait no more. */
void user_shares_remove(struct user_shares *s, struct user_wait *w);

#endif
