/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of a service to its manager, by the protocol of sd_notify(3): a datagram of lines to the
 * socket that $NOTIFY_SOCKET names. Without such a socket nothing is sent. */
#ifndef CULPRIT_NOTIFY_H
#define CULPRIT_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

struct notify {
	int fd;                      /* -1: nobody wants to know */
	uint64_t watchdog_ns;        /* tell that often that all is well; 0: not */
	uint64_t status_ns, told_ns; /* CLOCK_MONOTONIC, of the last lines */
};

/* Reads the environment, before rights are given away. */
void notify_open(struct notify *n);

/* Lines: "READY=1", "STATUS=..."; text without newlines of others. */
__attribute__((format(printf, 2, 3))) void notify_tell(struct notify *n, const char *fmt, ...);

/* Call it often: tells the watchdog in time. True, each ten seconds: a status is due. */
bool notify_step(struct notify *n, uint64_t now_ns);

void notify_close(struct notify *n);

#endif
