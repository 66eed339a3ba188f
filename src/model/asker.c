/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The named function is the first on the stack that means something: senders of IPIs, wakers and
 * queuers all end in the same few helpers, which are skipped. */
#include "model/asker_rows.h"

#include <stdbool.h>
#include <string.h>

#include "base/begins.h"
#include "model/frames.h"

static bool begins_with_any(const char *name, const char *const *prefix, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (begins(name, prefix[i]))
			return true;
	return false;
}

/* True when a thread that sends to this machine carries the message to the receiver itself: it
 * enables softirqs after the sending, and they run at once. The raiser of any other softirq
 * there is not known: it may be an interrupt while softirqs were off. `at` is the frame that
 * runs them. */
static bool carries(const char *const *frame, int n, int at)
{
	static const char *const enables[] = {"__local_bh_enable_ip", "do_softirq"};
	static const char *const sends[] = {"__dev_queue_xmit", "dev_queue_xmit",
					    "ip_finish_output2", "ip6_finish_output2", "netif_rx"};
	bool backlog = false, enabled = false;

	for (int i = 0; i < at && !backlog; i++)
		backlog = begins(frame[i], "process_backlog");
	for (int i = at + 1; i < n && backlog; i++) {
		if (frame_is(frame[i]) == FRAME_INTERRUPT || begins(frame[i], "run_ksoftirqd"))
			return false;
		enabled |= begins_with_any(frame[i], enables, sizeof(enables) / sizeof(enables[0]));
		if (enabled && begins_with_any(frame[i], sends, sizeof(sends) / sizeof(sends[0])))
			return true;
	}
	return false;
}

/* Searches from the innermost frame outwards for the first visible context. */
static enum asker_kind kind_by_stack(const char *const *frame, int n, enum asker_kind otherwise)
{
	for (int i = 0; i < n; i++) {
		enum frame_is is = frame_is(frame[i]);

		if (is == FRAME_SOFTIRQ)
			return carries(frame, n, i) ? ASKER_THREAD : ASKER_SOFTIRQ;
		if (otherwise == ASKER_THREAD && is == FRAME_OWN_WORK)
			return ASKER_THREAD;
		if (otherwise == ASKER_THREAD && is == FRAME_INTERRUPT)
			return ASKER_INTERRUPT;
	}
	return otherwise;
}

static enum asker_kind kind_of(const struct record *r, const char *const *frame, int n)
{
	switch (r->flags & RECORD_CONTEXT) {
	case RECORD_BY_INTERRUPT:
		return ASKER_INTERRUPT;
	case RECORD_BY_SOFTIRQ:
		return kind_by_stack(frame, n, ASKER_SOFTIRQ);
	default:
		if (!r->id &&
		    !strncmp(r->name, "(interrupt)", sizeof(r->name))) /* as in old recordings */
			return ASKER_INTERRUPT;
		return kind_by_stack(frame, n, ASKER_THREAD);
	}
}

/* True for a thread whose control group is known, and tells whose it is: the root is nobody's. */
static bool is_owned(const struct record *r)
{
	return r->flags & RECORD_OWNED && OWNER_CGROUP(r->owner) > OWNER_ROOT;
}

static struct asker asker_of(const struct record *r, const char *const *frame, int n)
{
	struct asker a = {.kind = kind_of(r, frame, n), .cpu = r->asker_cpu};

	if (a.kind == ASKER_THREAD) {
		a.tid = r->id;
		a.cgroup = is_owned(r) ? OWNER_CGROUP(r->owner) : 0;
		memcpy(a.comm, r->name, sizeof(r->name));
	} else {
		strcpy(a.comm, a.kind == ASKER_SOFTIRQ ? "(softirq)" : "(interrupt)");
	}
	return a;
}

const char *asker_context(const struct asker *a)
{
	if (a->kind == ASKER_THREAD)
		return NULL;
	return a->kind == ASKER_SOFTIRQ ? "a softirq" : "an interrupt";
}

static const char *function_of(const char *const *frame, int n, const char *site)
{
	for (int i = 0; i < n; i++)
		if (frame_is(frame[i]) != FRAME_HELPER)
			return frame[i];
	return site ? site : n ? frame[n - 1] : NULL;
}

/* True when the asker is known: from the context, of an interrupt or a thread on a target;
 * otherwise from a stack with names. */
static bool is_told(const struct record *r, const char *const *frame, int n)
{
	unsigned context = r->flags & RECORD_CONTEXT;

	if (r->stack == -1 || context == RECORD_BY_INTERRUPT || context == RECORD_BY_SOFTIRQ)
		return true;
	for (int i = 0; i < n; i++)
		if (!begins(frame[i], "[unknown"))
			return true;
	return false;
}

static const char *const *frames_kept(const struct names *names, int32_t stack, int n)
{
	return n && names->stack_kept ? names->stack_kept(names->ctx, stack) : NULL;
}

/* The names of a stack. */
struct known_frames {
	const char *const *frame;
	int n;
	const char *const *kept; /* the same, in a place of their own; NULL: in none */
};

/* Counts a request in a row, or in a way. */
static const struct asker *count_in(struct asker_row *row, const struct asker *who,
				    const struct record *r, const struct known_frames *f)
{
	if (!row->count++) {
		row->who = *who;
		asker_row_frames(row, f->frame, f->n, f->kept);
	}
	row->last = (struct asker_last){.stack = r->stack,
					.tid = r->id,
					.site = r->callsite,
					.context = r->flags & RECORD_CONTEXT};
	memcpy(row->last.comm, r->name, sizeof(row->last.comm));
	return &row->who;
}

/* Calls are known some time after the first request. */
static const struct asker *with_calls(struct asker_row *way, const struct names *names)
{
	if (!way->who.calls && names->calls)
		way->who.calls = names->calls(names->ctx, way->who.user);
	return &way->who;
}

static const struct asker *count_again(struct asker_row *row, struct asker_row *way,
				       const struct names *names)
{
	row->count++;
	if (!way)
		return &row->who;
	way->count++;
	return with_calls(way, names);
}

/* again: the row that has had the same request; NULL: none; and its way. */
static const struct asker *add_by_names(struct askers *o, const struct record *r,
					const struct names *names, struct asker_row *again,
					struct asker_row *way)
{
	const char *frame[STACK_FRAMES], *site = NULL, *owner = NULL;
	const struct asker *is;
	struct known_frames f;
	uint32_t user = 0;
	struct asker_row *row;
	struct asker who;
	int n = 0;

	if (r->stack >= 0)
		n = names->stack(names->ctx, r->stack, frame);
	if (r->stack >= 0 && names->user)
		user = names->user(names->ctx, r->stack);
	if (r->callsite && !(r->flags & RECORD_OWNED))
		site = names->symbol(names->ctx, r->callsite);
	if (is_owned(r) && names->owner)
		owner = names->owner(names->ctx, OWNER_CGROUP(r->owner));
	if (again)
		return count_again(again, way, names);
	if (!is_told(r, frame, n)) {
		o->unnamed++;
		return NULL;
	}
	who = asker_of(r, frame, n);
	who.function = function_of(frame, n, site);
	who.owner = who.cgroup ? owner : NULL;
	if (who.kind == ASKER_THREAD && r->flags & RECORD_OWNED && names->command) {
		who.process = OWNER_PROCESS(r->owner);
		who.command = names->command(names->ctx, who.process, r->name);
	}
	row = asker_row_of(o, &who);
	if (!row) {
		o->unnamed++;
		return NULL;
	}
	f = (struct known_frames){frame, n, frames_kept(names, r->stack, n)};
	is = count_in(row, &who, r, &f);
	row->last.user = who.kind == ASKER_THREAD && user;
	if (!row->last.user)
		return is;
	who.user = user;
	way = asker_way_of(row, &who);
	if (!way)
		return is;
	count_in(way, &who, r, &f);
	return with_calls(way, names);
}

/* Names are asked for each time where a recorder keeps those that are. */
const struct asker *askers_add(struct askers *o, const struct record *r, const struct names *names)
{
	struct asker_row *row, *way;

	if (!names)
		return NULL;
	o->known++;
	row = asker_row_again(o, r, &way);
	if (!row || !names->kept)
		return add_by_names(o, r, names, row, way);
	return count_again(row, way, names);
}
