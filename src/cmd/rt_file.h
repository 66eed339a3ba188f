/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --style-json: the results as rt-tests' programs write them with their own --json=FILE, beside the
 * columns of that program. "-" is standard output. */
#ifndef CULPRIT_RT_FILE_H
#define CULPRIT_RT_FILE_H

#include "cmd/live.h"
#include "cmd/newfile.h"
#include "render/rt_json.h"

/* The rows of --style-json need --style, and exclude limits that are judged behind the run. */
#define STYLE_JSON_WHY "is another tool's file, whose exit status knows of --stop-on alone"

struct rt_file {
	const char *path; /* NULL: not wanted */
	struct newfile file;
	bool open;           /* a file, not standard output */
	bool whole;          /* all of it is written */
	struct rt_test test; /* filled by rt_file_begin */
	char texts[6][256], command[4096];
};

/* Opens the file before the run, which may give away the right to. 0 or -1 with the reason said. */
int rt_file_open(struct rt_file *f);

/* Returns the stream to write to; NULL: nothing is wanted. Fills f->test: who ran what, when and
 * how it ended, as far as the run itself decides that. Call it when all else is written, and there
 * was no error: what fails behind it is not in the return_code. */
FILE *rt_file_begin(struct rt_file *f, const struct view *v, const struct limits *limits);

/* Call it behind the writer, with its error. 0 or -1 with the reason said. */
int rt_file_end(struct rt_file *f, int err);

/* Puts the file in place when all is written; otherwise nothing stays of it, and what was there is
 * as it was. 0 or -1 with the reason said. */
int rt_file_close(struct rt_file *f);

#endif
