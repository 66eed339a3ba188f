#include "recording/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 262144 /* a power of two */
#define MOST  (SLOTS / 2)

struct name {
	uint64_t number;
	enum event_type type; /* 0: free */
	const char *name, *affinity;
	const char **frame; /* owned */
	int nframes;
};

struct naming {
	struct texts *texts;
	struct name *slot;
	uint32_t used;
	struct names names;
};

static struct name *find(const struct naming *n, enum event_type type, uint64_t number)
{
	uint32_t i = ((number ^ (uint64_t)type << 60) * 0x9e3779b97f4a7c15ULL) >> 46;

	while (n->slot[i].type && (n->slot[i].type != type || n->slot[i].number != number))
		i = (i + 1) % SLOTS;
	return &n->slot[i];
}

static const char *keep(struct naming *n, struct reading *r)
{
	size_t len;
	const char *text = get_text(r, &len);

	return text ? texts_keep(n->texts, text, len) : NULL;
}

void naming_take(struct naming *n, struct reading *r, const struct event *e)
{
	struct name *x = find(n, e->type, e->named.number);
	struct name spare = {0};

	if (x->type || n->used >= MOST) /* known already, or too many */
		x = &spare;
	else
		n->used++;
	x->type = e->type;
	x->number = e->named.number;
	if (e->type == EVENT_STACK) {
		x->nframes = e->named.nframes;
		x->frame = calloc(STACK_FRAMES, sizeof(*x->frame));
		for (int i = 0; i < x->nframes; i++) {
			const char *text = keep(n, r);

			if (x->frame)
				x->frame[i] = text ? text : "?";
		}
	} else {
		x->name = keep(n, r);
	}
	if (e->type == EVENT_IRQ)
		x->affinity = keep(n, r);
	free(spare.frame);
}

static const char *name_irq(void *ctx, uint32_t irq)
{
	return find(ctx, EVENT_IRQ, irq)->name;
}

static const char *name_affinity(void *ctx, uint32_t irq)
{
	return find(ctx, EVENT_IRQ, irq)->affinity;
}

static const char *name_symbol(void *ctx, uint64_t address)
{
	struct naming *n = ctx;
	const char *name = find(n, EVENT_SYMBOL, address)->name;
	char text[32];
	int len;

	if (name)
		return name;
	len = snprintf(text, sizeof(text), "[unknown %#llx]", (unsigned long long)address);
	name = texts_keep(n->texts, text, len);
	return name ? name : "[unknown]";
}

static int name_stack(void *ctx, int32_t id, const char **frame)
{
	const struct name *x = find(ctx, EVENT_STACK, id);

	if (!x->frame)
		return 0;
	memcpy(frame, x->frame, STACK_FRAMES * sizeof(*frame));
	return x->nframes;
}

struct naming *naming_new(struct texts *texts)
{
	struct naming *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->texts = texts;
	n->slot = calloc(SLOTS, sizeof(*n->slot));
	n->names = (struct names){n, name_irq, name_affinity, name_symbol, name_stack};
	if (n->slot)
		return n;
	free(n);
	return NULL;
}

void naming_free(struct naming *n)
{
	for (uint32_t i = 0; n && i < SLOTS; i++)
		free(n->slot[i].frame);
	if (n)
		free(n->slot);
	free(n);
}

const struct names *naming_names(const struct naming *n)
{
	return &n->names;
}
