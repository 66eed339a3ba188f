/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/batch.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int batch_init(struct batch *b, uint32_t nlanes)
{
	memset(b, 0, sizeof(*b));
	b->order = calloc(BATCH_EVENTS + 1, sizeof(*b->order));
	b->line = calloc(BATCH_EVENTS + 1, sizeof(*b->line));
	b->lane = calloc(nlanes ? nlanes : 1, sizeof(*b->lane));
	b->active = calloc(nlanes ? nlanes : 1, sizeof(*b->active));
	return b->order && b->line && b->lane && b->active ? 0 : -ENOMEM;
}

void batch_free(struct batch *b)
{
	free(b->order);
	free(b->line);
	free(b->lane);
	free(b->active);
	free(b->block);
	free(b->name);
	free(b->texts.at);
	memset(b, 0, sizeof(*b));
}

void batch_clear(struct batch *b, uint64_t place)
{
	for (uint32_t i = 0; i < b->nactive; i++)
		b->lane[b->active[i]].events = 0;
	b->n = b->nactive = b->nblocks = b->nnames = 0;
	b->texts.len = 0;
	b->place = place;
}

/* ---- in ---- */

/* Number of a new block, plus 1; 0: no memory. */
static __attribute__((noinline)) uint32_t new_block(struct batch *b)
{
	if (b->nblocks == b->blocks_room) {
		uint32_t room = b->blocks_room ? 2 * b->blocks_room : 64;
		struct batch_block *more = reallocarray(b->block, room, sizeof(*more));

		if (!more)
			return 0;
		b->block = more;
		b->blocks_room = room;
	}
	b->block[b->nblocks].next = b->block[b->nblocks].used = 0;
	return ++b->nblocks;
}

/* Room for so many bytes at the end of a lane; NULL: no memory. */
static inline void *room_for(struct batch *b, struct batch_lane *l, uint32_t bytes)
{
	struct batch_block *block = l->events ? &b->block[l->next.block - 1] : NULL;
	void *at;

	if (!block || block->used + bytes > sizeof(block->data)) {
		uint32_t new = new_block(b);

		if (!new)
			return NULL;
		if (l->events)
			b->block[l->next.block - 1].next = new;
		else
			l->first = (struct batch_at){.block = new};
		l->next.block = new;
		block = &b->block[new - 1];
	}
	at = (char *)block->data + block->used;
	block->used += bytes;
	return at;
}

/* True when its second half is empty, but for its place in the sequence. */
static bool is_half(const struct record *r)
{
	uint64_t name[2];

	memcpy(name, r->name, sizeof(name));
	return !(name[0] | name[1] | r->callsite | (uint16_t)r->stack | r->asker_cpu);
}

#define UP_TO_8(bytes) (((bytes) + 7) / 8 * 8)

static uint16_t bytes_of(const struct event *e)
{
	switch (e->type) {
	case EVENT_HICCUP:
		return UP_TO_8(sizeof(*e->hiccup));
	case EVENT_WHERE:
		return UP_TO_8(sizeof(*e->spot));
	case EVENT_START:
		return UP_TO_8(sizeof(e->cursor));
	default:
		return sizeof(e->ns);
	}
}

static void put(void *to, const struct event *e)
{
	if (e->type == EVENT_HICCUP) {
		memcpy(to, e->hiccup, sizeof(*e->hiccup));
	} else if (e->type == EVENT_WHERE) {
		memcpy(to, e->spot, sizeof(*e->spot));
	} else if (e->type == EVENT_START) {
		memcpy(to, e->cursor, sizeof(e->cursor));
	} else {
		memcpy(to, &e->ns, sizeof(e->ns));
	}
}

/* Room for an event of so many bytes; NULL: no memory. */
static inline void *add(struct batch *b, const struct event *e, bool half, uint16_t bytes)
{
	struct batch_lane *l = &b->lane[e->index];
	struct batch_head *head;

	bytes += sizeof(*head);
	head = room_for(b, l, bytes);
	if (!head)
		return NULL;
	*head = (struct batch_head){e->type, half, bytes, b->n};
	if (!l->events++)
		b->active[b->nactive++] = e->index;
	b->line[b->n] = 0;
	b->order[b->n++] = e->index;
	return head + 1;
}

void batch_add_record(struct batch *b, const struct event *e)
{
	const struct record *r = e->record;
	bool half = is_half(r);
	char *to = add(b, e, half, half ? BATCH_HALF + 8 : sizeof(*r));

	if (!to)
		return;
	memcpy(to, r, BATCH_HALF);
	if (half)
		memcpy(to + BATCH_HALF, &r->seq, sizeof(r->seq));
	else
		memcpy(to + BATCH_HALF, (const char *)r + BATCH_HALF, sizeof(*r) - BATCH_HALF);
}

void batch_add(struct batch *b, const struct event *e)
{
	void *to;

	if (e->type == EVENT_RECORD) {
		batch_add_record(b, e);
		return;
	}
	to = add(b, e, false, bytes_of(e));
	if (to)
		put(to, e);
}

void batch_add_name(struct batch *b, const struct event *e, const uint8_t *from, const uint8_t *to)
{
	size_t at = b->texts.len;

	if (b->nnames == b->names_room) {
		uint32_t room = b->names_room ? 2 * b->names_room : 64;
		struct batch_name *more = reallocarray(b->name, room, sizeof(*more));

		if (!more)
			return;
		b->name = more;
		b->names_room = room;
	}
	put_raw(&b->texts, from, to - from);
	if (!b->texts.failed)
		b->name[b->nnames++] = (struct batch_name){*e, at, b->texts.len};
}

/* Order makes no difference where hundreds of lanes have events. */
void batch_sort(struct batch *b)
{
	for (uint32_t i = 1; i < b->nactive && b->nactive < 256; i++) {
		uint32_t lane = b->active[i], at = i;

		for (; at && b->lane[b->active[at - 1]].events < b->lane[lane].events; at--)
			b->active[at] = b->active[at - 1];
		b->active[at] = lane;
	}
}

/* ---- out ---- */

void batch_event(const struct batch *b, const struct batch_head *head, struct record *room,
		 struct event *e)
{
	const void *data = head + 1;

	e->type = head->type;
	e->index = b->order[head->k];
	if (e->type == EVENT_RECORD) {
		e->record = batch_record(head, room);
	} else if (e->type == EVENT_HICCUP) {
		e->hiccup = data;
	} else if (e->type == EVENT_WHERE) {
		e->spot = data;
	} else if (e->type == EVENT_START) {
		memcpy(e->cursor, data, sizeof(e->cursor));
	} else {
		memcpy(&e->ns, data, sizeof(e->ns));
	}
}
