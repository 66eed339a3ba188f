/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/parquet_cells.h"

#include "base/escape.h"

#define CELL_TEXT 4096 /* escaped; longer ones are cut, as escape_text does */

void cell_number(const struct parquet_cells *at, unsigned column, int64_t value)
{
	if (value == LINE_UNKNOWN)
		parquet_null(at->file, at->first + column, at->again, at->there);
	else
		parquet_number(at->file, at->first + column, at->again, value);
}

void cell_text(const struct parquet_cells *at, unsigned column, const char *text)
{
	char escaped[CELL_TEXT];

	if (text)
		parquet_text(at->file, at->first + column, at->again,
			     escape_text(text, SIZE_MAX, escaped, sizeof(escaped)));
	else
		parquet_null(at->file, at->first + column, at->again, at->there);
}

void cell_time(const struct parquet_cells *at, unsigned column, const char *iso)
{
	uint64_t ns;

	cell_number(at, column,
		    iso && !parse_iso_time(iso, &ns) && ns <= INT64_MAX ? (int64_t)ns
									: LINE_UNKNOWN);
}
