/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When time was lost, and to what kind of source, for drawings. A hiccup longer than a slot is
 * spread over the slots that it lay in, and so is each kind's part of it. */
#ifndef CULPRIT_TIMELINE_H
#define CULPRIT_TIMELINE_H

#include "model/slots.h"
#include "model/source.h"

#define TIMELINE_SLOTS 512
#define TIMELINE_EDGE  SOURCE_KINDS /* after the kinds of sources, which include SOURCE_OUTSIDE */
#define TIMELINE_KINDS (SOURCE_KINDS + 1)

struct timeline { /* all zeros: nothing came */
	struct slots slots;
	uint64_t lost_ns[TIMELINE_SLOTS][TIMELINE_KINDS];
};

/* Adds time lost from start_ns on, for duration_ns: by kind. */
void timeline_add(struct timeline *t, uint64_t start_ns, uint64_t duration_ns,
		  const uint64_t lost_ns[TIMELINE_KINDS]);

/* A slot, counted from the clock's zero: it begins at slot << t->slots.log2. NULL: nothing was kept
 * there. */
const uint64_t *timeline_slot(const struct timeline *t, uint64_t slot);

void timeline_coarsen(struct timeline *t); /* makes slots twice as long */

#endif
