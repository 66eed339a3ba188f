/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's recording joined with its host's: report --host. Both files are read twice, so neither
 * may be a pipe. */
#ifndef CULPRIT_JOINED_H
#define CULPRIT_JOINED_H

#include "recording/read.h"

struct joined;

/* Reads both for their gaps, and matches them; host_side of the view tells how that went, also
 * when nothing can be joined. part: of the guest's, for its CPUs and redaction, which is kept. NULL
 * with the reason said. */
struct joined *joined_open(const char *guest, const char *host, const struct part *part);

/* Makes `part` one whose reading joins the two; guest: the view that it fills. 0, or -1 with the
 * reason said. */
int joined_begin(struct joined *j, struct part *part, struct view *guest);

/* Reads the rest of the host's recording, once the guest's has been read, and gives its sources
 * their causes, for the view's. */
void joined_finish(struct joined *j, struct view *guest);

/* Frees the names of the guest's rows, too. NULL is allowed. */
void joined_close(struct joined *j);

#endif
