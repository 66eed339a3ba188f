/* What no machine can have recorded, whatever the checksums say: time that goes backwards, more
 * lost than there was time, counts of what is not there. A reader leaves it out and says so: no
 * report shows a figure that cannot be.
 *
 * The hiccups of a CPU follow each other, none begins before the window, and at no time have they
 * taken more than has passed. Of watched threads and of a workload's windows this does not hold:
 * several may be in one lane, and they may reach beyond the window.
 */
#ifndef CULPRIT_CHECK_H
#define CULPRIT_CHECK_H

#include "model/session.h"

/* What has come of one recorded CPU; zeros at first. */
struct checked {
	uint64_t first_ns, last_ns; /* the first hiccup's begin, the last one's end; 0: none came */
	uint64_t sum_ns;            /* of hiccups */
	uint64_t hiccups, records;
};

/* Each returns NULL when it can be, else why not: "a hiccup begins before the last one's end". */
/* An event, which is counted; end_ns: no hiccup ends later, 0: not known. */
const char *check_event(struct checked *c, const struct run *run, uint64_t end_ns,
			const struct event *e);
/* A run that is read again: `now` is to take the place of `was`. */
const char *check_run(const struct checked *c, uint32_t ncpus, const struct run *was,
		      const struct run *now);
/* A CPU's counters at the end; records_missing: so many more than there are in the file. Corrects
 * its window by what the clocks of the window and of its hiccups differ. */
const char *check_cpu(const struct checked *c, const struct run *run, struct cpu_run *cpu,
		      uint64_t records_missing);

#endif
