/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Speck64/128 (Beaulieu et al., "The SIMON and SPECK families of lightweight block ciphers", 2013):
 * a permutation of 64 bits, so that two addresses never become one. A run meets the same few
 * addresses again and again: most are looked up. */
#include "recording/hide.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static uint32_t turn(uint32_t x, unsigned left)
{
	return x << left | x >> (32 - left);
}

static void round_of(uint32_t *x, uint32_t *y, uint32_t key)
{
	*x = (turn(*x, 24) + *y) ^ key;
	*y = turn(*y, 3) ^ *x;
}

void hide_init(struct hide *h, const uint32_t key[4])
{
	uint32_t k = key[0], l[3] = {key[1], key[2], key[3]};

	memset(h, 0, sizeof(*h));
	for (uint32_t i = 0; i < HIDE_ROUNDS; i++) {
		h->key[i] = k;
		round_of(&l[i % 3], &k, i);
	}
}

int hide_init_random(struct hide *h)
{
	uint32_t key[4];

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	hide_init(h, key);
	explicit_bzero(key, sizeof(key));
	return 0;
}

uint64_t hide_address(struct hide *h, uint64_t number)
{
	uint32_t x = number >> 32, y = number, slot = number * 0x9e3779b97f4a7c15ULL >> 54;

	if (!(number >> 63))
		return number;
	if (h->known[slot].address == number)
		return h->known[slot].instead;
	for (unsigned i = 0; i < HIDE_ROUNDS; i++)
		round_of(&x, &y, h->key[i]);
	h->known[slot].address = number;
	h->known[slot].instead = (uint64_t)x << 32 | y;
	return h->known[slot].instead;
}

struct record hide_record(struct hide *h, const struct record *r)
{
	struct record hidden = *r;

	hidden.arg = hide_address(h, r->arg);
	hidden.callsite = hide_address(h, r->callsite);
	return hidden;
}

/* Replaces the names that are no record's. */
static void redact_event(struct redact *r, struct event *e, struct hide_room *room)
{
	if (e->type == EVENT_SYMBOL) {
		e->named.name = redact_symbol(e->named.name);
	} else if (e->type == EVENT_STACK) {
		for (int i = 0; i < e->named.nframes; i++)
			room->frame[i] = redact_symbol(e->named.frame[i]);
		e->named.frame = room->frame;
	} else if (e->type == EVENT_OWNER) {
		e->named.name = NULL;
	} else if (e->type == EVENT_WHERE) {
		room->spot = *e->spot;
		redact_spot(r, &room->spot);
		e->spot = &room->spot;
	}
}

struct event hide_event(struct hide *h, const struct event *e, struct hide_room *room)
{
	struct event hidden = *e;

	if (e->type == EVENT_RECORD) {
		room->record = hide_record(h, e->record);
		if (h->redact)
			room->record = redact_record(h->redact, &room->record);
		hidden.record = &room->record;
	} else if (e->type == EVENT_SYMBOL) {
		hidden.named.number = hide_address(h, e->named.number);
	}
	if (h->redact)
		redact_event(h->redact, &hidden, room);
	return hidden;
}
