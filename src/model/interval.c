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
	struct interval i = {.end_ns = r->end_ns, .net_ns = net_ns, .kind = r->kind, .id = r->id};

	if (r->kind == RECORD_OSNOISE) {
		i.theirs = true;
		i.kind = r->mark;
		i.net_ns = r->arg;
	}
	if (r->kind == RECORD_VECTOR) {
		i.kind = RECORD_IRQ;
		i.id = r->arg;
		strncpy(i.name, vector_name(r->id), sizeof(i.name) - 1);
	} else if (r->kind == RECORD_SOFTIRQ || (i.theirs && i.kind == RECORD_SOFTIRQ)) {
		strncpy(i.name, softirq_name(r->id), sizeof(i.name) - 1);
	} else if (i.kind == RECORD_NMI) {
		strcpy(i.name, "NMI");
	} else if (r->kind == RECORD_THREAD || i.theirs) {
		memcpy(i.name, r->name, sizeof(r->name));
	}
	return i;
}
