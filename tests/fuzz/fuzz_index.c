/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as indexes of a recording, one after the other, as a reader takes them: what is read is
 * written and read again as it was; what can follow the indexes before adds up, and all times in it
 * are in order. The first byte chooses the number of lanes and the kind of recording. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "recording/check.h"
#include "recording/format.h"
#include "recording/index.h"

#define LANES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lane(const struct index_lane *l)
{
	assert(!l->hiccups || (l->begin_ns[0] <= l->first_ns && l->first_ns <= l->begin_ns[1] &&
			       l->begin_ns[1] <= l->end_ns && l->begin_ns[0] <= l->last_ns &&
			       l->last_ns <= l->end_ns && l->end_ns <= TIME_MAX));
	assert(!l->records || (l->record_ns[0] <= l->record_ns[1] && l->record_ns[1] <= TIME_MAX));
	assert(!l->steal || (l->steals_ns[0] <= l->steals_ns[1] && l->steals_ns[0] <= l->steal_ns));
}

/* Written and read again it is the same. */
static void check_again(const struct index *x, struct index *again)
{
	struct bytes b = {0};
	struct reading in;

	put_index(&b, x);
	in = (struct reading){b.at, b.at + b.len, false};
	assert(!b.failed && get_index(&in, again) && in.at == in.end);
	assert(x->chunks == again->chunks && x->raw == again->raw && x->needed == again->needed);
	assert(!memcmp(x->lane, again->lane, x->nlanes * sizeof(*x->lane)));
	free(b.at);
}

/* Takes an index as a reader does that passes over its group of chunks. */
static void take(const struct index *x, const struct run *run, struct checked *c, struct index *sum)
{
	for (uint32_t i = 0; i < x->nlanes; i++)
		if (!check_index(&c[i], run, 0, &x->lane[i]))
			return;
	for (uint32_t i = 0; i < x->nlanes; i++)
		checked_add(&c[i], &x->lane[i]);
	index_add(sum, x);
	for (uint32_t i = 0; i < x->nlanes; i++) {
		const struct index_lane *l = &sum->lane[i];

		check_lane(l);
		assert(c[i].hiccups == l->hiccups && c[i].records == l->records);
		/* the window begins at 0, and hiccups take no more than the time since then */
		assert(run->watch || c[i].sum_ns <= c[i].last_ns - run->started_ns);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct checked checked[LANES] = {0};
	static struct index x, again, sum;
	static struct run run;
	struct reading in;

	if (!size)
		return 0;
	if (!x.lane &&
	    (index_init(&x, LANES) || index_init(&again, LANES) || index_init(&sum, LANES)))
		abort();
	x.nlanes = again.nlanes = sum.nlanes = 1 + data[0] % LANES;
	run.watch = data[0] & 128;
	index_clear(&sum);
	count_run(run.watch, run.watch ? "index, watched" : "index");
	in = (struct reading){data + 1, data + size, false};
	while (in.at < in.end && !in.bad && get_index(&in, &x)) {
		for (uint32_t i = 0; i < x.nlanes; i++)
			check_lane(&x.lane[i]);
		check_again(&x, &again);
		take(&x, &run, checked, &sum);
	}
	return 0;
}
