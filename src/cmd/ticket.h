/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of try and tune: two of them are for a ticket. */
#ifndef CULPRIT_CMD_TICKET_H
#define CULPRIT_CMD_TICKET_H

#include "cmd/output.h"
#include "model/tuned.h"

enum ticket_format { TICKET_TEXT, TICKET_JSON, TICKET_MARKDOWN, TICKET_HTML };
extern const struct opt_choice ticket_formats[];

/* Writes it into the output. 0, or -1 with the reason said. */
int ticket_write(struct output *o, int format, const struct tuned *t);

/* The same of one try, in TICKET_MARKDOWN or TICKET_HTML. */
int ticket_write_one(struct output *o, int format, const struct tried *t);

#endif
