/* --textfile: the metrics of a run in a file that is always whole, while the run goes on.
 *
 * Each text goes to FILE.tmp, which then takes FILE's place. That is done by a thread of its own,
 * so that a slow disk does not keep this process from reading what it measures. What cannot be
 * written is said once, and tried again with the next text.
 */
#ifndef CULPRIT_TEXTFILE_H
#define CULPRIT_TEXTFILE_H

#include <stdbool.h>
#include "model/view.h"

struct textfile;

/* Tries whether a file can be made there. NULL with the reason said. */
struct textfile *textfile_open(const char *path);

/* The run as the view has it now; running: it goes on. Returns at once. To be called on the CPUs
 * that may be disturbed. */
void textfile_write(struct textfile *t, struct view *view, bool running);

/* Waits until the last text is written. 0, or -1 when it could not be: it has been said. NULL is 0.
 */
int textfile_close(struct textfile *t);

#endif
