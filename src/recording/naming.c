/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/naming.h"

#include <stdlib.h>
#include <string.h>

#include "model/calls.h"
#include "model/redact.h"

#define BITS_FIRST 9  /* the table has 2^9 slots at first, */
#define BITS_MOST  18 /* most slots; half of them stay free */
/* slots searched: a file whose numbers were chosen to collide must not be slow */
#define TRIES 256
/* Bytes of a stack's frames in all; the outermost that are beyond are left out. */
#define STACK_TEXT 4096

/* Bytes of a text, as many as a live run takes at most, and more: a longer one is cut. A file says
 * each once and means it a million times: one of a megabyte would be hashed and printed as often.
 */
static const uint16_t text_most[EVENT_TYPES] = {
	[EVENT_IRQ] = 256,    /* the CPUs' list, too */
	[EVENT_SYMBOL] = 640, /* KSYM_NAME_LEN, 512, and the module's name */
	[EVENT_STACK] = 640,        [EVENT_OWNER] = 4096 + OWNER_TEXT, /* PATH_MAX */
	[EVENT_COMMAND] = 256,      [EVENT_DEVICE] = 600,
	[EVENT_CALLS] = CALLS_TEXT,
};

struct name {
	uint64_t number;
	enum event_type type; /* 0: free */
	const char *name, *affinity;
	const char *const *frame; /* a stack's; in the texts; NULL: out of memory */
	int nframes;
	uint32_t user; /* EVENT_CALLER: number of the user stack */
};

struct table {
	struct texts *texts;
	struct name *slot;
	unsigned bits;
	uint32_t used;
	bool lacks; /* true: it had no slot for a name */
};

struct naming {
	struct table table[2]; /* the second: names of event_is_users() */
	struct names names;
	bool redact;
};

/* The slot that has it, or a free one for it; NULL: neither is near. */
static struct name *find(const struct table *t, enum event_type type, uint64_t number)
{
	uint64_t at = ((number ^ (uint64_t)type << 60) * 0x9e3779b97f4a7c15ULL) >> (64 - t->bits);

	for (int tries = 0; tries < TRIES; tries++, at++) {
		struct name *x = &t->slot[at & ((1u << t->bits) - 1)];

		if (!x->type || (x->type == type && x->number == number))
			return x;
	}
	return NULL;
}

/* Doubles the slots; without memory they stay as they are. */
static void grow(struct table *t)
{
	struct table larger = {.bits = t->bits + 1,
			       .slot = calloc(2u << t->bits, sizeof(*t->slot))};

	if (!larger.slot)
		return;
	for (uint32_t i = 0; i < 1u << t->bits; i++) {
		const struct name *x = &t->slot[i];
		struct name *to = x->type ? find(&larger, x->type, x->number) : NULL;

		if (to)
			*to = *x;
		else
			t->lacks |= x->type != 0;
	}
	free(t->slot);
	t->slot = larger.slot;
	t->bits = larger.bits;
}

static const struct name *known(const struct naming *n, enum event_type type, uint64_t number)
{
	static const struct name unknown;
	const struct name *x = find(&n->table[event_is_users(type)], type, number);

	return x ? x : &unknown;
}

static const char *keep(struct naming *n, struct reading *r, enum event_type type)
{
	struct table *t = &n->table[event_is_users(type)];
	size_t len;
	const char *text = get_text(r, &len);

	if (text && len > text_most[type]) {
		len = text_most[type];
		t->lacks = true;
	}
	text = text ? texts_keep(t->texts, text, len) : NULL;
	return n->redact ? redact_symbol(text) : text;
}

static void take_stack(struct naming *n, struct reading *r, struct name *x, int nframes)
{
	const char *frame[STACK_FRAMES];
	size_t len = 0;
	int all = nframes;

	nframes = 0;
	for (int i = 0; i < all; i++) {
		const char *text = keep(n, r, EVENT_STACK);

		len += text ? strlen(text) : 0;
		if (len <= STACK_TEXT)
			frame[nframes++] = text ? text : "?";
		else
			n->table[0].lacks = true;
	}
	x->frame = (const void *)texts_keep(n->table[0].texts, (const char *)frame,
					    nframes * sizeof(frame[0]));
	x->nframes = x->frame ? nframes : 0;
}

void naming_skip(struct reading *r, const struct event *e)
{
	int n = e->type == EVENT_STACK    ? e->named.nframes
		: e->type == EVENT_IRQ    ? 2
		: e->type == EVENT_CALLER ? 0
					  : event_is_name(e->type);
	size_t len;

	while (n-- > 0)
		get_text(r, &len);
}

void naming_take(struct naming *n, struct reading *r, const struct event *e)
{
	struct table *t = &n->table[event_is_users(e->type)];
	struct name *x;

	if (t->used >= 1u << (t->bits - 1) && t->bits < BITS_MOST)
		grow(t);
	x = find(t, e->type, e->named.number);
	if (!x || (!x->type && t->used >= 1u << (t->bits - 1))) {
		t->lacks = true;
		naming_skip(r, e);
		return;
	}
	if (x->type) { /* known already */
		naming_skip(r, e);
		return;
	}
	t->used++;
	x->type = e->type;
	x->number = e->named.number;
	if (e->type == EVENT_STACK)
		take_stack(n, r, x, e->named.nframes);
	else if (e->type == EVENT_CALLER)
		x->user = n->redact ? 0 : e->named.user;
	else if (n->redact && event_is_users(e->type))
		naming_skip(r, e); /* the slot is taken, and has no name */
	else
		x->name = keep(n, r, e->type);
	if (e->type == EVENT_IRQ)
		x->affinity = keep(n, r, e->type);
}

static const char *name_irq(void *ctx, uint32_t irq)
{
	return known(ctx, EVENT_IRQ, irq)->name;
}

static const char *name_affinity(void *ctx, uint32_t irq)
{
	return known(ctx, EVENT_IRQ, irq)->affinity;
}

static const char *name_device(void *ctx, uint32_t irq)
{
	return known(ctx, EVENT_DEVICE, irq)->name;
}

/* One that has no name, as its chunk is lost, has no number either: that would be by which thread
 * came first. Old recordings have the kernel's addresses, which no report is to show. */
static const char *name_symbol(void *ctx, uint64_t address)
{
	const char *name = known(ctx, EVENT_SYMBOL, address)->name;

	return name ? name : "[unknown]";
}

static int name_stack(void *ctx, int32_t id, const char **frame)
{
	const struct name *x = known(ctx, EVENT_STACK, id);

	if (x->nframes)
		memcpy(frame, x->frame, x->nframes * sizeof(*frame));
	return x->nframes;
}

static const char *const *name_stack_kept(void *ctx, int32_t id)
{
	return known(ctx, EVENT_STACK, id)->frame;
}

static const char *name_owner(void *ctx, uint32_t group)
{
	return known(ctx, EVENT_OWNER, group)->name;
}

static const char *name_command(void *ctx, uint32_t process, const char *comm)
{
	return known(ctx, EVENT_COMMAND, names_command(process, comm))->name;
}

static uint32_t name_user(void *ctx, int32_t id)
{
	return known(ctx, EVENT_CALLER, id)->user;
}

static const char *name_calls(void *ctx, uint32_t user)
{
	return known(ctx, EVENT_CALLS, user)->name;
}

void naming_redact(struct naming *n)
{
	n->redact = true;
}

bool naming_lacks(const struct naming *n)
{
	bool lacks = false;

	for (int i = 0; i < 2; i++)
		lacks |= n->table[i].lacks || texts_lack(n->table[i].texts);
	return lacks;
}

struct naming *naming_new(struct texts *texts, struct texts *users, enum owner_by by)
{
	struct naming *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->table[0].texts = texts;
	n->table[1].texts = users;
	for (int i = 0; i < 2; i++) {
		n->table[i].bits = BITS_FIRST;
		n->table[i].slot = calloc(1u << BITS_FIRST, sizeof(struct name));
	}
	n->names = (struct names){n,
				  name_irq,
				  name_affinity,
				  name_device,
				  name_symbol,
				  name_stack,
				  name_owner,
				  name_command,
				  name_user,
				  name_calls,
				  .by = by,
				  .kept = true,
				  .stack_kept = name_stack_kept};
	if (n->table[0].slot && n->table[1].slot)
		return n;
	naming_free(n);
	return NULL;
}

void naming_free(struct naming *n)
{
	if (!n)
		return;
	for (int i = 0; i < 2; i++)
		free(n->table[i].slot);
	free(n);
}

const struct names *naming_names(const struct naming *n)
{
	return &n->names;
}
