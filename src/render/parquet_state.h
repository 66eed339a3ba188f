/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the writer of Parquet: parquet.c takes values, parquet_file.c lays them out. */
#ifndef CULPRIT_PARQUET_STATE_H
#define CULPRIT_PARQUET_STATE_H

#include "render/parquet.h"
#include "render/parquet_encode.h"

#define PARQUET_DEEP 5 /* names of a column's path */

/* The texts of a column in this group, each once. */
struct words {
	struct bytes at;    /* each with its length before it, as the dictionary's page has them */
	struct bytes begin; /* uint32_t: where each text's length stands */
	uint32_t count;
	uint32_t *slot; /* hash: 1 + number; 0: free */
	uint32_t slots;
};

struct column {
	const struct parquet_field *field;
	const char *path[PARQUET_DEEP];
	unsigned names;
	uint8_t defined; /* level of a value that is there */
	bool repeated;
	struct bytes there, again; /* levels: definition, repetition */
	struct bytes values;       /* int64_t, or uint32_t numbers of words */
	struct words words;
	int64_t least, most;
	uint64_t nulls;
};

struct parquet {
	FILE *out;
	const struct parquet_field *fields;
	unsigned nfields, ncolumns;
	struct column column[PARQUET_COLUMNS];
	uint64_t rows, all_rows;
	uint64_t offset;
	struct bytes groups; /* their descriptions, for the end of the file */
	uint32_t ngroups;
	int error;
};

/* Writes the rows in hand as a group; the first call begins the file. */
void parquet_put_group(struct parquet *p);

/* Writes what tells readers where all stands. */
void parquet_put_footer(struct parquet *p);

#endif
