/* Man pages and completion, made from the option tables: they cannot say anything else than the
 * commands do. */
#ifndef CULPRIT_MANUAL_H
#define CULPRIT_MANUAL_H

#include <stdio.h>

#include "cmd/cmd.h"

/* culprit(1), from all commands; and culprit-NAME(1). roff with man(7)'s macros. */
void manual_all(const struct command *commands, size_t n, FILE *out);
void manual_of(const struct opt_command *usage, FILE *out);

/* Scripts for the two shells. */
void complete_bash(const struct command *commands, size_t n, FILE *out);
void complete_zsh(const struct command *commands, size_t n, FILE *out);

#endif
