/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options beside each other: those that would be dropped, that do not go together, or that name the
 * same file. */
#ifndef CULPRIT_OPT_COMPANY_H
#define CULPRIT_OPT_COMPANY_H

#include "base/opt.h"

/* The row with this name; NULL: there is none. */
const struct opt *opt_row_of_name(const struct opt_rows *rows, const char *name, size_t len);

/* given: for each row the text of its value, "" for a flag; NULL: not given. operand: ends with
 * NULL. 0, or -1 after an error, with one line on stderr. */
int opt_check_company(const struct opt_command *command, const struct opt_rows *rows,
		      const char *const *given, char *const *operand, const void *options);

#endif
