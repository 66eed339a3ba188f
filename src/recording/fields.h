/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view without its summary, as bytes: host, run, and each CPU's run. One table of fields writes
 * and reads them, so the two cannot differ. The known part is read of a section that a newer
 * version made longer; fields that an older one lacks stay zero. */
#ifndef CULPRIT_FIELDS_H
#define CULPRIT_FIELDS_H

#include "model/view.h"
#include "recording/bytes.h"
#include "base/texts.h"

void put_host(struct bytes *b, const struct host *h);
void put_run(struct bytes *b, const struct run *r);
/* recursion_misses: the run's with the first CPU, 0 with the others. */
void put_cpu(struct bytes *b, const struct cpu *c, uint64_t recursion_misses);

/* Writes facts from `first` on, as many as fit a chunk; returns the first that is left. */
uint32_t put_facts(struct bytes *b, const struct facts *f, uint32_t first);

void get_host(struct reading *r, struct host *h);
/* Allocates the list not_observed; `t` keeps its texts. Frees a list that the run has already. */
void get_run(struct reading *r, struct run *run, struct texts *t);
/* Allocates c->closure and c->series; frees those that it has already. Adds to recursion_misses. */
void get_cpu(struct reading *r, struct cpu *c, uint64_t *recursion_misses, struct texts *t);
void skip_cpu(struct reading *r);

/* Adds the facts that it reads; redacted: those that tell nothing of users. */
void get_facts(struct reading *r, struct facts *f, bool redacted);

#endif
