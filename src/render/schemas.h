/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON Schemas of what is written as JSON, made of tests/schema/ by tools/schemas.awk: each in
 * pieces, the last NULL, because they share definitions. */
#ifndef CULPRIT_SCHEMAS_H
#define CULPRIT_SCHEMAS_H

#include <stddef.h>

extern const char *const schema_report[]; /* any report, or several */
extern const char *const schema_audit[], *const schema_explain[], *const schema_clock[];
extern const char *const schema_diff[], *const schema_plot[], *const schema_pingpong[];
extern const char *const schema_try[], *const schema_tune[], *const schema_selftest[];
extern const char *const schema_osnoise[], *const schema_version[];
extern const char *const schema_jsonl[]; /* a line of it */

/* The row of a table of options. */
#define OPT_SCHEMA(text)                                                                           \
	{                                                                                          \
		0, "schema", NULL, "print the JSON Schema of -f json, and do no more",             \
			.says = (text)                                                             \
	}

#endif
