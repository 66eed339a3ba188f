/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The form and the place of a report: the options -f, -o and --stacks, and their meaning, for all
 * commands that have them. */
#ifndef CULPRIT_OUTPUT_H
#define CULPRIT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/opt.h"
#include "cmd/newfile.h"
#include "render/render.h"

struct output {
	int format; /* index into formats */
	const char *path;
	const char *beside; /* "times": a file beside the report, by --times; NULL: the report */
	bool stacks, chart, all;
	int metrics_per; /* enum metrics_per */
	int label;       /* see output_label() */
	bool metrics;    /* makes metrics beside the report */
	int series;      /* enum series_style */
	bool series_given;
	const char *values; /* a series' name; NULL: the format's choice */
	bool live;          /* the run that ends has said by itself what it lacks */
	FILE *file;
	struct newfile new; /* the file at `path` */
	bool begun;         /* output_begin() was called */
	bool whole;         /* all of the report is in it */
	bool grown;         /* has its name from the first line on, and keeps it whatever fails */
	int error;          /* errno of the first failed write */
	void *trace; /* state of the format; NULL: no hiccup has come, or the format is another */
};

extern const struct opt_choice text_or_json[];    /* for commands that have no other formats */
extern const struct opt output_opts[];            /* for a struct output: -f, -o, --stacks */
extern const struct opt output_file_opts[];       /* for a const char *, the path: -o alone */
extern const struct opt_choice percentile_sets[]; /* enum series_style */
extern const struct opt_choice output_bys[];      /* enum owner_by */
extern const struct opt_choice output_labels[];   /* see output_label() */
extern const struct opt series_opts[]; /* for a struct output, for reports of workloads */

/* The row of --by: `field` is the offset of an int, an enum owner_by. */
#define OUTPUT_BY(field, excludes_)                                                                \
	{                                                                                          \
		0, "by", "WHAT", "what a row of threads stands for", field, opt_set_choice,        \
			.choices = OPT_CHOICES(output_bys), .preset = "thread",                    \
			.excludes = excludes_, .why = "tells threads apart"                        \
	}

/* The kind of owner that labels the series of metrics, by --metrics-label; BY_THREAD: none. */
enum owner_by output_label(const struct output *o);

/* Setter of a const char *: "-" is standard output, NULL. */
int output_set_path(const char *text, void *field, const struct opt *row, char *why, size_t whylen);

/* Setter of a struct output, for --percentiles. */
int output_set_percentiles(const char *text, void *field, const struct opt *row, char *why,
			   size_t whylen);

/* Setter for files beside the report, which cannot be standard output. */
int output_set_file(const char *text, void *field, const struct opt *row, char *why, size_t whylen);

/* Colour where `out` is a terminal and NO_COLOR is not set; width in columns, `most` at most: what
 * COLUMNS says, or else the terminal has. Else the width stays as it is. */
void output_terminal(FILE *out, unsigned most, bool *colour, unsigned *width);

/* Opens the file before there is anything to write. An older file stays until the first line, or
 * until the report is whole. 0, or -1 with the reason said. */
int output_open(struct output *o);

/* True when hiccups go to it one by one, as they come. */
bool output_lines(const struct output *o);
bool output_spans(const struct output *o); /* needs the spans of the worst hiccups */
bool output_prose(const struct output *o); /* is text or Markdown */
bool output_markdown(const struct output *o);
bool output_adds_up(const struct output *o); /* needs no single hiccup */
bool output_alone(const struct output *o);   /* takes only one view */
/* Refuses a choice of sources that the format would not heed. 0, or -1 with the reason said. */
int output_check_shown(const struct output *o, const struct shown *shown);
/* Refuses runs that the format's samples would not tell apart. The same. */
int output_check_runs(const struct output *o, const struct view *const *views, uint32_t n);
/* Refuses what would show names in a run that is not traced. The same. */
int output_check_traced(const struct output *o, bool traced);
/* Prepares for writing; line formats write their head. Without it the first hiccup or the end does
 * that, so a command that fails before has written nothing. */
void output_begin(struct output *o);
/* The file is to be seen while it is written. */
void output_grow(struct output *o);
/* Gives the sources of its pieces their causes, and writes the hiccup if the format writes
 * lines. */
void output_hiccup(struct output *o, const struct view *v, uint32_t index, const struct account *a);
/* True when output_line does the same for the format, after output_begin: it writes into a file of
 * the caller's, and several threads may do so at once, each for lanes of its own. */
bool output_shared(const struct output *o);
void output_line(const struct output *o, const struct view *v, uint32_t index,
		 const struct account *a, FILE *out);
/* Flushes the hiccups written so far. False on failure: o->error. */
bool output_flush(struct output *o);

/* Adds causes, advice and verdicts to the view. */
void output_explain(struct view *v);

/* Writes the report, or the end of the lines. 0, or -1 with the reason said. */
int output_end(struct output *o, const struct view *const *views, uint32_t n);

/* The two halves of output_end, for output that is no report. output_ready sets *r to
 * the colour and width for its place; err: the writer's error. */
void output_ready(struct output *o, struct render_options *r);
int output_done(struct output *o, int err);

/* Closes it. Returns the exit code: `code`, or EXIT_ERROR when closing fails; a failed run
 * leaves no new file, and what was there as it was, unless it had lines to write. */
int output_close(struct output *o, int code);

#endif
