/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes everything about its machine's users out of a view or a recording, before anybody reads it:
 * the names of the host and of user threads get others in their place, always the same for the
 * same; command lines, the kernel's log, control groups, services, settings in files and lists of
 * tasks go. Facts stay by a list of those that only the kernel writes. The substitute for a name is
 * made from the order in which names come, and not from the name: nobody can try names out.
 */
#ifndef CULPRIT_REDACT_H
#define CULPRIT_REDACT_H

#include "model/view.h"

/* The sentence in a report of such a view. */
#define VIEW_REDACTED                                                                              \
	"names of the host, of user threads, control groups and services, the label, most of the " \
	"kernel's command line and its log, files of settings, the list of tasks; there are "      \
	"names "                                                                                   \
	"of devices, interrupts, kernel threads and functions, and numbers of threads"

struct redact;

/* tag: tells the names of this recording from those of others, which have other threads behind
 * them; 0: none. NULL: out of memory. */
struct redact *redact_new(uint16_t tag);
void redact_free(struct redact *r);

/* Each once: what has been replaced would be replaced again. */
void redact_head(struct redact *r, struct host *host, struct run *run);
void redact_lane(struct redact *r, struct cpu *c);
void redact_spot(struct redact *r, struct spot *s);
void redact_suspects(struct redact *r, struct suspects *s);
struct record redact_record(struct redact *r, const struct record *from);

/* The function's name without names that users have chosen: those of their BPF programs. */
const char *redact_symbol(const char *name);

/* Removes all facts but those on the list. */
void redact_facts(struct facts *f);

#endif
