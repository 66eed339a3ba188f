/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of a row of Parquet, from what the model has. */
#ifndef CULPRIT_PARQUET_CELLS_H
#define CULPRIT_PARQUET_CELLS_H

#include "render/line.h"
#include "render/parquet.h"

/* Place of values: columns from `first` on; to a further element of their list; within so many
 * optional fields and lists that are there. */
struct parquet_cells {
	struct parquet *file;
	unsigned first;
	bool again;
	uint8_t there;
};

void cell_number(const struct parquet_cells *at, unsigned column, int64_t value); /* LINE_UNKNOWN */
void cell_text(const struct parquet_cells *at, unsigned column, const char *text); /* NULL */
void cell_time(const struct parquet_cells *at, unsigned column, const char *iso);  /* NULL */

#endif
