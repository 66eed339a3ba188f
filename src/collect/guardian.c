/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/guardian.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/now.h"
#include "base/reap.h"
#include "base/say.h"
#include "collect/knobs.h"

#define NUDGE_MS 200

struct guardian {
	struct knobs *knobs;
	const char *dir, *boot;
	int socket; /* to the other process */
	int parent; /* in the guardian: its pidfd */
	pid_t pid;  /* the guardian's; -1: it is no longer there */
	bool on;    /* in the guardian: some are turned */
};

struct order {
	enum { TURN_ON, TURN_BACK, END, KEEP } what;
	uint64_t for_ns;
};

struct answer {
	enum turned turned;
	char why[KNOB_WHY];
	struct guardian_sum sum;
};

/* ---- what both can do ---- */

/* An interface that was renamed takes its settings along. True: a line was said. */
static bool say_renamed(const struct knob *k)
{
	static const char dir[] = "/sys/class/net/";

	if (!k->turned || strncmp(k->path, dir, strlen(dir)) != 0)
		return false;
	say("%s is no longer there: if its interface has another name by now, look there: it had "
	    "'%s' at first, and '%s' with the fix",
	    k->path, k->old, k->now ? k->now : k->new);
	return true;
}

uint32_t guardian_restore(struct knobs *k, const char *dir, const char *boot, bool all,
			  struct guardian_sum *sum)
{
	struct guardian_sum mine = {0};
	uint32_t bad = 0, left = 0;
	enum knob_back back;
	char why[KNOB_WHY];

	for (uint32_t i = k->count; i-- > 0;) {
		if (k->row[i].kept && !all) {
			left++;
			continue;
		}
		back = knob_restore(&k->row[i], "", why);
		if (back == KNOB_OFFLINE) {
			say("%s", why);
			mine.offline++;
		}
		switch (back) {
		case KNOB_OFFLINE:
		case KNOB_BACK:
			mine.back++;
			knobs_remove(k, i);
			break;
		case KNOB_GONE:
			mine.said += say_renamed(&k->row[i]);
			mine.gone++;
			knobs_remove(k, i);
			break;
		case KNOB_OTHERS:
			say("left as it is: %s", why);
			mine.others++;
			mine.said++;
			knobs_remove(k, i);
			break;
		case KNOB_REFUSED:
			say("%s", why);
			bad++;
		}
	}
	if (bad)
		say("what is left to be put back is in %s/try.journal: culprit try --undo tries "
		    "again; to give it up, remove that file",
		    dir);
	if (bad || left ? journal_write(dir, boot, k) : journal_remove(dir))
		bad += !bad;
	if (sum)
		*sum = mine;
	return bad;
}

/* Turns all back that are not kept; the set stays as it is, for the next turn. */
static enum turned turn_back(struct guardian *g, char *why)
{
	static const enum turned meanings[] = {[KNOB_OTHERS] = TURNED_LOST,
					       [KNOB_GONE] = TURNED_LOST,
					       [KNOB_REFUSED] = TURNED_REFUSED};
	enum turned turned = TURNED;
	char mine[KNOB_WHY];

	g->on = false;
	for (uint32_t i = g->knobs->count; i-- > 0;) {
		struct knob *k = &g->knobs->row[i];
		enum knob_back back = k->kept ? KNOB_BACK : knob_restore(k, "", mine);

		g->on |= back == KNOB_OTHERS || back == KNOB_REFUSED;
		if (meanings[back] > turned) {
			turned = meanings[back];
			strcpy(why, mine);
		}
	}
	return turned;
}

/* ---- the guardian ---- */

/* Says in the journal that from now on all may be turned: who finds it otherwise knows that none
 * was. 0 or -1. */
static int announce(struct guardian *g)
{
	int err;

	for (uint32_t i = 0; i < g->knobs->count; i++)
		g->knobs->row[i].turned = true;
	err = journal_write(g->dir, g->boot, g->knobs);
	for (uint32_t i = 0; i < g->knobs->count; i++)
		g->knobs->row[i].turned = g->knobs->row[i].kept;
	return err;
}

static enum turned unsaid(char *why)
{
	snprintf(why, KNOB_WHY, "the fix is not put in force: it could not be taken back later");
	return TURNED_ERROR;
}

static enum turned turn_on(struct guardian *g, char *why)
{
	bool known = true;
	char other[KNOB_WHY];
	enum knob_set set;

	for (uint32_t i = 0; i < g->knobs->count; i++)
		known &= g->knobs->row[i].kept || g->knobs->row[i].now;
	if (!known && announce(g))
		return unsaid(why);
	g->on = true;
	for (uint32_t i = 0; i < g->knobs->count; i++) {
		struct knob *k = &g->knobs->row[i];

		if (k->kept)
			continue;
		set = knob_apply(k, "", why);
		if (set != KNOB_SET) {
			turn_back(g, other);
			return set == KNOB_LOST ? TURNED_LOST : TURNED_REFUSED;
		}
	}
	if (known || !journal_write(g->dir, g->boot, g->knobs))
		return TURNED;
	turn_back(g, other);
	return unsaid(why);
}

static int keep(struct guardian *g, char *why)
{
	uint32_t mine = 0;

	while (mine < g->knobs->count && g->knobs->row[mine].kept)
		mine++; /* an earlier try's come first */
	for (uint32_t i = mine; i < g->knobs->count; i++)
		g->knobs->row[i].kept = true;
	if (!journal_write(g->dir, g->boot, g->knobs))
		return 0;
	for (uint32_t i = mine; i < g->knobs->count; i++)
		g->knobs->row[i].kept = false;
	guardian_restore(g->knobs, g->dir, g->boot, false, NULL);
	snprintf(why, KNOB_WHY, "the fix is not left in force: --undo could not take it back");
	return -1;
}

/* Does what it is told; true: that was the end. */
static bool obey(struct guardian *g, const struct order *o)
{
	struct answer a = {0};

	switch (o->what) {
	case TURN_ON:
		a.turned = turn_on(g, a.why);
		break;
	case TURN_BACK:
		a.turned = turn_back(g, a.why);
		break;
	case KEEP:
		a.turned = keep(g, a.why) ? TURNED_ERROR : TURNED;
		break;
	case END:
		if (guardian_restore(g->knobs, g->dir, g->boot, false, &a.sum))
			a.turned = TURNED_ERROR; /* the reasons have been said */
	}
	send(g->socket, &a, sizeof(a), MSG_NOSIGNAL);
	return o->what == KEEP || o->what == END;
}

/* Nobody is left to ask for it. */
static void put_back_alone(struct guardian *g, const char *reason)
{
	struct guardian_sum sum;
	bool on = g->on;
	uint32_t bad = guardian_restore(g->knobs, g->dir, g->boot, false, &sum);

	journal_scrap(g->dir); /* may wait for the disk, the settings need not */
	if (bad)
		return;
	rmdir(g->dir); /* if nothing is in it */
	if (on && !sum.others)
		say("%s: what it had changed is as it was%s", reason,
		    sum.offline ? ", but for CPUs that are offline" : "");
	else if (on)
		say("%s: what it had changed is as it was, but for %u that others have set%s",
		    reason, sum.others, sum.offline ? " and CPUs that are offline" : "");
}

static void watch(struct guardian *g)
{
	struct pollfd on[] = {{g->parent, POLLIN, 0}, {g->socket, POLLIN, 0}};
	uint64_t until_ns = UINT64_MAX, now;
	struct order o;
	int ms;

	for (;;) {
		now = now_ns();
		ms = until_ns == UINT64_MAX ? -1
		     : now >= until_ns      ? 0
					    : (int)((until_ns - now) / NSEC_PER_MSEC + 1);
		if (poll(on, 2, ms) < 0)
			continue; /* a signal */
		if (on[1].revents & POLLIN &&
		    recv(g->socket, &o, sizeof(o), MSG_DONTWAIT) == sizeof(o)) {
			if (obey(g, &o))
				return;
			/* nobody waits for what could not be put in force to be put back */
			until_ns = o.for_ns && (g->on || o.what != TURN_ON) ? now_ns() + o.for_ns
									    : UINT64_MAX;
			continue;
		}
		if (on[0].revents || on[1].revents & (POLLHUP | POLLERR)) {
			put_back_alone(g, "the try was killed");
			return;
		}
		if (!ms) { /* nor has it said anything while this process was stopped */
			syscall(SYS_pidfd_send_signal, g->parent, SIGTERM, NULL, 0);
			put_back_alone(g, "the try did not go on");
			return;
		}
	}
}

static void guard(struct guardian *g, const struct cpus *housekeeping)
{
	become_guard();
	if (!cpus_empty(housekeeping))
		cpus_run_on(housekeeping);
	watch(g);
	_exit(0);
}

struct guardian *guardian_start(struct knobs *knobs, const char *dir, const char *boot,
				const struct cpus *housekeeping)
{
	struct guardian *g = calloc(1, sizeof(*g));
	int pair[2] = {-1, -1}, parent = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (!g || parent < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		complain("no process can be started that puts things back: %s", strerror(errno));
		free(g);
		return NULL;
	}
	*g = (struct guardian){knobs, dir, boot, pair[1], parent, 0, false};
	g->pid = fork();
	if (!g->pid) {
		close(pair[0]);
		guard(g, housekeeping);
	}
	close(parent);
	close(pair[1]);
	g->socket = pair[0];
	if (g->pid > 0)
		return g;
	complain("no process can be started that puts things back: %s", strerror(errno));
	close(g->socket);
	free(g);
	return NULL;
}

/* ---- the one that tries ---- */

/* Takes from the journal whether the guardian has turned any, and what it saw the kernel make of
 * the values: what somebody else has set since is told by that. */
static void learn_now(struct guardian *g)
{
	char boot[BOOT_ID], *now;
	struct knobs k = {0};

	if (journal_read(g->dir, boot, &k) == JOURNAL_WHOLE && k.count == g->knobs->count)
		for (uint32_t i = 0; i < k.count; i++) {
			now = g->knobs->row[i].now;
			g->knobs->row[i].now = k.row[i].now;
			k.row[i].now = now;
			g->knobs->row[i].turned = k.row[i].turned;
		}
	knobs_free(&k);
}

/* The guardian is no longer there: does its work. */
static enum turned without(struct guardian *g)
{
	int status = 0;

	reap(g->pid, &status);
	g->pid = -1;
	learn_now(g);
	guardian_restore(g->knobs, g->dir, g->boot, false, NULL);
	complain("the process that puts things back %s: the try ends here",
		 WIFSIGNALED(status) ? "was killed" : "has heard nothing for too long");
	return TURNED_ERROR;
}

/* Waits for the answer; whoever has stopped the guardian does not keep a fix in force. */
static bool hear(struct guardian *g, struct answer *a)
{
	struct pollfd p = {g->socket, POLLIN, 0};

	while (poll(&p, 1, NUDGE_MS) <= 0)
		kill(g->pid, SIGCONT);
	return recv(g->socket, a, sizeof(*a), 0) == sizeof(*a);
}

/* TURNED_ERROR: the reason has been said. */
static enum turned order(struct guardian *g, int what, uint64_t for_ns, struct answer *a)
{
	struct order o = {what, for_ns};

	if (g->pid < 0)
		return TURNED_ERROR;
	if (send(g->socket, &o, sizeof(o), MSG_NOSIGNAL) != sizeof(o) || !hear(g, a))
		return without(g);
	if (a->turned == TURNED_ERROR && *a->why)
		complain("%s", a->why);
	return a->turned;
}

enum turned guardian_turn(struct guardian *g, bool on, uint64_t for_ns, char *why)
{
	struct answer a = {0};
	enum turned turned;

	for (uint32_t i = 0; on && i < g->knobs->count; i++)
		g->knobs->row[i].turned = true; /* for without(): nobody will say which were */
	turned = order(g, on ? TURN_ON : TURN_BACK, for_ns, &a);
	memcpy(why, a.why, sizeof(a.why));
	return turned;
}

bool guardian_lives(const struct guardian *g)
{
	struct pollfd p = {g->socket, POLLIN, 0};

	return g->pid > 0 && poll(&p, 1, 0) <= 0; /* never speaks unasked; -1: a signal */
}

int guardian_end(struct guardian *g, bool keep, struct guardian_sum *sum)
{
	struct answer a = {0};
	int err;

	if (!g)
		return 0;
	err = order(g, keep ? KEEP : END, 0, &a) == TURNED ? 0 : -1;
	if (sum)
		*sum = a.sum;
	reap_killed(g->pid); /* done with all, and perhaps stopped */
	close(g->socket);
	free(g);
	return err;
}
