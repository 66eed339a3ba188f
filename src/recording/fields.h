/* What a view holds beside its summary, as bytes: host, run, and each CPU's run. One table of
 * fields writes and reads them, so that the two cannot differ. A section that a newer version made
 * longer is read as far as it is known; what an older one lacks stays zero. */
#ifndef CULPRIT_FIELDS_H
#define CULPRIT_FIELDS_H

#include "model/view.h"
#include "recording/bytes.h"
#include "recording/texts.h"

void put_host(struct bytes *b, const struct host *h);
void put_run(struct bytes *b, const struct run *r);
void put_cpu(struct bytes *b, const struct cpu_run *c);

/* Facts from `first` on, as many as fit a chunk; returns the first that is left. */
uint32_t put_facts(struct bytes *b, const struct facts *f, uint32_t first);

void get_host(struct reading *r, struct host *h);
/* The list not_observed is allocated, its texts kept; one that the run has already goes. */
void get_run(struct reading *r, struct run *run, struct texts *t);
/* c->closure and c->series are allocated; those that it has already are freed. */
void get_cpu(struct reading *r, struct cpu_run *c, struct texts *t);

void get_facts(struct reading *r, struct facts *f); /* adds them */

#endif
