/* Where a report goes, and in which form: the options -f, -o and --stacks, and what they mean, for
 * all commands that have them. */
#ifndef CULPRIT_OUTPUT_H
#define CULPRIT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/opt.h"
#include "render/render.h"

struct output {
	int format; /* index into formats */
	const char *path;
	bool stacks;
	int series; /* enum series_style */
	bool series_given;
	FILE *file;
	bool made;           /* the file was not there before */
	int error;           /* errno when it took no more */
	struct trace *trace; /* NULL: no hiccup has come, or the format is another */
};

extern const struct opt_choice text_or_json[];    /* for commands that have no other formats */
extern const struct opt output_opts[];            /* of a struct output: -f, -o, --stacks */
extern const struct opt_choice percentile_sets[]; /* enum series_style */
extern const struct opt series_opts[];            /* of a struct output, for reports of workloads */

/* Setter of a const char *: "-" is standard output, NULL. */
int output_set_path(const char *text, void *field, const struct opt *row, char *why, size_t whylen);

/* Setter of a struct output, for --percentiles. */
int output_set_percentiles(const char *text, void *field, const struct opt *row, char *why,
			   size_t whylen);

/* Setter for files beside the report: standard output is not theirs. */
int output_set_file(const char *text, void *field, const struct opt *row, char *why, size_t whylen);

/* Colour where `out` is a terminal and NO_COLOR is not set; width in columns, `most` at most: what
 * COLUMNS says, or else the terminal has. Else the width stays as it is. */
void output_terminal(FILE *out, unsigned most, bool *colour, unsigned *width);

/* Opens the file before there is anything to write: what it holds is kept until there is. 0, or -1
 * with the reason said. */
int output_open(struct output *o);

/* True: hiccups go to it one by one, as they come. */
bool output_lines(const struct output *o);
bool output_spans(
	const struct output *o); /* it wants to know when each interval of the worst hiccups ran */
bool output_alone(const struct output *o); /* it takes one view, not several */
void output_begin(struct output *o); /* there will be something to write; of lines the heading */
/* Gives the sources of its pieces their causes, and writes it if the format is one of lines. */
void output_hiccup(struct output *o, const struct view *v, uint32_t index, const struct account *a);
/* What came by output_hiccup goes out now. False when it cannot: o->error. */
bool output_flush(struct output *o);

/* Gives the view what a report says beside what was measured: causes, and what to do. */
void output_explain(struct view *v);

/* The report, or of lines the end of them. 0, or -1 with the reason said. */
int output_end(struct output *o, const struct view *const *views, uint32_t n);

/* The two halves of output_end, for what is no report. What the file held goes, *r has the colour
 * and width for where it goes; err is of what wrote it. */
void output_ready(struct output *o, struct render_options *r);
int output_done(struct output *o, int err);

/* Closes it. Returns the exit code: `code`, or EXIT_ERROR when that fails; a file that was made for
 * a run that failed goes. */
int output_close(struct output *o, int code);

#endif
