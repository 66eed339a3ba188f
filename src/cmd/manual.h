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

/* Completion scripts for the two shells. */
void complete_bash(const struct command *commands, size_t n, FILE *out);
void complete_zsh(const struct command *commands, size_t n, FILE *out);

#endif
