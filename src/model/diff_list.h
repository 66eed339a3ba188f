/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of diff_make: all sources of all recordings in one list, sorted by name, so that the entries
 * of one row of the comparison stand together. */
#ifndef CULPRIT_DIFF_LIST_H
#define CULPRIT_DIFF_LIST_H

#include "model/diff.h"

struct diff_entry {
	enum source_kind kind;
	bool kernel_thread, rest;
	char name[DIFF_NAME];
	const char *function; /* NULL: not known */
	uint32_t side, at;    /* index of its recording */
	const struct source *source;
};

/* Number of sources of all recordings, at most: the room that the list needs. */
uint32_t diff_count_sources(const struct diff *d);

/* Fills entry[], sorted by row, side and recording; returns how many. */
uint32_t diff_list_sources(const struct diff *d, struct diff_entry *entry);

/* 0: both belong to one row; else their order. */
int diff_same_row(const struct diff_entry *x, const struct diff_entry *y);

/* Length without a suffix that a compiler adds to a copy of a function:
 * "tick_sched_do_timer.isra.0" is the tick_sched_do_timer of another kernel. */
size_t diff_function_len(const char *function);

/* The order of functions by name, without such a suffix; NULL comes first. */
int diff_function_order(const char *a, const char *b);

#endif
