/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved osnoise output beside a recording of culprit's: the rate of each source by either, per
 * observed second. The two were not made at the same time, perhaps not on the same machine, so
 * rates are compared, not events. Sources are paired by what osnoise knows of them: kind (it does
 * not tell vectors from IRQs) and name; culprit's functions and thread ids are added up.
 */
#ifndef CULPRIT_OSNOISE_RATES_H
#define CULPRIT_OSNOISE_RATES_H

#include "model/osnoise.h"
#include "model/view.h"

struct rates_share {
	uint64_t count, ns;   /* net */
	bool no_count, no_ns; /* not known */
};

struct rates_row {
	enum source_kind kind; /* SOURCE_IRQ includes vectors */
	char name[SOURCE_NAME];
	struct rates_share theirs, ours;
};

struct osnoise_rates {
	/* Observed, of all CPUs together; 0: not known. */
	uint64_t theirs_ns, ours_ns;
	struct rates_share theirs, ours; /* gaps: osnoise's samples or noise, culprit's hiccups */
	struct rates_row *row;           /* by falling time, of the side that saw more */
	uint32_t count;
	uint32_t *slot; /* a hash of the rows: 1 + index, 0: free */
	unsigned bits;  /* 2^bits slots, twice as many as there is room for; 0: none yet */
	/* Events with names; false: only the counters of rtla or of the periods, in the rows
	 * without a name. */
	bool theirs_detailed;
	bool theirs_told; /* events with names, or counters; false: no word of what interrupted */
};

/* 0 or -ENOMEM. Free with rates_free. */
int rates_make(struct osnoise_rates *b, const struct osnoise_reader *r, const struct view *v);
void rates_free(struct osnoise_rates *b);

#endif
