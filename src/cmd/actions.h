/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions of a trigger of the flight recorder: --then. */
#ifndef CULPRIT_ACTIONS_H
#define CULPRIT_ACTIONS_H

#include "cmd/flight.h"

struct actions;

/* pid, report: as of flight_open. NULL with the reason said. */
struct actions *actions_open(const struct action *then, uint32_t n, long pid, bool report,
			     const struct cpus *housekeeping);

bool actions_keep(const struct actions *a); /* one of them is to keep a recording */

uint64_t actions_rights(const struct actions *a); /* rights of base/confine.h that they need */

/* Does all of them. file: the recording that will hold it; NULL: none. True: one of them is to
 * stop. */
bool actions_do(struct actions *a, const struct view *v, const struct trigger_hit *hit,
		const char *file);

/* Waits a little for a command that still runs, and says what was not done. */
void actions_end(struct actions *a);
void actions_close(struct actions *a); /* NULL: nothing */

/* One line on stdout, escaped, and at once; where a report will stand there, on stderr. Where
 * nobody reads stdout the line is left out, and actions_end says how many were. */
__attribute__((format(printf, 2, 3))) void actions_tell(struct actions *a, const char *fmt, ...);

#endif
