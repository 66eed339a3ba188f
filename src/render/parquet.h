/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A writer of Parquet files (github.com/apache/parquet-format), as much as tables of hiccups need:
 * integers, booleans, texts and times, lists of these and of structs. No packaged library writes it
 * from C. Rows go out in groups of some megabytes, so memory does not grow with the file. */
#ifndef CULPRIT_PARQUET_H
#define CULPRIT_PARQUET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum parquet_type {
	PARQUET_INT,  /* 64 bits */
	PARQUET_BOOL, /* 0 or 1 */
	PARQUET_TIME, /* ns since 1970, UTC */
	PARQUET_TEXT, /* UTF-8: escape what comes from the machine */
	PARQUET_LIST, /* list of its one child; never null; not within another */
	PARQUET_STRUCT
};

/* A schema is an array of fields; the children of a list or struct follow it. Those that hold
 * values are numbered in their order: these numbers are the columns. */
struct parquet_field {
	const char *name;
	enum parquet_type type;
	bool optional;
	uint8_t children;
};

#define PARQUET_COLUMNS 64 /* most columns of a file */

struct parquet;

/* The fields outlive the file. NULL: out of memory. */
struct parquet *parquet_begin(const struct parquet_field *fields, unsigned n, FILE *out);

/* Adds to the row in hand: each column gets one value, those in a list one for each element, or one
 * null for an empty list. again: it belongs to a further element of the list. */
void parquet_number(struct parquet *p, unsigned column, bool again, int64_t value);
void parquet_text(struct parquet *p, unsigned column, bool again, const char *text);
/* Adds a null. there: how many of the optional fields and lists around the value are there. */
void parquet_null(struct parquet *p, unsigned column, bool again, uint8_t there);

/* Ends the row. 0 or -errno. */
int parquet_row(struct parquet *p);

/* Writes the rest and frees it. 0 or -errno. */
int parquet_end(struct parquet *p);

#endif
