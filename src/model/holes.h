/* Holes: stretches of a hiccup in which records are known to be missing, by the level that they are
 * missing from. What ran there is not known: of time that no record covers, and of time that an
 * interval of a lower level covers, nobody can say whose it was.
 *
 * Where records are missing between two that came, they lie behind the end of the one and before
 * the begin of the other: a level never interrupts itself. */
#ifndef CULPRIT_HOLES_H
#define CULPRIT_HOLES_H

#include <stdint.h>
#include "record.h"

#define HOLES_MAX 4096 /* of one level in one hiccup; later ones join the last */

struct hole {
	uint64_t start_ns, end_ns;
};

struct holes_level {
	struct hole *row; /* in order of time, apart from each other; NULL: none yet */
	uint32_t count;
};

struct holes { /* all zeros: none */
	struct holes_level level[LEVELS];
	uint32_t count; /* of all */
};

void holes_free(struct holes *h);
void holes_clear(struct holes *h);

/* Of one level they come in order of time. One without length is passed over. Without memory the
 * earlier ones are forgotten. */
void holes_add(struct holes *h, unsigned level, uint64_t start_ns, uint64_t end_ns);

/* How much of [start, end) lies in holes of levels from this one on. */
uint64_t holes_within(const struct holes *h, unsigned level, uint64_t start_ns, uint64_t end_ns);

#endif
