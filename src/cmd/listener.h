/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --listen: the metrics of a run over HTTP, for Prometheus. A process of its own answers, by
 * libmicrohttpd: it is started before the window opens, has no capabilities, stays off the measured
 * CPUs, and is told each new text through a socket. It answers GET and HEAD of /metrics alone, to a
 * bounded number of connections, each of which it ends after 5 s without a byte; it ends with
 * culprit.
 */
#ifndef CULPRIT_LISTENER_H
#define CULPRIT_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include "base/cpus.h"

struct listener;

/* address: "ADDRESS:PORT" or ":PORT", which is 127.0.0.1; an IPv6 address in brackets.
 * housekeeping: where its process runs; empty: anywhere. NULL with the reason said. */
struct listener *listener_open(const char *address, const struct cpus *housekeeping);

/* Answers with this text from now on. Waits for its process, a few seconds at most. False: it does
 * not take it, or has ended. */
bool listener_put(struct listener *l, const char *text, size_t len);
void listener_close(struct listener *l); /* NULL: nothing */

#endif
