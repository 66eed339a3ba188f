/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meaning of a name copied out of a report, in the report's spelling. */
#ifndef CULPRIT_MEANING_H
#define CULPRIT_MEANING_H

#include <stdbool.h>
#include "audit/book.h"

#define MEANING_NOTE 400

struct meaning {
	const struct cause *cause; /* NULL: the name means nothing */
	/* Reason why the entry is about the kind of thing and not about this very name; "": it is
	 * about the name. May hold bytes of the name: escape on output. */
	char note[MEANING_NOTE];
	long irq;           /* -1: none was named */
	uint32_t tid;       /* 0: none was named */
	char who[128];      /* the name without kind, number and function */
	char function[128]; /* "": none was named */
};

/* Reads "tick_nohz_handler", "local_timer > tick_nohz_handler", "python3 [4242]", "[ksoftirqd/1]",
 * "virtio1-req.0 (irq 36)", "IRQ 36", "softirq TIMER", "K01", "[K01]", "steal". Does not look at
 * this machine. */
void name_meaning(const char *name, struct meaning *m);

/* The entry on a kind of thing: "timer", "hrtimer", "work", "irqwork", "csd", "stopper", "nmi",
 * "kthread", "vector", "symbol". */
const struct cause *cause_family(const char *kind);

/* True for an entry on a kind of thing or a word of the report; no source ever has it as its
 * cause. */
bool cause_is_family(const struct cause *c);

#endif
