/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/interval.h"

#include <string.h>
#include "model/source.h"

void intervals_push(struct intervals *q, const struct interval *i)
{
	if (q->head - q->tail == INTERVALS_KEPT) {
		q->lost++;
		return;
	}
	q->slot[q->head++ % INTERVALS_KEPT] = *i;
}

const struct interval *intervals_next(struct intervals *q)
{
	return q->tail == q->head ? NULL : &q->slot[q->tail++ % INTERVALS_KEPT];
}

struct interval interval_of(const struct record *r, uint64_t net_ns)
{
	bool theirs = r->kind == RECORD_OSNOISE;
	struct interval i = {.end_ns = r->end_ns,
			     .net_ns = theirs ? r->arg : net_ns,
			     .theirs = theirs,
			     .kind = record_source(theirs ? r->mark : r->kind),
			     .id = r->id};

	if (r->kind == RECORD_VECTOR) {
		i.kind = SOURCE_IRQ;
		i.id = r->arg;
		strncpy(i.name, vector_name(r->id), sizeof(i.name) - 1);
	} else if (i.kind == SOURCE_SOFTIRQ) {
		strncpy(i.name, softirq_name(r->id), sizeof(i.name) - 1);
	} else if (i.kind == SOURCE_NMI) {
		strcpy(i.name, "NMI");
	} else if (i.kind == SOURCE_THREAD || theirs) {
		memcpy(i.name, r->name, sizeof(r->name));
	}
	return i;
}
