/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/texts.h"
#include "collect/reading.h"

#define SLOTS 256 /* at first; a power of two */

struct slot {
	uint64_t number; /* 0: free */
	const char *text;
};

struct commands {
	struct slot *slot; /* hash, half empty */
	uint32_t slots, used;
	bool lack;
	struct {
		struct reading *reading; /* has not come back; NULL: free */
		uint64_t number;
	} pending[COMMANDS_PENDING];
	struct texts *texts;
};

static struct slot *slot_of(const struct commands *c, uint64_t number)
{
	uint64_t at = number * 0x9e3779b97f4a7c15ULL >> 32;

	while (c->slot[at & (c->slots - 1)].number && c->slot[at & (c->slots - 1)].number != number)
		at++;
	return &c->slot[at & (c->slots - 1)];
}

/* Keeps the words of a command line, which end with a NUL each, by its number. */
static void keep(struct commands *c, uint64_t number, const char *words, ssize_t n)
{
	bool cut = n > COMMAND_MOST;
	size_t len = cut ? COMMAND_MOST : n > 0 ? n : 0;
	char text[COMMAND_MOST + 4];

	while (len && !words[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		text[i] = words[i] ? words[i] : ' ';
	if (cut) {
		memcpy(text + len, "...", 3);
		len += 3;
	}
	if (len)
		slot_of(c, number)->text = texts_keep(c->texts, text, len);
}

/* Room for one more. */
static int grow(struct commands *c)
{
	struct commands more = *c;

	if (2 * c->used < c->slots)
		return 0;
	more.slots = c->slots ? 2 * c->slots : SLOTS;
	more.slot = calloc(more.slots, sizeof(*more.slot));
	if (!more.slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->slots; i++)
		if (c->slot[i].number)
			*slot_of(&more, c->slot[i].number) = c->slot[i];
	free(c->slot);
	c->slot = more.slot;
	c->slots = more.slots;
	return 0;
}

/* Takes what a reading has found if that is there within so many ns. One that is not stays, with
 * its thread. */
static void take(struct commands *c, int i, long wait_ns)
{
	struct reading *r = c->pending[i].reading;
	ssize_t n;
	char *words;

	if (!reading_came(r, wait_ns))
		return;
	n = reading_bytes(r, &words);
	keep(c, c->pending[i].number, words, n);
	reading_free(r);
	c->pending[i].reading = NULL;
}

/* Returns a free place among them, -1: there is none. *some: others have not come back. */
static int take_all(struct commands *c, bool *some)
{
	int free_place = -1;

	*some = false;
	for (int i = 0; i < COMMANDS_PENDING; i++) {
		if (c->pending[i].reading)
			take(c, i, 0);
		if (c->pending[i].reading)
			*some = true;
		else
			free_place = i;
	}
	return free_place;
}

static void begin(struct commands *c, uint32_t process, uint64_t number)
{
	char path[32];
	bool some;
	int place;

	c->lack |= c->used == COMMANDS_MOST;
	if (c->used == COMMANDS_MOST)
		return;
	place = take_all(c, &some);
	if (place < 0 || grow(c))
		return;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", process);
	c->pending[place].number = number;
	c->pending[place].reading = reading_begin(AT_FDCWD, path, COMMAND_MOST + 1);
	if (!c->pending[place].reading)
		return;
	slot_of(c, number)->number = number;
	c->used++;
	take(c, place, some ? COMMAND_WAIT_NS / 10 : COMMAND_WAIT_NS);
}

const char *commands_text(struct commands *c, uint32_t process, uint64_t number)
{
	struct slot *s = slot_of(c, number);
	bool some;

	if (s->number && !s->text)
		take_all(c, &some);
	else if (!s->number)
		begin(c, process, number);
	return slot_of(c, number)->text;
}

bool commands_lack(const struct commands *c)
{
	return c->lack;
}

struct commands *commands_new(void)
{
	struct commands *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->texts = texts_new(TEXTS_BYTES);
	if (!c->texts || grow(c)) {
		texts_free(c->texts);
		free(c->slot);
		free(c);
		return NULL;
	}
	return c;
}

void commands_free(struct commands *c)
{
	if (!c)
		return;
	texts_free(c->texts);
	free(c->slot);
	free(c);
}
