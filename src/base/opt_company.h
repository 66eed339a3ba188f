/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options beside each other: those that would be dropped, that do not go together, or that name the
 * same file. */
#ifndef CULPRIT_OPT_COMPANY_H
#define CULPRIT_OPT_COMPANY_H

#include "base/opt.h"

/* The row with this name; NULL: there is none. */
const struct opt *opt_row_of_name(const struct opt_rows *rows, const char *name, size_t len);

struct opt_text {
	const struct opt *row;
	const char *text;
};

/* The values in their order, also those of an option that is given several times. */
struct opt_texts {
	struct opt_text *text;
	size_t n;
};

/* given: for each row the last text of its value, "" for a flag; NULL: not given. texts: of the
 * options that take a value. operand: ends with NULL. 0, or -1 after an error, with one line on
 * stderr. */
int opt_check_company(const struct opt_command *command, const struct opt_rows *rows,
		      const char *const *given, const struct opt_texts *texts, char *const *operand,
		      const void *options);

#endif
