/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Man pages and completion, made from the option tables, so they always agree with the commands. */
#ifndef CULPRIT_MANUAL_H
#define CULPRIT_MANUAL_H

#include <stdio.h>

#include "cmd/cmd.h"

/* Print culprit(1), from all commands; and culprit-NAME(1). roff with man(7)'s macros. */
void manual_all(const struct command *commands, size_t n, FILE *out);
void manual_of(const struct opt_command *usage, FILE *out);

/* Escapes text for roff: no line begins with a control character, a minus is a minus. */
void roff(const char *text, FILE *out);

/* The first line of a man page; name NULL: culprit(1) itself. */
void roff_heading(const char *name, int section, FILE *out);

/* A completion script, from all commands. */
void complete_bash(const struct command *commands, size_t n, FILE *out);
void complete_fish(const struct command *commands, size_t n, FILE *out);
void complete_zsh(const struct command *commands, size_t n, FILE *out);

/* The options that have a help: the others are hidden. Returns rows. */
struct opt_rows *visible_rows(const struct opt_command *usage, struct opt_rows *rows);

#define FOR_EACH_OPTION(row_, usage)                                                               \
	for (struct opt_rows rows_, *all_ = visible_rows(usage, &rows_); all_; all_ = NULL)        \
		for (const struct opt *row_ = all_->row; row_ < all_->row + all_->n; row_++)

#endif
