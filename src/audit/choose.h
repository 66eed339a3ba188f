/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cause of a source, by its names, and where these mean several things by its neighbours. */
#ifndef CULPRIT_CHOOSE_H
#define CULPRIT_CHOOSE_H

#include "audit/book.h"
#include "model/view.h"

/* The place of a source. */
struct place {
	const struct view *view;
	const struct cpu *cpu;
};

/* NULL: not known. */
const struct cause *cause_at(const struct place *p, const struct source *s);

/* True for the tick and what it alone brings about. */
bool source_is_tick(const struct source *s);

#endif
