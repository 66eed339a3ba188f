/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_shares.h"

#include <stddef.h>

static struct user_share *share_of(struct user_share *table, uint32_t number)
{
	/* 2^32 by the golden ratio: neighbours have shares of their own. */
	return &table[(number * UINT32_C(0x9e3779b9) >> 16) % USER_SHARES];
}

/* Between two of those that wait. */
static bool before(const struct user_wait *a, const struct user_wait *b)
{
	if (a->user->spent_ns != b->user->spent_ns)
		return a->user->spent_ns < b->user->spent_ns;
	if (a->user == b->user && a->later != b->later)
		return b->later;
	return a->user == b->user && a->process->spent_ns < b->process->spent_ns;
}

/* The next one among all, or among those of one user. */
static struct user_wait *least(const struct user_shares *s, const struct user_share *user)
{
	struct user_wait *found = NULL;

	/* The newest comes first: of equals the last one has waited for longest. */
	for (struct user_wait *w = s->first; w; w = w->next)
		if ((!user || w->user == user) && (!found || !before(found, w)))
			found = w;
	return found;
}

/* Whoever has waited for nothing is where the next one is. */
static void catch_up(struct user_share *own, const struct user_share *next)
{
	if (!own->waiting && next && own->spent_ns < next->spent_ns)
		own->spent_ns = next->spent_ns;
	own->waiting++;
}

void user_shares_add(struct user_shares *s, struct user_wait *w, uint32_t uid, uint32_t tgid)
{
	const struct user_wait *next;

	w->user = share_of(s->user, uid);
	w->process = share_of(s->process, tgid);
	next = least(s, NULL);
	catch_up(w->user, next ? next->user : NULL);
	next = least(s, w->user);
	catch_up(w->process, next ? next->process : NULL);
	w->next = s->first;
	s->first = w;
}

struct user_wait *user_shares_next(const struct user_shares *s)
{
	return least(s, NULL);
}

void user_shares_spend(struct user_wait *w, uint64_t ns)
{
	w->user->spent_ns += ns;
	w->process->spent_ns += ns;
}

void user_shares_remove(struct user_shares *s, struct user_wait *w)
{
	struct user_wait **at = &s->first;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	w->user->waiting--;
	w->process->waiting--;
}
