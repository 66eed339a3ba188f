/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Overloads a softirq so that ksoftirqd takes over: datagrams that another CPU puts into the
 * target's queue (RPS), each for many sockets. All of it lives in a network namespace of its own,
 * whose settings go with its last socket, however poke ends. */
#include "poke.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKETS 32 /* sockets that each datagram goes to */
/* Datagrams that may wait for the softirq: more than it takes at once (net.core.netdev_budget). */
#define UNDER_WAY   400
#define PATIENCE_NS 1000000000ULL
#define RPS_CPUS    "/sys/class/net/lo/queues/rx-0/rps_cpus"

struct flood {
	struct sockaddr_in to;
	int fd[SOCKETS]; /* the first one counts what has come */
};

/* The CPU as a mask in words of 32 bits. */
static void mask_of(int cpu, char *text, size_t len)
{
	int at = snprintf(text, len, "%x", 1u << cpu % 32);

	for (; cpu >= 32; cpu -= 32)
		at += snprintf(text + at, len - (size_t)at, ",00000000");
}

static int open_sockets(struct poke *p)
{
	struct flood *f = p->priv;
	struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
	socklen_t len = sizeof(any);
	int one = 1;

	for (int i = 0; i < SOCKETS; i++) {
		f->fd[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (f->fd[i] < 0 || (!i && ioctl(f->fd[i], SIOCSIFFLAGS, &up)) ||
		    setsockopt(f->fd[i], SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
		    setsockopt(f->fd[i], SOL_SOCKET, SO_BROADCAST, &one, sizeof(one)) ||
		    bind(f->fd[i], (struct sockaddr *)&any, sizeof(any)) ||
		    getsockname(f->fd[i], (struct sockaddr *)&any, &len))
			return cannot(p, "sockets of a namespace of its own: %s", strerror(errno));
	}
	f->to = any;
	f->to.sin_addr.s_addr = htonl(INADDR_LOOPBACK | 0x00ffffff); /* everybody on the loopback */
	return 0;
}

static void *make_namespace(void *arg)
{
	struct poke *p = arg;
	char mask[2048];

	mask_of(p->conf->cpu, mask, sizeof(mask));
	if (unshare(CLONE_NEWNET | CLONE_NEWNS))
		cannot(p, "no network namespace: %s", strerror(errno));
	else if (!open_sockets(p) &&
		 (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		  mount("poke", "/sys", "sysfs", 0, NULL) || write_text(RPS_CPUS, mask)))
		cannot(p, RPS_CPUS " of a namespace of its own: %s%s", strerror(errno),
		       errno == EINVAL ? " (the kernel hands no datagrams to an isolated CPU)"
				       : "");
	return NULL;
}

int softirqd_prepare(struct poke *p)
{
	struct flood *f = calloc(1, sizeof(*f));
	char realtime[8] = "";
	pthread_t thread;

	if (!f)
		return cannot(p, "out of memory");
	p->priv = f;
	memset(f->fd, -1, sizeof(f->fd));
	snprintf(p->name, sizeof(p->name), "ksoftirqd/%d", p->conf->cpu);
	if (!read_line("/sys/kernel/realtime", realtime, sizeof(realtime)) && realtime[0] == '1')
		return cannot(p, "on PREEMPT_RT another thread takes such datagrams");
	if (pthread_create(&thread, NULL, make_namespace, p))
		return cannot(p, "cannot start a thread: %s", strerror(errno));
	pthread_join(thread, NULL);
	return p->why[0] ? -1 : 0;
}

static uint64_t received(const struct flood *f)
{
	uint64_t count = 0;
	char byte;

	while (recv(f->fd[0], &byte, 1, MSG_DONTWAIT) == 1)
		count++;
	return count;
}

int softirqd_poke(struct poke *p, struct poke_event *ev)
{
	const struct flood *f = p->priv;
	uint64_t sent = 0, came = received(f), now; /* late ones belong to no poke */
	char byte = 0;

	came = 0;
	ev->start_ns = now_ns();
	do {
		came += received(f);
		now = now_ns();
		if (now - ev->start_ns >= length_of(p) || sent - came >= UNDER_WAY)
			continue;
		if (sendto(f->fd[1], &byte, 1, MSG_DONTWAIT, (const struct sockaddr *)&f->to,
			   sizeof(f->to)) == 1)
			sent++;
	} while (!poke_stop && now - ev->start_ns < PATIENCE_NS &&
		 (sent != came || now - ev->start_ns < length_of(p)));
	ev->end_ns = now_ns();
	extra(ev, "datagrams", sent);
	return poke_stop ? -1 : 0;
}

void softirqd_finish(struct poke *p)
{
	struct flood *f = p->priv;

	for (int i = 0; f && i < SOCKETS; i++)
		if (f->fd[i] >= 0)
			close(f->fd[i]);
	free(f);
}
