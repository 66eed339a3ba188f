/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files of one line, as /proc and /sys have them. */
#ifndef CULPRIT_LINE_OF_FILE_H
#define CULPRIT_LINE_OF_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the file's first line, without its end and at most len - 1 bytes of it, to `buf`. False,
 * and "" in `buf`, when it cannot be read or is empty. */
bool line_of_file(const char *path, char *buf, size_t len);

#endif
