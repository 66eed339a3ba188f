/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds what no machine can have recorded, whatever the checksums say: time that goes backwards,
 * more lost time than there was, counts of things that are not there. A reader leaves it out and
 * says so: no report shows an impossible figure.
 *
 * The hiccups of a CPU follow each other, none begins before the window, and at no time have they
 * taken more than has passed. Watched threads and a workload's windows are free of these rules:
 * several may share a lane, and they may reach beyond the window.
 */
#ifndef CULPRIT_CHECK_H
#define CULPRIT_CHECK_H

#include <stddef.h>

#include "model/session.h"
#include "recording/format.h"
#include "recording/index.h"

/* State of one recorded CPU; begins as zeros. */
struct checked {
	/* begin of the first hiccup, end of the last one; 0: none came */
	uint64_t first_ns, last_ns;
	uint64_t sum_ns; /* sum of hiccups */
	uint64_t hiccups, records;
};

/* Each check returns NULL, or the reason why it cannot be: "a hiccup begins before the last one's
 * end". */
/* Checks an event, and counts it; end_ns: no hiccup ends later, 0: not known. */
const char *check_event(struct checked *c, const struct run *run, uint64_t end_ns,
			const struct event *e);
static inline const char *check_record(struct checked *c, const struct record *r)
{
	if (r->end_ns > TIME_MAX)
		return "a record ends later than any clock shows";
	if (r->end_ns < r->start_ns)
		return "a record ends before it begins";
	c->records++;
	return NULL;
}
/* True when a CPU's hiccups and records of a group of chunks can follow those before, as far as its
 * index tells. */
bool check_index(const struct checked *c, const struct run *run, uint64_t end_ns,
		 const struct index_lane *l);
void checked_add(struct checked *c, const struct index_lane *l); /* counts them */
/* Checks a run that is read again: `now` is to replace `was`. */
const char *check_run(const struct checked *c, uint32_t ncpus, const struct run *was,
		      const struct run *now);
/* Checks a CPU's counters at the end; records_missing: records that the file lacks. Corrects its
 * window by the difference between the clocks of the window and of its hiccups. */
const char *check_cpu(const struct checked *c, const struct run *run, struct cpu *cpu,
		      uint64_t records_missing);

#endif
