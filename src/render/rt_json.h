/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results in the form that rt-tests' cyclictest and oslat write with --json=FILE (rt-tests 2.4,
 * file_version 1; two of its keys do end with a colon). Figures mean what they mean in the columns
 * of the same run (styles.h). */
#ifndef CULPRIT_RENDER_RT_JSON_H
#define CULPRIT_RENDER_RT_JSON_H

#include "base/json.h"
#include "render/styles.h"

/* Facts of the run that the view does not have; the caller owns the texts. */
struct rt_test {
	const char *command;     /* the words of the command line, with blanks; any bytes */
	const char *start, *end; /* RFC 5322: "Mon, 23 Nov 2026 09:18:59 +0000" */
	const char *sysname, *release, *version, *machine; /* uname's */
	bool realtime;
	int return_code;           /* exit status */
	int (*node)(unsigned cpu); /* NUMA node */
};

/* Each writes a file. 0 or -ENOMEM; the caller asks the stream for errors. */
int render_cyclictest_json(const struct view *v, const struct cyclictest_style *style,
			   const struct rt_test *test, FILE *out);
int render_oslat_json(const struct view *v, const struct oslat_style *style,
		      const struct rt_test *test, FILE *out);

/* ---- for the two ---- */

/* Opens the outermost object, and writes what comes before the threads. */
void rt_json_head(struct json *j, const struct view *v, const struct rt_test *test);
/* Writes the counts that are not 0, the first for `from`. */
void rt_json_histogram(struct json *j, const uint64_t *count, uint32_t n, uint32_t from);

#endif
