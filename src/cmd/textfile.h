/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --textfile: the metrics of a run in a file that is always whole, while the run goes on; --listen:
 * the same text over HTTP.
 *
 * Each text goes to a new file, which then replaces FILE. A thread of its own does that, so that a
 * slow disk does not keep this process from reading its measurements. A failure to write is
 * reported once, and the next text is tried again.
 */
#ifndef CULPRIT_TEXTFILE_H
#define CULPRIT_TEXTFILE_H

#include <stdbool.h>
#include "base/opt.h"
#include "cmd/output.h"
#include "model/view.h"

struct textfile_options {
	const char *path;     /* NULL: no file */
	const char *listen;   /* an address, see cmd/listener.h; NULL: none */
	uint64_t interval_ns; /* 0: as its help says */
};
extern const struct opt textfile_opts[];                   /* rows of a struct textfile_options */
uint64_t textfile_every(const struct textfile_options *o); /* ns between two texts */

struct textfile;

/* Lets the command's options of metrics be given: the file and the listener have some. 0, or -1
 * with the reason said. */
int textfile_check(const struct textfile_options *o, struct output *output);
bool textfile_wanted(const struct textfile_options *o); /* one of them */

/* Tests whether it can make a file there, and listens. host: all CPUs together. label: as
 * metrics_leaders() takes it. housekeeping: for who answers. Before the engine is opened, and
 * rights are given away. NULL with the reason said. */
struct textfile *textfile_open(const struct textfile_options *o, bool host, enum owner_by label,
			       const struct cpus *housekeeping);

/* Writes the run as of now; running: it goes on. Returns at once. Call it on CPUs that may be
 * disturbed. */
void textfile_write(struct textfile *t, struct view *view, bool running);

/* Waits until the last text is written. 0, or -1 with the reason said. NULL is 0. */
int textfile_close(struct textfile *t);

#endif
