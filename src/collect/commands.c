/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/texts.h"
#include "base/units.h"

#define STACK (64 << 10)
#define SLOTS 256 /* at first; a power of two */

struct slot {
	uint64_t number; /* 0: free */
	const char *text;
};

struct commands {
	struct slot *slot; /* hash, half empty */
	uint32_t slots, used;
	bool lack;
	struct reading *pending[COMMANDS_PENDING]; /* have not come back; NULL: free */
	pthread_attr_t attr;
	struct texts *texts;
};

/* A reading, by a thread of its own. */
struct reading {
	pthread_t thread;
	uint64_t number;
	uint32_t process;
	char text[COMMAND_MOST + 4];
	size_t len;
};

/* Words end with a NUL. */
static void join_words(struct reading *r, size_t len)
{
	bool cut = len > COMMAND_MOST;

	len = cut ? COMMAND_MOST : len;
	while (len && !r->text[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		r->text[i] = r->text[i] ? r->text[i] : ' ';
	if (cut) {
		memcpy(r->text + len, "...", 3);
		len += 3;
	}
	r->len = len;
}

static void *read_command(void *arg)
{
	struct reading *r = arg;
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", r->process);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	n = read(fd, r->text, COMMAND_MOST + 1);
	close(fd);
	if (n > 0)
		join_words(r, n);
	return NULL;
}

static struct slot *slot_of(const struct commands *c, uint64_t number)
{
	uint64_t at = number * 0x9e3779b97f4a7c15ULL >> 32;

	while (c->slot[at & (c->slots - 1)].number && c->slot[at & (c->slots - 1)].number != number)
		at++;
	return &c->slot[at & (c->slots - 1)];
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
static void take(struct commands *c, struct reading **place, long wait_ns)
{
	struct reading *r = *place;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += wait_ns;
	until.tv_sec += until.tv_nsec / NSEC_PER_SEC;
	until.tv_nsec %= NSEC_PER_SEC;
	if (pthread_timedjoin_np(r->thread, NULL, &until))
		return;
	if (r->len)
		slot_of(c, r->number)->text = texts_keep(c->texts, r->text, r->len);
	free(r);
	*place = NULL;
}

/* Returns a free place among them, NULL: there is none. *some: others have not come back. */
static struct reading **take_all(struct commands *c, bool *some)
{
	struct reading **free_place = NULL;

	*some = false;
	for (int i = 0; i < COMMANDS_PENDING; i++) {
		if (c->pending[i])
			take(c, &c->pending[i], 0);
		if (c->pending[i])
			*some = true;
		else
			free_place = &c->pending[i];
	}
	return free_place;
}

static void begin(struct commands *c, uint32_t process, uint64_t number)
{
	struct reading **place, *r;
	bool some;

	c->lack |= c->used == COMMANDS_MOST;
	if (c->used == COMMANDS_MOST)
		return;
	place = take_all(c, &some);
	if (!place || grow(c))
		return;
	r = calloc(1, sizeof(*r));
	if (!r)
		return;
	r->process = process;
	r->number = number;
	if (pthread_create(&r->thread, &c->attr, read_command, r)) {
		free(r);
		return;
	}
	slot_of(c, number)->number = number;
	c->used++;
	*place = r;
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
	if (!c->texts || grow(c) || pthread_attr_init(&c->attr)) {
		texts_free(c->texts);
		free(c->slot);
		free(c);
		return NULL;
	}
	/* The usual one, of megabytes, would be made and locked whole for each thread. */
	pthread_attr_setstacksize(&c->attr, STACK);
	return c;
}

void commands_free(struct commands *c)
{
	if (!c)
		return;
	pthread_attr_destroy(&c->attr);
	texts_free(c->texts);
	free(c->slot);
	free(c);
}
