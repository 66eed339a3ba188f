/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file that a live run records into. An old recording stays as it was until the window has
 * opened: nothing is lost by a run that never began. */
#ifndef CULPRIT_LIVE_RECORD_H
#define CULPRIT_LIVE_RECORD_H

#include "cmd/live.h"

/* True, with the reason said, where it would get between the lines of a report. */
bool live_record_refused(const struct live *l);

/* Opens the recorder, with a file of its own or what is open for it. NULL with the reason said. */
struct recorder *live_record_open(struct live *l);

/* Waits, before the window, until the file has all that came before it, where it is to replace an
 * old one. 0, or -1 with the reason said: the old one stays. */
int live_record_settle(struct live *l, struct recorder *r);

/* Puts the file in place of an old one, in which it goes on to grow. 0, or -1 with the reason
 * said: the old one stays. */
int live_record_place(struct live *l, struct recorder *r);

/* Lets go of the file, which is dropped where it has no place. */
void live_record_close(struct live *l);

#endif
