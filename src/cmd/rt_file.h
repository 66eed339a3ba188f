/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --style-json: the results as rt-tests' programs write them with their own --json=FILE, beside the
 * columns of that program. "-" is standard output. */
#ifndef CULPRIT_RT_FILE_H
#define CULPRIT_RT_FILE_H

#include "cmd/live.h"
#include "cmd/newfile.h"
#include "render/rt_json.h"

struct rt_file {
	const char *path; /* NULL: not wanted */
	struct newfile file;
	bool open;
	struct rt_test test; /* filled by rt_file_about */
	char texts[6][256], command[4096];
};

/* Opens the file before the run, which may give away the right to. 0 or -1 with the reason said. */
int rt_file_open(struct rt_file *f);

/* Returns the stream to write to; NULL: nothing is wanted. Fills f->test: who ran what, when and
 * how it ended, as far as the limits of the run decide that. */
FILE *rt_file_begin(struct rt_file *f, const struct view *v, const struct limits *limits);

/* Puts the file in place when all is written; without rt_file_begin nothing stays of it. 0 or -1
 * with the reason said. */
int rt_file_close(struct rt_file *f);

#endif
