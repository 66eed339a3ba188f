/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_stacks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/hash.h"
#include "base/now.h"
#include "base/say.h"
#include "base/texts.h"
#include "base/units.h"
#include "collect/host.h"
#include "collect/user_parse.h"
#include "collect/user_process.h"
#include "collect/user_reader.h"

#define SETTLE_NS  (15 * NSEC_PER_SEC)
#define SETTLE_MS  50
#define LEFT_MS    1000
#define AGAIN_NS   (10 * NSEC_PER_MSEC) /* until it is seen again whether there is room */
#define LOST_SAID  8
#define ROOM_BYTES (4 << 20) /* the socket's: thousands of stacks may wait */

/* A stack without its kernel part. */
struct known {
	struct user_stack stack;
	const char *calls; /* NULL: not yet */
};

struct user_stacks {
	int map, socket;
	pid_t reader;
	struct texts *texts;
	struct {
		uint32_t number; /* 0: not looked at */
		int32_t kernel;
	} slot[USER_STACKS];
	uint16_t place[2 * USER_STACKS]; /* hash: numbers, 0: free */
	struct known known[USER_STACKS + 1];
	uint32_t count, sent, pending; /* the last: without an answer */
	uint64_t again_ns;             /* not before is one sent again */
	const char *lost[LOST_SAID];   /* files, and why */
	uint32_t files_lost;
	struct user_answer answer;
};

static int start_reader(struct user_stacks *s, const char *debug)
{
	int pair[2], room = ROOM_BYTES, begun, err;
	pid_t culprit = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	setsockopt(pair[1], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	s->reader = fork();
	err = -errno;
	if (!s->reader) {
		close(pair[0]);
		user_reader(pair[1], debug, culprit);
	}
	close(pair[1]);
	s->socket = pair[0];
	if (s->reader < 0)
		return err;
	/* Until the one that reads files has its filter of system calls: see base/confine.h. */
	if (TEMP_FAILURE_RETRY(recv(pair[0], &begun, sizeof(begun), 0)) != sizeof(begun))
		return -ECHILD;
	return begun;
}

/* Says what it cannot do, because it may be no more than the calls of the user's own programs. */
static void say_missing(void)
{
	static const struct {
		uint64_t right;
		const char *name;
	} wanted[] = {{RIGHT_SYS_PTRACE, "CAP_SYS_PTRACE"},
		      {RIGHT_CHECKPOINT, "CAP_CHECKPOINT_RESTORE"},
		      {RIGHT_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"}};
	uint64_t lent = confine_raise(RIGHT_DAC_READ_SEARCH), caps = host_own_caps();
	char missing[96] = "";

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!(caps & wanted[i].right))
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing),
				 "%s%s", *missing ? ", " : "", wanted[i].name);
	confine_lower(lent);
	if (*missing)
		say("--user-stacks: without %s the calls of some or all programs stay unknown: see "
		    "`culprit help security`",
		    missing);
}

struct user_stacks *user_stacks_new(int map, const char *debug)
{
	struct user_stacks *s = calloc(1, sizeof(*s));
	int err;

	if (!s || !(s->texts = texts_new(TEXTS_BYTES))) {
		free(s);
		complain("out of memory");
		return NULL;
	}
	say_missing();
	s->map = map;
	s->socket = -1;
	/* Programs count in it, and make none: it could be gone by the time they need it. */
	bpf_map_update_elem(map, &(uint32_t){USER_LOST}, &s->known[0].stack, BPF_ANY);
	err = start_reader(s, debug);
	if (!err)
		return s;
	if (err == -ECHILD)
		complain("--user-stacks: a process for it ended before it had begun");
	else
		complain("--user-stacks: no process can be started for it: %s", strerror(-err));
	user_stacks_free(s);
	return NULL;
}

/* Those that others' file systems let wait do not end with the reader, in whose session they are.
 */
static void say_left(pid_t reader)
{
	unsigned n = 0;

	for (int ms = 0; ms <= LEFT_MS; ms += SETTLE_MS) {
		n = kill(-reader, 0) ? 0 : session_waits(reader);
		if (!n)
			break;
		usleep(SETTLE_MS * 1000);
	}
	if (n)
		say("--user-stacks: %u process%s that %s killed stay%s until a file system answers",
		    n, n == 1 ? "" : "es", n == 1 ? "was" : "were", n == 1 ? "s" : "");
}

void user_stacks_free(struct user_stacks *s)
{
	if (!s)
		return;
	if (s->socket >= 0)
		close(s->socket);
	if (s->reader > 0) {
		parser_reap(s->reader);
		say_left(s->reader);
	}
	texts_free(s->texts);
	free(s);
}

/* ---- numbers ---- */

static bool same(const struct user_stack *a, const struct user_stack *b)
{
	return a->tgid == b->tgid && a->start_stack == b->start_stack && a->leaf == b->leaf &&
	       a->leaf_at == b->leaf_at && !memcmp(a->frame, b->frame, sizeof(a->frame));
}

/* Asks for those that there was no room for before; those for which there is none now wait, unless
 * the other process has ended. */
static void ask(struct user_stacks *s)
{
	for (; s->sent < s->count; s->sent++) {
		struct user_ask a = {s->sent + 1, s->known[s->sent + 1].stack};

		if (send(s->socket, &a, sizeof(a), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(a))
			continue;
		if (errno == EPIPE)
			s->sent = s->count;
		s->again_ns = now_ns() + AGAIN_NS;
		return;
	}
}

static uint32_t number_of(struct user_stacks *s, const struct user_stack *u)
{
	uint64_t h = hash_bytes(HASH_BEGIN, (const char *)u->frame, sizeof(u->frame)) ^
		     u->start_stack ^ u->leaf ^ (uint64_t)u->tgid << 32;
	uint32_t at = h * 0x9e3779b97f4a7c15ULL >> 32;

	for (;; at++) {
		uint16_t *place = &s->place[at % (2 * USER_STACKS)];

		if (*place && same(&s->known[*place].stack, u))
			return *place;
		if (*place)
			continue;
		*place = ++s->count;
		s->known[*place].stack = *u;
		s->pending++;
		return *place;
	}
}

uint32_t user_stacks_number(struct user_stacks *s, int32_t id, int32_t *kernel)
{
	uint32_t slot = (uint32_t)id - USER_FIRST;
	struct user_stack u;

	*kernel = -1;
	if (slot >= USER_STACKS)
		return 0;
	if (!s->slot[slot].number) {
		if (bpf_map_lookup_elem(s->map, &slot, &u))
			return 0;
		s->slot[slot].kernel = u.stack;
		s->slot[slot].number = number_of(s, &u);
	}
	if (s->sent < s->count && now_ns() >= s->again_ns)
		ask(s);
	*kernel = s->slot[slot].kernel;
	return s->slot[slot].number;
}

/* ---- answers ---- */

static void hear_lost(struct user_stacks *s, const char *why)
{
	if (s->files_lost < LOST_SAID)
		s->lost[s->files_lost] = texts_keep(s->texts, why, strlen(why));
	s->files_lost++;
}

/* Takes what has come. */
static void hear(struct user_stacks *s)
{
	struct user_answer *a = &s->answer;
	size_t head = offsetof(struct user_answer, calls);
	ssize_t n;

	ask(s);
	while (s->pending && (n = recv(s->socket, a, sizeof(*a), MSG_DONTWAIT)) != -1) {
		if (n <= (ssize_t)head) { /* the other process has ended */
			s->pending = 0;
			return;
		}
		a->calls[n - head - 1] = 0;
		if (!a->number) {
			hear_lost(s, a->calls);
			continue;
		}
		s->pending--;
		if (a->number <= s->count)
			s->known[a->number].calls =
				texts_keep(s->texts, a->calls, strlen(a->calls));
	}
}

const char *user_stacks_calls(struct user_stacks *s, uint32_t number)
{
	if (!number || number > s->count)
		return NULL;
	if (!s->known[number].calls)
		hear(s);
	return s->known[number].calls;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The number of them, which are sorted, that are the same from i on. */
static uint32_t alike(const uint32_t *whose, uint32_t n, uint32_t i)
{
	uint32_t same = 1;

	while (i + same < n && whose[i + same] == whose[i])
		same++;
	return same;
}

/* A process that has ended since has no calls, nor has one that may not be looked at. */
static void say_unknown(const struct user_stacks *s)
{
	uint32_t *tgid = calloc(s->count + 1, sizeof(*tgid)), n = 0, same;
	char whose[64] = "";

	for (uint32_t i = 1; i <= s->count; i++) {
		if (s->known[i].calls && *s->known[i].calls)
			continue;
		if (tgid)
			tgid[n] = s->known[i].stack.tgid;
		n++;
	}
	if (tgid)
		qsort(tgid, n, sizeof(*tgid), by_number);
	for (uint32_t i = 0; tgid && i < n; i += same) {
		same = alike(tgid, n, i);
		if (same > n / 2 && n > 1)
			snprintf(whose, sizeof(whose), "; %u of them are process %u's", same,
				 tgid[i]);
	}
	if (n)
		say("--user-stacks: the calls of %u of %u user stacks are not known%s", n, s->count,
		    whose);
	free(tgid);
}

/* Names those who have so many places and more. */
static void say_full(uint32_t *whose, uint32_t n, uint32_t most, const char *what)
{
	if (n)
		qsort(whose, n, sizeof(*whose), by_number);
	for (uint32_t i = 0; i < n; i += alike(whose, n, i))
		if (alike(whose, n, i) >= most)
			say("--user-stacks: %s %u has had the %u places for stacks that one may "
			    "have",
			    what, whose[i], most);
}

/* Names those by whom stacks have no place. */
static void say_greedy(const struct user_stacks *s)
{
	struct {
		uint32_t tgid[USER_STACKS], uid[USER_STACKS];
	} *whose = calloc(1, sizeof(*whose));
	struct user_stack u;
	uint32_t n = 0;

	for (uint32_t slot = 0; whose && slot < USER_STACKS; slot++) {
		if (bpf_map_lookup_elem(s->map, &slot, &u))
			continue;
		whose->tgid[n] = u.tgid;
		whose->uid[n++] = u.uid;
	}
	if (whose) {
		say_full(whose->tgid, n, USER_OF_PROCESS, "process");
		say_full(whose->uid, n, USER_OF_USER, "user");
	}
	free(whose);
}

static void say_lost(const struct user_stacks *s)
{
	struct user_stack lost;

	for (uint32_t i = 0; i < s->files_lost && i < LOST_SAID; i++)
		if (s->lost[i])
			say("--user-stacks: no functions of %s", s->lost[i]);
	if (s->files_lost > LOST_SAID)
		say("--user-stacks: nor of %u other files", s->files_lost - LOST_SAID);
	if (bpf_map_lookup_elem(s->map, &(uint32_t){USER_LOST}, &lost))
		say("--user-stacks: how many requests have no calls is not known: %s",
		    strerror(errno));
	else if (lost.hash) {
		say("--user-stacks: %" PRIu64
		    " requests have no calls: no place was left for their "
		    "stacks, or their CPU was noting another one",
		    (uint64_t)lost.hash);
		say_greedy(s);
	}
}

void user_stacks_settle(struct user_stacks *s)
{
	uint64_t until = now_ns() + SETTLE_NS;
	struct pollfd come = {.fd = s->socket, .events = POLLIN};

	hear(s);
	while (s->pending && now_ns() < until) {
		poll(&come, 1, SETTLE_MS);
		hear(s);
	}
	say_unknown(s);
	say_lost(s);
}
