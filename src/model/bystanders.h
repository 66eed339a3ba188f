/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other threads on a CPU: all but the sampler, whether they made a window of a workload longer or
 * ran between two of them. Idle is nobody. Sources hold only those that cost something.
 */
#ifndef CULPRIT_BYSTANDERS_H
#define CULPRIT_BYSTANDERS_H

#include <stdbool.h>
#include <stdint.h>
#include "record.h"

/* With more threads, the half with the least time goes into one row. */
#define BYSTANDERS_ROWS 64

struct bystander {
	uint32_t tid;  /* 0: several */
	char comm[17]; /* any bytes: escape on output */
	bool kernel_thread;
	bool rest; /* several, called "(others)" */
	uint64_t count, total_ns;
};

struct bystanders {
	struct bystander row[BYSTANDERS_ROWS];
	uint32_t count;
};

void bystanders_add(struct bystanders *t, const struct record *r); /* a RECORD_THREAD */

/* Row indices by falling time into order[count]. */
void bystanders_rank(const struct bystanders *t, uint32_t *order);

#endif
