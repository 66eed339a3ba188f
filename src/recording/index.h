/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An index: what lies in a group of chunks of events, CPU by CPU, when, and how much. A reader that
 * wants a part of the time passes over a group that has nothing of it, and takes from here what it
 * would have learned there.
 *
 * The chunk INDX stands behind its group, so nobody has to look back to write it, a recording that
 * was cut off has all but the last one, and no place in a file is written down that could be wrong.
 * It says how many chunks the group has, and how many bytes they unpack to: of others it tells
 * nothing.
 */
#ifndef CULPRIT_INDEX_H
#define CULPRIT_INDEX_H

#include "model/session.h"
#include "recording/bytes.h"

/* Contents that the group has of one CPU; times in ns. */
struct index_lane {
	uint64_t hiccups, records, sum_ns; /* sum_ns: time in hiccups */
	uint64_t first_ns;                 /* begin of the first hiccup that came */
	uint64_t begin_ns[2], end_ns;      /* least and largest begin, largest end of hiccups */
	uint64_t last_ns;                  /* end of the last hiccup that came */
	uint32_t cursor[LEVELS];           /* sequences behind the last hiccup */
	uint64_t record_ns[2];             /* least and largest end of records */
	bool steal;                        /* the steal clock was read */
	uint64_t steals_ns[2], steal_ns;   /* least, largest and last reading */
};

struct index {
	uint32_t nlanes, chunks;
	uint64_t raw;            /* bytes of the chunks, unpacked */
	bool needed;             /* something is in them that every reader needs */
	struct index_lane *lane; /* all zeros: nothing of that CPU */
	/* The lanes that were read, in their order: a small file may have many an index of many
	 * CPUs. */
	uint32_t *read, nread;
};

int index_init(struct index *x, uint32_t nlanes); /* 0 or -ENOMEM; index_free in either case */
void index_free(struct index *x);
void index_clear(struct index *x);

void index_event(struct index *x, const struct event *e); /* one more event of the group */
void index_add(struct index *to, const struct index *x);  /* the group goes on with x */

void put_index(struct bytes *b, const struct index *x);
/* Reads one over what was there. False: it is none, or tells what no chunks can hold. */
bool get_index(struct reading *r, struct index *x);

#endif
