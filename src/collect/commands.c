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
#define SLOTS 4096 /* a power of two; three quarters of them are used before all are emptied */

struct slot {
	uint64_t number; /* 0: free */
	const char *text;
	struct reading *pending; /* has not come back */
};

struct commands {
	struct slot slot[SLOTS];
	uint32_t used, pending;
	pthread_attr_t attr;
	struct texts *texts;
};

/* A reading, by a thread of its own. */
struct reading {
	pthread_t thread;
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

/* Takes what a reading has found if that is there within so many ns. One that is not stays, with
 * its thread. */
static void take(struct commands *c, struct slot *s, long wait_ns)
{
	struct reading *r = s->pending;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += wait_ns;
	until.tv_sec += until.tv_nsec / NSEC_PER_SEC;
	until.tv_nsec %= NSEC_PER_SEC;
	if (pthread_timedjoin_np(r->thread, NULL, &until))
		return;
	if (r->len)
		s->text = texts_keep(c->texts, r->text, r->len);
	s->pending = NULL;
	c->pending--;
	free(r);
}

static void begin(struct commands *c, struct slot *s, uint32_t process)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		return;
	r->process = process;
	if (pthread_create(&r->thread, &c->attr, read_command, r)) {
		free(r);
		return;
	}
	s->pending = r;
	take(c, s, c->pending++ ? COMMAND_WAIT_NS / 10 : COMMAND_WAIT_NS);
}

/* All are read anew when they are asked for again; who has not come back stays in the way. */
static void forget(struct commands *c)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (c->slot[i].pending)
			take(c, &c->slot[i], 0);
	memset(c->slot, 0, sizeof(c->slot));
	c->used = 0;
}

const char *commands_text(struct commands *c, uint32_t process, uint64_t number)
{
	uint32_t at = (number * 0x9e3779b97f4a7c15ULL) >> 52;
	struct slot *s;

	_Static_assert(SLOTS == 1 << 12, "the upper 12 bits");
	for (; (s = &c->slot[at])->number; at = (at + 1) % SLOTS) {
		if (s->number != number)
			continue;
		if (s->pending)
			take(c, s, 0);
		return s->text;
	}
	if (c->pending >= COMMANDS_PENDING)
		return NULL;
	if (c->used >= SLOTS / 4 * 3) {
		forget(c);
		return commands_text(c, process, number);
	}
	c->used++;
	s->number = number;
	begin(c, s, process);
	return s->text;
}

struct commands *commands_new(void)
{
	struct commands *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->texts = texts_new();
	if (!c->texts || pthread_attr_init(&c->attr)) {
		texts_free(c->texts);
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
	free(c);
}
